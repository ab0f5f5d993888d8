use monoscan::prelude::*;

#[scan_fn]
fn in_a_loop(x: [f32; 3]) -> f32 {
    for y in x {
        if y > 0.0 {
            return y;
        }
    }
    0.0
}

#[scan_fn]
fn two_ways_go_on(x: i32) -> i32 {
    let mut y = x;
    if x > 3 {
        y = 1;
    } else if x > 2 {
        return 2;
    }
    y
}

fn main() {}
