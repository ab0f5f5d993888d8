//! Captures of `scan!`, and names in it that are no captures.

use monoscan::prelude::*;

#[allow(non_upper_case_globals)]
static limit_of_all: f32 = 3.0;

#[scan_fn]
fn helper(x: f32) -> f32 {
    x
}

fn main() {
    let (gain, weights, pair) = (2.0f32, [1.0f32, 2.0], (true, 3u8));
    let slice: &'static [f32] = &[1.0];
    let _ = scan!(|x: f32| -> f32 {
        let y = helper(x) * gain + weights[1];
        if pair.0 && x > limit_of_all { y } else { slice[0] }
    });
}
