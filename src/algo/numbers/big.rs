//! Integers of any length: sums, differences, order.
//!
//! A digit of a + b passes a carry on in one of three ways: it *generates* one whatever enters, it
//! *propagates* what enters, or neither. Pairs of these bits compose, so the carries into all
//! digits are an exclusive scan: carry look-ahead, Ladner and Fischer 1980. A difference borrows
//! likewise.
//!
//! ```text
//! monoid   Carry: c ↦ generate ∨ (propagate ∧ c)
//! program  (a, b) ↦ generate = a + b overflows, propagate = a + b is all ones; writes a + b + carry
//! cost     work n, depth 1 scan, 1 pass, 24 bytes a digit
//! ```
//!
//! Rows of a few digits are added by a loop each: a row is too short for two threads, and rows are
//! independent. So is the order of two numbers, which the highest digit that differs decides.

use std::borrow::Cow;
use std::cmp::Ordering;

use rayon::prelude::*;

use super::super::{AlgoError, check_length, compiled};
use crate::ops::Carry;
use crate::prelude::*;

/// What subtracting b from a does to the borrow that enters.
#[scan_fn]
fn borrow(a: u64, b: u64) -> Carry {
    Carry { generate: a < b, propagate: a == b }
}

/// a + b in as many digits as the longer one has, and whether a carry leaves.
///
/// ```
/// use monoscan::algo::numbers::add;
/// assert_eq!(add(&[u64::MAX, u64::MAX], &[1])?, (vec![0, 0], true));
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
pub fn add(a: &[u64], b: &[u64]) -> Result<(Vec<u64>, bool), AlgoError> {
    let len = a.len().max(b.len());
    let (a, b) = (extended(a, len), extended(b, len));
    let mut sum = vec![0; len];
    let carry = add_into(&a, &b, &mut sum)?;
    Ok((sum, carry))
}

/// a + b into a slice, all of one length; gives whether a carry leaves.
///
/// # Errors
/// [`AlgoError::Length`] if they differ in length.
pub fn add_into(a: &[u64], b: &[u64], sum: &mut [u64]) -> Result<bool, AlgoError> {
    check_length("b", a.len(), b.len())?;
    check_length("sum", a.len(), sum.len())?;
    let scan = compiled(|| {
        Scan::<Carry>::builder()
            .lift(scan!(|a: u64, b: u64| -> Carry { Carry::of(a, b) }))
            .project_with_record(scan!(|before: Carry, a: u64, b: u64| -> u64 {
                a.wrapping_add(b).wrapping_add(before.generate as u64)
            }))
            .build()
    })?;
    let mut carry = scan.identity();
    scan.resuming(&mut carry).exclusive_into((a, b), sum)?;
    Ok(carry.generate)
}

/// a − b in as many digits as the longer one has, and whether a borrow leaves: then it is a − b + 2^(64 n).
///
/// ```
/// use monoscan::algo::numbers::subtract;
/// assert_eq!(subtract(&[0, 0, 1], &[1])?, (vec![u64::MAX, u64::MAX, 0], false));
/// assert_eq!(subtract(&[1], &[2])?, (vec![u64::MAX], true));
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
pub fn subtract(a: &[u64], b: &[u64]) -> Result<(Vec<u64>, bool), AlgoError> {
    let len = a.len().max(b.len());
    let (a, b) = (extended(a, len), extended(b, len));
    let mut difference = vec![0; len];
    let borrow = subtract_into(&a, &b, &mut difference)?;
    Ok((difference, borrow))
}

/// a − b into a slice, all of one length; gives whether a borrow leaves.
///
/// # Errors
/// [`AlgoError::Length`] if they differ in length.
pub fn subtract_into(a: &[u64], b: &[u64], difference: &mut [u64]) -> Result<bool, AlgoError> {
    check_length("b", a.len(), b.len())?;
    check_length("difference", a.len(), difference.len())?;
    let scan = compiled(|| {
        Scan::<Carry>::builder()
            .lift(borrow {})
            .project_with_record(scan!(|before: Carry, a: u64, b: u64| -> u64 {
                a.wrapping_sub(b).wrapping_sub(before.generate as u64)
            }))
            .build()
    })?;
    let mut borrow = scan.identity();
    scan.resuming(&mut borrow).exclusive_into((a, b), difference)?;
    Ok(borrow.generate)
}

/// The number in this many digits.
fn extended(digits: &[u64], len: usize) -> Cow<'_, [u64]> {
    if digits.len() == len {
        return Cow::Borrowed(digits);
    }
    let mut digits = digits.to_vec();
    digits.resize(len, 0);
    Cow::Owned(digits)
}

/// Which of two numbers is greater; digits of 0 at the top count for nothing.
///
/// ```
/// use monoscan::algo::numbers::compare;
/// assert!(compare(&[5, 1], &[9]).is_gt() && compare(&[5, 0], &[5]).is_eq());
/// ```
pub fn compare(a: &[u64], b: &[u64]) -> Ordering {
    let common = a.len().min(b.len());
    let has_more = |digits: &[u64]| digits[common..].iter().any(|&digit| digit != 0);
    let below = || a[..common].iter().rev().cmp(b[..common].iter().rev());
    has_more(a).cmp(&has_more(b)).then_with(below)
}

/// a\[i\] + b\[i\] for all i, modulo 2^(64 W).
///
/// ```
/// use monoscan::algo::numbers::add_rows;
/// assert_eq!(add_rows(&[[u64::MAX, 1], [2, 3]], &[[1, 1], [5, 5]])?, [[0, 3], [7, 8]]);
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// [`AlgoError::Length`] if there are not as many b.
pub fn add_rows<const W: usize>(a: &[[u64; W]], b: &[[u64; W]]) -> Result<Vec<[u64; W]>, AlgoError> {
    let mut sums = vec![[0; W]; a.len()];
    add_rows_into(a, b, &mut sums)?;
    Ok(sums)
}

/// [`add_rows`] into a slice, all of one length.
///
/// # Errors
/// [`AlgoError::Length`] if they differ in length.
pub fn add_rows_into<const W: usize>(a: &[[u64; W]], b: &[[u64; W]], sums: &mut [[u64; W]]) -> Result<(), AlgoError> {
    check_length("b", a.len(), b.len())?;
    check_length("sums", a.len(), sums.len())?;
    let add = |a: &[[u64; W]], b: &[[u64; W]], sums: &mut [[u64; W]]| {
        for ((a, b), sum) in a.iter().zip(b).zip(sums) {
            let mut carry = false;
            for ((a, b), sum) in a.iter().zip(b).zip(sum) {
                (*sum, carry) = a.carrying_add(*b, carry);
            }
        }
    };
    let rows = 1 << 12;
    if a.len() <= rows {
        add(a, b, sums);
    } else {
        a.par_chunks(rows)
            .zip(b.par_chunks(rows))
            .zip(sums.par_chunks_mut(rows))
            .for_each(|((a, b), sums)| add(a, b, sums));
    }
    Ok(())
}
