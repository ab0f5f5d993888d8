//! Random choices: numbers below a bound, types and constants.

use super::SplitMix64;
use crate::types::{Constant, Lanes, Type};

/// Random choices, the same for the same seed.
pub(super) struct Rng(SplitMix64);

impl Rng {
    pub(super) fn new(seed: u64) -> Rng {
        Rng(SplitMix64(seed))
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0.next()
    }

    /// A number below `count`, which is not 0.
    pub(super) fn below(&mut self, count: usize) -> usize {
        (self.next() % count as u64) as usize
    }

    /// True once in `times`.
    pub(super) fn chance(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of the items, of which there is at least one.
    pub(super) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    pub(super) fn lanes(&mut self) -> Lanes {
        let count = if self.chance(2) { *self.pick(&[1, 4, 8, 16]) } else { 1 + self.below(16) };
        Lanes::new(count).unwrap_or(Lanes::MAX)
    }

    pub(super) fn ty(&mut self, vectors: bool) -> Type {
        if vectors && self.chance(6) { Type::Bytes(self.lanes()) } else { *self.pick(&Type::SCALARS) }
    }

    pub(super) fn int_ty(&mut self) -> Type {
        loop {
            let ty = self.ty(false);
            if ty.is_int() {
                return ty;
            }
        }
    }

    /// A constant of type `ty`: small numbers and the corners of the type as often as any other.
    pub(super) fn constant(&mut self, ty: Type) -> Constant {
        let any = Constant::new(ty, u128::from(self.next()) << 64 | u128::from(self.next()));
        match ty {
            Type::Bytes(lanes) if self.chance(2) => {
                let bytes: Vec<u8> = (0..lanes.get()).map(|_| self.below(lanes.get() + 1) as u8).collect();
                Constant::vector(&bytes)
            }
            Type::F32 | Type::F64 => self.float(ty),
            _ if self.chance(3) => any,
            _ if self.chance(2) && ty.is_int() => {
                let high = ty.mask() >> u32::from(ty.is_signed());
                Constant::new(ty, *self.pick(&[0, 1, ty.mask(), high, high + 1]))
            }
            _ if ty.is_vector() => any,
            _ => ty.of_i64(self.below(17) as i64 - 8),
        }
    }

    fn float(&mut self, ty: Type) -> Constant {
        let special = [0.0, -0.0, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e-40, 1e30, 0.1];
        let value = match self.below(3) {
            0 => *self.pick(&special),
            1 => self.below(65) as f64 / 4.0 - 8.0,
            _ => (self.next() as i64) as f64 / 2f64.powi(self.below(100) as i32),
        };
        if ty == Type::F32 { Constant::from(value as f32) } else { Constant::from(value) }
    }
}
