use monoscan::prelude::*;

#[scan_fn]
fn f(mut x: u32) -> u32 {
    while x > 3 {
        x /= 2;
    }
    loop {
        x += 1;
    }
}

fn main() {}
