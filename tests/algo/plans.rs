//! The scans behind algorithms under many plans, where other tests leave the plan to the planner.

use monoscan::algo::{self, on_gpu, runs, text};
use monoscan::{DynScan, PlanOptions};
use monoscan_ir::{Program, Type};
use scan_kit::Random;
use scan_kit::calls::{Asked, Reference, Subject, columns, columns_mut, tiles};

use super::common::generator;

/// Calls of a scan for each of the plans.
const CALLS: usize = 6;

/// Tiles of few records, of one a block, of odd numbers, in vectors and without.
fn plans() -> [PlanOptions; 4] {
    let in_vectors = PlanOptions { vector: Some(true), streaming: Some(0), ..tiles(2, 21, 2) };
    [tiles(4, 8, 3), tiles(8, 1, 1), PlanOptions { vector: Some(false), ..tiles(1, 64, 2) }, in_vectors]
}

/// A column of records of so many bytes, of which neighbours are often the same.
fn column(random: &mut Random, size: usize, len: usize) -> Vec<u8> {
    let (mut record, one_in) = (random.bytes(size), 1 + random.below(9usize));
    let mut next = || {
        if random.chance(one_in) {
            record = random.bytes(size);
        }
        record.clone()
    };
    (0..len).flat_map(|_| next()).collect()
}

/// Whether this is a scan of moments: of these scans the only one that adds floats, which plans round differently.
fn has_floats_added(program: &Program) -> bool {
    program.record_types().contains(&Type::F64)
}

/// Filters, neighbours, places and parameters, by the interpreter.
#[test]
fn scans_of_algorithms_give_what_the_interpreter_does_under_every_plan() {
    let named = [runs::scan::<u32>().unwrap().as_dyn(), text::scan().unwrap().as_dyn()];
    let named = named.map(|scan| scan.program().clone()).into_iter();
    let all = named.chain(on_gpu::programs().unwrap()).chain(algo::programs().unwrap());
    for program in all.filter(|program| !has_floats_added(program)) {
        for (number, plan) in plans().into_iter().enumerate() {
            let (subject, mut random) = (Subject::new(&program, plan), generator(number));
            for _ in 0..CALLS {
                let asked = subject.call(&mut random);
                let sizes = program.inputs.iter().map(|layout| layout.size as usize);
                let inputs: Vec<Vec<u8>> = sizes.map(|size| column(&mut random, size, asked.len)).collect();
                subject.must_agree(&asked, &inputs);
            }
        }
    }
}

/// Keys and counts are the interpreter's; means and squares are as close to its as roundings allow.
#[test]
fn moments_are_the_interpreters_but_for_roundings_under_every_plan() {
    let all = on_gpu::programs().unwrap().into_iter().filter(|program| has_floats_added(program));
    let [program] = &all.collect::<Vec<_>>()[..] else { panic!("one scan of moments") };
    let reference = Reference::new(program);
    for (number, plan) in plans().into_iter().enumerate() {
        let mut random = generator(number);
        for len in [0, 1, 20, 21, 64, 500, 5000] {
            let keys = column(&mut random, 4, len);
            let numbers: Vec<f64> = (0..len).map(|_| 1e3 + random.unit()).collect();
            let inputs = [keys, bytemuck::cast_slice(&numbers).to_vec()];
            let mut expected = vec![vec![0; 4 * len], vec![0; 24 * len]];
            let count = reference.run(&Asked::line(len), &inputs, &mut expected).count;
            for threads in [1, 3] {
                let scan = DynScan::builder(program.clone()).plan(plan.clone()).threads(threads).build().unwrap();
                let mut found = [vec![0; 4 * len], vec![0; 24 * len]];
                let from = columns(inputs.iter().map(Vec::as_slice), &program.inputs);
                let mut to = columns_mut(found.iter_mut().map(Vec::as_mut_slice), &program.output.columns);
                assert_eq!(scan.run(&Asked::line(len).call(), &from, &mut to).unwrap(), count, "{plan:?}");
                assert!(found[0][..4 * count] == expected[0][..4 * count], "{plan:?}");
                let [found, expected] = [&found[1], &expected[1]].map(|moments| {
                    moments[..24 * count].chunks(8).map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap()))
                });
                for (part, (found, expected)) in found.zip(expected).enumerate() {
                    let close = if part % 3 == 0 { 0.0 } else { 1e-9 * expected.max(1.0) };
                    assert!((found - expected).abs() <= close, "{found} for {expected}, {len} records, {plan:?}");
                }
            }
        }
    }
}
