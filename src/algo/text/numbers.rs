//! Numbers in decimals, parsed side by side: a loop in which no text needs another, 1 pass.

use std::str::FromStr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::parallel;

/// Texts that a thread takes at a time.
const PART: usize = 1 << 10;

/// The numbers that these texts are; or the first place of one that is none.
pub(super) fn parsed<T, B>(len: usize, text: impl Fn(usize) -> Option<B> + Sync) -> Result<Vec<T>, usize>
where
    T: FromStr + Default + Send,
    B: AsRef<[u8]>,
{
    all(len, |place| std::str::from_utf8(text(place)?.as_ref()).ok()?.parse().ok())
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
