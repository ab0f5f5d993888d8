//! Arithmetic, comparisons, bits, shifts and casts on every type they work on.

use monoscan::prelude::*;

use super::agree::function;

#[scan_fn]
fn arithmetic<T: Num>(a: T, b: T) -> (T, T, T, T) {
    (a + b, a - b, a * b, a / b)
}

#[scan_fn]
fn integer<T: Int>(a: T, b: T, n: u32) -> (T, T, T, T, T, T) {
    (a % b, a & b, a | b, a ^ !b, a << n, a >> n)
}

#[scan_fn]
fn compare<T: Scalar>(a: T, b: T) -> [bool; 6] {
    [a == b, a != b, a < b, a <= b, a > b, a >= b]
}

#[scan_fn]
fn signs(a: f32, b: f64, c: i32, d: i64) -> (f32, f64, i32, i64) {
    (-a, -b, -c, -d)
}

#[scan_fn]
fn logic(a: bool, b: bool, c: bool) -> [bool; 6] {
    [a && b, a || b, !a, a & b ^ c, (a | b) && !(c == a), a < b]
}

macro_rules! casts {
    ($($name:ident $from:ident;)*) => {$(
        #[scan_fn]
        fn $name(x: $from) -> ((i8, i16, i32, i64), (u8, u16, u32, u64), f32, f64) {
            (
                (x as i8, x as i16, x as i32, x as i64),
                (x as u8, x as u16, x as u32, x as u64),
                x as f32,
                x as f64,
            )
        }
    )*};
}

casts! {
    from_i8 i8; from_i16 i16; from_i32 i32; from_i64 i64; from_u8 u8; from_u16 u16; from_u32 u32; from_u64 u64;
    from_f32 f32; from_f64 f64;
}

#[scan_fn]
fn from_bool(x: bool) -> (u8, i32, u64) {
    (x as u8, x as i32, x as _)
}

#[scan_fn]
fn constant_shifts(x: u64, y: i16) -> [u64; 4] {
    let mut all = [0; 4];
    for i in 0..4 {
        all[i] = x >> (8 * i) & 0xff | x << i;
    }
    all[3] ^= (y >> 3u8) as u64;
    all
}

#[scan_fn]
fn mixed_shift_amounts(x: u32, n: u8) -> (u32, u32) {
    (x << n, x >> (n & 7))
}

#[scan_fn]
fn literals_take_their_type_from_the_context(x: u64, y: f32, z: i8) -> (u64, f32, i8) {
    let mask = (1 << 60) - 1;
    (x & mask ^ !0 >> 3, 2.0 * y - 1e-3, 7 & z ^ -1)
}

#[scan_fn]
fn compound_assignment(mut a: u32, mut b: f64, mut c: u32) -> (u32, f64, u32) {
    a ^= c;
    a |= 1;
    a &= 0xffff;
    a += 5;
    a -= 2;
    a *= 3;
    a /= 2;
    a %= 1000;
    c <<= 3;
    c >>= 1u8;
    b += 1.0;
    b -= 0.5;
    b *= 2.0;
    b /= 3.0;
    (a, b, c)
}

#[test]
fn arithmetic_agrees_on_every_number_type() {
    function::<_, (i8, i8)>(arithmetic {});
    function::<_, (i16, i16)>(arithmetic {});
    function::<_, (i32, i32)>(arithmetic {});
    function::<_, (i64, i64)>(arithmetic {});
    function::<_, (u8, u8)>(arithmetic {});
    function::<_, (u16, u16)>(arithmetic {});
    function::<_, (u32, u32)>(arithmetic {});
    function::<_, (u64, u64)>(arithmetic {});
    function::<_, (f32, f32)>(arithmetic {});
    function::<_, (f64, f64)>(arithmetic {});
}

#[test]
fn integer_operators_agree_on_every_integer_type() {
    function::<_, (i8, i8, u32)>(integer {});
    function::<_, (i32, i32, u32)>(integer {});
    function::<_, (i64, i64, u32)>(integer {});
    function::<_, (u8, u8, u32)>(integer {});
    function::<_, (u16, u16, u32)>(integer {});
    function::<_, (u64, u64, u32)>(integer {});
}

#[test]
fn comparisons_agree_with_nan_and_signed_zeros() {
    function::<_, (f32, f32)>(compare {});
    function::<_, (f64, f64)>(compare {});
    function::<_, (i8, i8)>(compare {});
    function::<_, (u64, u64)>(compare {});
    function::<_, (bool, bool)>(compare {});
}

#[test]
fn negation_and_logic_agree() {
    function(signs {});
    function(logic {});
}

#[test]
fn casts_agree_between_all_scalars() {
    function(from_i8 {});
    function(from_i16 {});
    function(from_i32 {});
    function(from_i64 {});
    function(from_u8 {});
    function(from_u16 {});
    function(from_u32 {});
    function(from_u64 {});
    function(from_f32 {});
    function(from_f64 {});
    function(from_bool {});
}

#[test]
fn shifts_take_constant_amounts_of_any_integer_type() {
    function(constant_shifts {});
    function(mixed_shift_amounts {});
}

#[test]
fn literals_and_compound_assignment_agree() {
    function(literals_take_their_type_from_the_context {});
    function(compound_assignment {});
}
