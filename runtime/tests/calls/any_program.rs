//! Random calls of random programs, and of those of [`programs`](scan_kit::programs), at sizes
//! around every boundary of tiny plans: bit for bit what the reference gives. All operators are
//! exact, so the association does not matter.

use monoscan_ir::{FunctionBuilder, Mapping, Opcode, Program, Source, Type, Value, Verified, verify};
use monoscan_runtime::PlanOptions;
use scan_kit::random::{Options, random_program};

use scan_kit::Random;
use scan_kit::calls::Asked;
use scan_kit::calls::Subject;
use scan_kit::programs;

/// How many calls of a program are tried.
const CALLS: usize = 20;

/// Where the numbers of random programs and calls begin: `MONOSCAN_FIRST`.
fn first() -> u64 {
    std::env::var("MONOSCAN_FIRST").ok().and_then(|text| text.parse().ok()).unwrap_or(0)
}

fn tiny_plan(random: &mut Random) -> PlanOptions {
    PlanOptions {
        interleave: Some(1 << random.below(4)),
        // Kernels in vectors take whole groups of 16 elements and more.
        block: Some(1 + if random.chance(4) { random.below(100) } else { random.below(5) }),
        strips: Some(1 + random.below(3)),
        direct: Some(if random.chance(2) { 0 } else { random.below(30) }),
        vector: [None, Some(true), Some(false)][random.below(3)],
        streaming: random.chance(2).then_some(random.below(30)),
        native: None,
    }
}

fn random_calls(program: &Verified<Program>, options: PlanOptions, random: &mut Random, calls: usize) {
    let subject = Subject::new(program, options);
    for _ in 0..calls {
        let asked = subject.call(random);
        let inputs: Vec<Vec<u8>> =
            program.inputs.iter().map(|layout| random.bytes(asked.len * layout.size as usize)).collect();
        subject.must_agree(&asked, &inputs);
    }
}

/// The program with outputs laid out as its inputs: each component is the sum of the record's and a component of the last
/// state, converted.
fn in_place(mut program: Program) -> Program {
    let state: Vec<Source> =
        (0..program.stages.last().map_or(0, |stage| stage.state.len() as u32)).map(Source::State).collect();
    let types = program.record_types();
    let mut b = FunctionBuilder::new();
    let records = b.params(&types);
    let state_types: Vec<Type> = state.iter().filter_map(|&source| program.source_type(source)).collect();
    let states = b.params(&state_types);
    let results: Vec<Value> = records.iter().zip(states.iter().cycle()).map(|(&x, &s)| mixed(&mut b, x, s)).collect();
    let reads = (0..types.len() as u32).map(Source::Record).chain(state).collect();
    program.output.project = Mapping { reads, function: b.finish(&results) };
    program.output.columns.clone_from(&program.inputs);
    program.output.filter = None;
    program
}

/// A value of the type of `x` that depends on both.
fn mixed(b: &mut FunctionBuilder, x: Value, s: Value) -> Value {
    match (b.type_of(x), b.type_of(s)) {
        (Type::Bool, Type::Bool) => b.binary(Opcode::Xor, x, s),
        (Type::Bool, ty) => {
            let zero = b.constant(ty.zero());
            let any = b.binary(Opcode::Ne, s, zero);
            b.binary(Opcode::Xor, x, any)
        }
        (ty, _) => {
            let s = b.cast(ty, s);
            b.binary(Opcode::Add, x, s)
        }
    }
}

#[test]
fn programs_whose_results_can_be_read() {
    let mut random = Random(1 + first());
    for program in programs::all() {
        for _ in 0..6 {
            let options = tiny_plan(&mut random);
            random_calls(&program, options, &mut random, CALLS);
        }
        random_calls(&program, PlanOptions::default(), &mut random, CALLS);
    }
}

#[test]
fn random_programs_of_one_stage() {
    let mut random = Random(2 + first());
    for seed in first()..first() + 80 {
        let program = verify(random_program(
            seed,
            &Options { allow_previous: true, allow_parameters: true, allow_init: true, ..Options::default() },
        ))
        .unwrap();
        let options = tiny_plan(&mut random);
        random_calls(&program, options, &mut random, CALLS);
    }
}

#[test]
fn random_cascades_that_write_or_emit() {
    let mut random = Random(3 + first());
    for seed in first()..first() + 80 {
        let program = verify(random_program(seed, &Options::cascades())).unwrap();
        let options = tiny_plan(&mut random);
        random_calls(&program, options, &mut random, CALLS);
    }
}

#[test]
fn random_programs_in_place() {
    let mut random = Random(4 + first());
    for seed in first()..first() + 40 {
        let options = Options {
            stages: 2,
            allow_vectors: false,
            allow_next: false,
            allow_previous: true,
            allow_parameters: true,
            allow_init: true,
            ..Options::default()
        };
        let program = verify(in_place(random_program(seed, &options))).unwrap();
        let options = tiny_plan(&mut random);
        random_calls(&program, options, &mut random, CALLS);
    }
}

/// Where the planner's own plan goes from one sequential pass to tiles, and from one tile to several.
#[test]
fn default_plans_around_their_boundaries() {
    let mut random = Random(5 + first());
    for program in programs::all() {
        let subject = Subject::new(&program, PlanOptions::default());
        let plan = subject.scan().plan();
        let boundaries = [plan.direct, plan.interleave * plan.block, plan.tile(), 2 * plan.tile()];
        for boundary in boundaries.into_iter().filter(|&boundary| boundary < 1 << 17) {
            for len in [boundary.saturating_sub(1), boundary, boundary + 1, boundary + plan.interleave] {
                let asked = Asked {
                    reversed: random.chance(3),
                    init: random.chance(2).then(|| subject.state(&mut random)),
                    threads: random.below(4),
                    ..Asked::line(len)
                };
                let inputs: Vec<Vec<u8>> =
                    program.inputs.iter().map(|layout| random.bytes(len * layout.size as usize)).collect();
                subject.must_agree(&asked, &inputs);
            }
        }
    }
}
