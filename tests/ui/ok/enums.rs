#![forbid(unsafe_code)]

use monoscan::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, ScanType)]
#[repr(u8)]
pub enum Kind {
    Space = b' ' as isize as u8,
    None = 0,
    Letter = 7,
}

#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Last {
    #[default]
    None,
    This,
    That,
}

#[scan_monoid]
impl Monoid for Last {
    fn identity() -> Self {
        Last::None
    }

    fn combine(self, next: Self) -> Self {
        if matches!(next, Last::None) { self } else { next }
    }
}

const NEXT: [Kind; 3] = [Kind::Space, Kind::None, Kind::Letter];

#[scan_fn]
fn step(last: Last, kind: Kind) -> (Kind, u8, bool) {
    (NEXT[last as usize], kind as u8, kind == Kind::Letter)
}

fn main() {
    assert_eq!(step(Last::That, Kind::None), (Kind::Letter, 0, false));
}
