//! Lending work to helpers: which threads do its steps, how many, and what a panic does. (`loom.rs`
//! and `shuttle.rs` have the interleavings.)
#![cfg(not(any(loom, shuttle)))]

mod trial;

use monoscan_protocol::crew::{HelperTask, Step, with_helpers};
use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{
        Barrier,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};
use trial::{Task, Trial};

fn on_a_thread(task: HelperTask) {
    thread::spawn(|| task.run());
}

fn message(payload: Box<dyn Any + Send>) -> &'static str {
    payload.downcast_ref::<&'static str>().expect("a panic of this test")
}

/// One step for each thread that comes; gives how many there were.
fn count_steps(helpers: usize, spawn: impl FnMut(HelperTask)) -> usize {
    let steps = AtomicUsize::new(0);
    let step = |_: &mut usize| {
        steps.fetch_add(1, Ordering::Relaxed);
        Step::Done
    };
    with_helpers(spawn, helpers, &|seat| seat, &step);
    steps.into_inner()
}

#[test]
fn without_helpers_the_caller_works_alone() {
    assert_eq!(count_steps(0, |_| unreachable!("no helper was asked for")), 1);
}

#[test]
fn helpers_that_never_start_are_not_waited_for() {
    assert_eq!(count_steps(3, drop), 1);
}

#[test]
fn helpers_that_start_after_the_end_touch_nothing() {
    let mut late = Vec::new();
    assert_eq!(count_steps(3, |task| late.push(task)), 1);
    assert_eq!(late.len(), 3);
    late.into_iter().for_each(HelperTask::run);
}

#[test]
fn a_helper_run_on_the_spot_works_too() {
    assert_eq!(count_steps(2, HelperTask::run), 3);
}

#[test]
fn steps_follow_each_other_with_the_same_worker() {
    for helpers in [0, 1] {
        let ends = AtomicUsize::new(0);
        let step = |(seat, steps): &mut (usize, usize)| {
            *steps += 1;
            match *steps {
                1 => Step::More,
                2 => Step::Nap,
                _ => {
                    ends.fetch_add(1 + 10 * *seat, Ordering::Relaxed);
                    Step::Done
                }
            }
        };
        with_helpers(HelperTask::run, helpers, &|seat| (seat, 0), &step);
        assert_eq!(ends.into_inner(), [1, 12][helpers]);
    }
}

#[test]
fn a_helper_that_stops_between_steps_is_not_waited_for() {
    let mut stopped = Vec::new();
    let steps = AtomicUsize::new(0);
    let step = |seat: &mut usize| {
        steps.fetch_add(1, Ordering::Relaxed);
        if *seat == 0 { Step::Done } else { Step::More }
    };
    let spawn = |mut task: HelperTask| {
        assert_eq!([task.step(), task.step()], [Step::More; 2]);
        stopped.push(task);
    };
    with_helpers(spawn, 2, &|seat| seat, &step);
    assert_eq!(steps.load(Ordering::Relaxed), 5);
    stopped.into_iter().for_each(HelperTask::run);
    assert_eq!(steps.into_inner(), 5, "the call is over");
}

#[test]
fn the_caller_returns_only_after_the_steps_of_helpers() {
    for _ in 0..if cfg!(miri) { 3 } else { 200 } {
        let (all_inside, left) = (Barrier::new(4), AtomicUsize::new(0));
        let step = |seat: &mut usize| {
            all_inside.wait();
            if *seat > 0 {
                thread::yield_now();
                left.fetch_add(1, Ordering::Relaxed);
            }
            Step::Done
        };
        with_helpers(on_a_thread, 3, &|seat| seat, &step);
        assert_eq!(left.into_inner(), 3);
    }
}

#[test]
fn the_caller_says_how_long_it_waited() {
    let inside = Barrier::new(2);
    let step = |seat: &mut usize| {
        inside.wait();
        if *seat > 0 {
            thread::sleep(Duration::from_millis(5));
        }
        Step::Done
    };
    assert!(with_helpers(on_a_thread, 1, &|seat| seat, &step) > Duration::from_millis(1));
    assert_eq!(with_helpers(drop, 0, &|seat| seat, &|_| Step::Done), Duration::ZERO);
}

/// Runs steps in which the caller and one helper meet, and both panic as told.
fn meet_and_panic(caller_panics: bool, helper_panics: bool) -> (Option<&'static str>, bool) {
    let (both_inside, helper_done) = (Barrier::new(2), AtomicBool::new(false));
    let step = |seat: &mut usize| {
        both_inside.wait();
        if *seat > 0 {
            thread::yield_now();
            helper_done.store(true, Ordering::Relaxed);
        }
        match *seat {
            0 if caller_panics => resume_unwind(Box::new("caller")),
            1 if helper_panics => resume_unwind(Box::new("helper")),
            _ => Step::Done,
        }
    };
    let ended = catch_unwind(AssertUnwindSafe(|| with_helpers(on_a_thread, 1, &|seat| seat, &step)));
    (ended.err().map(message), helper_done.into_inner())
}

#[test]
fn a_panic_reaches_the_caller_after_all_have_left() {
    assert_eq!(meet_and_panic(false, false), (None, true));
    assert_eq!(meet_and_panic(false, true), (Some("helper"), true));
    assert_eq!(meet_and_panic(true, false), (Some("caller"), true));
    assert_eq!(meet_and_panic(true, true), (Some("caller"), true));
}

/// The payload of a panic that panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        resume_unwind(Box::new("a payload"));
    }
}

#[test]
fn payloads_that_panic_when_they_are_dropped_hold_nobody_up() {
    for caller_panics in [false, true] {
        let all_inside = Barrier::new(4);
        let step = |seat: &mut usize| {
            all_inside.wait();
            match *seat {
                0 if !caller_panics => Step::Done,
                0 => resume_unwind(Box::new("caller")),
                _ => resume_unwind(Box::new(Bomb)),
            }
        };
        let ended = catch_unwind(AssertUnwindSafe(|| with_helpers(on_a_thread, 3, &|seat| seat, &step)));
        let payload = ended.expect_err("all helpers panic");
        assert_eq!(payload.is::<Bomb>(), !caller_panics);
        // Dropped, it would be this test's panic.
        std::mem::forget(payload);
    }
}

#[test]
fn a_panic_stops_helpers_that_would_go_on_for_ever() {
    let step = |seat: &mut usize| match *seat {
        0 => Step::Nap,
        _ => resume_unwind(Box::new("helper")),
    };
    let ended = catch_unwind(AssertUnwindSafe(|| with_helpers(on_a_thread, 2, &|seat| seat, &step)));
    assert_eq!(ended.err().map(message), Some("helper"));
}

#[test]
fn a_panic_of_spawn_closes_the_crew() {
    let mut late = Vec::new();
    let steps = AtomicUsize::new(0);
    let spawn = |task| {
        late.push(task);
        if late.len() == 2 {
            resume_unwind(Box::new("the pool is gone"));
        }
    };
    let step = |_: &mut usize| {
        steps.fetch_add(1, Ordering::Relaxed);
        Step::Done
    };
    let ended = catch_unwind(AssertUnwindSafe(|| with_helpers(spawn, 3, &|seat| seat, &step)));
    assert_eq!(ended.err().map(message), Some("the pool is gone"));
    late.into_iter().for_each(HelperTask::run);
    assert_eq!(steps.into_inner(), 0);
}

#[test]
fn a_crew_scans_whatever_panics() {
    let (tiles, levels) = (3, 2);
    let panics = (0..tiles).flat_map(|tile| Task::all(levels).into_iter().map(move |task| Some((tile, task))));
    for (fails, in_place) in panics.chain([None]).flat_map(|fails| [(fails, false), (fails, true)]) {
        let trial = Trial { fails, ..Trial::new(tiles, levels, in_place) };
        thread::scope(|scope| trial.run(2, |task| drop(scope.spawn(|| task.run()))));
    }
}
