//! Scans that see where an element is, in requests of every kind: each is made several times, since
//! a call after the first of its kind may take another way.

use monoscan::ops::Sum;
use monoscan::prelude::*;
use monoscan::{Error, Request, Scan};
use scan_kit::Random;

use super::reference::{Ask, Runs, SIZES, asks};
use super::views::Apart;

#[scan_fn]
fn plain(e: Element<i64>) -> Sum<i64> {
    Sum(e.record)
}

#[scan_fn]
fn placed(e: Element<i64>) -> Sum<i64> {
    let before = if e.first { 7 } else { 3 * e.prev };
    let behind = if e.last { 11 } else { 5 * e.next };
    Sum(e.record + before + behind + 100 * e.index as i64)
}

#[scan_fn]
fn value(sum: Sum<i64>) -> i64 {
    sum.0
}

#[scan_fn]
fn seen(e: Element<i64, Sum<i64>>) -> i64 {
    let before = if e.first { 7 } else { 3 * e.prev };
    let behind = if e.last { 11 } else { 5 * e.next };
    e.before.0 + 2 * e.after.0 + before + behind + 100 * e.index as i64
}

#[scan_fn]
fn is_kept(e: Element<i64, Sum<i64>>) -> bool {
    e.after.0 & 3 != 0
}

/// A scan, and the functions that it was built of.
struct Case {
    scan: Scan<Sum<i64>, (i64,), i64>,
    lift: fn(Element<i64>) -> Sum<i64>,
    sees: bool,
    keeps: bool,
}

fn cases() -> Vec<Case> {
    let builder = Scan::<Sum<i64>>::builder;
    let built = [
        (builder().lift_at(plain {}).project(value {}).build(), plain as fn(_) -> _, false, false),
        (builder().lift_at(plain {}).project_at(seen {}).build(), plain, true, false),
        (builder().lift_at(placed {}).project(value {}).build(), placed, false, false),
        (builder().lift_at(placed {}).project_at(seen {}).build(), placed, true, false),
        (builder().lift_at(plain {}).filter(is_kept {}).project(value {}).build(), plain, false, true),
        (builder().lift_at(placed {}).filter(is_kept {}).project_at(seen {}).build(), placed, true, true),
    ];
    built.into_iter().map(|(scan, lift, sees, keeps)| Case { scan: scan.unwrap(), lift, sees, keeps }).collect()
}

/// A request, and the states that its sequences start or go on from if each has its own.
struct Asked<'a> {
    case: &'a Case,
    ask: Ask<Sum<i64>>,
    states: Vec<Sum<i64>>,
    own: Own,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Own {
    None,
    Starts,
    Carries,
}

/// The results of an inclusive and an exclusive scan, with the places of their records, and the totals.
#[derive(Default)]
struct Expected {
    results: [Vec<(usize, i64)>; 2],
    totals: Vec<Sum<i64>>,
}

impl Asked<'_> {
    fn expected(&self, x: &[i64]) -> Expected {
        let Asked { case, ask, states, own } = self;
        let mut expected = Expected::default();
        let mut runs: Vec<_> = ask.runs(x.len()).into_iter().enumerate().collect();
        if ask.reversed {
            // The records that are kept lie in the order of the scan.
            runs.reverse();
        }
        for (number, steps) in runs {
            let mut after = if *own == Own::None { ask.init.unwrap_or(Sum(0)) } else { states[number] };
            for step in steps {
                let (record, index) = (x[step.place], step.index);
                let [prev, next] = [step.prev, step.next].map(|place| place.map_or(0, |place| x[place]));
                let (first, last) = (step.prev.is_none(), step.next.is_none());
                let before = after;
                let lifted = Element { before: (), after: (), record, prev, next, first, last, index };
                after = before.combine((case.lift)(lifted));
                let element = Element { before, after, record, prev, next, first, last, index };
                if case.keeps && !is_kept(element) {
                    continue;
                }
                for (results, state) in expected.results.iter_mut().zip([after, before]) {
                    results.push((step.place, if case.sees { seen(element) } else { value(state) }));
                }
            }
            expected.totals.push(after);
        }
        if ask.reversed {
            expected.totals.reverse();
        }
        expected.totals = ask.totals(expected.totals);
        expected
    }

    /// Makes a call, and checks the states that it goes on from.
    fn call<R>(
        &self,
        totals: &[Sum<i64>],
        make: impl FnOnce(Request<'_, Sum<i64>, (i64,), i64>) -> Result<R, Error>,
    ) -> R {
        let mut carries = self.states.clone();
        let request = self.ask.request(&self.case.scan);
        let given = make(match self.own {
            Own::None => request,
            Own::Starts => request.init_each(&self.states),
            Own::Carries => request.resuming_each(&mut carries),
        });
        assert_eq!(carries, if self.own == Own::Carries { totals } else { &self.states }, "states");
        given.unwrap()
    }

    /// Makes a call of each kind.
    fn check(&self, exclusive: bool, Expected { results, totals }: &Expected, x: &[i64]) {
        /// A result of no scan here.
        const FILLER: i64 = i64::MIN;
        let results = &results[usize::from(exclusive)];
        let (keeps, len) = (self.case.keeps, x.len());
        let output = if keeps {
            results.iter().map(|&(_, result)| result).collect()
        } else {
            let mut output = vec![FILLER; len];
            results.iter().for_each(|&(place, result)| output[place] = result);
            output
        };
        let mut y = vec![FILLER; len];
        let count = self.call(totals, |request| match exclusive {
            true => request.exclusive_into(x, &mut y),
            false => request.inclusive_into(x, &mut y),
        });
        assert_eq!((count, &y[..output.len()]), (results.len(), &output[..]), "into");
        for (step, to) in [(2, 1), (1, 2), (-1, -2)] {
            let (apart, mut y) = (Apart::new(x, step, 1), Apart::new(&vec![FILLER; len], to, FILLER));
            let (input, to_write) = (apart.view(len), y.view_mut(len));
            self.call(totals, |request| match exclusive {
                true => request.exclusive_into(input, to_write),
                false => request.inclusive_into(input, to_write),
            });
            let y = y.records(len, FILLER);
            assert_eq!(y[..output.len()], output, "strided, {step} to {to}");
        }
        if self.own != Own::Carries {
            assert_eq!(&self.call(totals, |request| request.totals(x)), totals, "totals");
            let mut given = vec![Sum(FILLER); totals.len() + 1];
            let count = self.call(totals, |request| request.totals_into(x, &mut given));
            assert_eq!((count, &given[..count]), (totals.len(), &totals[..]), "totals into a slice");
            assert_eq!(given[count], Sum(FILLER), "totals into a slice");
        }
        if results.len() < len && !keeps {
            return; // A new vector has a value for every record.
        }
        let new = self.call(totals, |request| if exclusive { request.exclusive(x) } else { request.inclusive(x) });
        assert_eq!(new, output, "new");
        let with_totals = self.call(totals, |request| match exclusive {
            true => request.exclusive_with_totals(x),
            false => request.inclusive_with_totals(x),
        });
        assert_eq!((&with_totals.0, &with_totals.1), (&output, totals), "with totals");
    }
}

#[test]
fn any_request_gives_the_same_in_every_call() {
    let mut random = Random(2611);
    for case in &cases() {
        for n in SIZES {
            let x: Vec<i64> = (0..n).map(|_| random.below(21) as i64 - 10).collect();
            for ask in asks(n, Sum(77), &mut random) {
                let is_rows = matches!(ask.runs, Runs::Planes(_));
                if is_rows && case.keeps {
                    continue; // Refused: rows of results have no length.
                }
                let states: Vec<_> = ask.runs(n).iter().map(|_| Sum(random.below(2001) as i64 - 1000)).collect();
                // Segments go on from no carries of their own, and a state that all start from stands for no other.
                let goes_on = is_rows || matches!(ask.runs, Runs::Line);
                let own = [Own::None, Own::Starts, Own::Carries].into_iter().filter(|&own| match own {
                    Own::None => true,
                    Own::Starts => ask.init.is_none(),
                    Own::Carries => ask.init.is_none() && goes_on,
                });
                for own in own {
                    let asked = Asked { case, ask: ask.clone(), states: states.clone(), own };
                    let expected = asked.expected(&x);
                    for call in 0..3 {
                        for exclusive in [false, true] {
                            println!("{:?}, {ask:?}, {own:?} {states:?}, call {call} of {x:?}", case.scan);
                            asked.check(exclusive, &expected, &x);
                        }
                    }
                }
            }
        }
    }
}
