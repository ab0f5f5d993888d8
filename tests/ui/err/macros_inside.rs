use monoscan::prelude::*;

#[scan_fn]
fn f(x: f32) -> f32 {
    debug_assert!(x > 0.0);
    let y = vec![x];
    x
}

fn main() {}
