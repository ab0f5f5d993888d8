//! How the tiles of a CPU scan talk.
//!
//! A scan on all cores cuts its input into *tiles*. Its threads find each tile's *aggregate*, its
//! *carry* (the inclusive prefix of the tile before) and its own *inclusive prefix*, carry ⊕
//! aggregate, and write its results. This crate is what happens between those threads, and nothing
//! else: it knows neither the element type nor the operator, and a state is a run of words to it.
//!
//! - [`tiles`]: what can be done to tiles, and the scan.
//! - [`tickets`]: which thread works on which tile.
//! - [`crew`]: the calling thread works, and lends its work to helpers that cost nothing if they
//!   never start.
//!
//! It is the decoupled look-back of Merrill and Garland with *helping*: on a GPU a thread block
//! that has started is sure to go on, so the one behind it can wait for its aggregate. A thread of
//! a CPU may be taken off its core at any time, for longer than a whole scan takes. So here a
//! missing aggregate is computed by the thread that needs it.
//!
//! ```
//! use monoscan_protocol::crew::HelperTask;
//! use monoscan_protocol::state::State;
//! use monoscan_protocol::tiles::{Claim, Reading, Tiles, scan};
//! use std::sync::atomic::{AtomicU64, Ordering};
//!
//! /// Prefix sums in tiles of 64.
//! struct Sums<'a>(&'a [u64], &'a [AtomicU64]);
//!
//! impl Tiles for Sums<'_> {
//!     type Workspace = ();
//!     fn workspace(&self) {}
//!     fn tiles(&self) -> usize { self.0.len().div_ceil(64) }
//!     fn levels(&self) -> usize { 1 }
//!     fn part(&self, _: usize) -> std::ops::Range<usize> { 0..1 }
//!     fn init(&self) -> State { State::new([0]) }
//!     fn is_in_place(&self) -> bool { false }
//!     fn combine(&self, _: usize, earlier: &mut State, later: &State) {
//!         earlier.set(0, earlier.get(0) + later.get(0));
//!     }
//!     fn reduce(&self, tile: &Reading<'_>, _: usize, _: &State, _: &mut (), aggregate: &mut State) {
//!         aggregate.set(0, self.0.chunks(64).nth(tile.tile().get()).into_iter().flatten().sum());
//!     }
//!     fn replay(&self, tile: &Claim<'_>, carries: &State, (): &mut ()) {
//!         self.scan(tile, &mut carries.clone(), &mut ());
//!     }
//!     fn scan(&self, tile: &Claim<'_>, state: &mut State, (): &mut ()) {
//!         let first = 64 * tile.tile().get();
//!         for (x, y) in self.0[first..].iter().zip(&self.1[first..]).take(64) {
//!             state.set(0, state.get(0) + x);
//!             y.store(state.get(0), Ordering::Relaxed);
//!         }
//!     }
//! }
//!
//! let xs: Vec<u64> = (1..=1000).collect();
//! let ys: Vec<AtomicU64> = xs.iter().map(|_| AtomicU64::new(0)).collect();
//! let spawn = |task: HelperTask| drop(std::thread::spawn(|| task.run()));
//! assert_eq!(scan(&Sums(&xs, &ys), 3, spawn).total, State::new([500_500]));
//! assert_eq!(ys[64].load(Ordering::Relaxed), 65 * 66 / 2);
//! ```
//!
//! # Why it cannot hang
//!
//! Nobody waits for a thread that is not in a step, and steps end by themselves. What a thread
//! waits for within a step is bounded by the time of a reduction. So it is enough that the caller,
//! of all threads, gets somewhere by its own steps.
//!
//! Take the first tile that nobody has claimed. All before it are claimed. If the caller knows its
//! carries, it claims the tile, in its own turn or at the end in its sweep. A claim is refused only
//! if the tile was claimed or, in place, is being read, in some thread's step. If it does not know
//! them, some tile before has no aggregate and no prefix. The first such tile has known carries,
//! for all before it have aggregates; so the caller reduces it. That is refused only if the
//! aggregate has come or, in place, if the tile is being written, in some thread's step. In each
//! case a tile was claimed, an aggregate was published, or the caller naps until a step of another
//! thread ends. There are finitely many tiles and levels; and without other threads in a step there
//! is no nap.
//!
//! A thread that is off its core *within* a step can keep the caller waiting: at the end always,
//! since it may still read or write what the caller lent; before that, in place alone. No protocol
//! helps there, for steps are what kernels do.
//!
//! # Why the result does not depend on the threads
//!
//! The association is fixed on every level: `prefix(t) = combine(prefix(t − 1), aggregate(t))`,
//! with the seed as `prefix(−1)`. A look-back starts at any prefix and folds aggregates onto it in
//! order, which is the same left fold. An aggregate depends on its tile and, in a cascade, on the
//! carries of the levels below, and a tile scanned in one pass has to give the same prefix to the
//! bit. Which thread does what, when, and beside how many others, enters nowhere. So even an
//! operator that is associative only up to rounding gives the same bits with one thread and with a
//! hundred, as long as the cut into tiles is the same.
//!
//! # What is checked
//!
//! Atomics, cells and waits come from one place, `sync.rs`. With `--cfg loom` they become loom's.
//! Then loom runs the code of this crate, not a model of it, through the interleavings of a few
//! threads and tiles, with every value that a load may see under the ordering it asks for:
//!
//! ```sh
//! RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom cargo test -p monoscan-protocol --release --test loom --test mutations
//! ```
//!
//! More threads, tiles and levels than loom can exhaust run under shuttle, in the same way. Shuttle
//! draws tens of thousands of schedules at random, with helpers that come late or never or stop
//! between two steps, a pool of one thread, and a panic anywhere:
//!
//! ```sh
//! RUSTFLAGS="--cfg shuttle" CARGO_TARGET_DIR=target/shuttle cargo test -p monoscan-protocol --release --test shuttle --test mutations
//! ```
//!
//! Each ordering and each check that the two arguments above need has a name, in `rules.rs`.
//! `tests/mutations.rs` breaks them one at a time, and loom or shuttle must notice.
//!
//! Tests with real threads, on pools that are busy, deaf or of one thread, run with all others;
//! Miri runs those without a pool (`cargo +nightly miri test -p monoscan-protocol`).
//!
//! `unsafe` lives in one place, `crew`: the lifetime of the lent work, and the workers of helpers.

#![warn(clippy::missing_errors_doc)]

pub mod crew;
mod descriptors;
mod parked;
pub mod rules;
pub mod state;
mod sync;
pub mod tickets;
pub mod tiles;
mod worker;
