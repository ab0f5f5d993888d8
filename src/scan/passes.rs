//! One loop over the elements of a pass, and its instances: a line, segments by flags, rows;
//! written inclusive or exclusive, or not at all. Short lines from the identity have a loop of
//! their own, with all that rustc can know beforehand.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;

use monoscan_runtime::SHORT_INPUTS;

use super::at::At;
use super::columns::Record;
use super::native::{Projects, Steps};
use crate::lang::ScanType;

/// The results of an element.
pub(super) trait Work {
    const WRITES: bool = true;
    const INCLUSIVE: bool = true;
}

pub(super) struct Inclusive;
pub(super) struct Exclusive;
pub(super) struct Reduced;

impl Work for Inclusive {}
impl Work for Exclusive {
    const INCLUSIVE: bool = false;
}
impl Work for Reduced {
    const WRITES: bool = false;
}

/// The elements of a pass, and at which of them sequences begin.
trait Sequences {
    /// Whether any does: then the state that they start from lies behind the one that the pass does.
    const BEGIN: bool;

    /// Calls `element` with the record of each in order, whether a sequence begins there, and its place in that, if someone `sees` it.
    fn each(self, sees: bool, element: impl FnMut(usize, bool, InSequence));
}

/// The number of an element in its sequence, whether it is the first there, and whether it is the last.
type InSequence = (usize, bool, bool);

/// So many elements, which go on.
struct Line {
    len: usize,
    /// The number of the first in its sequence, and how many that has.
    first: usize,
    total: usize,
}

/// So many elements, and where their flags are. No function that sees more than its record takes them.
struct Flagged(usize, *const u8);

/// So many rows, the records from one to the next, and those of each. No function that sees more than its record takes them.
struct InRows(usize, usize, usize);

impl Line {
    /// The records in order. That most have neighbours is known where the loop is compiled.
    #[inline(always)]
    fn each_record(self, sees: bool, mut element: impl FnMut(usize, InSequence)) {
        let Line { len, first, total } = self;
        if !sees || len == 0 {
            return (0..len).for_each(|place| element(place, (first + place, false, false)));
        }
        // One call of `element`, so that it is compiled into the loop.
        let end = (len - 1).max(1);
        let parts =
            [(0..1, first == 0, first + 1 == total), (1..end, false, false), (end..len, false, first + len == total)];
        for (places, is_first, is_last) in parts {
            places.for_each(|place| element(place, (first + place, is_first, is_last)));
        }
    }
}

impl Sequences for Line {
    const BEGIN: bool = false;

    #[inline(always)]
    fn each(self, sees: bool, mut element: impl FnMut(usize, bool, InSequence)) {
        self.each_record(sees, |place, at| element(place, false, at));
    }
}

impl Sequences for Flagged {
    const BEGIN: bool = true;

    #[inline(always)]
    fn each(self, _: bool, mut element: impl FnMut(usize, bool, InSequence)) {
        // SAFETY: there is a flag for each element; any byte but zero is true.
        (0..self.0).for_each(|place| element(place, unsafe { *self.1.add(place) } != 0, (0, true, true)));
    }
}

impl Sequences for InRows {
    const BEGIN: bool = true;

    #[inline(always)]
    fn each(self, _: bool, mut element: impl FnMut(usize, bool, InSequence)) {
        let InRows(rows, pitch, len) = self;
        for row in 0..rows {
            (0..len).for_each(|place| element(row * pitch + place, place == 0, (0, true, true)));
        }
    }
}

/// The loop, up to an element that panics: what it prints is all that is seen of that. Gives how many elements it took.
///
/// # Safety
/// There are such columns and, but for a reduction, space for a record of each element; parameters, as the step has them; and at
/// `after` the state before the elements, behind which lies that at the start of sequences.
#[inline(always)]
unsafe fn pass<S, In, Out, L, P, W>(
    sequences: impl Sequences,
    output: *mut u8,
    columns: [*const u8; SHORT_INPUTS],
    parameters: *const u8,
    after: *mut u8,
) -> usize
where
    S: ScanType,
    In: Record,
    L: Steps<S, In>,
    P: Projects<S, In, Out>,
    W: Work,
{
    fn begins<Q: Sequences>(_: &Q) -> bool {
        Q::BEGIN
    }
    // SAFETY: they are there.
    let (before, parameters) = unsafe { (after.cast::<S>().read_unaligned(), L::parameters(parameters)) };
    // SAFETY: it is there where it is looked at.
    let start = if begins(&sequences) { unsafe { after.cast::<S>().add(1).read_unaligned() } } else { before };
    let (mut reached, mut taken) = (before, 0);
    let elements = || {
        // The output may be anywhere, so what outlives a panic is in memory. The state of the loop is not: it would be read again.
        let mut state = before;
        let element = |place: usize, begins: bool, in_sequence: InSequence| {
            if begins {
                (state, reached) = (start, start);
            }
            // SAFETY: there are so many records, in at most so many columns, and their neighbours.
            let at = unsafe { At::new(columns, place, in_sequence) };
            let next = L::step(parameters, state, at);
            if W::WRITES {
                let written = P::project((state, next), if W::INCLUSIVE { next } else { state }, at);
                // SAFETY: there is space for a record of each element.
                unsafe { output.cast::<Out>().add(place).write_unaligned(written) };
            }
            state = next;
            (reached, taken) = (next, taken + 1);
        };
        sequences.each(L::SEES || W::WRITES && P::SEES, element);
    };
    // Nothing but the state and the number is used afterwards, and both are those before an element.
    let _ = catch_unwind(AssertUnwindSafe(elements));
    // SAFETY: there is space for the state.
    unsafe { after.cast::<S>().write_unaligned(reached) };
    taken
}

/// The pass over a line. The columns of records are followed by parameters.
///
/// # Safety
/// That of [`NativeFn`](monoscan_codegen::cpu::NativeFn): columns and a state of these types, with so many records; and, where a
/// function sees it, the place of the first in its line.
pub(super) unsafe extern "C" fn line<
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
    let columns = [a, b, c, d];
    let [first, total] = match L::SEES || P::SEES {
        // SAFETY: they are behind the states.
        true => unsafe { after.cast::<S>().add(2).cast::<[usize; 2]>().read_unaligned() },
        false => [0; 2],
    };
    // What they see is read whether they look at it or not, and over its input another thread may write there.
    if (L::SEES || P::SEES) && W::WRITES && columns.contains(&output.cast_const()) {
        return 0;
    }
    let line = Line { len, first, total };
    // SAFETY: the caller says so.
    unsafe { pass::<S, In, Out, L, P, W>(line, output, columns, columns[In::COLUMNS % SHORT_INPUTS], after) }
}

/// The pass over a short line from the identity, into memory that is no column's. Both are known to the compiler, so this is the
/// loop that one would write. Gives how many elements it took.
///
/// # Safety
/// That of [`ShortFn`](monoscan_runtime::ShortFn): columns of these types with so many records, followed by parameters; and an output
/// that overlaps none of them.
pub(super) unsafe extern "C" fn short<
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
    // SAFETY: it is memory for so many records, which nothing else reaches meanwhile.
    let output: &mut [MaybeUninit<u8>] = unsafe { slice::from_raw_parts_mut(output.cast(), bytes) };
    // SAFETY: the caller says so.
    unsafe { from_identity::<S, In, Out, L, P, W>(len, output, [a, b, c, d]) }
}

/// The same. That the output is a slice tells the compiler that it overlaps nothing.
///
/// # Safety
/// That of [`short`].
#[inline]
unsafe fn from_identity<S, In, Out, L, P, W>(
    len: usize,
    output: &mut [MaybeUninit<u8>],
    columns: [*const u8; SHORT_INPUTS],
) -> usize
where
    S: ScanType,
    In: Record,
    L: Steps<S, In>,
    P: Projects<S, In, Out>,
    W: Work,
{
    // SAFETY: they are there.
    let parameters = unsafe { L::parameters(columns[In::COLUMNS % SHORT_INPUTS]) };
    let mut taken = 0;
    let elements = || {
        // As a result of a closure of its own it would go through memory.
        let Some(mut state) = L::identity() else { return };
        Line { len, first: 0, total: len }.each_record(L::SEES || P::SEES, |place, in_sequence| {
            // SAFETY: there are so many records, in at most so many columns.
            let at = unsafe { At::new(columns, place, in_sequence) };
            let next = L::step(parameters, state, at);
            let written = P::project((state, next), if W::INCLUSIVE { next } else { state }, at);
            // SAFETY: there is space for a record of each element, at any address.
            unsafe { output.as_mut_ptr().cast::<Out>().add(place).write_unaligned(written) };
            (state, taken) = (next, taken + 1);
        });
    };
    // Nothing but the number is used afterwards, and it is that of the records written.
    let _ = catch_unwind(AssertUnwindSafe(elements));
    taken
}

/// The same over the segments of a line. Between records and parameters there is a column of flags.
///
/// # Safety
/// As that of [`line`], with the state that segments start from behind the state.
pub(super) unsafe extern "C" fn flagged<
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
    let columns = [a, b, c, d];
    let [flags, parameters] = [0, 1].map(|more| columns[(In::COLUMNS + more) % SHORT_INPUTS]);
    // SAFETY: the caller says so.
    unsafe { pass::<S, In, Out, L, P, W>(Flagged(len, flags), output, columns, parameters, after) }
}

/// The same over rows.
///
/// # Safety
/// That of [`NativeRowsFn`](monoscan_codegen::cpu::NativeRowsFn), as for [`line`].
pub(super) unsafe extern "C" fn rows<
    S: ScanType,
    In: Record,
    Out,
    L: Steps<S, In>,
    P: Projects<S, In, Out>,
    W: Work,
>(
    rows: usize,
    output: *mut u8,
    a: *const u8,
    b: *const u8,
    c: *const u8,
    d: *const u8,
    after: *mut u8,
    pitch: usize,
    len: usize,
) -> usize {
    let (columns, rows) = ([a, b, c, d], InRows(rows, pitch, len));
    // SAFETY: the caller says so.
    unsafe { pass::<S, In, Out, L, P, W>(rows, output, columns, columns[In::COLUMNS % SHORT_INPUTS], after) }
}

/// The totals of many sequences, each from the identity.
///
/// # Safety
/// That of [`NativeTotalsFn`](monoscan_codegen::cpu::NativeTotalsFn), as for [`line`].
pub(super) unsafe extern "C" fn totals<S: ScanType, In: Record, L: Steps<S, In>>(
    sequences: usize,
    totals: *mut u8,
    a: *const u8,
    b: *const u8,
    c: *const u8,
    d: *const u8,
    offsets: *const usize,
    pitch: usize,
    len: usize,
) -> usize {
    let (columns, mut taken) = ([a, b, c, d], 0);
    // Nothing but the number is used afterwards, and it is that of the totals written.
    let _ = catch_unwind(AssertUnwindSafe(|| match offsets.is_null() {
        true => {
            let row = |row: usize| row * pitch..row * pitch + len;
            // SAFETY: the caller says so.
            unsafe { each_total::<S, In, L>(sequences, totals, columns, row, &mut taken) }
        }
        false => {
            // SAFETY: there is one offset more than there are sequences.
            let segment = |segment: usize| unsafe { *offsets.add(segment)..*offsets.add(segment + 1) };
            // SAFETY: the caller says so.
            unsafe { each_total::<S, In, L>(sequences, totals, columns, segment, &mut taken) }
        }
    }));
    taken
}

/// The totals of sequences with these records each.
///
/// # Safety
/// That of [`totals`].
#[inline(always)]
unsafe fn each_total<S: ScanType, In: Record, L: Steps<S, In>>(
    sequences: usize,
    totals: *mut u8,
    columns: [*const u8; SHORT_INPUTS],
    records: impl Fn(usize) -> Range<usize>,
    taken: &mut usize,
) {
    // SAFETY: they are there.
    let parameters = unsafe { L::parameters(columns[In::COLUMNS % SHORT_INPUTS]) };
    let Some(identity) = L::identity() else { return };
    for sequence in 0..sequences {
        // SAFETY: there are such records, in at most so many columns. No function that sees more than those makes totals.
        let at = |place| unsafe { At::new(columns, place, (0, true, true)) };
        let total = records(sequence).fold(identity, |state, place| L::step(parameters, state, at(place)));
        // SAFETY: there is space for a state of each sequence, at any address.
        unsafe { totals.cast::<S>().add(sequence).write_unaligned(total) };
        *taken = sequence + 1;
    }
}
