use monoscan::prelude::*;

#[scan_fn]
fn f(n: u32, t: [f32; 4]) -> f32 {
    let mut k = 0;
    k += 1;
    t[n as usize] + t[k]
}

fn main() {}
