//! The calls of a [`DynScan`]: checked, then run by the [backend](crate::backend).

use monoscan_codegen::cpu::ShortInputs;
use monoscan_ir::{Constant, Layout, Mode, Primitive};
use smallvec::SmallVec;

use crate::backend::{HostTask, Outcome};
use crate::call::{Call, Shape};
use crate::checks;
use crate::column::{self, Column, ColumnMut};
use crate::device::Device;
use crate::dynscan::DynScan;
use crate::engine::{StatesAfter, Whole};
use crate::error::Error;
use crate::loops::States;
use crate::space;
use crate::spacing;

impl DynScan {
    /// For each i the output of the states after element i, into columns of the same length.
    ///
    /// # Errors
    /// If a column has another layout or length than it should; then nothing was written.
    pub fn inclusive_into(&self, inputs: &[Column<'_>], outputs: &mut [ColumnMut<'_>]) -> Result<(), Error> {
        self.run(&Call::default(), inputs, outputs).map(drop)
    }

    /// For each i the output of the states before element i, into columns of the same length.
    ///
    /// # Errors
    /// As [`inclusive_into`](DynScan::inclusive_into).
    pub fn exclusive_into(&self, inputs: &[Column<'_>], outputs: &mut [ColumnMut<'_>]) -> Result<(), Error> {
        self.run(&Call { mode: Mode::Exclusive, ..Call::default() }, inputs, outputs).map(drop)
    }

    /// [`inclusive_into`](DynScan::inclusive_into) a new vector, for a program that writes one column of scalars.
    ///
    /// # Errors
    /// If the program's output or a column is of another type or length, or if there is no memory.
    pub fn inclusive<T: Primitive>(&self, inputs: &[Column<'_>]) -> Result<Vec<T>, Error> {
        self.collect(&Call::default(), inputs)
    }

    /// [`exclusive_into`](DynScan::exclusive_into) a new vector, for a program that writes one column of scalars.
    ///
    /// # Errors
    /// As [`inclusive`](DynScan::inclusive).
    pub fn exclusive<T: Primitive>(&self, inputs: &[Column<'_>]) -> Result<Vec<T>, Error> {
        self.collect(&Call { mode: Mode::Exclusive, ..Call::default() }, inputs)
    }

    /// [`run`](DynScan::run) into a new vector, for a program that writes one column of scalars: all records, or those
    /// that the program keeps, which are counted first if there is no memory for as many as are read.
    ///
    /// # Errors
    /// As [`run`](DynScan::run); also if there is no memory, or for rows with gaps, which would leave records unwritten.
    pub fn collect<T: Primitive>(&self, call: &Call<'_>, inputs: &[Column<'_>]) -> Result<Vec<T>, Error> {
        let len = inputs.first().map_or(0, Column::len);
        check_covers(call, len)?;
        let layout = Layout::of(T::TYPE);
        // SAFETY: the layout is that of `T`, whose every value the program writes is valid, and every record is covered.
        let collect = |len| unsafe { collect(len, &layout, |output| self.run(call, inputs, &mut [output])) };
        match collect(len) {
            Err(Error::OutOfMemory { .. }) if self.program().output.filter.is_some() => match collect(0) {
                Err(Error::OutputTooShort { expected, .. }) => collect(expected),
                none => none,
            },
            collected => collected,
        }
    }

    /// Runs a call, and gives how many records were written: all of its sequences, or those that the program keeps.
    ///
    /// Columns that receive what a program keeps have space for all records, or at least for those kept: with less space than
    /// records, one more pass counts them first.
    ///
    /// # Errors
    /// If a column, the initial state or the shape does not fit the program or the other columns, or if the outputs are too short; then
    /// nothing was written.
    pub fn run(&self, call: &Call<'_>, inputs: &[Column<'_>], outputs: &mut [ColumnMut<'_>]) -> Result<usize, Error> {
        self.write(call, inputs, outputs, &mut States::new())
    }

    /// As [`run`](DynScan::run), with the totals of all sequences, as [`reduce`](DynScan::reduce) gives them: out of one read of
    /// the input, but for segments between offsets, and on a GPU, where a reduction comes first.
    ///
    /// # Errors
    /// As [`run`](DynScan::run).
    pub fn run_with_totals(
        &self,
        call: &Call<'_>,
        inputs: &[Column<'_>],
        outputs: &mut [ColumnMut<'_>],
    ) -> Result<Outcome, Error> {
        let len = checks::columns(self.program(), Device::cpu(), inputs, outputs)?;
        if !self.device().is_cpu() || matches!(call.shape, Shape::Offsets(_)) {
            let totals = self.reduce(call, inputs)?;
            return Ok(Outcome { written: self.run(call, inputs, outputs)?, totals });
        }
        if let Some((written, after)) = self.passed(call, call.mode.into(), (inputs, Some(&mut *outputs), len))? {
            return Ok(Outcome { written, totals: after.components().collect() });
        }
        if let Some((written, totals)) =
            self.passed_spaced(call, call.mode.into(), (inputs, Some(&mut *outputs), len))?
        {
            return Ok(Outcome { written, totals });
        }
        if let Some(total) = self.in_growing_pieces(call, call.mode.into(), (inputs, Some(&mut *outputs), len))? {
            return Ok(Outcome { written: len, totals: total.into_vec() });
        }
        let (written, totals) = self.with_states(call, |call| self.totals(call, (inputs, Some(outputs), len)))?;
        Ok(Outcome { written, totals: self.as_states(totals, false) })
    }

    /// Runs a call whose outputs replace its inputs.
    ///
    /// # Errors
    /// As [`run`](DynScan::run); also if the program's output columns are not laid out as its input columns, if it
    /// reads a neighbouring record, or if it keeps records.
    pub fn run_in_place(&self, call: &Call<'_>, columns: &mut [ColumnMut<'_>]) -> Result<(), Error> {
        self.write_in_place(call, columns, &mut States::new())
    }

    /// As [`run`](DynScan::run), from `carry`, which becomes what the next chunk of the stream goes on from. It has the
    /// components of all stages in order; if the program reads the record before, also what is read of that:
    /// [`first_carry`](DynScan::first_carry) is what a stream starts from.
    ///
    /// # Errors
    /// As [`run`](DynScan::run), and for calls that cannot be resumed: offsets, and reversed scans of flagged segments.
    /// Then the carry is untouched.
    pub fn resume(
        &self,
        call: &Call<'_>,
        carry: &mut [Constant],
        inputs: &[Column<'_>],
        outputs: &mut [ColumnMut<'_>],
    ) -> Result<usize, Error> {
        let mut after = States::new();
        let written = self.write(&call.resuming(&States::from(&*carry)), inputs, outputs, &mut after)?;
        carry.copy_from_slice(&after);
        Ok(written)
    }

    /// As [`run_in_place`](DynScan::run_in_place), from a carry as in [`resume`](DynScan::resume).
    ///
    /// # Errors
    /// As both.
    pub fn resume_in_place(
        &self,
        call: &Call<'_>,
        carry: &mut [Constant],
        columns: &mut [ColumnMut<'_>],
    ) -> Result<(), Error> {
        let mut after = States::new();
        self.write_in_place(&call.resuming(&States::from(&*carry)), columns, &mut after)?;
        carry.copy_from_slice(&after);
        Ok(())
    }

    /// The totals of all sequences, one after the other, the components of all stages each: one sequence for a line, one for each
    /// segment between offsets, one for each row; for flagged segments the total of the last one.
    ///
    /// # Errors
    /// As [`run`](DynScan::run).
    pub fn reduce(&self, call: &Call<'_>, inputs: &[Column<'_>]) -> Result<Vec<Constant>, Error> {
        let len = column::check_inputs(&self.program().inputs, inputs, Device::cpu())?;
        // Short lines spend their time here: no closure, and no copy of the total.
        if let Some((_, total)) = self.passed(call, Whole::Reduce, (inputs, None, len))? {
            return Ok(total.components().collect());
        }
        if let Some((_, totals)) = self.passed_spaced(call, Whole::Reduce, (inputs, None, len))? {
            return Ok(totals);
        }
        if let Some(totals) = self.interleaved_totals(call, inputs, len) {
            return Ok(totals);
        }
        if let Some(total) = self.in_growing_pieces(call, Whole::Reduce, (inputs, None, len))? {
            return Ok(total.into_vec());
        }
        let (_, totals) = self.with_states(call, |call| self.totals(call, (inputs, None, len)))?;
        Ok(self.as_states(totals, false))
    }

    /// Runs a call of the program's states whose columns were checked. Gives how many records were written, and the totals.
    pub(crate) fn totals(
        &self,
        call: &Call<'_>,
        (inputs, outputs, len): (&[Column<'_>], Option<&mut [ColumnMut<'_>]>, usize),
    ) -> Result<(usize, Vec<Constant>), Error> {
        let program = self.program();
        checks::call(program, Device::cpu(), call, len)?;
        checks::parameters(program, self.settings().parameters.values())?;
        let own = program.state_len();
        let components = if call.carry.is_some() { program.carry_len() } else { own };
        let count = call.shape.totals();
        let bytes = count.saturating_mul(components).saturating_mul(size_of::<Constant>());
        let mut totals = Vec::new();
        totals.try_reserve_exact(bytes / size_of::<Constant>()).map_err(|_| Error::OutOfMemory { bytes })?;
        totals.resize(count * components, Constant::from(false));
        let task = HostTask { call, settings: self.settings(), inputs, outputs, len };
        let written = self.backend().run(task, Some(&mut totals))?;
        if components > own {
            totals = totals.chunks_exact(components).flat_map(|total| &total[..own]).copied().collect();
        }
        Ok((written, totals))
    }

    /// Runs a call. Gives how many records were written; `after`, which is empty, gets the carries after a call from carries.
    #[inline]
    fn write(
        &self,
        call: &Call<'_>,
        inputs: &[Column<'_>],
        outputs: &mut [ColumnMut<'_>],
        after: &mut States,
    ) -> Result<usize, Error> {
        let len = checks::columns(self.program(), Device::cpu(), inputs, outputs)?;
        if inputs.iter().all(|column| column.spacing.is_none())
            && let Some(written) = self.scanned(call, inputs.iter().map(|column| column.base), (outputs, false), len)
        {
            return Ok(written);
        }
        if let Some(written) = self.scanned_spaced(call, inputs, outputs, len) {
            return Ok(written);
        }
        self.run_task(call, (inputs, outputs, len), after)
    }

    /// The same over the input.
    fn write_in_place(&self, call: &Call<'_>, columns: &mut [ColumnMut<'_>], after: &mut States) -> Result<(), Error> {
        let program = self.program();
        let len = checks::in_place(program, Device::cpu(), columns)?;
        let bases = columns.iter().map(|column| column.base.cast_const());
        if self.scanned(call, bases, (columns, true), len).is_some() {
            return Ok(());
        }
        let inputs = columns.iter().zip(&program.inputs);
        // SAFETY: the same memory is borrowed for writing. Kernels for the CPU may write over what they read, and nobody makes
        // references to it; for a GPU what is read of a piece, or of the whole, is copied before anything is written there.
        let inputs = inputs.map(|(column, layout)| unsafe { Column::from_raw(column.base, column.len, layout) });
        let inputs = inputs.zip(&*columns).map(|(input, column)| input.spaced(column.spacing));
        let inputs: SmallVec<[Column<'_>; 4]> = inputs.collect();
        if self.scanned_spaced(call, &inputs, columns, len).is_some() {
            return Ok(());
        }
        self.run_task(call, (&inputs, columns, len), after).map(drop)
    }

    /// Checks all of a call but its columns, and runs it, as [`write`](DynScan::write).
    fn run_task(
        &self,
        call: &Call<'_>,
        (inputs, outputs, len): (&[Column<'_>], &mut [ColumnMut<'_>], usize),
        after: &mut States,
    ) -> Result<usize, Error> {
        if let Some((written, states)) = self.passed(call, call.mode.into(), (inputs, Some(&mut *outputs), len))? {
            after.extend(states.components());
            return Ok(written);
        }
        if let Some((written, states)) =
            self.passed_spaced(call, call.mode.into(), (inputs, Some(&mut *outputs), len))?
        {
            after.extend(states);
            return Ok(written);
        }
        if let Some(state) = self.in_growing_pieces(call, call.mode.into(), (inputs, Some(&mut *outputs), len))? {
            after.extend(state);
            return Ok(len);
        }
        self.with_states(call, |call| {
            checks::call(self.program(), Device::cpu(), call, len)?;
            checks::parameters(self.program(), self.settings().parameters.values())?;
            let mut carry = call.carry.map(States::from);
            let task = HostTask { call, settings: self.settings(), inputs, outputs: Some(outputs), len };
            let written = self.backend().run(task, carry.as_deref_mut())?;
            after.extend(carry.into_iter().flat_map(|carry| self.as_states(carry, true)));
            Ok(written)
        })
    }

    /// Whether a kernel of short calls knows all that a call goes on from, and may write all records.
    #[inline]
    pub(crate) fn passes(&self, call: &Call<'_>, outputs: Option<&[ColumnMut<'_>]>, len: usize) -> bool {
        let mut outputs = outputs.unwrap_or_default().iter();
        (call.carry.is_none() || !self.variants().reads_previous) && outputs.all(|output| output.len >= len)
    }

    /// Scans or reduces a short line, of columns that were checked, from the state that it starts from: in one call of a kernel, if
    /// there is one. Gives how many records were written, and the states after the line.
    #[inline(always)]
    pub(crate) fn passed(
        &self,
        call: &Call<'_>,
        work: Whole,
        (inputs, outputs, len): (&[Column<'_>], Option<&mut [ColumnMut<'_>]>, usize),
    ) -> Result<Option<(usize, StatesAfter<'_>)>, Error> {
        let is_line = matches!(call.shape, Shape::Line) && !call.reversed && self.is_plain(call.mode);
        if !is_line || !spacing::is_contiguous(inputs, outputs.as_deref()) {
            return Ok(None);
        }
        if !self.passes(call, outputs.as_deref(), len) {
            return Ok(None);
        }
        let parameters = self.parameters_base();
        let mut bases = ShortInputs::new(parameters);
        bases.extend(inputs.iter().map(|column| column.base), parameters);
        // SAFETY: the columns were checked.
        let short = self.make_short_whole(work, len);
        let Some(short) = short.filter(|short| short.is_for(len)) else { return Ok(None) };
        match self.loop_states() {
            Some(states) if !states.is_of_line(call) => return Ok(None),
            Some(states) => states.check(call, short.takes_any())?,
            None => checks::call(self.program(), Device::cpu(), call, len)?,
        }
        let output = outputs.and_then(|outputs| outputs.first_mut()).map_or(std::ptr::null_mut(), |output| output.base);
        // SAFETY: the columns were checked, and programs with such a kernel have no more of them.
        Ok(unsafe { short.pass_from(call.carry.or(call.init.of_line()), &bases, output, len) })
    }
}

/// Refuses rows that leave records of a new vector unwritten.
pub(crate) fn check_covers(call: &Call<'_>, len: usize) -> Result<(), Error> {
    match call.shape {
        Shape::Rows(rows) => rows.check_covers(len),
        _ => Ok(()),
    }
}

/// A vector of the records of `layout` that `fill` writes, at most `len`; `fill` says how many.
///
/// # Errors
/// [`Error::OutOfMemory`], or what `fill` returns.
///
/// # Safety
/// `layout` is that of `T`, and if `fill` succeeds, it wrote as many records of its column as it says, from the first on.
pub unsafe fn collect<T>(
    len: usize,
    layout: &Layout,
    fill: impl FnOnce(ColumnMut<'_>) -> Result<usize, Error>,
) -> Result<Vec<T>, Error> {
    let mut result = Vec::<T>::new();
    space::reserve(&mut result, len)?;
    // SAFETY: the vector owns space for `len` records, which nobody else sees.
    let written = fill(unsafe { ColumnMut::from_raw(result.as_mut_ptr().cast(), len, layout) })?;
    // SAFETY: `fill` wrote them, the caller promises, and there is space for no more than `len`.
    unsafe { result.set_len(written.min(len)) };
    Ok(result)
}
