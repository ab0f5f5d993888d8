//! Opcodes that are one instruction of Cranelift: of a number, of lanes with numbers, and of byte
//! vectors alike.

use cranelift_codegen::ir::{self, InstBuilder};
use cranelift_frontend::FunctionBuilder;
use monoscan_ir::{Opcode, Type};

/// The instruction that an opcode is on operands of this type, or on lanes that hold such; none if it is none, or takes more.
pub(crate) fn instruction(
    b: &mut FunctionBuilder<'_>,
    opcode: Opcode,
    ty: Type,
    args: &[ir::Value],
) -> Option<ir::Value> {
    let (float, signed) = (ty.is_float(), ty.is_signed());
    let ins = b.ins();
    Some(match (opcode, args) {
        (Opcode::Add, &[a, b]) if float => ins.fadd(a, b),
        (Opcode::Sub, &[a, b]) if float => ins.fsub(a, b),
        (Opcode::Mul, &[a, b]) if float => ins.fmul(a, b),
        (Opcode::Div, &[a, b]) if float => ins.fdiv(a, b),
        (Opcode::Neg, &[a]) if float => ins.fneg(a),
        (Opcode::Abs, &[a]) if float => ins.fabs(a),
        (Opcode::MulAdd, &[a, b, c]) => ins.fma(a, b, c),
        (Opcode::Sqrt, &[a]) => ins.sqrt(a),
        (Opcode::Floor, &[a]) => ins.floor(a),
        (Opcode::Ceil, &[a]) => ins.ceil(a),
        (Opcode::Trunc, &[a]) => ins.trunc(a),
        (Opcode::RoundEven, &[a]) => ins.nearest(a),
        _ if float => return None,
        (Opcode::And, &[a, b]) => ins.band(a, b),
        (Opcode::Or, &[a, b]) => ins.bor(a, b),
        (Opcode::Xor, &[a, b]) => ins.bxor(a, b),
        (Opcode::Not, &[a]) => ins.bnot(a),
        (Opcode::Add, &[a, b]) => ins.iadd(a, b),
        (Opcode::Sub, &[a, b]) => ins.isub(a, b),
        (Opcode::Mul, &[a, b]) => ins.imul(a, b),
        (Opcode::Neg, &[a]) => ins.ineg(a),
        (Opcode::Abs, &[a]) if signed => ins.iabs(a),
        (Opcode::Abs, &[a]) => a,
        (Opcode::Min, &[a, b]) if signed => ins.smin(a, b),
        (Opcode::Min, &[a, b]) => ins.umin(a, b),
        (Opcode::Max, &[a, b]) if signed => ins.smax(a, b),
        (Opcode::Max, &[a, b]) => ins.umax(a, b),
        _ => return None,
    })
}
