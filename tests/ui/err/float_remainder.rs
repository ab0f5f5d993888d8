use monoscan::prelude::*;

#[scan_fn]
fn f(x: f32, y: f32) -> f32 {
    x % y
}

fn main() {}
