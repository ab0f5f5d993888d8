//! Kernels that are right are right under every seed, and each mistake that is put into them is
//! found.

use scan_emulator::{Device, Fault, Intrinsic, Kernel, Launch, LaunchError, Misuse};

/// Seeds that right kernels are run with, and within which a mistake must show.
const SEEDS: u64 = 40;

/// How one launch went.
#[derive(PartialEq, Debug)]
enum Outcome {
    Right,
    Wrong,
    Failed(LaunchError),
}

/// A kernel with its data.
struct Case {
    text: &'static str,
    name: &'static str,
    run: fn(&Kernel, u64, &[Fault]) -> Outcome,
}

impl Case {
    fn kernel(&self) -> Kernel {
        Kernel::compile(self.text, self.name).unwrap()
    }

    /// The same kernel with a piece of its text replaced.
    fn changed(&self, from: &str, to: &str) -> Kernel {
        assert_eq!(self.text.matches(from).count(), 1, "{from}");
        Kernel::compile(&self.text.replace(from, to), self.name).unwrap()
    }

    /// The first outcome that is not right.
    fn first_bad(&self, kernel: &Kernel, faults: &[Fault]) -> Option<Outcome> {
        (0..SEEDS).map(|seed| (self.run)(kernel, seed, faults)).find(|outcome| *outcome != Outcome::Right)
    }

    /// The misuse that a fault is found as.
    fn misuse(&self, fault: Fault) -> Misuse {
        match self.first_bad(&self.kernel(), &[fault]) {
            Some(Outcome::Failed(LaunchError::Misuse { misuse, .. })) => misuse,
            other => panic!("{fault:?} ended as {other:?}"),
        }
    }
}

const REDUCE: Case = Case { text: include_str!("kernels/reduce.ll"), name: "reduce", run: reduce };
const REVERSE: Case = Case { text: include_str!("kernels/reverse.ll"), name: "reverse", run: reverse };
const RING: Case = Case { text: include_str!("kernels/ring.ll"), name: "ring", run: ring };
const CHAIN: Case = Case { text: include_str!("kernels/chain.ll"), name: "chain", run: chain };
const FLAG: Case = Case { text: include_str!("kernels/flag.ll"), name: "flag", run: flag };

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn numbers(count: usize) -> Vec<u32> {
    (0..count as u32).map(|index| index.wrapping_mul(0x9e37_79b9) >> 16).collect()
}

fn args(addresses: &[u64]) -> Vec<u8> {
    addresses.iter().flat_map(|address| address.to_le_bytes()).collect()
}

/// Launches, and compares a buffer with what it should hold.
fn judge(
    kernel: &Kernel,
    mut device: Device,
    launch: &Launch<'_>,
    out: scan_emulator::Buffer,
    expected: &[u8],
) -> Outcome {
    match kernel.launch(&mut device, launch) {
        Ok(_) if device.read(out) == expected => Outcome::Right,
        Ok(_) => Outcome::Wrong,
        Err(error) => Outcome::Failed(error),
    }
}

fn reduce(kernel: &Kernel, seed: u64, faults: &[Fault]) -> Outcome {
    let data = numbers(3 * 128);
    let mut device = Device::new();
    let (input, out) = (device.buffer(&bytes(&data)), device.buffer(&[0; 12]));
    let args = args(&[device.address(input), device.address(out)]);
    let launch = Launch {
        blocks: 3,
        threads: 128,
        shared_bytes: 512,
        args: &args,
        resident: 2,
        seed,
        faults,
        ..Launch::default()
    };
    let expected: Vec<u32> = data.chunks(128).map(|block| block.iter().sum()).collect();
    judge(kernel, device, &launch, out, &bytes(&expected))
}

fn reverse(kernel: &Kernel, seed: u64, faults: &[Fault]) -> Outcome {
    let data = numbers(64);
    let mut device = Device::new();
    let buffer = device.buffer(&bytes(&data));
    let args = args(&[device.address(buffer)]);
    let launch = Launch { threads: 64, shared_bytes: 256, args: &args, seed, faults, ..Launch::default() };
    let expected: Vec<u32> = data.chunks(32).flat_map(|warp| warp.iter().rev().copied()).collect();
    judge(kernel, device, &launch, buffer, &bytes(&expected))
}

fn ring(kernel: &Kernel, seed: u64, faults: &[Fault]) -> Outcome {
    let (blocks, tiles) = (3, 7);
    let data = numbers(blocks * tiles * 256);
    let mut device = Device::new();
    let (input, out) = (device.buffer(&bytes(&data)), device.buffer(&vec![0; data.len() * 4]));
    let args = args(&[device.address(input), device.address(out), tiles as u64]);
    let blocks = blocks as u32;
    let launch =
        Launch { blocks, threads: 96, shared_bytes: 2080, args: &args, resident: 2, seed, faults, ..Launch::default() };
    let expected: Vec<u32> = data.iter().map(|number| number + 1).collect();
    judge(kernel, device, &launch, out, &bytes(&expected))
}

fn chain(kernel: &Kernel, seed: u64, faults: &[Fault]) -> Outcome {
    let tiles = 12;
    let data = numbers(tiles * 32);
    let mut device = Device::new();
    let (input, out) = (device.buffer(&bytes(&data)), device.buffer(&vec![0; data.len() * 4]));
    let (words, ticket) = (device.buffer(&vec![0; tiles * 8]), device.buffer(&[0; 4]));
    let args = args(&[input, out, words, ticket].map(|buffer| device.address(buffer)));
    let blocks = tiles as u32;
    let launch = Launch { blocks, args: &args, resident: 3, seed, faults, patience: 20_000, ..Launch::default() };
    let expected: Vec<u32> =
        data.iter().scan(0, |sum, number| Some(std::mem::replace(sum, *sum + number) + number)).collect();
    judge(kernel, device, &launch, out, &bytes(&expected))
}

fn flag(kernel: &Kernel, seed: u64, faults: &[Fault]) -> Outcome {
    let mut device = Device::new();
    let [value, flag, result] = [0; 3].map(|zero: u64| device.buffer(&zero.to_le_bytes()));
    let args = args(&[value, flag, result].map(|buffer| device.address(buffer)));
    let launch = Launch { blocks: 2, args: &args, seed, faults, ..Launch::default() };
    judge(kernel, device, &launch, result, &42u64.to_le_bytes())
}

#[test]
fn right_kernels_are_right_whatever_the_schedule() {
    for case in [REDUCE, REVERSE, RING, CHAIN] {
        assert_eq!(case.first_bad(&case.kernel(), &[]), None, "{}", case.name);
    }
}

#[test]
fn a_missing_barrier_of_the_block_is_a_race() {
    assert!(matches!(REDUCE.misuse(Fault::NO_BARRIER), Misuse::Race { .. }));
}

#[test]
fn a_missing_barrier_of_the_warp_is_a_race() {
    assert!(matches!(REVERSE.misuse(Fault::NO_WARP_BARRIER), Misuse::Race { .. }));
}

#[test]
fn a_missing_fence_is_found_by_the_bulk_store() {
    assert!(matches!(RING.misuse(Fault::NO_BULK_FENCE), Misuse::Unfenced { .. }));
}

#[test]
fn a_stage_that_nobody_waited_for_is_a_race() {
    assert!(matches!(RING.misuse(Fault::NO_BARRIER_WAIT), Misuse::Race { .. }));
}

#[test]
fn a_stage_refilled_before_it_was_read_is_a_race() {
    assert!(matches!(RING.misuse(Fault::NO_WAIT_READ), Misuse::Race { .. }));
}

/// Each call that orders something is there for a reason.
#[test]
fn each_call_that_is_left_out_is_found() {
    for case in [REDUCE, REVERSE, RING] {
        let kernel = case.kernel();
        for (call, intrinsic, text) in kernel.calls() {
            // The end of the kernel, too, waits for bulk stores to land.
            if intrinsic.orders() && intrinsic != Intrinsic::BulkWait {
                assert_ne!(case.first_bad(&kernel, &[Fault::WithoutCall(call)]), None, "{}: {text}", case.name);
            }
        }
    }
}

#[test]
fn words_without_a_look_at_the_tag_are_wrong() {
    let kernel = CHAIN.changed("%good = icmp eq i32 %tag, %ticket", "%good = icmp eq i32 %tag, %tag");
    assert_eq!(CHAIN.first_bad(&kernel, &[]), Some(Outcome::Wrong));
}

#[test]
fn tiles_by_number_of_the_block_get_stuck_where_tickets_do_not() {
    let text =
        CHAIN.text.replace("declare i32 @scan.thread()", "declare i32 @scan.thread()\ndeclare i32 @scan.block()");
    let text = text.replace("call i32 @scan.add(ptr addrspace(1) %counter, i32 1)", "call i32 @scan.block()");
    let kernel = Kernel::compile(&text, "chain").unwrap();
    match CHAIN.first_bad(&kernel, &[]) {
        Some(Outcome::Failed(LaunchError::Stuck { waiting, .. })) => {
            assert!(waiting.contains("scan.sleep") || waiting.contains("scan.load_word"), "{waiting}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn two_words_arrive_in_either_order() {
    let kernel = FLAG.kernel();
    let outcomes: Vec<Outcome> = (0..SEEDS).map(|seed| flag(&kernel, seed, &[])).collect();
    assert!(outcomes.contains(&Outcome::Right) && outcomes.contains(&Outcome::Wrong), "{outcomes:?}");
}

#[test]
fn a_seed_fixes_the_schedule() {
    let kernel = CHAIN.changed("%good = icmp eq i32 %tag, %ticket", "%good = icmp eq i32 %tag, %tag");
    for seed in 0..SEEDS {
        assert_eq!(chain(&kernel, seed, &[]), chain(&kernel, seed, &[]));
    }
}
