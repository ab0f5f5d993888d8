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

use scan_protocol::{
    chain::{Chain, Poisoned, Ticket},
    crew::{HelperTask, with_helpers},
};
use shuttle::{
    Config, MaxSteps, Runner,
    rand::{Rng, thread_rng},
    scheduler::{PctScheduler, RandomScheduler, Scheduler},
    sync::mpsc,
    thread,
};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

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

/// A scan to try: how large, and where a thread fails, if one does.
#[derive(Clone, Copy)]
struct Trial {
    tiles: usize,
    links: usize,
    fails: Option<(usize, Step)>,
}

/// What a thread does to its tile, in this order.
#[derive(Clone, Copy, PartialEq)]
enum Step {
    Reduce(usize),
    Fold(usize),
    Replay,
}

impl Trial {
    fn random() -> Self {
        Self { tiles: thread_rng().gen_range(6..=12), links: thread_rng().gen_range(1..=3), fails: None }
    }

    fn random_with_a_panic() -> Self {
        let trial = Self::random();
        let link = thread_rng().gen_range(0..trial.links);
        let step = [Step::Reduce(link), Step::Fold(link), Step::Replay][thread_rng().gen_range(0..3)];
        Self { fails: Some((thread_rng().gen_range(0..trial.tiles), step)), ..trial }
    }

    /// A seed of its own for each link.
    fn chain(&self) -> Chain {
        let seeds: Vec<_> = (0..self.links).map(|link| prefix_of(0, link).to_ne_bytes()).collect();
        Chain::new(self.tiles, &seeds.iter().map(|seed| &seed[..]).collect::<Vec<_>>()).expect("few and small")
    }

    /// Takes tiles until none is left or the chain is poisoned. Every carry must be right.
    fn work(&self, chain: &Chain) -> Result<(), Poisoned> {
        while let Some(ticket) = chain.take() {
            self.tile(ticket)?;
        }
        Ok(())
    }

    fn tile(&self, ticket: Ticket<'_>) -> Result<(), Poisoned> {
        let tile = ticket.tile().get();
        let mut next = Some(ticket);
        for link in 0..self.links {
            let ticket = next.expect("a ticket for each link");
            self.at(tile, Step::Reduce(link));
            let mut carry = [0; 8];
            let turn = ticket.wait(&mut carry)?;
            assert_eq!(u64::from_ne_bytes(carry), prefix_of(tile, link), "the carry of tile {tile} on link {link}");
            self.at(tile, Step::Fold(link));
            next = turn.publish(&prefix_of(tile + 1, link).to_ne_bytes());
        }
        assert!(next.is_none(), "no ticket after the last link");
        self.at(tile, Step::Replay);
        Ok(())
    }

    fn at(&self, tile: usize, step: Step) {
        if self.fails == Some((tile, step)) {
            resume_unwind(Box::new("failed as told"));
        }
    }

    /// The scan by a crew. It must end as told, and leave the totals that this end implies.
    fn run(&self, spawn: impl FnMut(HelperTask), helpers: usize) {
        let mut chain = self.chain();
        let job = || {
            let worked = self.work(&chain);
            assert!(worked.is_ok() || self.fails.is_some(), "poisoned without a reason");
        };
        let ended = catch_unwind(AssertUnwindSafe(|| with_helpers(spawn, helpers, &job)));
        let why = ended.err().map(|payload| *payload.downcast::<&str>().expect("an assertion of this test failed"));
        assert_eq!(why, self.fails.map(|_| "failed as told"));
        for link in 0..self.links {
            let mut total = [0; 8];
            let total = chain.total(link, &mut total).map(|()| u64::from_ne_bytes(total));
            match self.fails {
                None => assert_eq!(total, Ok(prefix_of(self.tiles, link))),
                // Nobody publishes what was given up. (On links before, or in the replay, the others may have gone on.)
                Some((_, Step::Reduce(failed) | Step::Fold(failed))) if failed <= link => {
                    assert_eq!(total, Err(Poisoned));
                }
                Some(_) => assert!(matches!(total, Err(Poisoned)) || total == Ok(prefix_of(self.tiles, link))),
            }
        }
    }
}

/// What the tiles before `tile` come to on `link`: a hash of their sequence, so that an order, a gap or a repetition shows.
fn prefix_of(tile: usize, link: usize) -> u64 {
    (0..tile as u64).fold(link as u64, |hash, tile| hash.wrapping_mul(0x9e37_79b9).wrapping_add(tile + 1))
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
    explore(|| run_with_helpers_of_all_kinds(Trial::random()));
}

#[test]
fn a_panic_anywhere_reaches_the_caller_and_releases_everybody() {
    explore(|| run_with_helpers_of_all_kinds(Trial::random_with_a_panic()));
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
            let trial = if thread_rng().gen_bool(0.5) { Trial::random() } else { Trial::random_with_a_panic() };
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
