//! Operators without an identity: the wrapping is done for the user, every request that has an
//! answer is answered, and the others are errors.

use monoscan::ops::{Max, Semigroup, Sum, WithIdentity};
use monoscan::prelude::*;
use monoscan::{Combination, Error, RowsError};
use scan_kit::Random;

use super::reference::{SIZES, asks, plans};

/// The first and the last of some records: nothing is an identity.
#[derive(Clone, Copy, Debug, PartialEq, ScanType)]
struct Ends {
    first: u16,
    last: u8,
}

impl Semigroup for Ends {
    #[scan_fn]
    fn append(self, next: Self) -> Self {
        Ends { first: self.first, last: next.last }
    }
}

#[scan_fn]
fn ends(first: u16, last: u8) -> Ends {
    Ends { first, last }
}

#[scan_fn]
fn ends_at(e: Element<(u16, u8)>) -> Ends {
    Ends { first: e.record.0, last: e.record.1 }
}

#[scan_fn]
fn ends_from(bias: u16, first: u16, last: u8) -> Ends {
    Ends { first: first.wrapping_add(bias), last }
}

/// The last, or 255 where there is none.
#[scan_fn]
fn last(state: WithIdentity<Ends>) -> u8 {
    if state.present { state.value.last } else { 255 }
}

fn records(n: usize, r: &mut Random) -> Vec<Ends> {
    (0..n).map(|_| Ends { first: r.below(1000) as u16, last: r.below(200) as u8 }).collect()
}

fn is_refused<T: std::fmt::Debug>(result: Result<T, Error>) -> bool {
    matches!(result.unwrap_err(), Error::Combination(Combination::NoIdentity))
}

fn values(states: &[Option<WithIdentity<Ends>>]) -> Vec<Option<Ends>> {
    states.iter().map(|state| state.and_then(WithIdentity::get)).collect()
}

#[test]
fn every_request_that_has_an_answer_is_answered() {
    let mut r = Random(51);
    let init = WithIdentity::of(Ends { first: 7000, last: 250 });
    for plan in plans() {
        let scan = Scan::<Ends>::builder().plan(plan).threads(2).build().unwrap();
        for n in SIZES {
            let x = records(n, &mut r);
            let states: Vec<_> = x.iter().map(|&x| WithIdentity::of(x)).collect();
            for ask in asks(n, init, &mut r) {
                let answer = ask.answer(&states);
                let (after, before) = (values(&answer.after), values(&answer.before));
                let covers = answer.after.iter().all(Option::is_some);
                let mut found = x.clone();
                ask.request(&scan).inclusive_into(&x, &mut found).unwrap();
                let expected: Vec<Ends> = after.iter().zip(&x).map(|(after, x)| after.unwrap_or(*x)).collect();
                assert_eq!(found, expected, "{ask:?}");
                match ask.request(&scan).inclusive_with_totals(&x) {
                    Ok((found, totals)) => assert_eq!((found, &totals), (expected.clone(), &answer.totals), "{ask:?}"),
                    Err(error) => assert!(!covers && matches!(error, Error::Rows(RowsError::Uncovered { .. }))),
                }
                assert_eq!(ask.request(&scan).totals(&x).unwrap(), answer.totals, "{ask:?}");
                let mut found = x.clone();
                ask.request(&scan).inclusive_in_place(&mut found).unwrap();
                assert_eq!(found, expected, "{ask:?}");

                let mut found = x.clone();
                let exclusive = ask.request(&scan).exclusive_into(&x, &mut found);
                if ask.init.is_none() {
                    assert!(is_refused(exclusive), "{ask:?}");
                    assert_eq!(found, x, "written all the same");
                    assert!(is_refused(ask.request(&scan).exclusive_in_place(&mut found)));
                } else {
                    exclusive.unwrap();
                    let expected: Vec<Ends> = before.iter().zip(&x).map(|(before, x)| before.unwrap_or(*x)).collect();
                    assert_eq!(found, expected, "{ask:?}");
                }
            }
        }
    }
}

#[test]
fn exclusive_scans_are_answered_where_all_that_begins_begins_with_a_value() {
    let scan = Scan::<Ends>::new().unwrap();
    let x = records(40, &mut Random(52));
    // The kernels of short lines are there, and used.
    assert_eq!(scan.inclusive(&x).unwrap()[39], Ends { first: x[0].first, last: x[39].last });
    assert!(is_refused(scan.exclusive(&x)) && is_refused(scan.exclusive_into(&x, &mut x.clone())));
    assert!(is_refused(scan.exclusive_in_place(&mut x.clone())) && is_refused(scan.axis(&[8, 5], 1).exclusive(&x)));
    let [value, nothing] = [WithIdentity::of(x[3]), scan.identity()];
    assert_eq!(scan.init(value).exclusive(&x).unwrap()[0], x[3]);
    assert!(is_refused(scan.init(nothing).exclusive(&x)));
    assert!(is_refused(scan.axis(&[2, 20], 1).init_each(&[value, nothing]).exclusive(&x)));
    assert_eq!(scan.axis(&[2, 20], 1).init_each(&[value, value]).exclusive(&x).unwrap()[20], x[3]);

    let mut carry = nothing;
    assert!(is_refused(scan.resuming(&mut carry).exclusive(&x)));
    assert_eq!(carry, nothing);
    scan.resume(&mut carry, &x[..4]).unwrap();
    let expected = Ends { first: x[0].first, last: x[3].last };
    assert_eq!(scan.resuming(&mut carry).exclusive(&x[4..]).unwrap()[0], expected);
    // Segments that begin later begin with nothing.
    let heads = [false, true].repeat(20);
    assert!(is_refused(scan.resuming(&mut carry).segmented(&heads).exclusive(&x)));
    assert!(scan.resuming(&mut carry).init(value).segmented(&heads).exclusive(&x).is_ok());
}

#[test]
fn totals_of_nothing_are_no_value() {
    let scan = Scan::<Ends>::new().unwrap();
    assert_eq!(scan.reduce(&[]).unwrap().get(), None);
    assert_eq!(scan.inclusive(&[]).unwrap(), []);
    let x = records(3, &mut Random(53));
    let totals = scan.segmented(&[0usize, 0, 2, 3]).totals(&x).unwrap();
    let expected = [None, Some(Ends { first: x[0].first, last: x[1].last }), Some(x[2])];
    assert_eq!(totals.iter().map(|total| total.get()).collect::<Vec<_>>(), expected);
    let mut stream = scan.stream();
    assert_eq!(stream.state().get(), None);
    assert_eq!(stream.feed(&x[..2]).unwrap()[1], expected[1].unwrap());
    assert_eq!(stream.feed(&x[2..]).unwrap(), [Ends { first: x[0].first, last: x[2].last }]);
    let over: Vec<Ends> = scan.over(x.iter().copied()).unwrap().map(Result::unwrap).collect();
    assert_eq!(over, scan.inclusive(&x).unwrap());
    assert_eq!(scan.checked().inclusive(&x).unwrap(), over);
}

#[test]
fn every_lift_gives_values_and_every_output_sees_the_state() {
    let (first, last_of): (Vec<u16>, Vec<u8>) = (0..300u16).map(|i| (i * 7, (i % 200) as u8)).unzip();
    let values: Vec<Ends> = first.iter().zip(&last_of).map(|(&first, &last)| Ends { first, last }).collect();
    let builder = || Scan::<Ends>::builder();
    let expected = Scan::<Ends>::new().unwrap().inclusive(&values).unwrap();
    let lifted = builder().lift(ends {}).build().unwrap();
    assert_eq!(lifted.inclusive((&first, &last_of)).unwrap(), expected);
    let at = builder().lift_at::<(u16, u8), _>(ends_at {}).build().unwrap();
    assert_eq!(at.inclusive((&first, &last_of)).unwrap(), expected);
    let biased = builder().lift_with::<(u16, u16, u8), _>(5, ends_from {}).build().unwrap();
    assert_eq!(biased.inclusive((&first, &last_of)).unwrap()[9].first, 5);
    assert_eq!(biased.with(0u16).unwrap().inclusive((&first, &last_of)).unwrap(), expected);

    // What is written of the state has an answer for nothing.
    let projected = builder().lift(ends {}).project(last {}).build().unwrap();
    assert_eq!(projected.exclusive((&first, &last_of)).unwrap()[..3], [255, 0, 1]);
    let counted = builder()
        .lift(ends {})
        .then(scan!(|e: Element<(u16, u8), WithIdentity<Ends>>| -> Sum<u32> {
            Sum(if e.before.present { 1 } else { 0 })
        }))
        .build()
        .unwrap();
    assert_eq!(counted.exclusive((&first, &last_of)).unwrap()[..3], [Sum(0), Sum(0), Sum(1)]);
}

#[test]
fn a_later_stage_may_have_no_identity() {
    // Where a running maximum was reached first and last.
    let reached = scan!(|e: Element<u8, Max<u8>>| -> Ends { Ends { first: e.index as u16, last: e.after.0 } });
    let scan = Scan::<Max<u8>>::builder().lift(scan!(|x: u8| -> Max<u8> { Max(x) })).then(reached).build().unwrap();
    let x: Vec<u8> = (0..1000).map(|i| (i * 37 % 101) as u8).collect();
    let largest = |end: usize| x[..=end].iter().copied().max().unwrap();
    let expected: Vec<Ends> = (0..x.len()).map(|end| Ends { first: 0, last: largest(end) }).collect();
    assert_eq!(scan.inclusive(&x).unwrap(), expected);
    assert_eq!(scan.reduce(&x).unwrap().1.get(), expected.last().copied());
    // What decides is the state of the last stage, not of the first.
    assert!(is_refused(scan.exclusive(&x)));
    assert!(is_refused(scan.init((Max(200), WithIdentity::identity())).exclusive(&x)));
    let start = (Max(0), WithIdentity::of(Ends { first: 7, last: 0 }));
    let all: Vec<Ends> = expected.iter().map(|ends| Ends { first: 7, ..*ends }).collect();
    let shifted: Vec<Ends> = [Ends { first: 7, last: 0 }].into_iter().chain(all).take(x.len()).collect();
    assert_eq!(scan.init(start).exclusive(&x).unwrap(), shifted);
}

/// A state that is lifted may be no value, which the results would not tell.
#[test]
fn lifted_states_need_an_output_of_the_state() {
    let lift = scan!(|first: u16, last: u8| -> WithIdentity<Ends> {
        WithIdentity { present: last < 9, value: Ends { first, last } }
    });
    let builder = || Scan::<Ends>::builder().lift(lift);
    let error = builder().build().unwrap_err();
    assert!(matches!(error, Error::LiftedStates), "{error}");
    let projected = builder().project(last {}).build().unwrap();
    assert_eq!(projected.inclusive((&[1, 2, 3], &[9, 5, 9])).unwrap(), [255, 5, 5]);
    // The last lift counts.
    assert!(builder().lift(ends {}).build().is_ok());
    // Where the state is the operator, every state is a result.
    assert!(Scan::<WithIdentity<Ends>>::builder().lift(lift).build().is_ok());
}

#[test]
fn an_operator_that_is_not_associative_is_refused() {
    #[derive(Clone, Copy, Debug, PartialEq, ScanType)]
    struct Difference(i64);

    impl Semigroup for Difference {
        #[scan_fn]
        fn append(self, next: Self) -> Self {
            Difference(self.0 - next.0)
        }
    }
    assert!(matches!(Scan::<Difference>::new(), Err(Error::NotAMonoid { .. })));
}

/// A generic function knows that a monoid's state is its own.
#[test]
fn generic_code_scans_monoids_as_before() {
    fn total<M: Monoid>(x: &[M]) -> M {
        Scan::<M>::new().unwrap().reduce(x).unwrap()
    }
    assert_eq!(total(&[Sum(1), Sum(2)]), Sum(3));
    let scan: Scan<Sum<u8>> = Scan::new().unwrap();
    assert_eq!(scan.inclusive(&[Sum(1)]).unwrap(), [Sum(1)]);
}
