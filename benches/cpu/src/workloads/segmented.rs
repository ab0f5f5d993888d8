//! Running sums that start over at flags.

use std::ops::Range;

use rayon::prelude::*;
use rayon_scan::ScanParallelIterator;

use super::Session;
use crate::output::Output;
use crate::race::Field;
use crate::report::{Role, Row};
use crate::two_pass::two_pass;
use bench_shared::{data, loops, scans};

/// In C.
type Foreign = unsafe extern "C" fn(*const bool, *const i32, *mut i32, usize);

pub(super) fn segmented_i32(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    let (heads, x) = (&data::heads(len)[..], &data::small_integers::<i32>(len)[..]);
    let mut expected = vec![0; len];
    loops::segmented_i32(heads, x, &mut expected);
    let y = &Output::exact(expected);
    let ours = [1, 2].map(|threads| scans::segmented_i32(threads).expect("segmented sums are a monoid"));
    let mut field = field;

    field.enter((Role::Baseline, "plain loop", 1), y, || loops::segmented_i32(heads, x, &mut y.write()[..]));
    for (threads, scan) in (1..).zip(&ours) {
        let run = || {
            scan.inclusive_into((heads, x), &mut y.write()[..]).expect("columns of one length");
        };
        field.enter((Role::Ours, "monoscan", threads), y, run);
    }
    let tbb_scan = session.peers.tbb_scan.as_ref().map_err(Clone::clone).and_then(|native| {
        // SAFETY: so it is declared.
        unsafe { native.function::<Foreign>("segmented_i32") }
    });
    let tbb_scan = tbb_scan.map(|scan| {
        // SAFETY: all columns have this length.
        move || unsafe { scan(heads.as_ptr(), x.as_ptr(), y.write().as_mut_ptr(), x.len()) }
    });
    field.enter_if((Role::Rival, "TBB parallel_scan", 2), y, tbb_scan);
    field.enter((Role::Rival, "rayon two-pass", 2), y, || by_hand(heads, x, &mut y.write()[..]));
    field.enter((Role::Rival, "rayon-scan", 2), y, || {
        let records = heads.par_iter().copied().zip(x.par_iter().copied());
        y.replace(records.scan(join, (false, 0)).map(|(_, sum)| sum).collect());
    });
    field.race(session.effort)
}

/// Whether a segment starts in a range, and the sum since the last start.
type Segment = (bool, i32);

fn join(p: &Segment, q: &Segment) -> Segment {
    (p.0 || q.0, if q.0 { q.1 } else { p.1.wrapping_add(q.1) })
}

/// A chunk's sum goes back to its last head and no further.
fn by_hand(heads: &[bool], x: &[i32], y: &mut [i32]) {
    let reduce = |range: Range<usize>| {
        let last = heads[range.clone()].iter().rposition(|&head| head);
        let start = range.start + last.unwrap_or(0);
        (last.is_some(), x[start..range.end].iter().fold(0, |sum: i32, &x| sum.wrapping_add(x)))
    };
    two_pass(
        y,
        0,
        reduce,
        |&carry, sum, _| join(&(false, carry), &sum).1,
        |range, mut sum, y| {
            for ((&head, &x), y) in heads[range.clone()].iter().zip(&x[range]).zip(y) {
                sum = if head { x } else { sum.wrapping_add(x) };
                *y = sum;
            }
        },
    );
}
