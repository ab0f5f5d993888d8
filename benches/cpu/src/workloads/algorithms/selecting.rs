//! Selecting, parting and runs, into columns that are there.

use monoscan::algo::{AlgoError, runs, select};

use super::super::Session;
use super::{Same, enter_ours, one_thread};
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
    enter_ours(&mut field, y, pool, || y.first(len, |y| select::select_into(x, flags, y)));
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
    enter_ours(&mut field, y, pool, || y.first(len, |y| select::partition_into(x, flags, y).map(|_| len)));
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
        y.first(2 * len, |y| {
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
    enter_ours(&mut field, y, pool, || y.first(len, |y| runs::unique_into(x, y)));
    field.enter((Role::Rival, "chunk_by", 1), y, || {
        let mut y = y.write();
        y.clear();
        y.extend(x.chunk_by(|a, b| a == b).map(|run| run[0]));
    });
    field.race(session.effort)
}
