//! Scans that are derived from loops, beside the operators that one would write by hand: here these
//! are what ratios are to. Both run on one thread.

use std::fmt::Debug;

use bench_shared::data::column;
use monoscan::ops::{Affine, Max, StateMap, Sum};
use monoscan::prelude::*;
use monoscan::{Error, State};
use scan_kit::by_hand::{Best, comments, move_of, moves_of_comments, wide_best_of};

use super::exact::Exact;
use super::field;
use super::zoo::Take;
use crate::output::Output;
use crate::race::Judge;
use crate::report::{Role, Row};
use crate::workloads::Session;

/// All of them, on so many elements: each a scan, and a reduction.
pub(super) fn run(session: &Session, len: usize, take: Take<'_>) {
    let beside = Beside { session, len };
    [Beside::recurrence, Beside::maximum, Beside::counter, Beside::comments, Beside::best]
        .iter()
        .for_each(|kind| kind(&beside, take));
}

struct Beside<'a> {
    session: &'a Session,
    len: usize,
}

const TEXT: &[u8] = b"a /*b*/\n";

impl Beside<'_> {
    fn judged(
        &self,
        name: &str,
        judge: &dyn Judge,
        by_hand: impl Fn() -> Result<(), Error>,
        derived: impl Fn() -> Result<(), Error>,
    ) -> Vec<Row> {
        let mut field = field(name, self.len);
        let run = |scan: &dyn Fn() -> Result<(), Error>| scan().expect("columns of one length");
        field.enter((Role::Baseline, "by hand", 1), judge, || run(&by_hand));
        field.enter((Role::Ours, "derived", 1), judge, || run(&derived));
        field.race(self.session.effort)
    }

    /// A race whose results must be the same.
    fn exactly<T: Copy + PartialEq + Debug>(
        &self,
        name: &str,
        wrong: [T; 2],
        results: usize,
        by_hand: impl Fn(&mut [T]) -> Result<(), Error>,
        derived: impl Fn(&mut [T]) -> Result<(), Error>,
        take: Take<'_>,
    ) {
        let mut expected = vec![wrong[0]; results];
        by_hand(&mut expected).expect("columns of one length");
        let y = Exact::new(expected, wrong);
        take(self.judged(name, &y, || by_hand(&mut y.write()), || derived(&mut y.write())));
    }

    fn recurrence(&self, take: Take<'_>) {
        let a = &column(1, self.len, |numbers| numbers.between(-1.0, 1.0))[..];
        let b = &column(2, self.len, |numbers| numbers.between(-1.0, 1.0))[..];
        let by_hand = Scan::<Affine<f64>>::builder()
            .lift(scan!(|a: f64, b: f64| -> Affine<f64> { Affine { a, b } }))
            .project(scan!(|map: Affine<f64>| -> f64 { map.b }))
            .threads(1)
            .build()
            .expect("affine maps are a monoid");
        let derived = Scan::loop_builder(scan!(|s: f64, a: f64, b: f64| -> f64 { a * s + b }), 0.0)
            .threads(1)
            .build()
            .expect("a recurrence is derived");
        let scans = |y: &mut [f64]| by_hand.inclusive_into((a, b), y).map(drop);
        let totals = |y: &mut [f64]| by_hand.reduce((a, b)).map(|total| y[0] = total.b);
        let mut expected = vec![0.0; self.len];
        scans(&mut expected).expect("columns of one length");
        let y = Output::close(expected, 1e-9);
        let ours = || derived.inclusive_into((a, b), &mut y.write()[..]).map(drop);
        take(self.judged("derived: a·y + b of f64", &y, || scans(&mut y.write()), ours));
        let mut expected = vec![0.0];
        totals(&mut expected).expect("columns of one length");
        let y = Output::close(expected, 1e-9);
        let ours = || derived.reduce((a, b)).map(|State(total)| y.write()[0] = total);
        take(self.judged("derived: a·y + b of f64, reduced", &y, || totals(&mut y.write()), ours));
    }

    fn maximum(&self, take: Take<'_>) {
        let x = &column(3, self.len, |numbers| numbers.below(1 << 20) as i32 - 1000)[..];
        let by_hand = Scan::<Max<i32>>::builder()
            .lift(scan!(|x: i32| -> Max<i32> { Max(x) }))
            .project(scan!(|m: Max<i32>| -> i32 { m.0 }))
            .threads(1)
            .build()
            .expect("maxima are a monoid");
        let derived = Scan::loop_builder(scan!(|s: i32, x: i32| -> i32 { s.max(x) }), i32::MIN)
            .threads(1)
            .build()
            .expect("a maximum is derived");
        let (one, other) = (
            |y: &mut [i32]| by_hand.inclusive_into(x, y).map(drop),
            |y: &mut [i32]| derived.inclusive_into(x, y).map(drop),
        );
        self.exactly("derived: maximum of i32", [-7, -8], self.len, one, other, take);
        let one = |y: &mut [i32]| by_hand.reduce(x).map(|total| y[0] = total.0);
        let other = |y: &mut [i32]| derived.reduce(x).map(|State(total)| y[0] = total);
        self.exactly("derived: maximum of i32, reduced", [-7, -8], 1, one, other, take);
    }

    fn counter(&self, take: Take<'_>) {
        let text = &self.text()[..];
        let by_hand = Scan::<Sum<u32>>::builder()
            .lift(scan!(|c: u8| -> Sum<u32> { Sum(if c == b'\n' { 1 } else { 0 }) }))
            .project(scan!(|n: Sum<u32>| -> u32 { n.0 }))
            .threads(1)
            .build()
            .expect("sums are a monoid");
        let derived = Scan::loop_builder(scan!(|n: u32, c: u8| -> u32 { if c == b'\n' { n + 1 } else { n } }), 0)
            .threads(1)
            .build()
            .expect("a counter is derived");
        let one = |y: &mut [u32]| by_hand.inclusive_into(text, y).map(drop);
        let other = |y: &mut [u32]| derived.inclusive_into(text, y).map(drop);
        self.exactly("derived: lines counted", [u32::MAX, 1 << 31], self.len, one, other, take);
        let one = |y: &mut [u32]| by_hand.reduce(text).map(|total| y[0] = total.0);
        let other = |y: &mut [u32]| derived.reduce(text).map(|State(total)| y[0] = total);
        self.exactly("derived: lines counted, reduced", [u32::MAX, 1 << 31], 1, one, other, take);
    }

    fn comments(&self, take: Take<'_>) {
        let text = &self.text()[..];
        let by_hand = Scan::<StateMap<4>>::builder()
            .lift(move_of {}.with_table(&moves_of_comments()))
            .project(scan!(|map: StateMap<4>| -> u8 { StateMap::from_start(map) }))
            .threads(1)
            .build()
            .expect("maps are a monoid");
        let derived = Scan::loop_builder(comments {}, 0).threads(1).build().expect("a machine is derived");
        let one = |y: &mut [u8]| by_hand.inclusive_into(text, y).map(drop);
        let other = |y: &mut [u8]| derived.inclusive_into(text, y).map(drop);
        self.exactly("derived: comments of C", [8, 9], self.len, one, other, take);
        let one = |y: &mut [u8]| by_hand.reduce(text).map(|map| y[0] = map.to[0]);
        let other = |y: &mut [u8]| derived.reduce(text).map(|State(total)| y[0] = total);
        self.exactly("derived: comments of C, reduced", [8, 9], 1, one, other, take);
    }

    fn best(&self, take: Take<'_>) {
        let x = &column(7, self.len, |numbers| numbers.below(9) as i32 - 4)[..];
        let by_hand = Scan::<Best<i64>>::builder()
            .lift(wide_best_of {})
            .project(scan!(|s: Best<i64>| -> i32 { s.best as i32 }))
            .threads(1)
            .build()
            .expect("best sums are a monoid");
        let kadane = scan!(|s: (i32, i32), x: i32| -> (i32, i32) { ((s.0 + x).max(0), s.1.max(s.0 + x)) });
        let derived = Scan::loop_builder(kadane, (0, 0))
            .output(scan!(|s: (i32, i32)| -> i32 { s.1 }))
            .threads(1)
            .build()
            .expect("the best sum is derived");
        let one = |y: &mut [i32]| by_hand.inclusive_into(x, y).map(drop);
        let other = |y: &mut [i32]| derived.inclusive_into(x, y).map(drop);
        self.exactly("derived: best sum of i32 (Kadane)", [-7, -8], self.len, one, other, take);
        let one = |y: &mut [i32]| by_hand.reduce(x).map(|total| y[0] = total.best as i32);
        let other = |y: &mut [i32]| derived.reduce(x).map(|State((_, best))| y[0] = best);
        self.exactly("derived: best sum of i32 (Kadane), reduced", [-7, -8], 1, one, other, take);
    }

    fn text(&self) -> Vec<u8> {
        column(9, self.len, |numbers| TEXT[numbers.below(TEXT.len() as u64) as usize])
    }
}
