//! Checks of a call against its program and its columns: all of them are made before any generated
//! code runs.

use monoscan_ir::{Constant, Layout, Program, Source, Type};

use crate::call::{Call, Init, Shape};
use crate::column::{self, Column, ColumnMut};
use crate::device::{Device, DeviceError};
use crate::error::Error;
use crate::refused::{Argument, Combination, ExpectedOffset, InPlaceError};
use crate::spacing::SpacingError;

/// The types of the components of all stages, in order.
pub(crate) fn state_types(program: &Program) -> impl Iterator<Item = Type> {
    program.stages.iter().flat_map(|stage| stage.state.iter().copied())
}

/// The states of all stages, packed.
#[cfg(feature = "cuda")]
pub(crate) fn state_layout(program: &Program) -> Layout {
    Layout::packed(&state_types(program).collect::<Vec<_>>())
}

/// The types of what a stream carries; see [`Program::first_carry`].
fn carry_types(program: &Program) -> impl Iterator<Item = Type> {
    let previous = program.reads_previous().then(|| program.first_carry().split_off(program.state_len()));
    state_types(program).chain(previous.into_iter().flatten().map(|component| component.ty()))
}

/// Checks a call that writes to other columns than it reads. Gives the number of records.
pub(crate) fn columns(
    program: &Program,
    device: Device,
    inputs: &[Column<'_>],
    outputs: &[ColumnMut<'_>],
) -> Result<usize, Error> {
    let len = column::check_inputs(&program.inputs, inputs, device)?;
    // What is kept is counted later.
    let expected = program.output.filter.is_none().then_some(len);
    column::check_outputs(&program.output.columns, outputs, expected, device)?;
    Ok(len)
}

/// Checks a call whose outputs replace its inputs. Gives the number of records.
pub(crate) fn in_place(program: &Program, device: Device, columns: &[ColumnMut<'_>]) -> Result<usize, Error> {
    can_replace(program)?;
    let len = columns.first().map_or(0, ColumnMut::len);
    column::check_outputs(&program.output.columns, columns, Some(len), device)?;
    Ok(len)
}

/// Checks that the outputs of a program may replace its inputs.
pub(crate) fn can_replace(program: &Program) -> Result<(), Error> {
    if program.output.filter.is_some() {
        return Err(InPlaceError::Keeps.into());
    }
    let mut reads = program.mappings().flat_map(|mapping| &mapping.reads);
    if reads.any(|source| matches!(source, Source::Next(_) | Source::Prev(_))) {
        return Err(InPlaceError::ReadsNeighbour.into());
    }
    let is_same = |input: &Layout, output: &Layout| column::fits(input, output);
    let (inputs, outputs) = (&program.inputs, &program.output.columns);
    if inputs.len() != outputs.len() || !inputs.iter().zip(outputs).all(|(input, output)| is_same(input, output)) {
        return Err(InPlaceError::OtherColumns { inputs: inputs.clone(), outputs: outputs.clone() }.into());
    }
    Ok(())
}

/// Checks everything of a call but its columns, which have `len` records each and are in the memory of this device.
pub(crate) fn call(program: &Program, device: Device, call: &Call<'_>, len: usize) -> Result<(), Error> {
    call.go_on()?;
    shape(program, device, call, len)?;
    match call.init {
        Init::Identity => {}
        Init::Same(init) => state(|| state_types(program), "init", init)?,
        Init::Each(all) => {
            let own = program.state_len();
            let resumes = call.carry.is_some();
            // What a device knows is counted there, if there are records; here, that there is a state for the first.
            let least = usize::from(!resumes);
            let begun = call.shape.begun(resumes);
            let begun = begun.unwrap_or_else(|| if len == 0 { least } else { least.max(all.len() / own) });
            states(|| state_types(program), "init_each", begun, all)?;
        }
    }
    match (call.carry, call.shape) {
        (None, _) => Ok(()),
        (Some(carry), Shape::Rows(rows)) => states(|| carry_types(program), "carry", rows.count(), carry),
        // Several carries of a line are of another number, not of another type.
        (Some(carry), _) if carry.len() >= 2 * carry_types(program).count() => {
            states(|| carry_types(program), "carry", 1, carry)
        }
        (Some(carry), _) => state(|| carry_types(program), "carry", carry),
    }
}

/// Checks which records are scanned on their own.
pub(crate) fn shape(program: &Program, device: Device, call: &Call<'_>, len: usize) -> Result<(), Error> {
    let resumes = call.carry.is_some();
    match call.shape {
        Shape::Line => Ok(()),
        Shape::Heads(_) | Shape::HeadBits(_) | Shape::Offsets(_) if !device.is_cpu() => {
            Err(DeviceError::Segments { device }.into())
        }
        Shape::FlagColumn(_) | Shape::KeyColumn(_) | Shape::OffsetColumn(_) if device.is_cpu() => {
            Err(DeviceError::Segments { device }.into())
        }
        Shape::Heads(flags) => {
            flag_count(flags.len(), len)?;
            resumed_heads(resumes, call.reversed)
        }
        Shape::HeadBits(bits) => {
            flag_count(bits.len(), len)?;
            resumed_heads(resumes, call.reversed)
        }
        Shape::FlagColumn(flags) => {
            column::is_on("column of flags", &flags.device, device)?;
            contiguous("column of flags", flags)?;
            let expected = column::layout_of(Type::U8);
            if flags.layout.size != 1 {
                let (expected, got) = (Box::new(expected.clone()), Box::new(Layout::clone(&flags.layout)));
                return Err(Error::Layout { argument: Argument::Flags, expected, got });
            }
            flag_count(flags.len, len)?;
            resumed_heads(resumes, call.reversed)
        }
        Shape::KeyColumn(keys) => {
            column::is_on("column of keys", &keys.device, device)?;
            contiguous("column of keys", keys)?;
            if keys.len != len {
                return Err(Error::Length { argument: Argument::Keys, expected: len, got: keys.len });
            }
            refuse(resumes, Combination::ResumedKeys)
        }
        Shape::OffsetColumn(offsets) => {
            column::is_on("column of offsets", &offsets.device, device)?;
            contiguous("column of offsets", offsets)?;
            let [expected, wide] = [Type::U32, Type::U64].map(column::layout_of);
            if ![expected, wide].into_iter().any(|layout| column::fits(layout, &offsets.layout)) {
                let (expected, got) = (Box::new(expected.clone()), Box::new(Layout::clone(&offsets.layout)));
                return Err(Error::Layout { argument: Argument::Offsets, expected, got });
            }
            let Some(segments) = offsets.len.checked_sub(1) else {
                return Err(Error::TooFewOffsets { records: len });
            };
            refuse(resumes, Combination::ResumedOffsets { segments })
        }
        Shape::Offsets(offsets) => {
            check_offsets(offsets, len)?;
            refuse(resumes, Combination::ResumedOffsets { segments: offsets.len() - 1 })
        }
        Shape::Rows(rows) => {
            rows.check_within(len)?;
            refuse(program.output.filter.is_some(), Combination::KeptOfRows { rows: rows.count() })
        }
    }
}

/// The records of a column that tells segments lie one after the other.
fn contiguous(argument: &'static str, column: &Column<'_>) -> Result<(), Error> {
    match column.spacing {
        None => Ok(()),
        Some(_) => Err(SpacingError::Segments { argument }.into()),
    }
}

/// There is a flag for each record.
fn flag_count(got: usize, expected: usize) -> Result<(), Error> {
    if got == expected { Ok(()) } else { Err(Error::Length { argument: Argument::Flags, expected, got }) }
}

/// Refuses to resume a reversed scan of flagged segments.
fn resumed_heads(resumes: bool, reversed: bool) -> Result<(), Error> {
    refuse(resumes && reversed, Combination::ResumedFromEnd)
}

fn refuse(is_asked: bool, what: Combination) -> Result<(), Error> {
    if is_asked { Err(what.into()) } else { Ok(()) }
}

/// Checks that the parameters of a program have values, of their types.
#[inline]
pub(crate) fn parameters(program: &Program, values: &[Constant]) -> Result<(), Error> {
    let got = || values.iter().map(|value| value.ty());
    if got().eq(program.parameters.iter().copied()) {
        return Ok(());
    }
    Err(Error::Parameters { expected: program.parameters.clone(), got: got().collect() })
}

/// A state has these components in order.
fn state<I: Iterator<Item = Type>>(
    types: impl Fn() -> I,
    argument: &'static str,
    state: &[Constant],
) -> Result<(), Error> {
    let got = || state.iter().map(|component| component.ty());
    if got().eq(types()) {
        return Ok(());
    }
    Err(Error::State { argument, expected: types().collect(), got: got().collect() })
}

/// There are so many states, each with these components in order.
fn states<I: Iterator<Item = Type>>(
    types: impl Fn() -> I,
    argument: &'static str,
    expected: usize,
    states: &[Constant],
) -> Result<(), Error> {
    let components = types().count();
    states.chunks(components).try_for_each(|one| state(&types, argument, one))?;
    let got = states.len() / components;
    if got == expected { Ok(()) } else { Err(Error::StateCount { argument, expected, got }) }
}

/// Offsets that cut so many records into segments.
///
/// # Errors
/// [`Error::Offsets`] and [`Error::TooFewOffsets`].
pub fn check_offsets(offsets: &[usize], len: usize) -> Result<(), Error> {
    bound_of_longest(offsets, len).map(drop)
}

/// Checks the same, and gives a bound of the longest segment's records: at most twice as many.
pub(crate) fn bound_of_longest(offsets: &[usize], len: usize) -> Result<usize, Error> {
    let wrong = |place: usize, expected: ExpectedOffset| {
        let got = offsets.get(place).copied().unwrap_or(0);
        Err(Error::Offsets { place, expected, got })
    };
    if offsets.is_empty() || offsets.len() == 1 && len > 0 {
        return Err(Error::TooFewOffsets { records: len });
    }
    if offsets[0] != 0 {
        return wrong(0, ExpectedOffset::First);
    }
    let last = offsets.len() - 1;
    // The bits of all lengths, without a branch for each. If the count times the bits does not overflow, no sum of lengths does, so
    // that offsets never fall.
    let bits = offsets.windows(2).fold(0, |bits, pair| bits | pair[1].wrapping_sub(pair[0]));
    if bits.checked_mul(last).is_some() && offsets[last] == len {
        return Ok(bits);
    }
    let fall = offsets.windows(2).position(|pair| pair[0] > pair[1]);
    if fall.is_none() && offsets[last] == len {
        return Ok(bits);
    }
    // The first one that is too large tells more than the last.
    match (offsets[..last].iter().position(|&offset| offset > len), fall) {
        (Some(place), _) => wrong(place, ExpectedOffset::AtMost { records: len }),
        (None, Some(place)) if offsets[last] == len => {
            wrong(place + 1, ExpectedOffset::AtLeast { before: offsets[place] })
        }
        _ => wrong(last, ExpectedOffset::Last { records: len }),
    }
}
