//! Numbers in decimals, parsed side by side: a loop in which no text needs another, 1 pass.

use std::str::FromStr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::parallel;

/// Texts that a thread takes at a time.
const PART: usize = 1 << 10;

/// A number that is read as the standard library reads it.
pub(super) trait Number: FromStr + Default + Send {
    /// The number that this text is.
    fn parse(text: &[u8]) -> Option<Self> {
        Self::short(text).or_else(|| std::str::from_utf8(text).ok()?.parse().ok())
    }

    /// The number, if the text is a sign or none, and so few digits that nothing is to be rounded or to overflow.
    fn short(text: &[u8]) -> Option<Self>;
}

impl Number for i64 {
    fn short(text: &[u8]) -> Option<i64> {
        let (is_negative, digits) = signed(text);
        let is_short = (1..=18).contains(&digits.len());
        let magnitude = followed_by(0, digits).filter(|_| is_short)? as i64;
        Some(if is_negative { -magnitude } else { magnitude })
    }
}

/// Digits that make an integer of 53 bits are a float, and so is a power of ten up to 10²²; their quotient is rounded once (Clinger).
impl Number for f64 {
    fn short(text: &[u8]) -> Option<f64> {
        const POWERS: [f64; 17] =
            [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16];
        let (is_negative, digits) = signed(text);
        let point = digits.iter().position(|byte| *byte == b'.').unwrap_or(digits.len());
        let (whole, fraction) = (&digits[..point], digits.get(point + 1..).unwrap_or_default());
        let is_short = (1..=16).contains(&(whole.len() + fraction.len()));
        let mantissa = followed_by(followed_by(0, whole)?, fraction).filter(|m| is_short && *m <= 1 << 53)?;
        let magnitude = mantissa as f64 / POWERS[fraction.len()];
        Some(if is_negative { -magnitude } else { magnitude })
    }
}

/// Whether there is a minus, and what is behind a sign.
fn signed(text: &[u8]) -> (bool, &[u8]) {
    match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    }
}

/// A number with these digits behind its own, modulo 2⁶⁴, if they are digits.
fn followed_by(number: u64, digits: &[u8]) -> Option<u64> {
    let (mut number, mut are_digits) = (number, true);
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        are_digits &= digit < 10;
        number = number.wrapping_mul(10).wrapping_add(digit.into());
    }
    are_digits.then_some(number)
}

/// The value that `of` gives for each place; or the first place for which it gives nothing.
pub(super) fn all<T: Default + Send>(len: usize, of: impl Fn(usize) -> Option<T> + Sync) -> Result<Vec<T>, usize> {
    let wrong = AtomicUsize::new(usize::MAX);
    let found = parallel::map_numbers(len, PART, |place| {
        of(place).unwrap_or_else(|| {
            wrong.fetch_min(place, Relaxed);
            T::default()
        })
    });
    match wrong.into_inner() {
        usize::MAX => Ok(found),
        place => Err(place),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_standard_library() {
        let mut bits = 1u64;
        let mut below = |bound: u64| {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (bits >> 33) % bound
        };
        let mut texts: Vec<String> =
            ["", "-", "+", ".", "-.", "1.", ".5", "-0", "-0.0", "inf", "NaN", "1e3", "é"].map(String::from).into();
        texts.extend([i64::MIN, i64::MAX, (1 << 53) + 1, -(1 << 53)].map(|number| number.to_string()));
        for _ in 0..20_000 {
            let (alphabet, len) = (["0123456789", "0123456789.", "0129.-+e "][below(3) as usize], below(22));
            let sign = ["", "-", "+"][below(3) as usize];
            let byte = |_| alphabet.as_bytes()[below(alphabet.len() as u64) as usize] as char;
            texts.push((0..len).map(byte).fold(sign.to_string(), |text, byte| text + &byte.to_string()));
        }
        for text in texts {
            assert_eq!(i64::parse(text.as_bytes()), text.parse().ok(), "{text}");
            let (got, expected) = (f64::parse(text.as_bytes()), text.parse::<f64>().ok());
            assert_eq!(got.map(f64::to_bits), expected.map(f64::to_bits), "{text}");
        }
        assert_eq!((i64::parse(b"1\xff"), f64::parse(b"1.\xff")), (None, None));
    }
}
