//! Helper kernels in the emulator, against plain loops: offsets and rows as flags, numbers as
//! starts, records copied from one spacing to another, splits by digits.

use monoscan_codegen::gpu::Arch;
use monoscan_codegen::nvptx::{
    FLAGS_OF_THREAD, HELPER_THREADS, HelperIr, HelperKernel, MOST_OF_BLOCK, OffsetsArguments, RowFlagsArguments,
    SpacingArguments, SplitArguments, StartsArguments, Width,
};
use scan_emulator::{Device, Fault, Intrinsic, Kernel, Launch};
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
            reversed: reversed.into(),
            wide: wide.into(),
        };
        launch(&kernel, &mut device, segments, bytemuck::bytes_of(&arguments), case);
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
            launch(&kernel, &mut device, records, bytemuck::bytes_of(&arguments), case);
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
            from: device.address(source) + from.0 as u64,
            from_spacing: from.1,
            to: device.address(target) + to.0 as u64,
            to_spacing: to.1,
        };
        launch(&kernel, &mut device, records, bytemuck::bytes_of(&arguments), case);
        assert_eq!(device.read(target), expected, "case {case}: {records} of {size} from {from:?} to {to:?}");
    }
}

/// Keys of so many bytes, and values of so many beside them, split by a digit: counted, their counts added up by a loop, and moved.
fn split(key: Width, value: Option<Width>, (records, of_block): (usize, usize), seed: u64) {
    let mut random = Random(seed);
    let (bytes, bits) = (key.bytes(), 8 * key.bytes() as u32);
    let keys = random.bytes(records * bytes);
    let few = random.chance(2);
    let number = |keys: &[u8], record: usize| {
        let mut word = [0; 8];
        word[..bytes].copy_from_slice(&keys[record * bytes..][..bytes]);
        u64::from_le_bytes(word)
    };
    let mask = u64::MAX >> (64 - bits);
    let keys: Vec<u8> = (0..records)
        .flat_map(|record| {
            (number(&keys, record) & if few { 0x8101_0301_8101_0301 } else { mask }).to_le_bytes()[..bytes].to_vec()
        })
        .collect();
    let (shift, signs, flips) = (8 * random.below(bytes) as u64, [0, mask][random.below(2)], mask & 0x80 << (bits - 8));
    let digit = |record: usize| {
        let key = number(&keys, record);
        let sign = if key >> (bits - 1) == 1 { signs } else { 0 };
        ((key ^ sign ^ flips) >> shift) as usize & 255
    };
    let mut order: Vec<usize> = (0..records).collect();
    order.sort_by_key(|&record| digit(record));
    let values = value.map(|width| random.bytes(records * width.bytes()));
    // Numbers of records stand for values that are not given.
    let is_number = value == Some(Width::Four) && random.chance(2);
    let picked = |column: &[u8], bytes: usize| -> Vec<u8> {
        order.iter().flat_map(|&record| column[record * bytes..][..bytes].to_vec()).collect()
    };

    let mut device = Device::new();
    let blocks = records.div_ceil(of_block);
    // Keys may begin anywhere that is natural for them.
    let before = if random.chance(2) { 0 } else { bytes };
    let from = device.buffer(&[&vec![0; before][..], &keys].concat());
    let counts = device.buffer(&vec![0xa5; 4 * 256 * blocks]);
    let keys_to = device.buffer(&vec![0xa5; keys.len()]);
    let beside = values.as_ref().map(|values| (device.buffer(values), device.buffer(&vec![0xa5; values.len()])));
    let without_keys = value.is_some() && random.chance(2);
    let mut arguments = SplitArguments {
        records: records as u64,
        of_block: of_block as u64,
        keys: device.address(from) + before as u64,
        shift,
        signs,
        flips,
        counts: device.address(counts),
        keys_to: if without_keys { 0 } else { device.address(keys_to) },
        values: beside.filter(|_| !is_number).map_or(0, |(values, _)| device.address(values)),
        values_to: beside.map_or(0, |(_, to)| device.address(to)),
    };
    let run = |device: &mut Device, helper: HelperKernel, arguments: &SplitArguments| {
        let kernel = Kernel::compile(&helper.emulated(), "scan").unwrap();
        let launch = Launch {
            blocks: blocks as u32,
            threads: HELPER_THREADS as u32,
            shared_bytes: helper.shared(),
            args: bytemuck::bytes_of(arguments),
            seed,
            ..Launch::default()
        };
        kernel.launch(device, &launch).unwrap();
    };
    run(&mut device, HelperKernel::Count(key), &arguments);
    let mut expected = vec![0u32; 256 * blocks];
    (0..records).for_each(|record| expected[digit(record) * blocks + record / of_block] += 1);
    let words = |words: &[u32]| -> Vec<u8> { words.iter().flat_map(|word| word.to_le_bytes()).collect() };
    assert_eq!(device.read(counts), words(&expected));

    let sums: Vec<u32> = expected
        .iter()
        .scan(0, |sum, count| {
            *sum += count;
            Some(*sum - count)
        })
        .collect();
    let sums = device.buffer(&words(&sums));
    arguments.counts = device.address(sums);
    run(&mut device, HelperKernel::Split(key, value), &arguments);
    match without_keys {
        true => assert_eq!(device.read(keys_to), vec![0xa5; keys.len()]),
        false => assert_eq!(device.read(keys_to), picked(&keys, bytes)),
    }
    if let (Some((_, to)), Some(values), Some(width)) = (beside, values, value) {
        let numbers = words(&(0..records as u32).collect::<Vec<_>>());
        let column = if is_number { &numbers } else { &values };
        assert_eq!(device.read(to), picked(column, width.bytes()));
    }
}

#[test]
fn splits_are_stable_whatever_the_widths() {
    let tile = |key, value| HelperKernel::Split(key, value).tile();
    split(Width::Four, None, (2 * tile(Width::Four, None) + 700, 2 * tile(Width::Four, None)), 1);
    let (key, value) = (Width::Eight, Some(Width::Four));
    split(key, value, (2 * tile(key, value) + 33, 2 * tile(key, value)), 2);
    // As many records of few digits as the counters of a block have space for.
    for seed in 8..12 {
        let most = MOST_OF_BLOCK / tile(Width::One, None) * tile(Width::One, None);
        split(Width::One, None, (most + 5000, most), seed);
    }
    for (seed, (key, value)) in (3..).zip([
        (Width::One, Some(Width::Four)),
        (Width::Two, None),
        (Width::Four, Some(Width::Eight)),
        (Width::One, Some(Width::Eight)),
        (Width::Four, Some(Width::Four)),
    ]) {
        split(key, value, ([1, 31, 1000, 257, 4000][seed as usize - 3], tile(key, value)), seed);
    }
}

/// Without a call that orders threads something goes wrong.
#[test]
fn calls_of_a_split_are_missed() {
    let (width, split) = (Width::Four, HelperKernel::Split(Width::Four, Some(Width::Four)));
    // Two tiles of a block.
    let records = split.tile() as u32 + 300;
    let keys: Vec<u8> = (0..records).flat_map(|record| (record.wrapping_mul(77) % 9).to_le_bytes()).collect();
    for helper in [HelperKernel::Count(width), split] {
        let kernel = Kernel::compile(&helper.emulated(), "scan").unwrap();
        let run = |faults: &[Fault]| {
            let mut device = Device::new();
            let (from, to) = (device.buffer(&keys), device.buffer(&vec![0; keys.len()]));
            let values_to = device.buffer(&vec![0; keys.len()]);
            let counts = device.buffer(&[0; 4 * 256]);
            let arguments = SplitArguments {
                records: records.into(),
                of_block: 2 * split.tile() as u64,
                keys: device.address(from),
                shift: 0,
                signs: 0,
                flips: 0,
                counts: device.address(counts),
                keys_to: device.address(to),
                values: 0,
                values_to: device.address(values_to),
            };
            let launch = Launch {
                threads: HELPER_THREADS as u32,
                shared_bytes: helper.shared(),
                args: bytemuck::bytes_of(&arguments),
                faults,
                ..Launch::default()
            };
            kernel.launch(&mut device, &launch)
        };
        // All go to where the sums of 0 say, over each other: that is no matter of order.
        assert!(run(&[]).is_ok());
        let calls = |intrinsic| kernel.calls().filter(move |call| call.1 == intrinsic);
        // Those of the warp are alike for each item.
        for (call, _, text) in calls(Intrinsic::Barrier).chain(calls(Intrinsic::WarpBarrier).take(3)) {
            assert!(run(&[Fault::WithoutCall(call)]).is_err(), "{helper:?}: {text} {call} is not missed");
        }
    }
}

#[test]
fn every_architecture_has_the_kernels() {
    for arch in Arch::ALL {
        // Splits are long, and alike on all.
        let is_split = |helper: &HelperKernel| matches!(helper, HelperKernel::Split(..) | HelperKernel::Partition(_));
        for helper in HelperKernel::all().filter(|helper| arch == Arch::Sm90 || !is_split(helper)) {
            let ptx = HelperIr::new(helper, arch).compile().unwrap();
            assert!(ptx.contains(".visible .entry scan("), "{helper:?} {arch}");
        }
    }
}

#[test]
fn the_first_record_of_each_row_is_flagged() {
    let kernel = Kernel::compile(&HelperKernel::RowFlags.emulated(), "scan").unwrap();
    let mut random = Random(9);
    for case in 0..60u64 {
        let records = *random.pick(&[1, 2, 3, 7, 8, 15, 16, 17, 100, 5000]);
        let threads = *random.pick(&[1, 2, 255, 256, 257, 700]);
        let mut device = Device::new();
        let to = device.buffer(&vec![0xa5; threads * FLAGS_OF_THREAD]);
        let arguments =
            RowFlagsArguments { threads: threads as u64, records: records as u64, flags: device.address(to) };
        launch(&kernel, &mut device, threads, bytemuck::bytes_of(&arguments), case);
        let expected: Vec<u8> = (0..threads * FLAGS_OF_THREAD).map(|i| u8::from(i % records == 0)).collect();
        assert_eq!(device.read(to), expected, "rows of {records}");
    }
}
