//! Calls of marked functions and methods, by every path.

use monoscan::prelude::*;

mod other {
    use super::*;

    #[scan_fn]
    pub fn helper(x: f32, n: u32) -> f32 {
        x + n as f32
    }

    #[scan_fn]
    pub(super) fn max(a: u32, b: u32) -> u32 {
        if a > b { a } else { b }
    }

    pub mod inner {
        #[super::scan_fn]
        pub fn deep(x: f32) -> f32 {
            super::helper(x, 1) + crate::other::helper(x, 2)
        }
    }
}

use other::{helper as renamed, inner, max};

#[scan_fn]
fn own(x: f32) -> f32 {
    self::other::helper(x, 1) + renamed(x, 2) + inner::deep(x)
}

#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Runs {
    count: u32,
}

impl Runs {
    #[scan_fn]
    fn joined(self, next: Runs) -> u32 {
        max(self.count, std::cmp::max(next.count, 1)) + core::cmp::min(self.count, next.count)
    }
}

#[scan_fn]
impl Runs {
    fn twice(self) -> Runs {
        Runs { count: self.joined(self).min(Runs::limit(3)) }
    }

    fn limit(x: u32) -> u32 {
        x.saturating_mul(2)
    }
}

#[scan_monoid]
impl Monoid for Runs {
    fn identity() -> Self {
        Runs { count: 0 }
    }

    fn combine(self, next: Self) -> Self {
        if self == next {
            return self;
        }
        Runs { count: self.twice().joined(next) }
    }
}

mod tests {
    use super::*;

    #[scan_fn]
    pub fn from_above(x: f32) -> f32 {
        own(x)
    }
}

fn main() {
    #[scan_fn]
    fn local(x: f32) -> f32 {
        tests::from_above(x)
    }

    #[scan_fn]
    fn calls_local(x: f32) -> f32 {
        local(x).sin()
    }
    assert!(calls_local(1.0) <= 1.0);
}
