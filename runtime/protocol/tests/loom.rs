//! The interleavings of two threads (once three), by loom, of the code that runs. Loom also reports
//! a data race on a tile or on the lent work, a deadlock, and a leak. Threads are preempted a
//! bounded number of times at places where they could go on; more, at random, is for `shuttle.rs`.
//!
//! ```sh
//! RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom cargo test -p monoscan-protocol --release --test loom
//! ```
#![cfg(loom)]

mod models;
mod trial;

use models::{join, model, spawn_into};
use monoscan_protocol::crew::{Step, with_helpers};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use trial::{Task, Trial};

#[test]
fn two_threads_scan_two_tiles() {
    for in_place in [false, true] {
        model(3, move || models::scan(Trial::new(2, 1, in_place), 1));
    }
}

#[test]
fn two_threads_scan_three_tiles() {
    for in_place in [false, true] {
        model(1, move || models::scan(Trial::new(3, 1, in_place), 1));
    }
}

#[test]
fn two_threads_scan_two_tiles_at_two_levels() {
    for in_place in [false, true] {
        model(2, move || models::scan(Trial::new(2, 2, in_place), 1));
        model(1, move || models::scan(Trial::new(3, 2, in_place), 1));
    }
}

#[test]
fn three_threads_scan_two_tiles() {
    for in_place in [false, true] {
        model(1, move || models::scan(Trial::new(2, 1, in_place), 2));
    }
}

#[test]
fn a_panic_in_any_task_reaches_the_caller() {
    for in_place in [false, true] {
        for task in Task::all(1) {
            model(2, move || models::scan(Trial { fails: Some((0, task)), ..Trial::new(2, 1, in_place) }, 1));
        }
    }
}

#[test]
fn the_work_is_not_touched_after_the_call() {
    for helpers in [1, 2] {
        model(3, move || models::lend(helpers));
    }
}

#[test]
fn the_work_is_not_touched_after_the_call_panicked() {
    model(3, || {
        let (data, mut threads) = (models::Borrowed::new(), Vec::new());
        let step = |_: &mut usize| -> Step {
            data.read();
            resume_unwind(Box::new("both"));
        };
        let spawn = spawn_into(&mut threads);
        let ended = catch_unwind(AssertUnwindSafe(|| with_helpers(spawn, 1, &|seat| seat, &step)));
        assert!(ended.is_err());
        data.overwrite();
        join(threads);
    });
}
