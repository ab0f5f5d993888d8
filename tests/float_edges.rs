//! NaN, infinities, zeros of both signs and denormal numbers through every float monoid of
//! `monoscan::ops` and every kind of call. Results are bit for bit those of the formula `start ⊕
//! x[0] ⊕ x[1] ⊕ …`, by the interpreter of programs; one NaN is as good as another.
//!
//! Floats may be regrouped, so either every record is a run of its own, where there is nothing to
//! regroup, or records are such that the operator rounds nothing: then regrouping changes no bit.

use monoscan::lang::to_constants;
use monoscan::ops::*;
use monoscan::{PlanOptions, prelude::*};
use monoscan_ir::Mode;
use scan_kit::Random;
use scan_kit::calls::{Asked, Over, Subject};

/// Random calls for each plan.
const CALLS: usize = 30;

/// Small tiles and the planner's own, by scalar kernels and in vectors.
#[allow(clippy::needless_update, reason = "what else a plan may choose is the planner's")]
fn plans() -> Vec<PlanOptions> {
    let tiny = |interleave, block, strips, direct, vector| PlanOptions {
        interleave: Some(interleave),
        block: Some(block),
        strips: Some(strips),
        direct: Some(direct),
        vector: Some(vector),
        ..PlanOptions::default()
    };
    vec![tiny(2, 3, 2, 0, false), tiny(4, 16, 1, 5, true), tiny(1, 40, 2, 0, true), PlanOptions::default()]
}

/// The records as a column.
fn column<M: ScanType>(subject: &Subject, records: &[M]) -> Vec<u8> {
    let layout = &subject.reference.program.inputs[0];
    let size = layout.size as usize;
    let mut bytes = vec![0; records.len() * size];
    for (record, bytes) in records.iter().zip(bytes.chunks_mut(size)) {
        for (field, component) in layout.fields.iter().zip(to_constants(record)) {
            bytes[field.offset as usize..][..field.ty.size()].copy_from_slice(&component.to_bytes());
        }
    }
    bytes
}

fn subjects<M: Monoid>() -> impl Iterator<Item = Subject> {
    let scan = Scan::<M>::new().unwrap();
    plans().into_iter().map(move |options| Subject::new(scan.as_dyn().program(), options))
}

/// A state that the identity leaves as it is.
fn state<M: Monoid>(value: M) -> M {
    M::identity().combine(value)
}

/// Every record a run of its own, in all the ways in which that can be said. What is written is looked at: a total is
/// `start ⊕ (e ⊕ x)`, which is regrouped.
fn alone<M: Monoid>(make: impl Fn(&mut Random) -> M) {
    let mut random = Random(1);
    for subject in subjects::<M>() {
        for len in [1, 2, 19] {
            let records: Vec<M> = (0..len).map(|_| make(&mut random)).collect();
            let inputs = [column(&subject, &records)];
            let rows = |step| Over::Rows { planes: len / step, pitch: step, len: 1, step };
            let mut shapes = vec![Over::Heads(vec![true; len]), Over::Offsets((0..=len).collect()), rows(1), rows(len)];
            shapes.extend((len == 1).then_some(Over::Line));
            for over in shapes {
                for bits in 0..16 {
                    let is = |bit: u32| bits >> bit & 1 == 1;
                    let asked = Asked {
                        mode: if is(0) { Mode::Exclusive } else { Mode::Inclusive },
                        reversed: is(1),
                        init: is(2).then(|| to_constants(&state(make(&mut random)))),
                        threads: if is(3) { 3 } else { 1 },
                        over: over.clone(),
                        ..Asked::line(len)
                    };
                    let written = subject.compare_written(&asked, &inputs);
                    assert!(
                        written.is_ok(),
                        "{}\n{asked:?}\n{}",
                        written.err().unwrap_or_default(),
                        *subject.reference.program
                    );
                }
            }
        }
    }
}

/// Random calls over records that no association rounds.
fn exact<M: Monoid>(make: impl Fn(&mut Random) -> M) {
    let mut random = Random(2);
    for subject in subjects::<M>() {
        for _ in 0..CALLS {
            let seed = |random: &mut Random| to_constants(&state(make(random)));
            let asked = Asked::random(&mut random, subject.scan().plan(), seed);
            let records: Vec<M> = (0..asked.len).map(|_| make(&mut random)).collect();
            subject.must_agree(&asked, &[column(&subject, &records)]);
        }
    }
}

macro_rules! float_monoids {
    ($($module:ident $float:ident;)*) => {$(
        mod $module {
            use super::*;

            type F = $float;

            const DENORMAL: F = F::from_bits(1);

            /// Everything that is special, and ordinary numbers.
            const ALL: [F; 14] = [
                F::NAN, F::INFINITY, F::NEG_INFINITY, 0.0, -0.0, DENORMAL, -DENORMAL, F::MIN_POSITIVE / 2.0, 1.0, -1.0, 0.3,
                -7.25, F::MAX, F::MIN,
            ];
            /// Values that products of zeros leave as they are.
            const FINITE: [F; 9] = [F::NAN, 0.0, -0.0, DENORMAL, -DENORMAL, 1.0, -1.0, 0.3, -7.25];
            /// Small sums of these are exact.
            const INTEGERS: [F; 8] = [F::NAN, F::INFINITY, F::NEG_INFINITY, 0.0, -0.0, 1.0, -1.0, 3.0];
            /// So are sums of these.
            const DENORMALS: [F; 7] = [0.0, -0.0, DENORMAL, -DENORMAL, 5.0 * DENORMAL, F::INFINITY, F::NAN];
            /// Products of these round nothing.
            const SIGNS: [F; 9] = [1.0, -1.0, 1.0, -1.0, 0.0, -0.0, F::INFINITY, F::NEG_INFINITY, F::NAN];

            fn pick(random: &mut Random, numbers: &[F]) -> F {
                // Long runs of one number too: most of what is special is absorbed by what comes next.
                if random.chance(3) { *random.pick(numbers) } else { numbers[0] }
            }

            fn any(random: &mut Random) -> F {
                *random.pick(&ALL)
            }

            fn finite(random: &mut Random) -> F {
                *random.pick(&FINITE)
            }

            #[test]
            fn sums_and_products() {
                alone(|random| Sum(any(random)));
                for numbers in [&INTEGERS[3..], &INTEGERS[4..], &DENORMALS[1..], &INTEGERS[..], &DENORMALS[..]] {
                    exact(|random| Sum(pick(random, numbers)));
                }
                alone(|random| Product(any(random)));
                exact(|random| Product(pick(random, &SIGNS)));
                exact(|random| Product(pick(random, &SIGNS[..6])));
            }

            #[test]
            fn extremes() {
                alone(|random| Max(any(random)));
                alone(|random| Min(any(random)));
                exact(|random| Max(pick(random, &ALL)));
                exact(|random| Min(pick(random, &ALL)));
                exact(|random| Dual(Max(pick(random, &ALL))));
                exact(|random| Pair(Min(any(random)), Max(pick(random, &ALL))));
            }

            #[test]
            fn extremes_and_where_they_stand() {
                let index = |random: &mut Random| random.below(9) as u32;
                alone(|random| ArgMax { value: any(random), index: index(random) });
                exact(|random| ArgMax { value: pick(random, &ALL), index: index(random) });
                exact(|random| ArgMin { value: pick(random, &ALL), index: index(random) });
            }

            #[test]
            fn segments_of_the_operator_itself() {
                alone(|random| Segmented { start: random.chance(2), value: Max(any(random)) });
                exact(|random| Segmented { start: random.chance(4), value: Max(pick(random, &ALL)) });
                exact(|random| Segmented { start: random.chance(4), value: Sum(pick(random, &INTEGERS)) });
            }

            #[test]
            fn maps() {
                alone(|random| Affine { a: finite(random), b: any(random) });
                // A zero that is added hides the signs that regrouping gives to zeros.
                let numbers = [0.0, F::NAN, F::INFINITY, 1.0, -1.0, 3.0];
                exact(|random| Affine { a: if random.chance(2) { 1.0 } else { -1.0 }, b: pick(random, &numbers) });
                alone(|random| MaxPlus { a: any(random), b: any(random) });
                let small = |random: &mut Random| random.below(5) as F - 2.0;
                exact(|random| MaxPlus { a: small(random), b: pick(random, &INTEGERS) });
            }

            #[test]
            fn products_of_matrices() {
                alone(|random| Matrix::<F, 2> { rows: std::array::from_fn(|_| std::array::from_fn(|_| finite(random))) });
                alone(|random| Complex { re: finite(random), im: finite(random) });
                alone(|random| Quaternion { w: finite(random), x: finite(random), y: finite(random), z: finite(random) });
                let entry = |random: &mut Random| if random.chance(200) { F::NAN } else { 1.0 - 2.0 * random.below(2) as F };
                exact(|random| {
                    let (up, down) = (entry(random), entry(random));
                    let rows = if random.chance(2) { [[up, 0.0], [0.0, down]] } else { [[0.0, up], [down, 0.0]] };
                    Matrix::<F, 2> { rows }
                });
            }

            #[test]
            fn statistics() {
                alone(|random| LogSumExp(any(random)));
                exact(|random| LogSumExp(pick(random, &[F::NEG_INFINITY, F::INFINITY, F::NAN])));
                alone(|random| Moments { count: random.below(3) as F, mean: any(random), squares: random.below(2) as F });
                let three = |count| Moments { count, mean: 3.0, squares: 0.0 };
                let none = Moments { count: 0.0, mean: 0.0, squares: 0.0 };
                exact(|random| *random.pick(&[three(1.0), three(2.0), none]));
                exact(|random| if random.chance(50) { Moments { mean: F::NAN, ..three(1.0) } } else { three(1.0) });
            }
        }
    )*};
}

float_monoids! {
    single f32;
    double f64;
}

#[test]
fn a_line_and_a_segment_begin_alike() -> Result<(), monoscan::Error> {
    let scan = Scan::<Max<f32>>::builder()
        .lift(scan!(|x: f32| -> Max<f32> { Max(x) }))
        .project(scan!(|max: Max<f32>| -> f32 { max.0 }))
        .build()?;
    let x = [f32::NAN, f32::NAN, 1.0];
    let low = f32::NEG_INFINITY;
    assert_eq!(scan.inclusive(&x)?, [low, low, 1.0]);
    assert_eq!(scan.segmented(&[true; 3]).inclusive(&x)?, [low, low, 1.0]);
    assert_eq!(scan.segmented(&[0usize, 1, 2, 3]).inclusive(&x)?, [low, low, 1.0]);
    assert_eq!(scan.rows(monoscan::Rows::new(3, 1, 1)?).inclusive(&x)?, [low, low, 1.0]);
    Ok(())
}
