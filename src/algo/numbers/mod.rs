//! Numbers that scans compute with: integers of any length, polynomials, recurrences modulo m.
//!
//! | function | monoid | source |
//! |---|---|---|
//! | [`add`], [`subtract`] | the carry pair (generate, propagate) | Ladner and Fischer 1980; Blelloch 1990, §1.2 |
//! | [`compare()`] | the order that the higher digit decides, [`Ordering::then`](std::cmp::Ordering::then) | Blelloch 1990, §1 |
//! | [`add_by`], [`subtract_by`], [`compare_by`] | the carry pair, by a prefix network | see [`Network`] |
//! | [`horner`] | x ↦ a·x + b | Blelloch 1990, §1.4; of eight coefficients, Estrin 1960 |
//! | [`Modular`], [`recur_modulo`] | affine maps of k numbers modulo m | Blelloch 1990, §1.4 |
//!
//! An integer is a slice of digits of 64 bits, the least first, as in the crate `num-bigint`.
//!
//! Horner's rule is a reduction; integers and recurrences have pages of their own.
//!
//! ```text
//! horner   monoid Affine: y ↦ a·y + b
//!          program 8 coefficients ↦ (y ↦ x⁸·y + their polynomial at x), by Estrin's rule; from the
//!          1 to 8 coefficients before them, by a loop
//!          cost work n, depth 1 reduction, 1 pass; one thread looks for the end of leading zeros
//!          bytes of coefficients of b: b read of each
//! ```

mod big;
mod compare;
pub(super) mod modular;
mod network;

pub use big::{add, add_into, subtract, subtract_into};
pub use big::{add_rows, add_rows_into, compare_rows, compare_rows_into, subtract_rows, subtract_rows_into};
pub use compare::compare;
pub use modular::{Modular, recur_modulo, recur_modulo_into};
pub use network::{Gate, Network, NetworkKind, add_by, compare_by, subtract_by};

use super::{AlgoError, compiled};
use crate::Error;
use crate::ops::Affine;
use crate::prelude::*;

/// The polynomial with these coefficients, that of the highest power first, at x: Horner's rule, whose steps y ↦ x⁸·y + c of eight
/// coefficients are composed. Integers wrap; floats associate otherwise than the loop. Leading zeros are skipped; where a power of x
/// that has a coefficient is infinite, so is the result, or it is NaN, though terms may cancel in the loop. Where a power underflows to 0,
/// what is multiplied by it is lost.
///
/// Work n, depth 1 reduction, 1 pass.
///
/// ```
/// use monoscan::algo::numbers::horner;
/// assert_eq!(horner(&[2, 0, 1], 10)?, 201); // 2·10² + 1
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// Those of building the scan.
pub fn horner<T: Num>(coefficients: &[T], x: T) -> Result<T, AlgoError> {
    let zeros = coefficients.iter().take_while(|&&coefficient| coefficient == T::ZERO).count();
    let scan = scan_of_horner::<T>()?;
    let (first, groups) = coefficients[zeros..].as_rchunks::<GROUP>();
    // With the first coefficient apart, each power in a group is less than that of a coefficient before it.
    let (first, groups) = match groups.split_first() {
        Some((group, others)) if first.is_empty() => (&group[..], others),
        _ => (first, groups),
    };
    let step = |y: T, coefficient: T| y.wrapped_mul(x).wrapped_add(coefficient);
    let Some(first) = first.iter().copied().reduce(step) else { return Ok(T::ZERO) };
    Ok(scan.with(x)?.init(Affine { a: T::ZERO, b: first }).reduce(groups)?.b)
}

/// So many coefficients are a record: one product and one sum of each wait for those of the record before.
const GROUP: usize = 8;

type OfGroups<T> = Scan<Affine<T>, ([T; GROUP],), Affine<T>>;

/// The scan of [`horner`], whose parameter is x.
pub(super) fn scan_of_horner<T: Num>() -> Result<&'static OfGroups<T>, Error> {
    compiled(|| {
        // By Estrin's rule: pairs, pairs of these, and of those.
        let step = scan!(|x: T, c: [T; GROUP]| -> Affine<T> {
            let (square, fourth) = (x * x, (x * x) * (x * x));
            let high = (c[0] * x + c[1]) * square + (c[2] * x + c[3]);
            let low = (c[4] * x + c[5]) * square + (c[6] * x + c[7]);
            Affine { a: fourth * fourth, b: high * fourth + low }
        });
        Scan::<Affine<T>>::builder().lift_with(T::ZERO, step).build()
    })
}
