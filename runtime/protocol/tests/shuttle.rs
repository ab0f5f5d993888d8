//! Random schedules of more threads, tiles and levels than loom can exhaust, by shuttle, of the
//! code that runs. There are three to five threads, some of which come late or never, or stop
//! between two steps, a pool of one thread, and a panic anywhere. A schedule in which somebody
//! waits for ever exceeds the bound on steps.
//!
//! Half of the schedules pick any thread at each step. Half come from PCT, which lets one thread
//! run far ahead of another (Burckhardt, Kothari, Musuvathi and Nagarakatte, "A randomized
//! scheduler with probabilistic guarantees of finding bugs", ASPLOS 2010). The seed is fixed, so a
//! failure comes again.
//!
//! ```sh
//! RUSTFLAGS="--cfg shuttle" CARGO_TARGET_DIR=target/shuttle cargo test -p monoscan-protocol --release --test shuttle
//! ```
#![cfg(shuttle)]

mod schedules;
mod trial;

use monoscan_protocol::crew::HelperTask;
use schedules::{explore, random, random_with_a_panic, run_with_helpers_of_all_kinds};
use shuttle::{
    rand::{Rng, thread_rng},
    sync::mpsc,
    thread,
};

const ROUNDS: usize = 10_000;

#[test]
fn crews_scan_at_one_to_three_levels() {
    explore(ROUNDS, || run_with_helpers_of_all_kinds(random()));
}

#[test]
fn a_panic_anywhere_reaches_the_caller_and_stops_everybody() {
    explore(ROUNDS, || run_with_helpers_of_all_kinds(random_with_a_panic()));
}

#[test]
fn a_pool_of_one_serves_two_callers_and_itself() {
    type Task = Box<dyn FnOnce() + Send>;
    explore(ROUNDS / 2, || {
        let (queue, tasks) = mpsc::channel::<Option<Task>>();
        // It ends by a message: shuttle loses a hang-up that happens while some thread unwinds.
        let pool = thread::spawn(move || {
            while let Ok(Some(task)) = tasks.recv() {
                task();
            }
        });
        let scan = |queue: &mpsc::Sender<Option<Task>>| {
            let spawn = |task: HelperTask| queue.send(Some(Box::new(|| task.run()))).expect("the pool lives");
            let trial = if thread_rng().gen_bool(0.5) { random() } else { random_with_a_panic() };
            trial.run(2, spawn);
        };
        // On the pool's own thread, whose helpers can start only when the scan is over; and beside it, twice.
        let inside = queue.clone();
        queue.send(Some(Box::new(move || scan(&inside)))).expect("the pool lives");
        let beside = queue.clone();
        let other = thread::spawn(move || scan(&beside));
        scan(&queue);
        other.join().expect("the scan ends as told");
        queue.send(None).expect("the pool lives");
        pool.join().expect("the scan ends as told");
    });
}
