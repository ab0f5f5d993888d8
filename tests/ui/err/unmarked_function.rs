use monoscan::prelude::*;
use std::cmp::max;

mod other {
    pub fn helper(x: f32, n: u32) -> f32 {
        x + n as f32
    }
}

fn helper(x: f32) -> f32 {
    x
}

#[scan_fn]
fn f(x: f32) -> f32 {
    let y = helper(x);
    other::helper(y, 3) * 2.0
}

#[scan_fn]
fn g(a: u32, b: u32) -> u32 {
    max(a, b) + 1
}

fn main() {}
