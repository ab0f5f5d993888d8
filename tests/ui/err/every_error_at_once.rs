use monoscan::prelude::*;

#[scan_fn]
fn f(x: f32, n: u32, t: [f32; 2]) -> f32 {
    let y = t[n as usize];
    while x > 0.0 {}
    for i in 0..n {
        let z = x.cbrt();
        return y;
    }
    y
}

fn main() {}
