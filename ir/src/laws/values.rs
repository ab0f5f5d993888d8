//! Values that laws are tried on: small ones first, the ends of types, powers of two, fractions and
//! noise.

use super::states::Random;
use crate::types::{Constant, Type};

/// Special floats that belong to a component: the operator names them, or only orders and moves them.
pub(crate) type Specials = Vec<Vec<f64>>;

const SMALL: [i64; 6] = [0, 1, 2, -1, 3, -2];
const SMALL_REALS: [f64; 8] = [0.0, 1.0, 2.0, -1.0, 3.0, 0.5, -2.0, -0.75];

/// The i-th small value of a type; after the last one it starts again.
pub(super) fn small(ty: Type, specials: &[f64], i: usize) -> Constant {
    match ty {
        Type::Bool => Constant::from(i % 2 == 1),
        Type::F32 | Type::F64 => {
            let count = specials.len() + SMALL_REALS.len();
            let i = i % count;
            // The first two are zero and one; specials follow, so that few states are enough to meet them.
            let value = match i.checked_sub(2) {
                None => SMALL_REALS[i],
                Some(j) => specials.get(j).copied().unwrap_or_else(|| SMALL_REALS[(i - specials.len()).min(7)]),
            };
            real(ty, value)
        }
        Type::Bytes(lanes) => {
            let lanes = lanes.get();
            let lane = |j: usize| match i % 5 {
                0 => j,
                1 => 0,
                2 => (j + 1) % lanes,
                3 => lanes - 1 - j,
                _ => 255,
            };
            Constant::vector(&(0..lanes).map(|j| lane(j) as u8).collect::<Vec<u8>>())
        }
        _ if ty.is_signed() => ty.of_i64(SMALL[i % SMALL.len()]),
        _ => ty.of_i64((i % 5) as i64),
    }
}

pub(super) fn small_count(ty: Type, specials: &[f64]) -> usize {
    match ty {
        Type::Bool => 2,
        Type::F32 | Type::F64 => specials.len() + 6,
        Type::Bytes(_) => 5,
        _ if ty.is_signed() => SMALL.len(),
        _ => 5,
    }
}

fn real(ty: Type, value: f64) -> Constant {
    if ty == Type::F32 { Constant::from(value as f32) } else { Constant::from(value) }
}

/// Any value of a type: small, extreme, or noise.
pub(crate) fn any(ty: Type, specials: &[f64], random: &mut Random) -> Constant {
    let kind = random.below(8);
    let noise = random.bits();
    match ty {
        Type::Bool => Constant::from(noise & 1 == 1),
        Type::F32 | Type::F64 => match kind {
            0..=3 => {
                let i = random.below(small_count(ty, specials));
                small(ty, specials, i)
            }
            4 | 5 => real(ty, ((noise % 129) as f64 - 64.0) / 8.0),
            6 => real(ty, (noise >> 40) as f64 / (1u64 << 24) as f64 * 2.0 - 1.0),
            _ => real(ty, ((noise >> 48) as f64 - 32768.0) / 32.0),
        },
        Type::Bytes(lanes) => {
            let limit = if kind < 6 { lanes.get() } else { 256 };
            Constant::vector(&(0..lanes.get()).map(|_| random.below(limit) as u8).collect::<Vec<u8>>())
        }
        _ => {
            let max = ty.greatest().bits();
            match kind {
                0..=2 => {
                    let i = random.below(6);
                    small(ty, specials, i)
                }
                3 => Constant::new(ty, max.wrapping_sub((noise % 3) as u128)),
                4 => Constant::new(ty, max.wrapping_add(1 + (noise % 3) as u128)),
                5 => Constant::new(ty, 1 << (noise % ty.bits() as u64)),
                6 => ty.of_i64((noise % 64) as i64 - if ty.is_signed() { 32 } else { 0 }),
                _ => Constant::new(ty, noise as u128),
            }
        }
    }
}

/// The lowest and the highest number of an integer type, and a large power of two of which two still fit.
pub(super) fn ends(ty: Type) -> Vec<Constant> {
    let large = || Constant::new(ty, ty.greatest().bits() / 4 + 1);
    if ty.is_int() { vec![ty.least(), ty.greatest(), large()] } else { Vec::new() }
}

/// One of these values, mostly of the first, or none.
pub(super) fn named(values: &[Constant], random: &mut Random) -> Option<Constant> {
    if values.is_empty() || random.below(4) == 0 {
        return None;
    }
    let limit = 1 + random.below(values.len());
    Some(values[random.below(limit)])
}
