//! Plain programs of associative operators, whose kernels mostly work in vectors, under every kind
//! of plan, at every length up to several groups of records: bit for bit what the interpreter
//! gives.
//!
//! Of a scan of a line each output depends on the records up to it alone. So one run of the
//! interpreter over the longest line is the reference for all lengths, and a program takes
//! milliseconds for thousands of cases. A second of that is a test; for more,
//!
//! ```text
//! cargo xtask soak SECONDS
//! ```

use std::time::{Duration, Instant};

use monoscan_ir::{Constant, Layout, Mode, Program, Type, Verified, interp, verify};
use monoscan_runtime::{Call, DynScan, PlanOptions};
use scan_kit::random::{Options, plain_program, random_program};

use scan_kit::Random;
use scan_kit::calls::{Subject, columns, columns_mut, poison, same_bytes};

/// The longest line: more than two groups of the narrowest records in each of several blocks.
const LONGEST: usize = 150;

/// A program with its reference.
struct Case {
    program: Verified<Program>,
    parameters: Vec<Constant>,
    inputs: Vec<Vec<u8>>,
    /// For each mode the outputs of the longest line.
    expected: [(Mode, Vec<Vec<u8>>); 2],
}

impl Case {
    fn new(program: Verified<Program>, random: &mut Random) -> Case {
        let inputs: Vec<Vec<u8>> =
            program.inputs.iter().map(|layout| random.bytes(LONGEST * layout.size as usize)).collect();
        let parameter = |&ty: &Type| Constant::from_bytes(ty, &random.bytes(ty.size()));
        let parameters: Vec<Constant> = program.parameters.iter().map(parameter).collect();
        let slices: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
        let expected = [Mode::Inclusive, Mode::Exclusive].map(|mode| {
            let request = interp::Request { mode, parameters: parameters.clone(), ..Default::default() };
            (mode, interp::run(&program, &slices, &request).expect("whole columns").outputs)
        });
        Case { program, parameters, inputs, expected }
    }

    /// Runs all lengths under a plan. Gives how many calls that was.
    fn check(&self, plan: &PlanOptions, threads: usize) -> usize {
        let scan = DynScan::builder(self.program.clone()).plan(plan.clone()).threads(threads).assume_associative();
        let scan = scan.build().unwrap_or_else(|error| panic!("{error}\n{}", *self.program));
        let scan = scan.with(&self.parameters).expect("the parameters are of their types");
        let (inputs, layouts) = (&self.program.inputs, &self.program.output.columns);
        let cut = |column: &[u8], layout: &Layout, len: usize| column[..len * layout.size as usize].to_vec();
        let mut cases = 0;
        for (mode, expected) in &self.expected {
            let call = Call { mode: *mode, ..Call::default() };
            for len in 0..=LONGEST {
                let read: Vec<_> = self.inputs.iter().zip(inputs).map(|(c, layout)| cut(c, layout, len)).collect();
                let mut written: Vec<_> = layouts.iter().map(|layout| poison(len * layout.size as usize)).collect();
                let outputs = &mut columns_mut(written.iter_mut().map(Vec::as_mut_slice), layouts);
                let count = scan.run(&call, &columns(read.iter().map(Vec::as_slice), inputs), outputs).expect("a call");
                assert_eq!(count, len);
                for (column, layout) in layouts.iter().enumerate() {
                    let mut expected = cut(&expected[column], layout, len);
                    keep_gaps(layout, &mut expected);
                    if let Err(why) = same_bytes(column, layout, &written[column], &expected) {
                        panic!("{why}\n{mode:?}, {len} records, {threads} threads, {plan:?}\n{}", *self.program);
                    }
                }
                cases += 1;
            }
        }
        cases
    }
}

/// Puts the bytes that nobody writes between the fields of records.
fn keep_gaps(layout: &Layout, records: &mut [u8]) {
    let size = layout.size as usize;
    let before = poison(records.len());
    let is_field = |byte: usize| {
        layout
            .fields
            .iter()
            .any(|field| (field.offset as usize..field.offset as usize + field.ty.size()).contains(&byte))
    };
    let gaps: Vec<usize> = (0..size).filter(|&byte| !is_field(byte)).collect();
    for start in (0..records.len()).step_by(size) {
        gaps.iter().for_each(|gap| records[start + gap] = before[start + gap]);
    }
}

/// Scalar kernels, kernels in vectors, and what the planner takes; in one pass, in strips and in tiles.
fn plan(random: &mut Random) -> PlanOptions {
    let several = random.chance(4);
    PlanOptions {
        interleave: Some(1 << random.below(4)),
        block: Some(1 + if random.chance(2) { random.below(40) } else { 8 * random.below(5) }),
        strips: Some(1 + random.below(3)),
        direct: Some(if several { 0 } else { *random.pick(&[0, 5, 60, usize::MAX]) }),
        vector: *random.pick(&[Some(true), Some(true), Some(false), None]),
        streaming: random.chance(2).then_some(0),
        native: None,
    }
}

/// All lengths of a program, by several plans.
fn every_length(program: Program, plans: usize, random: &mut Random) -> usize {
    let case = Case::new(verify(program).expect("random programs verify"), random);
    let by_planner = case.check(&PlanOptions::default(), 1);
    (0..plans).map(|_| case.check(&plan(random), 1 + random.below(3))).sum::<usize>() + by_planner
}

/// Calls of every shape: segments, rows, reversed, seeded, resumed, in place.
fn every_shape(program: Program, calls: usize, random: &mut Random) -> usize {
    let program = verify(program).expect("random programs verify");
    let subject = Subject::new(&program, plan(random));
    for _ in 0..calls {
        let asked = subject.call(random);
        let inputs: Vec<Vec<u8>> =
            program.inputs.iter().map(|layout| random.bytes(asked.len * layout.size as usize)).collect();
        subject.must_agree(&asked, &inputs);
    }
    calls
}

#[test]
fn plain_programs_at_every_length() {
    let mut random = Random(11);
    for seed in 0..60 {
        every_length(plain_program(seed), 3, &mut random);
    }
}

#[test]
fn plain_programs_in_every_shape() {
    let mut random = Random(12);
    for seed in 1000..1060 {
        every_shape(plain_program(seed), 10, &mut random);
    }
}

/// For `MONOSCAN_SOAK` seconds, from the seed `MONOSCAN_SEED` on.
#[test]
#[ignore = "takes as long as it is told: cargo xtask soak SECONDS"]
fn soak() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (seconds, first) = (number("MONOSCAN_SOAK").unwrap_or(1), number("MONOSCAN_SEED").unwrap_or(0));
    let start = Instant::now();
    let (mut lengths, mut shapes, mut seed) = (0, 0, first);
    while start.elapsed() < Duration::from_secs(seconds) {
        let mut random = Random(seed);
        lengths += every_length(plain_program(seed), 12, &mut random);
        shapes += every_shape(plain_program(seed), 20, &mut random);
        let options = Options { stages: 3, allow_emit: true, ..Options::default() };
        shapes += every_shape(random_program(seed, &options), 20, &mut random);
        seed += 1;
    }
    println!("seeds {first} to {seed}: {lengths} calls of lines, {shapes} of other shapes, all as the interpreter's");
}
