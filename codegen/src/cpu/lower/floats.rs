//! Floats: strict IEEE arithmetic, of which minimum, maximum and `select` are more than an
//! instruction of Cranelift.
//!
//! Cranelift's `fmin` and `fmax` propagate NaN where the IR skips it. And on x86-64 a `select` of
//! floats becomes a branch around a move, which random conditions mispredict: masks are used there
//! instead.

use cranelift_codegen::ir::{self, InstBuilder, condcodes::FloatCC, types};
use monoscan_ir::{Constant, Function, Inst, Opcode, Rule, Type, Value};

use super::{Lowering, clif_type, instruction, memory};

/// How a comparison opcode compares floats.
pub(crate) fn condition(opcode: Opcode) -> Option<FloatCC> {
    Some(match opcode {
        Opcode::Eq => FloatCC::Equal,
        Opcode::Ne => FloatCC::NotEqual,
        Opcode::Lt => FloatCC::LessThan,
        Opcode::Le => FloatCC::LessThanOrEqual,
        Opcode::Gt => FloatCC::GreaterThan,
        Opcode::Ge => FloatCC::GreaterThanOrEqual,
        _ => return None,
    })
}

/// Whether the bare instruction of x86-64 takes the minimum or maximum with this value right, if it is the second operand: that
/// comes out where the other one is NaN, or a zero too. So it must be no NaN, and of zeros the one that wins.
fn is_plain(opcode: Opcode, function: &Function, value: Value) -> bool {
    match function.as_constant(value).map(Constant::as_f64) {
        Some(known) => !known.is_nan() && (known != 0.0 || wins(opcode, known)),
        None => is_bounded(opcode, function, value),
    }
}

/// Which operand of a minimum or maximum may be the second one of the bare instruction, if one may.
pub(crate) fn plain_operand(inst: &Inst, function: &Function) -> Option<usize> {
    (0..2).find(|&place| inst.operands().get(place).is_some_and(|&value| is_plain(inst.opcode, function, value)))
}

/// Whether the value is known to be no NaN and, of a maximum, at least +0, of a minimum at most −0.
fn is_bounded(opcode: Opcode, function: &Function, value: Value) -> bool {
    if let Some(known) = function.as_constant(value).map(Constant::as_f64) {
        return !known.is_nan() && wins(opcode, known);
    }
    let Some(inst) = function.inst(value).filter(|inst| inst.opcode == opcode) else { return false };
    inst.operands().iter().any(|&operand| is_bounded(opcode, function, operand))
}

/// Whether a number has the sign of the zero that comes out where zeros meet.
fn wins(opcode: Opcode, known: f64) -> bool {
    known.is_sign_negative() == (opcode == Opcode::Min)
}

impl Lowering<'_, '_> {
    pub(super) fn float(&mut self, inst: &Inst, ty: Type, args: &[ir::Value]) -> Option<ir::Value> {
        let opcode = inst.opcode;
        Some(match (opcode, args) {
            (Opcode::Min | Opcode::Max, &[a, b]) => match plain_operand(inst, self.function).filter(|_| self.env.x86) {
                Some(0) => self.pick(opcode == Opcode::Min, b, a),
                Some(_) => self.pick(opcode == Opcode::Min, a, b),
                None => self.min_max(opcode == Opcode::Min, a, b),
            },
            (Opcode::CopySign, &[a, b]) => self.ins().fcopysign(a, b),
            _ => instruction(self.b, opcode, ty, args)?,
        })
    }

    /// The selects here are for NaN only, so on x86-64 their branches are as good as never taken, and the chain through
    /// an accumulator is one `min` and one `or`.
    fn min_max(&mut self, min: bool, a: ir::Value, b: ir::Value) -> ir::Value {
        let ordered = if self.env.x86 {
            // `minss` and `maxss` give their second operand when both are zeros: take both orders, and the sign bit
            // of −0 comes through `or` for the minimum and is lost in `and` for the maximum.
            let (one, other) = (self.pick(min, a, b), self.pick(min, b, a));
            if min { self.ins().bor(one, other) } else { self.ins().band(one, other) }
        } else if min {
            self.ins().fmin(a, b)
        } else {
            self.ins().fmax(a, b)
        };
        let a_is_nan = self.ins().fcmp(FloatCC::Unordered, a, a);
        let either_is_nan = self.ins().fcmp(FloatCC::Unordered, a, b);
        let number = self.ins().select(a_is_nan, b, a);
        self.ins().select(either_is_nan, number, ordered)
    }

    /// `a < b ? a : b` or `a > b ? a : b`, in the form that x86-64 has an instruction for.
    fn pick(&mut self, min: bool, a: ir::Value, b: ir::Value) -> ir::Value {
        let (low, high) = if min { (a, b) } else { (b, a) };
        let less = self.ins().fcmp(FloatCC::LessThan, low, high);
        self.ins().select(less, a, b)
    }

    /// `select` by masks: one `and` after the condition if a side is +0, as where segments begin, else one blend. A comparison of
    /// floats of the same width stays in vector registers.
    pub(super) fn float_select(&mut self, inst: &Inst, ty: Type, args: &[ir::Value]) -> Option<ir::Value> {
        let (yes, no) = (args[1], args[2]);
        let [condition_value, yes_value, no_value] = inst.operands() else { return None };
        let comparison = self
            .function
            .inst(*condition_value)
            .filter(|by| matches!(by.opcode.rule(), Rule::Compare(_)))
            .filter(|by| self.function.type_of(by.operands()[0]) == Some(ty))
            .copied();
        let Some(comparison) = comparison else {
            let is_zero = |value: &Value| self.function.as_constant(*value).is_some_and(|value| value.bits() == 0);
            let clears = [is_zero(yes_value), is_zero(no_value)];
            let int = clif_type(ty).as_int();
            if clears == [false; 2] && self.env.lanes {
                return Some(self.blend(args[0], int, [yes, no]));
            }
            let mask = self.mask_of_byte(args[0], int, !clears[0]).unwrap_or_else(|| {
                let condition = self.ins().uextend(int, args[0]);
                // All ones where the condition holds, or, one less than it, where it does not.
                if clears[0] { self.ins().iadd_imm_s(condition, -1) } else { self.ins().ineg(condition) }
            });
            let mask = self.same_bits(clif_type(ty), mask);
            return Some(match clears {
                [true, _] => self.ins().band(no, mask),
                [_, true] => self.ins().band(yes, mask),
                _ => self.ins().bitselect(mask, yes, no),
            });
        };
        let by = [comparison.operands()[0], comparison.operands()[1]];
        let (a, b) = (self.value(by[0]), self.value(by[1]));
        let less = match comparison.opcode {
            Opcode::Lt => Some((a, b)),
            Opcode::Gt => Some((b, a)),
            _ => None,
        };
        let same = by == [*yes_value, *no_value] || by == [*no_value, *yes_value];
        if let (Some((low, high)), true) = (less, same) {
            let less = self.ins().fcmp(FloatCC::LessThan, low, high);
            return Some(self.ins().select(less, yes, no));
        }
        let vector = if ty == Type::F32 { types::F32X4 } else { types::F64X2 };
        let condition = condition(comparison.opcode)?;
        // One blend, which Cranelift finds where a comparison of vectors gives the mask.
        let [a, b, yes, no] = [a, b, yes, no].map(|value| self.ins().splat(vector, value));
        let mask = self.ins().fcmp(condition, a, b);
        let mask = self.same_bits(vector, mask);
        let picked = self.ins().bitselect(mask, yes, no);
        Some(self.ins().extractlane(picked, 0))
    }

    /// One of two floats, of as many bits as this integer, by a condition that is made the sign of a lane.
    fn blend(&mut self, condition: ir::Value, int: ir::Type, sides: [ir::Value; 2]) -> ir::Value {
        let float = self.b.func.dfg.value_type(sides[0]);
        let lanes = 128 / int.bits();
        let [ints, floats] = [int, float].map(|lane| lane.by(lanes).expect("a vector has 128 bits"));
        let word = match memory::word_of_bool(self.b, condition) {
            Some(word) => word,
            None => self.ins().uextend(types::I64, condition),
        };
        // The negative of a truth value has the sign, and so has that of any other byte that memory has for it.
        let sign = self.ins().ineg(word);
        let sign = if int == types::I64 { sign } else { self.ins().ireduce(int, sign) };
        let sign = self.ins().scalar_to_vector(ints, sign);
        let [yes, no] = sides.map(|side| {
            let vector = self.ins().splat(floats, side);
            self.same_bits(ints, vector)
        });
        let chosen = self.ins().blendv(sign, yes, no);
        let chosen = self.same_bits(floats, chosen);
        self.ins().extractlane(chosen, 0)
    }
}
