//! Offsets as flags, by the kernel for it in the emulator: what a plain loop flags.

use monoscan_codegen::gpu::Arch;
use monoscan_codegen::nvptx::{OFFSETS_THREADS, OffsetsArguments, OffsetsKernel};
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

#[test]
fn heads_are_flagged_whatever_the_width_and_the_address() {
    let kernel = Kernel::compile(&OffsetsKernel::emulated(), "scan").unwrap();
    let mut random = Random(5);
    for case in 0..60u64 {
        let segments = *random.pick(&[1, 2, 31, 255, 256, 257, 700]);
        let mut offsets = vec![0u64];
        for _ in 0..segments {
            offsets.push(offsets[offsets.len() - 1] + [0, 0, 1, 3, 9][random.below(5)]);
        }
        let records = offsets[segments] as usize;
        // Offsets past the records are ignored.
        if random.chance(4) {
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
        let arguments = OffsetsArguments {
            segments: segments as u64,
            records: records as u64,
            offsets: device.address(from),
            flags: device.address(to),
            reversed,
            wide,
        };
        let launch = Launch {
            blocks: segments.div_ceil(OFFSETS_THREADS) as u32,
            threads: OFFSETS_THREADS as u32,
            args: &arguments.to_bytes(),
            seed: case,
            ..Launch::default()
        };
        kernel.launch(&mut device, &launch).unwrap();
        assert_eq!(device.read(to), flags(&offsets, records, reversed), "case {case}");
    }
}

#[test]
fn every_architecture_has_the_kernel() {
    for arch in Arch::ALL {
        assert!(OffsetsKernel::new(arch).compile().unwrap().contains(".visible .entry scan("), "{arch}");
    }
}
