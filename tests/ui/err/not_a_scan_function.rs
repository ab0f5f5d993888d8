use monoscan::prelude::*;

fn lift<F: ScanFn<(f32,)>>(_: F) {}

fn plain(x: f32) -> f32 {
    x
}

#[scan_fn]
fn other(x: f64) -> f64 {
    x
}

fn main_() {
    lift(plain);
    lift(|x: f32| x);
    lift(other {});
}

fn main() {}
