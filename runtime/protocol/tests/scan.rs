//! Scans with real threads, and their edges: sizes of states, levels, tiles that are none.
//! (`loom.rs` and `shuttle.rs` have the interleavings.)
#![cfg(not(any(loom, shuttle)))]

mod trial;

use monoscan_protocol::{
    crew::HelperTask,
    state::State,
    tickets::{Tickets, TileIndex},
    tiles::{Claim, MAX_LEVELS, Reading, Tiles, scan},
};
use std::{ops::Range, panic::catch_unwind, thread};
use trial::Trial;

/// Miri is some thousand times slower.
fn many(tiles: usize) -> usize {
    if cfg!(miri) { tiles / 300 } else { tiles }
}

/// Runs a trial with so many helpers on threads, which have ended when this returns.
fn run(trial: Trial, helpers: usize) {
    thread::scope(|scope| trial.run(helpers, |task| drop(scope.spawn(|| task.run()))));
}

#[test]
fn every_tile_gets_the_prefix_of_all_before_it_for_any_number_of_threads() {
    for (helpers, tiles) in [(0, 100), (1, 1), (1, 0), (1, many(10_000)), (4, many(10_000)), (16, many(3_000))] {
        for (levels, in_place) in [(1, false), (1, true), (2, false), (3, true)] {
            run(Trial::new(tiles, levels, in_place), helpers);
        }
    }
}

#[test]
fn a_scan_has_a_level_and_not_too_many() {
    (1..=MAX_LEVELS).for_each(|levels| run(Trial::new(20, levels, false), 1));
    for levels in [0, MAX_LEVELS + 1] {
        assert!(catch_unwind(|| Trial::new(1, levels, false).run(0, |_| {})).is_err());
    }
}

/// Each word of a state counts tiles, from its own place on.
struct Counts {
    tiles: usize,
    words: usize,
}

impl Tiles for Counts {
    type Workspace = ();

    fn workspace(&self) {}

    fn tiles(&self) -> usize {
        self.tiles
    }

    fn levels(&self) -> usize {
        1
    }

    fn part(&self, _: usize) -> Range<usize> {
        0..self.words
    }

    fn init(&self) -> State {
        State::new(0..self.words as u64)
    }

    fn is_in_place(&self) -> bool {
        false
    }

    fn combine(&self, _: usize, earlier: &mut State, later: &State) {
        (0..self.words).for_each(|place| earlier.set(place, earlier.get(place) + later.get(place)));
    }

    fn reduce(&self, _: &Reading<'_>, _: usize, _: &State, _: &mut (), aggregate: &mut State) {
        (0..self.words).for_each(|place| aggregate.set(place, 1));
    }

    fn replay(&self, tile: &Claim<'_>, carries: &State, _: &mut ()) {
        let expected = (0..self.words).map(|place| (place + tile.tile().get()) as u64);
        assert!(carries.words().eq(expected), "the carries of {}", tile.tile());
    }

    fn scan(&self, tile: &Claim<'_>, state: &mut State, (): &mut ()) {
        self.replay(tile, state, &mut ());
        (0..self.words).for_each(|place| state.set(place, state.get(place) + 1));
    }
}

#[test]
fn states_may_have_any_size() {
    for words in [0, 1, 2, 3, 4, 15, 64, 200] {
        let counts = Counts { tiles: 50, words };
        let expected = State::new((0..words).map(|place| place as u64 + 50));
        let total = thread::scope(|scope| scan(&counts, 2, |task| drop(scope.spawn(|| task.run()))).total);
        assert_eq!(total, expected);
        assert_eq!((total.len(), total.is_empty()), (words, words == 0));
    }
}

#[test]
fn a_scan_without_tiles_totals_its_seed() {
    for helpers in [0, 2] {
        let total = scan(&Counts { tiles: 0, words: 3 }, helpers, HelperTask::run).total;
        assert_eq!(total, State::new([0, 1, 2]));
    }
}

#[test]
fn tickets_end_and_stay_ended() {
    let tickets = Tickets::new(2);
    assert_eq!([(); 5].map(|()| tickets.take().map(TileIndex::get)), [Some(0), Some(1), None, None, None]);
}

#[test]
fn states_are_aligned_and_lie_in_one_piece() {
    let mut state = State::new([1, 2, 3]);
    assert!(state.as_ptr().addr().is_multiple_of(16) && state.as_mut_ptr().cast_const() == state.as_ptr());
    // SAFETY: there are three words, one after the other.
    let words = unsafe { std::slice::from_raw_parts(state.as_ptr().cast::<u64>(), 3) };
    assert_eq!(words, [1, 2, 3]);
}
