use monoscan::prelude::*;

#[scan_fn]
fn f(x: f32, n: u32) -> f32 {
    let _ = n.checked_add(1);
    x.sin() + x.own()
}

fn main() {}
