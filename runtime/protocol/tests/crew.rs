//! Lending work to helpers: who runs it, how often, and what a panic does. (`loom.rs` and
//! `shuttle.rs` have the interleavings.)
#![cfg(not(any(loom, shuttle)))]

mod trial;

use scan_protocol::crew::{HelperTask, with_helpers};
use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{
        Barrier,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::{self, ThreadId},
};
use trial::{Step, Trial};

fn on_a_thread(task: HelperTask) {
    thread::spawn(|| task.run());
}

fn message(payload: Box<dyn Any + Send>) -> &'static str {
    payload.downcast_ref::<&'static str>().expect("a panic of this test")
}

#[test]
fn without_helpers_the_caller_works_alone() {
    let calls = AtomicUsize::new(0);
    with_helpers(|_| unreachable!("no helper was asked for"), 0, &|| {
        calls.fetch_add(1, Ordering::Relaxed);
    });
    assert_eq!(calls.into_inner(), 1);
}

#[test]
fn helpers_that_never_start_are_not_waited_for() {
    let calls = AtomicUsize::new(0);
    with_helpers(drop, 3, &|| {
        calls.fetch_add(1, Ordering::Relaxed);
    });
    assert_eq!(calls.into_inner(), 1);
}

#[test]
fn helpers_that_start_after_the_end_touch_nothing() {
    let mut late = Vec::new();
    {
        let calls = AtomicUsize::new(0);
        with_helpers(|task| late.push(task), 3, &|| {
            calls.fetch_add(1, Ordering::Relaxed);
        });
        assert_eq!(calls.into_inner(), 1);
    }
    assert_eq!(late.len(), 3);
    late.into_iter().for_each(HelperTask::run);
}

#[test]
fn a_helper_run_on_the_spot_works_too() {
    let calls = AtomicUsize::new(0);
    with_helpers(HelperTask::run, 2, &|| {
        calls.fetch_add(1, Ordering::Relaxed);
    });
    assert_eq!(calls.into_inner(), 3);
}

#[test]
fn the_caller_returns_only_after_the_helpers_inside_have_left() {
    for _ in 0..if cfg!(miri) { 3 } else { 200 } {
        let caller = thread::current().id();
        let (all_inside, left) = (Barrier::new(4), AtomicUsize::new(0));
        with_helpers(on_a_thread, 3, &|| {
            all_inside.wait();
            if thread::current().id() != caller {
                thread::yield_now();
                left.fetch_add(1, Ordering::Relaxed);
            }
        });
        assert_eq!(left.into_inner(), 3);
    }
}

/// Runs a job in which the caller and one helper meet, and both panic as told.
fn meet_and_panic(caller_panics: bool, helper_panics: bool) -> (Option<&'static str>, bool) {
    let caller: ThreadId = thread::current().id();
    let (both_inside, helper_done) = (Barrier::new(2), AtomicBool::new(false));
    let job = || {
        both_inside.wait();
        let is_caller = thread::current().id() == caller;
        if !is_caller {
            thread::yield_now();
            helper_done.store(true, Ordering::Relaxed);
        }
        match is_caller {
            true if caller_panics => resume_unwind(Box::new("caller")),
            false if helper_panics => resume_unwind(Box::new("helper")),
            _ => {}
        }
    };
    let ended = catch_unwind(AssertUnwindSafe(|| with_helpers(on_a_thread, 1, &job)));
    (ended.err().map(message), helper_done.into_inner())
}

#[test]
fn a_panic_reaches_the_caller_after_all_have_left() {
    assert_eq!(meet_and_panic(false, false), (None, true));
    assert_eq!(meet_and_panic(false, true), (Some("helper"), true));
    assert_eq!(meet_and_panic(true, false), (Some("caller"), true));
    assert_eq!(meet_and_panic(true, true), (Some("caller"), true));
}

#[test]
fn a_panic_of_spawn_closes_the_crew() {
    let mut late = Vec::new();
    let calls = AtomicUsize::new(0);
    let spawn = |task| {
        late.push(task);
        if late.len() == 2 {
            resume_unwind(Box::new("the pool is gone"));
        }
    };
    let job = || {
        calls.fetch_add(1, Ordering::Relaxed);
    };
    let ended = catch_unwind(AssertUnwindSafe(|| with_helpers(spawn, 3, &job)));
    assert_eq!(ended.err().map(message), Some("the pool is gone"));
    late.into_iter().for_each(HelperTask::run);
    assert_eq!(calls.into_inner(), 0);
}

#[test]
fn a_crew_scans_whatever_step_panics() {
    let (tiles, links) = (3, 2);
    let panics = (0..tiles).flat_map(|tile| Step::all(links).into_iter().map(move |step| Some((tile, step))));
    for fails in panics.chain([None]) {
        let mut threads = Vec::new();
        Trial { tiles, links, fails }.run(|task| threads.push(thread::spawn(|| task.run())), 2);
        threads.into_iter().for_each(|thread| thread.join().expect("a helper does not panic"));
    }
}
