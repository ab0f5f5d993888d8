//! Short lines from given states: reductions, resumed scans and those from an initial state.
//!
//! The kernel takes the whole states from the caller's memory, and leaves those after the line
//! there. Many lines are so many calls of it, or one of a function that reduces them all.

use std::sync::OnceLock;

use monoscan_codegen::cpu::{Access, Kernel, NativeSequencesFn, ShortInputs, ShortWholeFn};
use monoscan_ir::{Constant, Layout, Mode};

use super::absorbing::{Absorbing, FIRST, WHOLE};
use super::contest::Contest;
#[cfg(doc)]
use super::short::Short;
use super::totals::{Sequences, Totals};
use super::variant::{Kernels, Sizes, Variant};
use super::whole::{StatesAfter, WholeStates};
use crate::checks;
use crate::error::Error;

/// The work of a kernel of short lines that starts from given states.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Whole {
    /// An inclusive scan.
    Inclusive,
    /// An exclusive scan.
    Exclusive,
    /// Nothing is written.
    Reduce,
}

impl Whole {
    #[inline]
    pub(crate) fn mode(self) -> Mode {
        if self == Whole::Exclusive { Mode::Exclusive } else { Mode::Inclusive }
    }
}

impl From<Mode> for Whole {
    #[inline]
    fn from(mode: Mode) -> Whole {
        match mode {
            Mode::Inclusive => Whole::Inclusive,
            Mode::Exclusive => Whole::Exclusive,
        }
    }
}

/// A kernel that scans or reduces short lines of a program from given states, and replaces these by the states after the line.
#[doc(hidden)]
pub struct ShortWhole {
    /// Code of the variants that this is a part of, without a function and with one.
    passes: [ShortWholeFn; 2],
    contest: Contest,
    longest: usize,
    states: WholeStates,
    sizes: Sizes,
    replaces: bool,
    /// Whether the pass gives the same wherever its records are in a line.
    is_anywhere: bool,
    /// Whether the program keeps some records, which rows do not.
    keeps: bool,
    /// Records that one thread reduces alone.
    alone: usize,
    /// How lines end early, if they do.
    absorbing: Option<Absorbing>,
    /// A function that reduces many lines, faster than one call of the kernel for each: looked for when many are first reduced.
    totals: OnceLock<Option<NativeSequencesFn>>,
}

impl ShortWhole {
    /// Of a form that is neither segmented nor from an initial state; none if its columns are many, if it has no kernels, or if one pass with whole
    /// states is not the way for short lines.
    pub(super) fn of(variant: &Variant, work: Whole) -> Result<Option<ShortWhole>, Error> {
        let Ok([generated, by_function]) = variant.rivals() else { return Ok(None) };
        if !generated.code.whole_pays() {
            return Ok(None);
        }
        let writes = work != Whole::Reduce;
        let kernel = Kernel::ShortWhole { writes };
        let checked = |kernels: &Kernels| -> Result<Option<ShortWholeFn>, Error> {
            let Some(code) = kernels.code.short_whole(writes) else { return Ok(None) };
            variant.check(kernels, &[kernel].into()).map(|()| Some(code))
        };
        let function = if by_function.code.is_native(kernel) { checked(by_function)? } else { None };
        let contest = Contest::with(function.is_some(), variant.is_native_asked());
        let Some(pass) = checked(generated)? else { return Ok(None) };
        let passes = [pass, function.unwrap_or(pass)];
        let states = WholeStates::of(variant, &generated.code);
        Ok(Some(ShortWhole {
            passes,
            contest,
            longest: variant.plan.direct,
            absorbing: Absorbing::of(variant, &states, writes),
            states,
            sizes: Sizes::of(&variant.written),
            replaces: checks::can_replace(&variant.program).is_ok(),
            is_anywhere: generated.code.is_anywhere(writes),
            keeps: variant.program.output.filter.is_some(),
            alone: variant.plan.alone,
            totals: OnceLock::new(),
        }))
    }

    /// The code that is taken, as far as calls have decided.
    #[inline]
    fn so_far(&self) -> ShortWholeFn {
        self.passes[usize::from(self.contest.is_function())]
    }

    /// Whether the states are those of the loop that the program was derived from, and not of its stages.
    #[inline]
    pub(crate) fn are_of_loop(&self) -> bool {
        self.states.are_of_loop
    }

    /// Of programs whose lines end early the longest line that one call takes.
    pub(crate) fn first_piece(&self) -> Option<usize> {
        self.absorbing.as_ref().map(|_| self.longest.max(1))
    }

    /// Whether nothing changes the state of these components.
    pub(crate) fn is_absorbing(&self, state: &[Constant]) -> bool {
        self.absorbing.as_ref().is_some_and(|absorbing| absorbing.is(state))
    }

    /// Whether a line of so many records is short enough.
    #[inline]
    pub(crate) fn is_for(&self, len: usize) -> bool {
        len <= self.longest
    }

    /// Whether it takes parts of a line as it takes lines.
    pub(crate) fn is_anywhere(&self) -> bool {
        self.is_anywhere
    }

    /// Whether the states lie in memory as so many of these, one after the other.
    pub(crate) fn are_array_of(&self, one: &Layout, count: usize) -> bool {
        self.states.are_array_of(one, count)
    }

    /// Whether a line may go from any states, also from those that no sequence reaches.
    pub(crate) fn takes_any(&self) -> bool {
        self.states.takes_any
    }

    /// Puts the states that sequences start from into a caller's memory.
    ///
    /// # Safety
    /// They lie there as [`states_in_memory`](crate::DynScanBuilder::states_in_memory) said.
    #[inline]
    pub unsafe fn begin(&self, states: *mut u8) {
        // SAFETY: the caller has memory for so many bytes.
        unsafe { states.copy_from_nonoverlapping(self.states.start().as_ptr(), self.states.size()) };
    }

    /// The passes over many lines, from the states that sequences start from or each from its own.
    #[inline]
    pub(crate) fn sequences(&self, from_start: bool) -> Totals<'_> {
        let &ShortWhole { longest, alone, ref states, ref sizes, is_anywhere, .. } = self;
        let pass = self.so_far();
        let start = from_start.then(|| states.start());
        let states = &states.layout;
        Totals { pass, native: None, longest, has_longer: false, alone, sizes, states, start, is_anywhere }
    }

    /// The function that reduces many lines, or none where the kernel is faster; none at all before that was looked for.
    #[inline(always)]
    pub(super) fn chosen(&self) -> Option<Option<NativeSequencesFn>> {
        self.totals.get().copied()
    }

    /// Whether it takes such sequences, of which the longest has so many records, on one thread.
    #[inline(always)]
    pub(super) fn takes(&self, sequences: Sequences<'_>, longest: usize) -> bool {
        let are_for_it = match sequences {
            Sequences::Rows(_) => !self.keeps,
            Sequences::Offsets(_) => self.is_anywhere,
        };
        longest <= self.longest && sequences.elements() <= self.alone && are_for_it
    }

    /// The reduction of many lines, of a kernel that writes nothing and the variant that this is a part of.
    pub(crate) fn totals<'v>(&self, variant: impl FnOnce() -> &'v Variant) -> Totals<'_> {
        let by_kernel = self.sequences(true);
        let faster = || {
            let variant = variant();
            let kernels = variant.kernels(Access::Line).ok()?;
            variant.settle(kernels, Kernel::ShortWhole { writes: false }, None).ok()?;
            let native = kernels.code.native_totals(kernels.code.is_native(Kernel::ShortWhole { writes: false }))?;
            by_kernel.is_faster(native, variant).then_some(native)
        };
        Totals { native: *self.totals.get_or_init(faster), ..by_kernel }
    }

    /// As [`pass`](ShortWhole::pass), from these components, or from the states that sequences start from; those of a loop were checked.
    /// Gives the states after the line too.
    ///
    /// # Safety
    /// As for [`Short::scan`]; a reduction looks at no output.
    #[inline(always)]
    pub(crate) unsafe fn pass_from(
        &self,
        start: Option<&[Constant]>,
        inputs: &ShortInputs,
        output: *mut u8,
        len: usize,
    ) -> Option<(usize, StatesAfter<'_>)> {
        let mut memory = self.states.one(start);
        let is_reached = start.is_none() || self.states.are_of_loop;
        // SAFETY: the columns are what the caller says, and the states lie so.
        let written = unsafe { self.pass(inputs, output, len, (memory.as_mut_ptr().cast(), is_reached)) }?;
        Some((written, StatesAfter::new(&self.states.layout, memory)))
    }

    /// As [`Short::scan`], of lines that may end early and are longer than that takes; of no other.
    ///
    /// # Safety
    /// As for [`Short::scan`].
    #[inline(never)]
    pub unsafe fn line(&self, inputs: &ShortInputs, output: *mut u8, len: usize) -> Option<usize> {
        self.absorbing.as_ref().filter(|_| len > WHOLE)?;
        // SAFETY: the caller says so.
        unsafe { self.pass_from(None, inputs, output, len) }.map(|(written, _)| written)
    }

    /// Scans or reduces a line of `len` records, if it is short enough; `states` are those before it, `are_reached` if sequences
    /// reach them, and then those after it. Gives how many records it wrote, or would have, if it did.
    ///
    /// # Safety
    /// As for [`Short::scan`]; a reduction looks at no output. `states` is exclusively borrowed and lies as
    /// [`states_in_memory`](crate::DynScanBuilder::states_in_memory) said, or component after component at their natural alignment.
    #[inline]
    pub unsafe fn pass(
        &self,
        inputs: &ShortInputs,
        output: *mut u8,
        len: usize,
        (states, are_reached): (*mut u8, bool),
    ) -> Option<usize> {
        if len > self.longest || !(are_reached || self.states.takes_any) {
            return None;
        }
        let [a, b, c, d] = inputs.registers();
        let absorbing = self.absorbing.as_ref().filter(|_| len > FIRST);
        Some(self.contest.run(len, |is_function| {
            let pass = self.passes[usize::from(is_function)];
            match absorbing {
                // SAFETY: as in `Short::scan`; states that sequences reach lie in all ranges that kernels rely on.
                None => unsafe { pass(len, output, a, b, c, d, states) },
                Some(absorbing) => {
                    // SAFETY: as above.
                    unsafe { absorbing.pass(pass, inputs, output, len, states) };
                    len
                }
            }
        }))
    }

    /// As [`pass`](ShortWhole::pass), over the input.
    ///
    /// # Safety
    /// As for [`Short::replace`] and [`pass`](ShortWhole::pass).
    #[inline]
    pub unsafe fn replace(&self, records: *mut u8, len: usize, states: (*mut u8, bool), parameters: *const u8) -> bool {
        let inputs = ShortInputs::of([records.cast_const()], parameters);
        // SAFETY: an output column may be the input column of a program that reads no neighbouring record.
        self.replaces && unsafe { self.pass(&inputs, records, len, states) }.is_some()
    }
}
