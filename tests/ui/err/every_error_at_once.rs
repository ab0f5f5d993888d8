use monoscan::prelude::*;

#[scan_fn]
fn f(x: f32, n: u32) -> f32 {
    let t = [1.0f32, 2.0];
    let y = t[n as usize];
    while x > 0.0 {}
    for i in 0..n {
        let z = x.sin();
    }
    return y;
}

fn main() {}
