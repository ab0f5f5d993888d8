//! Scans beside and inside other work: many calls of one scan at once, pools of any size, nested
//! parallelism, neighbours that panic.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Barrier;

use monoscan_ir::{Program, Verified};
use monoscan_runtime::PlanOptions;
use rayon::prelude::*;

use scan_kit::Random;
use scan_kit::calls::{Asked, Subject, tiles};
use scan_kit::programs::{CASCADE, DIGITS, RUN_LENGTHS, parse};

/// Tiles of 12 records, so that a call has work for every thread that comes.
fn small_tiles() -> PlanOptions {
    tiles(2, 3, 2)
}

fn subjects() -> Vec<Subject> {
    [DIGITS, CASCADE, RUN_LENGTHS].map(|source| Subject::new(&parse(source), small_tiles())).into()
}

/// A few calls that use all threads there are, and a few of any kind.
fn some_calls(subject: &Subject, seed: u64) {
    let mut random = Random(seed);
    let program: &Verified<Program> = &subject.reference.program;
    for _ in 0..10 {
        let long = Asked { threads: 0, ..Asked::line(500 + random.below(500)) };
        for asked in [long, Asked { threads: 0, ..subject.call(&mut random) }] {
            let sizes = program.inputs.iter().map(|layout| layout.size as usize);
            let inputs: Vec<Vec<u8>> = sizes.map(|size| random.bytes(asked.len * size)).collect();
            subject.must_agree(&asked, &inputs);
        }
    }
}

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).panic_handler(|_| {}).build().unwrap()
}

/// Ends the task that calls it as a panic does, without a message on the terminal.
fn panic_quietly() {
    resume_unwind(Box::new("a neighbour"));
}

#[test]
fn one_scan_on_eight_threads_at_once() {
    for subject in subjects() {
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let subject = &subject;
                scope.spawn(move || some_calls(subject, thread));
            }
        });
    }
}

#[test]
fn in_pools_of_any_size() {
    for subject in subjects() {
        for threads in [1, 2, 5] {
            pool(threads).install(|| some_calls(&subject, threads as u64));
        }
    }
}

#[test]
fn inside_parallel_work() {
    for subject in subjects() {
        for threads in [1, 2, 5] {
            pool(threads).install(|| {
                rayon::join(
                    || some_calls(&subject, 1),
                    || rayon::join(|| some_calls(&subject, 2), || some_calls(&subject, 3)),
                );
                (0..6).into_par_iter().for_each(|seed| some_calls(&subject, seed));
            });
        }
    }
}

#[test]
fn many_pools_at_once() {
    let subject = &subjects()[0];
    std::thread::scope(|scope| {
        for threads in [1, 2, 5] {
            scope.spawn(move || pool(threads).install(|| some_calls(subject, 4)));
        }
    });
}

#[test]
fn beside_neighbours_that_panic() {
    for subject in subjects() {
        for threads in [1, 2, 5] {
            let pool = pool(threads);
            for seed in 0..3 {
                (0..20).for_each(|_| pool.spawn(panic_quietly));
                let joined =
                    AssertUnwindSafe(|| pool.install(|| rayon::join(|| some_calls(&subject, seed), panic_quietly)));
                let payload = catch_unwind(joined).unwrap_err();
                // What came out is the neighbour's panic, not a difference that a scan showed.
                assert_eq!(payload.downcast_ref::<&str>(), Some(&"a neighbour"));
                pool.install(|| some_calls(&subject, seed));
            }
        }
    }
}

/// The other threads of the pool do nothing for us: the calling thread does the work.
#[test]
fn in_a_pool_whose_other_threads_are_busy() {
    let subject = &subjects()[0];
    let (all_there, release) = (Barrier::new(3), Barrier::new(3));
    let busy = || {
        all_there.wait();
        release.wait();
    };
    pool(3).scope(|scope| {
        scope.spawn(|_| busy());
        scope.spawn(|_| busy());
        all_there.wait();
        let found = catch_unwind(AssertUnwindSafe(|| some_calls(subject, 5)));
        release.wait();
        found.unwrap();
    });
}
