//! One loop over the elements of a pass, and its instances: a line, segments by flags, rows;
//! written inclusive or exclusive, or reduced. Short lines from the identity have a loop of
//! their own, with all that rustc can know beforehand.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;

use monoscan_runtime::InputAddresses;

use super::at::At;
use super::columns::{Record, value};
use super::native::{Projects, Steps};
use crate::lang::ScanType;

/// Of which state the results of an element are made.
pub(super) trait Work {
    const INCLUSIVE: bool;
}

pub(super) struct Inclusive;
pub(super) struct Exclusive;

impl Work for Inclusive {
    const INCLUSIVE: bool = true;
}
impl Work for Exclusive {
    const INCLUSIVE: bool = false;
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
    /// So many elements; what is `seen` lies behind the states.
    ///
    /// # Safety
    /// There is the place of the first in its line, and behind it how many that has, if they are seen.
    #[inline(always)]
    unsafe fn new<S>(len: usize, sees: bool, after: *const u8) -> Line {
        let [first, total] = match sees {
            // SAFETY: they are behind the two states.
            true => unsafe { after.cast::<S>().add(2).cast::<[usize; 2]>().read_unaligned() },
            false => [0; 2],
        };
        Line { len, first, total }
    }

    /// The records in order. That most have neighbours is known where the loop is compiled.
    #[inline(always)]
    fn each_record(self, sees: bool, mut element: impl FnMut(usize, InSequence)) {
        let Line { len, first, total } = self;
        if !sees || len == 0 {
            // The iterator's own loop is a function that is optimised alone before.
            for place in 0..len {
                element(place, (first + place, false, false));
            }
            return;
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
/// There are such columns, and space for a record of each element; parameters, as the step has them; and at
/// `after` the state before the elements, behind which lies that at the start of sequences.
#[inline(always)]
unsafe fn pass<S, In, Out, L, P, W>(
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
    // SAFETY: the caller says so.
    let (columns, line) = unsafe {
        let columns = InputAddresses::new(In::COLUMNS, [a, b, c, d]);
        (columns, Line::new::<S>(len, L::SEES || P::SEES, after))
    };
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
    let columns = *columns;
    // SAFETY: they are there.
    let parameters = unsafe { L::parameters(columns.at(In::COLUMNS)) };
    let mut state = before;
    line.each_record(L::SEES || P::SEES, |place, in_sequence| {
        // SAFETY: the caller says so.
        let at = unsafe { At::new(columns, place, in_sequence) };
        let next = L::step(parameters, state, at);
        let result = P::project((state, next), if W::INCLUSIVE { next } else { state }, at);
        // SAFETY: there is space for a record of each element, at any address.
        unsafe { output.as_mut_ptr().cast::<Out>().add(place).write_unaligned(result) };
        state = next;
    });
    state
}

/// The reduction of a line. It writes nothing else, so where an element panics it takes none.
///
/// # Safety
/// As that of [`line`], without an output.
pub(super) unsafe extern "C" fn reduce<S: ScanType, In: Record, L: Steps<S, In>>(
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
    unsafe {
        let columns = InputAddresses::new(In::COLUMNS, [a, b, c, d]);
        from_identity::<S, In, Out, L, P, W>(len, output, columns)
    }
}

/// The same. That the output is a slice tells the compiler that it overlaps nothing.
///
/// # Safety
/// That of [`short`].
#[inline]
unsafe fn from_identity<S, In, Out, L, P, W>(
    len: usize,
    output: &mut [MaybeUninit<u8>],
    columns: InputAddresses,
) -> usize
where
    S: ScanType,
    In: Record,
    L: Steps<S, In>,
    P: Projects<S, In, Out>,
    W: Work,
{
    // SAFETY: they are there.
    let parameters = unsafe { L::parameters(columns.at(In::COLUMNS)) };
    let mut taken = 0;
    let elements = || {
        // As a result of a closure of its own it would go through memory.
        let (Some(mut state), columns) = (L::identity(), columns) else { return };
        Line { len, first: 0, total: len }.each_record(L::SEES || P::SEES, |place, in_sequence| {
            // SAFETY: there are so many records in the columns.
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
    // SAFETY: the caller says so; the flags are one more column.
    let columns = unsafe { InputAddresses::new(In::COLUMNS + 1, [a, b, c, d]) };
    let [flags, parameters] = [0, 1].map(|more| columns.at(In::COLUMNS + more));
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
    // SAFETY: the caller says so.
    unsafe {
        let columns = InputAddresses::new(In::COLUMNS, [a, b, c, d]);
        let rows = InRows(rows, pitch, len);
        pass::<S, In, Out, L, P, W>(rows, output, columns, columns.at(In::COLUMNS), after)
    }
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
    // SAFETY: the caller says so.
    let columns = unsafe { InputAddresses::new(In::COLUMNS, [a, b, c, d]) };
    let mut taken = 0;
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
    columns: InputAddresses,
    records: impl Fn(usize) -> Range<usize>,
    taken: &mut usize,
) {
    // SAFETY: they are there.
    let parameters = unsafe { L::parameters(columns.at(In::COLUMNS)) };
    let Some(identity) = L::identity() else { return };
    for sequence in 0..sequences {
        // SAFETY: there are such records in the columns. No function that sees more than those makes totals.
        let at = |place| unsafe { At::new(columns, place, (0, true, true)) };
        let total = records(sequence).fold(identity, |state, place| L::step(parameters, state, at(place)));
        // SAFETY: there is space for a state of each sequence, at any address.
        unsafe { totals.cast::<S>().add(sequence).write_unaligned(total) };
        *taken = sequence + 1;
    }
}
