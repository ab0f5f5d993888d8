use monoscan::prelude::*;

#[scan_fn]
fn f(x: f32, n: u32) -> f32 {
    let _ = n.checked_add(1);
    x.atan2(x) + f32::cosn(x)
}

#[scan_fn]
fn g(x: f32) -> f32 {
    x.sqrtt()
}

fn main() {}
