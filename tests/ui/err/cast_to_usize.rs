use monoscan::prelude::*;

#[scan_fn]
fn f(x: u32) -> u32 {
    (x as usize & 3) as u32
}

fn main() {}
