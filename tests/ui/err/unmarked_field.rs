use monoscan::prelude::*;

#[derive(Clone, Copy)]
struct Plain(f32);

#[derive(Clone, Copy, ScanType)]
struct Holds {
    plain: Plain,
}

fn main() {}
