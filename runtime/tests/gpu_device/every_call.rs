//! Every shape, mode, direction, initial state and carry, at sizes around those of tiles: bit for
//! bit what the reference gives. All operators are exact, so the association does not matter.

use monoscan_ir::{Mode, Program, Verified};

use crate::subject::{OnGpu, tiny_plan};
use scan_kit::Random;
use scan_kit::calls::{Asked, Over};
use scan_kit::programs;

fn inputs(program: &Program, len: usize, random: &mut Random) -> Vec<Vec<u8>> {
    program.inputs.iter().map(|layout| random.bytes(len * layout.size as usize)).collect()
}

/// Lines of all these lengths, in all modes and directions, from the identities and from an initial state.
fn lines(on_gpu: &OnGpu, lengths: &[usize], random: &mut Random) {
    for &len in lengths {
        for case in 0..8 {
            let mode = if case & 1 == 0 { Mode::Inclusive } else { Mode::Exclusive };
            let init = (case & 4 != 0).then(|| on_gpu.subject.state(random));
            let asked = Asked { mode, reversed: case & 2 != 0, init, ..Asked::line(len) };
            let inputs = inputs(on_gpu.scan.program(), len, random);
            on_gpu.must_agree(&asked, &inputs);
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
    let on_gpu = OnGpu::new(&program, None);
    let kernel = on_gpu.scan.kernel().unwrap();
    println!("{} {:?} {:?}", kernel.manifest().plan, kernel.times(), kernel.code().facts());
    let mut random = Random(1);
    for len in around(kernel.manifest().plan.tile()) {
        let inputs = inputs(&program, len, &mut random);
        on_gpu.must_agree(&Asked::line(len), &inputs);
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn lines_around_tiny_tiles() {
    let mut random = Random(2);
    each_program(|program| {
        let plan = tiny_plan(program);
        let tile = plan.tile();
        let on_gpu = OnGpu::new(program, Some(plan));
        let mut lengths = around(tile);
        // Beyond a group of tiles, whose prefix is published.
        lengths.extend([127 * tile, 128 * tile, 128 * tile + 1, 300 * tile + 5]);
        lines(&on_gpu, &lengths, &mut random);
    });
}

#[test]
#[ignore = "needs a CUDA device"]
fn lines_around_tiles() {
    let mut random = Random(3);
    each_program(|program| {
        let on_gpu = OnGpu::new(program, None);
        let tile = on_gpu.scan.kernel().unwrap().manifest().plan.tile();
        lines(&on_gpu, &around(tile), &mut random);
    });
}

#[test]
#[ignore = "needs a CUDA device"]
fn random_calls() {
    let mut random = Random(4);
    each_program(|program| {
        for plan in [Some(tiny_plan(program)), None] {
            let on_gpu = OnGpu::new(program, plan);
            for _ in 0..60 {
                let asked = on_gpu.subject.call(&mut random);
                let inputs = inputs(program, asked.len, &mut random);
                on_gpu.must_agree(&asked, &inputs);
            }
        }
    });
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
        let on_gpu = OnGpu::new(program, Some(plan));
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
            for case in 0..8 {
                let asked = Asked {
                    mode: if case & 1 == 0 { Mode::Inclusive } else { Mode::Exclusive },
                    reversed: case & 2 != 0,
                    init: (case & 4 != 0).then(|| on_gpu.subject.state(&mut random)),
                    over: Over::Rows { planes, pitch, len, step },
                    ..Asked::line(records + 2)
                };
                let inputs = inputs(program, asked.len, &mut random);
                on_gpu.must_agree(&asked, &inputs);
            }
        }
    });
}
