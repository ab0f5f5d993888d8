//! Every rung of the ladder is right in the emulator, for operators that mind the order of their
//! elements, at lengths around its boundaries. So it is in a second launch, which finds the
//! workspace as the first one left it.

use std::sync::LazyLock;

use gpu_ladder::{LadderKernels, Rung};
use monoscan_codegen::gpu::{Arch, Arguments, HEADER_BYTES};
use monoscan_ir::transform::{Form, Lowered, lower};
use monoscan_ir::{interp, text, verify};
use scan_emulator::{Device, Fault, Intrinsic, Kernel, Launch, LaunchError};

/// A program, and the bytes of its identity.
struct Operator {
    program: Lowered,
    identity: &'static [u8],
}

impl Operator {
    fn new(text: &str, identity: &'static [u8]) -> Operator {
        Operator { program: lower(&verify(text::parse(text).unwrap()).unwrap(), Form::default()), identity }
    }

    /// So many records, column by column.
    fn inputs(&self, records: usize) -> Vec<Vec<u8>> {
        let columns = (1..).zip(&self.program.inputs);
        let column = |(seed, size): (u64, usize)| {
            let mut random = fastrand::Rng::with_seed(seed);
            (0..records * size).map(|_| random.u8(..)).collect()
        };
        columns.map(|(seed, column_layout)| column((seed, column_layout.size as usize))).collect()
    }

    fn expected(&self, inputs: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let columns: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
        interp::run(&self.program, &columns, &interp::Request::default()).unwrap().outputs
    }
}

static SUM: LazyLock<Operator> = LazyLock::new(|| {
    Operator::new(
        "program sum
          input { size 4, align 4, i32 @ 0 }
          stage (i32)
            identity (0)
            lift (%0 = record.0: i32) { return %0 }
            combine (%0: i32, %1: i32) {
              %2 = add.i32 %0, %1
              return %2
            }
          output write
            column { size 4, align 4, i32 @ 0 }
            project (%0 = state.0: i32) { return %0 }",
        &[0; 4],
    )
});

/// x -> a x + b modulo 2^32, of two columns; the second output is another one's size.
static AFFINE: LazyLock<Operator> = LazyLock::new(|| {
    Operator::new(
        "program affine
          input { size 4, align 4, u32 @ 0 }
          input { size 1, align 1, u8 @ 0 }
          stage (u32, u32)
            identity (1, 0)
            lift (%0 = record.0: u32, %1 = record.1: u8) {
              %2 = cast.u32 %1
              return %0, %2
            }
            combine (%0: u32, %1: u32, %2: u32, %3: u32) {
              %4 = mul.u32 %2, %0
              %5 = mul.u32 %2, %1
              %6 = add.u32 %5, %3
              return %4, %6
            }
          output write
            column { size 8, align 4, u32 @ 0, u32 @ 4 }
            column { size 2, align 2, u16 @ 0 }
            project (%0 = state.0: u32, %1 = state.1: u32) {
              %2 = cast.u16 %1
              return %0, %1, %2
            }",
        &[1, 0, 0, 0, 0, 0, 0, 0],
    )
});

/// Products of 2×2 matrices modulo 2^32, whose states take more than one piece to publish.
static MATRIX: LazyLock<Operator> = LazyLock::new(|| {
    Operator::new(
        "program matrix
          input { size 16, align 4, u32 @ 0, u32 @ 4, u32 @ 8, u32 @ 12 }
          stage (u32, u32, u32, u32)
            identity (1, 0, 0, 1)
            lift (%0 = record.0: u32, %1 = record.1: u32, %2 = record.2: u32, %3 = record.3: u32) { return %0, %1, %2, %3 }
            combine (%0: u32, %1: u32, %2: u32, %3: u32, %4: u32, %5: u32, %6: u32, %7: u32) {
              %8 = mul.u32 %0, %4
              %9 = mul.u32 %1, %6
              %10 = add.u32 %8, %9
              %11 = mul.u32 %0, %5
              %12 = mul.u32 %1, %7
              %13 = add.u32 %11, %12
              %14 = mul.u32 %2, %4
              %15 = mul.u32 %3, %6
              %16 = add.u32 %14, %15
              %17 = mul.u32 %2, %5
              %18 = mul.u32 %3, %7
              %19 = add.u32 %17, %18
              return %10, %13, %16, %19
            }
          output write
            column { size 16, align 4, u32 @ 0, u32 @ 4, u32 @ 8, u32 @ 12 }
            project (%0 = state.0: u32, %1 = state.1: u32, %2 = state.2: u32, %3 = state.3: u32) { return %0, %1, %2, %3 }",
        &[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0],
    )
});

/// A rung's kernels, ready to run.
struct Scan {
    kernels: LadderKernels,
    entries: Vec<Kernel>,
}

impl Scan {
    fn new(operator: &Operator, rung: Rung) -> Scan {
        let kernels = gpu_ladder::emulated(&operator.program, rung, Arch::Sm90).unwrap();
        let entries = kernels.launches.iter().map(|launch| {
            let text = alone(&kernels.text, launch.entry);
            Kernel::compile(&text, launch.entry).unwrap()
        });
        Scan { entries: entries.collect(), kernels }
    }

    /// Runs twice in one workspace, and gives each run's results and total.
    /// `fault` is made in the kernel of this number.
    fn run(
        &self,
        operator: &Operator,
        inputs: &[Vec<u8>],
        seed: u64,
        fault: Option<(usize, Fault)>,
    ) -> Result<[Vec<Vec<u8>>; 2], LaunchError> {
        let kernels = &self.kernels;
        let layout = &operator.program.output.columns;
        let records = inputs[0].len() / operator.program.inputs[0].size as usize;
        let mut device = Device::new();
        let columns: Vec<_> = inputs.iter().map(|bytes| device.buffer(bytes)).collect();
        let workspace = device.buffer(&vec![0; kernels.workspace_bytes(records)]);
        let mut run = |run: u64| {
            let results: Vec<_> =
                layout.iter().map(|column| device.buffer(&vec![0xee; records * column.size as usize])).collect();
            let total = device.buffer(&vec![0xee; operator.identity.len()]);
            let mut args = vec![0; kernels.arguments.bytes()];
            let mut set = |offset: usize, value: u64| args[offset..offset + 8].copy_from_slice(&value.to_le_bytes());
            set(Arguments::RECORDS, records as u64);
            set(Arguments::WORKSPACE, device.address(workspace));
            set(Arguments::TOTAL, device.address(total));
            set(Arguments::TIMEOUT, 1 << 40);
            set(Arguments::ROWS, 1);
            set(Arguments::PITCH, records as u64);
            set(Arguments::STEP, 1);
            for (place, &column) in columns.iter().chain(&results).enumerate() {
                set(kernels.arguments.column(place), device.address(column));
            }
            args[kernels.arguments.start()..][..operator.identity.len()].copy_from_slice(operator.identity);
            for (number, (launch, kernel)) in kernels.launches.iter().zip(&self.entries).enumerate() {
                let fault = fault.filter(|&(faulty, _)| faulty == number).map(|(_, fault)| fault);
                let launch = Launch {
                    blocks: kernels.blocks(launch, records, 3) as u32,
                    threads: launch.threads as u32,
                    shared_bytes: launch.shared_bytes,
                    args: &args,
                    resident: 3,
                    seed: 2 * seed + run,
                    faults: fault.as_slice(),
                    ..Launch::default()
                };
                kernel.launch(&mut device, &launch)?;
            }
            Ok(results.into_iter().chain([total]).map(|column| device.read(column)).collect())
        };
        Ok([run(0)?, run(1)?])
    }
}

/// The module with one of its kernels only, so that all calls in it are this kernel's.
fn alone(module: &str, entry: &str) -> String {
    let mut parts = module.split("\ndefine ");
    let heads = parts.next().unwrap();
    let kernel = parts.find(|kernel| kernel.starts_with(&format!("void @{entry}("))).unwrap();
    format!("{heads}\ndefine {kernel}")
}

fn check(operator: &Operator, rung: Rung, lengths: impl Fn(usize) -> Vec<usize>) {
    let scan = Scan::new(operator, rung);
    for records in lengths(scan.kernels.tile) {
        let inputs = operator.inputs(records);
        let mut expected = operator.expected(&inputs);
        let found = scan.run(operator, &inputs, records as u64, None);
        let [first, second] = found.unwrap_or_else(|error| panic!("{rung}, {records} records: {error}"));
        // The total is the state after the last record, which the first column of these programs ends with.
        let states = &expected[0];
        expected.push(states[states.len() - operator.identity.len()..].to_vec());
        assert!(first == expected, "{rung}, {records} records");
        assert!(second == expected, "{rung}, {records} records, in a used workspace");
    }
}

fn around_tiles(tile: usize) -> Vec<usize> {
    vec![1, 31, 33, tile - 1, tile, tile + 1, 5 * tile + 7]
}

#[test]
fn sums() {
    Rung::ALL.into_iter().for_each(|rung| check(&SUM, rung, around_tiles));
}

#[test]
fn affine_maps() {
    Rung::ALL.into_iter().for_each(|rung| check(&AFFINE, rung, around_tiles));
}

#[test]
fn matrices() {
    Rung::ALL.into_iter().for_each(|rung| check(&MATRIX, rung, around_tiles));
}

/// More tiles than a warp looks back at once.
#[test]
fn windows_follow_each_other() {
    for rung in [Rung::Chained, Rung::LookBackThread, Rung::LookBackWarp] {
        check(&AFFINE, rung, |tile| vec![75 * tile + 3]);
    }
}

/// One block replaces the tiles' aggregates by what is before each, many at a time.
#[test]
fn carries_go_on_from_one_load_of_tiles_to_the_next() {
    for rung in Rung::ALL.into_iter().filter(|rung| rung.reads() == 2) {
        let scan = Scan::new(&MATRIX, rung);
        let kernels = &scan.kernels;
        let place = kernels.launches.iter().position(|launch| launch.entry == "carries").unwrap();
        let tiles = 2500;
        let aggregates = MATRIX.inputs(tiles).remove(0);
        let mut device = Device::new();
        let workspace = device.buffer(&[&[0; HEADER_BYTES], &aggregates[..]].concat());
        let mut args = vec![0; kernels.arguments.bytes()];
        let mut set = |offset: usize, value: u64| args[offset..offset + 8].copy_from_slice(&value.to_le_bytes());
        set(Arguments::RECORDS, (tiles * kernels.tile - 3) as u64);
        set(Arguments::WORKSPACE, device.address(workspace));
        args[kernels.arguments.start()..][..16].copy_from_slice(MATRIX.identity);
        let gpu_ladder::Launch { threads, shared_bytes, .. } = kernels.launches[place];
        let launch = Launch { threads: threads as u32, shared_bytes, args: &args, ..Launch::default() };
        scan.entries[place].launch(&mut device, &launch).unwrap_or_else(|error| panic!("{rung}: {error}"));
        let inclusive = MATRIX.expected(&[aggregates]).remove(0);
        let before = [MATRIX.identity, &inclusive[..inclusive.len() - 16]].concat();
        assert!(device.read(workspace)[HEADER_BYTES..] == before, "{rung}");
    }
}

/// A kernel that lacks one of its calls that order something goes wrong, or is told.
#[test]
fn each_call_that_orders_something_is_missed() {
    use Rung::*;
    for rung in [HillisSteele, Blelloch, BlellochPadded, ThreePassShared, ThreePassShuffle, Chained, LookBackWarp] {
        let scan = Scan::new(&SUM, rung);
        let inputs = SUM.inputs(scan.kernels.tile + 5);
        let expected = SUM.expected(&inputs);
        let is_right = |fault, seed| {
            scan.run(&SUM, &inputs, seed, Some(fault)).is_ok_and(|found| found.iter().all(|run| run[0] == expected[0]))
        };
        let mut not_missed = Vec::new();
        for (number, kernel) in scan.entries.iter().enumerate() {
            let entry = scan.kernels.launches[number].entry;
            let calls = kernel.calls().filter(|&(_, intrinsic, _)| intrinsic.orders());
            let calls =
                calls.filter(|&(call, ..)| (0..4).all(|seed| is_right((number, Fault::WithoutCall(call)), seed)));
            not_missed.extend(calls.map(|(_, intrinsic, _)| (entry, intrinsic)));
        }
        // So few tiles are one round of `carries`, so nothing comes after the barrier at its end. And lanes that wait for other blocks come
        // together again after that, though nothing they wrote or read needs it.
        let expected =
            if rung.reads() == 2 { ("carries", Intrinsic::Barrier) } else { ("scan", Intrinsic::WarpBarrier) };
        assert_eq!(not_missed, [expected], "{rung}");
    }
}
