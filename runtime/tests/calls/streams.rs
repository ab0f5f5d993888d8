//! A stream in chunks is what it is in one piece, for programs that do not ask where a chunk ends
//! or how far it is.

use monoscan_ir::Source;
use monoscan_ir::{Constant, Mode, Program, Verified, verify};
use monoscan_runtime::{Call, PlanOptions, Shape};
use scan_kit::random::{Options, random_program};

use scan_kit::Random;
use scan_kit::calls::{Asked, boundary};
use scan_kit::calls::{Subject, columns, columns_mut};
use scan_kit::programs;

/// Whether what the program gives is independent of where a stream is cut.
fn may_be_cut(program: &Program) -> bool {
    let is_of_chunk = |source: &Source| matches!(source, Source::Index | Source::Next(_) | Source::Last);
    !program.mappings().any(|mapping| mapping.reads.iter().any(is_of_chunk))
}

/// The outputs of a stream in random chunks, and the carry behind it.
fn in_chunks(
    subject: &Subject,
    whole: &Asked,
    inputs: &[Vec<u8>],
    random: &mut Random,
) -> (Vec<Vec<u8>>, Vec<Constant>) {
    let program = &subject.reference.program;
    let mut carry = whole.carry.clone().unwrap();
    let mut outputs = vec![Vec::new(); program.output.columns.len()];
    let mut done = 0;
    while done < whole.len || random.chance(4) {
        let chunk = (boundary(random, subject.scan().plan())).min(whole.len - done);
        // A reversed stream comes from its end.
        let range = if whole.reversed { whole.len - done - chunk..whole.len - done } else { done..done + chunk };
        let sizes = program.inputs.iter().map(|layout| layout.size as usize);
        let inputs: Vec<Vec<u8>> = inputs
            .iter()
            .zip(sizes)
            .map(|(bytes, size)| bytes[range.start * size..range.end * size].to_vec())
            .collect();
        let layouts = &program.output.columns;
        let mut to: Vec<Vec<u8>> = layouts.iter().map(|layout| vec![0; chunk * layout.size as usize]).collect();
        let call = Call {
            mode: whole.mode,
            reversed: whole.reversed,
            init: whole.init.as_deref().into(),
            shape: Shape::Line,
            ..Call::default()
        };
        let (from, mut columns) = (
            columns(inputs.iter().map(Vec::as_slice), &program.inputs),
            columns_mut(to.iter_mut().map(Vec::as_mut_slice), layouts),
        );
        let count = subject.scan().resume(&call, &mut carry, &from, &mut columns).unwrap();
        for ((all, more), layout) in outputs.iter_mut().zip(&to).zip(layouts) {
            let more = &more[..count * layout.size as usize];
            let at = if whole.reversed && program.output.filter.is_none() { 0 } else { all.len() };
            all.splice(at..at, more.iter().copied());
        }
        done += chunk;
    }
    (outputs, carry)
}

fn chunks_are_the_whole(program: &Verified<Program>, random: &mut Random) {
    let options = PlanOptions {
        interleave: Some(1 << random.below(4)),
        block: Some(2),
        strips: Some(2),
        direct: Some(3),
        ..PlanOptions::default()
    };
    let subject = Subject::new(program, options);
    for _ in 0..6 {
        let whole = Asked {
            mode: *random.pick(&[Mode::Inclusive, Mode::Exclusive]),
            reversed: random.chance(3),
            init: random.chance(2).then(|| subject.state(random)),
            carry: Some(subject.carry(random)),
            ..Asked::line(random.below(200))
        };
        let sizes = program.inputs.iter().map(|layout| layout.size as usize);
        let inputs: Vec<Vec<u8>> = sizes.map(|size| random.bytes(whole.len * size)).collect();
        let layouts = program.output.columns.iter();
        let mut expected: Vec<Vec<u8>> = layouts.map(|layout| vec![0; whole.len * layout.size as usize]).collect();
        let given = subject.reference.run(&whole, &inputs, &mut expected);
        let layouts = program.output.columns.iter();
        expected.iter_mut().zip(layouts).for_each(|(bytes, layout)| bytes.truncate(given.count * layout.size as usize));
        let (found, carry) = in_chunks(&subject, &whole, &inputs, random);
        assert_eq!(found, expected, "{whole:?}\n{}", **program);
        assert!(
            carry.iter().zip(&given.totals).all(|(a, b)| a.same(*b)),
            "{whole:?}: {carry:?} for {:?}",
            given.totals
        );
    }
}

#[test]
fn of_programs_whose_results_can_be_read() {
    let mut random = Random(6);
    for program in programs::all().iter().filter(|program| may_be_cut(program)) {
        chunks_are_the_whole(program, &mut random);
    }
}

#[test]
fn of_random_programs() {
    let mut random = Random(7);
    let options = Options { allow_next: false, ..Options::cascades() };
    let programs = (0..).map(|seed| random_program(seed, &options));
    // Floats are left out: their NaN are the engine's choice, and outputs are compared as bytes.
    let exact = |program: &Program| program.output_types().iter().all(|ty| !ty.is_float());
    for program in programs.filter(|program| may_be_cut(program) && exact(program)).take(20) {
        chunks_are_the_whole(&verify(program).unwrap(), &mut random);
    }
}
