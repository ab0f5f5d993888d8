//! The `is_ascii_…` and `to_ascii_…` of bytes.

use super::wrapping_sub;
use crate::lang::ops::{bitor, bitxor, eq, lift, lt, or, select};
use crate::lang::scan_type::V;

/// Whether `first <= x <= last`.
fn within(x: V<u8>, first: u8, last: u8) -> V<bool> {
    lt(wrapping_sub(x, lift(first)), lift(last - first + 1))
}

/// The byte with the bit set that lower-case letters have.
fn lowered(x: V<u8>) -> V<u8> {
    bitor(x, lift(0x20))
}

/// `is_ascii`
pub fn is_ascii(x: V<u8>) -> V<bool> {
    lt(x, lift(0x80))
}

/// `is_ascii_digit`
pub fn is_ascii_digit(x: V<u8>) -> V<bool> {
    within(x, b'0', b'9')
}

/// `is_ascii_hexdigit`
pub fn is_ascii_hexdigit(x: V<u8>) -> V<bool> {
    or(is_ascii_digit(x), within(lowered(x), b'a', b'f'))
}

/// `is_ascii_lowercase`
pub fn is_ascii_lowercase(x: V<u8>) -> V<bool> {
    within(x, b'a', b'z')
}

/// `is_ascii_uppercase`
pub fn is_ascii_uppercase(x: V<u8>) -> V<bool> {
    within(x, b'A', b'Z')
}

/// `is_ascii_alphabetic`
pub fn is_ascii_alphabetic(x: V<u8>) -> V<bool> {
    within(lowered(x), b'a', b'z')
}

/// `is_ascii_alphanumeric`
pub fn is_ascii_alphanumeric(x: V<u8>) -> V<bool> {
    or(is_ascii_digit(x), is_ascii_alphabetic(x))
}

/// `is_ascii_whitespace`: space, tab, line feed, form feed, carriage return.
pub fn is_ascii_whitespace(x: V<u8>) -> V<bool> {
    let blank = or(eq(x, lift(b' ')), within(x, b'\t', b'\n'));
    or(blank, within(x, 0x0c, b'\r'))
}

/// `is_ascii_graphic`: what is printed and is no space.
pub fn is_ascii_graphic(x: V<u8>) -> V<bool> {
    within(x, b'!', b'~')
}

/// `is_ascii_punctuation`
pub fn is_ascii_punctuation(x: V<u8>) -> V<bool> {
    let lower = or(within(x, b'!', b'/'), within(x, b':', b'@'));
    or(lower, or(within(x, b'[', b'`'), within(x, b'{', b'~')))
}

/// `is_ascii_control`
pub fn is_ascii_control(x: V<u8>) -> V<bool> {
    or(lt(x, lift(0x20)), eq(x, lift(0x7f)))
}

/// `to_ascii_lowercase`
pub fn to_ascii_lowercase(x: V<u8>) -> V<u8> {
    select(is_ascii_uppercase(x), bitxor(x, lift(0x20)), x)
}

/// `to_ascii_uppercase`
pub fn to_ascii_uppercase(x: V<u8>) -> V<u8> {
    select(is_ascii_lowercase(x), bitxor(x, lift(0x20)), x)
}
