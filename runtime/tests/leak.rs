//! Compiled code goes with its last user, and what is remembered of programs is bounded: ten
//! thousand compilations of as many programs leave memory as it was.
//!
//! Memory is what the kernel says of this process, so this file holds one test alone.
#![cfg(target_os = "linux")]

use std::fs;

use monoscan_ir::{Program, Verified, text, verify};
use monoscan_runtime::{Column, DynScan};

const COMPILATIONS: u32 = 10_000;

/// Compilations before memory is first looked at: caches fill up to their bounds, the allocator takes its arenas.
const WARM_UP: u32 = 2_000;

/// Bytes that a compilation may leak: less than any kernel, state or verdict takes.
const TOLERANCE: u64 = 64;

/// The number that the kernel counts.
#[derive(Clone, Copy, Debug)]
struct Memory {
    /// Bytes of address space.
    mapped: u64,
    /// Bytes of memory that are in use.
    resident: u64,
    /// Mappings; a process may have 65530.
    mappings: u64,
}

impl Memory {
    fn now() -> Memory {
        let pages = fs::read_to_string("/proc/self/statm").unwrap();
        let mut pages = pages.split(' ').map(|number| 4096 * number.parse::<u64>().unwrap());
        let (mapped, resident) = (pages.next().unwrap(), pages.next().unwrap());
        Memory { mapped, resident, mappings: fs::read_to_string("/proc/self/maps").unwrap().lines().count() as u64 }
    }
}

/// Running sums with `number` on top: for each number another program, with another operator.
fn program(number: u32) -> Verified<Program> {
    let source = format!(
        "program number_{number}
           input {{ size 4, align 4, u32 @ 0 }}
           stage (u32)
             identity ({number})
             lift (%0 = record.0: u32) {{
               %1 = const.u32 {number}
               %2 = add.u32 %0, %1
               return %2
             }}
             combine (%0: u32, %1: u32) {{
               %2 = const.u32 {number}
               %3 = add.u32 %0, %1
               %4 = sub.u32 %3, %2
               return %4
             }}
           output write
             column {{ size 4, align 4, u32 @ 0 }}
             project (%0 = state.0: u32) {{ return %0 }}"
    );
    verify(text::parse(&source).unwrap()).unwrap()
}

/// Builds, runs and drops the scans of these programs.
fn compile(numbers: impl Iterator<Item = u32>) {
    for number in numbers {
        let scan = DynScan::new(program(number)).unwrap();
        let sums: Vec<u32> = scan.inclusive(&[Column::new(&[1u32, 2])]).unwrap();
        assert_eq!(sums, [number + 1, number + 3]);
    }
}

#[test]
fn memory_is_flat_over_ten_thousand_compilations() {
    // Threads take stacks and arenas of the allocator, so the same two are there from before the first look.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let compile = |from: u32, to: u32| {
        pool.broadcast(|thread| compile((from + thread.index() as u32..to).step_by(2)));
    };
    compile(0, WARM_UP);
    let before = Memory::now();
    compile(WARM_UP, WARM_UP + COMPILATIONS);
    let after = Memory::now();
    println!("{before:?}\n{after:?}");
    let most = u64::from(COMPILATIONS) * TOLERANCE;
    assert!(after.resident < before.resident + most, "resident memory grew:\n{before:?}\n{after:?}");
    assert!(after.mapped < before.mapped + most, "mapped memory grew:\n{before:?}\n{after:?}");
    assert!(
        after.mappings < before.mappings + u64::from(COMPILATIONS) / 100,
        "mappings pile up:\n{before:?}\n{after:?}"
    );
}
