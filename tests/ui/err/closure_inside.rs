use monoscan::prelude::*;

#[scan_fn]
fn f(x: f32) -> f32 {
    let double = |y: f32| y * 2.0;
    double(x)
}

fn main() {}
