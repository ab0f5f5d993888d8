//! Summaries of a piece of a sequence that can be joined.

use crate::prelude::*;

/// The polynomial hash of a string modulo 2⁶⁴, and the power of the base that shifts it past what comes next:
/// hash(s t) = hash(s)·power(t) + hash(t). Law verdict: proved.
///
/// The hash of `s[i..j]` follows from those of prefixes: hash(j) − hash(i)·power(j − i). Modulo 2⁶⁴ strings can be made
/// that collide whatever the base is; against chance an odd base is enough.
///
/// ```
/// use monoscan::{ops::RabinKarp, prelude::*};
/// let base = 0x9e37_79b9_7f4a_7c15;
/// let prefixes = Scan::<RabinKarp>::builder()
///     .lift(scan!(|byte: u8| -> RabinKarp { RabinKarp::of(byte, base) }))
///     .build()?
///     .exclusive(b"banana!")?;
/// let hash = |i: usize, j: usize| {
///     prefixes[j].hash.wrapping_sub(prefixes[i].hash.wrapping_mul(prefixes[j - i].power))
/// };
/// assert_eq!(hash(1, 4), hash(3, 6)); // "ana" twice
/// assert_ne!(hash(0, 3), hash(3, 6));
/// # Ok::<(), monoscan::Error>(())
/// ```
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RabinKarp {
    /// `Σ s[i]·base^(n−1−i)`
    pub hash: u64,
    /// `base^n`
    pub power: u64,
}

impl RabinKarp {
    /// The string of this byte.
    #[scan_fn(associated)]
    pub fn of(byte: u8, base: u64) -> RabinKarp {
        RabinKarp { hash: byte as u64, power: base }
    }
}

#[scan_monoid]
impl Monoid for RabinKarp {
    fn identity() -> Self {
        RabinKarp { hash: 0, power: 1 }
    }

    fn combine(self, next: Self) -> Self {
        RabinKarp {
            hash: self.hash.wrapping_mul(next.power).wrapping_add(next.hash),
            power: self.power.wrapping_mul(next.power),
        }
    }
}

/// How far a piece of text goes up or down in brackets, and how deep below its start it goes on the way. A text is
/// balanced if both are 0. Law verdict: tested.
///
/// ```
/// use monoscan::{ops::BracketDepth, prelude::*};
/// let depths = Scan::<BracketDepth>::builder()
///     .lift(scan!(|byte: u8| -> BracketDepth {
///         match byte {
///             b'(' => BracketDepth::OPEN,
///             b')' => BracketDepth::CLOSE,
///             _ => BracketDepth::NEITHER,
///         }
///     }))
///     .build()?;
/// let ends = |text: &[u8]| depths.inclusive(text).map(|all| all[text.len() - 1]);
/// assert_eq!(ends(b"(a(b)c)")?, BracketDepth { depth: 0, lowest: 0 });
/// assert_eq!(ends(b")a(")?, BracketDepth { depth: 0, lowest: -1 });
/// # Ok::<(), monoscan::Error>(())
/// ```
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BracketDepth {
    /// Brackets opened less brackets closed.
    pub depth: i32,
    /// The least depth of any prefix, the empty one among them.
    pub lowest: i32,
}

impl BracketDepth {
    /// An opening bracket.
    pub const OPEN: BracketDepth = BracketDepth { depth: 1, lowest: 0 };
    /// A closing bracket.
    pub const CLOSE: BracketDepth = BracketDepth { depth: -1, lowest: -1 };
    /// Anything else.
    pub const NEITHER: BracketDepth = BracketDepth { depth: 0, lowest: 0 };
}

#[scan_monoid]
impl Monoid for BracketDepth {
    fn identity() -> Self {
        BracketDepth::NEITHER
    }

    fn combine(self, next: Self) -> Self {
        BracketDepth { depth: self.depth + next.depth, lowest: self.lowest.min(self.depth + next.lowest) }
    }

    fn valid(self) -> bool {
        self.lowest <= 0 && self.lowest <= self.depth
    }
}

/// The longest run of set flags, in a form that joins: a run may cross from one piece to the next. Law verdict: tested.
///
/// ```
/// use monoscan::{ops::LongestRun, prelude::*};
/// let longest = Scan::<LongestRun>::builder()
///     .lift(scan!(|up: bool| -> LongestRun { LongestRun::of(up) }))
///     .project(scan!(|runs: LongestRun| -> u32 { runs.best }))
///     .build()?;
/// assert_eq!(longest.inclusive(&[true, true, false, true, true, true])?, [1, 2, 2, 2, 2, 3]);
/// # Ok::<(), monoscan::Error>(())
/// ```
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LongestRun {
    /// How many flags.
    pub length: u32,
    /// The run that starts at the first flag.
    pub prefix: u32,
    /// The run that ends at the last flag.
    pub suffix: u32,
    /// The longest run.
    pub best: u32,
}

impl LongestRun {
    /// One flag.
    #[scan_fn(associated)]
    pub fn of(flag: bool) -> LongestRun {
        let run = flag as u32;
        LongestRun { length: 1, prefix: run, suffix: run, best: run }
    }
}

#[scan_monoid]
impl Monoid for LongestRun {
    fn identity() -> Self {
        LongestRun { length: 0, prefix: 0, suffix: 0, best: 0 }
    }

    fn combine(self, next: Self) -> Self {
        LongestRun {
            length: self.length + next.length,
            prefix: if self.prefix == self.length { self.length + next.prefix } else { self.prefix },
            suffix: if next.suffix == next.length { self.suffix + next.length } else { next.suffix },
            best: self.best.max(next.best).max(self.suffix + next.prefix),
        }
    }

    fn valid(self) -> bool {
        let within = self.prefix <= self.best && self.suffix <= self.best && self.best <= self.length;
        let whole = self.prefix == self.length && self.suffix == self.length;
        // Else a flag that is not set stands between the first run and the last.
        let apart = self.prefix + self.suffix < self.length && self.best < self.length;
        within && (whole || apart)
    }
}
