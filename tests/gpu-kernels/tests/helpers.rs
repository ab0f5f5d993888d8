//! Helper kernels in the emulator, against plain loops: offsets as flags and numbers, numbers as
//! starts, records copied from one spacing to another.

use monoscan_codegen::gpu::Arch;
use monoscan_codegen::nvptx::{
    HELPER_THREADS, HelperIr, HelperKernel, OffsetsArguments, SpacingArguments, StartsArguments,
};
use scan_emulator::{Device, Kernel, Launch};
use scan_kit::Random;

/// The flags of these segments, by a loop.
fn flags(offsets: &[u64], records: usize, reversed: bool) -> Vec<u8> {
    let mut flags = vec![0; records];
    for ends in offsets.windows(2).filter(|ends| ends[0] < ends[1]) {
        let head = if reversed { ends[1] - 1 } else { ends[0] };
        if let Some(flag) = flags.get_mut(head as usize) {
            *flag = 1;
        }
    }
    flags
}

/// The number of each segment, plus 1, beside its first record.
fn numbers(offsets: &[u64], records: usize) -> Vec<u8> {
    let mut numbers = vec![0u32; records];
    for (ends, number) in offsets.windows(2).zip(1..).filter(|(ends, _)| ends[0] < ends[1]) {
        numbers[ends[0] as usize] = number;
    }
    numbers.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// Runs a helper kernel, which has a thread for each of so many things.
fn launch(kernel: &Kernel, device: &mut Device, things: usize, args: &[u8], seed: u64) {
    let blocks = things.div_ceil(HELPER_THREADS) as u32;
    let launch = Launch { blocks, threads: HELPER_THREADS as u32, args, seed, ..Launch::default() };
    kernel.launch(device, &launch).unwrap();
}

#[test]
fn heads_are_flagged_whatever_the_width_and_the_address() {
    let kernel = Kernel::compile(&HelperKernel::Offsets.emulated(), "scan").unwrap();
    let mut random = Random(5);
    for case in 0..60u64 {
        let segments = *random.pick(&[1, 2, 31, 255, 256, 257, 700]);
        let mut offsets = vec![0u64];
        for _ in 0..segments {
            offsets.push(offsets[offsets.len() - 1] + [0, 0, 1, 3, 9][random.below(5)]);
        }
        let records = offsets[segments] as usize;
        // Offsets past the records are ignored.
        let numbered = random.chance(2);
        if !numbered && random.chance(4) {
            offsets[segments] += 1000;
        }
        let (reversed, wide) = (random.chance(2), random.chance(2));
        let bytes: Vec<u8> = match wide {
            true => offsets.iter().flat_map(|offset| offset.to_le_bytes()).collect(),
            false => offsets.iter().flat_map(|&offset| (offset as u32).to_le_bytes()).collect(),
        };
        let mut device = Device::new();
        let from = device.buffer_shifted(&bytes, random.below(16));
        let to = device.buffer_shifted(&vec![0; records], random.below(16));
        let beside = device.buffer(&vec![0; 4 * records]);
        let arguments = OffsetsArguments {
            segments: segments as u64,
            records: records as u64,
            offsets: device.address(from),
            flags: device.address(to),
            numbers: if numbered { device.address(beside) } else { 0 },
            reversed,
            wide,
        };
        launch(&kernel, &mut device, segments, &arguments.to_bytes(), case);
        assert_eq!(device.read(to), flags(&offsets, records, reversed), "case {case}");
        if numbered {
            assert_eq!(device.read(beside), numbers(&offsets, records), "case {case}");
        }
    }
}

#[test]
fn every_record_has_the_start_of_its_segment_beside_it() {
    let kernel = Kernel::compile(&HelperKernel::Starts.emulated(), "scan").unwrap();
    let mut random = Random(6);
    for case in 0..40u64 {
        let (records, count) = (*random.pick(&[0, 1, 255, 256, 257, 700]), 1 + random.below(9));
        let size = *random.pick(&[1, 2, 3, 4, 7, 8, 12, 40]);
        let states = random.bytes(count * size);
        // Numbers past the last state are those of segments without one: wrong calls, which are refused afterwards.
        let numbers: Vec<u32> = (0..records).map(|_| random.below(count + 2) as u32).collect();
        let start = |&number: &u32| states[(number as usize).min(count - 1) * size..][..size].to_vec();
        let expected: Vec<u8> = numbers.iter().flat_map(start).collect();
        let mut device = Device::new();
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        let (numbers, states) = (device.buffer(&bytes), device.buffer(&states));
        let to = device.buffer(&vec![0xa5; records * size]);
        let arguments = StartsArguments {
            records: records as u64,
            numbers: device.address(numbers),
            states: device.address(states),
            count: count as u64,
            bytes: size as u64,
            starts: device.address(to),
        };
        if records > 0 {
            launch(&kernel, &mut device, records, &arguments.to_bytes(), case);
        }
        assert_eq!(device.read(to), expected, "case {case}");
    }
}

#[test]
fn records_are_copied_from_any_spacing_to_any_other() {
    let kernel = Kernel::compile(&HelperKernel::Spacing.emulated(), "scan").unwrap();
    let mut random = Random(7);
    for case in 0..60u64 {
        let records = *random.pick(&[1usize, 2, 31, 255, 256, 257, 600]);
        let size = *random.pick(&[1usize, 2, 3, 4, 6, 8, 12, 16, 24, 32]);
        let gap = |random: &mut Random| size * random.below(3) + [0, 0, 1, 4][random.below(4)];
        // Where record 0 is, how far the next one is from it, and how many bytes all of them span.
        let column = |random: &mut Random, repeats: bool| {
            let spacing = if repeats { 0 } else { size + gap(random) };
            let span = spacing * (records - 1) + size;
            if random.chance(2) { (span - size, -(spacing as i64), span) } else { (0, spacing as i64, span) }
        };
        let repeats = random.chance(5);
        let (from, to) = (column(&mut random, repeats), column(&mut random, false));
        let (read, before) = (random.bytes(from.2), random.bytes(to.2));
        let mut expected = before.clone();
        for record in 0..records as i64 {
            let at = |(first, spacing, _): (usize, i64, usize)| (first as i64 + record * spacing) as usize;
            expected[at(to)..][..size].copy_from_slice(&read[at(from)..][..size]);
        }
        let mut device = Device::new();
        let source = device.buffer_shifted(&read, random.below(16) & !(random.below(16)));
        let target = device.buffer_shifted(&before, random.below(16) & !(random.below(16)));
        let arguments = SpacingArguments {
            records: records as u64,
            bytes: size as u64,
            from: (device.address(source) + from.0 as u64, from.1),
            to: (device.address(target) + to.0 as u64, to.1),
        };
        launch(&kernel, &mut device, records, &arguments.to_bytes(), case);
        assert_eq!(device.read(target), expected, "case {case}: {records} of {size} from {from:?} to {to:?}");
    }
}

#[test]
fn every_architecture_has_the_kernels() {
    for arch in Arch::ALL {
        for helper in HelperKernel::ALL {
            let ptx = HelperIr::new(helper, arch).compile().unwrap();
            assert!(ptx.contains(".visible .entry scan("), "{helper:?} {arch}");
        }
    }
}
