//! Uses of every kind of request beside the loop that one would write. There are minima and maxima
//! of floats, totals, scans from the end, columns with strides, columns of an array, and loops from
//! which the scan is derived. Functions of an `Element` are in `elements`.
//!
//! Integers and most floats must be exactly those of the loop; where scans regroup sums of floats
//! that are not exact, they may differ by rounding.

use std::cell::RefMut;
use std::fmt::Debug;
use std::ops::Range;

use bench_shared::data::column;
use monoscan::ops::Sum;
use monoscan::prelude::*;
use monoscan::{Error, Rows, State, Strided, by_key};

use super::exact::Exact;
use super::field;
use super::zoo::Take;
use crate::output::Output;
use crate::race::Judge;
use crate::report::Row;
use crate::workloads::{Session, race, race_judged};

/// All of them, on so many elements.
pub(super) fn run(session: &Session, len: usize, take: Take<'_>) {
    let uses = Uses { session, len };
    [Uses::extremes, Uses::totals, Uses::layouts, Uses::elements, Uses::loops]
        .iter()
        .for_each(|kind| kind(&uses, take));
}

pub(super) struct Uses<'a> {
    session: &'a Session,
    pub(super) len: usize,
}

/// The corners of a box around points.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Corners {
    low: [f32; 2],
    high: [f32; 2],
}

#[scan_monoid]
impl Monoid for Corners {
    fn identity() -> Self {
        Corners { low: [f32::INFINITY; 2], high: [f32::NEG_INFINITY; 2] }
    }
    fn combine(self, next: Self) -> Self {
        Corners {
            low: [self.low[0].min(next.low[0]), self.low[1].min(next.low[1])],
            high: [self.high[0].max(next.high[0]), self.high[1].max(next.high[1])],
        }
    }
}

/// The greatest three, in order.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Greatest {
    three: [f32; 3],
}

#[scan_monoid]
impl Monoid for Greatest {
    fn identity() -> Self {
        Greatest { three: [f32::NEG_INFINITY; 3] }
    }
    fn combine(self, next: Self) -> Self {
        let ([a, b, c], [d, e, f]) = (self.three, next.three);
        // Of two descending lists: the greatest, and what is left at each place.
        let first = a.max(d);
        let second = a.min(d).max(b.max(e));
        let third = c.max(f).max(a.min(e)).max(b.min(d));
        Greatest { three: [first, second, third] }
    }
    fn valid(self) -> bool {
        self.three[0] >= self.three[1] && self.three[1] >= self.three[2]
    }
}

/// The smallest number and its place, the first of equals.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Smallest {
    value: f32,
    place: u32,
}

#[scan_monoid]
impl Monoid for Smallest {
    fn identity() -> Self {
        Smallest { value: f32::INFINITY, place: u32::MAX }
    }
    fn combine(self, next: Self) -> Self {
        let is_next = next.value < self.value || next.value == self.value && next.place < self.place;
        if is_next { next } else { self }
    }
    fn valid(self) -> bool {
        !self.value.is_nan()
    }
}

/// The states after each record.
#[inline(never)]
fn states<S: Copy, R: Copy>(initial: S, step: impl Fn(S, R) -> S, x: &[R], y: &mut [S]) {
    let mut state = initial;
    for (&x, y) in x.iter().zip(y) {
        state = step(state, x);
        *y = state;
    }
}

/// The state after each of these ranges.
#[inline(never)]
fn ends<S: Copy, R: Copy>(
    initial: S,
    step: impl Fn(S, R) -> S,
    x: &[R],
    of: impl Iterator<Item = Range<usize>>,
    y: &mut [S],
) {
    for (range, y) in of.zip(y) {
        *y = x[range].iter().fold(initial, |state, &record| step(state, record));
    }
}

impl Uses<'_> {
    fn floats(&self) -> Vec<f32> {
        column(5, self.len, |numbers| numbers.below(1 << 20) as f32 - 1000.0)
    }

    pub(super) fn doubles(&self) -> Vec<f64> {
        column(6, self.len, |numbers| numbers.between(-1.0, 1.0))
    }

    pub(super) fn integers(&self) -> Vec<i32> {
        column(7, self.len, |numbers| numbers.below(9) as i32 - 4)
    }

    /// A race whose results must be exactly the loop's.
    pub(super) fn exactly<T: Copy + PartialEq + Debug>(
        &self,
        name: &str,
        y: (Vec<T>, [T; 2]),
        plain: impl Fn(&mut [T]),
        scan: impl Fn(usize, &mut [T]) -> Result<usize, Error>,
        take: Take<'_>,
    ) {
        let (mut expected, wrong) = y;
        plain(&mut expected);
        let y = Exact::new(expected, wrong);
        take(self.judged(name, &y, || y.write(), plain, scan));
    }

    /// A race whose results may differ by rounding.
    pub(super) fn nearly(
        &self,
        name: &str,
        results: usize,
        plain: impl Fn(&mut [f64]),
        scan: impl Fn(usize, &mut [f64]) -> Result<usize, Error>,
        take: Take<'_>,
    ) {
        let mut expected = vec![0.0; results];
        plain(&mut expected);
        let y = Output::close(expected, 1e-9);
        take(race(self.session, field(name, self.len), &y, plain, [1, 2], |&threads, y| scan(threads, y)));
    }

    fn judged<'y, T: 'y>(
        &self,
        name: &str,
        judge: &dyn Judge,
        column: impl Fn() -> RefMut<'y, [T]>,
        plain: impl Fn(&mut [T]),
        scan: impl Fn(usize, &mut [T]) -> Result<usize, Error>,
    ) -> Vec<Row> {
        race_judged(self.session, field(name, self.len), judge, column, plain, [1, 2], |&threads, y| scan(threads, y))
    }

    fn extremes(&self, take: Take<'_>) {
        let x = &self.floats()[..];
        let points: &[[f32; 2]] = &x.iter().map(|&x| [x, -x]).collect::<Vec<_>>();
        let corners = [1, 2].map(|threads| {
            let lift = scan!(|p: [f32; 2]| -> Corners { Corners { low: p, high: p } });
            Scan::<Corners>::builder().lift(lift).threads(threads).build().expect("boxes are a monoid")
        });
        let none = Corners::identity();
        let grow = |all: Corners, p: [f32; 2]| Corners {
            low: [all.low[0].min(p[0]), all.low[1].min(p[1])],
            high: [all.high[0].max(p[0]), all.high[1].max(p[1])],
        };
        let y = || (vec![none; self.len], [none, Corners { low: [7.0; 2], ..none }]);
        let scan = |threads: usize, y: &mut [Corners]| corners[threads - 1].inclusive_into(points, y);
        self.exactly("boxes around points", y(), |y| states(none, grow, points, y), scan, take);

        let greatest = [1, 2].map(|threads| {
            let lift = scan!(|x: f32| -> Greatest { Greatest { three: [x, f32::NEG_INFINITY, f32::NEG_INFINITY] } });
            Scan::<Greatest>::builder().lift(lift).threads(threads).build().expect("the greatest are a monoid")
        });
        let none = Greatest::identity();
        let insert = |Greatest { three: [a, b, c] }: Greatest, x: f32| Greatest {
            three: [a.max(x), a.min(x).max(b), b.min(x).max(c)],
        };
        let y = (vec![none; self.len], [none, Greatest { three: [7.5; 3] }]);
        let scan = |threads: usize, y: &mut [Greatest]| greatest[threads - 1].inclusive_into(x, y);
        self.exactly("the greatest three", y, |y| states(none, insert, x, y), scan, take);

        let places: &[u32] = &(0..self.len as u32).collect::<Vec<_>>();
        let pairs: &[(f32, u32)] = &x.iter().copied().zip(places.iter().copied()).collect::<Vec<_>>();
        let smallest = [1, 2].map(|threads| {
            let lift = scan!(|value: f32, place: u32| -> Smallest { Smallest { value, place } });
            Scan::<Smallest>::builder().lift(lift).threads(threads).build().expect("the smallest are a monoid")
        });
        let none = Smallest::identity();
        let less =
            |all: Smallest, (value, place): (f32, u32)| if value < all.value { Smallest { value, place } } else { all };
        let y = (vec![none; self.len], [none, Smallest { value: 7.5, place: 0 }]);
        let scan = |threads: usize, y: &mut [Smallest]| smallest[threads - 1].inclusive_into((x, places), y);
        self.exactly("the smallest and its place", y, |y| states(none, less, pairs, y), scan, take);

        let whole: &[f32] = &x.iter().map(|x| (x % 7.0).trunc()).collect::<Vec<_>>();
        let clamped = [1, 2].map(|threads| {
            let step = scan!(|level: f32, x: f32| -> f32 { (level + x).clamp(-9.0, 9.0) });
            Scan::loop_builder(step, 0.0f32).threads(threads).build().expect("sums between bounds are a monoid")
        });
        let y = (vec![0.0; self.len], [99.0, 98.0]);
        let plain = |y: &mut [f32]| states(0.0, |level: f32, x: f32| (level + x).clamp(-9.0, 9.0), whole, y);
        let scan = |threads: usize, y: &mut [f32]| clamped[threads - 1].inclusive_into(whole, y);
        self.exactly("sums between bounds, a loop", y, plain, scan, take);
    }

    fn totals(&self, take: Take<'_>) {
        let x = &self.integers()[..];
        let sums = sums();
        let add = |sum: Sum<i32>, x: i32| Sum(sum.0 + x);
        let records: &[Sum<i32>] = &x.iter().copied().map(Sum).collect::<Vec<_>>();
        let y = |count: usize| (vec![Sum(0); count], [Sum(9999), Sum(9998)]);
        for mean in [8, 100] {
            let count = self.len / mean;
            let ranges = || (0..count).map(|row| mean * row..mean * (row + 1));
            let plain = |y: &mut [Sum<i32>]| ends(Sum(0), add, x, ranges(), y);
            let x = &records[..count * mean];
            let rows = Rows::new(count, mean, mean).expect("rows do not overlap");
            let scan = |threads: usize, y: &mut [Sum<i32>]| sums[threads - 1].rows(rows).totals_into(x, y);
            self.exactly(&format!("totals of rows of {mean}"), y(count), plain, scan, take);

            let lengths = column(8, count + 1, |numbers| 1 + numbers.below(2 * mean as u64 - 1) as usize);
            let mut end = 0;
            let mut offsets: Vec<usize> = vec![0];
            offsets.extend(lengths.iter().map(|len| {
                end += len;
                end.min(self.len)
            }));
            let (offsets, count) = (&offsets[..], offsets.len() - 1);
            let x = &records[..offsets[count]];
            let ranges = || offsets.windows(2).map(|ends| ends[0]..ends[1]);
            let plain = |y: &mut [Sum<i32>]| ends(Sum(0), |a: Sum<i32>, b: Sum<i32>| Sum(a.0 + b.0), x, ranges(), y);
            let scan = |threads: usize, y: &mut [Sum<i32>]| sums[threads - 1].segmented(offsets).totals_into(x, y);
            self.exactly(&format!("totals between offsets, of {mean}"), y(count), plain, scan, take);

            let keys: Vec<u32> = ranges().enumerate().flat_map(|(key, range)| range.map(move |_| key as u32)).collect();
            let keys = &keys[..];
            let count = keys.chunk_by(|a, b| a == b).count();
            let plain = |y: &mut [Sum<i32>]| by_keys(keys, x, y);
            let scan = |threads: usize, y: &mut [Sum<i32>]| sums[threads - 1].segmented(by_key(keys)).totals_into(x, y);
            self.exactly(&format!("totals by keys, of {mean}"), y(count), plain, scan, take);
        }
    }

    fn layouts(&self, take: Take<'_>) {
        let x = &self.integers()[..];
        let records: &[Sum<i32>] = &x.iter().copied().map(Sum).collect::<Vec<_>>();
        let sums = sums();
        let add = |a: Sum<i32>, b: Sum<i32>| Sum(a.0 + b.0);
        let y = || (vec![Sum(0); self.len], [Sum(99_999), Sum(99_998)]);
        let plain = |y: &mut [Sum<i32>]| {
            let mut sum = Sum(0);
            for (&x, y) in records.iter().zip(y).rev() {
                sum = add(sum, x);
                *y = sum;
            }
        };
        let scan = |threads: usize, y: &mut [Sum<i32>]| sums[threads - 1].reversed().inclusive_into(records, y);
        self.exactly("sums from the end", y(), plain, scan, take);

        let table: &[Sum<i32>] = &records.iter().flat_map(|&x| [Sum(1), x, Sum(2)]).collect::<Vec<_>>();
        let plain = |y: &mut [Sum<i32>]| {
            let mut sum = Sum(0);
            for (x, y) in table.chunks_exact(3).zip(y) {
                sum = add(sum, x[1]);
                *y = sum;
            }
        };
        let scan = |threads: usize, y: &mut [Sum<i32>]| sums[threads - 1].inclusive_into(Strided::new(table, 1, 3)?, y);
        self.exactly("sums of each third record", y(), plain, scan, take);

        let averages = averages();
        let x = &self.doubles()[..];
        for columns in [2, 3, 4, 6, 16] {
            let shape = [self.len / columns, columns];
            let len = shape[0] * columns;
            let x = &x[..len];
            let plain = |y: &mut [f64]| down(columns, x, y);
            let scan = |threads: usize, y: &mut [f64]| averages[threads - 1].axis(&shape, 0).inclusive_into(x, y);
            self.nearly(&format!("averages down {columns} columns"), len, plain, scan, take);
        }
    }

    fn loops(&self, take: Take<'_>) {
        let x = &self.doubles()[..];
        let averages = averages();
        let average = |y: f64, x: f64| 0.9 * y + 0.1 * x;
        let plain = |y: &mut [f64]| {
            let mut last = 0.0;
            for (&x, y) in x.iter().zip(y).rev() {
                last = average(last, x);
                *y = last;
            }
        };
        let scan = |threads: usize, y: &mut [f64]| averages[threads - 1].reversed().inclusive_into(x, y);
        self.nearly("averages from the end, a loop", self.len, plain, scan, take);

        let plain = |y: &mut [f64]| y[0] = x.iter().fold(0.0, |y, &x| average(y, x));
        let scan = |threads: usize, y: &mut [f64]| {
            y[0] = averages[threads - 1].reduce(x)?.0;
            Ok(1)
        };
        self.nearly("the last average, a loop", 1, plain, scan, take);

        let twice = [1, 2].map(|threads| {
            let step = scan!(|s: (f64, f64), x: f64| -> (f64, f64) {
                let first = 0.9 * s.0 + 0.1 * x;
                (first, 0.8 * s.1 + 0.2 * first)
            });
            let output = scan!(|s: (f64, f64)| -> f64 { s.1 });
            Scan::loop_builder(step, (0.0, 0.0)).output(output).threads(threads).build().expect("averages are a monoid")
        });
        let plain = |y: &mut [f64]| {
            let (mut first, mut second) = (0.0, 0.0);
            for (&x, y) in x.iter().zip(y) {
                first = average(first, x);
                second = 0.8 * second + 0.2 * first;
                *y = second;
            }
        };
        let scan = |threads: usize, y: &mut [f64]| twice[threads - 1].inclusive_into(x, y);
        self.nearly("averages of averages, a loop", self.len, plain, scan, take);

        let x: &[u32] = &column(10, self.len, |numbers| numbers.bits() as u32);
        let generator = [1, 2].map(|threads| {
            let step = scan!(|s: u32, x: u32| -> u32 { s.wrapping_mul(1_664_525).wrapping_add(x) });
            Scan::loop_builder(step, 1u32).threads(threads).build().expect("affine maps are a monoid")
        });
        let plain = |y: &mut [u32]| states(1, |s: u32, x: u32| s.wrapping_mul(1_664_525).wrapping_add(x), x, y);
        let scan = |threads: usize, y: &mut [u32]| generator[threads - 1].inclusive_into(x, y);
        self.exactly("a linear congruential generator, a loop", (vec![0; self.len], [1, 2]), plain, scan, take);
    }
}

type Sums = Scan<Sum<i32>>;

fn sums() -> [Sums; 2] {
    [1, 2].map(|threads| Sums::builder().threads(threads).build().expect("sums are a monoid"))
}

fn averages() -> [Scan<State<f64>, (f64,), f64>; 2] {
    [1, 2].map(|threads| {
        let step = scan!(|y: f64, x: f64| -> f64 { 0.9 * y + 0.1 * x });
        Scan::loop_builder(step, 0.0).threads(threads).build().expect("averages are a monoid")
    })
}

#[inline(never)]
fn by_keys(keys: &[u32], x: &[Sum<i32>], y: &mut [Sum<i32>]) {
    let Some(mut key) = keys.first() else { return };
    let (mut sum, mut place) = (0, 0);
    for (of, x) in keys.iter().zip(x) {
        if of != key {
            y[place] = Sum(sum);
            (key, sum, place) = (of, 0, place + 1);
        }
        sum += x.0;
    }
    y[place] = Sum(sum);
}

#[inline(never)]
fn down(columns: usize, x: &[f64], y: &mut [f64]) {
    let mut last = vec![0.0; columns];
    for (x, y) in x.chunks_exact(columns).zip(y.chunks_exact_mut(columns)) {
        for ((x, y), last) in x.iter().zip(y).zip(&mut last) {
            *last = 0.9 * *last + 0.1 * x;
            *y = *last;
        }
    }
}
