use monoscan::prelude::*;

#[scan_fn]
async fn a(x: f32) -> f32 {
    x
}

#[scan_fn]
unsafe fn b(x: f32) -> f32 {
    x
}

#[scan_fn]
fn c(x: impl Copy) -> f32 {
    1.0
}

#[scan_fn]
fn d(x: f32) {}

#[scan_fn]
fn e<'a>(x: &'a f32) -> f32 {
    1.0
}

#[scan_fn(inline)]
fn g(x: f32) -> f32 {
    x
}

fn main() {}
