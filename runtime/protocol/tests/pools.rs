//! Whole scans by real threads, on pools as users have them: busy, of one thread, deaf, shared by many callers; and with a
//! panic at every step. Nobody hangs, and every end is as it must be.
//!
//! Not under Miri, which stops at what rayon's queues do with pointers.
#![cfg(not(any(loom, shuttle, miri)))]

mod trial;

use rayon::{ThreadPool, ThreadPoolBuilder};
use scan_protocol::crew::HelperTask;
use std::{sync::Barrier, thread};
use trial::{Step, Trial};

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
        Trial { tiles: 40, links: 2, fails: None }.run(on(&pool), 2);
        Trial { tiles: 40, links: 2, fails: Some((30, Step::Fold(1))) }.run(on(&pool), 2);
        scanned.wait();
    });
}

#[test]
fn a_pool_that_drops_its_tasks_is_not_missed() {
    Trial { tiles: 40, links: 3, fails: None }.run(drop, 3);
}

#[test]
fn a_pool_of_one_scans_on_its_own_thread_and_beside_it() {
    let pool = pool(1);
    for round in 0..ROUNDS / 5 {
        let trial = Trial { tiles: round % 7, links: 1 + round % 3, fails: None };
        pool.install(|| trial.run(on(&pool), 1));
        trial.run(on(&pool), 1);
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
                    Trial { tiles: (round + caller) % 6, links: 1 + round % 4, fails: None }.run(on(pool), round % 4);
                }
            });
        }
    });
}

#[test]
fn a_panic_at_every_step_of_every_tile_reaches_the_caller_and_harms_no_later_scan() {
    let pool = pool(2);
    let (tiles, links) = (10, 3);
    for _ in 0..ROUNDS / 100 {
        for tile in 0..tiles {
            for step in Step::all(links) {
                Trial { tiles, links, fails: Some((tile, step)) }.run(on(&pool), 2);
            }
        }
        Trial { tiles, links, fails: None }.run(on(&pool), 2);
    }
}
