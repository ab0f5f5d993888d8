//! The values that the next state of a group can have, by cases of what the element decides.
//!
//! A condition that the element alone decides makes two cases. In each, a value is a known
//! constant, an element of a table, or anything within the interval of the code that computes it.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::derive::code::Code;
use crate::eval::evaluate;
use crate::function::{Inst, Payload, Value};
use crate::opcode::Opcode;
use crate::types::{Constant, Type};

/// Most joint states.
pub(super) const MOST: usize = 64;

/// The value of an expression in a case.
enum Found {
    Known(Constant),
    /// Any value that the element makes it: of this one, which no choice is left in.
    Any(Value),
}

/// A condition that a case must decide, or the end of the fuel.
enum Open {
    Condition(Value),
    Fuel,
}

/// A search of the next values.
pub(super) struct Search<'a, 't> {
    pub(super) code: &'a Code<'t>,
    /// How many values may still be looked at.
    pub(super) fuel: usize,
}

impl Search<'_, '_> {
    fn value(&mut self, value: Value, case: &FxHashMap<Value, bool>, depth: usize) -> Result<Found, Open> {
        self.fuel = self.fuel.checked_sub(1).ok_or(Open::Fuel)?;
        if depth > 200 {
            return Err(Open::Fuel);
        }
        if let Some(constant) = self.code.constant_of(value) {
            return Ok(Found::Known(constant));
        }
        if let Some(&known) = case.get(&value) {
            return Ok(Found::Known(known.into()));
        }
        let open = |code: &Code<'_>| match code.ty(value) {
            Type::Bool => Err(Open::Condition(value)),
            _ => Ok(Found::Any(value)),
        };
        let Some(inst) = self.code.inst(value) else { return open(self.code) };
        if let (Opcode::Select, &[condition, yes, no]) = (inst.opcode, inst.operands()) {
            return match self.value(condition, case, depth + 1)? {
                Found::Known(known) => self.value(if known.bits() != 0 { yes } else { no }, case, depth + 1),
                Found::Any(_) => unreachable!("a condition that is open is decided first"),
            };
        }
        let mut known = Vec::new();
        for &operand in inst.operands() {
            match self.value(operand, case, depth + 1)? {
                Found::Known(constant) => known.push(constant),
                Found::Any(_) => return open(self.code),
            }
        }
        match evaluate(&inst, &known, self.code.tables()) {
            Some(constant) => Ok(Found::Known(constant)),
            None => open(self.code),
        }
    }

    /// The interval of a value in a case: of a difference without sign, where the case says that it is none below 0, at most what
    /// it is taken from.
    fn range(&self, value: Value, case: &FxHashMap<Value, bool>) -> (i128, i128) {
        let all = self.code.range(value);
        let Some(inst) = self.code.inst(value).filter(|inst| inst.opcode == Opcode::Sub) else { return all };
        let &[whole, part] = inst.operands() else { return all };
        if inst.ty.is_signed() {
            return all;
        }
        // Whether a value is the part, or that and more.
        let has_part = |value: Value| {
            let is_sum = |inst: &Inst| {
                let known = |x: Value| self.code.constant_of(x).is_some();
                inst.opcode == Opcode::Add
                    && inst.operands().contains(&part)
                    && inst.operands().iter().any(|&x| known(x))
            };
            // A sum that does not wrap is not below its smallest.
            let grows = || self.code.range(value).0 > self.code.range(part).0;
            value == part || (self.code.inst(value).is_some_and(|inst| is_sum(&inst)) && grows())
        };
        let says_so = |(&condition, &holds): (&Value, &bool)| {
            let Some(test) = self.code.inst(condition) else { return false };
            let &[a, b] = test.operands() else { return false };
            match (test.opcode, holds) {
                (Opcode::Ge | Opcode::Gt, true) | (Opcode::Lt | Opcode::Le, false) => a == whole && has_part(b),
                (Opcode::Le | Opcode::Lt, true) | (Opcode::Gt | Opcode::Ge, false) => b == whole && has_part(a),
                _ => false,
            }
        };
        if case.iter().any(says_so) { (0, self.code.range(whole).1) } else { all }
    }

    /// A comparison of an integer with a constant: the value, the numbers for which it holds, and whether it holds for all others.
    fn compared(&self, condition: Value) -> Option<(Value, (i128, i128), bool)> {
        let test = self.code.inst(condition)?;
        let &[value, constant] = test.operands() else { return None };
        let ty = self.code.ty(value);
        let k = self.code.constant_of(constant).filter(|_| ty.is_int())?.as_int();
        let (least, greatest) = (ty.least().as_int(), ty.greatest().as_int());
        let (within, is_inverse) = match test.opcode {
            Opcode::Eq => ((k, k), false),
            Opcode::Ne => ((k, k), true),
            Opcode::Lt => ((least, k - 1), false),
            Opcode::Le => ((least, k), false),
            Opcode::Gt => ((k + 1, greatest), false),
            Opcode::Ge => ((k, greatest), false),
            _ => return None,
        };
        Some((value, within, is_inverse))
    }

    /// Whether a condition holds, if that follows from the other comparisons of the same number.
    fn follows(&self, condition: Value, case: &FxHashMap<Value, bool>) -> Option<bool> {
        let (value, asked, is_inverse) = self.compared(condition)?;
        let (mut least, mut most) = self.code.range(value);
        let known = case.iter().filter_map(|(&other, &holds)| {
            let (of, within, is_inverse) = self.compared(other)?;
            (of == value).then_some((within, holds != is_inverse))
        });
        let known: Vec<_> = known.collect();
        for &(within, _) in known.iter().filter(|(_, is_within)| *is_within) {
            (least, most) = (least.max(within.0), most.min(within.1));
        }
        // What is left out counts where it has an end; each may show another.
        for _ in &known {
            for &(out, _) in known.iter().filter(|(_, is_within)| !is_within) {
                if (out.0..=out.1).contains(&least) {
                    least = out.1 + 1;
                }
                if (out.0..=out.1).contains(&most) {
                    most = out.0 - 1;
                }
            }
        }
        let is_out = known.iter().any(|&(out, is_within)| !is_within && out.0 <= asked.0 && asked.1 <= out.1);
        if most < asked.0 || asked.1 < least || is_out {
            return Some(is_inverse);
        }
        (asked.0 <= least && most <= asked.1).then_some(!is_inverse)
    }

    /// The elements of a table within an interval, which is looked up at any of them; none if they are many.
    fn looked_up(&mut self, value: Value, (min, max): (i128, i128)) -> Option<Vec<i128>> {
        let inst = self.code.inst(value).filter(|inst| inst.opcode == Opcode::Table)?;
        let Payload::Table(table) = inst.payload else { return None };
        let table = &self.code.tables()[table as usize];
        self.fuel = self.fuel.checked_sub(table.len())?;
        let elements = (0..table.len()).filter_map(|i| Some(table.element(i)?.as_int()));
        let values: BTreeSet<i128> = elements.filter(|element| (min..=max).contains(element)).collect();
        (values.len() <= MOST).then(|| values.into_iter().collect())
    }

    /// All joint values of these, by cases of what the element decides.
    pub(super) fn successors(&mut self, values: &[Value]) -> Option<Vec<Vec<i128>>> {
        let mut found = FxHashSet::default();
        let mut cases = vec![FxHashMap::default()];
        while let Some(case) = cases.pop() {
            let mut sets: Vec<Vec<i128>> = Vec::new();
            let mut undecided = None;
            for &value in values {
                match self.value(value, &case, 0) {
                    Ok(Found::Known(constant)) => sets.push(vec![constant.as_int()]),
                    Ok(Found::Any(chosen)) => {
                        let (all, own) = (self.code.range(value), self.range(chosen, &case));
                        let (min, max) = (all.0.max(own.0), all.1.min(own.1));
                        self.fuel = self.fuel.saturating_sub(self.code.function().insts.len() / 8);
                        sets.push(match self.looked_up(chosen, (min, max)) {
                            Some(values) => values,
                            None if max.checked_sub(min).is_none_or(|width| width >= MOST as i128) => return None,
                            None => (min..=max).collect(),
                        });
                    }
                    Err(Open::Condition(condition)) => {
                        undecided = Some(condition);
                        break;
                    }
                    Err(Open::Fuel) => return None,
                }
            }
            if let Some(condition) = undecided {
                // Intervals may decide it for any element, or what the case says of the same number.
                let (least, most) = self.code.range(condition);
                self.fuel = self.fuel.saturating_sub(self.code.function().insts.len() / 8);
                let follows = self.follows(condition, &case);
                let may_be = |known: &bool| {
                    (least..=most).contains(&i128::from(*known)) && follows.is_none_or(|holds| holds == *known)
                };
                for known in [false, true].into_iter().filter(may_be) {
                    let mut case = case.clone();
                    case.insert(condition, known);
                    cases.push(case);
                }
                continue;
            }
            let joint = sets.iter().fold(vec![Vec::new()], |all, set| {
                all.iter().flat_map(|part| set.iter().map(|&last| [part.as_slice(), &[last]].concat())).collect()
            });
            found.extend(joint);
            if found.len() > MOST {
                return None;
            }
        }
        Some(found.into_iter().collect())
    }
}
