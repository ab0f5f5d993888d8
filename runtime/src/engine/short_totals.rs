//! Totals of short rows and segments, straight from the caller's slices to the code that an earlier
//! call chose: one call of a function for all of them, or of the kernel for each.

use monoscan_codegen::cpu::{NativeSequencesFn, ShortInputs};

use super::short_whole::ShortWhole;
use super::totals::{Columns, Sequences};
use crate::call::Shape;
use crate::checks;

/// The totals of short sequences that were checked, each from the state that sequences start from.
#[doc(hidden)]
pub struct ShortTotals<'a> {
    short: &'a ShortWhole,
    native: Option<NativeSequencesFn>,
    sequences: Sequences<'a>,
}

impl ShortWhole {
    /// For the typed front end, of a kernel that writes nothing: the totals of the sequences of columns of so many records. None if they
    /// are wrong, long, or enough for several threads, and before an earlier call of the engine chose the code.
    #[inline(always)]
    pub fn totals_of<'a>(&'a self, shape: Shape<'a>, len: usize) -> Option<ShortTotals<'a>> {
        let native = self.chosen()?;
        let sequences = Sequences::of(shape)?;
        let longest = match sequences {
            Sequences::Rows(rows) if rows.records() > len => return None,
            Sequences::Rows(rows) => rows.len(),
            Sequences::Offsets(offsets) => checks::bound_of_longest(offsets, len).ok()?,
        };
        self.takes(sequences, longest).then_some(ShortTotals { short: self, native, sequences })
    }
}

impl ShortTotals<'_> {
    /// How many sequences there are.
    #[inline(always)]
    pub fn count(&self) -> usize {
        self.sequences.count()
    }

    /// Puts the totals there.
    ///
    /// # Safety
    /// The columns are those of the program, in order, of as many records as was said, borrowed as [`Column`](crate::Column) borrows;
    /// `to` is exclusively borrowed memory for the states of each sequence, as
    /// [`states_in_memory`](crate::DynScanBuilder::states_in_memory) said.
    #[inline(always)]
    pub unsafe fn run(self, inputs: &ShortInputs, to: *mut u8) {
        let ShortTotals { short, native, sequences } = self;
        let mut done = 0;
        if let Some(native) = native {
            let ([a, b, c, d], (offsets, pitch, len)) = (inputs.registers(), sequences.as_arguments());
            // SAFETY: the caller's promise; there is one offset more than sequences.
            done = unsafe { native(sequences.count(), to, a, b, c, d, offsets, pitch, len) };
        }
        if done < sequences.count() {
            // SAFETY: the caller's promise.
            unsafe { by_kernel(short, sequences, done, (inputs, to)) };
        }
    }
}

/// The totals from a sequence on, by the kernel: all, or those that a function left which panics.
///
/// # Safety
/// As for [`run`](ShortTotals::run).
#[inline(never)]
unsafe fn by_kernel(short: &ShortWhole, sequences: Sequences<'_>, first: usize, (inputs, to): (&ShortInputs, *mut u8)) {
    let columns = Columns { inputs, output: std::ptr::null_mut() };
    // SAFETY: the caller's promise.
    unsafe { short.sequences(true).rest(sequences, first, columns, to) };
}
