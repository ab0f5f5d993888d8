//! Lines: written, or reduced. Each is to be the plain loop.
//!
//! So a loop is a function of its own that nothing unwinds to, and its results are a slice, which
//! overlaps no column. Short lines from the identity have a loop in which that is a constant. A
//! loop that an element panics in took none: what it prints is all that is seen of that.

use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;

use monoscan_runtime::InputAddresses;

use super::sequences::pass;
use super::{Line, Work};
use crate::lang::ScanType;
use crate::scan::at::At;
use crate::scan::columns::{Record, value};
use crate::scan::native::{Projects, Steps};

/// The pass over a line. The columns of records are followed by parameters.
///
/// # Safety
/// That of [`NativeFn`](monoscan_codegen::cpu::NativeFn): columns and a state of these types, with so many records; and, where a
/// function sees it, the place of the first in its line.
pub(in crate::scan) unsafe extern "C" fn line<
    S: ScanType,
    In: Record,
    Out,
    L: Steps<S, In>,
    P: Projects<S, In, Out>,
    W: Work,
>(
    len: usize,
    output: *mut u8,
    a: *const u8,
    b: *const u8,
    c: *const u8,
    d: *const u8,
    after: *mut u8,
) -> usize {
    // SAFETY: the caller says so.
    let (columns, line) = unsafe {
        let columns = InputAddresses::new(In::COLUMNS, [a, b, c, d]);
        (columns, Line::new::<S>(len, L::SEES || P::SEES, after))
    };
    // Then the output may be nowhere.
    if len == 0 {
        return 0;
    }
    if (0..In::COLUMNS).any(|column| columns.at(column) == output) {
        // What they see is read whether they look at it or not, and over its input another thread may write there.
        if L::SEES || P::SEES {
            return 0;
        }
        // SAFETY: the caller says so.
        return unsafe { pass::<S, In, Out, L, P, W>(line, output, columns, columns.at(In::COLUMNS), after) };
    }
    // SAFETY: there is memory for so many records, which nothing else reaches meanwhile, and a state.
    let (output, before): (&mut [MaybeUninit<u8>], S) =
        unsafe { (slice::from_raw_parts_mut(output.cast(), len * size_of::<Out>()), value(after)) };
    // SAFETY: the caller says so.
    let elements = || unsafe { written::<S, In, Out, L, P, W>(&columns, line, before, output) };
    let Ok(state) = catch_unwind(AssertUnwindSafe(elements)) else { return 0 };
    // SAFETY: there is space for the state.
    unsafe { after.cast::<S>().write_unaligned(state) };
    len
}

/// The state behind these elements, whose results are written to memory that overlaps no column. For the rest as [`state_after`].
///
/// # Safety
/// As for [`state_after`], and there is space for all results.
#[inline(never)]
unsafe fn written<S, In, Out, L, P, W>(
    columns: &InputAddresses,
    line: Line,
    before: S,
    output: &mut [MaybeUninit<u8>],
) -> S
where
    S: ScanType,
    In: Record,
    L: Steps<S, In>,
    P: Projects<S, In, Out>,
    W: Work,
{
    // SAFETY: the caller says so.
    unsafe { each_written::<S, In, Out, L, P, W>(*columns, line, before, output) }
}

/// The same, compiled into what calls it.
///
/// # Safety
/// As for [`written`].
#[inline(always)]
unsafe fn each_written<S, In, Out, L, P, W>(
    columns: InputAddresses,
    line: Line,
    before: S,
    output: &mut [MaybeUninit<u8>],
) -> S
where
    S: ScanType,
    In: Record,
    L: Steps<S, In>,
    P: Projects<S, In, Out>,
    W: Work,
{
    // SAFETY: they are there.
    let parameters = unsafe { L::parameters(columns.at(In::COLUMNS)) };
    let mut state = before;
    line.each_record(L::SEES || P::SEES, |place, in_sequence| {
        // SAFETY: the caller says so.
        let at = unsafe { At::new(columns, place, in_sequence) };
        // SAFETY: there is space for a record of each element.
        state = unsafe { record::<S, In, Out, L, P, W>(parameters, at, place, state, output) };
    });
    state
}

/// The state after a record, whose result is written.
///
/// # Safety
/// There is space for a record there, at any address.
#[inline(always)]
pub(super) unsafe fn record<S, In, Out, L, P, W>(
    parameters: L::Parameters,
    at: At,
    place: usize,
    state: S,
    output: &mut [MaybeUninit<u8>],
) -> S
where
    S: ScanType,
    L: Steps<S, In>,
    P: Projects<S, In, Out>,
    W: Work,
{
    let next = L::step(parameters, state, at);
    let result = P::project((state, next), if W::INCLUSIVE { next } else { state }, at);
    // SAFETY: the caller says so.
    unsafe { output.as_mut_ptr().cast::<Out>().add(place).write_unaligned(result) };
    next
}

/// The reduction of a line. It writes nothing else, so where an element panics it takes none.
///
/// # Safety
/// As that of [`line`], without an output.
pub(in crate::scan) unsafe extern "C" fn reduce<S: ScanType, In: Record, L: Steps<S, In>>(
    len: usize,
    _: *mut u8,
    a: *const u8,
    b: *const u8,
    c: *const u8,
    d: *const u8,
    after: *mut u8,
) -> usize {
    // SAFETY: the caller says so.
    let (columns, line, before) = unsafe {
        let columns = InputAddresses::new(In::COLUMNS, [a, b, c, d]);
        (columns, Line::new::<S>(len, L::SEES, after), value::<S>(after))
    };
    // SAFETY: the caller says so.
    let elements = || unsafe { state_after::<S, In, L>(&columns, line, before) };
    let Ok(state) = catch_unwind(AssertUnwindSafe(elements)) else { return 0 };
    // SAFETY: there is space for the state.
    unsafe { after.cast::<S>().write_unaligned(state) };
    len
}

/// The state behind these elements. A function of its own, so that the loop is compiled as one that nothing unwinds to: rustc would not
/// vectorise some otherwise.
///
/// # Safety
/// There are so many records in the columns, and their neighbours, and parameters.
#[inline(never)]
unsafe fn state_after<S: ScanType, In: Record, L: Steps<S, In>>(columns: &InputAddresses, line: Line, before: S) -> S {
    let columns = *columns;
    // SAFETY: they are there.
    let parameters = unsafe { L::parameters(columns.at(In::COLUMNS)) };
    let mut state = before;
    line.each_record(L::SEES, |place, in_sequence| {
        // SAFETY: the caller says so.
        state = L::step(parameters, state, unsafe { At::new(columns, place, in_sequence) });
    });
    state
}

/// The pass over a short line from the identity, into memory that is no column's. Both are known to the compiler, so this is the
/// loop that one would write. Gives how many elements it took: none, where one panics.
///
/// # Safety
/// That of [`ShortFn`](monoscan_runtime::ShortFn): columns of these types with so many records, followed by parameters; and an output
/// that overlaps none of them.
pub(in crate::scan) unsafe extern "C" fn short<
    S: ScanType,
    In: Record,
    Out,
    L: Steps<S, In>,
    P: Projects<S, In, Out>,
    W: Work,
>(
    len: usize,
    output: *mut u8,
    a: *const u8,
    b: *const u8,
    c: *const u8,
    d: *const u8,
) -> usize {
    let bytes = len * size_of::<Out>();
    if len == 0 {
        return 0;
    }
    // SAFETY: it is memory for so many records, which nothing else reaches meanwhile.
    let output: &mut [MaybeUninit<u8>] = unsafe { slice::from_raw_parts_mut(output.cast(), bytes) };
    let elements = || {
        // As a result of a closure of its own the identity would go through memory.
        let Some(identity) = L::identity() else { return false };
        let line = Line { len, first: 0, total: len };
        // SAFETY: the caller says so.
        unsafe {
            let columns = InputAddresses::new(In::COLUMNS, [a, b, c, d]);
            each_written::<S, In, Out, L, P, W>(columns, line, identity, output);
        }
        true
    };
    if let Ok(true) = catch_unwind(AssertUnwindSafe(elements)) { len } else { 0 }
}
