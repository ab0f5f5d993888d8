//! Which thread runs next: any that can, by the seed.
//!
//! A seed also chooses the temper of a schedule: how long a thread goes on before another has its
//! turn, how often the turn passes to another warp, how slow copies and stores are. Some seeds so
//! run warps nearly in step, others let one run far ahead.

use fastrand::Rng;

/// How eager things are to happen, as chances out of 1024.
pub(crate) struct Temper {
    /// A thread goes on after an intrinsic.
    pub(crate) go_on: u32,
    /// A thread is interrupted at an ordinary access.
    pub(crate) interrupt: u32,
    /// The turn passes to another warp.
    pub(crate) other_warp: u32,
    /// A warp is put aside for a while.
    pub(crate) put_aside: u32,
    /// A bulk copy makes a step, each time that an intrinsic runs.
    pub(crate) copy: u32,
    /// A store arrives, each time that an intrinsic runs.
    pub(crate) store: u32,
    /// The clock ticks in steps of so many nanoseconds.
    pub(crate) clock_step: u64,
}

impl Temper {
    pub(crate) fn new(random: &mut Rng) -> Temper {
        let mut pick = |of: &[u32]| of[random.usize(..of.len())];
        Temper {
            go_on: pick(&[0, 512, 960, 1008]),
            interrupt: pick(&[0, 4, 32]),
            other_warp: pick(&[16, 64, 256]),
            put_aside: pick(&[0, 1, 4]),
            copy: pick(&[2, 16, 128, 512]),
            store: pick(&[2, 16, 128, 512]),
            clock_step: pick(&[1, 32, 1024]).into(),
        }
    }
}

/// True so often out of 1024 times.
pub(crate) fn chance(random: &mut Rng, often: u32) -> bool {
    often != 0 && random.u32(..1024) < often
}

/// The threads that can run, warp by warp. The turn stays with a warp for a while, since its lanes mostly wait for each other.
pub(crate) struct Ready {
    /// For each warp, its ready lanes.
    lanes: Vec<u32>,
    /// The warps that have any.
    warps: Vec<usize>,
    /// Where each is in that list.
    places: Vec<usize>,
    turn: usize,
    aside: Option<(usize, u32)>,
}

impl Ready {
    pub(crate) fn new(warps: usize) -> Ready {
        Ready { lanes: vec![0; warps], warps: Vec::new(), places: vec![0; warps], turn: 0, aside: None }
    }

    pub(crate) fn add(&mut self, thread: usize) {
        let (warp, bit) = (thread / 32, 1 << (thread % 32));
        if self.lanes[warp] == 0 {
            self.places[warp] = self.warps.len();
            self.warps.push(warp);
        }
        self.lanes[warp] |= bit;
    }

    /// Takes out the thread whose turn is next.
    pub(crate) fn take(&mut self, temper: &Temper, random: &mut Rng) -> Option<usize> {
        if self.warps.is_empty() {
            return None;
        }
        if self.lanes[self.turn] == 0 || chance(random, temper.other_warp) {
            self.turn = self.other(temper, random);
        }
        let warp = self.turn;
        let mut lanes = self.lanes[warp];
        for _ in 0..random.u32(..lanes.count_ones()) {
            lanes &= lanes - 1;
        }
        let lane = lanes.trailing_zeros();
        self.lanes[warp] &= !(1 << lane);
        if self.lanes[warp] == 0 {
            let place = self.places[warp];
            self.warps.swap_remove(place);
            if let Some(&moved) = self.warps.get(place) {
                self.places[moved] = place;
            }
        }
        Some(warp * 32 + lane as usize)
    }

    /// Another warp, but rather not the one that was put aside.
    fn other(&mut self, temper: &Temper, random: &mut Rng) -> usize {
        let mut warp = self.warps[random.usize(..self.warps.len())];
        if self.aside.is_none() && chance(random, temper.put_aside) {
            self.aside = Some((warp, random.u32(..4096)));
        }
        self.aside = self.aside.and_then(|(warp, turns)| Some((warp, turns.checked_sub(1)?)));
        if self.aside.is_some_and(|(aside, _)| aside == warp) {
            warp = self.warps[random.usize(..self.warps.len())];
        }
        warp
    }
}
