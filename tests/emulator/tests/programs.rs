//! The ring of a program that minds the order of its elements is right in the emulator, and all
//! that orders something in it is needed. What is checked here is the emulator, by a kernel of real
//! complexity.

use std::sync::LazyLock;

use monoscan_codegen::gpu::{Arch, Arguments, GpuPlan, Schedule};
use monoscan_codegen::nvptx::{self, KernelPlan};
use monoscan_ir::transform::{Form, Lowered, lower};
use monoscan_ir::{interp, text, verify};
use scan_emulator::{Device, Fault, Intrinsic, Kernel, Launch, LaunchError};

/// Maps x -> a x + b modulo 2^32: what changes its order, or takes an element twice, changes its result.
static AFFINE: LazyLock<Lowered> = LazyLock::new(|| {
    let program = text::parse(
        "program affine
          input { size 8, align 4, u32 @ 0, u32 @ 4 }
          stage (u32, u32)
            identity (1, 0)
            lift (%0 = record.0: u32, %1 = record.1: u32) { return %0, %1 }
            combine (%0: u32, %1: u32, %2: u32, %3: u32) {
              %4 = mul.u32 %2, %0
              %5 = mul.u32 %2, %1
              %6 = add.u32 %5, %3
              return %4, %6
            }
          output write
            column { size 4, align 4, u32 @ 0 }
            project (%0 = state.1: u32) { return %0 }",
    );
    lower(&verify(program.unwrap()).unwrap(), Form::default())
});

const RING: GpuPlan = GpuPlan {
    schedule: Schedule::Ring { buffers: 4, ahead: 2, shifted: false },
    warps: 2,
    load_group: 2,
    load_groups: 3,
};

/// A kernel of the program.
struct Scan {
    kernel: Kernel,
    manifest: monoscan_codegen::gpu::Manifest,
}

impl Scan {
    fn new(plan: &GpuPlan) -> Scan {
        let nvptx::Kernel { text, manifest } = KernelPlan::with(&AFFINE, plan, Arch::Sm90).unwrap().emulated();
        Scan { kernel: Kernel::compile(&text, "scan").unwrap(), manifest }
    }

    /// Runs two launches after each other in one workspace, and gives both results.
    fn run(&self, records: usize, seed: u64, faults: &[Fault]) -> Result<[Vec<u8>; 2], LaunchError> {
        let manifest = &self.manifest;
        let mut device = Device::new();
        let input = device.buffer(&maps(records));
        let outputs = [(); 2].map(|()| device.buffer(&vec![0xee; 4 * records]));
        let workspace = device.buffer(&vec![0; manifest.workspace_bytes(1, records)]);
        for (launched, output) in outputs.into_iter().enumerate() {
            let arguments = &manifest.arguments;
            let mut args = vec![0; arguments.bytes()];
            let mut set = |offset: usize, value: u64| args[offset..offset + 8].copy_from_slice(&value.to_le_bytes());
            set(Arguments::RECORDS, records as u64);
            set(Arguments::WORKSPACE, device.address(workspace));
            set(Arguments::TIMEOUT, 1 << 40);
            set(Arguments::ROWS, 1);
            set(Arguments::PITCH, records as u64);
            set(Arguments::STEP, 1);
            set(arguments.column(0), device.address(input));
            set(arguments.column(1), device.address(output));
            // The first record starts from the identity, (1, 0).
            set(arguments.start(), 1);
            let launch = Launch {
                blocks: manifest.blocks(1, records, 3) as u32,
                threads: manifest.threads as u32,
                shared_bytes: manifest.shared_bytes,
                args: &args,
                resident: 3,
                seed: 2 * seed + launched as u64,
                faults,
                patience: 200_000,
                ..Launch::default()
            };
            self.kernel.launch(&mut device, &launch)?;
        }
        Ok(outputs.map(|output| device.read(output)))
    }
}

/// So many maps.
fn maps(records: usize) -> Vec<u8> {
    (0..2 * records as u32).flat_map(|word| (word.wrapping_mul(0x9e37_79b9) | 1).to_le_bytes()).collect()
}

fn expected(records: usize) -> Vec<u8> {
    interp::run(&*AFFINE, &[&maps(records)], &interp::Request::default()).unwrap().outputs.remove(0)
}

#[test]
fn kernels_are_right_whatever_the_schedule() {
    let scan = Scan::new(&RING);
    let tile = RING.tile();
    for records in [1, 31, tile - 1, tile, tile + 1, 5 * tile + 7, 12 * tile, 150 * tile + 3] {
        let expected = expected(records);
        for seed in 0..if records > 100 * tile { 1 } else { 4 } {
            match scan.run(records, seed, &[]) {
                Ok(found) => assert!(found == [&expected[..], &expected[..]], "{records} records, seed {seed}"),
                Err(error) => panic!("{records} records, seed {seed}: {error}"),
            }
        }
    }
}

#[test]
fn each_call_that_orders_something_is_missed() {
    let scan = Scan::new(&RING);
    let records = 9 * RING.tile() + 5;
    let expected = expected(records);
    let is_found = |call: usize| {
        let right =
            |seed| scan.run(records, seed, &[Fault::WithoutCall(call)]).is_ok_and(|found| found == [&expected[..]; 2]);
        !(0..10).all(right)
    };
    // The end of the kernel, too, waits for bulk stores to land.
    let calls = scan.kernel.calls().filter(|&(_, intrinsic, _)| intrinsic.orders() && intrinsic != Intrinsic::BulkWait);
    let not_missed: Vec<(usize, Intrinsic, &str)> = calls.filter(|&(call, ..)| !is_found(call)).collect();
    // The lanes that wait for other blocks come together again after that; nothing they wrote or read needs it.
    assert!(matches!(not_missed[..], [(_, Intrinsic::WarpBarrier, _)]), "{not_missed:?}");
}
