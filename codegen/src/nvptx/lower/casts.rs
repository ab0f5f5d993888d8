//! Conversions: Rust's `as`, reinterpreted bits, and the 16-bit floats.
//!
//! A GPU converts 16-bit floats in one instruction, many hosts in none: those are intrinsics.

use monoscan_ir::{Opcode, Type};

use super::{from_memory, to_memory, ty};
use crate::nvptx::emit::{Ty, Value};

/// An integer of at least as many bits, with copies of its sign or zeros on top.
pub(super) fn extend(signed: bool, to: Ty, a: Value<'_>) -> Value<'_> {
    if signed { a.sext(to) } else { a.resize(to) }
}

pub(super) fn cast(from: Type, to: Type, a: Value<'_>) -> Option<Value<'_>> {
    if from.is_vector() || to.is_vector() || (to == Type::Bool && from != Type::Bool) {
        return None;
    }
    let target = ty(to);
    Some(match (from.is_float(), to.is_float()) {
        (true, true) => a.cast(if from.bits() < to.bits() { "fpext" } else { "fptrunc" }, target),
        (true, false) => {
            let name = if to.is_signed() { "fptosi" } else { "fptoui" };
            a.emit().intrinsic(target, &format!("llvm.{name}.sat.{target}.{}", a.ty().suffix()), &[a])
        }
        (false, true) => a.cast(if from.is_signed() { "sitofp" } else { "uitofp" }, target),
        (false, false) if from.bits() < to.bits() => extend(from.is_signed(), target, a),
        (false, false) => a.resize(target),
    })
}

pub(super) fn bitcast(from: Type, to: Type, a: Value<'_>) -> Option<Value<'_>> {
    let typed = from.size() == to.size() && from != Type::Bool && to != Type::Bool;
    typed.then(|| from_memory(to_memory(a, from), to))
}

pub(super) fn convert(opcode: Opcode, a: Value<'_>) -> Option<Value<'_>> {
    let k = a.emit();
    Some(match opcode {
        Opcode::FromF16 => k.intrinsic(Ty::F32, "scan.from_f16", &[a]),
        Opcode::ToF16 => k.intrinsic(Ty::Int(16), "scan.to_f16", &[a]),
        Opcode::FromBf16 => (a.resize(Ty::I32) << 16).bits_as(Ty::F32),
        Opcode::ToBf16 => k.intrinsic(Ty::Int(16), "scan.to_bf16", &[a]),
        _ => return None,
    })
}
