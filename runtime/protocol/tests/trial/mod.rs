//! A scan to try, in which every carry, every read, every write and the end are checked: what the
//! tests with real threads share with those under loom and shuttle.
//!
//! A tile is one cell. ⊕ is neither commutative nor associative, so each total tells in which order
//! and from where aggregates were folded; and a level's aggregate has the carry of the level below
//! in it.

use monoscan_protocol::{
    crew::HelperTask,
    state::State,
    tiles::{Claim, Reading, Tiles, scan},
};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A scan to try: how large, where its results go, and where a thread fails, if one does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trial {
    pub(crate) tiles: usize,
    pub(crate) levels: usize,
    pub(crate) in_place: bool,
    pub(crate) fails: Option<(usize, Task)>,
}

/// The actions of a thread on a tile.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Task {
    Reduce(usize),
    Write,
}

impl Task {
    /// All of a tile.
    #[allow(dead_code, reason = "not every test has panics")]
    pub(crate) fn all(levels: usize) -> Vec<Self> {
        (0..levels).map(Self::Reduce).chain([Self::Write]).collect()
    }
}

impl Trial {
    /// Without a panic.
    pub(crate) fn new(tiles: usize, levels: usize, in_place: bool) -> Trial {
        Trial { tiles, levels, in_place, fails: None }
    }

    /// The scan by a crew. It must end as told: with all that it should have written, or with the panic.
    pub(crate) fn run(&self, helpers: usize, spawn: impl FnMut(HelperTask)) {
        let cells = Cells::new(*self);
        let ended = catch_unwind(AssertUnwindSafe(|| scan(&cells, helpers, spawn).total));
        match (ended, self.fails) {
            (Ok(_), Some((tile, Task::Write))) if tile < self.tiles => panic!("tile {tile} was not written"),
            // A tile need not be reduced.
            (Ok(total), _) => cells.check(&total),
            (Err(payload), Some(_)) if payload.downcast_ref() == Some(&TOLD) => {}
            (Err(payload), _) => resume_unwind(payload),
        }
    }
}

const TOLD: &str = "failed as told";

/// The carries of all levels into each tile, and behind the last.
fn carries(trial: Trial) -> Vec<Vec<u64>> {
    let mut all = vec![(0..trial.levels as u64).collect::<Vec<_>>()];
    for tile in 0..trial.tiles {
        let before = all.last().expect("there is the initial state").clone();
        let prefix = |level: usize| then(before[level], aggregate(tile, level, &before));
        all.push((0..trial.levels).map(prefix).collect());
    }
    all
}

fn then(earlier: u64, later: u64) -> u64 {
    earlier.wrapping_mul(0x9e37_79b9).wrapping_add(later)
}

fn aggregate(tile: usize, level: usize, carries: &[u64]) -> u64 {
    let below = level.checked_sub(1).map_or(0, |below| carries[below]);
    input(tile).wrapping_mul(level as u64 + 1) ^ below
}

fn input(tile: usize) -> u64 {
    3 + 2 * tile as u64
}

/// The input and the results of a trial.
pub(crate) struct Cells {
    trial: Trial,
    inputs: Vec<Cell>,
    outputs: Vec<Cell>,
    /// How often each tile was written.
    written: Vec<AtomicUsize>,
    carries: Vec<Vec<u64>>,
}

/// The record of a tile that a thread keeps: which it is, and how many levels of it are reduced.
type Reduced = (usize, usize);

impl Cells {
    pub(crate) fn new(trial: Trial) -> Cells {
        Cells {
            trial,
            inputs: (0..trial.tiles).map(|tile| Cell::new(input(tile))).collect(),
            outputs: (0..trial.tiles).map(|_| Cell::new(0)).collect(),
            written: (0..trial.tiles).map(|_| AtomicUsize::new(0)).collect(),
            carries: carries(trial),
        }
    }

    pub(crate) fn check(&self, total: &State) {
        for tile in 0..self.trial.tiles {
            assert_eq!(self.written[tile].load(Ordering::Relaxed), 1, "tile {tile} is written once");
            assert_eq!(self.output(tile).get(), self.result(tile), "the result of tile {tile}");
        }
        assert_eq!(total, &State::new(self.carries[self.trial.tiles].iter().copied()));
    }

    fn output(&self, tile: usize) -> &Cell {
        if self.trial.in_place { &self.inputs[tile] } else { &self.outputs[tile] }
    }

    /// Something that no input is.
    fn result(&self, tile: usize) -> u64 {
        self.carries[tile + 1].iter().fold(1 << 60, |all, &prefix| all ^ prefix >> 8)
    }

    /// Reads take time, now and then as much as a rescue and the writing after it.
    fn read(&self, tile: usize) {
        for _ in 0..2 {
            assert_eq!(self.inputs[tile].get(), input(tile), "tile {tile} was read after it was written");
            a_while();
        }
    }

    fn write(&self, tile: usize) {
        self.read(tile);
        self.fail_if_told(tile, Task::Write);
        assert_eq!(self.written[tile].fetch_add(1, Ordering::Relaxed), 0, "tile {tile} is written once");
        self.output(tile).set(self.result(tile));
    }

    fn check_carries(&self, tile: usize, levels: usize, carries: &State) {
        for level in 0..levels {
            assert_eq!(carries.get(level), self.carries[tile][level], "the carry into tile {tile} at level {level}");
        }
    }

    fn fail_if_told(&self, tile: usize, task: Task) {
        if self.trial.fails == Some((tile, task)) {
            resume_unwind(Box::new(TOLD));
        }
    }
}

impl Tiles for Cells {
    type Workspace = Reduced;

    fn workspace(&self) -> Reduced {
        (usize::MAX, 0)
    }

    fn tiles(&self) -> usize {
        self.trial.tiles
    }

    fn levels(&self) -> usize {
        self.trial.levels
    }

    fn part(&self, level: usize) -> Range<usize> {
        level..level + 1
    }

    fn init(&self) -> State {
        State::new(self.carries[0].iter().copied())
    }

    fn is_in_place(&self) -> bool {
        self.trial.in_place
    }

    fn combine(&self, level: usize, earlier: &mut State, later: &State) {
        earlier.set(level, then(earlier.get(level), later.get(level)));
    }

    fn reduce(&self, tile: &Reading<'_>, level: usize, carries: &State, reduced: &mut Reduced, to: &mut State) {
        let tile = tile.tile().get();
        if level > 0 {
            assert_eq!(*reduced, (tile, level), "levels are reduced in order");
        }
        self.check_carries(tile, level, carries);
        self.read(tile);
        self.fail_if_told(tile, Task::Reduce(level));
        to.set(level, aggregate(tile, level, &self.carries[tile]));
        *reduced = (tile, level + 1);
    }

    fn replay(&self, tile: &Claim<'_>, carries: &State, reduced: &mut Reduced) {
        let tile = tile.tile().get();
        assert_eq!(*reduced, (tile, self.trial.levels), "what is replayed was reduced");
        self.check_carries(tile, self.trial.levels, carries);
        self.write(tile);
    }

    fn scan(&self, tile: &Claim<'_>, state: &mut State, _: &mut Reduced) {
        let tile = tile.tile().get();
        self.check_carries(tile, self.trial.levels, state);
        self.write(tile);
        (0..self.trial.levels).for_each(|level| state.set(level, self.carries[tile + 1][level]));
    }
}

/// Lets others run in the middle of a kernel. Under loom there is no need: it finds races between reads and writes of cells
/// without seeing them happen.
fn a_while() {
    #[cfg(shuttle)]
    {
        use shuttle::rand::{Rng, thread_rng};
        (0..thread_rng().gen_range(0..3usize).pow(5)).for_each(|_| shuttle::thread::yield_now());
    }
}

/// A record. Loom reports unordered accesses; elsewhere one that comes too late is seen by its value.
#[cfg(loom)]
struct Cell(loom::cell::UnsafeCell<u64>);

#[cfg(loom)]
// SAFETY: an unordered access would be a bug in what is tested, and loom, which runs one thread at a time, reports it.
unsafe impl Sync for Cell {}

#[cfg(loom)]
impl Cell {
    fn new(value: u64) -> Cell {
        Cell(loom::cell::UnsafeCell::new(value))
    }

    fn get(&self) -> u64 {
        // SAFETY: see `Sync`.
        self.0.with(|value| unsafe { *value })
    }

    fn set(&self, value: u64) {
        // SAFETY: see `Sync`.
        self.0.with_mut(|to| unsafe { *to = value });
    }
}

#[cfg(not(loom))]
struct Cell(std::sync::atomic::AtomicU64);

#[cfg(not(loom))]
impl Cell {
    fn new(value: u64) -> Cell {
        Cell(value.into())
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn set(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }
}
