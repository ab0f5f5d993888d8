//! What users reach for first: each construct and method over adversarial arguments, against the Rust it was traced from.

use monoscan::lang::trace::{TraceError, trace_fn, trace_valid};
use monoscan::prelude::*;
use scan_ir::{Constant, interp};

use super::agree::{CASES, Random, function, function_on, monoid};

#[scan_fn]
fn of_bytes(x: u8) -> ([bool; 11], [u8; 2]) {
    (
        [
            x.is_ascii(),
            x.is_ascii_digit(),
            x.is_ascii_hexdigit(),
            x.is_ascii_lowercase(),
            x.is_ascii_uppercase(),
            x.is_ascii_alphabetic(),
            x.is_ascii_alphanumeric(),
            x.is_ascii_whitespace(),
            x.is_ascii_graphic(),
            x.is_ascii_punctuation(),
            x.is_ascii_control(),
        ],
        [x.to_ascii_lowercase(), x.to_ascii_uppercase()],
    )
}

#[test]
fn classes_of_bytes_agree_on_every_byte() {
    let traced = trace_fn::<_, (u8,)>(&of_bytes {}).unwrap();
    for x in 0..=255u8 {
        let native = monoscan::lang::to_constants(&of_bytes(x));
        assert_eq!(interp::call(&traced.function, &[x.into()], &[]), native, "of {x}");
    }
}

macro_rules! integer_methods {
    ($($name:ident $type:ident;)*) => {$(
        #[scan_fn]
        fn $name(a: $type, b: $type) -> ($type, ($type, bool), [u32; 2], [$type; 2]) {
            let positive = (a | 1) & $type::MAX;
            let divisor = b | 1;
            (
                a.saturating_mul(b),
                $type::overflowing_mul(a, b),
                [positive.ilog2(), $type::ilog10(positive)],
                [(a & $type::MAX).rem_euclid(divisor), (a & $type::MAX).div_euclid(divisor)],
            )
        }
    )*};
}

integer_methods! { on_i8 i8; on_i16 i16; on_i32 i32; on_i64 i64; on_u8 u8; on_u16 u16; on_u32 u32; on_u64 u64; }

#[scan_fn]
fn unsigned_division(a: u32, b: u32) -> (bool, u32) {
    (a.is_multiple_of(b), a.div_ceil(b | 1))
}

#[scan_fn]
fn generic_integer<T: Int>(a: T, b: T) -> (T, T) {
    (a.saturating_mul(b), (a & T::MAX).rem_euclid(b | T::ONE))
}

#[test]
fn integer_methods_agree_on_every_width() {
    function(on_i8 {});
    function(on_i16 {});
    function(on_i32 {});
    function(on_i64 {});
    function(on_u8 {});
    function(on_u16 {});
    function(on_u32 {});
    function(on_u64 {});
    function(unsigned_division {});
    function::<_, (i16, i16)>(generic_integer {});
    function::<_, (u64, u64)>(generic_integer {});
}

#[test]
fn every_pair_of_narrow_integers_multiplies_as_in_rust() {
    #[scan_fn]
    fn saturated(a: i8, b: i8) -> (i8, (i8, bool)) {
        (a.saturating_mul(b), a.overflowing_mul(b))
    }
    let traced = trace_fn::<_, (i8, i8)>(&saturated {}).unwrap();
    for (a, b) in (i8::MIN..=i8::MAX).flat_map(|a| (i8::MIN..=i8::MAX).map(move |b| (a, b))) {
        let native = monoscan::lang::to_constants(&saturated(a, b));
        assert_eq!(interp::call(&traced.function, &[a.into(), b.into()], &[]), native, "{a} · {b}");
    }
}

#[scan_fn]
fn conversions(a: u8, b: i16, c: u32, d: f32, e: bool) -> (u32, i64, f64, f64, (u8, f32, u64)) {
    let wide: i64 = b.into();
    (u32::from(a), wide, f64::from(c), f64::from(d) + f64::from(b), (u8::from(e), f32::from(a), u64::from(e)))
}

#[test]
fn lossless_conversions_agree() {
    function(conversions {});
}

#[scan_fn]
fn compared(a: i32, b: i32, x: u64) -> [i32; 4] {
    [std::cmp::max(a, b), core::cmp::min(a, 3), i32::max(a, b), std::cmp::min(x, 9) as i32]
}

#[scan_fn]
fn fits(x: u8, y: (i32, bool)) -> [bool; 4] {
    [
        matches!(x, b'a'..=b'z' | b'_'),
        matches!(y, (n, true) if n > 3),
        std::matches!(x, 0 | 255),
        !matches!(y.0, 0,) && matches!(x, _),
    ]
}

#[test]
fn functions_and_macros_of_the_standard_library_agree() {
    function(compared {});
    function(fits {});
}

#[scan_fn]
fn whole_powers(x: f64, y: f32) -> ([f64; 4], [f32; 3]) {
    ([x.powi(0), x.powi(1), x.powi(2), f64::powi(x, -1)], [y.powi(2), y.powi(-2), y.powi(1)])
}

#[test]
fn small_whole_powers_agree_to_the_bit() {
    function(whole_powers {});
}

#[scan_fn]
fn circular(x: f64, y: f64) -> ([f64; 6], (f64, f64), f64) {
    ([x.sin(), x.cos(), x.tan(), x.exp_m1(), x.ln_1p(), f64::sin(y)], y.sin_cos(), x.abs().powf(y))
}

#[scan_fn]
fn circular_single<T: Real>(x: T, y: T) -> [T; 7] {
    [T::sin(x), x.cos(), x.tan(), x.exp_m1(), x.ln_1p(), x.powf(y), y.powi(3)]
}

/// Within so many units of the last place; both may be NaN.
fn close(ir: Constant, native: Constant, ulps: f64) -> bool {
    let (a, b) = (ir.as_f64(), native.as_f64());
    let unit = if ir.ty() == scan_ir::Type::F32 { f64::from(f32::EPSILON) } else { f64::EPSILON };
    let least = if ir.ty() == scan_ir::Type::F32 { f64::from(f32::from_bits(1)) } else { f64::from_bits(1) };
    ir.same(native) || (a - b).abs() <= (ulps * unit * b.abs()).max(2.0 * least)
}

#[test]
fn circular_functions_and_powers_agree_within_a_few_ulp() {
    let double = trace_fn::<_, (f64, f64)>(&circular {}).unwrap();
    let single = trace_fn::<_, (f32, f32)>(&circular_single {}).unwrap();
    let mut random = Random::new();
    for _ in 0..CASES {
        let (x, y) = (random.value::<(f64, f64)>(), random.value::<(f32, f32)>());
        let native = monoscan::lang::to_constants(&circular(x[0].as_f64(), x[1].as_f64()));
        let ir = interp::call(&double.function, &x, &double.tables);
        assert!(ir.iter().zip(&native).all(|(a, b)| close(*a, *b, 4.0)), "of {x:?}: {ir:?} and {native:?}");
        let native = circular_single(y[0].as_f64() as f32, y[1].as_f64() as f32);
        let native = monoscan::lang::to_constants(&native);
        let ir = interp::call(&single.function, &y, &single.tables);
        assert!(ir.iter().zip(&native).all(|(a, b)| close(*a, *b, 4.0)), "of {y:?}: {ir:?} and {native:?}");
    }
}

#[derive(Clone, Copy, Debug, PartialEq, ScanType)]
struct Point {
    x: f32,
    place: (u8, [i16; 2]),
}

#[scan_fn]
fn equal(a: Point, b: Point, c: [u8; 3], d: (bool, f64)) -> [bool; 5] {
    [a == b, a != b, a == Point { x: a.x, ..b }, c == [0, 1, c[2]], d != (true, d.1)]
}

#[derive(Clone, Copy, ScanType)]
struct Near(f32);

impl PartialEq for Near {
    fn eq(&self, other: &Near) -> bool {
        (self.0 - other.0).abs() < 0.5
    }
}

#[derive(Clone, Copy, ScanType)]
struct Named {
    name: u32,
    _note: u8,
}

impl PartialEq for Named {
    fn eq(&self, other: &Named) -> bool {
        self.name == other.name
    }
}

#[scan_fn]
fn same<T: ScanType + PartialEq>(a: T, b: T) -> bool {
    a == b
}

#[test]
fn equality_is_that_of_all_fields() {
    function(equal {});
    function::<_, (Point, Point)>(same {});
    function::<_, ([f64; 2], [f64; 2])>(same {});
}

#[test]
fn a_handwritten_equality_is_an_error() {
    let refused = [trace_fn::<_, (Near, Near)>(&same {}), trace_fn::<_, (Named, Named)>(&same {})];
    for traced in refused {
        assert!(matches!(traced, Err(TraceError::OwnEquality { .. })), "{traced:?}");
    }
}

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
