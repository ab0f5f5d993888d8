use monoscan::prelude::*;

#[scan_fn]
fn f(x: [u32; 3]) -> u32 {
    let mut sum = 0;
    for i in 0..3 {
        sum += match i {
            0 if x[0] > 3 => 1,
            _ => x[i],
        };
    }
    sum
}

fn main() {}
