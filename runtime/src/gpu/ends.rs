//! Totals of segments between offsets: another program keeps the states at the end of each.
//!
//! It is the program with one more input column, which flags the last record of each segment, and
//! with all components of all stages as its output, of which those at flags are kept. Segments
//! without records have the start for their total.

use monoscan_ir::{Constant, Mode, Program};
#[cfg(feature = "ptx")]
use monoscan_ir::{FunctionBuilder, Layout, Mapping, Source, Type, Verified, verify};

use crate::call::{Call, Shape};
use crate::column::{Column, ColumnMut};
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

    let identities: Vec<Constant> = program.stages.iter().flat_map(|stage| stage.identity.iter().copied()).collect();
    let start = call.init.same().unwrap_or(&identities);
    let total = |place: usize| {
        let fields = columns.iter().zip(layouts);
        fields.map(move |(bytes, layout)| {
            let (ty, size) = (layout.fields[0].ty, layout.size as usize);
            Constant::from_bytes(ty, &bytes[place * size..][..size])
        })
    };
    // What is kept is in the order of the scan.
    let mut totals = Vec::new();
    let mut before = 0;
    for segment in segments {
        if segment.is_empty() {
            totals.extend_from_slice(start);
        } else {
            totals.extend(total(if call.reversed { count - 1 - before } else { before }));
            before += 1;
        }
    }
    Ok(totals)
}

#[cfg(all(test, feature = "ptx"))]
mod tests {
    use super::*;
    use crate::DynScan;
    use monoscan_ir::{random, text};

    #[test]
    fn segments_have_the_totals_that_the_cpu_engine_gives() {
        let source = "
            program digits
              input { size 8, align 8, u64 @ 0 }
              stage (u64, u64)
                identity (0, 1)
                lift (%0 = record.0: u64) {
                  %1 = const.u64 10
                  return %0, %1
                }
                combine (%0: u64, %1: u64, %2: u64, %3: u64) {
                  %4 = mul.u64 %0, %3
                  %5 = add.u64 %4, %2
                  %6 = mul.u64 %1, %3
                  return %5, %6
                }
              output write
                column { size 8, align 8, u64 @ 0 }
                project (%0 = state.0: u64) { return %0 }";
        let program = verify(text::parse(source).unwrap()).unwrap();
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
