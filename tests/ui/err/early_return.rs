use monoscan::prelude::*;

#[scan_fn]
fn f(x: f32) -> f32 {
    if x > 0.0 {
        return 1.0;
    }
    x
}

fn main() {}
