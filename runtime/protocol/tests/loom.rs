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

/// On link l, tile t appends the digit t + 1 + 3l to a decimal number: an order, a gap or a repetition shows, and on
/// which link.
fn append(carry: u64, tile: usize, link: usize) -> u64 {
    carry * 10 + (tile + 1 + 3 * link) as u64
}

/// The seed followed by the digits of the first `tiles` tiles.
fn prefix_of(tiles: usize, link: usize) -> u64 {
    (0..tiles).fold(SEED, |carry, tile| append(carry, tile, link))
}

const SEED: u64 = 9;

/// Takes tiles until none is left or the chain is poisoned. Every carry must be right.
fn work(chain: &Chain, links: usize) -> Result<(), Poisoned> {
    while let Some(ticket) = chain.take() {
        let tile = ticket.tile().get();
        let mut next = Some(ticket);
        for link in 0..links {
            let mut carry = [0; 8];
            let turn = next.expect("a ticket for each link").wait(&mut carry)?;
            let carry = u64::from_ne_bytes(carry);
            assert_eq!(carry, prefix_of(tile, link), "the carry of tile {tile} on link {link}");
            next = turn.publish(&append(carry, tile, link).to_ne_bytes());
        }
        assert!(next.is_none());
    }
    Ok(())
}

fn total(chain: &mut Chain, link: usize) -> Result<u64, Poisoned> {
    let mut total = [0; 8];
    chain.total(link, &mut total).map(|()| u64::from_ne_bytes(total))
}

fn chain(tiles: usize, links: usize) -> Chain {
    let seed = SEED.to_ne_bytes();
    Chain::new(tiles, &vec![&seed[..]; links]).expect("8 bytes are few")
}

/// Ends the sharing once the other thread was joined.
fn sole<T>(shared: Arc<T>) -> T {
    Arc::try_unwrap(shared).unwrap_or_else(|_| panic!("still shared"))
}

#[test]
fn two_threads_chain_three_tiles() {
    model(|| {
        let chain = Arc::new(chain(3, 1));
        let other = thread::spawn({
            let chain = Arc::clone(&chain);
            move || work(&chain, 1)
        });
        assert_eq!(work(&chain, 1), Ok(()));
        assert_eq!(other.join().expect("no panic"), Ok(()));
        assert_eq!(total(&mut sole(chain), 0), Ok(9123));
    });
}

#[test]
fn two_threads_chain_three_tiles_on_two_links() {
    model(|| {
        let chain = Arc::new(chain(3, 2));
        let other = thread::spawn({
            let chain = Arc::clone(&chain);
            move || work(&chain, 2)
        });
        assert_eq!(work(&chain, 2), Ok(()));
        assert_eq!(other.join().expect("no panic"), Ok(()));
        let mut chain = sole(chain);
        assert_eq!([0, 1].map(|link| total(&mut chain, link)), [Ok(9123), Ok(9456)]);
    });
}

#[test]
fn a_thread_that_gives_up_between_links_releases_the_other() {
    model(|| {
        let chain = Arc::new(chain(2, 2));
        let other = thread::spawn({
            let chain = Arc::clone(&chain);
            // Pays the first link of its tile, and drops the ticket for the second.
            move || {
                let ticket = chain.take()?;
                let tile = ticket.tile().get();
                let turn = ticket.wait(&mut [0; 8]).expect("nobody else gives up, and every tile before was paid here");
                drop(turn.publish(&prefix_of(tile + 1, 0).to_ne_bytes()));
                Some(tile)
            }
        });
        let worked = work(&chain, 2);
        let given_up = other.join().expect("no panic");
        // Who comes to the first link after the second was given up may be refused there already.
        assert_eq!(worked, if given_up == Some(0) { Err(Poisoned) } else { Ok(()) });
        let mut chain = sole(chain);
        assert_eq!(total(&mut chain, 1), given_up.map_or(Ok(945), |_| Err(Poisoned)));
        if given_up != Some(0) {
            assert_eq!(total(&mut chain, 0), Ok(912));
        }
    });
}

#[test]
fn a_thread_that_gives_up_releases_the_other() {
    model(|| {
        let chain = Arc::new(chain(3, 1));
        let other = thread::spawn({
            let chain = Arc::clone(&chain);
            move || chain.take().map(|ticket| ticket.tile().get())
        });
        let worked = work(&chain, 1);
        let given_up = other.join().expect("no panic");
        // The last tile has no waiter to disappoint.
        assert_eq!(worked, if given_up.is_some_and(|tile| tile < 2) { Err(Poisoned) } else { Ok(()) });
        assert_eq!(chain.is_poisoned(), given_up.is_some());
        assert_eq!(total(&mut sole(chain), 0), given_up.map_or(Ok(9123), |_| Err(Poisoned)));
    });
}

#[test]
fn a_thread_that_gives_up_its_turn_releases_the_other() {
    model(|| {
        let chain = Arc::new(chain(3, 1));
        let other = thread::spawn({
            let chain = Arc::clone(&chain);
            move || chain.take().map(|ticket| ticket.wait(&mut [0; 8]).map(drop).is_ok())
        });
        let worked = work(&chain, 1);
        if let Some(had_its_turn) = other.join().expect("no panic") {
            assert!(had_its_turn, "the tiles before it were published");
            assert_eq!(total(&mut sole(chain), 0), Err(Poisoned));
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
        let (mut chain, mut threads) = (chain(2, 1), Vec::new());
        with_helpers(spawn_into(&mut threads), 1, &|| assert_eq!(work(&chain, 1), Ok(())));
        assert_eq!(total(&mut chain, 0), Ok(912));
        join(threads);
    });
}
