use monoscan::prelude::*;

#[scan_fn]
fn f(x: f32) -> f32 {
    fn inner() {}
    use std::f32::consts::PI;
    unsafe { x }
}

fn main() {}
