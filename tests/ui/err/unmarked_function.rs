use monoscan::prelude::*;

fn helper(x: f32) -> f32 {
    x
}

#[scan_fn]
fn f(x: f32) -> f32 {
    helper(x)
}

fn main() {}
