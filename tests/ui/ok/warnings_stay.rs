// A warning about the user's code is given once, for their own item; the second body adds none.
#![deny(warnings)]
use monoscan::prelude::*;

#[scan_fn]
fn f(mut x: u32, _unused: u8) -> u32 {
    x += 1;
    #[allow(unused_variables)]
    let spare = x;
    let mut y = 0;
    if x > 3 {
        y = x;
    }
    for i in 0..2u32 {
        y ^= i;
    }
    y
}

fn main() {
    let _ = f {};
}
