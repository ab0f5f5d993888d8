use monoscan::prelude::*;

#[derive(Clone, Copy, ScanType)]
struct P(u32, u32, u32);

#[scan_fn]
fn f(p: P, t: (u32, u32)) -> u32 {
    let P(.., last) = p;
    let ref y = last;
    match t {
        (1, n) | (n, 1) => n,
        (Some(n), _) => n,
        &(a, b) => a,
        _ => 0,
    }
}

fn main() {}
