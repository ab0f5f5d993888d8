//! Values that are chosen together, by one branch.
//!
//! A `select` by what is carried makes each element wait for the comparison of the one before. A
//! branch that the processor predicts does not. Operators that choose between whole states (the
//! place of a maximum, the identity at the start) choose alike nearly always, and their plain loops
//! have such a branch. So where one chain is all that bounds a kernel, two values and more that are
//! chosen by the same comparison of carried ones are chosen by a branch.

use monoscan_ir::{Function, Rule};

/// Selects of the same condition, by their places among the instructions. What they choose between comes before the first.
pub(super) struct Choice(pub(super) Vec<usize>);

/// The choices of a function by its first so many parameters.
pub(super) fn choices(function: &Function, carried: usize) -> Vec<Choice> {
    if carried == 0 {
        return Vec::new();
    }
    let params = function.params.len();
    let mut depends: Vec<bool> = (0..params).map(|param| param < carried).collect();
    let mut found: Vec<Choice> = Vec::new();
    for (place, inst) in function.insts.iter().enumerate() {
        let operands = inst.operands();
        if inst.opcode.rule() == Rule::Select && !inst.ty.is_vector() && depends[operands[0].index()] {
            let is_same = |Choice(selects): &&mut Choice| {
                let first = selects[0];
                function.insts[first].operands()[0] == operands[0]
                    && operands.iter().all(|operand| operand.index() < params + first)
            };
            match found.iter_mut().find(is_same) {
                Some(Choice(selects)) => selects.push(place),
                None => found.push(Choice(vec![place])),
            }
        }
        depends.push(operands.iter().any(|operand| depends[operand.index()]));
    }
    found.retain(|Choice(selects)| selects.len() > 1);
    found
}
