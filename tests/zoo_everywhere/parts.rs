//! Outputs of some components alone. What an output leaves out, kernels leave out too where they
//! can: so each choice of components is another set of kernels, and what they keep they compute
//! from what is left.

use monoscan::ops::Segmented;
use monoscan::{Call, Column, ColumnMut, DynScan, PlanOptions, prelude::*};
use monoscan_ir::{Layout, Mapping, Mode, Source, Type, Verified, verify};

use scan_kit::Random;
use scan_kit::zoo::{ArgMax, Bicyclic, Carry, Gaps, Hash, Unitriangular, Words};

/// Lines of up to so many records: more than two groups of the narrowest kernels in vectors.
const LONGEST: usize = 150;

pub(crate) fn word(r: &mut Random) -> Words {
    let is_word = r.below(3) != 0;
    Words { any: true, first: is_word, last: is_word, count: u32::from(is_word) }
}

pub(crate) fn time(r: &mut Random) -> Gaps {
    let time = r.below(1 << 16) as u16;
    Gaps { any: true, ascending: true, first: time, last: time, widest: 0 }
}

/// The program of a scan of states, with these components as its output.
fn part(program: &Verified<monoscan_ir::Program>, components: &[u32]) -> Verified<monoscan_ir::Program> {
    let mut program = (**program).clone();
    let state = &program.stages[0].state;
    let types: Vec<Type> = components.iter().map(|&component| state[component as usize]).collect();
    let mut b = monoscan_ir::FunctionBuilder::new();
    let values = b.params(&types);
    let reads = components.iter().map(|&component| Source::State(component)).collect();
    program.output.project = Mapping { reads, function: b.finish(&values) };
    program.output.columns = vec![Layout::packed(&types)];
    verify(program).expect("components of a state are an output")
}

/// Every choice of components of states that `make` gives, by the user's own function, at every length, in every kind of plan.
fn in_parts<M: Monoid>(seed: u64, make: impl Fn(&mut Random) -> M) {
    let mut random = Random(seed);
    let records: Vec<M> = (0..LONGEST).map(|_| make(&mut random)).collect();
    let states: Vec<M> = records
        .iter()
        .scan(M::identity(), |state, &record| {
            *state = state.combine(record);
            Some(*state)
        })
        .collect();
    let scan = Scan::<M>::new().unwrap();
    let program = scan.as_dyn().program();
    let layout = &program.inputs[0];
    let bytes = crate::bytes(&records, layout);
    let in_strips = |vector: bool, interleave, block| {
        let (interleave, block, strips) = (Some(interleave), Some(block), Some(2));
        let streaming = vector.then_some(0);
        PlanOptions {
            interleave,
            block,
            strips,
            direct: Some(0),
            vector: Some(vector),
            streaming,
            ..PlanOptions::default()
        }
    };
    let in_vectors = PlanOptions { vector: Some(true), ..PlanOptions::default() };
    let plans =
        [PlanOptions::default(), in_vectors, in_strips(true, 1, 32), in_strips(true, 2, 21), in_strips(false, 4, 3)];
    let components = program.stages[0].state.len() as u32;
    for chosen in 1..1u32 << components {
        let chosen: Vec<u32> = (0..components).filter(|component| chosen >> component & 1 != 0).collect();
        let program = part(program, &chosen);
        let output = &program.output.columns[0];
        let size = output.size as usize;
        for plan in &plans {
            let scan = DynScan::builder(program.clone()).plan(plan.clone()).threads(1).build().unwrap();
            for len in (0..LONGEST).step_by(9).chain([LONGEST]) {
                let input = Column::from_bytes(&bytes[..len * layout.size as usize], layout).unwrap();
                let mut written = vec![0; len * size];
                let to = ColumnMut::from_bytes(&mut written, output).unwrap();
                let call = Call { mode: Mode::Inclusive, ..Call::default() };
                scan.run(&call, &[input], &mut [to]).unwrap();
                for (i, (record, state)) in written.chunks(size).zip(&states).enumerate() {
                    let all = crate::constants(state);
                    for (field, &component) in output.fields.iter().zip(&chosen) {
                        let got = monoscan_ir::Constant::from_bytes(field.ty, &record[field.offset as usize..]);
                        let expected = all[component as usize];
                        assert!(got.same(expected), "{chosen:?}, {i} of {len}: {got} for {expected}\n{}", scan.plan());
                    }
                }
            }
        }
    }
}

#[test]
fn parts_of_words_and_gaps() {
    in_parts(1, word);
    in_parts(2, time);
}

#[test]
fn parts_of_pairs_and_triples() {
    in_parts(3, |r| Bicyclic { closing: r.below(3) as u32, opening: r.below(3) as u32 });
    in_parts(4, |r| ArgMax { value: r.below(5) as i16, place: r.below(1000) as u32 });
    in_parts(5, |r| Carry { generate: r.below(40) == 0, propagate: r.below(8) != 0 });
    in_parts(6, |r| Hash { hash: r.below(256), power: 1_000_003 });
    let small = |r: &mut Random| r.below(7) - 3;
    in_parts(7, move |r| Unitriangular { a: small(r), b: small(r), corner: small(r) });
}

#[test]
fn parts_of_wrapped_states() {
    in_parts(8, |r| Segmented { start: r.below(9) == 0, value: word(r) });
}
