use monoscan::prelude::*;

#[scan_fn]
fn f(x: f32) -> f32 {
    let Some(y) = Some(x) else { panic!() };
    if let Some(z) = half(y) { z } else { 0.0 }
}

#[scan_fn]
fn g(x: f32) -> Option<f32> {
    Some(half(x)?)
}

fn half(x: f32) -> Option<f32> {
    Some(x)
}

fn main() {}
