use monoscan::prelude::*;

#[derive(Clone, Copy, ScanType)]
struct P {
    x: f32,
}

#[scan_fn]
fn f(p: &P, y: f32) -> f32 {
    let q = &y;
    p.x + *q
}

impl P {
    #[scan_fn]
    fn g(&self) -> f32 {
        self.x
    }
}

fn main() {}
