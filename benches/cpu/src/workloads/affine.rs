//! `y[i] = a[i]·y[i−1] + b[i]`: first-order recurrences whose coefficients vary.

use std::ops::Range;

use bytemuck::Pod;
use monoscan::prelude::*;
use rayon::prelude::*;
use rayon_scan::ScanParallelIterator;

use super::Session;
use crate::fused;
use crate::output::Output;
use crate::race::Field;
use crate::report::{Role, Row};
use crate::two_pass::two_pass;
use bench_shared::scans::Recurrences;
use bench_shared::{data, loops, scans};

pub(super) fn affine_f32(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    f32_by(session, field, data::factors(len).map(|a| a as f32).collect())
}

pub(super) fn small_factors_f32(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    f32_by(session, field, data::small_factors(len).map(|a| a as f32).collect())
}

fn f32_by(session: &Session, field: Field<'_>, a: Vec<f32>) -> Vec<Row> {
    let b: Vec<f32> = data::samples(a.len()).map(|b| b as f32).collect();
    let y = Output::close(exactly(&a, &b).map(|y| y as f32).collect(), 1e-5);
    let ours = [1, 2].map(|threads| scans::affine_f32(threads).expect("affine maps are a monoid"));
    let of = Of { name: "affine_f32", plain: loops::affine_f32, fused: fused::affine_f32(), ours };
    affine(session, field, (&a, &b), &y, &of)
}

pub(super) fn affine_f64(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    let (a, b): (Vec<f64>, Vec<f64>) = (data::factors(len).collect(), data::samples(len).collect());
    let y = Output::close(exactly(&a, &b).collect(), 1e-13);
    let ours = [1, 2].map(|threads| scans::affine_f64(threads).expect("affine maps are a monoid"));
    let of = Of { name: "affine_f64", plain: loops::affine_f64, fused: fused::affine_f64(), ours };
    affine(session, field, (&a, &b), &y, &of)
}

/// The results in `f64`.
fn exactly<T: Copy + Into<f64>>(a: &[T], b: &[T]) -> impl Iterator<Item = f64> {
    let mut state = 0.0;
    a.iter().zip(b).map(move |(&a, &b)| {
        state = a.into() * state + b.into();
        state
    })
}

/// A sequential loop.
type Loop<T> = fn(&[T], &[T], &mut [T]);

/// The part that differs between types.
struct Of<T: Real> {
    name: &'static str,
    plain: Loop<T>,
    fused: Result<Loop<T>, String>,
    ours: [Recurrences<T>; 2],
}

/// The longest column for which rayon-scan, which keeps all states in vectors of its own, gets the memory.
const MOST_FOR_RAYON_SCAN: usize = 1 << 24;

fn affine<T>(session: &Session, field: Field<'_>, (a, b): (&[T], &[T]), y: &Output<T>, of: &Of<T>) -> Vec<Row>
where
    T: Real + Pod + Into<f64> + From<u8>,
{
    let mut field = field;
    field.enter((Role::Baseline, "plain loop", 1), y, || (of.plain)(a, b, &mut y.write()[..]));
    for (threads, scan) in (1..).zip(&of.ours) {
        let run = || {
            scan.inclusive_into((a, b), &mut y.write()[..]).expect("columns of one length");
        };
        field.enter((Role::Ours, "monoscan", threads), y, run);
    }
    let fused = of.fused.clone();
    field.enter_if((Role::Rival, "mul_add loop", 1), y, fused.map(|fused| move || fused(a, b, &mut y.write()[..])));
    let tbb_scan = session.peers.tbb_scan.as_ref().map_err(Clone::clone).and_then(|native| {
        // SAFETY: so are `affine_f32` and `affine_f64` declared.
        unsafe { native.function::<unsafe extern "C" fn(*const T, *const T, *mut T, usize)>(of.name) }
    });
    let tbb_scan = tbb_scan.map(|scan| {
        // SAFETY: all columns have this length.
        move || unsafe { scan(a.as_ptr(), b.as_ptr(), y.write().as_mut_ptr(), a.len()) }
    });
    field.enter_if((Role::Rival, "TBB parallel_scan", 2), y, tbb_scan);
    field.enter((Role::Rival, "rayon two-pass", 2), y, || by_hand(a, b, &mut y.write()[..]));
    let rayon_scan = (Role::Rival, "rayon-scan", 2);
    if a.len() <= MOST_FOR_RAYON_SCAN {
        field.enter(rayon_scan, y, || y.replace(by_rayon_scan(a, b)));
    } else {
        field.absent(rayon_scan, "needs several times the memory of the columns".into());
    }
    field.race(session.effort)
}

fn by_hand<T: Real>(a: &[T], b: &[T], y: &mut [T]) {
    let elements = |range: Range<usize>| a[range.clone()].iter().zip(&b[range]);
    let reduce =
        |range| elements(range).fold((T::ONE, T::ZERO), |(factor, addend), (&a, &b)| (a * factor, a * addend + b));
    two_pass(
        y,
        T::ZERO,
        reduce,
        |&state, (factor, addend), _| factor * state + addend,
        |range, mut state, y| {
            for ((&a, &b), y) in elements(range).zip(y) {
                state = a * state + b;
                *y = state;
            }
        },
    );
}

fn by_rayon_scan<T: Real>(a: &[T], b: &[T]) -> Vec<T> {
    let maps = a.par_iter().copied().zip(b.par_iter().copied());
    maps.scan(|p, q| (q.0 * p.0, q.0 * p.1 + q.1), (T::ONE, T::ZERO)).map(|map| map.1).collect()
}
