use monoscan::prelude::*;

#[allow(non_upper_case_globals)]
const zero: i32 = 0;

#[scan_fn]
fn f(x: i32) -> i32 {
    match x {
        zero => 1,
        _ => 2,
    }
}

fn main() {}
