//! Calls of checked scans beside the sequential loop, run natively.
//!
//! Operators are of families whose laws hold where nothing overflows. Records are small numbers
//! with some of the largest among them, so that many loops overflow, and blocks combined in another
//! order do where the loop does not.

use crate::Random;
use crate::families::{FAMILIES, Operator, family};
use monoscan_ir::{Constant, FunctionBuilder, Layout, Mapping, Output, Program, Source, Type, Verified, verify};
use monoscan_runtime::{Call, Column, ColumnMut, Error, Init, Mode, Rows, Shape};

pub const TYPES: [Type; 5] = [Type::I8, Type::U8, Type::I32, Type::U32, Type::I64];

/// The program whose records and outputs are states.
pub fn program(operator: &Operator) -> Verified<Program> {
    let stage = operator.stage();
    let layout = Layout::packed(&stage.state);
    let mut b = FunctionBuilder::new();
    let state = b.params(&stage.state);
    let reads = (0..stage.state.len() as u32).map(Source::State).collect();
    let project = Mapping { reads, function: b.finish(&state) };
    let output = Output { filter: None, project, columns: vec![layout.clone()] };
    verify(Program {
        name: "family".into(),
        tables: vec![],
        inputs: vec![layout],
        parameters: Vec::new(),
        stages: vec![stage],
        output,
        sequential: None,
    })
    .unwrap()
}

fn bytes(operator: &Operator, states: &[Vec<i64>]) -> Vec<u8> {
    let ty = operator.int.0;
    states.iter().flatten().flat_map(|&number| ty.of_i64(number).to_bytes()).collect()
}

/// Valid states: small ones, and the ends of the type as often as `extremes` says.
pub fn records(operator: &Operator, len: usize, extremes: usize, random: &mut Random) -> Vec<Vec<i64>> {
    let (low, high) = (operator.int.lowest(), operator.int.highest());
    let width = operator.identity.len();
    let (mut records, mut before): (Vec<Vec<i64>>, Vec<i64>) = (Vec::new(), operator.identity());
    while records.len() < len {
        let is_extreme = random.below(64) < extremes;
        // Now and then a record is out of order.
        let any_order = operator.follows.is_none() || random.below(256) < extremes;
        let mut state = || {
            let number = match random.below(8) {
                0 if is_extreme => high - random.below(3) as i64,
                1 if is_extreme => low + random.below(3) as i64,
                2 if is_extreme => high / 2 + random.below(3) as i64,
                3 if is_extreme => low / 2 - random.below(3) as i64,
                _ => random.below(5) as i64 - 2,
            };
            number.clamp(low, high)
        };
        let found = (0..16).map(|_| (0..width).map(|_| state()).collect::<Vec<i64>>());
        let found =
            found.into_iter().find(|state| operator.is_valid(state) && (any_order || operator.follows(&before, state)));
        let record = found.unwrap_or_else(|| operator.identity());
        before = operator.combine(&before, &record).unwrap_or(before);
        records.push(record);
    }
    records
}

/// Five records of large numbers, one after the other, among identities: together they overflow, but not from the lowest
/// number on.
fn climb(operator: &Operator, len: usize, random: &mut Random) -> Vec<Vec<i64>> {
    let large = vec![operator.int.highest() / 3; operator.identity.len()];
    let first = random.below(len);
    let is_large = |place: usize| (first..first + 5).contains(&place) && operator.is_valid(&large);
    (0..len).map(|place| if is_large(place) { large.clone() } else { operator.identity() }).collect()
}

/// The valid state that begins with the lowest number and has zeros behind it, if it is one.
fn lowest(operator: &Operator) -> Vec<i64> {
    let mut state = vec![0; operator.identity.len()];
    state[0] = operator.int.lowest();
    if operator.is_valid(&state) { state } else { operator.identity() }
}

/// The faults of a loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    /// Native Rust panics.
    Overflow,
    /// A record does not follow those before it.
    Order,
}

/// The states before and after each record of one run, or the place in the run at which something goes wrong first.
fn native(operator: &Operator, start: &[i64], run: &[&Vec<i64>]) -> Result<Vec<[Vec<i64>; 2]>, (usize, Fault)> {
    let mut state = start.to_vec();
    let mut states = Vec::new();
    for (place, record) in run.iter().enumerate() {
        if !operator.follows(&state, record) {
            return Err((place, Fault::Order));
        }
        let after = operator.combine(&state, record).ok_or((place, Fault::Overflow))?;
        states.push([std::mem::replace(&mut state, after.clone()), after]);
    }
    Ok(states)
}

/// How calls ended.
#[derive(Default, Debug)]
pub struct Seen {
    pub equal: usize,
    pub overflowed: usize,
    pub regrouped: usize,
    pub out_of_order: usize,
}

/// Each run by its place in memory, with its record numbers in the order of the scan.
fn runs(shape: &Shape<'_>, len: usize, reversed: bool) -> Vec<(usize, Vec<usize>)> {
    let runs: Vec<Vec<usize>> = match *shape {
        Shape::Line => vec![(0..len).collect()],
        Shape::Heads(flags) => {
            let mut starts: Vec<usize> = (0..len).filter(|&i| i == 0 || flags[i]).collect();
            starts.push(len);
            starts.windows(2).map(|pair| (pair[0]..pair[1]).collect()).collect()
        }
        Shape::Offsets(offsets) => offsets.windows(2).map(|pair| (pair[0]..pair[1]).collect()).collect(),
        Shape::Rows(rows) => {
            (0..len / rows.len()).map(|row| (row * rows.len()..(row + 1) * rows.len()).collect()).collect()
        }
        _ => unreachable!("no other shape is asked for"),
    };
    let mut runs: Vec<(usize, Vec<usize>)> = runs.into_iter().enumerate().collect();
    if reversed {
        runs.iter_mut().for_each(|(_, run)| run.reverse());
        // A reversed line takes its segments from the last to the first; rows are taken by their numbers.
        if !matches!(shape, Shape::Rows(_)) {
            runs.reverse();
        }
    }
    runs
}

/// Runs a call.
pub type Run<'a> = &'a dyn Fn(&Call<'_>, &[Column<'_>], &mut [ColumnMut<'_>]) -> Result<usize, Error>;

/// Compares a call of the program of an operator, run by a checked scan, with the loop; of the seeds there is one for all
/// runs, or one for each.
fn compare(
    operator: &Operator,
    run: Run<'_>,
    call: &Call<'_>,
    states: &[Vec<i64>],
    seeds: &[Vec<i64>],
    seen: &mut Seen,
) {
    let input = bytes(operator, states);
    let layout = &Layout::packed(&vec![operator.int.0; operator.identity.len()]);
    let mut output = vec![0u8; input.len()];
    let result = {
        let inputs = [Column::from_bytes(&input, layout).unwrap()];
        run(call, &inputs, &mut [ColumnMut::from_bytes(&mut output, layout).unwrap()])
    };
    let mut expected = vec![Vec::new(); states.len()];
    let mut first_fault = None;
    for (place, run) in runs(&call.shape, states.len(), call.reversed) {
        let records: Vec<&Vec<i64>> = run.iter().map(|&record| &states[record]).collect();
        match native(operator, &seeds[place % seeds.len()], &records) {
            Ok(found) => {
                for (&record, [before, after]) in run.iter().zip(found) {
                    expected[record] = if call.mode == Mode::Inclusive { after } else { before };
                }
            }
            Err((place, fault)) => {
                first_fault = first_fault.or(Some((run[place], fault)));
            }
        }
    }
    let what = || format!("{call:?} from {seeds:?} of {} {operator:?}\n{states:?}", states.len());
    match (result, first_fault) {
        (Ok(_), None) => {
            assert!(output == bytes(operator, &expected), "another result: {}", what());
            seen.equal += 1;
        }
        (Err(Error::Overflowed { index, function }), Some(first)) => {
            assert_eq!((index, Fault::Overflow), first, "{function}: {}", what());
            seen.overflowed += 1;
        }
        (Err(Error::OutOfOrder { index, stage: None }), Some(first)) => {
            assert_eq!((index, Fault::Order), first, "{}", what());
            seen.out_of_order += 1;
        }
        // The state that differs is met before the loop's overflow, or the loop has none.
        (Err(Error::Regrouped { index }), first) => {
            let mut order = runs(&call.shape, states.len(), call.reversed).into_iter().flat_map(|(_, run)| run);
            let met = order.find(|&record| record == index || Some(record) == first.map(|(record, _)| record));
            assert_eq!(met, Some(index), "the loop goes wrong at {first:?}: {}", what());
            seen.regrouped += 1;
        }
        (result, fault) => panic!("{result:?} for {fault:?}: {}", what()),
    }
}

/// Compares a call for so many records, drawn at random; `may_start_each` is whether runs may start from states of their own.
pub fn compare_any(
    operator: &Operator,
    run: Run<'_>,
    len: usize,
    may_start_each: bool,
    random: &mut Random,
    seen: &mut Seen,
) {
    let extremes = [0, 4, 16, 64][random.below(4)];
    let (states, start) = match random.below(4) {
        0 => (climb(operator, len, random), lowest(operator)),
        1 => (records(operator, len, extremes, random), records(operator, 1, 64, random).remove(0)),
        _ => (records(operator, len, extremes, random), operator.identity()),
    };
    let flags: Vec<bool> = (0..len).map(|_| random.below(9) == 0).collect();
    let mut offsets: Vec<usize> = (0..random.below(4)).map(|_| random.below(len + 1)).collect();
    offsets.extend([0, len]);
    offsets.sort();
    let rows = (1..=len).rev().find(|rows| len.is_multiple_of(*rows) && *rows <= 5).unwrap();
    let shape = match random.below(5) {
        0 => Shape::Heads(&flags),
        1 => Shape::Offsets(&offsets),
        2 => Shape::Rows(Rows::new(rows, len / rows, len / rows).unwrap()),
        _ => Shape::Line,
    };
    let mode = if random.below(3) == 0 { Mode::Exclusive } else { Mode::Inclusive };
    let reversed = random.below(3) == 0;
    let is_each = may_start_each && random.chance(2);
    let seeds = match is_each {
        true => records(operator, runs(&shape, len, reversed).len(), extremes, random),
        false => vec![start],
    };
    let constants: Vec<Constant> = seeds.iter().flatten().map(|&number| operator.int.0.of_i64(number)).collect();
    let init = if is_each { Init::Each(&constants) } else { Init::Same(&constants) };
    let call = Call { mode, reversed, init, shape, ..Call::default() };
    compare(operator, run, &call, &states, &seeds, seen);
}

/// An operator of some family over some type.
pub fn any_operator(seed: u64, random: &mut Random) -> Operator {
    family(seed as usize % FAMILIES, TYPES[random.below(TYPES.len())])
}
