//! Values as the text of an expression, for refusals.

use super::code::Code;
use super::written::Written;
use crate::function::{Inst, Payload, Value};
use crate::opcode::{Opcode, Rule};

/// Deeper than this an expression is cut off.
const DEPTH: usize = 5;

/// The names of the parameters of a loop, and how its step was written.
pub(super) struct Names<'a> {
    pub(super) components: &'a [String],
    pub(super) reads: &'a [String],
    pub(super) written: &'a Written<'a>,
}

impl Names<'_> {
    fn component(&self, component: usize) -> String {
        self.components.get(component).cloned().unwrap_or_else(|| format!("state.{component}"))
    }

    fn parameter(&self, place: usize) -> String {
        match place.checked_sub(self.components.len()) {
            None => self.component(place),
            Some(read) => self.reads.get(read).cloned().unwrap_or_else(|| format!("input.{read}")),
        }
    }

    /// A value as an expression.
    pub(super) fn show(&self, code: &Code<'_>, value: Value) -> String {
        let text = self.expression(code, value, DEPTH);
        let inside = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
        inside.filter(|inside| is_balanced(inside)).map_or(text.clone(), str::to_owned)
    }

    fn expression(&self, code: &Code<'_>, value: Value, depth: usize) -> String {
        let Some(inst) = self.written.inst(code, value) else { return self.parameter(value.index()) };
        if let Payload::Constant(constant) = inst.payload {
            return constant.to_string();
        }
        if depth == 0 {
            return "…".to_owned();
        }
        if let Some((minuend, subtrahend)) = as_difference(code, inst) {
            return format!("({} - {subtrahend})", self.expression(code, minuend, depth - 1));
        }
        let x: Vec<String> = inst.operands().iter().map(|&x| self.expression(code, x, depth - 1)).collect();
        match (inst.opcode, &x[..]) {
            (opcode, [a, b]) if let Some(sign) = sign(opcode) => format!("({a} {sign} {b})"),
            (Opcode::Neg, [a]) => format!("-{a}"),
            (Opcode::Not, [a]) => format!("!{a}"),
            (Opcode::Cast, [a]) => format!("({a} as {})", inst.ty),
            (Opcode::Bitcast, [a]) if inst.ty.is_float() => format!("{}::from_bits({a})", inst.ty),
            (Opcode::Select, [c, a, b]) => format!("if {c} {{ {a} }} else {{ {b} }}"),
            (Opcode::Table, [a]) => format!("table[{a}]"),
            (_, [a, rest @ ..]) if !matches!(inst.opcode.rule(), Rule::Constant) => {
                format!("{a}.{}({})", rust_name(inst.opcode), rest.join(", "))
            }
            _ => inst.opcode.name().to_owned(),
        }
    }
}

/// The operator of Rust that an operation is.
fn sign(opcode: Opcode) -> Option<&'static str> {
    Some(match opcode {
        Opcode::Add => "+",
        Opcode::Sub => "-",
        Opcode::Mul => "*",
        Opcode::Div => "/",
        Opcode::Rem => "%",
        Opcode::And => "&",
        Opcode::Or => "|",
        Opcode::Xor => "^",
        Opcode::Shl => "<<",
        Opcode::Shr => ">>",
        Opcode::Eq => "==",
        Opcode::Ne => "!=",
        Opcode::Lt => "<",
        Opcode::Le => "<=",
        Opcode::Gt => ">",
        Opcode::Ge => ">=",
        _ => return None,
    })
}

/// The name of an operation in Rust.
pub(super) fn rust_name(opcode: Opcode) -> &'static str {
    match opcode {
        Opcode::AddSat => "saturating_add",
        Opcode::SubSat => "saturating_sub",
        Opcode::Cast => "as",
        Opcode::Select => "if",
        Opcode::Bitcast => "to_bits",
        Opcode::CopySign => "copysign",
        Opcode::RoundEven => "round_ties_even",
        opcode => sign(opcode).unwrap_or(opcode.name()),
    }
}

/// A sum with a constant whose negative is smaller, as a difference: `s - 1` is simplified to a sum.
fn as_difference(code: &Code<'_>, inst: Inst) -> Option<(Value, i128)> {
    let &[first, second] = inst.operands() else { return None };
    let constant = code.constant_of(second).filter(|constant| constant.ty().is_int())?;
    let negative = (1 << constant.ty().bits()) - constant.bits() as i128;
    (inst.opcode == Opcode::Add && negative <= constant.bits() as i128).then_some((first, negative))
}

fn is_balanced(text: &str) -> bool {
    let mut depth = 0;
    text.chars().all(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth >= 0
    })
}
