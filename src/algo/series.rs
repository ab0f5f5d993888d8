//! Records in the order of time or place: gaps filled, sessions, what is visible, where the highest
//! stands.
//!
//! | function | monoid | program | bytes read and written |
//! |---|---|---|---|
//! | [`forward_fill`], [`backward_fill`] | the later value that is there | from the start, or reversed | b + 1, b |
//! | [`sessions`] | a count | a pause longer than the gap counts | b, 4 |
//! | [`line_of_sight`] | the steepest slope | visible where the slope exceeds all before it | b, 1 |
//! | [`running_argmax`] | the greatest and its place | writes the place | b, 4 |
//!
//! Each: work n, depth 1 scan, 1 pass, for n records of b bytes.
//!
//! Sources. Fills: a segmented copy, whose segments begin at values that are there; Blelloch,
//! *Scans as Primitive Parallel Operations* (IEEE Trans. Computers, 1989). Sessions: those of
//! Akidau and others, *The Dataflow Model* (VLDB 2015). Line of sight: Blelloch 1990, §1.3. The
//! greatest and its place: the reduction `MAXLOC` of MPI, whose ties go to the lower place too.

use super::{AlgoError, check_length, compiled, counted};
use crate::ops::{ArgMax, Max, Semigroup, Sum, WithIdentity};
use crate::prelude::*;
use crate::{Error, PlanOptions};

/// The later of two values.
#[derive(Clone, Copy, Debug, ScanType)]
pub(super) struct Later<T>(pub(super) T);

impl<T: ScanType> Semigroup for Later<T> {
    #[scan_fn]
    fn append(self, next: Self) -> Self {
        next
    }
}

/// Last values that are there.
pub(super) type Latest<T> = WithIdentity<Later<T>>;

pub(super) type Fill<T> = Scan<Latest<T>, (T, bool), T>;

/// The state in which this value is there.
pub(super) fn latest<T: ScanType>(value: T) -> Latest<T> {
    WithIdentity::of(Later(value))
}

/// The scan of [`forward_fill`] and [`backward_fill`].
pub(super) fn fill<T: ScanType>() -> Result<&'static Fill<T>, Error> {
    compiled(|| {
        Scan::<Latest<T>>::builder()
            .lift(scan!(|x: T, is_there: bool| -> Latest<T> {
                if is_there { WithIdentity::of(Later(x)) } else { Latest::<T>::identity() }
            }))
            .project(scan!(|latest: Latest<T>| -> T { latest.value.0 }))
            // rustc branches by `is_there`, which nobody predicts where gaps are at random.
            .plan(PlanOptions { native: Some(false), ..PlanOptions::default() })
            .build()
    })
}

/// Replaces each missing value with the last present one before it, or with `before` if there is none.
///
/// ```
/// use monoscan::algo::series::forward_fill;
/// let filled = forward_fill(&[0, 5, 0, 0, 7], &[false, true, false, false, true], -1)?;
/// assert_eq!(filled, [-1, 5, 5, 5, 7]);
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// [`AlgoError::Length`] if `is_there` does not say of each value whether it is there.
pub fn forward_fill<T: ScanType>(x: &[T], is_there: &[bool], before: T) -> Result<Vec<T>, AlgoError> {
    check_length("is_there", x.len(), is_there.len())?;
    Ok(fill::<T>()?.init(latest(before)).inclusive((x, is_there))?)
}

/// [`forward_fill`] into a slice, all of one length.
///
/// ```
/// use monoscan::algo::series::forward_fill_into;
/// let mut filled = [0; 4];
/// forward_fill_into((&[0, 5, 0, 7], &[false, true, false, true]), -1, &mut filled)?;
/// assert_eq!(filled, [-1, 5, 5, 7]);
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// [`AlgoError::Length`] if they differ in length.
pub fn forward_fill_into<T: ScanType>(
    (x, is_there): (&[T], &[bool]),
    before: T,
    filled: &mut [T],
) -> Result<(), AlgoError> {
    check_length("is_there", x.len(), is_there.len())?;
    check_length("filled", x.len(), filled.len())?;
    fill::<T>()?.init(latest(before)).inclusive_into((x, is_there), filled)?;
    Ok(())
}

/// Each value that is there, and for one that is not the next one after it that is; `after` where there is none.
///
/// # Errors
/// As [`forward_fill`].
pub fn backward_fill<T: ScanType>(x: &[T], is_there: &[bool], after: T) -> Result<Vec<T>, AlgoError> {
    check_length("is_there", x.len(), is_there.len())?;
    Ok(fill::<T>()?.init(latest(after)).reversed().inclusive((x, is_there))?)
}

/// [`backward_fill`] into a slice, all of one length.
///
/// ```
/// use monoscan::algo::series::backward_fill_into;
/// let mut filled = [0; 4];
/// backward_fill_into((&[0, 5, 0, 0], &[false, true, false, false]), -1, &mut filled)?;
/// assert_eq!(filled, [5, 5, -1, -1]);
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// As [`forward_fill_into`].
pub fn backward_fill_into<T: ScanType>(
    (x, is_there): (&[T], &[bool]),
    after: T,
    filled: &mut [T],
) -> Result<(), AlgoError> {
    check_length("is_there", x.len(), is_there.len())?;
    check_length("filled", x.len(), filled.len())?;
    fill::<T>()?.init(latest(after)).reversed().inclusive_into((x, is_there), filled)?;
    Ok(())
}

#[scan_fn]
fn pauses<T: Num>(gap: T, e: Element<T>) -> Sum<u32> {
    let gap = if gap < T::ZERO { T::ZERO } else { gap };
    // An earlier event comes after no pause. Of signed times a difference that wraps is negative, and longer than any gap.
    let pause = e.record.larger(e.prev) - e.prev;
    Sum(if !e.first && (pause > gap || pause < T::ZERO) { 1 } else { 0 })
}

/// The number of the session, from 0, that each event is in: one begins after a pause that is longer than `gap`.
///
/// A pause is the time from one event to the next one in the slice, which is meant to be in order. That is not checked: a time
/// that is less than the one before it, or equal to it, is in that one's session, and the next pause counts from it. Neither NaN
/// nor the time after it begins a session.
///
/// ```
/// use monoscan::algo::series::sessions;
/// assert_eq!(sessions(&[5u64, 20, 70, 80, 200], 30)?, [0, 0, 1, 1, 2]);
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// [`AlgoError::TooLong`].
pub fn sessions<T: Num>(times: &[T], gap: T) -> Result<Vec<u32>, AlgoError> {
    counted(times.len())?;
    Ok(pauses_counted::<T>()?.with(gap)?.inclusive(times)?)
}

/// [`sessions`] into a slice, all of one length.
///
/// ```
/// use monoscan::algo::series::sessions_into;
/// let mut sessions = [0; 5];
/// sessions_into(&[5u64, 20, 70, 80, 200], 30, &mut sessions)?;
/// assert_eq!(sessions, [0, 0, 1, 1, 2]);
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// [`AlgoError::Length`] if they differ in length; [`AlgoError::TooLong`].
pub fn sessions_into<T: Num>(times: &[T], gap: T, sessions: &mut [u32]) -> Result<(), AlgoError> {
    check_length("sessions", times.len(), sessions.len())?;
    counted(times.len())?;
    pauses_counted::<T>()?.with(gap)?.inclusive_into(times, sessions)?;
    Ok(())
}

/// The scan of [`sessions`], whose parameter is the gap.
pub(super) fn pauses_counted<T: Num>() -> Result<&'static Scan<Sum<u32>, (T,), u32>, Error> {
    compiled(|| {
        Scan::<Sum<u32>>::builder()
            .lift_at_with(T::ZERO, pauses {})
            .project(scan!(|session: Sum<u32>| -> u32 { session.0 }))
            .build()
    })
}

#[scan_fn]
fn slope<T: Real>(eye: T, e: Element<T>) -> Max<T> {
    Max(if e.first { T::NEG_INFINITY } else { (e.record - eye) / T::from_f64(e.index as f64) })
}

#[scan_fn]
fn is_visible<T: Real>(e: Element<T, Max<T>>) -> bool {
    e.first || e.after.0 > e.before.0
}

/// Which points can be seen from point 0, where points are equally far apart and have these altitudes.
///
/// ```
/// use monoscan::algo::series::line_of_sight;
/// assert_eq!(line_of_sight(&[10.0, 8.0, 9.0, 11.0, 11.0])?, [true, true, true, true, false]);
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// A point whose altitude is NaN or −∞ is not seen and hides nothing; from a point 0 of altitude NaN only itself is seen. A point that is
/// infinitely higher than point 0, or by more than the type has, hides all behind it.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub fn line_of_sight<T: Real>(altitudes: &[T]) -> Result<Vec<bool>, AlgoError> {
    let Some(&eye) = altitudes.first() else { return Ok(Vec::new()) };
    Ok(steepest::<T>()?.with(eye)?.inclusive(altitudes)?)
}

/// [`line_of_sight`] into a slice, all of one length.
///
/// ```
/// use monoscan::algo::series::line_of_sight_into;
/// let mut visible = [false; 5];
/// line_of_sight_into(&[10.0, 8.0, 9.0, 11.0, 11.0], &mut visible)?;
/// assert_eq!(visible, [true, true, true, true, false]);
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// [`AlgoError::Length`] if they differ in length.
pub fn line_of_sight_into<T: Real>(altitudes: &[T], visible: &mut [bool]) -> Result<(), AlgoError> {
    check_length("visible", altitudes.len(), visible.len())?;
    let Some(&eye) = altitudes.first() else { return Ok(()) };
    steepest::<T>()?.with(eye)?.inclusive_into(altitudes, visible)?;
    Ok(())
}

/// The scan of [`line_of_sight`], whose parameter is the altitude of point 0.
pub(super) fn steepest<T: Real>() -> Result<&'static Scan<Max<T>, (T,), bool>, Error> {
    compiled(|| Scan::<Max<T>>::builder().lift_at_with(T::ZERO, slope {}).project_at(is_visible {}).build())
}

#[scan_fn]
fn placed<T: Num>(e: Element<T>) -> ArgMax<T> {
    ArgMax { value: e.record, index: e.index as u32 }
}

/// Where the greatest value so far stands; of equal ones the first. NaN is skipped, and before all values is `u32::MAX`.
///
/// ```
/// use monoscan::algo::series::running_argmax;
/// assert_eq!(running_argmax(&[3, 7, 7, 5, 9])?, [0, 1, 1, 1, 4]);
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// [`AlgoError::TooLong`].
pub fn running_argmax<T: Num>(x: &[T]) -> Result<Vec<u32>, AlgoError> {
    counted(x.len())?;
    Ok(greatest::<T>()?.inclusive(x)?)
}

/// [`running_argmax`] into a slice, all of one length.
///
/// ```
/// use monoscan::algo::series::running_argmax_into;
/// let mut places = [0; 5];
/// running_argmax_into(&[3, 7, 7, 5, 9], &mut places)?;
/// assert_eq!(places, [0, 1, 1, 1, 4]);
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// [`AlgoError::Length`] if they differ in length; [`AlgoError::TooLong`].
pub fn running_argmax_into<T: Num>(x: &[T], places: &mut [u32]) -> Result<(), AlgoError> {
    check_length("places", x.len(), places.len())?;
    counted(x.len())?;
    greatest::<T>()?.inclusive_into(x, places)?;
    Ok(())
}

/// The scan of [`running_argmax`].
pub(super) fn greatest<T: Num>() -> Result<&'static Scan<ArgMax<T>, (T,), u32>, Error> {
    compiled(|| {
        Scan::<ArgMax<T>>::builder()
            .lift_at(placed {})
            .project(scan!(|highest: ArgMax<T>| -> u32 { highest.index }))
            .build()
    })
}
