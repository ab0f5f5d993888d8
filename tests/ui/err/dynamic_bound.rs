use monoscan::prelude::*;

#[scan_fn]
fn f(n: u32, x: f32) -> f32 {
    let mut sum = 0.0;
    for _ in 0..n {
        sum += x;
    }
    for _ in 0.. {}
    sum
}

fn main() {}
