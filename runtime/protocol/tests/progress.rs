//! A thread that stops does not stop the others, counted in kernels and not in time; and little is
//! done one after the other.
#![cfg(not(any(loom, shuttle)))]

use monoscan_protocol::{
    crew::{HelperTask, Step},
    state::State,
    tiles::{Claim, Reading, Tiles, scan},
};
use std::ops::Range;
use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicUsize, Ordering},
};
use std::thread::{self, ThreadId};

const TILES: usize = 50;

/// The actions of the caller.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Event {
    Reduced(usize),
    Combined,
    Replayed(usize),
    Scanned(usize),
}

/// A sum of ones, in which every kernel of a thread other than the caller's stops in the middle until the caller has written
/// all that it can.
struct Stopping {
    caller: ThreadId,
    /// Kernels of helpers that have begun.
    stopped: AtomicUsize,
    /// Tiles that the caller has written.
    written: AtomicUsize,
    /// How many those must be before a helper goes on.
    enough: usize,
    events: Mutex<Vec<Event>>,
}

impl Stopping {
    fn new(enough: usize) -> Stopping {
        let (stopped, written) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Stopping { caller: thread::current().id(), stopped, written, enough, events: Mutex::default() }
    }

    fn kernel(&self, event: Event) {
        if thread::current().id() == self.caller {
            self.events.lock().unwrap_or_else(PoisonError::into_inner).push(event);
            return;
        }
        self.stopped.fetch_add(1, Ordering::Release);
        // So many polls are more than the caller needs by far, and they end if it waits for this thread.
        let may_go_on = (0..100_000_000).any(|_| {
            thread::yield_now();
            self.written.load(Ordering::Acquire) >= self.enough
        });
        assert!(may_go_on, "the caller waits for a helper that stopped: {event:?}");
    }

    /// Scans with helpers on threads, each of which has stopped in a kernel before the next one starts, and all before the caller
    /// does anything. Gives what the caller did.
    fn scan(self, helpers: usize) -> Vec<Event> {
        let mut started = 0;
        let total = thread::scope(|scope| {
            let spawn = |task: HelperTask| {
                scope.spawn(|| task.run());
                started += 1;
                while self.stopped.load(Ordering::Acquire) < started {
                    thread::yield_now();
                }
            };
            scan(&self, helpers, spawn).total
        });
        assert_eq!(total, State::new([TILES as u64]));
        self.events.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tiles for Stopping {
    type Workspace = ();

    fn workspace(&self) {}

    fn tiles(&self) -> usize {
        TILES
    }

    fn levels(&self) -> usize {
        1
    }

    fn part(&self, _: usize) -> Range<usize> {
        0..1
    }

    fn init(&self) -> State {
        State::new([0])
    }

    fn is_in_place(&self) -> bool {
        false
    }

    fn combine(&self, _: usize, earlier: &mut State, later: &State) {
        if thread::current().id() == self.caller {
            self.events.lock().unwrap_or_else(PoisonError::into_inner).push(Event::Combined);
        }
        earlier.set(0, earlier.get(0) + later.get(0));
    }

    fn reduce(&self, tile: &Reading<'_>, _: usize, _: &State, _: &mut (), aggregate: &mut State) {
        self.kernel(Event::Reduced(tile.tile().get()));
        aggregate.set(0, 1);
    }

    fn replay(&self, tile: &Claim<'_>, carries: &State, (): &mut ()) {
        assert_eq!(carries.get(0), tile.tile().get() as u64);
        self.kernel(Event::Replayed(tile.tile().get()));
        self.written.fetch_add(1, Ordering::Release);
    }

    fn scan(&self, tile: &Claim<'_>, state: &mut State, (): &mut ()) {
        assert_eq!(state.get(0), tile.tile().get() as u64);
        self.kernel(Event::Scanned(tile.tile().get()));
        self.written.fetch_add(1, Ordering::Release);
        state.set(0, state.get(0) + 1);
    }
}

#[test]
fn helpers_that_stop_in_the_middle_of_a_kernel_do_not_stop_the_scan() {
    // The first stops while it scans tile 0 in one pass, the others, with tile 1 parked, while they reduce tiles 2, 3, …
    for helpers in 1..=4 {
        let events = Stopping::new(TILES - 1).scan(helpers);
        let count = |is: fn(&Event) -> bool| events.iter().filter(|event| is(event)).count();
        assert_eq!(count(|event| matches!(event, Event::Replayed(_) | Event::Scanned(_))), TILES - 1);
        // Those that helpers hold are rescued, and three are reduced ahead of them.
        let reduced = count(|event| matches!(event, Event::Reduced(_)));
        assert!((helpers..=helpers + 3).contains(&reduced), "{events:?}");
        let scanned = count(|event| matches!(event, Event::Scanned(_)));
        assert!(scanned >= TILES - helpers - 3, "all later ones take one pass: {events:?}");
    }
}

#[test]
fn a_helper_that_stops_between_two_kernels_does_not_stop_the_scan() {
    // The first stops in tile 0. The second reduces tile 1, and is never seen again.
    let stopping = Stopping::new(1);
    let mut lost = None;
    let total = thread::scope(|scope| {
        let mut helpers = 0;
        let spawn = |mut task: HelperTask| {
            helpers += 1;
            let stopped = || stopping.stopped.load(Ordering::Acquire);
            match helpers {
                1 => {
                    scope.spawn(|| task.run());
                    while stopped() == 0 {
                        thread::yield_now();
                    }
                }
                _ => {
                    assert_eq!(task.step(), Step::More);
                    lost = Some(task);
                }
            }
        };
        scan(&stopping, 2, spawn).total
    });
    assert_eq!(total, State::new([TILES as u64]));
    assert!(lost.is_some_and(|mut task| task.step() == Step::Done), "the call is over");
}

#[test]
fn one_combine_is_all_that_tiles_do_one_after_the_other() {
    // Tiles 0 and 2 are held, and 1 is parked, so that the caller reduces tiles ahead.
    let events = Stopping::new(TILES - 1).scan(2);
    let start = [Event::Reduced(3), Event::Reduced(4), Event::Reduced(5), Event::Reduced(0), Event::Combined];
    assert_eq!(events[..start.len()], start);
    // The carry of the parked tile is known then.
    let rescues = [Event::Scanned(1), Event::Reduced(2)];
    assert_eq!(events[start.len()..][..rescues.len()], rescues);
    // For each tile its prefix, and then its replay; and nothing between them where one pass does.
    let replays = (2..=5).flat_map(|tile| [Event::Combined, Event::Replayed(tile)]);
    let expected: Vec<Event> = replays.chain((6..TILES).map(Event::Scanned)).collect();
    assert_eq!(events[start.len() + rescues.len()..], expected);
}
