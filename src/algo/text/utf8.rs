//! Whether bytes are UTF-8.
//!
//! No scan: a byte says whether a character begins with it, so a text can be cut before any
//! character, and its parts are checked by themselves: UTF-8 is self-synchronizing, Yergeau, RFC
//! 3629 (2003), §1. As a scan it would be one of maps of a decoder's nine states, each of which
//! costs more than the loop's step: Höhrmann, *Flexible and Economical UTF-8 Decoder* (2010).
//!
//! ```text
//! monoid   none
//! cost     work n, depth 1 loop, 1 pass
//! bytes    1 read
//! ```

use super::super::AlgoError;
use crate::parallel;

/// About as many bytes are checked by one thread at a time.
const PART: usize = 1 << 15;

/// Checks that bytes are UTF-8, as [`std::str::from_utf8`] does, on all threads.
///
/// ```
/// use monoscan::algo::{AlgoError, text::check_utf8};
/// assert!(check_utf8("σκαν".as_bytes()).is_ok());
/// assert!(matches!(check_utf8(b"ab\xc3("), Err(AlgoError::InvalidUtf8 { valid_up_to: 2 })));
/// ```
///
/// # Errors
/// [`AlgoError::InvalidUtf8`] with the bytes that are right before the first character that is not.
pub fn check_utf8(text: &[u8]) -> Result<(), AlgoError> {
    let wrong = |start: usize, end: usize| {
        let error = std::str::from_utf8(&text[start..end]).err()?;
        Some(start + error.valid_up_to())
    };
    let place = match text.len().div_ceil(PART) {
        0 | 1 => wrong(0, text.len()),
        parts => {
            let wrong_in = |_, part: usize| wrong(cut(text, part * PART), cut(text, (part + 1) * PART));
            parallel::map(0..parts, wrong_in).into_iter().flatten().next()
        }
    };
    place.map_or(Ok(()), |valid_up_to| Err(AlgoError::InvalidUtf8 { valid_up_to }))
}

/// The first place from this one on at which no character goes on. A character goes on for three bytes at most: a fourth is
/// wrong, with or without those before it. None goes on at the start of the text.
fn cut(text: &[u8], place: usize) -> usize {
    if place == 0 {
        return 0;
    }
    let rest = &text[place.min(text.len())..];
    let goes_on = rest.iter().take(3).take_while(|byte| (0x80..=0xbf).contains(*byte)).count();
    text.len() - rest.len() + goes_on
}
