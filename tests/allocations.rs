//! Small scans into slices allocate nothing: neither the typed front end nor the engine, initial
//! states and flags included.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use monoscan::ops::{Affine, Sum};
use monoscan::prelude::*;

/// Counts what each thread asks for.
struct Counting;

thread_local! {
    static ASKED: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: everything is the system allocator's; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ASKED.set(ASKED.get() + 1);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// How often `call` allocates, once its code is there.
fn allocations(mut call: impl FnMut()) -> usize {
    call();
    let before = ASKED.get();
    call();
    ASKED.get() - before
}

#[test]
fn the_count_counts() {
    assert_eq!(allocations(|| drop(std::hint::black_box(vec![1u8; 10]))), 1);
    assert_eq!(allocations(|| ()), 0);
}

#[test]
fn small_scans_into_slices_allocate_nothing() {
    let (a, b) = ([0.5f32; 100], [1.0f32; 100]);
    let mut y = [0.0; 100];
    let lift = scan!(|a: f32, b: f32| -> Affine<f32> { Affine { a, b } });
    let value = scan!(|state: Affine<f32>| -> f32 { state.b });
    let solve = Scan::<Affine<f32>>::builder().lift(lift).project(value).build().unwrap();
    let init = Affine { a: 1.0, b: 3.0 };
    let flags = [true; 100];

    assert_eq!(allocations(|| _ = solve.inclusive_into((&a, &b), &mut y).unwrap()), 0);
    assert_eq!(allocations(|| _ = solve.exclusive_into((&a, &b), &mut y).unwrap()), 0);
    assert_eq!(allocations(|| _ = solve.init(init).inclusive_into((&a, &b), &mut y).unwrap()), 0);
    assert_eq!(allocations(|| _ = solve.reversed().inclusive_into((&a, &b), &mut y).unwrap()), 0);
    assert_eq!(allocations(|| _ = solve.segmented(&flags).inclusive_into((&a, &b), &mut y).unwrap()), 0);

    let mut sums = [Sum(1u64); 100];
    let scan = Scan::<Sum<u64>>::new().unwrap();
    assert_eq!(allocations(|| scan.inclusive_in_place(&mut sums).unwrap()), 0);
}
