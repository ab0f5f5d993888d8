//! Every shape, mode, direction, initial state and carry, at sizes around those of tiles: bit for
//! bit what the reference gives. All operators are exact, so the association does not matter.

use monoscan_ir::{Constant, Mode, Program, Verified};

use crate::subject::{on_gpu, tiny_plan, uploaded};
use scan_kit::Random;
use scan_kit::calls::{Asked, Over, Subject};
use scan_kit::programs;

fn inputs(program: &Program, len: usize, random: &mut Random) -> Vec<Vec<u8>> {
    program.inputs.iter().map(|layout| random.bytes(len * layout.size as usize)).collect()
}

/// Lines of all these lengths, in all modes and directions, from the identities and from an initial state.
fn lines(subject: &Subject, lengths: &[usize], random: &mut Random) {
    for &len in lengths {
        for case in 0..8 {
            let mode = if case & 1 == 0 { Mode::Inclusive } else { Mode::Exclusive };
            let init = (case & 4 != 0).then(|| subject.state(random));
            let asked = Asked { mode, reversed: case & 2 != 0, init, ..Asked::line(len) };
            let inputs = inputs(subject.scan().program(), len, random);
            subject.must_agree(&asked, &inputs);
        }
    }
}

fn around(tile: usize) -> Vec<usize> {
    vec![0, 1, 2, 31, 33, tile - 1, tile, tile + 1, 2 * tile, 3 * tile + 7]
}

fn each_program(mut test: impl FnMut(&Verified<Program>)) {
    for program in programs::all() {
        println!("{}", program.name);
        test(&program);
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn a_first_line() {
    let program = programs::parse(programs::RECURRENCE);
    let subject = on_gpu(&program, None);
    let kernel = subject.scan().kernel().unwrap();
    println!("{} {:?} {:?}", kernel.manifest().plan, kernel.times(), kernel.code().facts());
    let mut random = Random(1);
    for len in around(kernel.manifest().plan.tile()) {
        let inputs = inputs(&program, len, &mut random);
        subject.must_agree(&Asked::line(len), &inputs);
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn lines_around_tiny_tiles() {
    let mut random = Random(2);
    each_program(|program| {
        let plan = tiny_plan(program);
        let tile = plan.tile();
        let subject = on_gpu(program, Some(plan));
        let mut lengths = around(tile);
        // Beyond a group of tiles, whose prefix is published.
        lengths.extend([127 * tile, 128 * tile, 128 * tile + 1, 300 * tile + 5]);
        lines(&subject, &lengths, &mut random);
    });
}

#[test]
#[ignore = "needs a CUDA device"]
fn lines_around_tiles() {
    let mut random = Random(3);
    each_program(|program| {
        let subject = on_gpu(program, None);
        let tile = subject.scan().kernel().unwrap().manifest().plan.tile();
        lines(&subject, &around(tile), &mut random);
    });
}

#[test]
#[ignore = "needs a CUDA device"]
fn random_calls() {
    let mut random = Random(4);
    each_program(|program| {
        for plan in [Some(tiny_plan(program)), None] {
            let subject = on_gpu(program, plan);
            for _ in 0..60 {
                let asked = subject.call(&mut random);
                let inputs = inputs(program, asked.len, &mut random);
                subject.must_agree(&asked, &inputs);
            }
        }
    });
}

/// Columns there, each at a spacing of its own; segments by flags, keys and offsets there; starts of each row and segment.
#[test]
#[ignore = "needs a CUDA device"]
fn random_calls_of_device_columns() {
    let mut random = Random(7);
    each_program(|program| {
        for plan in [Some(tiny_plan(program)), None] {
            let subject = uploaded(program, plan);
            for _ in 0..60 {
                let asked = subject.call(&mut random);
                let inputs = inputs(program, asked.len, &mut random);
                subject.must_agree(&asked, &inputs);
            }
        }
    });
}

/// So many states, one after the other.
fn states(subject: &Subject, count: usize, random: &mut Random) -> Vec<Constant> {
    (0..count).flat_map(|_| subject.state(random)).collect()
}

/// The states that so many rows of a stream go on from.
fn carries(subject: &Subject, count: usize, random: &mut Random) -> Vec<Constant> {
    (0..count).flat_map(|_| subject.carry(random)).collect()
}

/// More records than a piece of the columns has: each segment has its own start, columns are spaced, flags are bits.
#[test]
#[ignore = "needs a CUDA device"]
fn starts_of_each_segment_and_spaced_columns_in_pieces() {
    let mut random = Random(6);
    let len = 4_000_000;
    let before = programs::RECURRENCE.replace("record.0: u32)", "prev.0: u32)");
    for program in [programs::RECURRENCE, &before, programs::AROUND].map(programs::parse) {
        let subject = on_gpu(&program, None);
        let inputs = inputs(&program, len, &mut random);
        let flags: Vec<bool> = (0..len).map(|_| random.chance(40_000)).collect();
        let offsets: Vec<usize> = [0, 0, 5, 5, len / 3, len / 2, len / 2, len, len].to_vec();
        for over in [Over::Heads(flags), Over::Offsets(offsets)] {
            for (reversed, spaced) in [(false, None), (false, Some(7)), (true, Some(1))] {
                let asked = Asked { over: over.clone(), reversed, spaced, ..Asked::line(len) };
                let init_each = Some(states(&subject, asked.begun(), &mut random));
                let found = subject.compare(&Asked { init_each, ..asked }, &inputs);
                found.unwrap_or_else(|why| panic!("{why}, reversed: {reversed}, {spaced:?}\n{}", *program));
            }
        }
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn long_and_short_rows() {
    let mut random = Random(5);
    each_program(|program| {
        if program.output.filter.is_some() {
            return;
        }
        let plan = tiny_plan(program);
        let tile = plan.tile();
        let subject = on_gpu(program, Some(plan));
        let shapes = [
            (5, tile * 3 + 1, 1, 0),
            (300, tile / 8 + 1, 1, 3),
            (1, 7, 500, 0),
            (4, 9, 33, 5),
            (0, 9, 3, 0),
            (6, 0, 1, 2),
        ];
        for (planes, len, step, gap) in shapes {
            let pitch = len * step + gap;
            let records = if planes * step == 0 { 0 } else { (planes - 1) * pitch + len * step };
            for case in 0..16 {
                let asked = Asked {
                    mode: if case & 1 == 0 { Mode::Inclusive } else { Mode::Exclusive },
                    reversed: case & 2 != 0,
                    init: (case & 12 == 4).then(|| subject.state(&mut random)),
                    init_each: (case & 12 == 8).then(|| states(&subject, planes * step, &mut random)),
                    carry: (case & 12 == 12).then(|| carries(&subject, planes * step, &mut random)),
                    over: Over::Rows { planes, pitch, len, step },
                    ..Asked::line(records + 2)
                };
                let inputs = inputs(program, asked.len, &mut random);
                subject.must_agree(&asked, &inputs);
            }
        }
    });
}
