//! Whole scans by real threads, on pools as users have them: busy, of one thread, deaf, shared by
//! many callers; and with a panic in every task. Nobody hangs, and every end is as it must be.
//!
//! Not under Miri, which stops at what rayon's queues do with pointers.
#![cfg(not(any(loom, shuttle, miri)))]

mod trial;

use monoscan_protocol::crew::HelperTask;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::{sync::Barrier, thread};
use trial::{Task, Trial};

const ROUNDS: usize = 5000;

fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool")
}

fn on(pool: &ThreadPool) -> impl FnMut(HelperTask) {
    |task| pool.spawn(|| task.run())
}

#[test]
fn a_pool_that_is_busy_throughout_is_not_waited_for() {
    let (pool, scanned) = (pool(2), Barrier::new(3));
    pool.in_place_scope(|scope| {
        (0..2).for_each(|_| {
            scope.spawn(|_| {
                scanned.wait();
            });
        });
        Trial::new(40, 2, false).run(2, on(&pool));
        Trial { fails: Some((30, Task::Write)), ..Trial::new(40, 2, true) }.run(2, on(&pool));
        scanned.wait();
    });
}

#[test]
fn a_pool_that_drops_its_tasks_is_not_missed() {
    Trial::new(40, 3, false).run(3, drop);
}

#[test]
fn a_pool_of_one_scans_on_its_own_thread_and_beside_it() {
    let pool = pool(1);
    for round in 0..ROUNDS / 5 {
        let trial = Trial::new(round % 7, 1 + round % 3, round % 2 == 0);
        pool.install(|| trial.run(1, on(&pool)));
        trial.run(1, on(&pool));
    }
}

#[test]
fn many_short_scans_of_several_callers_share_a_pool() {
    let pool = pool(2);
    thread::scope(|scope| {
        for caller in 0..3 {
            let pool = &pool;
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    let trial = Trial::new((round + caller) % 6, 1 + round % 4, round % 3 == 0);
                    trial.run(round % 4, on(pool));
                }
            });
        }
    });
}

#[test]
fn a_panic_in_every_task_of_every_tile_harms_no_later_scan() {
    let pool = pool(2);
    let (tiles, levels) = (10, 3);
    for round in 0..ROUNDS / 100 {
        let trial = Trial::new(tiles, levels, round % 2 == 0);
        for tile in 0..tiles {
            for task in Task::all(levels) {
                Trial { fails: Some((tile, task)), ..trial }.run(2, on(&pool));
            }
        }
        trial.run(2, on(&pool));
    }
}
