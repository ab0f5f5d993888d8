//! Every interleaving of two threads (once three), by loom, of the code that runs. Loom also reports a data race on a
//! carry or on the lent work, a deadlock, and a leak. No test bounds the search: waits yield, and that keeps it small.
//!
//! ```sh
//! RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom cargo test -p scan-protocol --release --test loom
//! ```
#![cfg(loom)]

use loom::{cell::UnsafeCell, model, sync::Arc, thread};
use scan_protocol::{
    chain::{Chain, Poisoned},
    crew::{HelperTask, with_helpers},
};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Tile t appends the digit t + 1 to a decimal number: an order, a gap or a repetition shows.
fn append(carry: u64, tile: usize) -> u64 {
    carry * 10 + tile as u64 + 1
}

/// The seed followed by the digits of the first `tiles` tiles.
fn prefix_of(tiles: usize) -> u64 {
    (0..tiles).fold(SEED, append)
}

const SEED: u64 = 9;

/// Takes tiles until none is left or the chain is poisoned. Every carry must be right.
fn work(chain: &Chain) -> Result<(), Poisoned> {
    while let Some(ticket) = chain.take() {
        let tile = ticket.tile().get();
        let mut carry = [0; 8];
        let turn = ticket.wait(&mut carry)?;
        let carry = u64::from_ne_bytes(carry);
        assert_eq!(carry, prefix_of(tile), "the carry of tile {tile}");
        turn.publish(&append(carry, tile).to_ne_bytes());
    }
    Ok(())
}

fn total(chain: &mut Chain) -> Result<u64, Poisoned> {
    let mut total = [0; 8];
    chain.total(&mut total).map(|()| u64::from_ne_bytes(total))
}

fn chain(tiles: usize) -> Chain {
    Chain::new(tiles, &SEED.to_ne_bytes()).expect("8 bytes are few")
}

/// Ends the sharing once the other thread was joined.
fn sole<T>(shared: Arc<T>) -> T {
    Arc::try_unwrap(shared).unwrap_or_else(|_| panic!("still shared"))
}

#[test]
fn two_threads_chain_three_tiles() {
    model(|| {
        let chain = Arc::new(chain(3));
        let other = thread::spawn({
            let chain = Arc::clone(&chain);
            move || work(&chain)
        });
        assert_eq!(work(&chain), Ok(()));
        assert_eq!(other.join().expect("no panic"), Ok(()));
        assert_eq!(total(&mut sole(chain)), Ok(9123));
    });
}

#[test]
fn a_thread_that_gives_up_releases_the_other() {
    model(|| {
        let chain = Arc::new(chain(3));
        let other = thread::spawn({
            let chain = Arc::clone(&chain);
            move || chain.take().map(|ticket| ticket.tile().get())
        });
        let worked = work(&chain);
        let given_up = other.join().expect("no panic");
        // The last tile has no waiter to disappoint.
        assert_eq!(worked, if given_up.is_some_and(|tile| tile < 2) { Err(Poisoned) } else { Ok(()) });
        assert_eq!(chain.is_poisoned(), given_up.is_some());
        assert_eq!(total(&mut sole(chain)), given_up.map_or(Ok(9123), |_| Err(Poisoned)));
    });
}

#[test]
fn a_thread_that_gives_up_its_turn_releases_the_other() {
    model(|| {
        let chain = Arc::new(chain(3));
        let other = thread::spawn({
            let chain = Arc::clone(&chain);
            move || chain.take().map(|ticket| ticket.wait(&mut [0; 8]).map(drop).is_ok())
        });
        let worked = work(&chain);
        if let Some(had_its_turn) = other.join().expect("no panic") {
            assert!(had_its_turn, "the tiles before it were published");
            assert_eq!(total(&mut sole(chain)), Err(Poisoned));
        } else {
            assert_eq!(worked, Ok(()));
        }
    });
}

/// Work that reads a cell of the caller, which the caller overwrites when the call is over. A helper inside after that,
/// or one whose reading is not ordered before it, is a data race, which loom reports.
#[derive(Clone)]
struct Borrowed(Arc<UnsafeCell<u64>>);

// SAFETY: an unordered access would be a bug in what is tested, and loom, which runs one thread at a time, reports it.
unsafe impl Sync for Borrowed {}
// SAFETY: as above.
unsafe impl Send for Borrowed {}

impl Borrowed {
    fn new() -> Self {
        Self(Arc::new(UnsafeCell::new(1)))
    }

    fn read(&self) {
        // SAFETY: see `Sync`.
        assert_eq!(self.0.with(|value| unsafe { *value }), 1, "the call is over");
    }

    fn overwrite(&self) {
        // SAFETY: see `Sync`.
        self.0.with_mut(|value| unsafe { *value = 2 });
    }
}

fn spawn_into(threads: &mut Vec<thread::JoinHandle<()>>) -> impl FnMut(HelperTask) {
    |task| threads.push(thread::spawn(move || task.run()))
}

fn join(threads: Vec<thread::JoinHandle<()>>) {
    threads.into_iter().for_each(|thread| thread.join().expect("a helper does not panic"));
}

#[test]
fn the_work_is_not_touched_after_the_call() {
    for helpers in [1, 2] {
        model(move || {
            let (data, mut threads) = (Borrowed::new(), Vec::new());
            with_helpers(spawn_into(&mut threads), helpers, &|| data.read());
            data.overwrite();
            join(threads);
        });
    }
}

#[test]
fn the_work_is_not_touched_after_the_call_panicked() {
    model(|| {
        let (data, mut threads) = (Borrowed::new(), Vec::new());
        let job = || {
            data.read();
            resume_unwind(Box::new("both"));
        };
        let ended = catch_unwind(AssertUnwindSafe(|| with_helpers(spawn_into(&mut threads), 1, &job)));
        assert!(ended.is_err());
        data.overwrite();
        join(threads);
    });
}

#[test]
fn a_crew_scans_a_chain_of_its_caller() {
    model(|| {
        let (mut chain, mut threads) = (chain(2), Vec::new());
        with_helpers(spawn_into(&mut threads), 1, &|| assert_eq!(work(&chain), Ok(())));
        assert_eq!(total(&mut chain), Ok(912));
        join(threads);
    });
}
