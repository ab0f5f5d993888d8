//! Numbers in decimals, parsed side by side.

use std::str::FromStr;

use crate::parallel;

/// Texts that a thread parses at a time.
const PART: usize = 1 << 10;

/// The numbers that these texts are; or the first place of one that is none.
pub(super) fn parsed<T, B>(len: usize, text: impl Fn(usize) -> Option<B> + Sync) -> Result<Vec<T>, usize>
where
    T: FromStr + Send,
    B: AsRef<[u8]>,
{
    let number = |place: usize| std::str::from_utf8(text(place)?.as_ref()).ok()?.parse().ok();
    let numbers: Vec<Option<T>> = parallel::map_numbers(len, PART, number);
    match numbers.iter().position(Option::is_none) {
        Some(place) => Err(place),
        None => Ok(numbers.into_iter().flatten().collect()),
    }
}
