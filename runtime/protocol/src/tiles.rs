//! Scans in tiles that any thread can finish.
//!
//! The inclusive prefix of a tile is *carry ⊕ aggregate*, with the inclusive prefix of the tile
//! before it as its carry. What can be done to a tile, and how often:
//!
//! | | gives | needs | how often |
//! |---|---|---|---|
//! | [`reduce`](Tiles::reduce) | the aggregate | the tile's input | by anyone, any number of times: it only reads |
//! | [`replay`](Tiles::replay), [`scan`](Tiles::scan) | the results | the carry, and a [`Claim`] | once: it writes |
//!
//! [`scan`](Tiles::scan) is a replay without a reduction before it: one pass, for a tile whose
//! carry is known when it is taken. Nothing that a thread may have to wait for depends on one other
//! thread: the aggregate of a tile that holds up the others is computed by the thread that needs
//! it. That is helping, as in lock-free data structures, and here it is called *rescue*.
//!
//! In a cascade each level has an aggregate and a prefix of its own, and a level's aggregate can be
//! found only from the true carries of the levels below it. So a tile is reduced level by level,
//! and replayed once.

use crate::crew::{self, HelperTask};
use crate::descriptors::Descriptors;
pub use crate::descriptors::{Claim, MAX_LEVELS, Reading};
use crate::parked::Parked;
use crate::state::State;
use crate::sync::{AtomicBool, AtomicUsize, CacheLine};
use crate::tickets::Tickets;
use crate::worker::Worker;
use std::ops::Range;
use std::time::Duration;

/// The subject of a scan: a row of tiles, and what can be done to them.
///
/// Methods are called by several threads at once. They must give the same bits in any thread, and whatever the number of
/// threads; then so does the scan.
pub trait Tiles: Sync {
    /// The results of a tile's reduction that a thread keeps until its replay. A thread has a few, and uses them again.
    type Workspace: Send;

    /// A workspace for any tile.
    fn workspace(&self) -> Self::Workspace;

    /// How many tiles there are.
    fn tiles(&self) -> usize;

    /// How many levels there are: 1 to [`MAX_LEVELS`].
    fn levels(&self) -> usize;

    /// Which words of a state belong to a level.
    fn part(&self, level: usize) -> Range<usize>;

    /// The carries into the first tile.
    fn init(&self) -> State;

    /// Whether results are written over the inputs.
    fn is_in_place(&self) -> bool;

    /// `earlier` ⊕ `later` in a level's part, left in `earlier`.
    fn combine(&self, level: usize, earlier: &mut State, later: &State);

    /// Leaves a tile's aggregate at a level in that level's part of `aggregate`. `carries` has the carries of the levels
    /// below into the tile; these were reduced before, in the same workspace.
    fn reduce(
        &self,
        tile: &Reading<'_>,
        level: usize,
        carries: &State,
        workspace: &mut Self::Workspace,
        aggregate: &mut State,
    );

    /// Writes the results of a tile that was reduced at all levels in this workspace. `carries` enter it.
    fn replay(&self, tile: &Claim<'_>, carries: &State, workspace: &mut Self::Workspace);

    /// Writes the results of a tile in one pass. `state` enters it, and becomes its inclusive prefix: to the bit what
    /// [`combine`](Tiles::combine) makes of `state` and the aggregates.
    fn scan(&self, tile: &Claim<'_>, state: &mut State, workspace: &mut Self::Workspace);
}

/// How a scan ended.
#[derive(Debug)]
pub struct Scanned {
    /// The inclusive prefix of the last tile; without tiles, the initial state.
    pub total: State,
    /// How long the caller, with everything done, waited for helpers that were still in a step.
    pub waited: Duration,
}

/// Scans on this thread, and on helpers as far as `spawn` finds threads for them: it is called `helpers` times with a task to
/// [`run`](HelperTask::run), on any thread, now, later or never.
///
/// Costs an allocation of a cache line a tile, more if states are large, and a small one a helper.
///
/// # Panics
///
/// If a method of `tiles` or `spawn` panics, with the payload of that panic, after all threads have stopped. Some tiles are
/// then written and others not.
pub fn scan<T: Tiles>(tiles: &T, helpers: usize, spawn: impl FnMut(HelperTask)) -> Scanned {
    assert!((1..=MAX_LEVELS).contains(&tiles.levels()), "{} levels; 1 to {MAX_LEVELS} are possible", tiles.levels());
    let init = tiles.init();
    let board = Board {
        descriptors: Descriptors::new(tiles.tiles(), init.len(), tiles.is_in_place()),
        tickets: Tickets::new(tiles.tiles()),
        parked: Parked::default(),
        claims: (0..=helpers).map(|_| CacheLine::default()).collect(),
        is_careful: AtomicBool::new(false),
    };
    let waited = crew::with_helpers(spawn, helpers, &|seat| Worker::new(tiles, &board, seat), &Worker::step);
    let mut total = init;
    if let Some(last) = tiles.tiles().checked_sub(1) {
        assert!(board.descriptors.flags(last).has_prefix(), "the thread that claims a tile publishes its prefix");
        let all = 0..total.len();
        board.descriptors.read_prefix(last, all, &mut total);
    }
    Scanned { total, waited }
}

/// The state that the threads of a scan share.
pub(crate) struct Board {
    pub(crate) descriptors: Descriptors,
    pub(crate) tickets: Tickets,
    pub(crate) parked: Parked,
    /// How many tiles each seat has claimed; only the thread in that seat changes it.
    pub(crate) claims: Box<[CacheLine<AtomicUsize>]>,
    /// In place: whether somebody had to wait for a tile that was being written and whose aggregate nobody knew. From then on
    /// tiles are reduced before they are written.
    pub(crate) is_careful: AtomicBool,
}
