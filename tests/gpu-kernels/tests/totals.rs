//! Totals of the segments between offsets, in the emulator, against plain loops.

use monoscan_codegen::gpu::{Arch, Arguments};
use monoscan_codegen::nvptx::{HELPER_THREADS, PlanError, TotalsKernel, TotalsPass};
use monoscan_ir::transform::{Form, lower};
use monoscan_ir::{Layout, Type};
use scan_emulator::{Device, Fault, Intrinsic, Kernel, Launch, LaunchError};
use scan_kit::Random;
use scan_kit::programs::{AROUND, CASCADE, DIGITS, odd_digits, parse};

/// Sums of the records of one column.
const SUM: &str = "
program sum
  input { size 1, align 1, u8 @ 0 }
  stage (u8)
    identity (0)
    lift (%0 = record.0: u8) { return %0 }
    combine (%0: u8, %1: u8) { %2 = add.u8 %0, %1\n return %2 }
  output write
    column { size 1, align 1, u8 @ 0 }
    project (%0 = state.0: u8) { return %0 }
";

/// Maps x ↦ a·x + b, of records with a gap, times a number beside them.
const AFFINE: &str = "
program affine
  input { size 12, align 4, u32 @ 0, u32 @ 8 }
  input { size 2, align 2, u16 @ 0 }
  stage (u32, u32)
    identity (1, 0)
    lift (%0 = record.0: u32, %1 = record.1: u32, %2 = record.2: u16) {
      %3 = cast.u32 %2
      %4 = mul.u32 %0, %3
      return %4, %1
    }
    combine (%0: u32, %1: u32, %2: u32, %3: u32) {
      %4 = mul.u32 %0, %2
      %5 = mul.u32 %1, %2
      %6 = add.u32 %5, %3
      return %4, %6
    }
  output write
    column { size 4, align 4, u32 @ 0 }
    project (%0 = state.0: u32) { return %0 }
";

/// The same of large records, of which a tile has few.
const LARGE: &str = "
program large
  input { size 64, align 8, u32 @ 0, u32 @ 60 }
  stage (u32, u32)
    identity (1, 0)
    lift (%0 = record.0: u32, %1 = record.1: u32) {
      %2 = const.u32 1
      %3 = or.u32 %0, %2
      return %3, %1
    }
    combine (%0: u32, %1: u32, %2: u32, %3: u32) {
      %4 = mul.u32 %0, %2
      %5 = mul.u32 %1, %2
      %6 = add.u32 %5, %3
      return %4, %6
    }
  output write
    column { size 4, align 4, u32 @ 0 }
    project (%0 = state.0: u32) { return %0 }
";

/// A program, the column of it that is gathered, and what a loop does to a state by a record.
struct Case {
    source: &'static str,
    gathered: Option<usize>,
    identity: [u64; 2],
    step: fn([u64; 2], &[u64]) -> [u64; 2],
}

fn affine([a, b]: [u64; 2], record: &[u64]) -> [u64; 2] {
    let factor = u64::from((record[0] as u32).wrapping_mul(record[2] as u32));
    [u64::from(a as u32).wrapping_mul(factor), u64::from(b as u32).wrapping_mul(factor).wrapping_add(record[1])]
}

const CASES: [Case; 4] = [
    Case { source: SUM, gathered: None, identity: [0, 0], step: |[a, _], x| [a.wrapping_add(x[0]), 0] },
    Case {
        source: DIGITS,
        gathered: None,
        identity: [0, 1],
        step: |[a, b], x| [a.wrapping_mul(10).wrapping_add(x[0]), b.wrapping_mul(10)],
    },
    Case { source: AFFINE, gathered: Some(1), identity: [1, 0], step: affine },
    Case { source: AFFINE, gathered: Some(0), identity: [1, 0], step: affine },
];

/// The kernels of a case, how totals lie, and the input columns.
fn kernels(case: &Case) -> (TotalsKernel, Layout, Vec<Layout>) {
    let program = parse(case.source);
    let total = Layout::packed(&program.stages[0].state);
    let kernel = TotalsKernel::new(lower(&program, Form::default()), case.gathered, &total).unwrap();
    (kernel, total, program.inputs.clone())
}

/// A record's fields.
fn fields(layout: &Layout, record: &[u8]) -> Vec<u64> {
    let field = |field: &monoscan_ir::Field| {
        let mut word = [0; 8];
        let size = field.ty.size();
        word[..size].copy_from_slice(&record[field.offset as usize..][..size]);
        u64::from_le_bytes(word)
    };
    layout.fields.iter().map(field).collect()
}

/// Columns and offsets in the memory of an emulated device, and what is to come.
struct Scene {
    device: Device,
    to: scan_emulator::Buffer,
    arguments: Vec<u8>,
    records: usize,
    expected: Vec<u8>,
}

fn scene(case: &Case, kernel: &TotalsKernel, lengths: &[usize], shifted: bool, random: &mut Random) -> Scene {
    let (_, total, inputs) = kernels(case);
    let mut offsets = vec![0u32];
    lengths.iter().for_each(|&length| offsets.push(offsets[offsets.len() - 1] + length as u32));
    let records = offsets[lengths.len()] as usize;
    let width = 1 + random.below(50);
    let places: Vec<u32> = (0..records).map(|_| random.below(width) as u32).collect();
    let columns: Vec<Vec<u8>> = inputs
        .iter()
        .enumerate()
        .map(|(place, layout)| {
            random.bytes(layout.size as usize * if case.gathered == Some(place) { width } else { records })
        })
        .collect();
    let record = |record: usize| -> Vec<u64> {
        let of = |(place, layout): (usize, &Layout)| {
            let record = if case.gathered == Some(place) { places[record] as usize } else { record };
            fields(layout, &columns[place][record * layout.size as usize..])
        };
        inputs.iter().enumerate().flat_map(of).collect()
    };
    let mut expected = Vec::new();
    for ends in offsets.windows(2) {
        let state = (ends[0]..ends[1]).fold(case.identity, |state, at| (case.step)(state, &record(at as usize)));
        let mut bytes = vec![0; total.size as usize];
        for (field, component) in total.fields.iter().zip(state) {
            let size = field.ty.size();
            bytes[field.offset as usize..][..size].copy_from_slice(&component.to_le_bytes()[..size]);
        }
        expected.extend(bytes);
    }

    let mut device = Device::new();
    let words = |words: &[u32]| -> Vec<u8> { words.iter().flat_map(|word| word.to_le_bytes()).collect() };
    let shift = if shifted { 4 } else { 0 };
    let mut addresses: Vec<u64> = columns
        .iter()
        .chain([&words(&places)])
        .map(|column| {
            let buffer = device.buffer_shifted(column, shift);
            device.address(buffer)
        })
        .collect();
    let offsets = device.buffer(&words(&offsets));
    let to = device.buffer(&vec![0; expected.len()]);
    addresses.extend([device.address(offsets), device.address(to)]);
    let slots = device.buffer(&vec![0xa5; kernel.slot() * records.div_ceil(kernel.tile()).max(1)]);
    let layout = kernel.arguments();
    let mut arguments = vec![0; layout.bytes()];
    let mut put = |at: usize, word: u64| arguments[at..at + 8].copy_from_slice(&word.to_le_bytes());
    put(Arguments::RECORDS, records as u64);
    put(Arguments::ROWS, lengths.len() as u64);
    put(Arguments::WORKSPACE, device.address(slots));
    addresses.iter().enumerate().for_each(|(place, &address)| put(layout.column(place), address));
    Scene { device, to, arguments, records, expected }
}

impl Scene {
    fn run(
        &mut self,
        kernel: &TotalsKernel,
        passes: &[Kernel; 2],
        faults: [&[Fault]; 2],
        seed: u64,
    ) -> Result<(), LaunchError> {
        let tiles = self.records.div_ceil(kernel.tile()).max(1);
        let blocks = [(TotalsPass::Tiles, tiles), (TotalsPass::Carry, tiles.div_ceil(HELPER_THREADS / 32))];
        for (((pass, blocks), compiled), faults) in blocks.into_iter().zip(passes).zip(faults) {
            let launch = Launch {
                blocks: blocks as u32,
                threads: HELPER_THREADS as u32,
                shared_bytes: kernel.shared(pass),
                args: &self.arguments,
                faults,
                seed,
                ..Launch::default()
            };
            compiled.launch(&mut self.device, &launch)?;
        }
        Ok(())
    }
}

fn compiled(kernel: &TotalsKernel) -> [Kernel; 2] {
    [TotalsPass::Tiles, TotalsPass::Carry].map(|pass| Kernel::compile(&kernel.emulated(pass), "scan").unwrap())
}

/// Segments of these lengths: none, empty ones alone, short ones, ones that end where lanes, warps and tiles do, long ones.
fn lengths(of: usize, tile: usize, random: &mut Random) -> Vec<usize> {
    match of {
        0 => vec![],
        1 => vec![0; 40],
        2 => vec![1],
        3 => vec![2 * tile + 5, 0, tile - 5, 3],
        4 => vec![0, tile, 0, 0, tile / 8, 0],
        5 => (0..tile / 8).map(|_| random.below(20)).collect(),
        6 => vec![3 * tile],
        7 => (0..tile + 3).map(|_| random.below(2)).collect(),
        _ => (0..60).map(|_| [0, 1, 3, 8, 31, 128, tile / 4, tile][random.below(8)] / (1 + random.below(2))).collect(),
    }
}

#[test]
fn segments_have_the_totals_of_plain_loops() {
    let mut random = Random(11);
    for case in &CASES {
        let (kernel, ..) = kernels(case);
        let passes = compiled(&kernel);
        for of in 0..9 {
            let lengths = lengths(of, kernel.tile(), &mut random);
            let mut scene = scene(case, &kernel, &lengths, of % 3 == 2, &mut random);
            scene.run(&kernel, &passes, [&[], &[]], of as u64).unwrap();
            assert!(scene.device.read(scene.to) == scene.expected, "{} {of}", case.source);
        }
    }
}

/// The state at the end of each of many tiles is part of a total: of as many as lanes take at once, of more, of many more.
#[test]
fn a_segment_of_many_tiles_has_its_total() {
    let step = |state, record: &[u64]| affine(state, &[record[0] | 1, record[1], 1]);
    let case = &Case { source: LARGE, gathered: None, identity: [1, 0], step };
    let (kernel, ..) = kernels(case);
    let (passes, mut random) = (compiled(&kernel), Random(12));
    for tiles in [31, 32, 33, 100, 600] {
        let mut scene = scene(case, &kernel, &[3, tiles * kernel.tile(), 7], false, &mut random);
        scene.run(&kernel, &passes, [&[], &[]], 1).unwrap();
        assert!(scene.device.read(scene.to) == scene.expected, "{tiles}");
    }
}

/// Without a call that orders threads something goes wrong.
#[test]
fn calls_of_the_kernels_are_missed() {
    let (case, mut random) = (&CASES[0], Random(13));
    let (kernel, ..) = kernels(case);
    let passes = compiled(&kernel);
    let lengths = lengths(8, kernel.tile(), &mut random);
    let calls = |intrinsic| passes[0].calls().filter(move |call| call.1 == intrinsic);
    let calls: Vec<_> = calls(Intrinsic::Barrier).chain(calls(Intrinsic::WarpBarrier)).collect();
    assert!(calls.len() >= 4);
    for (call, _, text) in calls {
        let mut scene = scene(case, &kernel, &lengths, false, &mut random);
        let outcome = scene.run(&kernel, &passes, [&[Fault::WithoutCall(call)], &[]], 1);
        assert!(outcome.is_err() || scene.device.read(scene.to) != scene.expected, "{text} {call} is not missed");
    }
}

#[test]
fn programs_that_read_more_than_records_have_none() {
    let total = Layout::packed(&[Type::U64, Type::U64]);
    let refused = |source: &str, total: &Layout| {
        let kernel = TotalsKernel::new(lower(&parse(source), Form::default()), None, total);
        assert_eq!(kernel.err(), Some(PlanError::Totals), "{source}");
    };
    refused(CASCADE, &total);
    refused(&odd_digits(), &total);
    refused(DIGITS, &Layout::packed(&[Type::U64]));
    refused(&AROUND.replace("record.0: u8) { return %0 }", "next.0: u8) { return %0 }"), &Layout::packed(&[Type::U8]));
}

#[test]
fn every_architecture_has_the_kernels() {
    for (arch, case) in Arch::ALL.into_iter().zip(CASES.iter().cycle()) {
        for pass in [TotalsPass::Tiles, TotalsPass::Carry] {
            assert!(kernels(case).0.ir(pass, arch).compile().unwrap().contains(".visible .entry scan("));
        }
    }
}
