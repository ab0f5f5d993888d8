//! Numbers: long integers, rows of them, Horner's rule and recurrences modulo m.
//!
//! Cores add long integers in blocks. Here one scan of the digits does it, and writes each digit
//! once it knows the carry that enters: Ladner and Fischer 1980. A row of few digits is one record,
//! and a thread adds it by a loop.
//!
//! ```text
//! monoid   Carry: c ↦ generate ∨ (propagate ∧ c), one state a digit; rows: none
//! program  (a, b) ↦ the pair of both digits; writes a + b and the carry that enters
//! cost     work n, depth 1 scan, 1 pass, 24 bytes a digit; rows the same, at depth 0
//! ```
//!
//! The order of two numbers is that of the highest digits that differ: Blelloch 1990, §1. Cores
//! stop there. A device reads all digits, as it has begun with most of them by then.
//!
//! ```text
//! monoid   the later of two orders that are not equal, one state a digit
//! program  (a, b) ↦ whether a > b, if they differ
//! cost     work n, depth 1 reduction, 1 pass, 16 bytes a digit
//! ```
//!
//! Recurrences are the scan of [`Modular`](crate::algo::numbers::Modular). Horner's rule takes one
//! coefficient a record here, and not eight.

use std::cmp::Ordering;

use super::expect_no_capture;
use crate::Error;
use crate::algo::numbers::modular::Step;
use crate::algo::series::{Later, Latest};
use crate::algo::{AlgoError, check_length, compiled, compiled_for};
use crate::ops::{Affine, Carry, Min, Sum, WithIdentity};
use crate::prelude::*;
use crate::scan::DeviceVec;

#[scan_fn]
fn borrows(a: u64, b: u64) -> Carry {
    Carry { generate: a < b, propagate: a == b }
}

#[scan_fn]
fn digit_of_sum(e: Element<(u64, u64), Carry>) -> u64 {
    e.record.0.wrapping_add(e.record.1).wrapping_add(e.before.generate as u64)
}

#[scan_fn]
fn digit_of_difference(e: Element<(u64, u64), Carry>) -> u64 {
    e.record.0.wrapping_sub(e.record.1).wrapping_sub(e.before.generate as u64)
}

type OfDigits = Scan<Carry, (u64, u64), u64>;

/// The scan of [`add`].
pub(super) fn scan_of_sums() -> Result<&'static OfDigits, Error> {
    compiled(|| {
        let carries = Scan::<Carry>::builder().lift(scan!(|a: u64, b: u64| -> Carry { Carry::of(a, b) }));
        carries.project_at(digit_of_sum {}).build()
    })
}

/// The scan of [`subtract`].
pub(super) fn scan_of_differences() -> Result<&'static OfDigits, Error> {
    compiled(|| Scan::<Carry>::builder().lift(borrows {}).project_at(digit_of_difference {}).build())
}

/// a + b of as many digits each, the least first, and whether a carry leaves, for which it waits.
///
/// ```no_run
/// use monoscan::{Device, DeviceVec, algo::on_gpu::add};
///
/// let gpu = Device::cuda(0)?;
/// let (sum, carry) = add(&DeviceVec::upload(&gpu, &[u64::MAX; 2])?, &DeviceVec::upload(&gpu, &[1, 0])?)?;
/// assert_eq!((sum.to_vec()?, carry), (vec![0, 0], true));
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// [`AlgoError::Length`] if they differ in length.
pub fn add(a: &DeviceVec<u64>, b: &DeviceVec<u64>) -> Result<(DeviceVec<u64>, bool), AlgoError> {
    of_digits(compiled_for(a.device(), |device| scan_of_sums()?.on(device))?, a, b)
}

/// a − b of as many digits each, the least first, and whether a borrow leaves, for which it waits: then it is a − b + 2^(64 n).
///
/// ```no_run
/// use monoscan::{Device, DeviceVec, algo::on_gpu::subtract};
///
/// let gpu = Device::cuda(0)?;
/// let (difference, borrow) = subtract(&DeviceVec::upload(&gpu, &[0, 1])?, &DeviceVec::upload(&gpu, &[1, 0])?)?;
/// assert_eq!((difference.to_vec()?, borrow), (vec![u64::MAX, 0], false));
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// [`AlgoError::Length`] if they differ in length.
pub fn subtract(a: &DeviceVec<u64>, b: &DeviceVec<u64>) -> Result<(DeviceVec<u64>, bool), AlgoError> {
    of_digits(compiled_for(a.device(), |device| scan_of_differences()?.on(device))?, a, b)
}

fn of_digits(scan: &OfDigits, a: &DeviceVec<u64>, b: &DeviceVec<u64>) -> Result<(DeviceVec<u64>, bool), AlgoError> {
    expect_no_capture([a.memory(), b.memory()])?;
    check_length("b", a.len(), b.len())?;
    let (digits, carry) = scan.inclusive_with_total((a, b))?;
    Ok((digits, carry.generate))
}

#[scan_fn]
fn decides(a: u64, b: u64) -> Latest<bool> {
    if a == b { Latest::<bool>::identity() } else { WithIdentity::of(Later(a > b)) }
}

type OfOrder = Scan<Latest<bool>, (u64, u64), Latest<bool>>;

/// The scan of [`compare`].
pub(super) fn scan_of_order() -> Result<&'static OfOrder, Error> {
    compiled(|| Scan::<Latest<bool>>::builder().lift(decides {}).build())
}

/// The order that the highest digits have which differ.
fn order_of(decided: Latest<bool>) -> Ordering {
    match decided.get() {
        None => Ordering::Equal,
        Some(Later(true)) => Ordering::Greater,
        Some(Later(false)) => Ordering::Less,
    }
}

/// Which of two numbers of as many digits, the least first, is greater. Reads all digits, and waits for the device.
///
/// ```no_run
/// use monoscan::{Device, DeviceVec, algo::on_gpu::compare};
///
/// let gpu = Device::cuda(0)?;
/// let (a, b) = (DeviceVec::upload(&gpu, &[5, 1])?, DeviceVec::upload(&gpu, &[9, 0])?);
/// assert!(compare(&a, &b)?.is_gt());
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// [`AlgoError::Length`] if they differ in length.
pub fn compare(a: &DeviceVec<u64>, b: &DeviceVec<u64>) -> Result<Ordering, AlgoError> {
    expect_no_capture([a.memory(), b.memory()])?;
    check_length("b", a.len(), b.len())?;
    Ok(order_of(compiled_for(a.device(), |device| scan_of_order()?.on(device))?.reduce((a, b))?))
}

#[scan_fn]
fn row_of_sum<const W: usize>(_none: Sum<u32>, a: [u64; W], b: [u64; W]) -> [u64; W] {
    let mut sum = a;
    let mut carry = false;
    for i in 0..W {
        let digits = Carry::of(a[i], b[i]);
        sum[i] = a[i].wrapping_add(b[i]).wrapping_add(carry as u64);
        carry = digits.generate || (digits.propagate && carry);
    }
    sum
}

#[scan_fn]
fn row_of_difference<const W: usize>(_none: Sum<u32>, a: [u64; W], b: [u64; W]) -> [u64; W] {
    let mut difference = a;
    let mut borrow = false;
    for i in 0..W {
        difference[i] = a[i].wrapping_sub(b[i]).wrapping_sub(borrow as u64);
        borrow = a[i] < b[i] || (a[i] == b[i] && borrow);
    }
    difference
}

type OfRows<const W: usize> = Scan<Sum<u32>, ([u64; W], [u64; W]), [u64; W]>;

/// The scan of [`add_rows`], whose states are nothing.
pub(super) fn scan_of_row_sums<const W: usize>() -> Result<&'static OfRows<W>, Error> {
    compiled(|| {
        let none = Scan::<Sum<u32>>::builder().lift(scan!(|_a: [u64; W], _b: [u64; W]| -> Sum<u32> { Sum(0) }));
        none.project_with_record(row_of_sum {}).build()
    })
}

/// The scan of [`subtract_rows`].
pub(super) fn scan_of_row_differences<const W: usize>() -> Result<&'static OfRows<W>, Error> {
    compiled(|| {
        let none = Scan::<Sum<u32>>::builder().lift(scan!(|_a: [u64; W], _b: [u64; W]| -> Sum<u32> { Sum(0) }));
        none.project_with_record(row_of_difference {}).build()
    })
}

/// a\[i\] + b\[i\] for all i, modulo 2^(64 W). Does not wait for the device.
///
/// ```no_run
/// use monoscan::{Device, DeviceVec, algo::on_gpu::add_rows};
///
/// let gpu = Device::cuda(0)?;
/// let (a, b) = (DeviceVec::upload(&gpu, &[[u64::MAX, 1], [2, 3]])?, DeviceVec::upload(&gpu, &[[1, 1], [5, 5]])?);
/// assert_eq!(add_rows(&a, &b)?.to_vec()?, [[0, 3], [7, 8]]);
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// [`AlgoError::Length`] if there are not as many b.
pub fn add_rows<const W: usize>(
    a: &DeviceVec<[u64; W]>,
    b: &DeviceVec<[u64; W]>,
) -> Result<DeviceVec<[u64; W]>, AlgoError> {
    expect_no_capture([a.memory(), b.memory()])?;
    check_length("b", a.len(), b.len())?;
    Ok(compiled_for(a.device(), |device| scan_of_row_sums::<W>()?.on(device))?.inclusive((a, b))?)
}

/// a\[i\] − b\[i\] for all i, modulo 2^(64 W). Does not wait for the device.
///
/// ```no_run
/// use monoscan::{Device, DeviceVec, algo::on_gpu::subtract_rows};
///
/// let gpu = Device::cuda(0)?;
/// let (a, b) = (DeviceVec::upload(&gpu, &[[0, 3], [7, 8]])?, DeviceVec::upload(&gpu, &[[1, 1], [5, 5]])?);
/// assert_eq!(subtract_rows(&a, &b)?.to_vec()?, [[u64::MAX, 1], [2, 3]]);
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// [`AlgoError::Length`] if there are not as many b.
pub fn subtract_rows<const W: usize>(
    a: &DeviceVec<[u64; W]>,
    b: &DeviceVec<[u64; W]>,
) -> Result<DeviceVec<[u64; W]>, AlgoError> {
    expect_no_capture([a.memory(), b.memory()])?;
    check_length("b", a.len(), b.len())?;
    Ok(compiled_for(a.device(), |device| scan_of_row_differences::<W>()?.on(device))?.inclusive((a, b))?)
}

#[scan_fn]
fn place_unless_zero<T: Num>(e: Element<T>) -> Min<u64> {
    Min(if e.record == T::ZERO { u64::MAX } else { e.index })
}

type ForFirst<T> = Scan<Min<u64>, (T,), Min<u64>>;

/// The scan for the first coefficient that is not zero.
pub(super) fn scan_for_first<T: Num>() -> Result<&'static ForFirst<T>, Error> {
    compiled(|| Scan::<Min<u64>>::builder().lift_at(place_unless_zero {}).build())
}

/// Coefficients before the first are forgotten there, so that no power of x that is infinite meets a zero.
#[scan_fn]
fn step<T: Num>(known: (T, u64), e: Element<T>) -> Affine<T> {
    Affine { a: if e.index > known.1 { known.0 } else { T::ZERO }, b: e.record }
}

type OfSteps<T> = Scan<Affine<T>, (T,), Affine<T>>;

/// The scan of [`horner`], whose parameter is x and the place of the first coefficient.
pub(super) fn scan_of_horner<T: Num>() -> Result<&'static OfSteps<T>, Error> {
    compiled(|| Scan::<Affine<T>>::builder().lift_at_with((T::ZERO, 0u64), step {}).build())
}

/// The polynomial with these coefficients, that of the highest power first, at x. Integers wrap; floats are as those of
/// [`numbers::horner`](crate::algo::numbers::horner), but that roundings depend on how the device parts the coefficients. So does
/// whether the result is infinite or NaN, where a power of x overflows.
///
/// Work 2 n, depth 2 reductions, 2 passes: the first is for leading zeros. Waits for both.
///
/// ```no_run
/// use monoscan::{Device, DeviceVec, algo::on_gpu::horner};
///
/// let coefficients = DeviceVec::upload(&Device::cuda(0)?, &[2, 0, 1])?;
/// assert_eq!(horner(&coefficients, 10)?, 201); // 2·10² + 1
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// Those of all functions here.
pub fn horner<T: Num>(coefficients: &DeviceVec<T>, x: T) -> Result<T, AlgoError> {
    expect_no_capture([coefficients.memory()])?;
    let first =
        compiled_for(coefficients.device(), |device| scan_for_first::<T>()?.on(device))?.reduce(coefficients)?.0;
    if first == u64::MAX {
        return Ok(T::ZERO);
    }
    let scan = compiled_for(coefficients.device(), |device| scan_of_horner::<T>()?.on(device))?;
    Ok(scan.with((x, first))?.reduce(coefficients)?.b)
}

/// A recurrence whose kernels are compiled once: what [`numbers::Modular::on`](crate::algo::numbers::Modular::on) gives.
///
/// ```no_run
/// use monoscan::{Device, DeviceVec, algo::numbers::Modular};
///
/// let gpu = Device::cuda(0)?;
/// let fibonacci = Modular::<2, 1000>::new([1, 1])?.on(gpu)?;
/// let mut x = [0; 20];
/// x[0] = 1;
/// let y = fibonacci.run(&DeviceVec::upload(&gpu, &x)?)?;
/// assert_eq!(y.to_vec()?[15..], [987, 597, 584, 181, 765]);
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Modular<const K: usize, const M: u32>(pub(in crate::algo) Scan<Step<K, M>, (u32,), u32>);

impl<const K: usize, const M: u32> Modular<K, M> {
    /// y for x, both modulo M. Does not wait for the device.
    ///
    /// # Errors
    /// Those of all functions here.
    pub fn run(&self, x: &DeviceVec<u32>) -> Result<DeviceVec<u32>, AlgoError> {
        expect_no_capture([x.memory()])?;
        Ok(self.0.inclusive(x)?)
    }
}

#[cfg(test)]
mod tests {
    use scan_kit::Random;

    use super::*;
    use crate::algo::numbers;

    /// Digits of which many pass a carry or a borrow on.
    fn digits(random: &mut Random, len: usize) -> Vec<u64> {
        (0..len).map(|_| *random.pick(&[0, u64::MAX, 1, 1 << 63, 77])).collect()
    }

    #[test]
    fn scans_of_digits_and_of_rows_add_and_subtract() {
        let mut random = Random(5);
        for len in [0, 1, 2, 3, 100, 5000] {
            let (a, b) = (digits(&mut random, len), digits(&mut random, len));
            let found =
                |scan: &OfDigits| scan.inclusive_with_total((&a, &b)).map(|(digits, left)| (digits, left.generate));
            assert_eq!(found(scan_of_sums().unwrap()).unwrap(), numbers::add(&a, &b).unwrap());
            assert_eq!(found(scan_of_differences().unwrap()).unwrap(), numbers::subtract(&a, &b).unwrap());
            let (a, b) = (a.as_chunks::<3>().0, b.as_chunks::<3>().0);
            let sums = scan_of_row_sums::<3>().unwrap().inclusive((a, b)).unwrap();
            assert_eq!(sums, numbers::add_rows(a, b).unwrap());
            let differences = scan_of_row_differences::<3>().unwrap().inclusive((a, b)).unwrap();
            assert_eq!(differences, numbers::subtract_rows(a, b).unwrap());
        }
    }

    #[test]
    fn the_highest_digits_that_differ_decide() {
        let mut random = Random(6);
        for len in [0, 1, 2, 3, 100, 5000] {
            let a = digits(&mut random, len);
            for differ in [0, 1, 3] {
                let mut b = a.clone();
                for _ in 0..differ {
                    let place = random.below(len.max(1));
                    b.get_mut(place).into_iter().for_each(|digit| *digit = *random.pick(&[0, u64::MAX, 5]));
                }
                let found = scan_of_order().unwrap().reduce((&a, &b)).unwrap();
                assert_eq!(order_of(found), numbers::compare(&a, &b), "{a:?} and {b:?}");
            }
        }
    }

    /// The power of x that comes with the zeros is infinite.
    #[test]
    fn zeros_before_the_first_coefficient_count_for_nothing() {
        let coefficients = [vec![0.0; 5000], vec![3.0, 0.0, 1.0]].concat();
        let first = scan_for_first::<f64>().unwrap().reduce(&coefficients).unwrap().0;
        assert_eq!(first, 5000);
        assert_eq!(scan_of_horner().unwrap().with((2.0, first)).unwrap().reduce(&coefficients).unwrap().b, 13.0);
        assert_eq!(scan_for_first::<i32>().unwrap().reduce(&[0, 0]).unwrap().0, u64::MAX);
    }
}
