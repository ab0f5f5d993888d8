//! Random types, and constants of them, for generated programs.

use monoscan_ir::{Constant, Lanes, Type};

use super::Random;

impl Random {
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
    pub(super) fn operand(&mut self, ty: Type) -> Constant {
        let any = Constant::new(ty, u128::from(self.bits()) << 64 | u128::from(self.bits()));
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
            _ => (self.bits() as i64) as f64 / 2f64.powi(self.below(100)),
        };
        if ty == Type::F32 { Constant::from(value as f32) } else { Constant::from(value) }
    }
}
