//! How the tiles of a CPU scan talk.
//!
//! A scan on all cores cuts its input into *tiles*. A thread takes a tile, reduces it to its *aggregate*, learns the
//! tile's *carry* (the inclusive prefix of the tile before), publishes the inclusive prefix of its own tile for the next
//! one, and replays the tile from cache while writing. This crate is what happens between those threads, and nothing
//! else: it knows neither the element type nor the operator, and a state is a run of bytes to it.
//!
//! - [`chain`]: tiles are taken in order by ticket, and carries are handed from each tile to the next, on one link or
//!   several.
//! - [`crew`]: the calling thread works, and lends its work to helpers that cost nothing if they never start.
//!
//! ```
//! use scan_protocol::{chain::Chain, crew};
//! use std::sync::atomic::{AtomicU64, Ordering};
//!
//! // Prefix sums of 1, 2, …, 1000 in tiles of 64.
//! let xs: Vec<u64> = (1..=1000).collect();
//! let ys: Vec<AtomicU64> = xs.iter().map(|_| AtomicU64::new(0)).collect();
//! let (xs, ys) = (xs.chunks(64).collect::<Vec<_>>(), ys.chunks(64).collect::<Vec<_>>());
//!
//! let mut chain = Chain::new(xs.len(), &[&0u64.to_ne_bytes()])?;
//! let work = || {
//!     while let Some(ticket) = chain.take() {
//!         let tile = ticket.tile().get();
//!         let aggregate: u64 = xs[tile].iter().sum();
//!         let mut carry = [0; 8];
//!         let Ok(turn) = ticket.wait(&mut carry) else { return };
//!         let mut sum = u64::from_ne_bytes(carry);
//!         turn.publish(&(sum + aggregate).to_ne_bytes());
//!         for (x, y) in xs[tile].iter().zip(ys[tile]) {
//!             sum += x;
//!             y.store(sum, Ordering::Relaxed);
//!         }
//!     }
//! };
//! crew::with_helpers(|task| drop(std::thread::spawn(|| task.run())), 3, &work);
//!
//! let mut total = [0; 8];
//! chain.total(0, &mut total)?;
//! assert_eq!(u64::from_ne_bytes(total), 500_500);
//! assert_eq!(ys[1][0].load(Ordering::Relaxed), 65 * 66 / 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Why it cannot hang
//!
//! Tickets are handed out in order, so every tile before a taken one was taken too, each by a thread that runs. A thread
//! that holds a tile waits, on each link in turn, for the tile before it and for nothing else; and the first tile waits
//! for nothing: its carries, the seeds, are there from the start. Now take the earliest tile that is not published on
//! all links. The tile before it is, so its thread does not wait on any link, and publishes it; and by induction every
//! tile gets its turn on every link. A thread that gives up between taking and the last publishing, by a panic or an
//! early return, drops its ticket, and that *poisons* the chain: whoever waits then, on whatever link, gets an error
//! instead of a carry. No helper needs to start for this to hold, because the calling thread alone can take every tile;
//! and the caller waits at the end only for helpers that already work.
//!
//! Two things are asked of the work between taking and the last publishing. It must not be leaked (`mem::forget` of a ticket is
//! a prefix owed for ever), and it must not wait for a later tile: a thread finishes one tile before it takes the next,
//! and does not, in between, run tasks of a pool that may take tiles themselves.
//!
//! # Why the result does not depend on the number of threads
//!
//! The association is fixed on every link: `prefix(t) = combine(prefix(t − 1), aggregate(t))`, with the seed as `prefix(−1)`.
//! Which thread computes it, when, and beside how many others, enters nowhere. So even an operator that is associative
//! only up to rounding gives the same bits with one thread and with a hundred, as long as the cut into tiles is the same.
//!
//! # What is checked
//!
//! Atomics, cells and waits come from one place, `sync.rs`. With `--cfg loom` they become loom's, and loom runs the code
//! of this crate, not a model of it, through every interleaving of a few threads and tiles, with every value that a load
//! may see under the ordering it asks for:
//!
//! ```sh
//! RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom cargo test -p scan-protocol --release --test loom
//! ```
//!
//! More threads, tiles and links than loom can exhaust run under shuttle, in the same way: tens of thousands of schedules
//! drawn at random, with helpers that come late or never, a pool of one thread, and a panic anywhere:
//!
//! ```sh
//! RUSTFLAGS="--cfg shuttle" CARGO_TARGET_DIR=target/shuttle cargo test -p scan-protocol --release --test shuttle
//! ```
//!
//! Tests with real threads, on pools that are busy, deaf or of one thread, run with all others; Miri runs those without
//! a pool (`cargo +nightly miri test -p scan-protocol`).
//!
//! `unsafe` lives in two places: the memory of the carries (`ring::Slot`, which relies on the turns of `chain`), and the
//! lifetime of the lent work (`crew::Crew`).

pub mod chain;
pub mod crew;
mod ring;
mod sync;
