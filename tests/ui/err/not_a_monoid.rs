use monoscan::prelude::*;

#[scan_monoid]
#[derive(Clone, Copy)]
struct Sum(u32);

#[scan_monoid]
impl Default for Sum {
    fn default() -> Self {
        Sum(0)
    }
}

#[scan_fn]
impl Clone for S {
    fn clone(&self) -> Self {
        S
    }
}

#[scan_monoid]
fn f() {}

#[scan_fn]
struct S;

fn main() {}
