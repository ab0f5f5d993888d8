use monoscan::prelude::*;

fn main_() {
    let _ = scan!(|x| -> f32 { x });
    let _ = scan!(|x: f32| x);
    let _ = scan!(f32::sqrt);
    let _ = scan!(|t: Table<u8>, x: u8| -> u8 { t.get(x as u32) });
    let _ = scan!(|x: &f32| -> f32 { 1.0 });
}

fn main() {}
