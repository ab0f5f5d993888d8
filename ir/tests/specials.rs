//! Random steps over NaN, infinities and zeros of both signs: where a derivation has no condition
//! on NaN and its floats are moved and compared alone, the scan is the loop.

use monoscan_ir::derive::{Derivation, Family, LoopProgram, derive};
use monoscan_ir::interp::{Request, run_in_chunks};
use monoscan_ir::random::SplitMix64;
use monoscan_ir::{Constant, Program, Type, interp, verify};
use scan_kit::loop_step::step_arguments;
use scan_kit::random::random_loop;

const RECORDS: usize = 19;

fn value(ty: Type, numbers: &mut SplitMix64) -> Constant {
    let bits = numbers.next();
    let small = (bits >> 8) as i64 % 4;
    let special = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 0.0, f64::MAX, 1.5, -0.25];
    match ty {
        Type::Bool => Constant::from(bits & 1 == 0),
        Type::F32 => Constant::from(special[(bits >> 20) as usize % special.len()] as f32),
        Type::F64 => Constant::from(special[(bits >> 20) as usize % special.len()]),
        ty if ty.is_signed() => ty.of_i64(small),
        ty => ty.of_i64(small.abs()),
    }
}

/// The floats of the state are moved, or are one of a few values, on no condition.
fn moves_floats_alone(of: &LoopProgram, derivation: &Derivation) -> bool {
    let has_floats = of.initial.iter().any(|initial| initial.ty().is_float());
    !derivation.conditions().no_nan
        && derivation.groups.iter().all(|group| match group.family {
            Family::Last | Family::Latch | Family::Moves | Family::Table { .. } => true,
            _ => !has_floats,
        })
}

/// The states after each record, in blocks of so many, by combinations alone.
fn scanned(derivation: &Derivation, of: &LoopProgram, records: &[Vec<Constant>], block: usize) -> Vec<Vec<Constant>> {
    let column = |place: usize| records.iter().flat_map(|record| record[place].to_bytes()).collect::<Vec<u8>>();
    let whole = &derivation.program;
    let columns: Vec<Vec<u8>> = (0..whole.inputs.len()).map(column).collect();
    let columns: Vec<&[u8]> = columns.iter().map(Vec::as_slice).collect();
    let types = whole.output_types();
    let mut seed = interp::call(&derivation.seed, &of.initial, &whole.tables).into_iter();
    let start = whole.stages.iter().map(|stage| seed.by_ref().take(stage.state.len()).collect()).collect();
    let request = Request { init: Some(start), ..Request::default() };
    let program = verify(Program { sequential: None, ..whole.clone() }).expect("what is derived is a program");
    let run = run_in_chunks(&program, &columns, &request, block).expect("the columns are its own");
    let part =
        |(ty, bytes): (&Type, &Vec<u8>), i: usize| Constant::from_bytes(*ty, &bytes[i * ty.size()..][..ty.size()]);
    (0..records.len()).map(|i| types.iter().zip(&run.outputs).map(|column| part(column, i)).collect()).collect()
}

#[test]
fn floats_that_are_moved_and_compared_are_those_of_the_loop() {
    let rounds = std::env::var("MONOSCAN_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(1500);
    let (mut tried, mut with_nan) = (0, 0);
    for seed in 0..rounds {
        let of = random_loop(seed);
        if !of.parameters.is_empty() {
            continue;
        }
        let Ok(derivation) = derive(&of) else { continue };
        if !moves_floats_alone(&of, &derivation) {
            continue;
        }
        let types: Vec<Type> = of.inputs.iter().flat_map(|layout| layout.types()).collect();
        let mut numbers = SplitMix64(seed);
        let records: Vec<Vec<Constant>> =
            (0..RECORDS).map(|_| types.iter().map(|&ty| value(ty, &mut numbers)).collect()).collect();
        let (mut state, mut expected) = (of.initial.clone(), Vec::new());
        for place in 0..records.len() {
            let arguments = step_arguments(&of, &state, &[], &records, place);
            let (next, overflowed) = interp::call_checked(&of.step.function, &arguments, &of.tables);
            if overflowed {
                break;
            }
            state.clone_from(&next);
            expected.push(next);
        }
        let records = &records[..expected.len()];
        tried += usize::from(types.iter().any(|ty| ty.is_float()));
        with_nan += usize::from(expected.iter().flatten().any(|c| c.is_nan()));
        for block in [1, 2, 3, 7] {
            for (i, (got, expected)) in scanned(&derivation, &of, records, block).iter().zip(&expected).enumerate() {
                let same = got.iter().zip(expected).all(|(&got, &expected)| got.same(expected));
                let about = || format!("from {:?}\n{}\n{}", of.initial, of.step, derivation.explain());
                assert!(same, "seed {seed}, blocks of {block}, record {i}: {got:?}, not {expected:?}; {}", about());
            }
        }
    }
    println!("{tried} steps over floats, {with_nan} with states that are NaN");
    assert!(tried > rounds as usize / 100 && with_nan > 0, "{tried}, {with_nan} of {rounds}");
}
