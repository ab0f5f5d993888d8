//! Absorbing states, which no element changes: a loop that found what it looked for is in one. A
//! flag tells, or a number that is not the sentinel any more.

use crate::builder::FunctionBuilder;
use crate::function::{Function, Inst};
use crate::opcode::Opcode;
use crate::program::{Source, Table};
use crate::simplify::simplify;
use crate::transform::Lowered;
use crate::types::{Constant, Type};

/// The component of states by which no element changes any of them: it is equal to a value, or it is not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Absorbing {
    /// Its number among the components of all stages, or, of a program that was derived from a loop, of the loop's state.
    pub component: usize,
    /// A `bool`, or an integer.
    pub value: Constant,
    /// Whether absorbing states have this value, or any other.
    pub is_equal: bool,
}

impl Absorbing {
    /// Whether a state is absorbing, by its component.
    #[inline]
    pub fn holds(&self, component: Constant) -> bool {
        (component == self.value) == self.is_equal
    }
}

impl Lowered {
    /// How states say that they are absorbing, if they do: by the first component that says so. It takes a simplification or two of an
    /// element's function for each `bool`, and for each comparison of an integer of the state with a constant.
    pub fn absorbing(&self) -> Option<Absorbing> {
        let Some(of) = &self.sequential else {
            let step = self.whole_body(false);
            let params: Vec<usize> = (0..step.state_len()).collect();
            return absorbing(&step.mapping.function, &params, &self.tables);
        };
        let param = |own: u32| {
            of.step.reads.iter().position(|source| match *source {
                Source::State(component) | Source::Before { component, .. } => component == own,
                _ => false,
            })
        };
        let params: Option<Vec<usize>> = (0..of.initial.len() as u32).map(param).collect();
        absorbing(&of.step.function, &params?, &self.tables)
    }
}

/// The same of a function whose first results are the components after an element, and these parameters the ones before it.
fn absorbing(step: &Function, params: &[usize], tables: &[Table]) -> Option<Absorbing> {
    let flags = (0..params.len()).filter(|&component| step.params[params[component]] == Type::Bool);
    let flags = flags.flat_map(|component| {
        [true, false].map(|is_equal| {
            let of = Absorbing { component, value: Constant::from(true), is_equal };
            (of, with_flag(step, params[component], is_equal))
        })
    });
    let compared = step.values().filter_map(|(value, inst)| {
        let [number, constant] = *inst.operands() else { return None };
        let component = params.iter().position(|&param| param == number.index())?;
        let is_equal = match inst.opcode {
            Opcode::Eq => true,
            Opcode::Ne => false,
            _ => return None,
        };
        let of = Absorbing { component, value: step.as_constant(constant)?, is_equal };
        of.value.ty().is_int().then_some((value.index() - step.params.len(), of))
    });
    let compared = compared.flat_map(|(place, of)| {
        [true, false].map(|outcome| {
            let mut decided = step.clone();
            decided.insts[place] = Inst::constant(Constant::from(outcome));
            (Absorbing { is_equal: of.is_equal == outcome, ..of }, decided)
        })
    });
    let stays = |(of, decided): &(Absorbing, Function)| {
        let decided = simplify(decided, tables);
        params.iter().zip(&decided.results).enumerate().all(|(place, (&before, &after))| {
            let is_flag = place == of.component && of.value.ty() == Type::Bool;
            after.index() == before || is_flag && decided.as_constant(after) == Some(Constant::from(of.is_equal))
        })
    };
    flags.chain(compared).find(stays).map(|(of, _)| of)
}

/// A function with this value for one of its parameters, which it still has.
fn with_flag(function: &Function, param: usize, value: bool) -> Function {
    let mut b = FunctionBuilder::new();
    let mut arguments = b.params(&function.params);
    arguments[param] = b.constant(value);
    let results = b.inline(function, &arguments);
    b.finish(&results)
}

#[cfg(test)]
mod tests {
    use super::Absorbing;
    use crate::transform::{Form, lower};
    use crate::types::Constant;
    use crate::{text, verify};

    fn of(stage: &str) -> Option<Absorbing> {
        let text = format!(
            "program stops input {{ size 4, align 4, i32 @ 0 }} stage {stage}
               output write column {{ size 4, align 4, i32 @ 0 }} project (%0 = state.0: i32) {{ return %0 }}"
        );
        lower(&verify(text::parse(&text).unwrap()).unwrap(), Form::default()).absorbing()
    }

    #[test]
    fn a_flag_that_keeps_the_state_is_absorbing() {
        // The first value above 7, and whether there was one.
        let first = |select: &str| {
            of(&format!(
                "(i32, bool) identity (0, false)
                 lift (%0 = record.0: i32) {{
                   %1 = const.i32 7
                   %2 = lt.bool %1, %0
                   return %0, %2
                 }}
                 combine (%0: i32, %1: bool, %2: i32, %3: bool) {{
                   %4 = select.i32 {select}, %0, %2
                   %5 = or.bool %1, %3
                   return %4, %5
                 }}"
            ))
        };
        assert_eq!(first("%1"), Some(Absorbing { component: 1, value: Constant::from(true), is_equal: true }));
        assert_eq!(first("%3"), None);
    }

    #[test]
    fn so_is_what_is_no_sentinel() {
        let first = |comparison: &str, values: &str| {
            of(&format!(
                "(i32) identity (-1) lift (%0 = record.0: i32) {{ return %0 }}
                 combine (%0: i32, %1: i32) {{
                   %2 = const.i32 -1
                   %3 = {comparison}.bool %0, %2
                   %4 = select.i32 %3, {values}
                   return %4
                 }}"
            ))
        };
        for of in [first("eq", "%1, %0"), first("ne", "%0, %1")].map(Option::unwrap) {
            assert_eq!(of, Absorbing { component: 0, value: Constant::from(-1i32), is_equal: false });
            assert!(of.holds(Constant::from(3i32)) && !of.holds(Constant::from(-1i32)));
        }
        assert_eq!(first("lt", "%1, %0"), None);
    }
}
