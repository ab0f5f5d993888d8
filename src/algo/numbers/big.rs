//! Integers of any length: sums and differences; and rows of them.
//!
//! A digit of a + b passes a carry on in one of three ways: it *generates* one whatever enters, it
//! *propagates* what enters, or neither. So does a block of digits. Pairs of these bits compose, so
//! the carries into all blocks are an exclusive scan: carry look-ahead, Ladner and Fischer 1980.
//! A block is added as if no carry entered; one that does enter then goes as far as digits
//! propagate, which is seldom beyond the first. a − b is the complement of b plus that of a.
//!
//! ```text
//! monoid   Carry: c ↦ generate ∨ (propagate ∧ c), one state a block
//! program  a state ↦ itself; writes the carry that enters the block
//! cost     work n, depth 1 scan of n / 8192 states between two loops, 1 pass
//! bytes    16 read and 8 written of each digit; those that a carry goes through once more
//! ```
//!
//! Rows of a few digits take a loop each, from the least digit on: Knuth 2, §4.3.1, Algorithms A
//! and S; to compare, from the highest. A row is too short for two threads, and rows are
//! independent.
//!
//! ```text
//! cost     n rows of W digits: work W n, depth 1 loop, 1 pass
//! bytes    16 W read of each pair of rows; 8 W written, or 1 for an order
//! ```

use std::borrow::Cow;
use std::cmp::Ordering;

use monoscan_runtime::space::{filled, zeros};

use super::super::{AlgoError, check_length, compiled};
use crate::ops::Carry;
use crate::parallel;
use crate::prelude::*;

/// Digits of a block.
const BLOCK: usize = 1 << 13;

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
    let mut sum = zeros(len)?;
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
    add_blocks(a, b, sum, 0)
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
    let mut difference = zeros(len)?;
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
    add_blocks(a, b, difference, u64::MAX)
}

/// (a ⊻ flip) + b, each digit of it ⊻ flip, into a slice of the same length; gives whether a carry leaves.
fn add_blocks(a: &[u64], b: &[u64], sum: &mut [u64], flip: u64) -> Result<bool, AlgoError> {
    let scan = compiled(Scan::<Carry>::new)?;
    let add_block = if flip == 0 { add_block::<0> } else { add_block::<{ u64::MAX }> };
    let blocks = a.chunks(BLOCK).zip(b.chunks(BLOCK)).zip(sum.chunks_mut(BLOCK));
    let carries: Vec<Carry> = parallel::map(blocks, |_, ((a, b), sum)| add_block(a, b, sum));
    let entering = scan.exclusive(&carries)?;
    let entered = sum.chunks_mut(BLOCK).zip(&entering).filter(|(_, carry)| carry.generate);
    parallel::for_each(entered, |_, (sum, _)| {
        for digit in sum {
            let (next, overflows) = (*digit ^ flip).overflowing_add(1);
            *digit = next ^ flip;
            if !overflows {
                break;
            }
        }
    });
    let last = entering.last().zip(carries.last());
    Ok(last.is_some_and(|(entering, last)| last.generate || (last.propagate && entering.generate)))
}

/// The same of a block that no carry enters; gives what it does with one.
fn add_block<const FLIP: u64>(a: &[u64], b: &[u64], sum: &mut [u64]) -> Carry {
    /// Digits that are added without a look at the loop's count, which costs the processor's carry flag.
    const TOGETHER: usize = 8;
    let (mut generate, mut common) = (false, u64::MAX);
    let mut add = |a: &u64, b: &u64, sum: &mut u64| {
        let digit;
        (digit, generate) = (a ^ FLIP).carrying_add(*b, generate);
        common &= digit;
        *sum = digit ^ FLIP;
    };
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<TOGETHER>(), b.as_chunks::<TOGETHER>());
    let (sum, sum_rest) = sum.as_chunks_mut::<TOGETHER>();
    for ((a, b), sum) in a.iter().zip(b).zip(sum) {
        for place in 0..TOGETHER {
            add(&a[place], &b[place], &mut sum[place]);
        }
    }
    for ((a, b), sum) in a_rest.iter().zip(b_rest).zip(sum_rest) {
        add(a, b, sum);
    }
    Carry { generate, propagate: common == u64::MAX }
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
    let mut sums = filled([0; W], a.len())?;
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
    each_row(a, b, sums, |a, b, sum| {
        let mut carry = false;
        for ((a, b), sum) in a.iter().zip(b).zip(sum) {
            (*sum, carry) = a.carrying_add(*b, carry);
        }
    });
    Ok(())
}

/// a\[i\] − b\[i\] for all i, modulo 2^(64 W).
///
/// ```
/// use monoscan::algo::numbers::subtract_rows;
/// assert_eq!(subtract_rows(&[[0, 3], [7, 8]], &[[1, 1], [5, 5]])?, [[u64::MAX, 1], [2, 3]]);
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// [`AlgoError::Length`] if there are not as many b.
pub fn subtract_rows<const W: usize>(a: &[[u64; W]], b: &[[u64; W]]) -> Result<Vec<[u64; W]>, AlgoError> {
    let mut differences = filled([0; W], a.len())?;
    subtract_rows_into(a, b, &mut differences)?;
    Ok(differences)
}

/// [`subtract_rows`] into a slice, all of one length.
///
/// # Errors
/// [`AlgoError::Length`] if they differ in length.
pub fn subtract_rows_into<const W: usize>(
    a: &[[u64; W]],
    b: &[[u64; W]],
    differences: &mut [[u64; W]],
) -> Result<(), AlgoError> {
    check_length("b", a.len(), b.len())?;
    check_length("differences", a.len(), differences.len())?;
    each_row(a, b, differences, |a, b, difference| {
        let mut borrow = false;
        for ((a, b), difference) in a.iter().zip(b).zip(difference) {
            (*difference, borrow) = a.borrowing_sub(*b, borrow);
        }
    });
    Ok(())
}

/// Which of a\[i\] and b\[i\] is greater, for all i.
///
/// ```
/// use std::cmp::Ordering::*;
/// use monoscan::algo::numbers::compare_rows;
/// assert_eq!(compare_rows(&[[0, 3], [7, 8], [5, 5]], &[[1, 1], [9, 8], [5, 5]])?, [Greater, Less, Equal]);
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// [`AlgoError::Length`] if there are not as many b.
pub fn compare_rows<const W: usize>(a: &[[u64; W]], b: &[[u64; W]]) -> Result<Vec<Ordering>, AlgoError> {
    let mut orders = filled(Ordering::Equal, a.len())?;
    compare_rows_into(a, b, &mut orders)?;
    Ok(orders)
}

/// [`compare_rows`] into a slice, all of one length.
///
/// # Errors
/// [`AlgoError::Length`] if they differ in length.
pub fn compare_rows_into<const W: usize>(
    a: &[[u64; W]],
    b: &[[u64; W]],
    orders: &mut [Ordering],
) -> Result<(), AlgoError> {
    check_length("b", a.len(), b.len())?;
    check_length("orders", a.len(), orders.len())?;
    each_row(a, b, orders, |a, b, order| *order = a.iter().rev().cmp(b.iter().rev()));
    Ok(())
}

/// Calls `of` with each pair of rows and the place of its result, on all threads if they are many.
fn each_row<const W: usize, T: Send>(
    a: &[[u64; W]],
    b: &[[u64; W]],
    results: &mut [T],
    of: impl Fn(&[u64; W], &[u64; W], &mut T) + Sync,
) {
    let each = |a: &[[u64; W]], b: &[[u64; W]], results: &mut [T]| {
        for ((a, b), result) in a.iter().zip(b).zip(results) {
            of(a, b, result);
        }
    };
    let rows = 1 << 12;
    if a.len() <= rows {
        each(a, b, results);
    } else {
        let parts = a.chunks(rows).zip(b.chunks(rows)).zip(results.chunks_mut(rows));
        parallel::for_each(parts, |_, ((a, b), results)| each(a, b, results));
    }
}
