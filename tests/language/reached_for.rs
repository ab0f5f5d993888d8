//! The methods that users reach for first, and equality: over adversarial arguments, against the
//! Rust that they were traced from.

use monoscan::TraceError;
use monoscan::lang::trace::trace_fn;
use monoscan::prelude::*;
use monoscan_ir::{Constant, interp};

use scan_kit::Random;

use super::agree::{CASES, function, value};

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
    let unit = if ir.ty() == monoscan_ir::Type::F32 { f64::from(f32::EPSILON) } else { f64::EPSILON };
    let least = if ir.ty() == monoscan_ir::Type::F32 { f64::from(f32::from_bits(1)) } else { f64::from_bits(1) };
    ir.same(native) || (a - b).abs() <= (ulps * unit * b.abs()).max(2.0 * least)
}

#[test]
fn circular_functions_and_powers_agree_within_a_few_ulp() {
    let double = trace_fn::<_, (f64, f64)>(&circular {}).unwrap();
    let single = trace_fn::<_, (f32, f32)>(&circular_single {}).unwrap();
    let mut random = Random(1);
    for _ in 0..CASES {
        let (x, y) = (value::<(f64, f64)>(&mut random), value::<(f32, f32)>(&mut random));
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

/// Equal if they are the same letter.
#[derive(Clone, Copy, ScanType)]
struct Letter(u8);

impl PartialEq for Letter {
    fn eq(&self, other: &Letter) -> bool {
        self.0.eq_ignore_ascii_case(&other.0)
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
    let near = trace_fn::<_, (Near, Near)>(&same {});
    let refused = [near, trace_fn::<_, (Named, Named)>(&same {}), trace_fn::<_, (Letter, Letter)>(&same {})];
    for traced in refused {
        assert!(matches!(traced, Err(TraceError::OwnEquality { .. })), "{traced:?}");
    }
}
