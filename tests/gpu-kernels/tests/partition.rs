//! Partitions by flags in the emulator, against plain loops.

use monoscan_codegen::nvptx::{HELPER_THREADS, HelperKernel, PartitionArguments, Width};
use scan_emulator::{Buffer, Device, Fault, Kernel, Launch, LaunchError};
use scan_kit::Random;

/// Columns of records to be parted by flags, in the memory of an emulated device.
struct Parted {
    device: Device,
    arguments: PartitionArguments,
    blocks: usize,
    flags: Vec<u8>,
    values: Vec<u8>,
    counts: Buffer,
    to: Buffer,
    set: Buffer,
}

/// Of every so many records one is set; flags begin so many bytes further on, and values at an address like that.
fn parted(
    width: Width,
    (records, of_block): (usize, usize),
    one_of: usize,
    shift: usize,
    random: &mut Random,
) -> Parted {
    // Only the lowest bit counts.
    let flags: Vec<u8> = (0..records).map(|_| random.below(128) as u8 * 2 + u8::from(random.chance(one_of))).collect();
    let values = random.bytes(records * width.bytes());
    let mut device = Device::new();
    let blocks = records.div_ceil(of_block).max(1);
    let from = device.buffer_shifted(&flags, shift);
    let column = device.buffer_shifted(&values, shift % 4 * width.bytes());
    let counts = device.buffer(&vec![0xa5; 4 * (blocks + 1)]);
    let to = device.buffer_shifted(&vec![0xa5; values.len()], random.below(32) * width.bytes());
    let set = device.buffer(&[0xa5; 4]);
    let arguments = PartitionArguments {
        records: records as u64,
        of_block: of_block as u64,
        flags: device.address(from),
        counts: device.address(counts),
        values: device.address(column),
        values_to: device.address(to),
        set: device.address(set),
    };
    Parted { device, arguments, blocks, flags, values, counts, to, set }
}

impl Parted {
    fn run(&mut self, helper: HelperKernel, kernel: &Kernel, faults: &[Fault], seed: u64) -> Result<(), LaunchError> {
        let launch = Launch {
            blocks: self.blocks as u32,
            threads: HELPER_THREADS as u32,
            shared_bytes: helper.shared(),
            args: bytemuck::bytes_of(&self.arguments),
            faults,
            seed,
            ..Launch::default()
        };
        kernel.launch(&mut self.device, &launch).map(drop)
    }

    /// Puts the exclusive sums of the counts where these are, after a look at them.
    fn add_up(&mut self) {
        let mut counts = vec![0u32; self.blocks + 1];
        let of_block = self.arguments.of_block as usize;
        self.flags.iter().enumerate().for_each(|(record, flag)| counts[record / of_block] += u32::from(flag & 1));
        let words = |words: &[u32]| -> Vec<u8> { words.iter().flat_map(|word| word.to_le_bytes()).collect() };
        assert_eq!(self.device.read(self.counts), words(&counts));
        let before = |block: usize| counts[..block].iter().sum();
        let sums = self.device.buffer(&words(&(0..=self.blocks).map(before).collect::<Vec<_>>()));
        self.arguments.counts = self.device.address(sums);
    }

    /// The values of this column by a loop, and how many are set.
    fn expected(&self, values: &[u8], bytes: usize) -> (Vec<u8>, Vec<u8>) {
        let (set, others): (Vec<_>, Vec<_>) =
            values.chunks(bytes).zip(&self.flags).partition(|(_, flag)| **flag & 1 == 1);
        let count = (set.len() as u32).to_le_bytes().to_vec();
        (set.into_iter().chain(others).flat_map(|(value, _)| value.to_vec()).collect(), count)
    }
}

#[test]
fn partitions_are_stable_whatever_the_width_and_the_address() {
    let mut random = Random(9);
    let compile = |helper: HelperKernel| (helper, Kernel::compile(&helper.emulated(), "scan").unwrap());
    let count = compile(HelperKernel::CountFlags);
    for width in Width::ALL {
        let part = compile(HelperKernel::Partition(width));
        let tile = part.0.tile();
        for case in 0..8 {
            // One tile, several of a block, whole and not; few are set, half of them, all.
            let records = [0, 1, 31, tile - 1, 2 * tile, 2 * tile + 700, 3 * tile + 5, tile][case];
            let one_of = [2, 1, 3, 2, 9, 2, 2, 100][case];
            let shift = if case % 3 == 2 { 1 + random.below(15) } else { 0 };
            let mut scene = parted(width, (records, 2 * tile), one_of, shift, &mut random);
            scene.run(count.0, &count.1, &[], case as u64).unwrap();
            scene.add_up();
            // Numbers of records stand for values that are not given.
            let mut values = scene.values.clone();
            if case == 6 {
                scene.arguments.values = 0;
                values =
                    (0..records as u64).flat_map(|record| record.to_le_bytes()[..width.bytes()].to_vec()).collect();
            }
            let asked = case != 5;
            if !asked {
                scene.arguments.set = 0;
            }
            scene.run(part.0, &part.1, &[], case as u64).unwrap();
            let (expected, set) = scene.expected(&values, width.bytes());
            assert!(scene.device.read(scene.to) == expected, "{width:?} {case}");
            assert_eq!(scene.device.read(scene.set), if asked { set } else { vec![0xa5; 4] }, "{width:?} {case}");
        }
    }
}

/// Without a call that orders threads something goes wrong.
#[test]
fn calls_of_a_partition_are_missed() {
    let (width, mut random) = (Width::Four, Random(10));
    for helper in [HelperKernel::CountFlags, HelperKernel::Partition(width)] {
        let kernel = Kernel::compile(&helper.emulated(), "scan").unwrap();
        let tile = HelperKernel::Partition(width).tile();
        let mut scene = parted(width, (2 * tile + 300, 3 * tile), 2, 0, &mut random);
        // All of the one block go to where sums of 0 say: that is no matter of order.
        let sums = scene.device.buffer(&[0; 8]);
        scene.arguments.counts = scene.device.address(sums);
        assert!(scene.run(helper, &kernel, &[], 1).is_ok());
        let calls: Vec<_> = kernel.calls().filter(|call| call.1.orders()).map(|call| (call.0, call.2)).collect();
        assert!(!calls.is_empty());
        for (call, text) in calls {
            let outcome = scene.run(helper, &kernel, &[Fault::WithoutCall(call)], 1);
            assert!(outcome.is_err(), "{helper:?}: {text} {call} is not missed");
        }
    }
}
