//! Checked scans as a user meets them: what is reported, where, and what is not.

mod loops;
mod methods;
mod order;

use monoscan::ops::{Max, Sum};
use monoscan::prelude::*;
use monoscan::{Error, FunctionOf};
use scan_kit::calls::tiles;

#[track_caller]
fn overflow_at<T: std::fmt::Debug>(result: Result<T, Error>, record: usize, in_function: &str) {
    match result {
        Err(Error::Overflowed { index, function }) => {
            assert_eq!((index, function.to_string().as_str()), (record, in_function));
        }
        other => panic!("{other:?}"),
    }
}

fn sums() -> Scan<Sum<i32>, (i32,), i32> {
    let builder = Scan::<Sum<i32>>::builder().lift(scan!(|x: i32| -> Sum<i32> { Sum(x) }));
    builder.project(scan!(|sum: Sum<i32>| -> i32 { sum.0 })).build().unwrap()
}

#[test]
fn a_long_scan_on_all_cores_finds_the_one_overflow() {
    let scan = sums().checked();
    let mut x: Vec<i32> = (0..700_001).map(|i| if i % 2 == 0 { 1 << 30 } else { -(1 << 30) }).collect();
    let plain = sums().inclusive(&x).unwrap();
    assert_eq!(scan.inclusive(&x).unwrap(), plain);
    // The sum is 2^30 there, and goes back at once.
    x[512_346] += 1 << 29;
    x[512_345] = 1 << 29;
    overflow_at(scan.inclusive(&x), 512_346, "`combine`");
    let function = FunctionOf::Combine { stage: None };
    assert!(matches!(scan.inclusive(&x), Err(Error::Overflowed { function: found, .. }) if found == function));
    assert!(sums().inclusive(&x).is_ok());
    // From the other end it is met elsewhere.
    let mut state = 0i32;
    let last = (0..x.len()).rev().find(|&i| match state.checked_add(x[i]) {
        Some(sum) => {
            state = sum;
            false
        }
        None => true,
    });
    match last {
        Some(record) => overflow_at(scan.reversed().inclusive(&x), record, "`combine`"),
        None => assert!(scan.reversed().inclusive(&x).is_ok()),
    }
}

#[test]
fn every_function_of_a_scan_is_checked() {
    #[scan_fn]
    fn square(x: i32) -> Max<i32> {
        Max(x * x)
    }
    #[scan_fn]
    fn quotient(x: i32) -> Max<i32> {
        Max(100 / x)
    }
    #[scan_fn]
    fn twice(state: Max<i32>) -> i32 {
        state.0 * 2
    }
    #[scan_fn]
    fn is_next_even(e: Element<i32, Max<i32>>) -> bool {
        (e.record + 1) % 2 == 0
    }
    let x = [3, 1, 50_000, 2];
    let squares = || Scan::<Max<i32>>::builder().lift(square {});
    overflow_at(squares().build().unwrap().checked().inclusive(&x), 2, "`lift`");
    overflow_at(
        Scan::<Max<i32>>::builder().lift(quotient {}).build().unwrap().checked().inclusive(&[3, 0, 1]),
        1,
        "`lift`",
    );
    let doubled = squares().project(twice {}).build().unwrap().checked();
    overflow_at(doubled.inclusive(&[3, 40_000, 1]), 1, "`project`");
    // Before the first record it is twice the lowest number.
    overflow_at(doubled.exclusive(&[3, 40_000, 1]), 0, "`project`");
    overflow_at(doubled.init(Max(0)).exclusive(&[3, 40_000, 1]), 2, "`project`");
    assert_eq!(doubled.init(Max(0)).exclusive(&[3, 40_000]).unwrap(), [0, 18]);
    let kept = Scan::<Max<i32>>::builder().lift(scan!(|x: i32| -> Max<i32> { Max(x) })).filter(is_next_even {}).build();
    let kept = kept.unwrap().checked();
    assert_eq!(kept.inclusive(&[1, 4, 7]).unwrap(), [Max(1), Max(7)]);
    overflow_at(kept.inclusive(&[1, 4, i32::MAX, 7]), 2, "`filter`");
}

#[test]
fn what_is_not_run_or_is_meant_to_wrap_is_no_overflow() {
    #[scan_fn]
    fn next(x: u8) -> Sum<u32> {
        Sum(if x == u8::MAX { 0 } else { x + 1 } as u32)
    }
    #[scan_monoid]
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Hash {
        hash: u32,
        factor: u32,
        count: u8,
    }
    #[scan_monoid]
    impl Monoid for Hash {
        fn identity() -> Self {
            Hash { hash: 0, factor: 1, count: 0 }
        }
        fn combine(self, next: Self) -> Self {
            Hash {
                hash: self.hash.wrapping_mul(next.factor).wrapping_add(next.hash),
                factor: self.factor.wrapping_mul(next.factor),
                count: self.count + next.count,
            }
        }
    }
    let bytes: Vec<u8> = (0..=255).collect();
    let scan = Scan::<Sum<u32>>::builder().lift(next {}).build().unwrap().checked();
    assert_eq!(scan.reduce(&bytes).unwrap(), Sum(255 * 256 / 2));
    let hashes =
        Scan::<Hash>::builder().lift(scan!(|x: u8| -> Hash { Hash { hash: x as u32, factor: 0x01000193, count: 1 } }));
    let hashes = hashes.build().unwrap().checked();
    assert_eq!(hashes.reduce(&bytes[..255]).unwrap().count, 255);
    overflow_at(hashes.reduce(&bytes), 255, "`combine`");
}

#[test]
fn records_are_numbered_as_in_the_columns() {
    let scan = sums().checked();
    let most = i32::MAX;
    let x = [1, most, most, 1, 5, most];
    let heads = [true, false, true, false, true, false];
    overflow_at(scan.segmented(&heads).inclusive(&x), 1, "`combine`");
    overflow_at(scan.segmented(&heads[..]).reversed().inclusive(&x), 4, "`combine`");
    overflow_at(scan.segmented(&[0usize, 1, 4, 6]).inclusive(&x), 2, "`combine`");
    overflow_at(scan.segmented(&[0usize, 1, 2, 3, 6]).totals(&x), 5, "`combine`");
    assert!(scan.segmented(&[0usize, 1, 2, 3, 5, 6]).inclusive(&x).is_ok());
    let rows = monoscan::Rows::new(2, 3, 3).unwrap();
    overflow_at(scan.rows(rows).inclusive(&[1, 2, 3, 4, most, 6]), 4, "`combine`");
    overflow_at(
        scan.rows(monoscan::Rows::axis(&[2, 3], 0).unwrap()).reversed().inclusive(&[0, 1, most, 0, 0, 1]),
        2,
        "`combine`",
    );
    overflow_at(scan.init(Sum(most)).inclusive(&[0, 0, 1]), 2, "`combine`");
    let mut records = [1, 1, most, 4];
    overflow_at(scan.inclusive_in_place(&mut records), 2, "`combine`");
}

#[test]
fn a_stream_stays_where_it_was() {
    let scan = sums().checked();
    let mut carry = scan.identity();
    assert_eq!(scan.resume(&mut carry, &[i32::MAX - 2, 1]).unwrap(), [i32::MAX - 2, i32::MAX - 1]);
    overflow_at(scan.resume(&mut carry, &[1, 1, 0]), 1, "`combine`");
    assert_eq!(carry, Sum(i32::MAX - 1));
    assert_eq!(scan.resume(&mut carry, &[1, -5]).unwrap(), [i32::MAX, i32::MAX - 5]);
}

#[test]
fn a_later_stage_is_named() {
    #[scan_fn]
    fn weigh(e: Element<i32, Sum<i32>>) -> Sum<i32> {
        Sum(e.after.0 * 1000)
    }
    let scan = Scan::<Sum<i32>>::builder().lift(scan!(|x: i32| -> Sum<i32> { Sum(x) })).then(weigh {}).build();
    let scan = scan.unwrap().checked();
    overflow_at(scan.inclusive(&[1, 1_000_000, 2_000_000, 0]), 2, "`lift` of stage 1");
    overflow_at(scan.inclusive(&[1, 1_000_000, 500_000, 0, 0]), 2, "`combine` of stage 1");
    overflow_at(scan.inclusive(&[1, i32::MAX, 0]), 1, "`combine` of stage 0");
}

/// Where a path of steps ends, and the highest that it went.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Path {
    end: i32,
    peak: i32,
}

#[scan_monoid]
impl Monoid for Path {
    fn identity() -> Self {
        Path { end: 0, peak: 0 }
    }
    fn combine(self, next: Self) -> Self {
        Path { end: self.end + next.end, peak: self.peak.max(self.end + next.peak) }
    }
    fn valid(self) -> bool {
        self.peak >= 0 && self.peak >= self.end
    }
}

#[test]
fn a_state_that_another_order_spoils_is_no_result() {
    let plan = tiles(2, 4, 1);
    let lift = scan!(|x: i32| -> Path { Path { end: x, peak: x.max(0) } });
    let scan = Scan::<Path>::builder().lift(lift).plan(plan).threads(2).build().unwrap();
    let conditions = scan.judgement().overflow_matters_to();
    assert_eq!(conditions, [0, 1]);
    // The loop is at −2·10⁹ before the second block; the block alone rises to 3·10⁹.
    let mut x = vec![0; 32];
    x[0] = -2_000_000_000;
    x[4..7].fill(1_000_000_000);
    x[7] = -5;
    let looped: Vec<i32> = x
        .iter()
        .scan((0, 0), |(end, peak): &mut (i32, i32), &x| {
            *end += x;
            *peak = (*peak).max(*end);
            Some(*peak)
        })
        .collect();
    // With an initial state it is no short line, which would be scanned in order. Whether tiles are reduced depends on which thread comes first.
    let start = scan.identity();
    for _ in 0..100 {
        match scan.checked().init(start).inclusive(&x) {
            Ok(found) => assert!(found.iter().map(|path| path.peak).eq(looped.iter().copied())),
            Err(Error::Regrouped { index }) => assert!((4..32).contains(&index)),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn where_nothing_can_overflow_nothing_is_checked() {
    let scan = Scan::<Max<i32>>::new().unwrap();
    let x: Vec<Max<i32>> = [3, 1, i32::MAX, i32::MIN].map(Max).to_vec();
    assert_eq!(scan.checked().inclusive(&x).unwrap(), scan.inclusive(&x).unwrap());
}

/// How many words there are: whether there is a letter or a gap, whether there is a letter at either end.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Runs {
    any: bool,
    first: bool,
    last: bool,
    count: u32,
}

#[scan_monoid]
impl Monoid for Runs {
    fn identity() -> Self {
        Runs { any: false, first: false, last: false, count: 0 }
    }
    fn combine(self, next: Self) -> Self {
        Runs {
            any: self.any || next.any,
            first: if self.any { self.first } else { next.first },
            last: if next.any { next.last } else { self.last },
            count: self.count + next.count - (self.last && next.first) as u32,
        }
    }
    fn valid(self) -> bool {
        let touches = self.first || self.last;
        if self.any { !touches || self.count >= 1 } else { !touches && self.count == 0 }
    }
}

#[scan_fn]
fn letter(x: u8) -> Runs {
    let is = x > 32;
    Runs { any: true, first: is, last: is, count: is as u32 }
}

#[test]
fn words_are_counted_with_their_truthful_valid_states() {
    let scan = Scan::<Runs>::builder().lift(letter {}).build().unwrap();
    assert!(scan.judgement().verdict().is_accepted(), "{}", scan.judgement());
    let text = b"xx xxxx x  xx ".repeat(40);
    let words = text.split(|&x| x <= 32).filter(|word| !word.is_empty()).count();
    assert_eq!(scan.checked().reduce(&text).unwrap().count as usize, words);
    let almost = Runs { any: true, first: false, last: false, count: u32::MAX };
    overflow_at(scan.checked().init(almost).reduce(b"  x "), 2, "`combine`");
}

/// How far below the highest number so far: a running maximum without the number that it is a maximum of.
macro_rules! drop_below {
    ($name:ident, $ty:ty, |$a:ident, $b:ident| $less:expr) => {
        #[scan_monoid]
        #[derive(Clone, Copy, Debug, PartialEq)]
        struct $name {
            moved: $ty,
            most: $ty,
        }

        #[scan_monoid]
        impl Monoid for $name {
            fn identity() -> Self {
                $name { moved: 0, most: 0 }
            }
            fn combine(self, next: Self) -> Self {
                let ($a, $b) = (self.most, next.moved);
                $name { moved: self.moved + next.moved, most: next.most.max($less) }
            }
        }
    };
}

drop_below!(Plain, u32, |a, b| a - b);
drop_below!(Wrapping, u32, |a, b| a.wrapping_sub(b));
drop_below!(Signed, i64, |a, b| a - b);

#[test]
fn plain_subtraction_of_unsigned_numbers_is_accepted_under_its_condition() {
    let plain = Scan::<Plain>::new().unwrap();
    assert_eq!(plain.judgement().overflow_matters_to(), [0, 1], "{}", plain.judgement());
    assert!(plain.explain().contains("if no integer overflows"), "{}", plain.explain());
    let records = [Plain { moved: 0, most: 5 }, Plain { moved: 2, most: 1 }, Plain { moved: 4, most: 0 }];
    assert_eq!(plain.checked().inclusive(&records[..2]).unwrap()[1], Plain { moved: 2, most: 3 });
    overflow_at(plain.checked().inclusive(&records), 2, "`combine`");
    // What subtracts otherwise is another operator.
    assert!(matches!(Scan::<Wrapping>::new(), Err(Error::NotAMonoid { .. })));
    assert!(matches!(Scan::<Signed>::new(), Err(Error::NotAMonoid { .. })));
}

#[test]
fn totals_of_reversed_segments_report_the_first_record_in_the_order_of_the_scan() {
    let scan = sums().checked();
    let x = [i32::MAX, 1, i32::MAX, 1];
    let request = || scan.reversed().segmented(&[0usize, 2, 4]);
    overflow_at(request().inclusive(&x), 2, "`combine`");
    overflow_at(request().totals(&x), 2, "`combine`");
    overflow_at(request().inclusive_with_totals(&x), 2, "`combine`");
    overflow_at(scan.segmented(&[0usize, 2, 4]).totals(&x), 1, "`combine`");
}
