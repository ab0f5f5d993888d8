//! Which instructions have a form that works lane by lane, and how wide its lanes are.
//!
//! Only what a few vector instructions do counts: a form that is as slow as one element after the
//! other is none.

use monoscan_ir::{Function, Inst, Opcode, Rule, Type, Value};

use super::shuffle::Shape;

/// Whether lanes of this shape can hold values of a type that are not constant.
pub(crate) fn holds(shape: Shape, ty: Type) -> bool {
    match ty {
        Type::F32 | Type::F64 => ty.size() == shape.bytes,
        Type::Bytes(_) => false,
        _ => ty.size() <= shape.bytes,
    }
}

/// Whether an instruction, of which these operands are constants, has a form in lanes of this shape.
pub(crate) fn has_lane_form(inst: &Inst, types: &[Type], known: &[bool], shape: Shape) -> bool {
    if !types.iter().zip(known).all(|(&ty, _)| holds(shape, ty)) && !matches!(inst.opcode.rule(), Rule::Shift) {
        return false;
    }
    let Some(&ty) = types.first() else { return false };
    if !holds(shape, inst.ty) || !holds(shape, ty) {
        return false;
    }
    let whole = ty.size() == shape.bytes;
    match inst.opcode {
        Opcode::Mul if !ty.is_float() => matches!(shape.bytes, 2 | 4),
        Opcode::Div | Opcode::Sqrt | Opcode::Floor | Opcode::Ceil | Opcode::Trunc | Opcode::RoundEven => ty.is_float(),
        Opcode::AddSat | Opcode::SubSat => !whole || shape.bytes <= 2,
        Opcode::Shl | Opcode::Shr | Opcode::RotateLeft | Opcode::RotateRight => known.get(1) == Some(&true),
        Opcode::FromBf16 => shape.bytes == 4,
        Opcode::Cast => match (ty.is_float(), inst.ty.is_float()) {
            (false, false) => true,
            (true, true) => ty == inst.ty,
            _ => shape.bytes == 4 || ty == Type::Bool,
        },
        Opcode::Add | Opcode::Sub | Opcode::Mul | Opcode::Neg | Opcode::Abs | Opcode::Min | Opcode::Max => true,
        Opcode::MulAdd | Opcode::CopySign | Opcode::Bitcast | Opcode::Select => true,
        Opcode::And | Opcode::Or | Opcode::Xor | Opcode::Not => true,
        Opcode::Eq | Opcode::Ne | Opcode::Lt | Opcode::Le | Opcode::Gt | Opcode::Ge => true,
        // Another opcode belongs here until it has a form.
        Opcode::Const | Opcode::Rem | Opcode::MulHigh | Opcode::SwapBytes | Opcode::ReverseBits => false,
        Opcode::CountOnes | Opcode::LeadingZeros | Opcode::TrailingZeros => false,
        Opcode::FromF16 | Opcode::ToF16 | Opcode::ToBf16 => false,
        Opcode::Table | Opcode::Splat | Opcode::Lane | Opcode::WithLane | Opcode::Permute => false,
    }
}

/// The values of a function when some of its parameters are constants.
pub(crate) struct Constants(Vec<bool>);

impl Constants {
    pub(crate) fn of(function: &Function, params: &[bool]) -> Constants {
        let mut known = params.to_vec();
        for inst in &function.insts {
            let is_known = inst.operands().iter().all(|operand| known[operand.index()]);
            known.push(is_known);
        }
        Constants(known)
    }

    /// Whether a value is constant.
    pub(crate) fn is(&self, value: Value) -> bool {
        self.0[value.index()]
    }

    /// Bytes of the widest type that lanes have to hold.
    pub(crate) fn widest(&self, function: &Function) -> usize {
        let params = function.params.iter().copied();
        let types = params.chain(function.insts.iter().map(|inst| inst.ty));
        types.zip(&self.0).filter(|(_, known)| !**known).map(|(ty, _)| ty.size()).max().unwrap_or(0)
    }

    /// Whether all that is not constant has a form in lanes.
    pub(crate) fn fits(&self, function: &Function, shape: Shape) -> bool {
        let params = function.params.iter().zip(&self.0);
        let params = params.filter(|(_, known)| !**known).all(|(&ty, _)| holds(shape, ty));
        params
            && function.values().filter(|(value, _)| !self.0[value.index()]).all(|(_, inst)| {
                let types: Option<Vec<Type>> = inst.operands().iter().map(|&v| function.type_of(v)).collect();
                let known: Vec<bool> = inst.operands().iter().map(|operand| self.0[operand.index()]).collect();
                types.is_some_and(|types| has_lane_form(inst, &types, &known, shape))
            })
    }
}
