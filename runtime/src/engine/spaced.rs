//! Short lines whose records lie at any distances: backwards, with strides, as bits, in several
//! columns of results.
//!
//! One kernel scans them from the states that sequences start from. Another starts from whole
//! states in the caller's memory, and leaves those after the line there; so it reduces too. Both
//! take many sequences of one call, one after the other.

use std::mem::MaybeUninit;

use monoscan_codegen::cpu::{Access, Kernel, ShortSpacedFn, Spacing};
use monoscan_ir::{Constant, Layout};
use smallvec::SmallVec;

use super::short_whole::Whole;
use super::variant::Variant;
use super::whole::{WholeStates, components};
use crate::error::Error;
use crate::spacing;

/// A column: where its record 0 is, and how its records lie if not one after the other.
#[doc(hidden)]
pub type SpacedColumn<Base> = (Base, Option<spacing::Spacing>);

/// How large the records of a column are.
#[derive(Clone, Copy)]
struct Size {
    bytes: isize,
    /// Whether they are records that are read by bits.
    is_by_bits: bool,
}

impl Size {
    /// How far apart records are.
    #[inline]
    fn spacing(self, spacing: Option<spacing::Spacing>) -> Spacing {
        let bytes = match spacing {
            Some(spacing::Spacing::Bits { first }) => return Spacing::of_bits(first),
            Some(spacing::Spacing::Bytes(bytes)) => bytes,
            None => self.bytes,
        };
        Spacing { step: if self.is_by_bits { bytes.wrapping_mul(8) } else { bytes } as i64, first: 0, mask: 0xff }
    }
}

/// The columns that a kernel is for.
struct Sizes {
    /// Whether records lie one after the other in all columns.
    are_alike: bool,
    inputs: SmallVec<[Size; 4]>,
    outputs: SmallVec<[Size; 2]>,
}

impl Sizes {
    fn of(variant: &Variant, access: Access, writes: bool) -> Sizes {
        let are_alike = access == Access::Strided;
        let size = |is_by_bits, layout: &Layout| Size { bytes: layout.size as isize, is_by_bits };
        let is_by_bits = |layout| !are_alike && Spacing::is_by_bits(layout);
        let outputs = variant.program.output.columns.iter().filter(|_| writes);
        Sizes {
            are_alike,
            inputs: variant.program.inputs.iter().map(|layout| size(is_by_bits(layout), layout)).collect(),
            outputs: outputs.map(|layout| size(false, layout)).collect(),
        }
    }
}

/// Most columns that are read, and most that are written.
const MOST: usize = 12;

/// The arguments of a kernel for one line of some columns, as far as there are columns.
struct Arguments {
    from: [MaybeUninit<*const u8>; MOST],
    to: [MaybeUninit<*mut u8>; MOST],
    spacings: [MaybeUninit<Spacing>; 2 * MOST],
}

impl Sizes {
    /// Arguments for lines of these columns, whose elements are so many records apart. They are at no line yet.
    #[inline(always)]
    fn arguments(&self, inputs: Inputs<'_>, outputs: Outputs<'_>, step: isize) -> Arguments {
        let (from, to) = ([MaybeUninit::uninit(); MOST], [MaybeUninit::uninit(); MOST]);
        let mut arguments = Arguments { from, to, spacings: [MaybeUninit::uninit(); 2 * MOST] };
        if self.are_alike {
            arguments.spacings[0].write(Spacing { step: step as i64, first: 0, mask: 0 });
            return arguments;
        }
        let read = inputs.iter().zip(&self.inputs).map(|(&(_, lies), size)| size.spacing(lies));
        let written = outputs.iter().zip(&self.outputs).map(|(&(_, lies), size)| size.spacing(lies));
        for (spacing, own) in arguments.spacings.iter_mut().zip(read.chain(written)) {
            spacing.write(Spacing { step: own.step.wrapping_mul(step as i64), ..own });
        }
        arguments
    }

    /// Goes to the line of so many records, at least one, the first of which in memory is this one.
    #[inline(always)]
    fn go_to(
        &self,
        Arguments { from, to, spacings }: &mut Arguments,
        (inputs, outputs): (Inputs<'_>, Outputs<'_>),
        (first, len, step): (usize, usize, isize),
    ) {
        let begin = if step < 0 { first + (len - 1) * step.unsigned_abs() } else { first } as isize;
        for (((&(base, lies), size), from), spacing) in inputs.iter().zip(&self.inputs).zip(from).zip(spacings) {
            let own = size.spacing(lies);
            let far = own.step.wrapping_mul(begin as i64);
            if size.is_by_bits {
                from.write(base);
                let step = own.step.wrapping_mul(step as i64);
                spacing.write(Spacing { step, first: own.first.wrapping_add_signed(far), ..own });
            } else {
                from.write(base.wrapping_offset(far as isize));
            }
        }
        for ((&(base, lies), size), to) in outputs.iter().zip(&self.outputs).zip(to) {
            to.write(base.wrapping_offset((size.spacing(lies).step as isize).wrapping_mul(begin)));
        }
    }
}

type Inputs<'a> = &'a [SpacedColumn<*const u8>];
type Outputs<'a> = &'a [SpacedColumn<*mut u8>];

/// A kernel that scans short lines of columns whose records lie at any distances, backwards too; or one that scans or reduces them from
/// whole states, and replaces these by the states after the line.
#[doc(hidden)]
pub struct ShortSpaced {
    /// Code of the variants that this is a part of.
    pass: ShortSpacedFn,
    /// Most elements of a line that one sequential pass is the way for.
    longest: usize,
    sizes: Sizes,
    /// Of a kernel that has them.
    states: Option<WholeStates>,
    /// Whether the pass gives the same wherever its records are in a line.
    is_anywhere: bool,
}

impl ShortSpaced {
    /// Of a form that is neither segmented nor from an initial state, with whole states if some work with these is given. None if the program
    /// keeps some records only, has many columns or no kernels, or if one pass with whole states is not the way for short lines.
    pub(super) fn of(variant: &Variant, access: Access, whole: Option<Whole>) -> Result<Option<ShortSpaced>, Error> {
        let Ok(kernels) = variant.kernels(access) else { return Ok(None) };
        let (code, writes) = (&kernels.code, whole != Some(Whole::Reduce));
        let kernel = if whole.is_some() { Kernel::ShortWhole { writes } } else { Kernel::Short };
        let columns = (variant.program.inputs.len(), variant.program.output.columns.len());
        let is_way = (whole.is_none() || code.whole_pays()) && columns.0.max(columns.1) <= MOST;
        let Some(pass) = is_way.then(|| code.short_spaced(kernel)).flatten() else { return Ok(None) };
        variant.check(kernels, &[kernel].into())?;
        Ok(Some(ShortSpaced {
            pass,
            longest: variant.plan.direct,
            sizes: Sizes::of(variant, access, writes),
            states: whole.map(|_| WholeStates::of(variant, code)),
            is_anywhere: code.is_anywhere(writes),
        }))
    }

    /// Scans a line of `len` records, forwards or backwards, if it is short enough. Says whether it did.
    ///
    /// # Safety
    /// These are the columns of the program in order, and where its parameters are, borrowed as [`Column`](crate::Column) and
    /// [`ColumnMut`](crate::ColumnMut) borrow, with so many records. These lie one after the other in all of them if the kernel is for
    /// columns that are alike. The kernel has no states.
    #[inline]
    pub unsafe fn line(
        &self,
        columns: (Inputs<'_>, Outputs<'_>),
        (len, reversed): (usize, bool),
        parameters: *const u8,
    ) -> bool {
        let is_short = len <= self.longest;
        if is_short {
            let line = std::iter::once((0, len));
            // SAFETY: the caller's promise.
            unsafe { self.sequences(columns, (line, if reversed { -1 } else { 1 }), parameters, None) };
        }
        is_short
    }

    /// Most elements of a line.
    pub(crate) fn longest(&self) -> usize {
        self.longest
    }

    /// Whether sequences may start from any states, also from those that none reaches.
    pub(crate) fn takes_any(&self) -> bool {
        self.states.as_ref().is_some_and(|states| states.takes_any)
    }

    /// Whether the states are those of the loop that the program was derived from, and not of its stages.
    pub(crate) fn are_of_loop(&self) -> bool {
        self.states.as_ref().is_some_and(|states| states.are_of_loop)
    }

    /// Whether it takes parts of a line as it takes lines.
    pub(crate) fn is_anywhere(&self) -> bool {
        self.is_anywhere
    }

    /// Scans or reduces sequences, each of so many records from one on that is the first in memory, whose records are `step` apart. With
    /// states they start from those in memory, one for each, or with `from_start` from those that sequences start from; the states behind
    /// them lie there then.
    ///
    /// # Safety
    /// As for [`line`](ShortSpaced::line), of columns that have all of these records. There is memory for so many states if the kernel has
    /// them, exclusively borrowed, with states that it takes unless sequences start from the start.
    #[inline]
    pub(crate) unsafe fn sequences(
        &self,
        (inputs, outputs): (Inputs<'_>, Outputs<'_>),
        (sequences, step): (impl Iterator<Item = (usize, usize)>, isize),
        parameters: *const u8,
        states: Option<(*mut u8, bool)>,
    ) {
        let mut arguments = self.sizes.arguments(inputs, outputs, step);
        let start = self.states.as_ref().map_or(&[][..], WholeStates::start);
        for (number, (first, len)) in sequences.enumerate() {
            // SAFETY: the caller has so many states, and the columns are what it says; each record is read before it is written. The code is
            // there: this is borrowed from the variant that owns it.
            unsafe {
                let state = states.map_or(std::ptr::null_mut(), |(states, from_start)| {
                    let state = states.add(number * start.len());
                    if from_start {
                        state.copy_from_nonoverlapping(start.as_ptr(), start.len());
                    }
                    state
                });
                if len > 0 {
                    self.sizes.go_to(&mut arguments, (inputs, outputs), (first, len, step));
                    let Arguments { from, to, spacings } = &arguments;
                    (self.pass)(
                        state,
                        len,
                        from.as_ptr().cast(),
                        to.as_ptr().cast(),
                        spacings.as_ptr().cast(),
                        parameters,
                    );
                }
            }
        }
    }

    /// Whether these are the components of so many states.
    pub(crate) fn are_of_each(&self, given: &[Constant], count: usize) -> bool {
        let each = self.states.as_ref().map(|states| states.layout.fields.len());
        each.and_then(|each| each.checked_mul(count)) == Some(given.len())
    }

    /// The components of the states behind so many sequences that run from states in memory: from those that sequences start from, all
    /// from the given ones, or each from its own of them. None if the kernel has no states.
    pub(crate) fn run_from(
        &self,
        given: Option<&[Constant]>,
        are_of_each: bool,
        count: usize,
        run: impl FnOnce(*mut u8),
    ) -> Option<Vec<Constant>> {
        let states = self.states.as_ref()?;
        let mut memory = states.memory(given, are_of_each, count);
        run(memory.as_mut_ptr().cast());
        let each = bytemuck::cast_slice::<_, u8>(&memory).chunks_exact(states.size()).take(count);
        Some(each.flat_map(|state| components(&states.layout, state)).collect())
    }
}
