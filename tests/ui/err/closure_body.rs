use monoscan::prelude::*;

fn main_() {
    let gain = 2.0f32;
    let f = |x: f32| x;
    let _ = scan!(|x: f32| -> f32 { f(x).cbrt() * gain });
    let _ = scan!(|x: f32| -> f32 { for i in 0..2 { return x; } gain });
}

fn main() {}
