//! The critical path: how many cycles each element adds to the chain that runs through the carried components.
//!
//! A scan over a tile is bound by this chain and not by how many instructions there are, until the chain is broken by
//! a network or by several tiles at once. The figures are those of current x86-64 and arm64 cores, rounded; plans
//! compare them with each other and nothing else.

use super::Body;
use crate::function::{Function, Inst};
use crate::opcode::{Opcode, Rule};
use crate::program::Source;
use crate::types::Type;

/// The cycles from an instruction's operands to its result. `operand` is the type of its last operand, which is what it
/// works on (of a shift the amount, which changes nothing).
pub fn latency(inst: &Inst, operand: Type) -> u32 {
    let (float, double, wide) = (operand.is_float(), operand == Type::F64, operand.size() == 8);
    match inst.opcode {
        Opcode::Const => 0,
        Opcode::Add | Opcode::Sub | Opcode::Mul | Opcode::MulAdd if float => 4,
        Opcode::Mul | Opcode::MulHigh => 3,
        Opcode::Div if double => 14,
        Opcode::Div if float => 11,
        Opcode::Div | Opcode::Rem if wide => 20,
        Opcode::Div | Opcode::Rem => 13,
        Opcode::Sqrt if double => 18,
        Opcode::Sqrt => 12,
        // The rules for NaN and −0 take a comparison and a select more than the bare instruction.
        Opcode::Min | Opcode::Max if float => 8,
        Opcode::Min | Opcode::Max if operand.is_int() => 2,
        Opcode::AddSat | Opcode::SubSat => 3,
        Opcode::Floor | Opcode::Ceil | Opcode::Trunc | Opcode::RoundEven => 8,
        Opcode::CountOnes | Opcode::LeadingZeros | Opcode::TrailingZeros => 3,
        Opcode::ReverseBits => 8,
        Opcode::Select if float => 2,
        Opcode::Cast if float || inst.ty.is_float() => 6,
        Opcode::FromF16 | Opcode::ToF16 | Opcode::FromBf16 | Opcode::ToBf16 => 7,
        // Between register files, or into and out of a vector.
        Opcode::Bitcast | Opcode::Splat | Opcode::Lane | Opcode::WithLane => 2,
        Opcode::Table => 5,
        _ if float && matches!(inst.opcode.rule(), Rule::Compare(_)) => 3,
        _ => 1,
    }
}

/// How many instructions a function executes: all but constants.
pub fn work(function: &Function) -> u32 {
    function.insts.iter().filter(|inst| inst.opcode != Opcode::Const).count() as u32
}

/// The longest path, in cycles, from a carried component of `stage` to the new value of one of them.
///
/// This bounds what an element adds to the chain from above: it is exact if the same component begins and ends the
/// longest path, as in every state with one component, and otherwise at most the longest path of a single element.
/// Earlier stages do not count, since their chains run ahead.
pub(super) fn carried_latency(body: &Body, stage: u32) -> u32 {
    let function = &body.mapping.function;
    let of_stage = |source: &Source| matches!(source, Source::Before { stage: s, .. } if *s == stage);
    // The time each value is there; none where it does not depend on the stage's carried components.
    let mut ready: Vec<Option<u32>> = body.mapping.reads.iter().map(|source| of_stage(source).then_some(0)).collect();
    for inst in &function.insts {
        let operand = inst.operands().last().and_then(|&last| function.type_of(last)).unwrap_or(inst.ty);
        let start = inst.operands().iter().filter_map(|value| ready[value.index()]).max();
        ready.push(start.map(|start| start + latency(inst, operand)));
    }
    let news = body.carried.iter().zip(&function.results).filter(|((s, _), _)| *s == stage);
    news.filter_map(|(_, result)| ready[result.index()]).max().unwrap_or(0)
}
