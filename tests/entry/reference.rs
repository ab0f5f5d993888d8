//! The meaning of a request in plain Rust: record by record, with the native `combine`.

use monoscan::prelude::*;
use monoscan::{PlanOptions, Request, Rows, Scan, States};

use scan_kit::Random;

/// The records that are scanned on their own.
#[derive(Clone, Debug)]
pub(crate) enum Runs {
    Line,
    Heads(Vec<bool>),
    Offsets(Vec<usize>),
    Planes(Planes),
}

/// Element i of row (p, q) is record `p·pitch + i·step + q`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Planes {
    pub(crate) planes: usize,
    pub(crate) pitch: usize,
    pub(crate) len: usize,
    pub(crate) step: usize,
}

impl Planes {
    pub(crate) fn rows(self) -> Rows {
        Rows::planes(self.planes, self.pitch, self.len, self.step).unwrap()
    }
}

/// Everything that a request is made of.
#[derive(Clone, Debug)]
pub(crate) struct Ask<S> {
    pub(crate) reversed: bool,
    pub(crate) init: Option<S>,
    pub(crate) runs: Runs,
}

/// The expected results, by place; none for records in no run.
pub(crate) struct Answer<S> {
    pub(crate) before: Vec<Option<S>>,
    pub(crate) after: Vec<Option<S>>,
    pub(crate) totals: Vec<S>,
}

/// An element's place, and what is beside it in its run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) place: usize,
    pub(crate) prev: Option<usize>,
    pub(crate) next: Option<usize>,
    pub(crate) index: u64,
}

impl<S: States> Ask<S> {
    /// The plain request.
    pub(crate) fn line() -> Ask<S> {
        Ask { reversed: false, init: None, runs: Runs::Line }
    }

    pub(crate) fn request<'a, In, Out>(&'a self, scan: &'a Scan<S, In, Out>) -> Request<'a, S, In, Out> {
        let mut request = scan.request();
        if let Some(init) = self.init {
            request = request.init(init);
        }
        if self.reversed {
            request = request.reversed();
        }
        match &self.runs {
            Runs::Line => request,
            Runs::Heads(flags) => request.segmented(flags),
            Runs::Offsets(offsets) => request.segmented(offsets),
            Runs::Planes(planes) => request.rows(planes.rows()),
        }
    }

    /// The places of the records of each run, in memory order, and whether the index counts on from run to run.
    fn places(&self, n: usize) -> (Vec<Vec<usize>>, bool) {
        match &self.runs {
            Runs::Line => (vec![(0..n).collect()], true),
            Runs::Heads(flags) => {
                let mut runs: Vec<Vec<usize>> = vec![Vec::new()];
                for (place, &flag) in flags.iter().enumerate() {
                    if flag && place > 0 {
                        runs.push(Vec::new());
                    }
                    runs.last_mut().unwrap().push(place);
                }
                (runs, true)
            }
            Runs::Offsets(offsets) => (offsets.windows(2).map(|ends| (ends[0]..ends[1]).collect()).collect(), true),
            Runs::Planes(Planes { planes, pitch, len, step }) => {
                let row = |p: usize, q: usize| (0..*len).map(|i| p * pitch + i * step + q).collect();
                ((0..*planes).flat_map(|p| (0..*step).map(move |q| row(p, q))).collect(), false)
            }
        }
    }

    /// Each run's steps in the order of the scan; runs in the order of memory.
    pub(crate) fn runs(&self, n: usize) -> Vec<Vec<Step>> {
        let (places, counts_on) = self.places(n);
        let index_of = |place: usize, within: usize| match (counts_on, self.reversed) {
            (false, _) => within,
            (true, false) => place,
            (true, true) => n - 1 - place,
        };
        let steps = |mut places: Vec<usize>| -> Vec<Step> {
            if self.reversed {
                places.reverse();
            }
            let next = |within: usize| places.get(within + 1).copied();
            let prev = |within: usize| within.checked_sub(1).map(|before| places[before]);
            let step = |(within, &place)| Step {
                place,
                prev: prev(within),
                next: next(within),
                index: index_of(place, within) as u64,
            };
            places.iter().enumerate().map(step).collect()
        };
        places.into_iter().map(steps).collect()
    }

    /// The totals that are given, of those of all runs in memory order: of flagged segments that which ends the scan.
    pub(crate) fn totals(&self, mut totals: Vec<S>) -> Vec<S> {
        if let Runs::Heads(_) = self.runs {
            let ends_last = if self.reversed { 0 } else { totals.len() - 1 };
            totals = vec![totals[ends_last]];
        }
        totals
    }
}

impl<M: Monoid> Ask<M> {
    pub(crate) fn answer(&self, x: &[M]) -> Answer<M> {
        let mut answer = Answer { before: vec![None; x.len()], after: vec![None; x.len()], totals: Vec::new() };
        for run in self.runs(x.len()) {
            let mut state = self.init.unwrap_or_else(M::identity);
            for step in run {
                answer.before[step.place] = Some(state);
                state = state.combine(x[step.place]);
                answer.after[step.place] = Some(state);
            }
            answer.totals.push(state);
        }
        answer.totals = self.totals(answer.totals);
        answer
    }
}

/// A plan with boundaries in small places.
#[allow(clippy::needless_update, reason = "what else a plan may choose is the planner's")]
pub(crate) fn tiny(interleave: usize, block: usize, strips: usize, direct: usize) -> PlanOptions {
    let (interleave, block, strips, direct) = (Some(interleave), Some(block), Some(strips), Some(direct));
    PlanOptions { interleave, block, strips, direct, ..PlanOptions::default() }
}

/// Small plans, and the planner's own.
pub(crate) fn plans() -> Vec<PlanOptions> {
    vec![tiny(2, 3, 2, 0), tiny(1, 4, 1, 1), tiny(4, 1, 3, 2), PlanOptions::default()]
}

/// Sizes around the boundaries of these plans.
pub(crate) const SIZES: [usize; 12] = [0, 1, 2, 3, 5, 6, 7, 11, 12, 13, 26, 61];

/// Requests over n records: every direction, initial state and kind of runs.
pub(crate) fn asks<S: States>(n: usize, init: S, random: &mut Random) -> Vec<Ask<S>> {
    let mut runs = vec![Runs::Line];
    for one_in in [1, 3, 20] {
        runs.push(Runs::Heads((0..n).map(|_| random.below(one_in) == 0).collect()));
        runs.push(Runs::Offsets(offsets(n, one_in, random)));
    }
    for planes in [
        Planes { planes: n / 4, pitch: 4, len: 4, step: 1 },
        Planes { planes: n / 5, pitch: 5, len: 3, step: 1 },
        Planes { planes: 1, pitch: n, len: n / 3, step: 3 },
        Planes { planes: n / 13, pitch: 13, len: 3, step: 4 },
        Planes { planes: 2, pitch: n / 2, len: n / 2, step: 1 },
        Planes { planes: n / 2, pitch: 2, len: 0, step: 1 },
    ] {
        runs.push(Runs::Planes(planes));
    }
    let directed = |runs: Runs| {
        let ask = move |reversed, init| Ask { reversed, init, runs: runs.clone() };
        [ask(false, None), ask(true, None), ask(false, Some(init)), ask(true, Some(init))]
    };
    runs.into_iter().flat_map(directed).collect()
}

/// Offsets of segments that are often empty.
fn offsets(n: usize, one_in: u64, random: &mut Random) -> Vec<usize> {
    let mut offsets = vec![0];
    for place in 0..=n {
        while random.below(one_in + 1) == 0 {
            offsets.push(place);
        }
    }
    offsets.push(n);
    offsets
}
