//! A digital filter of two zeros and two poles, constant.

use monoscan::recurrence::Precision;
use monoscan::{Column, ColumnMut};

use super::Session;
use crate::fused;
use crate::output::Output;
use crate::peers::PythonScan;
use crate::race::Field;
use crate::report::{Role, Row};
use crate::two_pass::two_pass;
use bench_shared::loops::{Biquad, HIGH_PASS};
use bench_shared::{data, loops, scans};

pub(super) fn biquad_f32(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    let x = &data::samples(len).map(|x| x as f32).collect::<Vec<_>>()[..];
    let y = Output::close(exactly(HIGH_PASS, x), 1e-5);
    let scan = |precision, threads| scans::biquad_f32(HIGH_PASS, precision, threads).expect("the filter is stable");
    let ours = [
        ("monoscan", 1, scan(Precision::Samples, 1)),
        ("monoscan", 2, scan(Precision::Samples, 2)),
        ("monoscan, state of f64", 1, scan(Precision::Double, 1)),
        ("monoscan, state of f64", 2, scan(Precision::Double, 2)),
    ];
    let mut field = field;

    field.enter((Role::Baseline, "plain loop", 1), &y, || loops::biquad_f32(HIGH_PASS, x, &mut y.write()));
    for (name, threads, scan) in &ours {
        field.enter((Role::Ours, name, *threads), &y, || {
            scan.inclusive_into(&[Column::new(x)], &mut [ColumnMut::new(&mut y.write())]).expect("one length");
        });
    }
    let fused = fused::biquad_f32().map(|fused| {
        let (x, y) = (x, &y);
        move || fused(HIGH_PASS, x, &mut y.write())
    });
    field.enter_if((Role::Rival, "mul_add loop", 1), &y, fused);
    let Biquad { a: [a0, a1, a2], b: [b1, b2] } = HIGH_PASS;
    // SciPy has the feedback on the other side of the equation.
    let lfilter = format!("lfilter float32 {a0} {a1} {a2} / 1 {} {}", -b1, -b2);
    field.enter_if((Role::Rival, "scipy lfilter", 1), &y, PythonScan::new(&session.peers, &lfilter, x, &y));
    field.enter((Role::Rival, "rayon two-pass", 2), &y, || by_hand(HIGH_PASS, x, &mut y.write()));
    field.race(session.effort)
}

/// The results by `f64`.
fn exactly(filter: Biquad, x: &[f32]) -> Vec<f32> {
    let Biquad { a, b } = filter;
    let ([a0, a1, a2], [b1, b2]) = (a.map(f64::from), b.map(f64::from));
    let (mut x1, mut x2, mut y1, mut y2) = (0.0, 0.0, 0.0, 0.0);
    x.iter()
        .map(|&x0| {
            let x0 = f64::from(x0);
            let y0 = a0 * x0 + a1 * x1 + a2 * x2 + b1 * y1 + b2 * y2;
            (x1, x2, y1, y2) = (x0, x1, y0, y1);
            y0 as f32
        })
        .collect()
}

/// The last output and the one before it.
type Past = [f32; 2];

/// Filters each chunk from silence, and adds what the outputs before it turn into on the way through it.
fn by_hand(filter: Biquad, x: &[f32], y: &mut [f32]) {
    let Biquad { a: [a0, a1, a2], b: [b1, b2] } = filter;
    let feed_forward = |i: usize| {
        let before = |back: usize| i.checked_sub(back).map_or(0.0, |place| x[place]);
        a0 * x[i] + a1 * before(1) + a2 * before(2)
    };
    let step = |[y1, y2]: Past, i| [feed_forward(i) + b1 * y1 + b2 * y2, y1];
    let apply = |past: &Past, from_silence: Past, len: usize| {
        let homogeneous = power([[b1, b2], [1.0, 0.0]], len);
        let through = homogeneous.map(|row| row[0] * past[0] + row[1] * past[1]);
        [from_silence[0] + through[0], from_silence[1] + through[1]]
    };
    two_pass(
        y,
        [0.0; 2],
        |range| range.fold([0.0; 2], step),
        apply,
        |range, mut past, y| {
            for (i, y) in range.zip(y) {
                past = step(past, i);
                *y = past[0];
            }
        },
    );
}

/// A matrix to a power, by squaring.
fn power(mut base: [Past; 2], mut exponent: usize) -> [Past; 2] {
    let times = |p: [Past; 2], q: [Past; 2]| {
        p.map(|row| [row[0] * q[0][0] + row[1] * q[1][0], row[0] * q[0][1] + row[1] * q[1][1]])
    };
    let mut result = [[1.0, 0.0], [0.0, 1.0]];
    while exponent > 0 {
        if exponent % 2 == 1 {
            result = times(result, base);
        }
        base = times(base, base);
        exponent /= 2;
    }
    result
}
