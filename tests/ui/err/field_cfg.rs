use monoscan::prelude::*;

#[scan_monoid]
#[derive(Clone, Copy)]
struct S {
    a: f32,
    #[cfg(target_pointer_width = "64")]
    b: f32,
}

fn main() {}
