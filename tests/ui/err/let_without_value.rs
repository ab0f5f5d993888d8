use monoscan::prelude::*;

#[scan_fn]
fn f(x: f32) -> f32 {
    let y;
    if x > 0.0 {
        y = 1.0;
    } else {
        y = 2.0;
    }
    y
}

fn main() {}
