//! Selecting, parting, runs, and sorts of keys with values, into columns that are there.

use std::convert::Infallible;

use monoscan::algo::sort::{Order, sort_with_values};
use monoscan::algo::{AlgoError, runs, select};

use super::super::Session;
use super::{Same, enter_ours, one_thread, race_into};
use crate::race::Field;
use crate::report::{Role, Row};
use bench_shared::data::column;

/// One of two records is kept, at random.
pub(in super::super) fn select_i32(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    let x = &column(42, len, |numbers| numbers.bits() as i32)[..];
    let flags = &column(43, len, |numbers| numbers.below(2) == 0)[..];
    let kept = || x.iter().zip(flags).filter(|(_, flag)| **flag).map(|(x, _)| *x);
    let (y, pool) = (&Same::of(kept().collect(), len), &one_thread());
    let mut field = field;
    // What is not to be kept is copied first: `retain` is in place.
    field.enter((Role::Baseline, "Vec::retain", 1), y, || {
        let mut flags = flags.iter();
        y.holding(x).retain(|_| *flags.next().expect("a flag for each record"));
    });
    enter_ours(&mut field, y, pool, || y.first((len, 0), |y| select::select_into(x, flags, y)));
    field.enter((Role::Rival, "filter", 1), y, || {
        let mut y = y.write();
        y.clear();
        y.extend(kept());
    });
    field.race(session.effort)
}

/// One of two records goes to the front, at random.
pub(in super::super) fn partition_i32(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    let x = &column(62, len, |numbers| numbers.bits() as i32)[..];
    let flags = &column(63, len, |numbers| numbers.below(2) == 0)[..];
    // The others are gathered beside, and copied behind.
    let by_loop = |y: &mut Vec<i32>| {
        let mut others = Vec::with_capacity(len);
        y.clear();
        for (&x, &flag) in x.iter().zip(flags) {
            if flag { y.push(x) } else { others.push(x) }
        }
        y.extend_from_slice(&others);
    };
    let of = |wanted: bool| x.iter().zip(flags).filter(move |(_, flag)| **flag == wanted).map(|(x, _)| *x);
    let (y, pool) = (&Same::of(of(true).chain(of(false)).collect(), len), &one_thread());
    let mut field = field;
    field.enter((Role::Baseline, "plain loop", 1), y, || by_loop(&mut y.write()));
    enter_ours(&mut field, y, pool, || y.first((len, 0), |y| select::partition_into(x, flags, y).map(|_| len)));
    field.enter((Role::Rival, "two filters", 1), y, || {
        let mut y = y.write();
        y.clear();
        y.extend(of(true).chain(of(false)));
    });
    field.race(session.effort)
}

/// Values that repeat four times on average.
fn repeated(seed: u64, len: usize) -> Vec<u32> {
    let mut value = 0;
    column(seed, len, |numbers| {
        value = if numbers.below(4) == 0 { numbers.below(100) as u32 } else { value };
        value
    })
}

/// The value and the length of each run, one behind the other.
pub(in super::super) fn encode_u32(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    let x = &repeated(64, len)[..];
    let by_loop = |y: &mut [u32]| {
        let (values, lengths) = y.split_at_mut(len);
        let mut runs = 0;
        for (i, &value) in x.iter().enumerate() {
            if i == 0 || value != x[i - 1] {
                (values[runs], lengths[runs]) = (value, 0);
                runs += 1;
            }
            lengths[runs - 1] += 1;
        }
        runs
    };
    let chunks = || x.chunk_by(|a, b| a == b);
    let expected: Vec<u32> = chunks().map(|run| run[0]).chain(chunks().map(|run| run.len() as u32)).collect();
    let (y, pool) = (&Same::of(expected, 2 * len), &one_thread());
    // Lengths, which have the second half, are moved behind the values.
    let in_halves = |encode: &dyn Fn(&mut [u32]) -> Result<usize, AlgoError>| {
        y.first((2 * len, 0), |y| {
            let runs = encode(y)?;
            y.copy_within(len..len + runs, runs);
            Ok(2 * runs)
        })
    };
    let mut field = field;
    field.enter((Role::Baseline, "plain loop", 1), y, || {
        in_halves(&|y| Ok(by_loop(y))).expect("a loop refuses nothing");
    });
    enter_ours(&mut field, y, pool, || {
        in_halves(&|y| {
            let (values, lengths) = y.split_at_mut(len);
            runs::encode_into(x, values, lengths)
        })
    });
    field.race(session.effort)
}

/// The first of each run.
pub(in super::super) fn unique_u32(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    let x = &repeated(65, len)[..];
    let (y, pool) = (&Same::of(x.chunk_by(|a, b| a == b).map(|run| run[0]).collect(), len), &one_thread());
    let mut field = field;
    // As for `retain`, all records are copied first.
    field.enter((Role::Baseline, "Vec::dedup", 1), y, || y.holding(x).dedup());
    enter_ours(&mut field, y, pool, || y.first((len, 0), |y| runs::unique_into(x, y)));
    field.enter((Role::Rival, "chunk_by", 1), y, || {
        let mut y = y.write();
        y.clear();
        y.extend(x.chunk_by(|a, b| a == b).map(|run| run[0]));
    });
    field.race(session.effort)
}

/// The first key and the first value of each run of keys, one behind the other.
pub(in super::super) fn unique_by_key(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    let (keys, values) = (&repeated(75, len)[..], &column(76, len, |numbers| numbers.bits() as u32)[..]);
    // Values, which have the second half, are moved behind the keys.
    fn in_halves<E>(y: &mut [u32], write: impl Fn(&mut [u32], &mut [u32]) -> Result<usize, E>) -> Result<usize, E> {
        let half = y.len() / 2;
        let (first_keys, first_values) = y.split_at_mut(half);
        let runs = write(first_keys, first_values)?;
        y.copy_within(half..half + runs, runs);
        Ok(2 * runs)
    }
    let by_loop = |first_keys: &mut [u32], first_values: &mut [u32]| {
        let mut runs = 0;
        for (place, (&key, &value)) in keys.iter().zip(values).enumerate() {
            if place == 0 || key != keys[place - 1] {
                (first_keys[runs], first_values[runs]) = (key, value);
                runs += 1;
            }
        }
        Ok::<usize, Infallible>(runs)
    };
    let by_loop = |y: &mut [u32]| in_halves(y, by_loop).unwrap_or_else(|none| match none {});
    race_into((session, field), (2 * len, 0), &[("plain loop", &by_loop)], |y| {
        in_halves(y, |first_keys, first_values| runs::unique_by_key_into((keys, values), first_keys, first_values))
    })
}

/// Runs of four records on average.
pub(in super::super) fn decode_u32(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    let (values, lengths) = &runs::encode(&repeated(77, len)).expect("they are few");
    let fill = |y: &mut [u32]| {
        let mut place = 0;
        for (&value, &length) in values.iter().zip(lengths) {
            y[place..place + length as usize].fill(value);
            place += length as usize;
        }
        place
    };
    let repeat = |y: &mut [u32]| {
        let all = values.iter().zip(lengths);
        let records = all.flat_map(|(&value, &length)| std::iter::repeat_n(value, length as usize));
        y.iter_mut().zip(records).map(|(y, record)| *y = record).count()
    };
    race_into((session, field), (len, 0), &[("plain loop", &fill), ("repeat_n", &repeat)], |y| {
        runs::decode_into(values, lengths, y)
    })
}

/// Records of three classes, at random.
pub(in super::super) fn partition3_i32(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    let x = &column(78, len, |numbers| numbers.bits() as i32)[..];
    let classes = &column(79, len, |numbers| numbers.below(3) as u8)[..];
    let by_counts = |y: &mut [i32]| {
        let mut counts = [0; 3];
        classes.iter().for_each(|&class| counts[class as usize] += 1);
        let mut places = [0, counts[0], counts[0] + counts[1]];
        for (&x, &class) in x.iter().zip(classes) {
            y[places[class as usize]] = x;
            places[class as usize] += 1;
        }
        len
    };
    race_into((session, field), (len, 0), &[("plain loop", &by_counts)], |y| {
        select::partition3_into(x, classes, y).map(|_| len)
    })
}

/// Random keys with the places they were at. Pairs are made of the columns before, and columns of the pairs after, as others sort pairs.
pub(in super::super) fn sort_with_values_u32(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    let keys = &column(80, len, |numbers| numbers.bits() as u32)[..];
    let places = &(0..len as u32).collect::<Vec<u32>>()[..];
    let by_pairs = |y: &mut [u32], sort: fn(&mut [(u32, u32)])| {
        let mut pairs: Vec<(u32, u32)> = keys.iter().copied().zip(places.iter().copied()).collect();
        sort(&mut pairs);
        let (keys, values) = y.split_at_mut(len);
        for ((key, value), pair) in keys.iter_mut().zip(values).zip(pairs) {
            (*key, *value) = pair;
        }
        2 * len
    };
    let by_std = |y: &mut [u32]| by_pairs(y, |pairs| pairs.sort_by_key(|pair| pair.0));
    let by_radsort = |y: &mut [u32]| by_pairs(y, |pairs| radsort::sort_by_key(pairs, |pair| pair.0));
    race_into((session, field), (2 * len, 0), &[("sort_by_key", &by_std), ("radsort", &by_radsort)], |y| {
        let (y_keys, y_values) = y.split_at_mut(len);
        y_keys.copy_from_slice(keys);
        y_values.copy_from_slice(places);
        sort_with_values(y_keys, y_values, Order::Ascending).map(|()| 2 * len)
    })
}
