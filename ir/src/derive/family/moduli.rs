//! The moduli that a step may be taken by: numbers that it names.

use super::Group;
use super::modular::MOST;
use crate::function::{Function, Value};
use crate::opcode::Opcode;

/// Most moduli that are tried, of those that are divisors and such, and of those of counters down.
const MOST_MODULI: usize = 8;

/// The moduli that the step of the group names: divisors of `%`, masks, and what counters are compared with.
pub(super) fn candidates(group: &Group<'_, '_>) -> Vec<u64> {
    let [member] = *group.members else { return Vec::new() };
    let function = group.code.extract(&[group.next[member]]);
    let mut moduli = Vec::new();
    for inst in &function.insts {
        let compares =
            matches!(inst.opcode, Opcode::Eq | Opcode::Ne | Opcode::Lt | Opcode::Le | Opcode::Gt | Opcode::Ge);
        if !compares && !matches!(inst.opcode, Opcode::Rem | Opcode::And) {
            continue;
        }
        let known = inst.operands().iter().filter_map(|&value| function.as_constant(value)).map(|c| c.as_int());
        for number in known.filter(|&number| (1..=MOST).contains(&number)) {
            let number = number as u64;
            match inst.opcode {
                Opcode::And => moduli.extend((number & (number + 1) == 0).then_some(number + 1)),
                Opcode::Gt | Opcode::Le => moduli.extend([number, number + 1, number + 2]),
                _ => moduli.extend([number, number + 1]),
            }
        }
    }
    let distinct = |mut moduli: Vec<u64>| {
        moduli.sort_unstable();
        moduli.dedup();
        moduli.retain(|&modulus| modulus > 1 && i128::from(modulus) <= MOST);
        moduli.truncate(MOST_MODULI);
        moduli
    };
    let (mut moduli, down) = (distinct(moduli), distinct(set_at_the_end(&function)));
    moduli.extend(down.into_iter().filter(|modulus| !moduli.contains(modulus)).collect::<Vec<_>>());
    moduli
}

/// The moduli of counters down, which are set to m − 1 where they are 0.
fn set_at_the_end(function: &Function) -> Vec<u64> {
    let number = |value: &Value| function.as_constant(*value).filter(|c| c.ty().is_int()).map(|c| c.as_int());
    let choices = function.insts.iter().filter(|inst| inst.opcode == Opcode::Select).filter(|inst| {
        let test = function.inst(inst.operands()[0]);
        test.is_some_and(|test| matches!(test.operands().get(1).and_then(number), Some(0 | 1)))
    });
    let arms = choices.flat_map(|inst| inst.operands()[1..].to_vec());
    arms.filter_map(|arm| number(&arm)).filter(|number| (1..MOST).contains(number)).map(|m| m as u64 + 1).collect()
}
