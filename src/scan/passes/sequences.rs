//! One loop over elements among which sequences begin: segments by flags, rows; and lines that are
//! written over their input. Totals of many sequences have a loop of their own.

use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;

use monoscan_runtime::InputAddresses;

use super::lines::record;
use super::{InSequence, Line, Work};
use crate::lang::ScanType;
use crate::scan::at::At;
use crate::scan::columns::{Record, value};
use crate::scan::native::{Projects, Steps};

/// The elements of a pass, and at which of them sequences begin.
pub(super) trait Sequences {
    /// Whether any does: then the state that they start from lies behind the one that the pass does.
    const BEGIN: bool;

    /// Calls `element` with the record of each in order, whether a sequence begins there, and its place in that, if someone `sees` it.
    fn each(self, sees: bool, element: impl FnMut(usize, bool, InSequence));
}

/// So many elements, and where their flags are. No function that sees more than its record takes them.
struct Flagged(usize, *const u8);

/// So many rows, the records from one to the next, and those of each. No function that sees more than its record takes them.
struct InRows(usize, usize, usize);

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
/// There are such columns, and space for a record of each element; parameters, as the step has them; and at
/// `after` the state before the elements, behind which lies that at the start of sequences.
#[inline(always)]
pub(super) unsafe fn pass<S, In, Out, L, P, W>(
    sequences: impl Sequences,
    output: *mut u8,
    columns: InputAddresses,
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
    let (before, parameters) = unsafe { (value::<S>(after), L::parameters(parameters)) };
    // SAFETY: it is there where it is looked at.
    let start = if begins(&sequences) { unsafe { value::<S>(after.cast::<S>().add(1).cast()) } } else { before };
    let (mut reached, mut taken) = (before, 0);
    let elements = || {
        // The output may be anywhere, so what outlives a panic is in memory. The state of the loop and the columns are not: they would
        // be read again.
        let (mut state, columns) = (before, columns);
        let element = |place: usize, begins: bool, in_sequence: InSequence| {
            if begins {
                (state, reached) = (start, start);
            }
            // SAFETY: there are so many records in the columns, and their neighbours.
            let at = unsafe { At::new(columns, place, in_sequence) };
            let next = L::step(parameters, state, at);
            let written = P::project((state, next), if W::INCLUSIVE { next } else { state }, at);
            // SAFETY: there is space for a record of each element.
            unsafe { output.cast::<Out>().add(place).write_unaligned(written) };
            state = next;
            (reached, taken) = (next, taken + 1);
        };
        sequences.each(L::SEES || P::SEES, element);
    };
    // Nothing but the state and the number is used afterwards, and both are those before an element.
    let _ = catch_unwind(AssertUnwindSafe(elements));
    // SAFETY: there is space for the state.
    unsafe { after.cast::<S>().write_unaligned(reached) };
    taken
}

/// The pass over the segments of a line. Between records and parameters there is a column of flags.
///
/// # Safety
/// As that of [`line`](super::line), with the state that segments start from behind the state.
pub(in crate::scan) unsafe extern "C" fn flagged<
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
    // SAFETY: the caller says so; the flags are one more column.
    let columns = unsafe { InputAddresses::new(In::COLUMNS + 1, [a, b, c, d]) };
    let (flags, parameters) = (columns.at(In::COLUMNS), columns.at(In::COLUMNS + 1));
    // SAFETY: the caller says so.
    unsafe { pass::<S, In, Out, L, P, W>(Flagged(len, flags), output, columns, parameters, after) }
}

/// The same over rows.
///
/// # Safety
/// That of [`NativeRowsFn`](monoscan_codegen::cpu::NativeRowsFn), as for [`line`](super::line).
pub(in crate::scan) unsafe extern "C" fn rows<
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
    // SAFETY: the caller says so.
    unsafe {
        let columns = InputAddresses::new(In::COLUMNS, [a, b, c, d]);
        let rows = InRows(rows, pitch, len);
        pass::<S, In, Out, L, P, W>(rows, output, columns, columns.at(In::COLUMNS), after)
    }
}

/// The records of sequence after sequence: between offsets, or rows of so many records.
#[derive(Clone, Copy)]
struct Places {
    offsets: *const usize,
    pitch: usize,
    len: usize,
}

impl Places {
    /// Calls `each` with the first record of each sequence in order, and how many it has. What offsets and rows have in common is
    /// compiled for either.
    ///
    /// # Safety
    /// There is one offset more than there are sequences, or none at all.
    #[inline(always)]
    unsafe fn each(self, sequences: usize, mut each: impl FnMut(usize, (usize, usize))) {
        if self.offsets.is_null() {
            for row in 0..sequences {
                each(row, (row * self.pitch, self.len));
            }
        } else {
            for segment in 0..sequences {
                // SAFETY: the caller says so.
                let (first, end) = unsafe { (*self.offsets.add(segment), *self.offsets.add(segment + 1)) };
                each(segment, (first, end - first));
            }
        }
    }
}

/// The totals of many sequences, each from the identity.
///
/// # Safety
/// That of [`NativeSequencesFn`](monoscan_codegen::cpu::NativeSequencesFn), as for [`line`](super::line).
pub(in crate::scan) unsafe extern "C" fn totals<S: ScanType, In: Record, L: Steps<S, In>>(
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
    let mut taken = 0;
    // Nothing but the number is used afterwards, and it is that of the totals written.
    let _ = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: the caller says so.
        let columns = unsafe { InputAddresses::new(In::COLUMNS, [a, b, c, d]) };
        // SAFETY: they are there.
        let parameters = unsafe { L::parameters(columns.at(In::COLUMNS)) };
        let Some(identity) = L::identity() else { return };
        let total = |sequence, (first, len): (usize, usize)| {
            // SAFETY: there are such records in the columns. No function that sees more than those makes totals.
            let at = |place| unsafe { At::new(columns, first + place, (0, true, true)) };
            let total = (0..len).fold(identity, |state, place| L::step(parameters, state, at(place)));
            // SAFETY: there is space for a state of each sequence, at any address.
            unsafe { totals.cast::<S>().add(sequence).write_unaligned(total) };
            taken = sequence + 1;
        };
        // SAFETY: the caller says so.
        unsafe { Places { offsets, pitch, len }.each(sequences, total) };
    }));
    taken
}

/// Many sequences that are written, each from the identity, into memory that is no column's. Both are known to the compiler, so these are
/// the loops that one would write.
///
/// # Safety
/// That of [`NativeSequencesFn`](monoscan_codegen::cpu::NativeSequencesFn), as for [`line`](super::line).
pub(in crate::scan) unsafe extern "C" fn sequences<
    S: ScanType,
    In: Record,
    Out,
    L: Steps<S, In>,
    P: Projects<S, In, Out>,
    W: Work,
>(
    sequences: usize,
    output: *mut u8,
    a: *const u8,
    b: *const u8,
    c: *const u8,
    d: *const u8,
    offsets: *const usize,
    pitch: usize,
    len: usize,
) -> usize {
    if sequences == 0 {
        return 0;
    }
    let elements = || {
        // SAFETY: the caller says so; nothing else reaches the results meanwhile.
        let (columns, output) = unsafe {
            let end = if offsets.is_null() { (sequences - 1) * pitch + len } else { *offsets.add(sequences) };
            let output: &mut [MaybeUninit<u8>] = slice::from_raw_parts_mut(output.cast(), end * size_of::<Out>());
            (InputAddresses::new(In::COLUMNS, [a, b, c, d]), output)
        };
        // SAFETY: they are there.
        let parameters = unsafe { L::parameters(columns.at(In::COLUMNS)) };
        let Some(identity) = L::identity() else { return 0 };
        let written = |_, (first, len): (usize, usize)| {
            (first..first + len).fold(identity, |state, place| {
                // SAFETY: there are such records in the columns, and space for their results. No function that sees more than those is
                // called so.
                unsafe {
                    let at = At::new(columns, place, (0, true, true));
                    record::<S, In, Out, L, P, W>(parameters, at, place, state, output)
                }
            });
        };
        // SAFETY: the caller says so.
        unsafe { Places { offsets, pitch, len }.each(sequences, written) };
        sequences
    };
    catch_unwind(AssertUnwindSafe(elements)).unwrap_or(0)
}

/// Flagged segments of a line that are written, each from the identity, as [`sequences`]. Between records and parameters there is a column
/// of flags. Gives how many elements it took.
///
/// # Safety
/// That of [`ShortFn`](monoscan_runtime::ShortFn), with an output that overlaps no column.
pub(in crate::scan) unsafe extern "C" fn short_flagged<
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
    if len == 0 {
        return 0;
    }
    let elements = || {
        // SAFETY: the caller says so; nothing else reaches the results meanwhile. The flags are one more column.
        let (columns, output) = unsafe {
            let output: &mut [MaybeUninit<u8>] = slice::from_raw_parts_mut(output.cast(), len * size_of::<Out>());
            (InputAddresses::new(In::COLUMNS + 1, [a, b, c, d]), output)
        };
        let (flags, parameters) = (columns.at(In::COLUMNS), columns.at(In::COLUMNS + 1));
        // SAFETY: they are there.
        let parameters = unsafe { L::parameters(parameters) };
        let Some(identity) = L::identity() else { return 0 };
        let mut place = 0;
        // A loop for each segment, whose end is a branch: rustc makes no choice of states of it, for which each element would wait.
        while place < len {
            let mut state = identity;
            loop {
                // SAFETY: there is such a record, and space for its result. No function that sees more than that is called so.
                state = unsafe {
                    let at = At::new(columns, place, (0, true, true));
                    record::<S, In, Out, L, P, W>(parameters, at, place, state, output)
                };
                place += 1;
                // SAFETY: there is a flag for each element; any byte but zero is true.
                if place == len || unsafe { *flags.add(place) } != 0 {
                    break;
                }
            }
        }
        len
    };
    catch_unwind(AssertUnwindSafe(elements)).unwrap_or(0)
}
