//! Cases for shuttle: scans with helpers whose fates are drawn.
#![cfg(shuttle)]

use crate::trial::{Task, Trial};
use monoscan_protocol::crew::HelperTask;
use shuttle::{
    Config, MaxSteps, Runner,
    rand::{Rng, thread_rng},
    scheduler::{PctScheduler, RandomScheduler, Scheduler},
    thread,
};

/// Runs `trial` under so many schedules of each kind.
pub(crate) fn explore(rounds: usize, trial: fn()) {
    const SEED: u64 = 0x5ca2;
    fn run(scheduler: impl Scheduler + 'static, trial: fn()) {
        let mut config = Config::new();
        // A trial takes some thousands.
        config.max_steps = MaxSteps::FailAfter(100_000);
        // About orderings, which shuttle leaves to loom.
        config.silence_warnings = true;
        Runner::new(scheduler, config).run(trial);
    }
    run(RandomScheduler::new_from_seed(SEED, rounds), trial);
    for depth in [2, 4, 8] {
        run(PctScheduler::new_from_seed(SEED, depth, rounds / 3), trial);
    }
}

pub(crate) fn random() -> Trial {
    let (tiles, levels) = (thread_rng().gen_range(4..=10), thread_rng().gen_range(1..=3));
    Trial::new(tiles, levels, thread_rng().gen_bool(0.5))
}

pub(crate) fn random_with_a_panic() -> Trial {
    let trial = random();
    let tasks = Task::all(trial.levels);
    let task = tasks[thread_rng().gen_range(0..tasks.len())];
    Trial { fails: Some((thread_rng().gen_range(0..trial.tiles), task)), ..trial }
}

/// Helpers whose fates are drawn, but for the first's: they start on a thread of their own, on the spot, after the call
/// has returned, or never; or they stop after some steps and are never seen again.
pub(crate) fn run_with_helpers_of_all_kinds(trial: Trial) {
    let (mut threads, mut late) = (Vec::new(), Vec::new());
    let spawn = |mut task: HelperTask| match thread_rng().gen_range(0..10) {
        _ if threads.is_empty() => threads.push(thread::spawn(|| task.run())),
        0 => drop(task),
        1 => late.push(task),
        2 => task.run(),
        3..5 => threads.push(thread::spawn(move || {
            (0..thread_rng().gen_range(1..6)).for_each(|_| _ = task.step());
        })),
        _ => threads.push(thread::spawn(|| task.run())),
    };
    trial.run(thread_rng().gen_range(2..=4), spawn);
    late.into_iter().for_each(HelperTask::run);
    threads.into_iter().for_each(|thread| thread.join().expect("a helper does not panic"));
}
