use monoscan::prelude::*;

#[derive(Clone, Copy, PartialEq, PartialOrd, ScanType)]
struct P {
    x: f32,
}

#[scan_fn]
fn f(a: P, b: P) -> bool {
    a < b
}

#[derive(Clone, Copy, ScanType)]
struct Q {
    x: f32,
}

#[scan_fn]
fn g(a: Q, b: Q) -> bool {
    a == b
}

fn main() {}
