//! Records that must follow each other: what is reported, where, and what is accepted.
//!
//! The operator counts how many of sorted times are the last one. It is associative of sorted times
//! alone, so a result of unsorted ones would depend on how a scan is divided. Each call is compared
//! with the loop of the same Rust functions.

use monoscan::prelude::*;
use monoscan::{
    Error,
    ops::{Pair, Semigroup, Sum},
};

#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Latest {
    any: bool,
    first: u32,
    last: u32,
    count: u32,
}

#[scan_monoid]
impl Monoid for Latest {
    fn identity() -> Self {
        Latest { any: false, first: 0, last: 0, count: 0 }
    }

    fn combine(self, next: Self) -> Self {
        let as_late = self.any && self.last == next.last;
        Latest {
            any: self.any || next.any,
            first: if self.any { self.first } else { next.first },
            last: if next.any { next.last } else { self.last },
            count: if !next.any {
                self.count
            } else if as_late {
                self.count + next.count
            } else {
                next.count
            },
        }
    }

    fn valid(self) -> bool {
        let something = self.first <= self.last && self.count > 0;
        if self.any { something } else { self.first == 0 && self.last == 0 && self.count == 0 }
    }

    fn follows(self, next: Self) -> bool {
        !self.any || !next.any || self.last <= next.first
    }
}

#[scan_fn]
fn at(time: u32) -> Latest {
    Latest { any: true, first: time, last: time, count: 1 }
}

fn latest() -> Scan<Latest, (u32,), u32> {
    let builder = Scan::<Latest>::builder().lift(at {});
    builder.project(scan!(|latest: Latest| -> u32 { latest.count })).build().unwrap()
}

/// The results of the loop from a state, or the place of the first record that does not follow.
fn looped(start: Latest, times: &[u32]) -> Result<Vec<u32>, usize> {
    let mut state = start;
    let step = |(place, &time)| {
        let record = at {}.call((time,));
        if !state.follows(record) {
            return Err(place);
        }
        state = state.combine(record);
        Ok(state.count)
    };
    times.iter().enumerate().map(step).collect()
}

#[track_caller]
fn agree(result: Result<Vec<u32>, Error>, expected: Result<Vec<u32>, usize>) {
    match (result, expected) {
        (Ok(result), Ok(expected)) => assert_eq!(result, expected),
        (Err(Error::OutOfOrder { index, stage: None }), Err(place)) => assert_eq!(index, place),
        other => panic!("{other:?}"),
    }
}

/// Sorted times, two of three the same.
fn sorted(len: u32) -> Vec<u32> {
    (0..len).map(|place| 7 + place / 3 * 5).collect()
}

#[test]
fn a_record_out_of_order_is_found_wherever_it_is() {
    let scan = latest().checked();
    for len in [1, 2, 3, 40, 300, 70_001] {
        let times = sorted(len);
        agree(scan.inclusive(&times), looped(Latest::identity(), &times));
        for fault in [1, 2, len / 2, len - 1] {
            let mut times = times.clone();
            if let Some(time) = times.get_mut(fault as usize) {
                *time -= 6;
            }
            agree(scan.inclusive(&times), looped(Latest::identity(), &times));
        }
    }
    // What is not checked is the caller's promise.
    assert!(latest().inclusive(&[3, 1]).is_ok());
    assert!(latest().explain().contains("laws hold of records that follow each other"));
    assert!(matches!(scan.reduce(&[3, 1]), Err(Error::OutOfOrder { index: 1, stage: None })));
    assert!(matches!(scan.exclusive(&[3, 4, 1]), Err(Error::OutOfOrder { index: 2, .. })));
}

#[test]
fn the_start_of_a_sequence_is_followed_too() {
    let scan = latest().checked();
    let start = at {}.call((10,));
    agree(scan.init(start).inclusive(&[10, 12]), looped(start, &[10, 12]));
    agree(scan.init(start).inclusive(&[9, 12]), Err(0));
    // Each segment starts anew, from the identity or from a state of its own.
    let heads = [true, false, true, false, true];
    let times = [5, 6, 1, 2, 0];
    assert_eq!(scan.segmented(&heads).inclusive(&times).unwrap(), [1; 5]);
    assert_eq!(scan.segmented(&[0usize, 2, 4, 5]).inclusive(&times).unwrap(), [1; 5]);
    agree(scan.segmented(&heads).inclusive(&[5, 6, 1, 0, 0]), Err(3));
    agree(scan.segmented(&[0usize, 2, 4, 5]).inclusive(&[5, 6, 1, 0, 0]), Err(3));
    agree(scan.segmented(&heads).init(at {}.call((2,))).inclusive(&[5, 6, 1, 2, 3]), Err(2));
    let starts = [5, 1, 1].map(|time| at {}.call((time,)));
    agree(scan.segmented(&heads).init_each(&starts).inclusive(&[5, 6, 1, 2, 0]), Err(4));
}

#[test]
fn the_order_is_that_of_the_scan() {
    let scan = latest().checked();
    let times = sorted(1000);
    let falling: Vec<u32> = times.iter().rev().copied().collect();
    let mut counts = looped(Latest::identity(), &times).unwrap();
    counts.reverse();
    assert_eq!(scan.reversed().inclusive(&falling).unwrap(), counts);
    // From the last record on, the first that is larger than the one before it in the scan.
    agree(scan.reversed().inclusive(&times[..6]), Err(2));
    // Down the columns of a 3 × 2 array.
    assert_eq!(scan.axis(&[3, 2], 0).inclusive(&[5, 1, 6, 1, 6, 2]).unwrap(), [1, 1, 1, 2, 2, 1]);
    agree(scan.axis(&[3, 2], 0).inclusive(&[5, 3, 6, 2, 6, 2]), Err(3));
}

#[test]
fn a_stream_finds_what_is_out_of_order_between_its_chunks() {
    let scan = latest().checked();
    let times = sorted(2000);
    for size in [1, 7, 999] {
        let mut stream = scan.stream();
        let chunks: Vec<u32> = times.chunks(size).flat_map(|chunk| stream.feed(chunk).unwrap()).collect();
        assert_eq!(chunks, looped(Latest::identity(), &times).unwrap());
    }
    let mut stream = scan.stream();
    assert_eq!(stream.feed(&[5, 6]).unwrap(), [1, 1]);
    agree(stream.feed(&[5, 6]), Err(0));
    // The stream goes on from where it was.
    assert_eq!(stream.feed(&[6, 6]).unwrap(), [2, 3]);
}

#[test]
fn a_pair_follows_where_both_do() {
    let pairs = Scan::<Pair<Sum<u64>, Latest>>::builder()
        .lift(scan!(|time: u32| -> Pair<Sum<u64>, Latest> { Pair(Sum(1), at(time)) }))
        .project(scan!(|pair: Pair<Sum<u64>, Latest>| -> u32 { (pair.1).count }))
        .build()
        .unwrap();
    agree(pairs.checked().inclusive(&[3, 3, 2]), Err(2));
    assert!(pairs.judgement().follows.as_ref().is_some_and(|verdict| verdict.is_accepted()));
}

#[test]
fn what_disagrees_with_combine_is_refused() {
    macro_rules! orders {
        ($($name:ident: |$a:ident, $b:ident| $follows:expr;)*) => {$(
            #[scan_monoid]
            #[derive(Clone, Copy, Debug, PartialEq)]
            struct $name { any: bool, last: u32 }

            #[scan_monoid]
            impl Monoid for $name {
                fn identity() -> Self {
                    $name { any: false, last: 0 }
                }
                fn combine(self, next: Self) -> Self {
                    if next.any { next } else { self }
                }
                fn valid(self) -> bool {
                    self.any || self.last == 0
                }
                fn follows(self, next: Self) -> bool {
                    let ($a, $b) = (self, next);
                    $follows
                }
            }
        )*};
    }
    orders! {
        // A product has its last time alone, which is too far from what its first may follow.
        Near: |a, b| !a.any || !b.any || a.last <= b.last && b.last <= a.last + 1;
        Strict: |a, b| a.last <= b.last;
    }
    let report = |error: Option<Error>| match error {
        Some(error @ Error::NotAMonoid { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    };
    let near = report(Scan::<Near>::new().err());
    assert!(near.contains("`follows` depends on the grouping"), "{near}");
    let strict = report(Scan::<Strict>::new().err());
    assert!(strict.contains("`follows` is false of x and `identity`"), "{strict}");
}

/// Records follow at a distance that few states have by chance: laws are judged on those that do.
#[test]
fn records_that_rarely_follow_are_judged_in_order() {
    macro_rules! days {
        ($($name:ident: |$a:ident, $b:ident| $both:expr;)*) => {$(
            #[scan_monoid]
            #[derive(Clone, Copy, Debug, PartialEq)]
            struct $name { any: bool, first: u32, last: u32, value: i64 }

            #[scan_monoid]
            impl Monoid for $name {
                fn identity() -> Self {
                    $name { any: false, first: 0, last: 0, value: 0 }
                }
                fn combine(self, next: Self) -> Self {
                    let ($a, $b) = (self.value, next.value);
                    if !self.any {
                        next
                    } else if !next.any {
                        self
                    } else {
                        $name { any: true, first: self.first, last: next.last, value: $both }
                    }
                }
                fn valid(self) -> bool {
                    if self.any { self.first <= self.last } else { self.first == 0 && self.last == 0 && self.value == 0 }
                }
                fn follows(self, next: Self) -> bool {
                    !self.any || !next.any || next.first == self.last + 86_400
                }
            }
        )*};
    }
    days! {
        Differences: |a, b| a - b;
        Sums: |a, b| a + b;
    }
    assert!(matches!(Scan::<Differences>::new(), Err(Error::NotAMonoid { .. })));
    assert!(Scan::<Sums>::new().is_ok());

    /// The same operator, which does not say what a state is: those that a lift makes are judged.
    #[scan_monoid]
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Lifted<M>(M);

    #[scan_monoid]
    impl<M: Monoid> Monoid for Lifted<M> {
        fn identity() -> Self {
            Lifted(M::identity())
        }
        fn combine(self, next: Self) -> Self {
            Lifted(self.0.combine(next.0))
        }
        fn follows(self, next: Self) -> bool {
            self.0.follows(next.0)
        }
    }
    let differences = scan!(|day: u32, value: i64| -> Lifted<Differences> {
        Lifted(Differences { any: true, first: day, last: day, value })
    });
    let sums =
        scan!(|day: u32, value: i64| -> Lifted<Sums> { Lifted(Sums { any: true, first: day, last: day, value }) });
    let found = Scan::<Lifted<Differences>>::builder().lift(differences).build();
    assert!(matches!(found, Err(Error::NotAMonoid { .. })), "{found:?}");
    Scan::<Lifted<Sums>>::builder().lift(sums).build().unwrap();
}

#[test]
fn values_of_a_semigroup_follow_each_other() {
    #[derive(Clone, Copy, Debug, PartialEq, ScanType)]
    struct Range {
        first: u32,
        end: u32,
        sum: u64,
    }
    impl Semigroup for Range {
        #[scan_fn]
        fn append(self, next: Self) -> Self {
            Range { first: self.first, end: next.end, sum: self.sum.wrapping_add(next.sum) }
        }
        #[scan_fn]
        fn precedes(self, next: Self) -> bool {
            self.end == next.first
        }
    }
    /// Lacks the mark: the order would not be checked.
    #[derive(Clone, Copy, Debug, PartialEq, ScanType)]
    struct Unmarked(u32);
    impl Semigroup for Unmarked {
        #[scan_fn]
        fn append(self, next: Self) -> Self {
            next
        }
        fn precedes(self, next: Self) -> bool {
            self.0 < next.0
        }
    }
    let refused = Scan::<Unmarked>::new().err();
    assert!(matches!(refused, Some(Error::Mistranslated { .. })), "{refused:?}");

    let joined = Scan::<Range>::new().unwrap();
    let range = |first, end, sum| Range { first, end, sum };
    let ranges: Vec<Range> = (0..3000).map(|place| range(2 * place, 2 * place + 2, 1)).collect();
    assert_eq!(joined.checked().inclusive(&ranges).unwrap().pop(), Some(range(0, 6000, 3000)));
    for fault in [1, 2, 1234, 2999] {
        let mut ranges = ranges.clone();
        ranges[fault].first += 1;
        let result = joined.checked().inclusive(&ranges);
        assert!(matches!(result, Err(Error::OutOfOrder { index, .. }) if index == fault), "{result:?}");
        assert!(joined.inclusive(&ranges).is_ok());
    }
}

/// Where `follows` panics natively, a record does not follow: laws are not asked of it.
#[test]
fn an_overflow_in_follows_is_out_of_order() {
    #[scan_monoid]
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Last {
        any: bool,
        time: i32,
    }
    #[scan_monoid]
    impl Monoid for Last {
        fn identity() -> Self {
            Last { any: false, time: 0 }
        }
        fn combine(self, next: Self) -> Self {
            if next.any { next } else { self }
        }
        fn valid(self) -> bool {
            self.any || self.time == 0
        }
        fn follows(self, next: Self) -> bool {
            !self.any || !next.any || next.time - self.time >= 0
        }
    }
    let lift = scan!(|time: i32| -> Last { Last { any: true, time } });
    let scan = Scan::<Last>::builder().lift(lift).build().unwrap().checked();
    assert!(scan.inclusive(&[-5, 7, 2_000_000_000]).is_ok());
    let result = scan.inclusive(&[2_000_000_000, -2_000_000_000]);
    assert!(matches!(result, Err(Error::OutOfOrder { index: 1, .. })), "{result:?}");
}
