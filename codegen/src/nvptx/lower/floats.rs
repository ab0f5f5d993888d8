//! Floats: strict IEEE arithmetic, one instruction or intrinsic of LLVM each, none with a fast-math
//! flag.
//!
//! `minimumnum` and `maximumnum` are the IR's minimum and maximum, and PTX's `min` and `max`: of a
//! NaN and a number they give the number, and −0 < +0. LLVM's older `minnum` and `maxnum` leave the
//! zeros open.

use monoscan_ir::Opcode;

use crate::nvptx::emit::Value;

/// How a comparison opcode compares floats.
pub(super) fn condition(opcode: Opcode) -> Option<&'static str> {
    Some(match opcode {
        Opcode::Eq => "oeq",
        Opcode::Ne => "une",
        Opcode::Lt => "olt",
        Opcode::Le => "ole",
        Opcode::Gt => "ogt",
        Opcode::Ge => "oge",
        _ => return None,
    })
}

pub(super) fn arithmetic<'k>(opcode: Opcode, args: &[Value<'k>]) -> Option<Value<'k>> {
    Some(match (opcode, args) {
        (Opcode::Add, &[a, b]) => a.binary("fadd", b),
        (Opcode::Sub, &[a, b]) => a.binary("fsub", b),
        (Opcode::Mul, &[a, b]) => a.binary("fmul", b),
        (Opcode::Div, &[a, b]) => a.binary("fdiv", b),
        (Opcode::Neg, &[a]) => a.fneg(),
        (Opcode::Abs, &[a]) => a.math("fabs", &[]),
        (Opcode::Min, &[a, b]) => a.math("minimumnum", &[b]),
        (Opcode::Max, &[a, b]) => a.math("maximumnum", &[b]),
        (Opcode::MulAdd, &[a, b, c]) => a.math("fma", &[b, c]),
        (Opcode::Sqrt, &[a]) => a.math("sqrt", &[]),
        (Opcode::Floor, &[a]) => a.math("floor", &[]),
        (Opcode::Ceil, &[a]) => a.math("ceil", &[]),
        (Opcode::Trunc, &[a]) => a.math("trunc", &[]),
        (Opcode::RoundEven, &[a]) => a.math("roundeven", &[]),
        (Opcode::CopySign, &[a, b]) => a.math("copysign", &[b]),
        _ => return None,
    })
}
