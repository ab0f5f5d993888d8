//! Totals of segments, and histograms, beside their loops.

use monoscan::algo::groups;
use monoscan::ops::Max;

use super::super::Session;
use super::race_into;
use crate::race::Field;
use crate::report::Row;
use bench_shared::data::column;

fn maxima(len: usize) -> Vec<Max<i64>> {
    column(85, len, |numbers| Max(numbers.bits() as i64))
}

/// Segments of ten records on average, that begin at flags.
pub(in super::super) fn totals_by_flags(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    let (heads, x) = (&column(86, len, |numbers| numbers.below(10) == 0)[..], &maxima(len)[..]);
    let by_loop = |y: &mut [Max<i64>]| {
        let mut segments = 0;
        for (place, (&head, &x)) in heads.iter().zip(x).enumerate() {
            if head || place == 0 {
                y[segments] = x;
                segments += 1;
            } else {
                y[segments - 1].0 = y[segments - 1].0.max(x.0);
            }
        }
        segments
    };
    race_into((session, field), (len, Max(7)), &[("plain loop", &by_loop)], |y| {
        groups::totals_by_flags_into(heads, x, y)
    })
}

/// Segments of 0 to 19 records.
pub(in super::super) fn totals_by_offsets(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    let x = &maxima(len)[..];
    let mut offsets = vec![0];
    for length in column(87, len, |numbers| numbers.below(20) as usize) {
        match offsets[offsets.len() - 1] {
            last if last < len => offsets.push((last + length).min(len)),
            _ => break,
        }
    }
    *offsets.last_mut().expect("there is one") = len;
    let offsets = &offsets[..];
    let segments = offsets.len() - 1;
    let by_loop = |y: &mut [Max<i64>]| {
        for (ends, y) in offsets.windows(2).zip(&mut *y) {
            *y = x[ends[0]..ends[1]].iter().fold(Max(i64::MIN), |total, x| Max(total.0.max(x.0)));
        }
        segments
    };
    race_into((session, field), (segments, Max(7)), &[("plain loop", &by_loop)], |y| {
        groups::totals_by_offsets_into(offsets, x, y).map(|()| segments)
    })
}

/// A thousand values. A loop that knows them has a counter for each.
pub(in super::super) fn histogram(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    const VALUES: usize = 1000;
    let x = &column(88, len, |numbers| numbers.below(VALUES as u64) as u32)[..];
    // Counts are behind the values.
    let by_loop = |y: &mut [u32]| {
        let mut counters = [0; VALUES];
        x.iter().for_each(|&x| counters[x as usize] += 1);
        let different = counters.iter().filter(|&&count| count > 0).count();
        let (values, counts) = y.split_at_mut(different);
        let found = (0..).zip(counters).filter(|(_, count)| *count > 0);
        for ((value, count), found) in values.iter_mut().zip(counts).zip(found) {
            (*value, *count) = found;
        }
        2 * different
    };
    race_into((session, field), (2 * VALUES, 7), &[("plain loop", &by_loop)], |y| {
        let (values, counts) = y.split_at_mut(VALUES);
        let different = groups::histogram_into(x, values, counts)?;
        y.copy_within(VALUES..VALUES + different, different);
        Ok(2 * different)
    })
}
