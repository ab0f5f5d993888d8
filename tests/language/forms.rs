//! Methods of the user's own, enums, constant arrays indexed by data, early returns: over
//! adversarial arguments, against the Rust that they were traced from.

use monoscan::lang::trace::{trace_fn, trace_valid};
use monoscan::prelude::*;
use monoscan_ir::{Constant, interp};

use super::agree::{function, function_on, monoid};

#[derive(Clone, Copy, ScanType)]
struct Complex {
    re: f32,
    im: f32,
}

impl Complex {
    #[scan_fn]
    fn times(self, other: Complex) -> Complex {
        Complex { re: self.re * other.re - self.im * other.im, im: self.re * other.im + self.im * other.re }
    }

    #[scan_fn]
    fn scaled<T: Num>(self, by: T, twice: bool) -> (Complex, T) {
        let both = if twice { by + by } else { by };
        (Complex { re: self.re, ..self }, both)
    }
}

// The whole `impl` at once.
#[scan_fn]
impl Complex {
    const UNIT: f32 = 1.0;

    fn conjugate(self) -> Self {
        Complex { im: -self.im, ..self }
    }

    fn magnitude(self) -> f32 {
        self.times(self.conjugate()).re * Self::UNIT
    }

    fn real(re: f32) -> Self {
        Complex { re, im: 0.0 }
    }
}

#[scan_monoid]
impl<const N: usize> Row<N> {
    fn sum(self) -> u32 {
        let mut sum = 0u32;
        for cell in self.cells {
            sum = sum.wrapping_add(cell);
        }
        sum
    }
}

#[derive(Clone, Copy, ScanType)]
struct Row<const N: usize> {
    cells: [u32; N],
}

#[scan_fn]
fn methods(a: Complex, b: Complex, rows: [Row<2>; 2]) -> (Complex, f32, u32, u8) {
    let product = a.times(b).conjugate().times(Complex::real(2.0));
    let (scaled, three) = product.scaled(3u8, rows[0].sum() > 7);
    (scaled, a.magnitude() + Complex::magnitude(b), rows[1].sum(), three)
}

#[test]
fn methods_of_scan_types_agree() {
    function(methods {});
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ScanType)]
enum Kind {
    Space,
    Letter,
    Digit,
    Other,
}

impl Kind {
    #[scan_fn]
    fn is_word(self) -> bool {
        matches!(self, Kind::Letter | Kind::Digit)
    }

    #[scan_fn]
    fn of(byte: u8) -> Kind {
        if byte.is_ascii_whitespace() {
            return Kind::Space;
        }
        if byte.is_ascii_alphabetic() {
            return Kind::Letter;
        }
        if byte.is_ascii_digit() { Self::Digit } else { Kind::Other }
    }
}

/// Sparse and negative numbers, in a type of its own size.
#[derive(Clone, Copy, PartialEq, ScanType)]
#[repr(i16)]
enum Level {
    Low = -300,
    Middle = 0,
    High = 7,
}

#[scan_fn]
fn kinds(byte: u8, kind: Kind, level: Level, pair: (Kind, [Level; 2])) -> (Kind, [i32; 3], [bool; 4], Level, u8) {
    const NEXT: [Kind; 4] = [Kind::Letter, Kind::Digit, Kind::Other, Kind::Space];
    let number = match pair.0 {
        Kind::Space => 1,
        Kind::Letter => 2,
        Kind::Digit | Kind::Other => kind as i32,
    };
    (
        if byte > 100 { kind } else { NEXT[kind as usize] },
        [number, level as i32, pair.1[1] as i32],
        [kind == pair.0, Kind::of(byte).is_word(), level != Level::High, matches!(pair.1[0], Level::Low)],
        if level == Level::Middle { pair.1[0] } else { Level::High },
        level as u8,
    )
}

#[test]
fn enums_agree() {
    function(kinds {});
}

/// Rock, paper, scissors is no monoid; the last move that is not `None` is.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
enum Last {
    None,
    Paper,
    Rock,
    Scissors,
}

#[scan_monoid]
impl Monoid for Last {
    fn identity() -> Self {
        Last::None
    }

    fn combine(self, next: Self) -> Self {
        match next {
            Last::None => self,
            _ => next,
        }
    }
}

#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Pair {
    level: Wide,
    last: Last,
}

#[derive(Clone, Copy, Debug, PartialEq, ScanType)]
#[repr(u32)]
enum Wide {
    Zero,
    Million = 1_000_000,
}

#[scan_monoid]
impl Monoid for Pair {
    fn identity() -> Self {
        Pair { level: Wide::Zero, last: Last::None }
    }

    fn combine(self, next: Self) -> Self {
        let level = if self.level == Wide::Million { Wide::Million } else { next.level };
        Pair { level, last: self.last.combine(next.last) }
    }
}

#[test]
fn an_enum_is_a_state_and_its_variants_are_the_valid_states() {
    monoid::<Last>();
    monoid::<Pair>();
    let valid = trace_valid::<Pair>().unwrap().unwrap();
    let holds = |level: u32, last: u8| interp::call(&valid.function, &[level.into(), last.into()], &[])[0].bits() != 0;
    assert!(holds(0, 3) && holds(1_000_000, 0));
    assert!(!holds(1, 3) && !holds(0, 4));
}

const SQUARES: [u16; 5] = [0, 1, 4, 9, 16];
const GRID: [[(i8, bool); 3]; 2] = [[(1, true), (2, false), (3, true)], [(-4, false), (-5, true), (-6, true)]];
static BYTES: &[u8] = b"hello";

#[scan_fn]
fn looked_up(a: u8, b: u32, c: bool, d: u64) -> ([u16; 3], (i8, bool), i8, [u8; 2]) {
    let local = [7, 8, 9, 10];
    let mut sum = 0;
    for i in 0..2 {
        sum += GRID[c as usize][i + (a & 1) as usize].0;
    }
    (
        [SQUARES[(a % 5) as usize], SQUARES[(d % 5) as usize], SQUARES[usize::from(a & 3) + 1]],
        GRID[(b % 2) as usize][(a % 3) as usize],
        GRID[1][(b % 3) as usize].0 + sum,
        [BYTES[(b % 5) as usize], local[(a as usize * 3 + 1) % 4]],
    )
}

#[test]
fn constant_arrays_are_indexed_by_data() {
    function(looked_up {});
    let traced = trace_fn::<_, (u8, u32, bool, u64)>(&looked_up {}).unwrap();
    assert!(traced.tables.len() < 12, "a table is kept for each component of what is looked up");
}

#[scan_fn]
fn past_the_end(i: i64, j: u8) -> (u16, i8) {
    (SQUARES[i as usize], GRID[j as usize][j as usize].0)
}

/// Where Rust panics the result is unspecified, but there is one, and it is an element.
#[test]
fn an_index_past_the_end_reads_an_element() {
    let traced = trace_fn::<_, (i64, u8)>(&past_the_end {}).unwrap();
    for i in [5, -1, i64::MAX, i64::MIN, 1 << 32, 1 << 33] {
        let results = interp::call(&traced.function, &[i.into(), 200u8.into()], &traced.tables);
        assert_eq!(results, [Constant::from(16u16), Constant::from(-6i8)], "of {i}");
    }
}

#[scan_fn]
fn early(x: i32, y: i32) -> i32 {
    if x == 0 {
        return 1;
    }
    let mut z = x;
    if y > 3 {
        z = z.wrapping_add(y);
    } else if y < -3 {
        z = z.wrapping_sub(1);
    }
    if y < -6 {
        return z;
    } else if y == -4 {
        return x;
    } else if y == -5 {
        z = 2;
    } else {
        z = z.wrapping_add(1);
    }
    if z > 10 {
        if y == 7 {
            return 3;
        }
        return z;
    } else {
        z = 5;
    }
    match y {
        0 => return z,
        1 | 2 => {
            if x > 2 {
                return 4;
            }
            9
        }
        _ => z.wrapping_mul(2),
    }
}

#[scan_fn]
fn ends_in_return<const N: usize>(x: [u8; N]) -> u8 {
    if N == 1 {
        return x[0];
    }
    return x[N - 1];
}

#[test]
fn early_returns_agree() {
    function(early {});
    function::<_, ([u8; 1],)>(ends_in_return {});
    function::<_, ([u8; 3],)>(ends_in_return {});
    let limit = 3;
    function_on::<_, (i32,)>(
        scan!(|x: i32| -> i32 {
            if x > limit {
                return limit;
            }
            x
        }),
        |_| {},
    );
}
