//! Random schedules of more threads, tiles and links than loom can exhaust, by shuttle, of the code that runs: three to
//! five threads, some of which come late or never, a pool of one thread, and a panic anywhere. A schedule in which
//! somebody waits for ever exceeds the bound on steps.
//!
//! Half of the schedules pick any thread at each step; half come from PCT (Burckhardt, Kothari, Musuvathi and
//! Nagarakatte, "A randomized scheduler with probabilistic guarantees of finding bugs", ASPLOS 2010), which lets one
//! thread run far ahead of another. The seed is fixed, so a failure comes again.
//!
//! ```sh
//! RUSTFLAGS="--cfg shuttle" CARGO_TARGET_DIR=target/shuttle cargo test -p scan-protocol --release --test shuttle
//! ```
#![cfg(shuttle)]

mod trial;

use scan_protocol::crew::HelperTask;
use shuttle::{
    Config, MaxSteps, Runner,
    rand::{Rng, thread_rng},
    scheduler::{PctScheduler, RandomScheduler, Scheduler},
    sync::mpsc,
    thread,
};
use trial::{Step, Trial};

/// Runs `trial` under many schedules.
fn explore(trial: fn()) {
    const SEED: u64 = 0x5ca2;
    fn run(scheduler: impl Scheduler + 'static, trial: fn()) {
        let mut config = Config::new();
        // A trial takes some thousands.
        config.max_steps = MaxSteps::FailAfter(100_000);
        // About orderings, which shuttle leaves to loom.
        config.silence_warnings = true;
        Runner::new(scheduler, config).run(trial);
    }
    run(RandomScheduler::new_from_seed(SEED, 15_000), trial);
    for depth in [2, 4, 8] {
        run(PctScheduler::new_from_seed(SEED, depth, 5_000), trial);
    }
}

fn random() -> Trial {
    Trial { tiles: thread_rng().gen_range(6..=12), links: thread_rng().gen_range(1..=3), fails: None }
}

fn random_with_a_panic() -> Trial {
    let trial = random();
    let steps = Step::all(trial.links);
    let step = steps[thread_rng().gen_range(0..steps.len())];
    Trial { fails: Some((thread_rng().gen_range(0..trial.tiles), step)), ..trial }
}

/// Helpers whose fates are drawn, but for the first's: they start on a thread of their own, on the spot, after the call
/// has returned, or never.
fn run_with_helpers_of_all_kinds(trial: Trial) {
    let (mut threads, mut late) = (Vec::new(), Vec::new());
    let spawn = |task: HelperTask| match thread_rng().gen_range(0..8) {
        _ if threads.is_empty() => threads.push(thread::spawn(|| task.run())),
        0 => drop(task),
        1 => late.push(task),
        2 => task.run(),
        _ => threads.push(thread::spawn(|| task.run())),
    };
    trial.run(spawn, thread_rng().gen_range(2..=4));
    late.into_iter().for_each(HelperTask::run);
    threads.into_iter().for_each(|thread| thread.join().expect("a helper does not panic"));
}

#[test]
fn crews_scan_on_one_to_three_links() {
    explore(|| run_with_helpers_of_all_kinds(random()));
}

#[test]
fn a_panic_anywhere_reaches_the_caller_and_releases_everybody() {
    explore(|| run_with_helpers_of_all_kinds(random_with_a_panic()));
}

#[test]
fn a_pool_of_one_serves_two_callers_and_itself() {
    type Task = Box<dyn FnOnce() + Send>;
    explore(|| {
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
            trial.run(spawn, 2);
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
