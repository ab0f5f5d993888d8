use monoscan::prelude::*;

#[derive(Clone, Copy, ScanType)]
enum Shape {
    Point,
    Circle(f32),
    Square { side: f32 },
}

#[derive(Clone, Copy, ScanType)]
enum Only {
    One,
}

#[derive(Clone, Copy, ScanType)]
enum NoZero {
    One = 1,
    Two,
}

#[scan_monoid]
#[derive(Clone, Copy)]
union Bits {
    f: f32,
    u: u32,
}

fn main() {}
