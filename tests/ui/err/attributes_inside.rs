use monoscan::prelude::*;

#[scan_fn]
fn f(x: f32) -> f32 {
    #[cfg(debug_assertions)]
    let y = x + 1.0;
    #[cfg(not(debug_assertions))]
    let y = x;
    #[allow(clippy::identity_op)]
    let z = y + 0.0;
    z
}

fn main() {}
