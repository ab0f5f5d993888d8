//! Bounds that say enough.

use std::ops::{Add, Neg};

use monoscan::prelude::*;

trait Mine: Num {}

#[scan_fn]
fn with_more<T: Real + Neg<Output = T>>(a: T, b: T) -> T {
    -(a + b)
}

#[scan_fn]
fn of_ones_own<T: Mine + Add<Output = T>>(a: T, b: T) -> T {
    a * b
}

#[scan_fn]
fn compared<T>(a: T, b: T) -> bool
where
    T: ScanType + PartialEq,
{
    a == b
}

fn main() {}
