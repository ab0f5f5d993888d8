use monoscan::prelude::*;

#[scan_fn]
fn f(x: u32, n: u32) -> u32 {
    x.pow(n) + x.max(1, 2)
}

fn main() {}
