//! The algorithms of `monoscan::algo` beside what one would use instead: the standard library, and
//! crates for the purpose.
//!
//! monoscan's functions use the pool that they are called in: one of one thread, which is handed
//! the work, and the global one of two.

pub(super) mod computing;
pub(super) mod linked;
pub(super) mod segments;
pub(super) mod selecting;
pub(super) mod series;
pub(super) mod sorting;
pub(super) mod texts;
pub(super) mod trees;

use std::sync::{Mutex, MutexGuard};

use monoscan::algo::{AlgoError, groups, numbers, sparse};
use monoscan::ops::Moments;
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::Session;
use crate::output::Output;
use crate::peers::PythonScan;
use crate::race::{Field, Judge};
use crate::report::{Role, Row};
use bench_shared::data::{Numbers, column};

/// Records of any type, which must be exactly the expected ones: a vector, or if that is empty the first of a slice.
struct Same<T> {
    values: Mutex<Vec<T>>,
    /// The slice, and how many of it are results.
    space: Mutex<(Vec<T>, usize)>,
    expected: Vec<T>,
}

impl<T> Same<T> {
    /// These, in a vector of this capacity.
    fn of(expected: Vec<T>, capacity: usize) -> Same<T> {
        let values = Mutex::new(Vec::with_capacity(capacity));
        Same { values, space: Mutex::new((Vec::new(), 0)), expected }
    }

    fn write(&self) -> MutexGuard<'_, Vec<T>> {
        self.values.lock().expect("nobody panicked")
    }

    fn space(&self) -> MutexGuard<'_, (Vec<T>, usize)> {
        self.space.lock().expect("nobody panicked")
    }
}

impl<T: Clone> Same<T> {
    /// The column, holding these.
    fn holding(&self, x: &[T]) -> MutexGuard<'_, Vec<T>> {
        let mut values = self.write();
        values.clear();
        values.extend_from_slice(x);
        values
    }
}

impl<T: Clone> Same<T> {
    /// A slice of this length, whose records are `blank` before the first call, and of which `write` says how many are results.
    fn first(
        &self,
        (len, blank): (usize, T),
        write: impl FnOnce(&mut [T]) -> Result<usize, AlgoError>,
    ) -> Result<(), AlgoError> {
        let (space, written) = &mut *self.space();
        space.resize(len, blank);
        *written = write(space)?;
        Ok(())
    }
}

impl<T: PartialEq> Judge for Same<T> {
    fn spoil(&self) {
        self.write().clear();
        *self.space() = (Vec::new(), 0);
    }

    fn check(&self) -> Result<(), String> {
        let (values, space) = (self.write(), self.space());
        let results = if values.is_empty() { &space.0[..space.1] } else { &values[..] };
        if results.len() != self.expected.len() {
            return Err(format!("{} results instead of {}", results.len(), self.expected.len()));
        }
        match results.iter().zip(&self.expected).position(|(y, expected)| y != expected) {
            None => Ok(()),
            Some(place) => Err(format!("result {place} is wrong")),
        }
    }
}

/// Enters monoscan on one thread, in this pool, and on the two of the global one.
fn enter_ours<'a>(
    field: &mut Field<'a>,
    judge: &dyn Judge,
    pool: &'a ThreadPool,
    run: impl Fn() -> Result<(), AlgoError> + Copy + Send + 'a,
) {
    field.enter((Role::Ours, "monoscan", 1), judge, move || pool.install(run).expect("the input is right"));
    field.enter((Role::Ours, "monoscan", 2), judge, move || run().expect("the input is right"));
}

/// The names of rivals, each with a loop that writes results and says how many. The first is the baseline.
type Rivals<'r, T> = &'r [(&'static str, &'r dyn Fn(&mut [T]) -> usize)];

/// monoscan beside loops on one thread, into a slice of this length, whose records are `blank` at first.
fn race_into<T: Copy + PartialEq + Send + Sync>(
    (session, field): (&Session, Field<'_>),
    (len, blank): (usize, T),
    rivals: Rivals<'_, T>,
    ours: impl Fn(&mut [T]) -> Result<usize, AlgoError> + Copy + Send + Sync,
) -> Vec<Row> {
    let mut expected = vec![blank; len];
    let written = rivals[0].1(&mut expected);
    expected.truncate(written);
    let (y, pool) = (&Same::of(expected, 0), &one_thread());
    let mut field = field;
    for (place, &(name, by_loop)) in rivals.iter().enumerate() {
        let role = if place == 0 { Role::Baseline } else { Role::Rival };
        field.enter((role, name, 1), y, move || {
            y.first((len, blank), |y| Ok(by_loop(y))).expect("a loop refuses nothing");
        });
    }
    enter_ours(&mut field, y, pool, || y.first((len, blank), ours));
    field.race(session.effort)
}

fn one_thread() -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(1).build().expect("a thread can be made")
}

/// Keys in order, ten records each on average.
fn keys(seed: u64, len: usize) -> Vec<u32> {
    let mut key = 0;
    column(seed, len, |numbers| {
        key += (numbers.below(10) == 0) as u32;
        key
    })
}

/// Sums of ten records a key on average.
pub(super) fn group_sums(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    let keys = &keys(44, len)[..];
    let x = &column(45, len, |numbers| numbers.below(1000) as f64)[..];
    let by_loop = || {
        let (mut sums, mut last) = (Vec::new(), None);
        for (key, x) in keys.iter().zip(x) {
            if last == Some(key) {
                *sums.last_mut().expect("there is a key") += x;
            } else {
                sums.push(*x);
                last = Some(key);
            }
        }
        sums
    };
    let (y, pool) = (&Output::exact(by_loop()), &one_thread());
    let mut field = field;
    field.enter((Role::Baseline, "plain loop", 1), y, || y.replace(by_loop()));
    let ours = || groups::sums_by_key(keys, x).expect("columns of one length").1;
    field.enter((Role::Ours, "monoscan", 1), y, || y.replace(pool.install(ours)));
    field.enter((Role::Ours, "monoscan", 2), y, || y.replace(ours()));
    let both: Vec<f64> = keys.iter().map(|&key| key.into()).chain(x.iter().copied()).collect();
    field.enter_if((Role::Rival, "polars", 2), y, PythonScan::new(&session.peers, "group_sums float64", &both, y));
    field.race(session.effort)
}

/// The variances of ten records a key on average, far from 0.
pub(super) fn group_variances(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    let keys = &keys(69, len)[..];
    let x = &column(70, len, |numbers| 1e6 + numbers.between(-1.0, 1.0))[..];
    // The variance of each run of keys, by an accumulator that a number is added to.
    fn by_key<A: Default>(keys: &[u32], x: &[f64], add: impl Fn(&mut A, f64), end: impl Fn(&A) -> f64) -> Vec<f64> {
        let (mut variances, mut now) = (Vec::new(), A::default());
        for (i, (key, x)) in keys.iter().zip(x).enumerate() {
            if i > 0 && keys[i - 1] != *key {
                variances.push(end(&now));
                now = A::default();
            }
            add(&mut now, *x);
        }
        if !keys.is_empty() {
            variances.push(end(&now));
        }
        variances
    }
    let welford = |(count, mean, squares): &mut (f64, f64, f64), x: f64| {
        *count += 1.0;
        let from_mean = x - *mean;
        *mean += from_mean / *count;
        *squares += from_mean * (x - *mean);
    };
    let by_loop = || by_key(keys, x, welford, |(count, _, squares)| squares / count);
    let (y, pool) = (&Output::close(by_loop(), 1e-9), &one_thread());
    let mut field = field;
    field.enter((Role::Baseline, "plain loop", 1), y, || y.replace(by_loop()));
    let ours = || {
        let (_, moments) = groups::moments_by_key(keys, x).expect("columns of one length");
        moments.into_iter().map(Moments::variance).collect()
    };
    field.enter((Role::Ours, "monoscan", 1), y, || y.replace(pool.install(ours)));
    field.enter((Role::Ours, "monoscan", 2), y, || y.replace(ours()));
    let by_crate =
        || by_key(keys, x, <average::Variance as average::Estimate>::add, average::Variance::population_variance);
    field.enter((Role::Rival, "average", 1), y, || y.replace(by_crate()));
    let both: Vec<f64> = keys.iter().map(|&key| key.into()).chain(x.iter().copied()).collect();
    let polars = PythonScan::new(&session.peers, "group_variances float64", &both, y);
    field.enter_if((Role::Rival, "polars", 2), y, polars);
    field.race(session.effort)
}

/// Rows of 0 to 9 values, and one in a thousand of up to 10 000.
pub(super) fn sparse_f64(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    sparse(session, field, len, |numbers| {
        let limit = if numbers.below(1000) == 0 { 10_000 } else { 10 };
        numbers.below(limit)
    })
}

/// Rows of 1 to 4 values.
pub(super) fn sparse_thin(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    sparse(session, field, len, |numbers| 1 + numbers.below(4))
}

/// Rows of these lengths, with so many values in all.
fn sparse(session: &Session, field: Field<'_>, len: usize, length_of: impl Fn(&mut Numbers) -> u64) -> Vec<Row> {
    let width = len / 8 + 1;
    let mut numbers = Numbers::new(46);
    let (mut offsets, mut columns) = (vec![0], Vec::with_capacity(len));
    while columns.len() < len {
        let length = (length_of(&mut numbers) as usize).min(width).min(len - columns.len());
        // In order and none twice, as `sprs` wants them.
        let gap = width / length.max(1);
        columns.extend((0..length).map(|k| (k * gap) as u32 + numbers.below(gap as u64) as u32));
        offsets.push(columns.len());
    }
    let values = column(48, len, |numbers| numbers.below(100) as f64);
    let x = &column(49, width, |numbers| numbers.below(100) as f64)[..];
    let matrix = sparse::Csr::new(&offsets, &columns, &values, width).expect("columns are in the matrix");
    let height = matrix.height();
    let by_loop = |y: &mut [f64]| {
        for (ends, y) in offsets.windows(2).zip(y) {
            *y = (ends[0]..ends[1]).map(|k| values[k] * x[columns[k] as usize]).sum();
        }
    };
    let mut expected = vec![0.0; height];
    by_loop(&mut expected);
    let starts: Vec<u32> = offsets.iter().map(|&offset| offset as u32).collect();
    let theirs = sprs::CsMatI::<f64, u32>::new((height, width), starts, columns.clone(), values.clone());
    let (y, pool) = (&Same::of(expected, height), &one_thread());
    let mut field = field;
    field.enter((Role::Baseline, "sprs", 1), y, || {
        let mut y = y.write();
        y.clear();
        y.resize(height, 0.0);
        sprs::prod::mul_acc_mat_vec_csr(theirs.view(), x, &mut y[..]);
    });
    enter_ours(&mut field, y, pool, || {
        let mut y = y.write();
        y.resize(height, 0.0);
        matrix.times_into(x, &mut y)
    });
    field.enter((Role::Rival, "plain loop", 1), y, || {
        let mut y = y.write();
        y.resize(height, 0.0);
        by_loop(&mut y);
    });
    field.race(session.effort)
}

/// A sum's digits, into as many.
type Add = unsafe extern "C" fn(*const u64, *const u64, *mut u64, usize);

/// Two numbers of so many digits of 64 bits, a quarter of them all ones.
pub(super) fn add(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    let digits = |seed| column(seed, len, |numbers| if numbers.below(4) == 0 { u64::MAX } else { numbers.bits() });
    let (a, b) = (&digits(50)[..], &digits(51)[..]);
    let by_loop = |y: &mut [u64]| {
        let mut carry = false;
        for ((a, b), y) in a.iter().zip(b).zip(y) {
            (*y, carry) = a.carrying_add(*b, carry);
        }
    };
    let number = |digits: &[u64]| {
        num_bigint::BigUint::new(digits.iter().flat_map(|digit| [*digit as u32, (digit >> 32) as u32]).collect())
    };
    let (p, q) = (number(a), number(b));
    let mut expected = vec![0; len];
    by_loop(&mut expected);
    let (y, pool) = (&Same::of(expected, len), &one_thread());
    let mut field = field;
    let buffer = || {
        let mut y = y.write();
        y.resize(len, 0);
        y
    };
    field.enter((Role::Baseline, "plain loop", 1), y, move || by_loop(&mut buffer()));
    enter_ours(&mut field, y, pool, move || numbers::add_into(a, b, &mut buffer()).map(drop));
    // SAFETY: `benches/peers/gmp_add.cpp` has this type.
    let gmp =
        session.peers.gmp_add.as_ref().map_err(Clone::clone).and_then(|gmp| unsafe { gmp.function::<Add>("add") });
    // SAFETY: there are as many digits to read and to write as it is told.
    let gmp = gmp.map(|add| move || unsafe { add(a.as_ptr(), b.as_ptr(), buffer().as_mut_ptr(), len) });
    field.enter_if((Role::Rival, "GMP", 1), y, gmp);
    field.enter((Role::Rival, "num-bigint", 1), y, || {
        let sum = &p + &q;
        let mut y = y.write();
        y.clear();
        // Its sum has a digit more where a carry leaves, and none for zeros at the top.
        y.extend(std::hint::black_box(sum).iter_u64_digits().chain(std::iter::repeat(0)).take(len));
    });
    field.race(session.effort)
}

/// Additions of numbers of four digits, each on its own.
pub(super) fn add_rows(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    let rows = |seed| column(seed, len, |numbers| [0; 4].map(|_: u64| numbers.bits()));
    let (a, b) = (&rows(52)[..], &rows(53)[..]);
    let by_loop = |y: &mut Vec<[u64; 4]>| {
        y.clear();
        y.extend(a.iter().zip(b).map(|(a, b)| {
            let mut carry = false;
            std::array::from_fn(|i| {
                let digit;
                (digit, carry) = a[i].carrying_add(b[i], carry);
                digit
            })
        }));
    };
    let mut expected = Vec::new();
    by_loop(&mut expected);
    let (y, pool) = (&Same::of(expected, len), &one_thread());
    let mut field = field;
    field.enter((Role::Baseline, "plain loop", 1), y, || by_loop(&mut y.write()));
    enter_ours(&mut field, y, pool, || {
        let mut y = y.write();
        y.resize(len, [0; 4]);
        numbers::add_rows_into(a, b, &mut y)
    });
    field.race(session.effort)
}
