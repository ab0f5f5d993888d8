//! Loops that become scans, and loops that do not: suites of the literature and of everyday code,
//! each against the Rust function, and against the interpreter.

mod aggregations;
mod by_hand;
mod counters;
mod early;
mod edges;
mod entry;
mod in_blocks;
mod own;
mod published;
mod refusals;
mod replay;
mod requests;
mod segments;
mod speed;
mod tables;
mod times;
mod ways;
mod witness;

use std::fmt::Write as _;
use std::path::Path;

use monoscan::ir::derive::{Derivation, Refusal, derive};
use monoscan::ir::{Constant, Layout, interp, verify};
use monoscan::{Call, Column, ColumnMut, DynScan, Init, PlanOptions};
use scan_kit::Random;

use entry::Entry;

/// The end of a loop's derivation: a line for the record.
fn outcome(entry: &Entry, derived: &Result<Derivation, Refusal>) -> String {
    match derived {
        // Every loop of a suite is written in one place.
        Err(refusal) => format!("{}: refused: {}", entry.name, Refusal { source: None, ..refusal.clone() }),
        Ok(derivation) => {
            let group = |level: usize| {
                let groups = derivation.groups.iter().filter(|group| group.level == level);
                groups.map(|group| format!("{} ({})", group.family, group.components.join(" "))).collect::<Vec<_>>()
            };
            let levels: Vec<String> = (0..derivation.levels()).map(|level| group(level).join(" · ")).collect();
            let trust = match derivation.is_proved() {
                true => "proved",
                false if derivation.is_step_proved() => "the step is proved",
                false => "tested",
            };
            format!("{}: {}; {trust}", entry.name, levels.join(" → "))
        }
    }
}

/// The states after each record, by the Rust function; as long as the step does not overflow in IR.
fn sequential(entry: &Entry, records: &[Vec<Constant>]) -> Vec<Vec<Constant>> {
    let program = &entry.program;
    let mut state = program.initial.clone();
    let mut states = Vec::new();
    for record in records {
        let arguments = [&state[..], record].concat();
        let (in_ir, overflowed) = interp::call_checked(&program.step.function, &arguments, &program.tables);
        let is_small = |c: &Constant| !c.ty().is_float() || c.as_f64().abs() < 1e30;
        if overflowed || !in_ir.iter().all(is_small) {
            break;
        }
        state = (entry.native)(&arguments);
        states.push(state.clone());
    }
    states
}

fn near(got: Constant, expected: Constant) -> bool {
    if !expected.ty().is_float() {
        return got == expected;
    }
    let (got, wanted) = (got.as_f64(), expected.as_f64());
    got == wanted || (got - wanted).abs() <= 1e-6 * wanted.abs().max(1.0)
}

/// Runs the scan of a loop and compares it with the loop, compiled and interpreted.
fn compare(entry: &Entry, derivation: &Derivation, records: usize, seed: u64) {
    let mut random = Random(seed);
    let records: Vec<Vec<Constant>> = (0..records).map(|_| entry.element(&mut random)).collect();
    let expected = sequential(entry, &records);
    let records = &records[..expected.len()];
    let program = &entry.program;
    let mut place = 0;
    let columns: Vec<Vec<u8>> = program
        .inputs
        .iter()
        .map(|layout| {
            let own = place..place + layout.fields.len();
            place = own.end;
            records.iter().flat_map(|record| layout.to_bytes(&record[own.clone()])).collect()
        })
        .collect();
    // Natively `exp` and its kind have other last places.
    let mut state = program.initial.clone();
    let in_ir = records.iter().map(|record| {
        state = interp::call(&program.step.function, &[&state[..], record].concat(), &program.tables);
        state.clone()
    });
    let in_ir: Vec<Vec<Constant>> = in_ir.collect();
    type Agree = fn(Constant, Constant) -> bool;
    let check_by = |what: &str, bytes: &[u8], expected: &[Vec<Constant>], agree: Agree| {
        let layout = &program.output.columns[0];
        for (i, (record, expected)) in bytes.chunks_exact(layout.size as usize).zip(expected).enumerate() {
            let got = layout.from_bytes(record).unwrap();
            let same = got.iter().zip(expected).all(|(&got, &expected)| agree(got, expected));
            assert!(same, "{}, {what}, record {i}: {got:?}, expected {expected:?}", entry.name);
        }
    };
    let check = |what: &str, bytes: &[u8]| check_by(what, bytes, &expected, near);
    let scan = DynScan::from_loop(program).unwrap_or_else(|error| panic!("{}: {error}", entry.name));
    let layout = &program.output.columns[0];
    let mut output = vec![0u8; records.len() * layout.size as usize];
    let inputs: Vec<Column<'_>> =
        columns.iter().zip(&program.inputs).map(|(bytes, layout)| Column::from_bytes(bytes, layout).unwrap()).collect();
    let mut outputs = [ColumnMut::from_bytes(&mut output, layout).unwrap()];
    scan.inclusive_into(&inputs, &mut outputs).unwrap_or_else(|error| panic!("{}: {error}", entry.name));
    check("compiled", &output);
    in_chunks(&scan, &columns, &mut output);
    check("in chunks", &output);
    if let Some(last) = expected.last() {
        let total = scan.reduce(&Default::default(), &inputs).unwrap();
        let same = total.iter().zip(last).all(|(&got, &expected)| near(got, expected));
        assert!(same, "{}, reduced: {total:?}, expected {last:?}", entry.name);
    }

    // One pass is the loop, to the bit.
    let in_one_pass = PlanOptions { direct: Some(usize::MAX), vector: Some(false), ..PlanOptions::default() };
    let scan = DynScan::loop_builder(program).unwrap().plan(in_one_pass.clone()).build().unwrap();
    let mut outputs = [ColumnMut::from_bytes(&mut output, layout).unwrap()];
    scan.inclusive_into(&inputs, &mut outputs).unwrap();
    check_by("in one pass", &output, &in_ir, Constant::same);
    in_chunks(&scan, &columns, &mut output);
    check_by("in chunks, in one pass", &output, &in_ir, Constant::same);
    output.fill(0xa5);
    let scan = (entry.typed)(PlanOptions { native: Some(true), ..in_one_pass }).unwrap();
    let mut outputs = [ColumnMut::from_bytes(&mut output, layout).unwrap()];
    scan.inclusive_into(&inputs, &mut outputs).unwrap();
    check_by("by its own function", &output, &in_ir, Constant::same);
    in_chunks(&scan, &columns, &mut output);
    check_by("in chunks, by its own function", &output, &in_ir, Constant::same);

    let verified = verify(derivation.program.clone()).unwrap_or_else(|error| panic!("{}: {error}", entry.name));
    let seeds = interp::call(&derivation.seed, &program.initial, &verified.tables);
    let mut seeds = seeds.into_iter();
    let init = verified.stages.iter().map(|stage| seeds.by_ref().take(stage.state.len()).collect()).collect();
    let columns: Vec<&[u8]> = columns.iter().map(Vec::as_slice).collect();
    let request = interp::Request { init: Some(init), ..Default::default() };
    let run = interp::run(&verified, &columns, &request).unwrap();
    check_by("interpreted", &run.outputs[0], &in_ir, Constant::same);
}

/// Scans a stream in short chunks and some longer ones, each from the state that the one before left. That is the total of the chunk
/// from where it began, too.
fn in_chunks(scan: &DynScan, columns: &[Vec<u8>], output: &mut [u8]) {
    let (program, mut carry) = (scan.program(), scan.first_carry());
    let layout = &program.output.columns[0];
    let len = output.len() / layout.size as usize;
    let (mut start, mut lengths) = (0, [1, 0, 7, 2, 33, 600].into_iter().cycle());
    while start < len {
        let range = start..len.min(start + lengths.next().expect("there is always one more"));
        let of = |layout: &Layout| range.start * layout.size as usize..range.end * layout.size as usize;
        let inputs: Vec<Column<'_>> = columns
            .iter()
            .zip(&program.inputs)
            .map(|(bytes, layout)| Column::from_bytes(&bytes[of(layout)], layout).unwrap())
            .collect();
        let before = carry.clone();
        let mut outputs = [ColumnMut::from_bytes(&mut output[of(layout)], layout).unwrap()];
        scan.resume(&Call::default(), &mut carry, &inputs, &mut outputs).unwrap();
        if before.len() == scan.state_len() {
            let total = scan.reduce(&Call { init: Init::Same(&before), ..Call::default() }, &inputs).unwrap();
            assert!(total.iter().zip(&carry).all(|(&total, &carry)| near(total, carry)), "{total:?}, {carry:?}");
        }
        start = range.end;
    }
}

/// Derives every loop of a suite, compares each with its loop, and the outcomes with those on record.
fn suite(name: &str, entries: Vec<Entry>) {
    let mut record = String::new();
    let mut derived = 0;
    for (seed, entry) in entries.iter().enumerate() {
        let found = derive(&entry.program);
        writeln!(record, "{}", outcome(entry, &found)).unwrap();
        if let Ok(derivation) = &found {
            derived += 1;
            for records in [5, 70, 3000] {
                compare(entry, derivation, records, seed as u64 + 1);
            }
        }
    }
    writeln!(record, "{derived} of {} derived", entries.len()).unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/loops").join(format!("{name}.txt"));
    if std::env::var_os("MONOSCAN_BLESS").is_some() {
        std::fs::write(&path, &record).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(record, expected, "{}: MONOSCAN_BLESS=1 accepts the new text", path.display());
}

#[test]
fn loops_of_the_literature() {
    suite("published", published::entries());
}

#[test]
fn user_defined_aggregations() {
    suite("aggregations", aggregations::entries());
}

#[test]
fn signals_and_statistics() {
    suite("signals", own::signals());
}

#[test]
fn money_queues_and_rates() {
    suite("money", own::money());
}

#[test]
fn events() {
    suite("events", own::events());
}

#[test]
fn text() {
    suite("text", own::text());
}

#[test]
fn hashes_codes_and_bits() {
    suite("codes", own::codes());
}

#[test]
fn ways_to_write_a_test() {
    suite("ways", ways::ways());
}
