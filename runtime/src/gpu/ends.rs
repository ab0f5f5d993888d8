//! Totals of segments, each its own: another program keeps the states at the end of each.
//!
//! It is the program with one more input column, which flags the last record of each segment, and
//! with all components of all stages as its output, of which those at flags are kept. Segments
//! without records have the start for their total. Offsets of the host give the flags there; keys
//! and offsets in device memory give them on the device, by what flags the heads of segments that
//! are scanned the other way.

use monoscan_ir::{Constant, Layout, Mode, Program, Type};
#[cfg(feature = "ptx")]
use monoscan_ir::{FunctionBuilder, Mapping, Source, Verified, verify};

use super::ahead::Helper;
use super::numbers::Numbering;
use super::on_gpu::{OnGpu, SegmentColumns};
use super::task::Task;
use crate::backend::Settings;
use crate::call::{Call, Init, Shape};
use crate::checks;
use crate::column::{Column, ColumnMut, layout_of};
use crate::cuda::{DeviceBuffer, DeviceSlice, Stream};
use crate::error::Error;

/// The program whose output is the states at flags.
#[cfg(feature = "ptx")]
pub(super) fn states_at_ends(program: &Program) -> Result<Verified<Program>, Error> {
    let mut program = program.clone();
    let flag = Source::Record(program.record_types().len() as u32);
    program.inputs.push(Layout::of(Type::Bool));
    let stages = (0..).zip(&program.stages);
    let components = stages.flat_map(|(stage, of)| {
        (0..).zip(&of.state).map(move |(component, &ty)| (Source::After { stage, component }, ty))
    });
    let (sources, types): (Vec<Source>, Vec<Type>) = components.unzip();
    program.output.columns = types.iter().map(|&ty| Layout::of(ty)).collect();
    program.output.project = as_it_is(sources, &types);
    program.output.filter = Some(as_it_is(vec![flag], &[Type::Bool]));
    program.name = format!("{}.ends", program.name);
    Ok(verify(program)?)
}

/// Gives what it reads.
#[cfg(feature = "ptx")]
fn as_it_is(reads: Vec<Source>, types: &[Type]) -> Mapping {
    let mut builder = FunctionBuilder::new();
    let values = builder.params(types);
    Mapping { reads, function: builder.finish(&values) }
}

/// The totals of segments of records, in the order of memory; `run` runs calls of `program`, which [`states_at_ends`]
/// made.
pub(super) fn totals(
    program: &Program,
    call: &Call<'_>,
    offsets: &[usize],
    inputs: &[Column<'_>],
    run: impl FnOnce(&Call<'_>, &[Column<'_>], &mut [ColumnMut<'_>]) -> Result<usize, Error>,
) -> Result<Vec<Constant>, Error> {
    let len = offsets.last().copied().unwrap_or(0);
    let mut ends = vec![false; len];
    let segments = offsets.windows(2).map(|ends| ends[0]..ends[1]);
    let full = || segments.clone().filter(|segment| !segment.is_empty());
    full().for_each(|segment| ends[if call.reversed { segment.start } else { segment.end - 1 }] = true);

    let layouts = &program.output.columns;
    let count = full().count();
    let mut columns: Vec<Vec<u8>> = layouts.iter().map(|layout| vec![0; count * layout.size as usize]).collect();
    let outputs = columns.iter_mut().zip(layouts).map(|(bytes, layout)| ColumnMut::from_bytes(bytes, layout));
    let mut outputs = outputs.collect::<Result<Vec<_>, Error>>()?;
    let mut inputs = inputs.to_vec();
    inputs.push(Column::new(&ends));
    let call = Call {
        mode: Mode::Inclusive,
        reversed: call.reversed,
        init: call.init,
        shape: Shape::Offsets(offsets),
        ..Call::default()
    };
    run(&call, &inputs, &mut outputs)?;

    Ok(in_memory_order(program, &call, &columns, segments.map(|segment| !segment.is_empty())))
}

/// The totals of segments, of which some have records, out of the states that were kept in the order of the scan.
fn in_memory_order(
    program: &Program,
    call: &Call<'_>,
    columns: &[Vec<u8>],
    have_records: impl Iterator<Item = bool>,
) -> Vec<Constant> {
    let layouts = &program.output.columns;
    let count = columns[0].len() / layouts[0].size as usize;
    let identities = program.identities();
    let mut starts = call.init.states(identities.len());
    let mut next_start = || match call.init {
        Init::Each(_) => starts.next(),
        init => init.same(),
    };
    let total = |place: usize| {
        let fields = columns.iter().zip(layouts);
        fields.map(move |(bytes, layout)| {
            let (ty, size) = (layout.fields[0].ty, layout.size as usize);
            Constant::from_bytes(ty, &bytes[place * size..][..size])
        })
    };
    let mut totals = Vec::new();
    let mut before = 0;
    for has_records in have_records {
        let start = next_start();
        if has_records {
            totals.extend(total(if call.reversed { count - 1 - before } else { before }));
            before += 1;
        } else {
            totals.extend_from_slice(start.unwrap_or(&identities));
        }
    }
    totals
}

impl OnGpu {
    /// The totals of all sequences of a call over device memory. Waits for them.
    pub(super) fn totals_on_device(
        &self,
        (call, settings): (&Call<'_>, Settings<'_>),
        inputs: &[Column<'_>],
        stream: &Stream,
    ) -> Result<Vec<Constant>, Error> {
        if !matches!(call.shape, Shape::KeyColumn(_) | Shape::OffsetColumn(_)) {
            return Ok(self.submit_reduce((call, settings), inputs, stream)?.wait()?.totals);
        }
        let device = stream.device();
        let len = Task::reduction((&self.program, self.device.into()), (call, settings), inputs)?.len;
        let at_ends = self.source.at_ends(call)?;
        let offsets = offsets_on_host(call, len, stream)?;
        let flags = DeviceBuffer::<u8>::zeroed(stream, len)?;
        let ends = SegmentColumns { len, flags: flags.address(), numbers: 0 };
        let backwards = Call { reversed: !call.reversed, shape: call.shape, ..Call::default() };
        let marked = self.source.helpers(Helper::Flags)?.mark(&backwards, &ends, stream)?;
        marked.map(|marked| marked.wait()).transpose()?;
        let has_records: Vec<bool> = match &offsets {
            Some(offsets) => offsets.windows(2).map(|ends| ends[0] < ends[1]).collect(),
            None => vec![true; self.count_flags(&ends, stream)?],
        };
        let count = has_records.iter().filter(|&&has| has).count();

        let layouts = &at_ends.program.output.columns;
        let buffer = |layout: &Layout| DeviceBuffer::<u8>::uninitialized(device, count * layout.size as usize);
        let mut kept = layouts.iter().map(buffer).collect::<Result<Vec<_>, _>>()?;
        let outputs = kept.iter_mut().zip(layouts).map(|(buffer, layout)| ColumnMut::on_device_bytes(buffer, layout));
        let outputs = outputs.collect::<Result<Vec<_>, Error>>()?;
        // SAFETY: so many flags are there until the call was waited for.
        let flags = unsafe { Column::on_device_raw(self.device.into(), flags.address(), len, layout_of(Type::Bool)) };
        let columns = [inputs, &[flags]].concat();
        let at_end = Call { reversed: call.reversed, init: call.init, shape: call.shape, ..Call::default() };
        at_ends.submit_call((&at_end, settings), &columns, &outputs, stream)?.wait()?;
        let kept = kept.iter().map(|buffer| buffer.to_vec(stream)).collect::<Result<Vec<_>, _>>()?;
        Ok(in_memory_order(&at_ends.program, call, &kept, has_records.into_iter()))
    }

    /// How many flags are set.
    fn count_flags(&self, flags: &SegmentColumns, stream: &Stream) -> Result<usize, Error> {
        let numbers = DeviceBuffer::<u32>::uninitialized(stream.device(), flags.len)?;
        let columns = SegmentColumns { numbers: numbers.address(), ..*flags };
        let totals = self.source.helpers(Helper::Flags)?.number(Numbering::Flags, &columns, stream)?.wait()?.totals;
        Ok(totals[0].bits() as usize)
    }
}

/// The offsets of a call that has some in device memory, if they cut so many records into segments.
fn offsets_on_host(call: &Call<'_>, len: usize, stream: &Stream) -> Result<Option<Vec<usize>>, Error> {
    let Shape::OffsetColumn(column) = call.shape else { return Ok(None) };
    let size = column.layout.size as usize;
    // SAFETY: so many offsets are there, says the column.
    let bytes = unsafe { DeviceSlice::<u8>::from_raw(stream.device(), column.address(), column.len * size) };
    let mut host = vec![0; column.len * size];
    bytes.copy_to(stream, &mut host)?;
    let offset = |bytes: &[u8]| {
        let mut word = [0; 8];
        word[..size].copy_from_slice(bytes);
        usize::try_from(u64::from_le_bytes(word)).unwrap_or(usize::MAX)
    };
    let offsets: Vec<usize> = host.chunks_exact(size).map(offset).collect();
    checks::check_offsets(&offsets, len)?;
    Ok(Some(offsets))
}

#[cfg(all(test, feature = "ptx"))]
mod tests {
    use super::*;
    use crate::DynScan;
    use scan_kit::{programs, random};

    #[test]
    fn segments_have_the_totals_that_the_cpu_engine_gives() {
        let program = programs::parse(programs::DIGITS);
        let (scan, ends) = (DynScan::new(program.clone()).unwrap(), states_at_ends(&program).unwrap());
        let at_ends = DynScan::new(ends.clone()).unwrap();
        let digits: Vec<u64> = (1..=9).collect();
        let init = [Constant::from(5u64), Constant::from(1u64)];
        for (reversed, init) in [(false, None), (true, None), (false, Some(&init[..])), (true, Some(&init[..]))] {
            for offsets in [&[0usize, 0, 3, 3, 4, 9, 9][..], &[0, 9], &[0, 1, 2, 9]] {
                let call = Call { reversed, init: init.into(), shape: Shape::Offsets(offsets), ..Call::default() };
                let inputs = [Column::new(&digits)];
                let run = |call: &Call<'_>, inputs: &[Column<'_>], outputs: &mut [ColumnMut<'_>]| {
                    at_ends.run(call, inputs, outputs)
                };
                let found = totals(&ends, &call, offsets, &inputs, run).unwrap();
                assert_eq!(found, scan.reduce(&call, &inputs).unwrap(), "{offsets:?} reversed: {reversed}");
            }
        }
    }

    #[test]
    fn any_program_has_one_for_its_ends() {
        for seed in 0..50 {
            let program = verify(random::random_program(seed, &random::Options::default())).unwrap();
            states_at_ends(&program).unwrap();
        }
    }
}
