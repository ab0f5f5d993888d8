//! Checked scans against the sequential loop, run natively: the same first overflow, or the same results.
//!
//! Operators are of families whose laws hold where nothing overflows. Records are small numbers with some of the largest
//! among them, so that many loops overflow, and blocks combined in another order do where the loop does not.

#[allow(dead_code, reason = "the judge's tests use the rest")]
#[path = "../../../scan-ir/tests/near_misses/families.rs"]
mod families;
#[path = "../../../scan-ir/tests/near_misses/operator.rs"]
mod operator;

use families::{FAMILIES, Noise, family};
use operator::Operator;
use scan_ir::{Constant, FunctionBuilder, Layout, Mapping, Output, Program, Source, Type, Verified, verify};
use scan_runtime::{Call, Column, ColumnMut, DynScan, Error, Mode, PlanOptions, Rows, Shape};

const TYPES: [Type; 5] = [Type::I8, Type::U8, Type::I32, Type::U32, Type::I64];

/// The program whose records and outputs are states.
fn program(operator: &Operator) -> Verified<Program> {
    let stage = operator.stage();
    let layout = Layout::packed(&stage.state);
    let mut b = FunctionBuilder::new();
    let state = b.params(&stage.state);
    let reads = (0..stage.state.len() as u32).map(Source::State).collect();
    let project = Mapping { reads, function: b.finish(&state) };
    let output = Output { keep: None, project, columns: vec![layout.clone()] };
    verify(Program { name: "family".into(), tables: vec![], inputs: vec![layout], stages: vec![stage], output })
        .unwrap()
}

fn bytes(operator: &Operator, states: &[Vec<i64>]) -> Vec<u8> {
    let ty = operator.int.0;
    states.iter().flatten().flat_map(|&number| ty.of_i64(number).to_bytes()).collect()
}

/// Valid states: small ones, and the ends of the type as often as `extremes` says.
fn records(operator: &Operator, len: usize, extremes: usize, noise: &mut Noise) -> Vec<Vec<i64>> {
    let (low, high) = (operator.int.lowest(), operator.int.highest());
    let width = operator.identity.len();
    let mut records: Vec<Vec<i64>> = Vec::new();
    while records.len() < len {
        let is_extreme = noise.below(64) < extremes;
        let mut state = || {
            let number = match noise.below(8) {
                0 if is_extreme => high - noise.below(3) as i64,
                1 if is_extreme => low + noise.below(3) as i64,
                2 if is_extreme => high / 2 + noise.below(3) as i64,
                3 if is_extreme => low / 2 - noise.below(3) as i64,
                _ => noise.below(5) as i64 - 2,
            };
            number.clamp(low, high)
        };
        let found = (0..16).map(|_| (0..width).map(|_| state()).collect::<Vec<i64>>());
        let found = found.into_iter().find(|state| operator.is_valid(state));
        records.push(found.unwrap_or_else(|| operator.identity()));
    }
    records
}

/// The states before and after each record of one run, or the place in the run at which native Rust panics first.
fn native(operator: &Operator, start: &[i64], run: &[&Vec<i64>]) -> Result<Vec<[Vec<i64>; 2]>, usize> {
    let mut state = start.to_vec();
    let mut states = Vec::new();
    for (place, record) in run.iter().enumerate() {
        let after = operator.combine(&state, record).ok_or(place)?;
        states.push([std::mem::replace(&mut state, after.clone()), after]);
    }
    Ok(states)
}

/// How calls ended.
#[derive(Default, Debug)]
struct Seen {
    equal: usize,
    overflowed: usize,
    regrouped: usize,
}

/// The record numbers of each run, in the order of the scan.
fn runs(shape: &Shape<'_>, len: usize, reversed: bool) -> Vec<Vec<usize>> {
    let mut runs: Vec<Vec<usize>> = match *shape {
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
    if reversed {
        runs.iter_mut().for_each(|run| run.reverse());
        // A reversed line takes its segments from the last to the first; rows are taken by their numbers.
        if !matches!(shape, Shape::Rows(_)) {
            runs.reverse();
        }
    }
    runs
}

fn compare(operator: &Operator, scan: &DynScan, call: &Call<'_>, states: &[Vec<i64>], seed: &[i64], seen: &mut Seen) {
    let input = bytes(operator, states);
    let layout = &scan.program().inputs[0];
    let mut output = vec![0u8; input.len()];
    let result = {
        let inputs = [Column::from_bytes(&input, layout).unwrap()];
        scan.run(call, &inputs, &mut [ColumnMut::from_bytes(&mut output, layout).unwrap()])
    };
    let mut expected = vec![Vec::new(); states.len()];
    let mut overflow = None;
    for run in runs(&call.shape, states.len(), call.reversed) {
        let records: Vec<&Vec<i64>> = run.iter().map(|&record| &states[record]).collect();
        match native(operator, seed, &records) {
            Ok(found) => {
                for (&record, [before, after]) in run.iter().zip(found) {
                    expected[record] = if call.mode == Mode::Inclusive { after } else { before };
                }
            }
            Err(place) => {
                overflow = overflow.or(Some(run[place]));
            }
        }
    }
    let what = || format!("{call:?} from {seed:?} of {} {operator:?}\n{states:?}", states.len());
    match (result, overflow) {
        (Ok(_), None) => {
            assert!(output == bytes(operator, &expected), "another result: {}", what());
            seen.equal += 1;
        }
        (Err(Error::Overflowed { index, function }), Some(first)) => {
            assert_eq!(index, first, "{function}: {}", what());
            seen.overflowed += 1;
        }
        // The state that differs is met before the loop's overflow, or the loop has none.
        (Err(Error::Regrouped { index }), first) => {
            let mut order = runs(&call.shape, states.len(), call.reversed).into_iter().flatten();
            let met = order.find(|&record| record == index || Some(record) == first);
            assert_eq!(met, Some(index), "the loop overflows at {first:?}: {}", what());
            seen.regrouped += 1;
        }
        (result, overflow) => panic!("{result:?} for {overflow:?}: {}", what()),
    }
}

fn rounds() -> u64 {
    let rounds = std::env::var("MONOSCAN_ROUNDS").ok().and_then(|rounds| rounds.parse().ok());
    rounds.unwrap_or(1)
}

#[test]
fn a_checked_scan_gives_what_the_loop_gives_or_its_first_overflow() {
    let mut seen = Seen::default();
    for seed in 0..24 * rounds() {
        let mut noise = Noise(seed);
        let operator = family(seed as usize % FAMILIES, TYPES[noise.below(TYPES.len())]);
        let plan = PlanOptions {
            ways: Some(1 << noise.below(3)),
            block: Some(1 + noise.below(9)),
            strips: Some(1 + noise.below(2)),
            direct: Some(noise.below(2) * 8),
            vector: None,
        };
        let threads = 1 + 2 * noise.below(2);
        let scan = DynScan::builder(program(&operator)).plan(plan).threads(threads).assume_associative().build();
        let scan = scan.unwrap().checked();
        for round in 0..24 {
            let len = [1, 2, 7, 40, 150][noise.below(5)];
            let extremes = [0, 8, 48][round % 3];
            let states = records(&operator, len, extremes, &mut noise);
            let start = match noise.below(3) {
                0 => records(&operator, 1, 8, &mut noise).remove(0),
                _ => operator.identity(),
            };
            let seed: Vec<Constant> = start.iter().map(|&number| operator.int.0.of_i64(number)).collect();
            let flags: Vec<bool> = (0..len).map(|_| noise.below(9) == 0).collect();
            let mut offsets: Vec<usize> = (0..noise.below(4)).map(|_| noise.below(len + 1)).collect();
            offsets.extend([0, len]);
            offsets.sort();
            let rows = (1..=len).rev().find(|rows| len % rows == 0 && *rows <= 5).unwrap();
            let shape = match noise.below(5) {
                0 => Shape::Heads(&flags),
                1 => Shape::Offsets(&offsets),
                2 => Shape::Rows(Rows::new(rows, len / rows, len / rows).unwrap()),
                _ => Shape::Line,
            };
            let mode = if noise.below(3) == 0 { Mode::Exclusive } else { Mode::Inclusive };
            let call = Call { mode, reversed: noise.below(3) == 0, seed: Some(&seed), shape };
            compare(&operator, &scan, &call, &states, &start, &mut seen);
        }
    }
    println!("{seen:?}");
    assert!(seen.equal > 100 && seen.overflowed > 100 && seen.regrouped > 0, "{seen:?}");
}
