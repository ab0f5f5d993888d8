//! Loops over parts of slices, on as many threads of rayon's pool as they are worth.
//!
//! A parallel iterator of rayon is compiled anew for each loop, with all that shares its work among
//! threads. These loops call a function of a part's number through a pointer, so that this is
//! compiled once. A part should take a microsecond at least: a call costs some 50 ns. No thread is
//! waited for that has not begun, and on a busy machine short loops stay on one thread
//! ([`parts`]).

use std::sync::{Mutex, PoisonError};

use monoscan_runtime::parts;
use monoscan_runtime::space::ask_for_large_pages;

/// Calls `of` with each part and its number.
///
/// # Panics
/// If `of` does.
pub(crate) fn for_each<P: Send>(parts: impl Iterator<Item = P>, of: impl Fn(usize, P) + Sync) {
    let parts: Vec<Mutex<Option<P>>> = parts.map(|part| Mutex::new(Some(part))).collect();
    let one = |number: usize| {
        let part = parts[number].lock().unwrap_or_else(PoisonError::into_inner).take();
        of(number, part.expect("each number comes once"));
    };
    parts::each(parts.len(), &one);
}

/// The results of `of` for each part and its number, in order.
///
/// # Panics
/// If `of` does.
pub(crate) fn map<P: Send, R: Send>(parts: impl Iterator<Item = P>, of: impl Fn(usize, P) -> R + Sync) -> Vec<R> {
    let parts: Vec<P> = parts.collect();
    let mut results: Vec<Option<R>> = parts.iter().map(|_| None).collect();
    for_each(parts.into_iter().zip(&mut results), |number, (part, result)| *result = Some(of(number, part)));
    results.into_iter().map(|result| result.expect("each part was called with")).collect()
}

/// The results of `of` for each number below `len`. Threads take `part` numbers at a time.
///
/// # Panics
/// If `of` does.
pub(crate) fn map_numbers<T: Send>(len: usize, part: usize, of: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let mut results = Vec::with_capacity(len);
    ask_for_large_pages(results.spare_capacity_mut());
    let parts = results.spare_capacity_mut()[..len].chunks_mut(part);
    for_each(parts, |number, results| {
        for (number, result) in (number * part..).zip(results) {
            result.write(of(number));
        }
    });
    // SAFETY: the parts are the first `len` places, and all of them were written, as no call panicked.
    unsafe { results.set_len(len) };
    results
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_taken_once_and_results_are_in_order() {
        for len in [0, 1, 2, 1000] {
            let mut slots = vec![0; len];
            let sums = map(slots.chunks_mut(3), |number, part| {
                part.iter_mut().for_each(|slot| *slot += number + 1);
                part.iter().sum::<usize>()
            });
            let expected: Vec<usize> = (0..len).map(|place| place / 3 + 1).collect();
            assert_eq!(slots, expected);
            assert_eq!(sums, expected.chunks(3).map(|part| part.iter().sum()).collect::<Vec<usize>>());
            assert_eq!(
                map_numbers(len, 7, |number| number.to_string()),
                (0..len).map(|n| n.to_string()).collect::<Vec<_>>()
            );
        }
    }

    #[test]
    fn a_panic_in_a_part_goes_to_the_caller() {
        let wrong = || map_numbers(100, 7, |number| if number == 93 { panic!("this one") } else { Box::new(number) });
        assert!(std::panic::catch_unwind(wrong).is_err());
    }
}
