use monoscan::prelude::*;

#[scan_fn]
fn f(x: [f32; 3]) -> f32 {
    let mut sum = 0.0;
    for i in 0..3 {
        if x[i] < 0.0 {
            break;
        }
        if i == 1 {
            continue;
        }
        sum += x[i];
    }
    sum
}

fn main() {}
