//! The critical path: how many cycles each element adds to the chain that runs through the carried
//! components.
//!
//! A scan over a tile is bound by this chain and not by how many instructions there are, until the
//! chain is broken by a network or by several tiles at once. The figures are those of current
//! x86-64 and arm64 cores, rounded; plans compare them with each other and nothing else.

use super::Body;
use crate::function::{Function, Inst, Value};
use crate::opcode::{Opcode, Rule};
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
        // The rule for −0 takes one more than the bare instruction, that for NaN a branch that is never taken.
        Opcode::Min | Opcode::Max if float => 5,
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

/// Whether this is a product with a power of two, which is a shift.
fn is_shift(inst: &Inst, function: &Function) -> bool {
    let is_power = |operand: &Value| function.as_constant(*operand).is_some_and(|value| value.bits().is_power_of_two());
    inst.opcode == Opcode::Mul && inst.ty.is_int() && inst.operands().iter().any(is_power)
}

/// How many instructions a function executes: all but constants.
pub fn work(function: &Function) -> u32 {
    function.insts.iter().filter(|inst| inst.opcode != Opcode::Const).count() as u32
}

/// The cycles that an element adds to the chain through the carried components of `stage`: of all the ways that a value can take from
/// component to component and back to the one it began with, the slowest, a step of it.
///
/// A component that others are computed from, but not from them (the highest price, of which the largest fall is told), runs ahead and
/// is in no such way. Neither are earlier stages.
pub(super) fn carried_latency(body: &Body, stage: u32) -> u32 {
    let own = own(body, stage);
    if own.len() > MOST_COMPONENTS {
        return longest_path(body, stage);
    }
    let paths: Vec<Vec<Option<u32>>> = own.iter().map(|&place| paths_from(body, &[place], &own)).collect();
    slowest_cycle(&paths)
}

/// Of more components the longest path is taken for the slowest cycle: in a matrix it is, and finding cycles takes time.
const MOST_COMPONENTS: usize = 16;

/// The longest path from a carried component of `stage` to the new value of one of them: what an element takes where its chain is not
/// overlapped with the next one's.
pub(super) fn longest_path(body: &Body, stage: u32) -> u32 {
    let own = own(body, stage);
    paths_from(body, &own, &own).into_iter().flatten().max().unwrap_or(0)
}

/// Which of the values that go from element to element are of a stage; the state of a loop is of every one.
fn own(body: &Body, stage: u32) -> Vec<usize> {
    let is_own = |place: usize| body.ends.is_some() || body.carried[place].0 == stage;
    (0..body.state_len()).filter(|&place| is_own(place)).collect()
}

/// The longest path from any of these carried components to the new value of each of `own`; none where there is none.
fn paths_from(body: &Body, from: &[usize], own: &[usize]) -> Vec<Option<u32>> {
    let function = &body.mapping.function;
    // The time each value is there; none where it does not depend on the component.
    let mut ready = vec![None; function.params.len()];
    from.iter().for_each(|&place| ready[place] = Some(0));
    for inst in &function.insts {
        let operand = inst.operands().last().and_then(|&last| function.type_of(last)).unwrap_or(inst.ty);
        let start = inst.operands().iter().filter_map(|value| ready[value.index()]).max();
        let cycles = if is_shift(inst, function) { 1 } else { latency(inst, operand) };
        ready.push(start.map(|start| start + cycles));
    }
    own.iter().map(|&place| ready[function.results[place].index()]).collect()
}

/// The greatest mean of a cycle's edges, rounded up (Karp, *A characterization of the minimum cycle mean in a digraph*, 1978).
fn slowest_cycle(edges: &[Vec<Option<u32>>]) -> u32 {
    let count = edges.len();
    // The longest walk of so many edges that ends at each node.
    let mut walks = vec![vec![Some(0i64); count]];
    for _ in 0..count {
        let before = &walks[walks.len() - 1];
        let to = |node: usize| (0..count).filter_map(|from| Some(before[from]? + i64::from(edges[from][node]?))).max();
        walks.push((0..count).map(to).collect());
    }
    let mean = |node: usize| {
        let longest = walks[count][node]?;
        let means = (0..count).filter_map(|edges| {
            let rest = (count - edges) as i64;
            walks[edges][node].map(|walk| (longest - walk + rest - 1).div_euclid(rest))
        });
        means.min()
    };
    (0..count).filter_map(mean).max().unwrap_or(0) as u32
}

#[cfg(test)]
mod tests {
    use super::slowest_cycle;

    #[test]
    fn what_runs_ahead_is_in_no_cycle() {
        assert_eq!(slowest_cycle(&[vec![Some(8)]]), 8);
        // The second is computed from the first, which is not from it.
        assert_eq!(slowest_cycle(&[vec![Some(3), Some(20)], vec![None, Some(5)]]), 5);
        // Two that are computed from each other take both paths in two steps.
        assert_eq!(slowest_cycle(&[vec![None, Some(10)], vec![Some(5), None]]), 8);
        assert_eq!(slowest_cycle(&[vec![None, Some(10)], vec![None, None]]), 0);
        assert_eq!(slowest_cycle(&[]), 0);
    }
}
