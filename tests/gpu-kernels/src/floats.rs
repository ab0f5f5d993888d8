//! Monoids of floats over records that are special: NaN, infinities, zeros of both signs, denormal
//! numbers.
//!
//! Records are such that operators round nothing, so the association changes no bit. The first
//! record is often NaN or −0: what a run begins with shows whether it begins with the identity.

use monoscan::ops::{Affine, ArgMax, Max, Min, Pair, Product, Segmented, Sum};

use crate::Case;
use scan_kit::Random;

/// Mostly the first of these, so that runs begin with it and go on with it.
fn pick<T: Copy>(random: &mut Random, numbers: &[T]) -> T {
    if random.chance(3) { *random.pick(numbers) } else { numbers[0] }
}

macro_rules! cases {
    ($float:ident) => {{
        type F = $float;
        const DENORMAL: F = F::from_bits(1);
        const ALL: [F; 10] =
            [F::NAN, F::INFINITY, F::NEG_INFINITY, 0.0, -0.0, DENORMAL, -DENORMAL, F::MAX, F::MIN, 0.3];
        const INTEGERS: [F; 7] = [-0.0, F::NAN, F::INFINITY, 0.0, 1.0, -1.0, 3.0];
        const SIGNS: [F; 6] = [-0.0, 1.0, -1.0, 0.0, F::NAN, F::INFINITY];
        const ADDED: [F; 5] = [0.0, F::NAN, F::INFINITY, 1.0, -1.0];
        vec![
            Case::of_states(|r, _| Sum(pick(r, &INTEGERS))),
            Case::of_states(|r, _| Product(pick(r, &SIGNS))),
            Case::of_states(|r, _| Pair(Max(pick(r, &ALL)), Min(pick(r, &ALL)))),
            Case::of_states(|r, i| ArgMax { value: pick(r, &ALL), index: i as u32 }),
            Case::of_states(|r, _| Segmented { start: r.chance(4), value: Max(pick(r, &ALL)) }),
            Case::of_states(|r, _| Affine { a: if r.chance(2) { 1.0 } else { -1.0 }, b: pick(r, &ADDED) }),
        ]
    }};
}

/// Monoids of both float types.
pub fn of_floats() -> Vec<Case> {
    let mut all = cases!(f32);
    all.extend(cases!(f64));
    all
}
