//! Linear arithmetic over the integers, by cases: conditions that hold for all arguments.
//!
//! In each case of what a function hangs on, a value of it is a linear form of the arguments
//! (`values`). It hangs on which of two numbers is the smaller one, and on whether a sum leaves its
//! type, where it wraps and is off by 2^k. A case is a set of linear inequalities. Those that have
//! no solution (`simplex`) are left out, and in all others the condition must be true. So this is
//! exact, to the ends of the types.
//!
//! Arithmetic that is not [meant to wrap](crate::Payload::Wraps) is taken to stay in its type.

mod form;
mod simplex;
mod values;

use rustc_hash::FxHashMap;

use crate::function::{Function, Payload, Value};
use crate::opcode::Opcode;
use crate::program::Table;
use crate::types::Type;

use form::Form;
use simplex::Simplex;

/// That conditions hold for all arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Holds {
    /// In so many cases.
    pub(crate) cases: usize,
    /// Whether that takes that nothing leaves its type which is not meant to.
    pub(crate) no_overflow: bool,
}

/// Whether all results of a function but the first `premises` are true for all arguments for which these are; all are `bool`s. None
/// if that is not so, if there are no such arguments, or if it is not found out with this much work: about so many inequalities.
pub(crate) fn prove(function: &Function, premises: usize, tables: &[Table], fuel: usize) -> Option<Holds> {
    let mut cases = Cases {
        function,
        tables,
        ranges: Vec::new(),
        names: FxHashMap::default(),
        trail: Vec::new(),
        place: 0,
        simplex: Simplex::default(),
        known: Vec::new(),
        residues: Vec::new(),
        fuel,
        assumed: false,
    };
    let mut count = 0;
    loop {
        match cases.one(premises) {
            Ok(()) => count += 1,
            Err(Ended::Impossible) => {}
            Err(Ended::GaveUp) => return None,
        }
        if !cases.next() {
            // Of what no arguments do, nothing is said.
            return (count > 0).then_some(Holds { cases: count, no_overflow: cases.assumed });
        }
    }
}

/// A value in the present case.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Known {
    Number(Form),
    Truth(bool),
    /// Neither: a float or a vector, by its number.
    Other(u32),
}

/// The name of a variable: equal names, equal values.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Name {
    Parameter(usize),
    Operation(Opcode, Type, Payload, Vec<Known>),
}

/// Why a case has no verdict.
enum Ended {
    /// No arguments lead to it.
    Impossible,
    GaveUp,
}

/// An inequality that was decided on the way to the present case.
struct Decided {
    holds: bool,
    /// The case in which it is the other way round, if that is to be looked at yet.
    other: Option<Simplex>,
}

struct Cases<'a> {
    function: &'a Function,
    tables: &'a [Table],
    /// The least and the largest value of each variable.
    ranges: Vec<(i128, i128)>,
    /// The variables by what they are.
    names: FxHashMap<Name, u32>,
    /// The decisions on the way to the present case, in order.
    trail: Vec<Decided>,
    /// How much of it is used so far.
    place: usize,
    simplex: Simplex,
    known: Vec<Option<Known>>,
    /// Integers modulo 2^k, as far as they were asked for.
    residues: Vec<Option<Form>>,
    fuel: usize,
    assumed: bool,
}

fn range(ty: Type) -> (i128, i128) {
    (ty.least().as_int(), ty.greatest().as_int())
}

impl Cases<'_> {
    /// The case that the trail leads to, and goes on to.
    fn one(&mut self, premises: usize) -> Result<(), Ended> {
        self.place = 0;
        self.known = vec![None; self.function.value_count()];
        self.residues = vec![None; self.function.value_count()];
        let function = self.function;
        let (premises, conclusions) = function.results.split_at(premises);
        // Of two ways in which a premise may be true most conclusions do not tell: they are asked for where one is false.
        let is_late = |premise: &Value| function.inst(*premise).is_some_and(|inst| inst.opcode == Opcode::Or);
        let (late, early): (Vec<Value>, Vec<Value>) = premises.iter().copied().partition(is_late);
        self.all(&early)?;
        for &conclusion in conclusions {
            if !self.truth(conclusion, 0)? {
                return self.all(&late).and(Err(Ended::GaveUp));
            }
        }
        Ok(())
    }

    /// Whether all of these are true: else no arguments lead to the case.
    fn all(&mut self, premises: &[Value]) -> Result<(), Ended> {
        for &premise in premises {
            if !self.truth(premise, 0)? {
                return Err(Ended::Impossible);
            }
        }
        Ok(())
    }

    /// Turns the last inequality round whose other case is to be looked at yet.
    fn next(&mut self) -> bool {
        while let Some(decided) = self.trail.pop() {
            if let Some(other) = decided.other {
                self.simplex = other;
                self.trail.push(Decided { holds: !decided.holds, other: None });
                return true;
            }
        }
        false
    }

    fn spend(&mut self) -> Result<(), Ended> {
        self.fuel = self.fuel.checked_sub(1).ok_or(Ended::GaveUp)?;
        Ok(())
    }

    /// Whether `form ≤ 0`: in two cases, where both have a solution.
    fn decide(&mut self, form: &Form) -> Result<bool, Ended> {
        self.ask(form, true)
    }

    /// Goes on with `form ≤ 0` alone.
    fn assume(&mut self, form: &Form) -> Result<(), Ended> {
        if self.ask(form, false)? { Ok(()) } else { Err(Ended::Impossible) }
    }

    fn ask(&mut self, form: &Form, both: bool) -> Result<bool, Ended> {
        let (least, most) = form.range(&self.ranges).ok_or(Ended::GaveUp)?;
        if most <= 0 || least > 0 {
            return Ok(most <= 0);
        }
        if let Some(decided) = self.trail.get(self.place) {
            self.place += 1;
            return Ok(decided.holds);
        }
        if let Some(holds) = self.simplex.knows(form).ok_or(Ended::GaveUp)? {
            self.trail.push(Decided { holds, other: None });
            self.place += 1;
            return Ok(holds);
        }
        self.spend()?;
        let opposite = form.times(-1).and_then(|form| form.moved(1)).ok_or(Ended::GaveUp)?;
        let case = |form: &Form| self.simplex.clone().with_at_most_zero(form, &self.ranges).ok_or(Ended::GaveUp);
        // Where the solution that is known is no solution any more, there may be none; else there is one.
        let expected = self.simplex.is_at_most_zero(form, &self.ranges).ok_or(Ended::GaveUp)?;
        let (usual, unusual) = if expected { (form, &opposite) } else { (&opposite, form) };
        let decided = match case(unusual)? {
            None => Decided { holds: expected, other: None },
            Some(other) => {
                let (holds, fails) = match expected {
                    true => (case(usual)?, Some(other)),
                    false => (Some(other), case(usual)?),
                };
                match (holds, fails) {
                    (Some(holds), fails) => {
                        self.assumed |= !both && fails.is_some();
                        self.simplex = holds;
                        Decided { holds: true, other: fails.filter(|_| both) }
                    }
                    // The known solution was of fractions, and no integers are one.
                    (None, Some(fails)) if both => {
                        self.simplex = fails;
                        Decided { holds: false, other: None }
                    }
                    _ => return Err(Ended::Impossible),
                }
            }
        };
        let holds = decided.holds;
        self.trail.push(decided);
        self.place += 1;
        Ok(holds)
    }
}

#[cfg(test)]
mod tests;
