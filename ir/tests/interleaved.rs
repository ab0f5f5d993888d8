//! A program of interleaved rows does to each row what the program does to the row alone.

mod common;

use common::random_inputs;
use monoscan_ir::interp::{self, Mode, Request, Run};
use monoscan_ir::transform::{Form, interleaved, lower};
use monoscan_ir::{Constant, Layout, Program, Verified, WellTyped, verify};
use scan_kit::random::{Options, random_loop, random_program};

const COUNT: usize = 9;

fn interpret(program: &impl WellTyped, inputs: &[Vec<u8>], request: &Request) -> Run {
    interp::run(program, &inputs.iter().map(Vec::as_slice).collect::<Vec<_>>(), request).unwrap()
}

/// Record i of each row, then record i + 1.
fn zip(columns: &[&[u8]], layout: &Layout) -> Vec<u8> {
    let record = |i: usize| {
        let bytes = i * layout.size as usize..(i + 1) * layout.size as usize;
        columns.iter().flat_map(move |column| column[bytes.clone()].to_vec())
    };
    (0..COUNT).flat_map(record).collect()
}

/// The states of rows, in the order of the program of all of them: stage by stage.
fn joined(rows: &[Vec<Vec<Constant>>]) -> Vec<Vec<Constant>> {
    (0..rows[0].len()).map(|stage| rows.iter().flat_map(|row| row[stage].clone()).collect()).collect()
}

/// Compares the program of so many rows with each of them alone, from identities and from states of their own.
fn compare(program: &Verified<Program>, rows: usize, seed: u64) -> bool {
    let Some(all) = interleaved(program, rows) else { return false };
    let of_rows: Vec<Vec<Vec<u8>>> =
        (0..rows as u64).map(|row| random_inputs(program, COUNT, seed ^ row << 32)).collect();
    let of_column = |(column, layout): (usize, &Layout)| {
        let columns: Vec<&[u8]> = of_rows.iter().map(|row| &row[column][..]).collect();
        zip(&columns, layout)
    };
    let inputs: Vec<Vec<u8>> = program.inputs.iter().enumerate().map(of_column).collect();
    for mode in [Mode::Inclusive, Mode::Exclusive] {
        let form = Form { mode, ..Form::default() };
        let (one, all) = (lower(program, form), lower(&all, form));
        let mut inits: Vec<Option<Vec<Vec<Constant>>>> = vec![None; rows];
        for _ in 0..2 {
            let parameters: Vec<Constant> = program.parameters.iter().map(|ty| ty.of_i64(2)).collect();
            let request = |init: Option<Vec<Vec<Constant>>>| Request {
                init,
                parameters: parameters.clone(),
                ..Request::default()
            };
            let alone: Vec<Run> =
                of_rows.iter().zip(&inits).map(|(row, init)| interpret(&one, row, &request(init.clone()))).collect();
            let own: Option<Vec<Vec<Vec<Constant>>>> = inits.iter().cloned().collect();
            let together = interpret(&all, &inputs, &request(own.map(|own| joined(&own))));
            for (column, layout) in program.output.columns.iter().enumerate() {
                let columns: Vec<&[u8]> = alone.iter().map(|run| &run.outputs[column][..]).collect();
                assert_eq!(
                    together.outputs[column],
                    zip(&columns, layout),
                    "{rows} rows, column {column}, {mode:?}\n{}",
                    **program
                );
            }
            let after: Vec<Vec<Vec<Constant>>> = alone.into_iter().map(|run| run.states_after).collect();
            assert_eq!(together.states_after, joined(&after), "{rows} rows, {mode:?}\n{}", **program);
            inits = after.into_iter().map(Some).collect();
        }
    }
    true
}

#[test]
fn rows_together_are_rows_alone() {
    let mut tried = 0;
    for seed in 0..150 {
        let options = Options { stages: 3, allow_previous: true, allow_init: true, ..Options::default() };
        let program = verify(random_program(seed, &options)).expect("random programs verify");
        tried += usize::from(compare(&program, 2 + seed as usize % 5, seed));
    }
    assert!(tried > 80, "{tried}");
}

#[test]
fn loops_together_are_loops_alone() {
    let mut tried = 0;
    for seed in 0..400 {
        let Ok(derived) = monoscan_ir::derive::derive(&random_loop(seed)) else { continue };
        let program = verify(derived.program).expect("derived programs verify");
        tried += usize::from(compare(&program, 2 + seed as usize % 5, seed));
    }
    assert!(tried > 50, "{tried}");
}
