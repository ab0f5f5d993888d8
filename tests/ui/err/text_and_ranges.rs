use monoscan::prelude::*;

#[scan_fn]
fn f(x: u8) -> u8 {
    let s = "text";
    let t = (x, 'c');
    let r = x..9;
    x
}

fn main() {}
