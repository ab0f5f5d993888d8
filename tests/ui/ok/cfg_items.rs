use monoscan::prelude::*;

#[cfg(any())]
#[scan_fn]
fn f(x: f32) -> f32 {
    x
}

#[scan_fn]
#[cfg(any())]
fn g(x: f32) -> f32 {
    x
}

#[scan_fn]
#[cfg(all())]
#[inline]
fn g(x: f64) -> f64 {
    x
}

fn main() {
    let _ = g {};
}
