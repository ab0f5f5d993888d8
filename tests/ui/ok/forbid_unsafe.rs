#![forbid(unsafe_code)]
#![deny(missing_docs, warnings, clippy::all, clippy::pedantic)]
//! The macros do not set off the lints of a strict crate.

use monoscan::prelude::*;

/// A sum.
#[scan_monoid]
#[derive(Clone, Copy, Debug)]
pub struct Sum {
    /// So far.
    pub total: u64,
    hidden: u8,
}

#[scan_monoid]
impl Monoid for Sum {
    fn identity() -> Self {
        Sum { total: 0, hidden: 0 }
    }

    fn combine(self, next: Self) -> Self {
        let hidden = if next.hidden > 3 { next.hidden } else { self.hidden };
        Sum { total: self.total.wrapping_add(next.total), hidden }
    }
}

/// A look-up.
#[scan_fn]
#[must_use]
pub fn class(classes: Table<'_, u8>, byte: u8) -> u8 {
    classes.get(u32::from(b'a') ^ byte as u32)
}

fn main() {
    let gain = 2.0f32;
    let scale = scan!(|x: f32| -> f32 { x * gain });
    let _ = (scale, class {}.with_table(&[1]), Sum { total: 1, hidden: 0 }.hidden);
}
