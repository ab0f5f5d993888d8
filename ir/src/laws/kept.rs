//! Identity and closure of operators that keep or set values, on the states that `valid` accepts.
//!
//! A state that keeps what was before has no value of its own: `valid` says which constant stands
//! there. So these laws do not hold of all states. They are proved in each case of the states'
//! flags: there a condition of `valid` is false, and there is no such state; or it says that a
//! component is a constant, which is put in its place.

use super::elements::{Assumptions, Elements, GaveUp, Id, Sides};
use super::group::Group;
use super::verdict::Proof;
use crate::function::Function;
use crate::program::Table;
use crate::types::{Constant, Type};

/// Work that one proof may take; about a tenth of a microsecond each.
const FUEL: usize = 16_000;
/// Most flags of all states of a law.
const MOST_FLAGS: usize = 7;

/// The sides of an equation of states.
type SidesOf<'s> = dyn Fn(&mut Elements<'_>, &[Vec<Id>]) -> Result<Sides, GaveUp> + 's;

/// A group, and its components → what `valid` asks of them.
pub(super) struct Kept<'a> {
    pub(super) group: &'a Group,
    pub(super) valid: &'a Function,
    pub(super) tables: &'a [Table],
    pub(super) assume: Assumptions,
}

impl Kept<'_> {
    /// The identity changes no valid state.
    pub(super) fn identity(&self) -> Option<Proof> {
        self.prove(1, &|elements, states| {
            let e: Vec<Id> = self.group.identity.iter().map(|&constant| elements.constant(constant)).collect();
            let x = &states[0];
            let both = [self.combined(elements, &e, x)?, self.combined(elements, x, &e)?].concat();
            Ok((both, [&x[..], x].concat()))
        })
    }

    /// Valid states combine to valid ones.
    pub(super) fn closure(&self) -> Option<Proof> {
        self.prove(2, &|elements, states| {
            let product = self.combined(elements, &states[0], &states[1])?;
            let holds = elements.call(self.valid, &product)?;
            let yes = elements.constant(Constant::from(true));
            Ok((holds.clone(), vec![yes; holds.len()]))
        })
    }

    fn combined(&self, elements: &mut Elements<'_>, x: &[Id], y: &[Id]) -> Result<Vec<Id>, GaveUp> {
        elements.call(&self.group.combine, &[x, y].concat())
    }

    /// An equation of so many valid states.
    fn prove(&self, states: usize, sides: &SidesOf<'_>) -> Option<Proof> {
        let flags = self.group.types.iter().filter(|ty| **ty == Type::Bool).count();
        if states * flags > MOST_FLAGS {
            return None;
        }
        let mut elements = Elements::new(self.tables, self.assume, FUEL);
        let mut cases = 0;
        let mut sides = |elements: &mut Elements<'_>| {
            let all: Result<Vec<_>, GaveUp> = (0..states).map(|number| self.state(elements, number)).collect();
            match all?.into_iter().collect::<Option<Vec<_>>>() {
                Some(states) => sides(elements, &states),
                None => Ok((Vec::new(), Vec::new())),
            }
        };
        let holds = elements.by_cases(&mut sides, &mut cases).ok()?;
        holds.then_some(Proof::Identity { means: elements.means, cases })
    }

    /// A valid state, with constants where they are known; none if there is none in the present case.
    fn state(&self, elements: &mut Elements<'_>, number: usize) -> Result<Option<Vec<Id>>, GaveUp> {
        let types = &self.group.types;
        let place = |component: usize| (number * types.len() + component) as u32;
        let mut state: Vec<Id> = types.iter().enumerate().map(|(i, &ty)| elements.variable(ty, place(i))).collect();
        for (&component, &ty) in state.iter().zip(types) {
            if ty == Type::Bool {
                elements.decide(component)?;
            }
        }
        for condition in elements.call(self.valid, &state)? {
            if elements.as_constant(condition) == Some(Constant::from(false)) {
                return Ok(None);
            }
            if let Some((component, constant)) = elements.as_equality(condition) {
                state.iter_mut().filter(|id| **id == component).for_each(|id| *id = constant);
            }
        }
        Ok(Some(state))
    }
}
