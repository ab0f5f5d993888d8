//! Functions that see more than their record, beside the loops that one would write: the record
//! before, the next one, the place.

use std::cell::RefCell;
use std::fmt::Debug;

use bench_shared::data::column;
use monoscan::ops::{Max, Min, Sum};
use monoscan::prelude::*;

use super::uses::Uses;
use super::zoo::Take;

impl Uses<'_> {
    pub(super) fn elements(&self, take: Take<'_>) {
        self.counts(take);
        self.places(take);
        self.kept(take);
    }

    /// The states after each element, of an operator whose functions see the element.
    fn seen<In: ScanType, M: Monoid + PartialEq + Debug>(
        &self,
        (name, wrong): (&str, [M; 2]),
        x: &[In],
        lift: impl ScanFn<(Element<In>,), Out = M> + Copy,
        plain: impl Fn(&mut [M]),
        take: Take<'_>,
    ) {
        let build = |threads| {
            let builder = Scan::<M>::builder().lift_at::<(In,), _>(lift).threads(threads);
            builder.build().expect("it is a monoid")
        };
        let scans = [1, 2].map(build);
        let y = (vec![M::identity(); self.len], wrong);
        self.exactly(name, y, plain, |threads, y| scans[threads - 1].inclusive_into(x, y), take);
    }

    fn counts(&self, take: Take<'_>) {
        let wrong = [Sum(u32::MAX), Sum(u32::MAX - 1)];
        let x = &self.integers()[..];
        let lift = scan!(|e: Element<i32>| -> Sum<u32> { Sum((!e.first && e.record != e.prev) as u32) });
        let plain = |y: &mut [Sum<u32>]| counted(x, y, |before, x| before != x);
        self.seen(("changes so far", wrong), x, lift, plain, take);

        let x: &[f32] = &column(11, self.len, |numbers| numbers.between(-1.0, 1.0) as f32);
        let lift = scan!(|e: Element<f32>| -> Sum<u32> { Sum((!e.first && e.prev <= 0.0 && e.record > 0.0) as u32) });
        let plain = |y: &mut [Sum<u32>]| counted(x, y, |before, x| before <= 0.0 && x > 0.0);
        self.seen(("edges that rise", wrong), x, lift, plain, take);

        let mut time = 0;
        let x: &[u64] = &column(12, self.len, |numbers| {
            time += numbers.below(40);
            time
        });
        let lift = scan!(|e: Element<u64>| -> Sum<u32> { Sum((!e.first && e.record - e.prev > 30) as u32) });
        let plain = |y: &mut [Sum<u32>]| counted(x, y, |before, x| x - before > 30);
        self.seen(("pauses so far", wrong), x, lift, plain, take);

        let x: &[i32] = &column(13, self.len, |numbers| numbers.below(1000) as i32);
        let lift = scan!(|e: Element<i32>| -> Sum<u32> {
            Sum((!e.first && !e.last && e.prev < e.record && e.record > e.next) as u32)
        });
        let plain = |y: &mut [Sum<u32>]| {
            let mut count = 0;
            for (place, y) in y.iter_mut().enumerate() {
                let is_within = place > 0 && place + 1 < x.len();
                count += u32::from(is_within && x[place - 1] < x[place] && x[place] > x[place + 1]);
                *y = Sum(count);
            }
        };
        self.seen(("peaks so far", wrong), x, lift, plain, take);
    }

    fn places(&self, take: Take<'_>) {
        let x = &self.doubles()[..];
        let lift = scan!(|e: Element<f64>| -> Min<u64> { Min(if e.record.is_nan() { e.index } else { 1 << 60 }) });
        let plain = |y: &mut [Min<u64>]| {
            let mut first = u64::MAX;
            for ((place, x), y) in (0..).zip(x).zip(y) {
                first = first.min(if x.is_nan() { place } else { 1 << 60 });
                *y = Min(first);
            }
        };
        self.seen(("the first that is no number", [Min(1), Min(2)]), x, lift, plain, take);

        let x: &[bool] = &column(14, self.len, |numbers| numbers.below(20) == 0);
        let lift = scan!(|e: Element<bool>| -> Max<u64> { Max(if e.record { e.index + 1 } else { 0 }) });
        let plain = |y: &mut [Max<u64>]| {
            let mut last = 0;
            for ((place, &is_event), y) in (1..).zip(x).zip(y) {
                last = if is_event { place } else { last };
                *y = Max(last);
            }
        };
        self.seen(("the last event", [Max(1 << 40), Max(1 << 41)]), x, lift, plain, take);
    }

    fn kept(&self, take: Take<'_>) {
        let x: &[i32] = &column(9, self.len, |numbers| numbers.below(1 << 30) as i32);
        let highs = [1, 2].map(|threads| {
            let lift = scan!(|x: i32| -> Max<i32> { Max(x) });
            let is_new = scan!(|e: Element<i32, Max<i32>>| -> bool { e.after.0 > e.before.0 });
            Scan::<Max<i32>>::builder().lift(lift).filter(is_new).threads(threads).build().expect("maxima are a monoid")
        });
        let plain = |y: &mut [Max<i32>]| {
            let (mut high, mut place) = (i32::MIN, 0);
            for &x in x {
                if x > high {
                    high = x;
                    y[place] = Max(x);
                    place += 1;
                }
            }
        };
        // With space for all records, so that they are not counted first.
        let space = RefCell::new(vec![Max(0); self.len + 4]);
        plain(&mut space.borrow_mut());
        let count = space.borrow().iter().take_while(|kept| kept.0 > 0).count();
        let plain = |y: &mut [Max<i32>]| {
            plain(&mut space.borrow_mut());
            y.copy_from_slice(&space.borrow()[..count]);
        };
        let scan = |threads: usize, y: &mut [Max<i32>]| {
            let kept = highs[threads - 1].inclusive_into(x, &mut space.borrow_mut()[..self.len])?;
            y.copy_from_slice(&space.borrow()[..count]);
            Ok(kept)
        };
        self.exactly("new maxima", (vec![Max(0); count], [Max(-1), Max(-2)]), plain, scan, take);
    }
}

/// How many records so far differ so from the one before.
#[inline(never)]
fn counted<T: Copy>(x: &[T], y: &mut [Sum<u32>], differs: impl Fn(T, T) -> bool) {
    let (mut count, mut before) = (0, None);
    for (&x, y) in x.iter().zip(y) {
        count += u32::from(before.is_some_and(|before| differs(before, x)));
        before = Some(x);
        *y = Sum(count);
    }
}
