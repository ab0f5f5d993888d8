use monoscan::prelude::*;

#[derive(Clone, Copy, ScanType)]
enum Color {
    Red,
    Green,
}

#[scan_monoid]
#[derive(Clone, Copy)]
union Bits {
    f: f32,
    u: u32,
}

fn main() {}
