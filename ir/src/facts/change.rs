//! Components that few elements change, where records alone say which.
//!
//! The place of the last element of some kind is a maximum: an element of the kind lifts to its
//! place, any other to 0. Such a component needs no walk from element to element. Before any
//! element it is the place of the nearest one of that kind, or what it was before them all.

use super::drop_unused;
use crate::function::{Function, Value};
use crate::opcode::Opcode;
use crate::program::{Mapping, Program, Source};
use crate::simplify::simplify;
use crate::types::Type;

/// How elements change a component.
#[derive(Clone, PartialEq, Debug)]
pub enum Change {
    /// None does.
    Never,
    /// It becomes at least the place of each element of some kind.
    Last {
        /// Whether an element is of the kind, a `bool`.
        holds: Mapping,
        /// Its place, a `u64`, is its index and so much more.
        offset: u64,
    },
}

impl Change {
    /// How elements change a component, if that is one of these ways.
    ///
    /// # Panics
    /// If there is no such component.
    pub fn of(program: &Program, stage: usize, component: usize) -> Option<Change> {
        let declared = &program.stages[stage];
        let identity = declared.identity[component];
        let lift = simplify(&declared.lift.function, &program.tables);
        let result = lift.results[component];
        if lift.as_constant(result) == Some(identity) {
            return Some(Change::Never);
        }
        let combine = simplify(&declared.combine, &program.tables);
        let largest = combine.inst(combine.results[component]).filter(|inst| inst.opcode == Opcode::Max)?;
        let mut both: Vec<usize> = largest.operands().iter().map(|operand| operand.index()).collect();
        both.sort_unstable();
        if largest.ty != Type::U64 || identity.bits() != 0 || both != [component, declared.state.len() + component] {
            return None;
        }
        let chosen = lift.inst(result).filter(|inst| inst.opcode == Opcode::Select)?;
        let &[condition, place, otherwise] = chosen.operands() else { return None };
        let offset = offset(&lift, &declared.lift.reads, place)?;
        if lift.as_constant(otherwise) != Some(identity) {
            return None;
        }
        let function = Function { results: vec![condition], ..lift.clone() };
        let function = simplify(&function, &program.tables);
        let holds = drop_unused(Mapping { reads: declared.lift.reads.clone(), function }, 0);
        reads_no_state(&holds).then_some(Change::Last { holds, offset })
    }
}

/// Whether a mapping follows from records, their places and parameters.
pub fn reads_no_state(mapping: &Mapping) -> bool {
    mapping.reads.iter().all(|source| {
        let is_of_records = matches!(source, Source::Record(_) | Source::Next(_) | Source::Prev(_));
        is_of_records || matches!(source, Source::First | Source::Last | Source::Index | Source::Parameter(_))
    })
}

/// How much larger a value is than the element's index, if it is the index and a small constant: no call has so many elements that
/// it wraps around.
fn offset(function: &Function, reads: &[Source], value: Value) -> Option<u64> {
    if let Some(source) = reads.get(value.index()) {
        return (*source == Source::Index).then_some(0);
    }
    let sum = function.inst(value).filter(|inst| inst.opcode == Opcode::Add)?;
    let &[a, b] = sum.operands() else { return None };
    let small = |value| u32::try_from(function.as_constant(value)?.bits()).ok();
    let sum_of = |index, constant| Some(offset(function, reads, index)? + u64::from(small(constant)?));
    sum_of(a, b).or_else(|| sum_of(b, a))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{text, verify};

    /// How elements change the only component of a program with this lift of (record, index, state of nothing) and this operator.
    fn change(lift: &str, operator: &str, identity: &str) -> Option<Change> {
        let source = format!(
            "program one
  input {{ size 1, align 1, bool @ 0 }}
  stage (u64)
    identity ({identity})
    lift (%0 = record.0: bool, %1 = index: u64) {{
      %2 = const.u64 0
      %3 = const.u64 1
      {lift}
    }}
    combine (%0: u64, %1: u64) {{
      %2 = {operator}.u64 %0, %1
      return %2
    }}
  output write
    column {{ size 8, align 8, u64 @ 0 }}
    project (%0 = state.0: u64) {{ return %0 }}"
        );
        let program = verify(text::parse(&source).expect("it parses")).expect("it is typed as it should be");
        Change::of(&program, 0, 0)
    }

    #[test]
    fn places_of_the_last_are_found() {
        let last = |lift: &str| match change(lift, "max", "0") {
            Some(Change::Last { offset, .. }) => Some(offset),
            _ => None,
        };
        assert_eq!(last("%4 = select.u64 %0, %1, %2\n      return %4"), Some(0));
        let sums = ["%4 = add.u64 %1, %3\n      %5 = add.u64 %3, %4", "%4 = add.u64 %3, %1\n      %5 = add.u64 %4, %3"];
        for sum in sums {
            assert_eq!(last(&format!("{sum}\n      %6 = select.u64 %0, %5, %2\n      return %6")), Some(2));
        }
        // Of the others, or of all, or places that fall, or that may be anything.
        assert_eq!(last("%4 = select.u64 %0, %2, %3\n      return %4"), None);
        assert_eq!(last("return %1"), None);
        assert_eq!(last("%4 = sub.u64 %3, %1\n      %5 = select.u64 %0, %4, %2\n      return %5"), None);
        assert_eq!(last("%4 = mul.u64 %1, %1\n      %5 = select.u64 %0, %4, %2\n      return %5"), None);
    }

    #[test]
    fn other_operators_are_none() {
        let lift = "%4 = select.u64 %0, %1, %2\n      return %4";
        assert_eq!(change(lift, "add", "0"), None);
        assert_eq!(change(lift, "max", "1"), None);
        assert_eq!(change("return %2", "add", "0"), Some(Change::Never));
        assert_eq!(change("return %3", "add", "0"), None);
    }
}
