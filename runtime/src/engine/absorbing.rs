//! Lines that end early: once a state is [absorbing](monoscan_ir::facts::Absorbing), no element
//! changes it, and no more elements are read. So a search takes as long as the loop that stops
//! where it finds.
//!
//! A line is taken in pieces that grow, and between pieces the flag in the state is looked at. The
//! elements that are left have all the same result.

use std::{ptr, slice};

use monoscan_codegen::cpu::{Access, MOST_SHORT_INPUTS, ShortInputs, ShortWholeFn};
use monoscan_ir::facts;
use monoscan_ir::{Constant, Field, Layout, Source};

use super::variant::Variant;
use super::whole::WholeStates;

/// Elements of the first piece, and the most of one: between two pieces there are some nanoseconds.
pub(super) const FIRST: usize = 32;
const LONGEST: usize = 4096;

/// Elements of a line that is written whole by a kernel that starts it, and needs no states in memory.
pub(super) const WHOLE: usize = 128;

/// How a state in memory says that it is absorbing, and how records lie.
pub(super) struct Absorbing {
    of: facts::Absorbing,
    /// Where its component lies in a state.
    field: Field,
    read: [usize; MOST_SHORT_INPUTS],
    /// The layout of a result; none of a reduction.
    written: Option<Layout>,
}

impl Variant {
    /// How states say that nothing changes them, if lines that are written or reduced may end there: a kernel for short lines leaves such
    /// states, no element sees anything but its record, and the results behind it follow from the state.
    pub(crate) fn ends_early(&self, writes: bool) -> Option<facts::Absorbing> {
        *self.absorbing[usize::from(writes)].get_or_init(|| {
            let (program, code) = (&self.program, &self.kernels(Access::Line).ok()?.code);
            let has_states = code.whole_pays() && code.are_of_loop() == program.sequential.is_some();
            let is_of_state = |source: &Source| {
                matches!(source, Source::Before { .. } | Source::After { .. } | Source::State(_) | Source::Parameter(_))
            };
            let is_in_pieces = |source: &Source| matches!(source, Source::Record(_)) || is_of_state(source);
            let project = program.sequential.as_ref().map_or(&program.output.project, |of| &of.project);
            let follows = !writes || project.reads.iter().all(is_of_state);
            let has_pieces = || program.whole_body(writes).mapping.reads.iter().all(is_in_pieces);
            let may_end = has_states && follows && program.output.filter.is_none() && has_pieces();
            if may_end { program.absorbing() } else { None }
        })
    }
}

impl Absorbing {
    /// Of a variant whose lines may [end early](Variant::ends_early), and these states.
    pub(super) fn of(variant: &Variant, states: &WholeStates, writes: bool) -> Option<Absorbing> {
        let program = &variant.program;
        let of = variant.ends_early(writes)?;
        let mut read = [0; MOST_SHORT_INPUTS];
        read.iter_mut().zip(&program.inputs).for_each(|(size, column)| *size = column.size as usize);
        let written = program.output.columns.first().filter(|_| writes).cloned();
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
        let mut table = ShortInputs::new(ptr::null());
        let result =
            |from: usize| output.wrapping_add(self.written.as_ref().map_or(0, |layout| from * layout.size as usize));
        let mut take = |from: usize, count: usize| {
            let [a, b, c, d] = inputs.moved(|column| from * self.read[column], &mut table);
            // SAFETY: the columns have these records.
            unsafe { pass(count, result(from), a, b, c, d, state) };
        };
        let (mut done, mut piece) = (0, FIRST);
        while done < len {
            // SAFETY: a state lies there.
            if unsafe { self.holds(state) } {
                if let Some(layout) = &self.written {
                    take(done, 1);
                    // SAFETY: there is space for all results, of which this one was written.
                    unsafe { repeat(result(done), layout, len - done) };
                }
                return;
            }
            let count = piece.min(len - done);
            take(done, count);
            (done, piece) = (done + count, (2 * piece).min(LONGEST));
        }
    }
}

/// Copies the fields of a record to those behind it, so that there are so many. What lies between fields stays as it is.
///
/// # Safety
/// There is space.
pub(crate) unsafe fn repeat(first: *mut u8, layout: &Layout, count: usize) {
    let size = layout.size as usize;
    for done in (1..count).step_by(TOGETHER) {
        for field in &layout.fields {
            let from = first.wrapping_add(field.offset as usize);
            let to = from.wrapping_add(done * size);
            // SAFETY: there are so many records behind it.
            unsafe { fill(from, field.ty.size(), (to, size), TOGETHER.min(count - done)) };
        }
    }
}

/// Records whose fields are filled one after the other: they stay in the first-level cache.
const TOGETHER: usize = 512;

/// Copies a value of so many bytes to so many places, the next one so many bytes further on.
///
/// # Safety
/// There are such places.
unsafe fn fill(from: *const u8, size: usize, (to, step): (*mut u8, usize), count: usize) {
    /// # Safety
    /// As for [`fill`], of bytes like these.
    #[inline(always)]
    unsafe fn fill_with<T: Copy>(from: *const u8, (to, step): (*mut u8, usize), count: usize) {
        // SAFETY: the caller says so.
        let value = unsafe { from.cast::<T>().read_unaligned() };
        let each = move |step: usize| {
            for place in 0..count {
                // SAFETY: the caller says so.
                unsafe { to.add(place * step).cast::<T>().write_unaligned(value) };
            }
        };
        // One after the other they are written in vectors.
        if step == size_of::<T>() { each(size_of::<T>()) } else { each(step) }
    }
    // SAFETY: the caller says so.
    unsafe {
        match size {
            1 => fill_with::<u8>(from, (to, step), count),
            2 => fill_with::<u16>(from, (to, step), count),
            4 => fill_with::<u32>(from, (to, step), count),
            8 => fill_with::<u64>(from, (to, step), count),
            _ => {
                for place in 0..count {
                    ptr::copy_nonoverlapping(from, to.add(place * step), size);
                }
            }
        }
    }
}
