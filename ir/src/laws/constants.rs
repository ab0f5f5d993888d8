//! The numbers that a stage's functions name, and what is next to them: where an operator with a
//! special case breaks.

use crate::function::{Function, Inst};
use crate::opcode::{Opcode, Rule};
use crate::program::Stage;
use crate::types::{Constant, Type};

/// More constants than this are not looked at; the identity's and those that are compared with come first.
const MOST: usize = 12;

/// For each type, values at and around the constants that the identity, `combine`, `valid`, `follows` and `lift` name.
pub(crate) struct Named {
    constants: Vec<Constant>,
}

impl Named {
    pub(crate) fn of(stage: &Stage) -> Named {
        let declared = || stage.valid.iter().chain(&stage.follows);
        let functions = || [&stage.combine].into_iter().chain(declared()).chain([&stage.lift.function]);
        let compared = functions().flat_map(compared);
        let all = functions().flat_map(|function| function.insts.iter().filter_map(Inst::as_constant));
        let mut constants = Vec::new();
        let identity = stage.identity.iter().copied();
        for constant in identity.chain(compared).chain(all).filter(is_remarkable) {
            if constants.len() < MOST && !constants.contains(&constant) {
                constants.push(constant);
            }
        }
        Named { constants }
    }

    /// The constants as numbers of type `ty`, then those around them; none that the type cannot hold.
    pub(crate) fn values(&self, ty: Type) -> Vec<Constant> {
        let mut values = Vec::new();
        for step in 0..STEPS {
            for &constant in &self.constants {
                let value = if ty.is_float() { near_real(constant, ty, step) } else { near_int(constant, ty, step) };
                values.extend(value.filter(|value| !values.contains(value)));
            }
        }
        values
    }
}

/// Constants that are an operand of a comparison, a minimum, a maximum or a remainder.
fn compared(function: &Function) -> impl Iterator<Item = Constant> + '_ {
    let orders = |inst: &&Inst| {
        matches!(inst.opcode.rule(), Rule::Compare(_)) || matches!(inst.opcode, Opcode::Min | Opcode::Max | Opcode::Rem)
    };
    let operands = function.insts.iter().filter(orders).flat_map(Inst::operands);
    operands.filter_map(|&value| function.as_constant(value))
}

/// Numbers that are not tried anyway.
fn is_remarkable(constant: &Constant) -> bool {
    let ty = constant.ty();
    match ty {
        _ if ty.is_float() => constant.as_f64().is_finite() && constant.as_f64() != 0.0,
        _ => ty.is_int() && constant.as_int().unsigned_abs() > 2,
    }
}

/// How many values there are at and around a constant.
const STEPS: usize = 7;

fn near_int(constant: Constant, ty: Type, step: usize) -> Option<Constant> {
    let number = if constant.ty().is_float() {
        let real = constant.as_f64();
        (real.fract() == 0.0 && real.abs() < 1e19).then_some(real as i128)?
    } else {
        constant.as_int()
    };
    let number =
        [number, number + 1, number - 1, 2 * number, -number, 2 * number + 1, number / 2].get(step).copied()?;
    let value = Constant::new(ty, number as u128);
    (ty.is_int() && value.as_int() == number).then_some(value)
}

fn near_real(constant: Constant, ty: Type, step: usize) -> Option<Constant> {
    let real = if constant.ty().is_float() { constant.as_f64() } else { constant.as_int() as f64 };
    let (above, below) = match ty {
        Type::F32 => ((real as f32).next_up() as f64, (real as f32).next_down() as f64),
        _ => (real.next_up(), real.next_down()),
    };
    let number = [real, above, below, real + 1.0, real - 1.0, 2.0 * real, -real].get(step).copied()?;
    let value = if ty == Type::F32 { Constant::from(number as f32) } else { Constant::from(number) };
    value.as_f64().is_finite().then_some(value)
}
