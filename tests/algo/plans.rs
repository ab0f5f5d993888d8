//! The scans behind algorithms under many plans, where other tests leave the plan to the planner.

use monoscan::PlanOptions;
use monoscan::algo::{on_gpu, runs, text};
use monoscan_ir::Type;
use scan_kit::Random;
use scan_kit::calls::{Subject, tiles};

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

/// Filters, neighbours, places and parameters, by the interpreter. Sums of floats, which plans round differently, are not among
/// them: of these scans only moments have any.
#[test]
fn scans_of_algorithms_give_what_the_interpreter_does_under_every_plan() {
    let named = [runs::scan::<u32>().unwrap().as_dyn(), text::scan().unwrap().as_dyn()];
    let all = named.map(|scan| scan.program().clone()).into_iter().chain(on_gpu::programs().unwrap());
    let is_exact = |types: Vec<Type>| !types.contains(&Type::F64);
    for program in all.filter(|program| is_exact(program.record_types())) {
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
