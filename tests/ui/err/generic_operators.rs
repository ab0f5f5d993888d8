use std::ops::{Add, BitXor};

use monoscan::prelude::*;

#[scan_monoid]
#[derive(Clone, Copy)]
struct Total<T>(T);

#[scan_monoid]
impl<T: Add<Output = T> + Copy + Default> Monoid for Total<T> {
    fn identity() -> Self {
        Total(T::default())
    }

    fn combine(self, next: Self) -> Self {
        Total(self.0 + next.0)
    }
}

#[scan_fn]
fn mixed<T>(a: T, b: T) -> T
where
    T: BitXor<Output = T> + Copy,
{
    a ^ b
}

fn main() {}
