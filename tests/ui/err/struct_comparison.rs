use monoscan::prelude::*;

#[derive(Clone, Copy, PartialEq, ScanType)]
struct P {
    x: f32,
}

#[scan_fn]
fn f(a: P, b: P) -> bool {
    a == b
}

fn main() {}
