use monoscan::prelude::*;

#[derive(ScanType)]
struct NotCopy {
    a: f32,
}

fn main() {}
