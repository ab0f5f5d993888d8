use monoscan::prelude::*;

#[scan_fn]
fn f(x: u32) -> u32 {
    let mut a = x;
    let mut b = 0;
    (a, b) = (b, a);
    let k = 2;
    k += 1;
    for i in 0..3 {
        i = 2;
    }
    a
}

fn main() {}
