use monoscan::prelude::*;

#[derive(Clone, Copy, ScanType)]
struct Sizes {
    n: usize,
    ok: u32,
}

#[derive(Clone, Copy)]
struct Plain(f32);

#[derive(Clone, Copy, ScanType)]
struct Holds {
    plain: Plain,
    letter: char,
}

fn main() {}
