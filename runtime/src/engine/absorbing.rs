//! Lines that end early: once a state is [absorbing](monoscan_ir::facts::Absorbing), no element
//! changes it, and no more elements are read. So a search takes as long as the loop that stops
//! where it finds.
//!
//! A line is taken in pieces that grow, and between pieces the flag in the state is looked at. The
//! elements that are left have all the same result.

use std::{ptr, slice};

use monoscan_codegen::cpu::{MOST_SHORT_INPUTS, ShortInputs, ShortWholeFn};
use monoscan_ir::facts;
use monoscan_ir::{Constant, Field, Source};

use super::variant::Variant;
use super::whole::WholeStates;

/// Elements of the first piece, and the most of one: between two pieces there are some nanoseconds.
pub(super) const FIRST: usize = 128;
const LONGEST: usize = 4096;

/// How a state in memory says that it is absorbing, and how records lie.
pub(super) struct Absorbing {
    of: facts::Absorbing,
    /// Where its component lies in a state.
    field: Field,
    read: [usize; MOST_SHORT_INPUTS],
    /// Bytes of a result; 0 of a reduction.
    written: usize,
}

impl Variant {
    /// How states say that nothing changes them, if lines that are written or reduced may end there: no element sees anything but its record,
    /// and the results behind it follow from the state.
    pub(crate) fn ends_early(&self, writes: bool) -> Option<facts::Absorbing> {
        *self.absorbing[usize::from(writes)].get_or_init(|| {
            let program = &self.program;
            let is_of_state = |source: &Source| {
                matches!(source, Source::Before { .. } | Source::After { .. } | Source::State(_) | Source::Parameter(_))
            };
            let is_in_pieces = |source: &Source| matches!(source, Source::Record(_)) || is_of_state(source);
            let project = program.sequential.as_ref().map_or(&program.output.project, |of| &of.project);
            let follows = !writes || project.reads.iter().all(is_of_state);
            let has_pieces = || program.whole_body(writes).mapping.reads.iter().all(is_in_pieces);
            if follows && program.output.filter.is_none() && has_pieces() { program.absorbing() } else { None }
        })
    }
}

impl Absorbing {
    /// Of a variant whose lines may [end early](Variant::ends_early), and these states.
    pub(super) fn of(variant: &Variant, states: &WholeStates, writes: bool) -> Option<Absorbing> {
        let program = &variant.program;
        let are_theirs = states.are_of_loop == program.sequential.is_some();
        let of = variant.ends_early(writes).filter(|_| are_theirs)?;
        let mut read = [0; MOST_SHORT_INPUTS];
        read.iter_mut().zip(&program.inputs).for_each(|(size, column)| *size = column.size as usize);
        let written = program.output.columns.first().filter(|_| writes).map_or(0, |column| column.size as usize);
        Some(Absorbing { of, field: states.layout.fields[of.component], read, written })
    }
    /// Whether a state of these components is absorbing.
    pub(super) fn is(&self, state: &[Constant]) -> bool {
        state.get(self.of.component).is_some_and(|&component| self.of.holds(component))
    }

    /// Whether the state that lies there is.
    ///
    /// # Safety
    /// One does.
    unsafe fn holds(&self, state: *const u8) -> bool {
        let Field { offset, ty } = self.field;
        // SAFETY: so does its component.
        let component = unsafe { slice::from_raw_parts(state.add(offset as usize), ty.size()) };
        self.of.holds(Constant::from_bytes(ty, component))
    }

    /// Takes a line past so many elements, as the kernel does.
    ///
    /// # Safety
    /// That of the kernel.
    pub(super) unsafe fn pass(
        &self,
        pass: ShortWholeFn,
        inputs: &ShortInputs,
        output: *mut u8,
        len: usize,
        state: *mut u8,
    ) {
        let mut table = *inputs;
        let mut take = |from: usize, count: usize| {
            let [a, b, c, d] = inputs.moved(|column| from * self.read[column], &mut table);
            // SAFETY: the columns have these records.
            unsafe { pass(count, output.wrapping_add(from * self.written), a, b, c, d, state) };
        };
        let (mut done, mut piece) = (0, FIRST);
        while done < len {
            // SAFETY: a state lies there.
            if unsafe { self.holds(state) } {
                if self.written > 0 {
                    take(done, 1);
                    // SAFETY: there is space for all results, of which this one was written.
                    unsafe { repeat(output.add(done * self.written), self.written, len - done) };
                }
                return;
            }
            let count = piece.min(len - done);
            take(done, count);
            (done, piece) = (done + count, (2 * piece).min(LONGEST));
        }
    }
}

/// Copies a record behind itself, so that there are so many: each time all that there are.
///
/// # Safety
/// There is space.
pub(crate) unsafe fn repeat(first: *mut u8, size: usize, count: usize) {
    let (mut there, all) = (size, size * count);
    // Whole records, which stay in the first-level cache.
    let most = (REPEATED / size.max(1)).max(1) * size;
    while there < all {
        let more = there.min(most).min(all - there);
        // SAFETY: so many bytes are there, and space behind them.
        unsafe { ptr::copy_nonoverlapping(first, first.add(there), more) };
        there += more;
    }
}

/// Bytes that are copied at once, about.
const REPEATED: usize = 1 << 14;
