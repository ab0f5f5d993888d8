use monoscan::prelude::*;

/// x ↦ a·x + b
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Affine<T> {
    pub a: T,
    pub b: T,
}

#[scan_monoid]
impl<T: Real> Monoid for Affine<T> {
    fn identity() -> Self {
        Affine { a: T::ONE, b: T::ZERO }
    }

    fn combine(self, next: Self) -> Self {
        Affine { a: next.a * self.a, b: next.a * self.b + next.b }
    }
}

#[scan_fn]
pub fn value(s: Affine<f32>) -> f32 {
    s.b
}

pub(crate) fn main() {
    // The items stay ordinary Rust.
    let twice = Affine { a: 2.0, b: 1.0f32 };
    assert_eq!(value(twice.combine(twice)), 3.0);
}
