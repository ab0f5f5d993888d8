//! Misuse of an intrinsic is an error that says so.
//!
//! Each kernel here gets `%shared`, `%thread` (64 of them, 2 blocks of 4 KiB), `%block`, and
//! `%buffer` (of 256 bytes) and does one thing wrong.

use scan_emulator::{Device, Kernel, Launch, LaunchError, Misuse};

const CONTRACT: &str = include_str!("../../../codegen/src/nvptx/emit/intrinsics.ll");

/// The intrinsics as kernels declare them.
fn declarations() -> String {
    let heads = CONTRACT.lines().filter_map(|line| line.strip_prefix("define internal "));
    heads.map(|head| format!("declare {})\n", head.split_once(") #").unwrap().0)).collect()
}

fn launch(body: &str, seed: u64) -> Result<(), LaunchError> {
    let text = format!(
        "{}
        @table = private unnamed_addr addrspace(1) constant [4 x i32] [i32 1, i32 2, i32 3, i32 4], align 16
        define void @kernel(ptr %args) {{
        start:
          %shared = call ptr addrspace(3) @scan.shared()
          %thread = call i32 @scan.thread()
          %block = call i32 @scan.block()
          %buffer = load ptr addrspace(1), ptr %args, align 16
          %is.0 = icmp eq i32 %thread, 0
          br label %body
        body:
          {body}
          br label %end
        end:
          ret void
        }}",
        declarations()
    );
    let kernel = Kernel::compile(&text, "kernel").unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut device = Device::new();
    let buffer = device.buffer(&[0; 256]);
    let args = device.address(buffer).to_le_bytes();
    let shape =
        Launch { blocks: 2, threads: 64, shared_bytes: 4096, args: &args, seed, patience: 20_000, ..Launch::default() };
    kernel.launch(&mut device, &shape).map(|_| ())
}

/// The fault of a body, under every one of a few seeds.
fn misuse(body: &str) -> Misuse {
    let mut found = (0..8).map(|seed| match launch(body, seed) {
        Err(LaunchError::Misuse { misuse, .. }) => misuse,
        other => panic!("seed {seed} of {body}: {other:?}"),
    });
    found.next().unwrap()
}

/// Runs `then` in the first thread of each block alone.
fn first(then: &str) -> String {
    format!("br i1 %is.0, label %then, label %end\nthen:\n{then}")
}

/// A barrier for one arrival at the start of shared memory, fenced.
const BARRIER: &str = "call void @scan.barrier_init(ptr addrspace(3) %shared, i32 1)
    call void @scan.barrier_init_fence()\n";

/// Where stages may be.
const STAGE: &str = "%stage = getelementptr i8, ptr addrspace(3) %shared, i32 1024\n";

#[test]
fn addresses_outside_of_memory() {
    for (body, memory) in [
        ("%at = getelementptr i8, ptr addrspace(1) %buffer, i32 256\n store i8 0, ptr addrspace(1) %at", "the buffers"),
        (
            "%at = getelementptr i8, ptr addrspace(1) %buffer, i32 256\n %word = load i8, ptr addrspace(1) %at",
            "the buffers",
        ),
        (
            "%at = getelementptr i8, ptr addrspace(1) %buffer, i32 -4\n %word = load i32, ptr addrspace(1) %at",
            "the buffers",
        ),
        (
            "%at = getelementptr i8, ptr addrspace(1) @table, i32 16\n %word = load i32, ptr addrspace(1) %at",
            "the buffers",
        ),
        (
            "%at = getelementptr i8, ptr addrspace(3) %shared, i32 4096\n store i8 0, ptr addrspace(3) %at",
            "shared memory",
        ),
        ("%word = load i128, ptr %args", "the arguments"),
    ] {
        let found = misuse(body);
        assert!(matches!(found, Misuse::Outside { memory: found, .. } if found == memory), "{body}: {found}");
    }
}

#[test]
fn addresses_that_are_not_aligned() {
    for body in [
        "%at = getelementptr i8, ptr addrspace(1) %buffer, i32 2\n %word = load i32, ptr addrspace(1) %at, align 4",
        "%at = getelementptr i8, ptr addrspace(1) %buffer, i32 8\n call { i64, i64 } @scan.load_pair(ptr addrspace(1) %at)",
        "%at = getelementptr i8, ptr addrspace(3) %shared, i32 4\n call void @scan.barrier_init(ptr addrspace(3) %at, i32 1)",
    ] {
        assert!(matches!(misuse(body), Misuse::Misaligned { .. }), "{body}");
    }
}

#[test]
fn lanes_that_are_not_together() {
    for body in [
        // Two calls of the same intrinsic are not one.
        "br i1 %is.0, label %a, label %b
         a:
           call void @scan.warp_barrier()
           br label %end
         b:
           call void @scan.warp_barrier()",
        "%lane = and i32 %thread, 31\n %from = call i32 @scan.shuffle_from(i32 0, i32 %lane)",
        &first("call void @scan.warp_barrier()"),
    ] {
        assert!(matches!(misuse(body), Misuse::Diverged(_)), "{body}");
    }
}

#[test]
fn a_barrier_of_the_block_that_some_threads_never_reach() {
    assert!(matches!(misuse(&first("call void @scan.barrier()")), Misuse::EndedBeforeBarrier(_)));
}

#[test]
fn barriers_in_shared_memory() {
    let arrive = "call void @scan.barrier_arrive(ptr addrspace(3) %shared)\n";
    let again = "call void @scan.barrier_init(ptr addrspace(3) %shared, i32 1)\n";
    assert_eq!(misuse(arrive), Misuse::NoBarrier(0));
    assert_eq!(misuse(&first(&format!("{BARRIER}{again}"))), Misuse::BarrierAgain(0));
    let none = "call void @scan.barrier_init(ptr addrspace(3) %shared, i32 0)\n";
    assert!(matches!(misuse(&first(none)), Misuse::Argument { found: 0, .. }));
    let touch = "%word = load i8, ptr addrspace(3) %shared\n";
    assert_eq!(misuse(&first(&format!("{BARRIER}{touch}"))), Misuse::TouchesBarrier(0));
    let parity = "%done = call i1 @scan.barrier_try_wait(ptr addrspace(3) %shared, i32 2)\n";
    assert!(matches!(misuse(&first(&format!("{BARRIER}{parity}"))), Misuse::Argument { found: 2, .. }));
    // A phase that waits for bytes takes no second arrival.
    let expect = "call void @scan.barrier_expect(ptr addrspace(3) %shared, i32 16)\n";
    let found = misuse(&first(&format!("{BARRIER}{expect}{arrive}")));
    assert_eq!(found, Misuse::OverArrival { barrier: 0, phase: 0, count: 1 });
}

#[test]
fn bulk_copies() {
    let load = "call void @scan.bulk_load(ptr addrspace(3) %stage, ptr addrspace(1) %buffer, i32 16, ptr addrspace(3) %shared, i64 0)\n";
    let store = "call void @scan.bulk_store(ptr addrspace(1) %buffer, ptr addrspace(3) %stage, i32 16, i64 0)\n";
    let unfenced = "call void @scan.barrier_init(ptr addrspace(3) %shared, i32 1)\n";
    let write = "store i32 1, ptr addrspace(3) %stage\n";
    assert_eq!(misuse(&first(&format!("{STAGE}{unfenced}{load}"))), Misuse::BarrierUnfenced(0));
    assert_eq!(misuse(&first(&format!("{STAGE}{write}{BARRIER}{load}"))), Misuse::Unfenced { writer: 0, byte: 1024 });
    assert_eq!(misuse(&first(&format!("{STAGE}{write}{store}"))), Misuse::Unfenced { writer: 0, byte: 1024 });
    let empty = load.replace("i32 16", "i32 0");
    assert_eq!(misuse(&first(&format!("{STAGE}{BARRIER}{empty}"))), Misuse::EmptyCopy);
    let odd = load.replace("i32 16", "i32 24");
    assert_eq!(misuse(&first(&format!("{STAGE}{BARRIER}{odd}"))), Misuse::Misaligned { found: 24, align: 16 });
    let far = load.replace("i32 16", "i32 272");
    assert!(matches!(misuse(&first(&format!("{STAGE}{BARRIER}{far}"))), Misuse::Outside { .. }));
    // Two loads to one stage, of which nobody has waited for the first.
    assert!(matches!(misuse(&first(&format!("{STAGE}{BARRIER}{load}{load}"))), Misuse::Race { .. }));
    // A store is waited for only if it was committed.
    let wait = "call void @scan.bulk_wait_read()\n";
    assert!(matches!(misuse(&first(&format!("{STAGE}{BARRIER}{store}{wait}{load}"))), Misuse::Race { .. }));
    let constant = store.replace("%buffer", "@table");
    assert_eq!(misuse(&first(&format!("{STAGE}{constant}"))), Misuse::WritesConstant);
}

#[test]
fn a_bulk_copy_that_outlives_its_block() {
    let load = "call void @scan.bulk_load(ptr addrspace(3) %stage, ptr addrspace(1) %buffer, i32 16, ptr addrspace(3) %shared, i64 0)\n";
    let outcomes: Vec<_> = (0..20).map(|seed| launch(&first(&format!("{STAGE}{BARRIER}{load}")), seed)).collect();
    let outlives =
        |error: &LaunchError| matches!(error, LaunchError::Misuse { misuse: Misuse::CopyOutlivesBlock(_), .. });
    assert!(outcomes.iter().any(|outcome| outcome.as_ref().is_err_and(outlives)), "{outcomes:?}");
}

#[test]
fn a_constant_is_read_by_copies_and_accesses() {
    let load = "call void @scan.bulk_load(ptr addrspace(3) %stage, ptr addrspace(1) @table, i32 16, ptr addrspace(3) %shared, i64 0)
        call void @scan.barrier_expect(ptr addrspace(3) %shared, i32 16)
        br label %poll
      poll:
        %done = call i1 @scan.barrier_try_wait(ptr addrspace(3) %shared, i32 0)
        br i1 %done, label %landed, label %poll
      landed:
        %copied = load i32, ptr addrspace(3) %stage
        %same = load i32, ptr addrspace(1) @table
        %equal = icmp eq i32 %copied, %same
        br i1 %equal, label %end, label %differs
      differs:
        store i32 0, ptr addrspace(1) null
        br label %end
      other:\n";
    for seed in 0..8 {
        assert_eq!(launch(&first(&format!("{STAGE}{BARRIER}{load}")), seed), Ok(()));
    }
}

#[test]
fn bytes_that_two_blocks_use() {
    // Each thread of both blocks writes the same place.
    assert!(matches!(misuse("store i32 1, ptr addrspace(1) %buffer"), Misuse::OtherBlock { byte: 0, .. }));
    // A word for others that is read ordinarily.
    let body =
        "call void @scan.store_word(ptr addrspace(1) %buffer, i64 1)\n %word = load i64, ptr addrspace(1) %buffer";
    assert!(matches!(misuse(body), Misuse::OtherBlock { .. }));
}

#[test]
fn nobody_comes() {
    for wait in [
        "%done = call i1 @scan.barrier_try_wait(ptr addrspace(3) %shared, i32 0)",
        "%word = call i64 @scan.load_word(ptr addrspace(1) %buffer)\n %done = icmp ne i64 %word, 0",
        "call void @scan.sleep(i32 100)\n %word = call i32 @scan.load_control(ptr addrspace(1) %buffer)\n %done = icmp ne i32 %word, 0",
    ] {
        let body = format!("{BARRIER}br label %poll\npoll:\n{wait}\nbr i1 %done, label %end, label %poll\nother:");
        match launch(&first(&body), 0) {
            Err(LaunchError::Stuck { waiting, .. }) => {
                let lines: Vec<&str> = waiting.lines().collect();
                assert!(lines.len() == 2 && lines[1].starts_with("block 1: threads 0 "), "{waiting}");
            }
            other => panic!("{wait}: {other:?}"),
        }
    }
}

#[test]
fn a_buffer_is_where_it_was_asked_for() {
    let mut device = Device::new();
    for shift in [0, 1, 4, 255] {
        let buffer = device.buffer_shifted(b"bytes", shift);
        assert_eq!(device.address(buffer) % 256, shift as u64);
        device.write(buffer, b"BY");
        assert_eq!(device.read(buffer), b"BYtes");
    }
}

#[test]
fn a_launch_of_no_shape() {
    let kernel = Kernel::compile("define void @kernel(ptr %args) { ret void }", "kernel").unwrap();
    for (blocks, threads, resident) in [(0, 32, 1), (1, 0, 1), (1, 33, 1), (1, 1056, 1), (1, 32, 0)] {
        let launch = Launch { blocks, threads, resident, ..Launch::default() };
        let error = kernel.launch(&mut Device::new(), &launch).unwrap_err();
        assert!(matches!(error, LaunchError::Shape { .. }), "{error}");
    }
}
