//! Many short sequences of one call, from states in the caller's memory to those behind them:
//! contiguous rows, or the segments between offsets.
//!
//! A sequence of a few records takes a few nanoseconds. So each is one call of the kernel that
//! reduces short lines, or scans them, from the states that they start from or from its own. Its
//! total lies where the caller wants it. One call of a function of Rust reduces all, where that is
//! faster. Threads share the sequences. Sequences for which one sequential pass is not the way are
//! left to the caller, as lines.

use std::ops::Range;
use std::ptr;
use std::time::{Duration, Instant};

use monoscan_codegen::cpu::{NativeSequencesFn, ShortInputs, ShortWholeFn};
use monoscan_ir::{Constant, Layout};

use super::rows::{LEAST_ELEMENTS, parallel};
use super::self_check::{Kind, Sample};
use super::variant::{Sizes, Variant};
use super::{helpers, native};
use crate::call::{Rows, Shape};

/// Records of each of many sequences.
#[derive(Clone, Copy)]
pub(crate) enum Sequences<'a> {
    Rows(Rows),
    Offsets(&'a [usize]),
}

impl<'a> Sequences<'a> {
    /// Those of a shape, if they are such.
    #[inline(always)]
    pub(crate) fn of(shape: Shape<'a>) -> Option<Sequences<'a>> {
        match shape {
            Shape::Rows(rows) if rows.step() == 1 => Some(Sequences::Rows(rows)),
            Shape::Offsets(offsets) => Some(Sequences::Offsets(offsets)),
            _ => None,
        }
    }

    #[inline(always)]
    pub(crate) fn count(&self) -> usize {
        match self {
            Sequences::Rows(rows) => rows.count(),
            Sequences::Offsets(offsets) => offsets.len() - 1,
        }
    }

    /// Records of all.
    #[inline(always)]
    pub(super) fn elements(&self) -> usize {
        match self {
            Sequences::Rows(rows) => rows.elements(),
            Sequences::Offsets(offsets) => offsets[offsets.len() - 1],
        }
    }

    /// The records of the longest.
    pub(crate) fn longest(&self) -> usize {
        match self {
            Sequences::Rows(rows) => rows.len(),
            // Without a branch for each.
            Sequences::Offsets(offsets) => offsets.windows(2).fold(0, |most, ends| most.max(ends[1] - ends[0])),
        }
    }

    /// Those of these numbers that have more records than this.
    pub(crate) fn longer_than(
        self,
        longest: usize,
        numbers: Range<usize>,
    ) -> impl Iterator<Item = (usize, Range<usize>)> {
        numbers.map(move |number| (number, self.records(number))).filter(move |(_, records)| records.len() > longest)
    }

    /// As a function takes all of them: offsets, or none, the records from row to row, and those of each.
    #[inline(always)]
    pub(super) fn as_arguments(&self) -> (*const usize, usize, usize) {
        match self {
            Sequences::Rows(rows) => (ptr::null(), rows.pitch(), rows.len()),
            Sequences::Offsets(offsets) => (offsets.as_ptr(), 0, 0),
        }
    }

    fn records(&self, number: usize) -> Range<usize> {
        match self {
            Sequences::Rows(rows) => {
                let first = number * rows.pitch();
                first..first + rows.len()
            }
            Sequences::Offsets(offsets) => offsets[number]..offsets[number + 1],
        }
    }
}

/// Rows that a function and a kernel are tried with, how many records each has, and how often; the shortest time counts.
const ROWS: usize = 128;
const ROW: usize = 12;
const ROUNDS: usize = 5;

/// The kernel that takes lines of one call after the other.
pub(crate) struct Totals<'a> {
    pub(super) pass: ShortWholeFn,
    /// A function that does the same.
    pub(super) native: Option<NativeSequencesFn>,
    /// The longest line that it is the way for, and whether there are longer ones.
    pub(crate) longest: usize,
    pub(crate) has_longer: bool,
    /// Records that one thread reduces alone.
    pub(super) alone: usize,
    /// Whether elements may begin anywhere in a line; those of rows are counted anew in each.
    pub(super) is_anywhere: bool,
    /// Bytes of the records of each column.
    pub(super) sizes: &'a Sizes,
    /// How states lie in memory, and those that sequences start from as they lie there; none if each starts from the state that lies
    /// where its total will.
    pub(super) states: &'a Layout,
    pub(super) start: Option<&'a [u8]>,
}

/// Where the columns begin, and that of results, if there is one.
#[derive(Clone, Copy)]
pub(crate) struct Columns<'a> {
    pub(crate) inputs: &'a ShortInputs,
    pub(crate) output: *mut u8,
}

/// Memory that threads share.
#[derive(Clone, Copy)]
struct Shared<'a>(Columns<'a>, *mut u8);

// SAFETY: columns are only read, and each thread writes results and totals of its own.
unsafe impl Sync for Shared<'_> {}

impl Totals<'_> {
    /// Whether it is for such sequences.
    pub(crate) fn fits(&self, sequences: Sequences<'_>) -> bool {
        self.is_anywhere || matches!(sequences, Sequences::Rows(_))
    }

    /// Bytes of a total.
    pub(crate) fn size(&self) -> usize {
        self.states.size as usize
    }

    /// Puts components where a total lies.
    pub(crate) fn put(&self, components: &[Constant], to: &mut [u8]) {
        native::put(self.states, to, components);
    }

    /// Takes these sequences, but for longer ones, on at most so many threads.
    ///
    /// # Safety
    /// The columns have all records, and are borrowed as [`Column`](crate::Column) and [`ColumnMut`](crate::ColumnMut) borrow; there is
    /// memory for the states of each sequence at `to`, borrowed exclusively, with states that the kernel may go from if each starts there.
    pub(crate) unsafe fn run(
        &self,
        sequences: Sequences<'_>,
        columns: Columns<'_>,
        to: *mut u8,
        threads: impl FnOnce() -> usize,
    ) {
        let (count, elements, memory) = (sequences.count(), sequences.elements(), &Shared(columns, to));
        if elements <= self.alone {
            // SAFETY: the caller's promise.
            return unsafe { self.some(&sequences, 0..count, memory) };
        }
        let _caller = helpers::Caller::of(self.alone, elements);
        let together = LEAST_ELEMENTS.div_ceil((elements / count.max(1)).max(1));
        let units = count.div_ceil(together);
        let threads = 1 + helpers::of(self.alone, elements, units, threads);
        if threads == 1 {
            // SAFETY: the caller's promise.
            return unsafe { self.some(&sequences, 0..count, memory) };
        }
        let work = || {
            // SAFETY: the caller's promise; no two units have a sequence in common.
            |unit: usize| unsafe {
                self.some(&sequences, unit * together..count.min((unit + 1) * together), memory);
            }
        };
        let waited = parallel(units, threads, &work);
        let most = together * (elements / count.max(1)).max(1) + self.longest;
        helpers::ended(self.alone, most, waited);
    }

    /// Takes these sequences from one on, on one thread.
    ///
    /// # Safety
    /// As for [`run`](Totals::run).
    pub(super) unsafe fn rest(&self, sequences: Sequences<'_>, first: usize, columns: Columns<'_>, to: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { self.some(&sequences, first..sequences.count(), &Shared(columns, to)) }
    }

    /// # Safety
    /// As for [`run`](Totals::run).
    unsafe fn some(&self, sequences: &Sequences<'_>, numbers: Range<usize>, memory: &Shared<'_>) {
        let mut left = numbers.start;
        if let Some(native) = self.native {
            // Longer ones are left out, and what a function leaves is reduced by the kernel.
            let of = if self.has_longer { numbers.clone() } else { 0..0 };
            let mut longer = sequences.longer_than(self.longest, of);
            while left < numbers.end {
                let end = longer.next().map_or(numbers.end, |(number, _)| number);
                // SAFETY: the caller's promise.
                left += unsafe { self.by_native(native, sequences, left..end, memory) };
                if left < end {
                    break;
                }
                // The long one.
                left += 1;
            }
            left = left.min(numbers.end);
        }
        // SAFETY: the caller's promise. There is a loop for each kind.
        unsafe {
            match sequences {
                Sequences::Rows(rows) => {
                    let (pitch, len) = (rows.pitch(), rows.len());
                    self.each(left..numbers.end, |number| (number.wrapping_mul(pitch), len), memory);
                }
                Sequences::Offsets(offsets) => {
                    let records = |number: usize| (offsets[number], offsets[number + 1] - offsets[number]);
                    self.each(left..numbers.end, records, memory);
                }
            }
        }
    }

    /// Some of the sequences, none of them too long, by the function. Gives how many it took: all, unless it panics.
    ///
    /// # Safety
    /// As for [`run`](Totals::run).
    unsafe fn by_native(
        &self,
        native: NativeSequencesFn,
        sequences: &Sequences<'_>,
        numbers: Range<usize>,
        &Shared(Columns { inputs, .. }, to): &Shared<'_>,
    ) -> usize {
        let (first, offsets, pitch, len) = match sequences {
            Sequences::Rows(rows) => (numbers.start.wrapping_mul(rows.pitch()), ptr::null(), rows.pitch(), rows.len()),
            Sequences::Offsets(offsets) => (0, offsets[numbers.start..=numbers.end].as_ptr(), 0, 0),
        };
        let mut table = ShortInputs::new(ptr::null());
        let [a, b, c, d] = inputs.moved(|column| first.wrapping_mul(self.sizes.inputs[column]), &mut table);
        // SAFETY: there are such records, memory for these states, and one offset more than sequences.
        unsafe { native(numbers.len(), to.add(numbers.start * self.size()), a, b, c, d, offsets, pitch, len) }
    }

    /// Whether a function is faster than a call of the kernel for each sequence, or was asked for.
    pub(super) fn is_faster(&self, native: NativeSequencesFn, variant: &Variant) -> bool {
        if variant.native.as_ref().is_some_and(|(_, is_asked_for)| *is_asked_for) {
            return true;
        }
        let sample = Sample::new(&variant.program, ROWS * ROW, Kind::Broad);
        let Ok(rows) = Rows::new(ROWS, ROW, ROW) else { return false };
        let inputs = &sample.short_inputs();
        let mut states = vec![0u128; (ROWS * self.size()).div_ceil(16)];
        let memory = Shared(Columns { inputs, output: ptr::null_mut() }, states.as_mut_ptr().cast());
        let mut fastest = [Duration::MAX; 2];
        for _ in 0..ROUNDS {
            for (fastest, native) in fastest.iter_mut().zip([None, Some(native)]) {
                let totals = Totals { native, ..*self };
                let start = Instant::now();
                // SAFETY: the sample has these rows, and there is memory for a state of each.
                unsafe { totals.some(&Sequences::Rows(rows), 0..ROWS, &memory) };
                *fastest = start.elapsed().min(*fastest);
            }
        }
        fastest[1] < fastest[0]
    }

    /// # Safety
    /// As for [`run`](Totals::run).
    #[inline(always)]
    unsafe fn each(
        &self,
        numbers: Range<usize>,
        records: impl Fn(usize) -> (usize, usize),
        &Shared(Columns { inputs, output }, to): &Shared<'_>,
    ) {
        let mut table = ShortInputs::new(ptr::null());
        let written = self.sizes.outputs.first().copied().unwrap_or(0);
        for number in numbers {
            let (first, len) = records(number);
            if len > self.longest {
                continue;
            }
            // A sequence without records may begin anywhere.
            let from = |size: usize| first.wrapping_mul(size);
            let [a, b, c, d] = inputs.moved(|column| from(self.sizes.inputs[column]), &mut table);
            // SAFETY: there are such records, and memory for this state. Identities lie in all ranges that the kernel relies on.
            unsafe {
                let state = to.add(number * self.size());
                if let Some(start) = self.start {
                    put(state, start);
                }
                (self.pass)(len, output.wrapping_add(from(written)), a, b, c, d, state);
            }
        }
    }
}

/// Copies bytes, of most states without a call.
///
/// # Safety
/// There is memory for so many.
#[inline(always)]
unsafe fn put(to: *mut u8, bytes: &[u8]) {
    // SAFETY: the caller's promise.
    unsafe {
        match bytes.len() {
            4 => to.cast::<[u8; 4]>().write(*bytes.as_ptr().cast()),
            8 => to.cast::<[u8; 8]>().write(*bytes.as_ptr().cast()),
            16 => to.cast::<[u8; 16]>().write(*bytes.as_ptr().cast()),
            len => ptr::copy_nonoverlapping(bytes.as_ptr(), to, len),
        }
    }
}
