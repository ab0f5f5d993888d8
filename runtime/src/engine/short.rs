//! Short lines: where a call would cost more than its elements do.
//!
//! A scan of a few elements takes a few nanoseconds, so between a caller that knows its columns and
//! the kernel there is one look whether the kernel is there and one whether the line is short. The
//! kernel has in its code where lines start and takes the columns in registers; how it combines is
//! what the engine would have done. Reductions and resumed scans have such kernels too, which take
//! the whole states from the caller's memory and leave them there; and so do short rows, of which
//! one call does all.

use std::sync::OnceLock;

use monoscan_codegen::cpu::{Access, Kernel, LONGEST_STRAIGHT_ROW, NativeSequencesFn};
use monoscan_codegen::cpu::{ShortFn, ShortInputs, ShortRowsFn, ShortWholeFn};
use monoscan_ir::{Constant, Layout, Mode};

use super::absorbing::{Absorbing, FIRST};
use super::contest::Contest;
use super::line::Line;
use super::totals::Totals;
use super::variant::{Kernels, Variant};
use super::whole::{StatesAfter, WholeStates};
use crate::call::Rows;
use crate::checks;
#[cfg(doc)]
use crate::dynscan::DynScan;
use crate::error::Error;

/// A kernel that scans short lines of a program from the states that they [start](monoscan_ir::Program::start) from, the identities but
/// for loops.
#[doc(hidden)]
pub struct Short {
    /// Code of the variants that this is a part of, and a function of the user's crate or code that calls one.
    generated: ShortFn,
    function: ShortFn,
    contest: Contest,
    /// Most elements of a line that one sequential pass is the way for.
    longest: usize,
    /// Whether the output may be the input.
    replaces: bool,
}

impl Short {
    /// Of a form that is not from an initial state; none if its columns are many or if it has no kernels.
    pub(super) fn of(variant: &Variant) -> Result<Option<Short>, Error> {
        let Some((generated, function)) = Short::codes(variant)? else { return Ok(None) };
        let contest = Contest::with(function.is_some(), variant.is_native_asked());
        let replaces = checks::can_replace(&variant.program).is_ok();
        // Longer lines may end early, which kernels with states in memory see.
        let longest = match variant.ends_early(true) {
            Some(_) => variant.plan.direct.min(FIRST),
            None => variant.plan.direct,
        };
        let function = function.unwrap_or(generated);
        Ok(Some(Short { generated, function, contest, longest, replaces }))
    }

    /// Generated code, and what a function does the same by, if there is one.
    fn codes(variant: &Variant) -> Result<Option<(ShortFn, Option<ShortFn>)>, Error> {
        let checked = |kernels: &Kernels| -> Result<Option<ShortFn>, Error> {
            let Some(code) = kernels.code.short() else { return Ok(None) };
            variant.check(kernels, &[Kernel::Short].into()).map(|()| Some(code))
        };
        let Ok([generated, by_function]) = variant.rivals() else { return Ok(None) };
        let function = match by_function.code.native_short() {
            Some(short) => Some(short),
            None if by_function.code.is_native(Kernel::Short) => checked(by_function)?,
            None => None,
        };
        Ok(checked(generated)?.map(|generated| (generated, function)))
    }

    /// Scans a line of `len` records if it is short enough. Gives how many records it wrote, if it did. Where the user's function
    /// panics, generated code scans the line.
    ///
    /// # Safety
    /// These are the input columns of the program in order, behind them where its [parameters](DynScan::parameters_base) are, and its
    /// output column, with space for all records, borrowed as [`Column`](crate::Column) and [`ColumnMut`](crate::ColumnMut) borrow.
    #[inline]
    pub unsafe fn scan(&self, inputs: &ShortInputs, output: *mut u8, len: usize) -> Option<usize> {
        if len > self.longest {
            return None;
        }
        let [a, b, c, d] = inputs.registers();
        Some(self.contest.run(len, |is_function| {
            if is_function {
                // SAFETY: the columns are what the caller says. The code is there: this is borrowed from the variant that owns it.
                let written = unsafe { (self.function)(len, output, a, b, c, d) };
                if written == len {
                    return len;
                }
            }
            // SAFETY: as above, and the output overlaps no input, so those are as they were.
            unsafe { (self.generated)(len, output, a, b, c, d) }
        }))
    }

    /// As [`scan`](Short::scan), by generated code: the output may be an input column, of a program that can replace its input.
    ///
    /// # Safety
    /// As for [`scan`](Short::scan), but for that.
    #[inline]
    pub(crate) unsafe fn scan_over(&self, inputs: &ShortInputs, output: *mut u8, len: usize) -> Option<usize> {
        let [a, b, c, d] = inputs.registers();
        // SAFETY: as in `scan`. Generated code reads a record before it writes there.
        (len <= self.longest).then(|| unsafe { (self.generated)(len, output, a, b, c, d) })
    }

    /// Whether a line of so many records is short enough.
    #[inline]
    pub fn is_for(&self, len: usize) -> bool {
        len <= self.longest
    }

    /// Whether a function scans them.
    pub(crate) fn is_native(&self) -> bool {
        self.contest.is_function()
    }

    /// As [`scan`](Short::scan), over the input.
    ///
    /// # Safety
    /// This is the one column that the program reads, laid out as the one that it writes, exclusively borrowed; and where its parameters are.
    #[inline]
    pub unsafe fn replace(&self, records: *mut u8, len: usize, parameters: *const u8) -> bool {
        let inputs = ShortInputs::of([records.cast_const()], parameters);
        // SAFETY: an output column may be the input column of a program that reads no neighbouring record.
        self.replaces && unsafe { self.scan_over(&inputs, records, len) }.is_some()
    }
}

/// Kernels that scan short rows of a program from the states that lines start from, all of them in one call.
#[doc(hidden)]
pub struct ShortRows {
    /// Code of the variants that this is a part of: for rows of so many elements, the first for longer ones, once there were such.
    scans: [OnceLock<OfRows>; LONGEST_STRAIGHT_ROW + 1],
    /// Most elements of a row, and of all rows.
    longest: usize,
    most: usize,
}

/// The codes that scan rows of a number of elements.
struct OfRows {
    generated: ShortRowsFn,
    function: Option<NativeSequencesFn>,
    contest: Contest,
}

impl ShortRows {
    /// Of a form that is neither segmented nor from an initial state, without kernels yet; none if its columns are many or if it
    /// keeps some records only.
    pub(super) fn of(variant: &Variant) -> Result<Option<ShortRows>, Error> {
        let Ok(kernels) = variant.kernels(Access::Line) else { return Ok(None) };
        let has_kernels = kernels.code.has_short() && variant.program.output.filter.is_none();
        let (longest, most) = (Line::longest_in_turn(&variant.plan), variant.plan.direct);
        Ok(has_kernels.then(|| ShortRows { scans: Default::default(), longest, most }))
    }

    /// Makes the kernel of rows of so many elements, of the variant that this is a part of, if there is one.
    ///
    /// # Errors
    /// [`Error::Miscompiled`] if it is wrong.
    pub(super) fn make(&self, variant: &Variant, len: usize) -> Result<(), Error> {
        let of_length = self.of_length(len);
        if of_length.get().is_some() {
            return Ok(());
        }
        let kernel = Kernel::ShortRows(len);
        let (Ok(of_lines), Ok([generated, by_function])) = (variant.kernels(Access::Line), variant.rivals()) else {
            return Ok(());
        };
        let function = by_function.code.native_sequences(kernel);
        let kernels = if function.is_some() { generated } else { of_lines };
        variant.settle(kernels, kernel, None)?;
        if let Some(generated) = kernels.code.short_rows(len) {
            variant.check(kernels, &[kernel].into())?;
            let contest = Contest::with(function.is_some(), variant.is_native_asked());
            of_length.get_or_init(|| OfRows { generated, function, contest });
        }
        Ok(())
    }

    #[inline]
    fn of_length(&self, len: usize) -> &OnceLock<OfRows> {
        self.scans.get(len).unwrap_or(&self.scans[0])
    }

    /// Whether rows are scanned this way: all of them together are short enough, and they go in turn.
    #[inline]
    pub(super) fn takes(&self, rows: &Rows) -> bool {
        rows.step() == 1 && (1..=self.longest).contains(&rows.len()) && rows.elements() <= self.most
    }

    /// Scans these rows, which lie within the columns, if all of them together are short enough and there is a kernel. The output may be
    /// an input, if that is said. Gives how many records it wrote, if it did.
    ///
    /// # Safety
    /// As for [`Short::scan`].
    #[inline]
    pub unsafe fn scan(&self, inputs: &ShortInputs, (output, is_input): (*mut u8, bool), rows: &Rows) -> Option<usize> {
        if rows.elements() == 0 {
            return Some(0);
        }
        if !self.takes(rows) {
            return None;
        }
        let OfRows { generated, function, contest } = self.of_length(rows.len()).get()?;
        let [a, b, c, d] = inputs.registers();
        let (count, pitch, len) = (rows.count(), rows.pitch(), rows.len());
        contest.run_beside(is_input, rows.elements(), |is_function| {
            // SAFETY: the columns are what the caller says, and have these rows. The code is there: this is borrowed from the variant
            // that owns it. What a function wrote is no input, so that it can be written again.
            unsafe {
                if is_function
                    && let Some(function) = function
                    && function(count, output, a, b, c, d, std::ptr::null(), pitch, len) == count
                {
                    return;
                }
                generated(count, output, a, b, c, d, pitch, len);
            }
        });
        Some(rows.elements())
    }
}

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
    replaces: bool,
    /// Whether the pass gives the same wherever its records are in a line.
    is_anywhere: bool,
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
            replaces: checks::can_replace(&variant.program).is_ok(),
            is_anywhere: generated.code.is_anywhere(writes),
            alone: variant.plan.alone,
            totals: OnceLock::new(),
        }))
    }

    /// The code that is taken, as far as calls have decided.
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
    pub(crate) fn sequences(&self, from_start: bool) -> Totals<'_> {
        let &ShortWhole { longest, alone, ref states, is_anywhere, .. } = self;
        let pass = self.so_far();
        let start = from_start.then(|| states.start());
        Totals { pass, native: None, longest, has_longer: false, alone, states: &states.layout, start, is_anywhere }
    }

    /// The reduction of many lines, of a kernel that writes nothing and the variant that this is a part of.
    pub(crate) fn totals(&self, variant: &Variant) -> Totals<'_> {
        let by_kernel = self.sequences(true);
        let faster = || {
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
