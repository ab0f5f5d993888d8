use monoscan::prelude::*;

#[scan_fn]
fn f(x: f32, n: i32) -> f32 {
    let y: f64 = x;
    x + n
}

fn main() {}
