//! A columnar kernel whose threads take chunks of rows: it gives the aggregate of each, and scans
//! each from a start of its own.

use monoscan_codegen::gpu::{Arch, Arguments, GpuPlan};
use monoscan_codegen::nvptx::{Kernel as Made, KernelPlan};
use monoscan_ir::transform::{Form, lower};
use monoscan_ir::{text, verify};
use scan_emulator::{Device, Kernel, Launch};
use scan_kit::Random;

/// y = 3·y + x, as maps (a, b).
const MAPS: &str = "program maps
  input { size 4, align 4, u32 @ 0 }
  stage (u32, u32)
    identity (1, 0)
    lift (%0 = record.0: u32) {
      %1 = const.u32 3
      return %1, %0
    }
    combine (%0: u32, %1: u32, %2: u32, %3: u32) {
      %4 = mul.u32 %0, %2, wraps
      %5 = mul.u32 %1, %2, wraps
      %6 = add.u32 %5, %3, wraps
      return %4, %6
    }
  output write
    column { size 4, align 4, u32 @ 0 }
    project (%0 = state.1: u32) { return %0 }";

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

#[test]
fn chunks_have_aggregates_and_starts_of_their_own() {
    let program = verify(text::parse(MAPS).unwrap()).unwrap();
    let program = lower(&program, Form::default());
    let made = [1, 3, 8].map(|load_group| {
        let Made { text, manifest } =
            KernelPlan::with(&program, &GpuPlan::columnar(load_group), Arch::Sm90).unwrap().emulated();
        (Kernel::compile(&text, "scan").unwrap(), manifest)
    });
    let mut random = Random(3);
    for case in 0..60u64 {
        let (kernel, manifest) = random.pick(&made);
        let layout = &manifest.arguments;
        let (planes, step) = (1 + random.below(3), 1 + random.below(20));
        let (records, chunk, gap): (usize, usize, usize) =
            (1 + random.below(40), 1 + random.below(12), random.below(3));
        let (pitch, chunks, reversed) = (records * step + gap, records.div_ceil(chunk), random.chance(2));
        let threads = planes * step * chunks;
        let x: Vec<u32> = (0..planes * pitch).map(|_| random.bits() as u32).collect();
        // The thread of a chunk, and the records that it takes in the order of the scan.
        let parts = (0..threads).map(|thread| {
            let (plane, part, column) = (thread / step / chunks, thread / step % chunks, thread % step);
            let elements = part * chunk..records.min((part + 1) * chunk);
            let place = move |i: usize| plane * pitch + column + step * if reversed { records - 1 - i } else { i };
            elements.map(place).collect::<Vec<usize>>()
        });
        let parts: Vec<Vec<usize>> = parts.collect();
        let mut device = Device::new();
        let bytes = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        let (from, to) = (device.buffer(&bytes(&x)), device.buffer(&vec![0xa5; 4 * x.len()]));
        // A fault would lie before totals.
        let totals = device.buffer(&vec![0; 16 + 8 * threads]);
        let workspace = device.buffer(&[0; 64]);
        let starts: Vec<u32> = (0..threads).map(|_| random.bits() as u32).collect();
        let row = layout.row_bytes();
        let mut states = vec![0u8; row * threads];
        for (state, &start) in states.chunks_exact_mut(row).zip(&starts) {
            state[..8].copy_from_slice(&bytes(&[1, start]));
        }
        let states = device.buffer(&states);
        let run = |device: &mut Device, totals_at: u64, states_at: u64| {
            let mut block = vec![0; layout.bytes()];
            let mut set = |offset: usize, word: u64| block[offset..offset + 8].copy_from_slice(&word.to_le_bytes());
            set(Arguments::RECORDS, records as u64);
            set(Arguments::WORKSPACE, device.address(workspace));
            set(Arguments::TOTAL, totals_at);
            set(Arguments::REVERSED, reversed.into());
            set(Arguments::ROWS, threads as u64);
            set(Arguments::PITCH, pitch as u64);
            set(Arguments::STEP, step as u64);
            set(Arguments::CHUNK, chunk as u64);
            set(Arguments::STATES_OF_ROWS, states_at);
            set(layout.column(0), device.address(from));
            set(layout.column(1), device.address(to));
            block[layout.start()..][..8].copy_from_slice(&bytes(&[1, 0]));
            let blocks = threads.div_ceil(manifest.threads) as u32;
            let launch =
                Launch { blocks, threads: manifest.threads as u32, args: &block, seed: case, ..Launch::default() };
            kernel.launch(device, &launch).unwrap();
        };
        let (totals_at, states_at) = (device.address(totals) + 16, device.address(states));
        run(&mut device, totals_at, 0);
        let fold = |places: &Vec<usize>| {
            let next = |(a, b): (u32, u32), &at: &usize| (a.wrapping_mul(3), b.wrapping_mul(3).wrapping_add(x[at]));
            let (a, b) = places.iter().fold((1, 0), next);
            [a, b]
        };
        let expected: Vec<u32> = parts.iter().flat_map(fold).collect();
        assert_eq!(words(&device.read(totals))[4..], expected, "case {case}");

        run(&mut device, 0, states_at);
        let mut expected = vec![0xa5a5_a5a5; x.len()];
        for (places, &start) in parts.iter().zip(&starts) {
            places.iter().fold(start, |before, &at| {
                expected[at] = before.wrapping_mul(3).wrapping_add(x[at]);
                expected[at]
            });
        }
        assert_eq!(words(&device.read(to)), expected, "case {case}");
    }
}
