//! Random numbers, the same in every run.

use std::fmt::Debug;

use monoscan_ir::random::SplitMix64;
use monoscan_ir::{Constant, Type};

/// Random choices from a seed, by [`SplitMix64`].
pub struct Random(pub u64);

impl Random {
    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        let mut generator = SplitMix64(self.0);
        let bits = generator.next();
        self.0 = generator.0;
        bits
    }

    /// A number below `bound`, which is greater than 0.
    pub fn below<N>(&mut self, bound: N) -> N
    where
        N: TryInto<u64, Error: Debug> + TryFrom<u64, Error: Debug>,
    {
        let bound: u64 = bound.try_into().expect("a bound is greater than 0");
        N::try_from(self.bits() % bound).expect("it is less than the bound")
    }

    /// True once in `times`.
    pub fn chance(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of these.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// A number in 0 .. 1.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A constant of this type: often 0, ±1, an extreme, a NaN, a subnormal; else small, else any bits.
    pub fn constant(&mut self, ty: Type) -> Constant {
        let float = |value: f64| if ty == Type::F32 { Constant::from(value as f32) } else { Constant::from(value) };
        match self.below(4) {
            0 if ty.is_float() => {
                let tiny = if ty == Type::F32 { f64::from(f32::from_bits(1)) } else { f64::from_bits(1) };
                float(*self.pick(&[0.0, -0.0, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, tiny, 0.5, 1.5]))
            }
            0 => ty.of_i64(*self.pick(&[0, 1, -1, 2, i64::MIN, i64::MAX, ty.mask() as i64, (ty.mask() >> 1) as i64])),
            1 if ty.is_float() => float(self.below(257) as f64 / 8.0 - 16.0),
            1 | 2 => ty.of_i64(self.below(17) - if ty.is_signed() || ty.is_float() { 8 } else { 0 }),
            _ => Constant::new(ty, u128::from(self.bits())),
        }
    }

    /// Bytes, of which many are small or at the ends of their range.
    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        let byte = |_| match self.below(4) {
            0 => *self.pick(&[0, 1, 2, 0x7f, 0x80, 0xff]),
            _ => (self.bits() >> 56) as u8,
        };
        (0..count).map(byte).collect()
    }
}
