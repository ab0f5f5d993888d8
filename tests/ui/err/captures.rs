use monoscan::prelude::*;

fn main() {
    let weights = vec![1.0f32, 2.0];
    let name = String::from("x");
    let _ = scan!(|x: f32| -> f32 { x * weights[0] });
    let _ = scan!(|x: f32| -> f32 { if name.len() > 3 { x } else { -x } });
}
