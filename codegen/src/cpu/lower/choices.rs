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

#[cfg(test)]
mod tests {
    use monoscan_ir::{FunctionBuilder, Opcode, Type};

    use super::*;

    /// Chooses between two pairs, by which of two parameters is greater, and then the first of what was chosen once more.
    fn choosing(compared: [usize; 2]) -> Function {
        let mut b = FunctionBuilder::new();
        let params = [(); 4].map(|()| b.param(Type::I32));
        let greater = b.binary(Opcode::Gt, params[compared[0]], params[compared[1]]);
        let first = b.select(greater, params[2], params[0]);
        let second = b.select(greater, params[3], params[1]);
        let again = b.select(greater, first, second);
        b.finish(&[first, second, again])
    }

    fn places(function: &Function, carried: usize) -> Vec<Vec<usize>> {
        choices(function, carried).into_iter().map(|Choice(selects)| selects).collect()
    }

    #[test]
    fn what_the_state_chooses_together_is_one_choice() {
        assert_eq!(places(&choosing([2, 0]), 2), [[1, 2]]);
    }

    #[test]
    fn what_records_choose_or_what_is_no_chain_stays_as_it_is() {
        assert!(places(&choosing([2, 3]), 2).is_empty());
        assert!(places(&choosing([2, 0]), 0).is_empty());
    }
}
