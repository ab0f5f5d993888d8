//! One thread of a scan, step by step. A step is about one kernel: it is short, and waits for
//! nobody longer than a few microseconds.
//!
//! In this order a thread
//!
//! 1. goes on with a tile that it has reduced, if the carries are known: reduces the next level of
//!    one, as all tiles behind wait for that, or else claims the oldest, publishes its prefix and
//!    replays it;
//! 2. takes the parked tile, if its carries are known: claims it, scans it in one pass and
//!    publishes the prefix at its end;
//! 3. takes the next tile, if it has reduced few that wait. Are the carries known, it scans it in
//!    one pass, too; else it parks it, reduces the one behind it, and publishes the aggregate. If a
//!    tile is parked already, it reduces this one;
//! 4. looks for twice as long as its owner should take whether the first missing aggregate comes,
//!    and then *rescues* that tile: reduces it itself, whichever thread has its ticket;
//! 5. is done. The caller *sweeps*: it finishes whatever was taken and not claimed.
//!
//! Between "the carry is known" and "the prefix is published" there is one combine, and this is all
//! that tiles do one after the other.

use crate::crew::Step;
use crate::descriptors::Refusal;
use crate::rules::Rule;
use crate::state::State;
use crate::sync::{Moment, Ordering, hint};
use crate::tickets::TileIndex;
use crate::tiles::{Board, MAX_LEVELS, Tiles};
use std::collections::VecDeque;
use std::time::Duration;

/// Most tiles that a thread reduces ahead of their carries. With fewer, a thread whose carries are late would wait; each more is
/// read from a farther cache when it is replayed.
const AHEAD: usize = 3;

/// For how many times as long as a reduction a missing aggregate is waited for, and above the first level as a reduction and a
/// replay: its owner may be replaying another tile. The owner began before, so this is long enough but where it lost its core; and it is
/// no longer than what is lost if it did not.
const PATIENCE: u32 = 2;

/// The longest time that a missing aggregate is waited for. Where no time passes there is none.
const MOST_PATIENCE: Duration = Duration::from_micros(if cfg!(any(loom, shuttle)) { 0 } else { 100 });

/// One thread at work.
pub(crate) struct Worker<'a, T: Tiles> {
    tiles: &'a T,
    board: &'a Board,
    /// 0 for the caller.
    seat: usize,
    /// The carry of each level into tile `known[level]`, the last that was asked for.
    carries: State,
    known: [usize; MAX_LEVELS],
    /// The times of the fastest reduction and the fastest replay so far. (A slower one may have lost its core.)
    reduction: Duration,
    replay: Duration,
    /// Tiles that were taken and could not be written yet, in order.
    pending: VecDeque<Pending<T::Workspace>>,
    spare: Vec<T::Workspace>,
    /// An aggregate on its way to or from a descriptor.
    passing: State,
    /// The prefixes of a tile that is being written.
    prefix: State,
    /// All tiles before this one are claimed, as far as a sweep has seen.
    swept: usize,
}

/// A tile that waits for its carries.
struct Pending<W> {
    tile: usize,
    /// The results of its levels so far; none if another thread reduces it.
    reduced: Option<Reduced<W>>,
}

struct Reduced<W> {
    levels: usize,
    workspace: W,
}

/// The first tile whose aggregate is missing, at a level: it holds up all tiles behind it.
struct Missing {
    tile: usize,
    level: usize,
}

impl<'a, T: Tiles> Worker<'a, T> {
    pub(crate) fn new(tiles: &'a T, board: &'a Board, seat: usize) -> Self {
        let carries = tiles.init();
        let (passing, prefix) = (State::zeroed(carries.len()), State::zeroed(carries.len()));
        let (pending, spare) = (VecDeque::with_capacity(AHEAD + 1), Vec::with_capacity(AHEAD + 1));
        Self {
            reduction: MOST_PATIENCE,
            replay: MOST_PATIENCE,
            tiles,
            board,
            seat,
            carries,
            known: [0; MAX_LEVELS],
            pending,
            spare,
            passing,
            prefix,
            swept: 0,
        }
    }

    pub(crate) fn step(&mut self) -> Step {
        let missing = match self.go_on() {
            Ok(true) => return Step::More,
            Ok(false) => None,
            Err(missing) => Some(missing),
        };
        if self.take_parked() {
            return Step::More;
        }
        let has_space = if missing.is_some() { self.pending.len() < AHEAD } else { self.pending.is_empty() };
        if let Some(tile) = has_space.then(|| self.board.tickets.take()).flatten() {
            self.begin(tile);
            return Step::More;
        }
        match missing {
            Some(missing) => self.wait_or_rescue(missing),
            None if self.seat == 0 && Rule::Sweep.forbids(true) => self.sweep(),
            None => Step::Done,
        }
    }

    /// How many levels' carries a pending tile waits for.
    fn levels_before(&self, pending: &Pending<T::Workspace>) -> usize {
        pending.reduced.as_ref().map_or(self.tiles.levels(), |reduced| reduced.levels)
    }

    /// Finds the carries of the first `levels` levels into a tile, or what is missing for that.
    fn look_back(&mut self, tile: usize, levels: usize) -> Result<(), Missing> {
        (0..levels).try_for_each(|level| self.look_back_at(tile, level))
    }

    /// Finds the carry of a level into a tile: the nearest inclusive prefix before it, and onto that the aggregates of the
    /// tiles between, in order. So it is the left fold of all aggregates, to the bit, wherever it starts.
    fn look_back_at(&mut self, tile: usize, level: usize) -> Result<(), Missing> {
        let (descriptors, part) = (&self.board.descriptors, self.tiles.part(level));
        if self.known[level] > tile {
            self.known[level] = 0;
            self.carries.copy_part(&self.tiles.init(), part.clone());
        }
        let (mut start, mut end) = (self.known[level], tile);
        for earlier in (start..tile).rev() {
            let flags = descriptors.flags(earlier);
            if flags.has_prefix() {
                descriptors.read_prefix(earlier, part.clone(), &mut self.carries);
                start = earlier + 1;
                break;
            }
            if !flags.has_aggregate(level) {
                end = earlier;
            }
        }
        for earlier in start..end {
            descriptors.read_aggregate(earlier, part.clone(), &mut self.passing);
            self.tiles.combine(level, &mut self.carries, &self.passing);
        }
        self.known[level] = end;
        if end == tile { Ok(()) } else { Err(Missing { tile: end, level }) }
    }

    /// Reduces the next level of the first pending tile whose carries are known below it, or else writes the oldest. Says
    /// whether there was such a tile, or what the oldest waits for.
    fn go_on(&mut self) -> Result<bool, Missing> {
        let all = self.tiles.levels();
        for place in 0..self.pending.len() {
            let (tile, levels) = (self.pending[place].tile, self.levels_before(&self.pending[place]));
            if levels < all && self.look_back(tile, levels).is_ok() {
                if let Some(reduced) = self.pending[place].reduced.take() {
                    self.pending[place].reduced = self.reduce(tile, levels, reduced).ok();
                }
                return Ok(true);
            }
        }
        let Some(oldest) = self.pending.front() else { return Ok(false) };
        let (tile, levels) = (oldest.tile, self.levels_before(oldest));
        self.look_back(tile, levels)?;
        // If levels are left, their carries became known just now, and the next step reduces them.
        if levels == all
            && let Some(Pending { reduced, .. }) = self.pending.pop_front()
        {
            // If the claim is refused, another thread writes the tile or, in place, reads it, and then tries to claim it. The
            // sweep finds what is left.
            _ = self.write(tile, reduced.map(|reduced| reduced.workspace));
        }
        Ok(true)
    }

    /// Scans the parked tile, if there is one whose carries are known.
    fn take_parked(&mut self) -> bool {
        let known = self.board.parked.peek().filter(|tile| self.may_scan(tile.get()));
        // As in `go_on`.
        known.is_some_and(|tile| self.board.parked.take(tile) && self.write(tile.get(), None).is_ok())
    }

    /// A tile that was taken just now.
    fn begin(&mut self, mut tile: TileIndex) {
        if self.pending.is_empty() && self.may_scan(tile.get()) {
            // As in `go_on`.
            _ = self.write(tile.get(), None);
            return;
        }
        if !self.reads_first() && self.board.parked.park(tile) {
            // Behind the last tile there is none: that one is left to the thread that learns its carry, or to the sweep.
            let Some(behind) = self.board.tickets.take() else { return };
            tile = behind;
        }
        let unreduced = Reduced { levels: 0, workspace: self.workspace() };
        let reduced = self.reduce(tile.get(), 0, unreduced).ok();
        self.pending.push_back(Pending { tile: tile.get(), reduced });
    }

    /// Whether a tile that was not reduced may be scanned in one pass: its carries are known.
    fn may_scan(&mut self, tile: usize) -> bool {
        !self.reads_first() && self.look_back(tile, self.tiles.levels()).is_ok()
    }

    /// Whether tiles are reduced before they are written, come what may.
    fn reads_first(&self) -> bool {
        self.board.is_careful.load(Ordering::Relaxed)
    }

    /// Reduces a tile up to this level, whose aggregate it publishes. The carries of the levels below are known.
    fn reduce(
        &mut self,
        tile: usize,
        level: usize,
        mut reduced: Reduced<T::Workspace>,
    ) -> Result<Reduced<T::Workspace>, Refusal> {
        let reading = match self.board.descriptors.read(tile, level) {
            Ok(reading) => reading,
            Err(refusal) => {
                self.spare.push(reduced.workspace);
                return Err(refusal);
            }
        };
        let start = Moment::now();
        for level in reduced.levels..=level {
            self.tiles.reduce(&reading, level, &self.carries, &mut reduced.workspace, &mut self.passing);
        }
        self.reduction = self.reduction.min(start.elapsed());
        reading.publish(self.tiles.part(level), &self.passing);
        reduced.levels = level + 1;
        Ok(reduced)
    }

    /// Claims a tile and writes its results: a replay if it was reduced in this workspace, else one pass. The carries of all
    /// levels are known.
    fn write(&mut self, tile: usize, reduced: Option<T::Workspace>) -> Result<(), Refusal> {
        let claim = match self.board.descriptors.claim(tile) {
            Ok(claim) => claim,
            Err(refusal) => {
                self.spare.extend(reduced);
                return Err(refusal);
            }
        };
        // Relaxed: only this thread changes it, and a sum that reaches the number of tiles says that all are claimed.
        let claims = &self.board.claims[self.seat].0;
        claims.store(claims.load(Ordering::Relaxed) + 1, Ordering::Relaxed);

        // What others wait for comes first: if the aggregates are there, the prefix is one combine away.
        let is_reduced = (0..self.tiles.levels()).all(|level| claim.flags().has_aggregate(level));
        if is_reduced {
            self.prefix.copy_part(&self.carries, 0..self.carries.len());
            for level in 0..self.tiles.levels() {
                self.board.descriptors.read_aggregate(tile, self.tiles.part(level), &mut self.passing);
                self.tiles.combine(level, &mut self.prefix, &self.passing);
            }
            claim.publish(&self.prefix);
        }
        let workspace = match reduced {
            Some(mut workspace) => {
                let start = Moment::now();
                self.tiles.replay(&claim, &self.carries, &mut workspace);
                self.replay = self.replay.min(start.elapsed());
                std::mem::swap(&mut self.carries, &mut self.prefix);
                workspace
            }
            None => {
                let mut workspace = self.workspace();
                self.tiles.scan(&claim, &mut self.carries, &mut workspace);
                if !is_reduced {
                    claim.publish(&self.carries);
                }
                workspace
            }
        };
        self.known = [tile + 1; MAX_LEVELS];
        self.spare.push(workspace);
        Ok(())
    }

    fn workspace(&mut self) -> T::Workspace {
        self.spare.pop().unwrap_or_else(|| self.tiles.workspace())
    }

    /// A tile holds up all that this thread could do. Its own carries are known up to the missing level, since nothing before it
    /// is missing.
    fn wait_or_rescue(&mut self, Missing { tile, level }: Missing) -> Step {
        let descriptors = &self.board.descriptors;
        let owner_takes = if level == 0 { self.reduction } else { self.reduction + self.replay };
        let patience = MOST_PATIENCE.min(PATIENCE * owner_takes);
        let start = Moment::now();
        loop {
            let flags = descriptors.flags(tile);
            if flags.has_prefix() || flags.has_aggregate(level) {
                return Step::More;
            }
            hint::spin_loop();
            if start.elapsed() >= patience {
                break;
            }
        }
        if !Rule::Rescue.forbids(true) || self.look_back(tile, level).is_err() {
            return Step::Nap;
        }
        let reduced = Reduced { levels: 0, workspace: self.workspace() };
        match self.reduce(tile, level, reduced) {
            // Its carries are known, so it is the next to be written.
            Ok(reduced) => self.pending.push_front(Pending { tile, reduced: Some(reduced) }),
            Err(Refusal::Known) => {}
            Err(_) => {
                // In place, a tile that is being written can be reduced no more; its prefix comes when it is written.
                self.board.is_careful.store(true, Ordering::Relaxed);
                return Step::Nap;
            }
        }
        Step::More
    }

    /// Finishes the first tile that nobody has claimed.
    fn sweep(&mut self) -> Step {
        let (tiles, descriptors) = (self.board.descriptors.tiles(), &self.board.descriptors);
        let claims = self.board.claims.iter().map(|claims| claims.0.load(Ordering::Relaxed));
        if claims.sum::<usize>() == tiles {
            return Step::Done;
        }
        while self.swept < tiles && descriptors.flags(self.swept).is_claimed() {
            self.swept += 1;
        }
        if self.swept == tiles {
            return Step::Done;
        }
        match self.look_back(self.swept, self.tiles.levels()) {
            Ok(()) => match self.write(self.swept, None) {
                // It will claim the tile when it has read it.
                Err(Refusal::BeingRead) => Step::Nap,
                _ => Step::More,
            },
            Err(missing) => self.wait_or_rescue(missing),
        }
    }
}
