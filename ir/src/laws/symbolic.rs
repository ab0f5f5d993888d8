//! Proofs by normal forms: both sides of a law are computed on variables, and must come out as the
//! same thing.
//!
//! Where a `select` hangs on a condition that is not known, the proof goes on by cases: the
//! condition is taken to be true, then false. That covers every real case (and some that cannot
//! occur), so what holds in each of them holds.

use super::elements::{Assumptions, Elements, GaveUp, Id, Sides};
use super::fingerprint::{self, Print};
use super::verdict::Proof;
use crate::function::Function;
use crate::program::Table;
use crate::types::{Constant, Type};

/// Work that one proof may take; about a tenth of a microsecond each.
const FUEL: usize = 16_000;
/// Most instructions, over all cases, that are fingerprinted four times.
const POINTS: usize = 5_000;
/// Instructions of a large operator.
const LARGE: usize = 120;

/// A law about `combine` and `identity` that is one equation or two.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Equation {
    Associativity,
    Identity,
}

/// An operator: the whole of a stage's, or an independent part of it.
pub(crate) struct Operator<'a> {
    pub(crate) types: &'a [Type],
    pub(crate) identity: &'a [Constant],
    pub(crate) combine: &'a Function,
}

/// A proof that the equation holds on all states, if one is found.
pub(crate) fn prove(
    equation: Equation,
    operator: &Operator<'_>,
    tables: &[Table],
    assume: Assumptions,
) -> Option<Proof> {
    let by_points = || by_points(equation, operator);
    // What is large expands to something larger: there, points are tried first.
    if operator.combine.insts.len() > LARGE
        && let Some(proof) = by_points()
    {
        return Some(proof);
    }
    let mut elements = Elements::new(tables, assume, FUEL);
    let mut cases = 0;
    match elements.by_cases(&mut |elements| sides(equation, operator, elements), &mut cases) {
        Ok(true) => Some(Proof::Identity { means: elements.means, cases }),
        _ if operator.combine.insts.len() > LARGE => None,
        _ => by_points(),
    }
}

fn sides(equation: Equation, operator: &Operator<'_>, elements: &mut Elements<'_>) -> Result<Sides, GaveUp> {
    let width = operator.types.len();
    let state = |elements: &mut Elements<'_>, number: usize| -> Vec<Id> {
        let components = operator.types.iter().enumerate();
        components.map(|(i, &ty)| elements.variable(ty, (number * width + i) as u32)).collect()
    };
    let x = state(elements, 0);
    let combine = |elements: &mut Elements<'_>, a: &[Id], b: &[Id]| elements.call(operator.combine, &[a, b].concat());
    match equation {
        Equation::Associativity => {
            let (y, z) = (state(elements, 1), state(elements, 2));
            let xy = combine(elements, &x, &y)?;
            let yz = combine(elements, &y, &z)?;
            Ok((combine(elements, &xy, &z)?, combine(elements, &x, &yz)?))
        }
        Equation::Identity => {
            let e: Vec<Id> = operator.identity.iter().map(|&constant| elements.constant(constant)).collect();
            let both = [combine(elements, &e, &x)?, combine(elements, &x, &e)?].concat();
            Ok((both, [x.as_slice(), &x].concat()))
        }
    }
}

/// Equality at random points, in every case of the states' flags.
fn by_points(equation: Equation, operator: &Operator<'_>) -> Option<Proof> {
    let width = operator.types.len();
    let flags = operator.types.iter().filter(|ty| **ty == Type::Bool).count() as u32;
    let states = if equation == Equation::Associativity { 3 } else { 1 };
    let are_few = |cases: &usize| cases.checked_mul(operator.combine.insts.len()).is_some_and(|work| work <= POINTS);
    let cases = 1usize.checked_shl(states * flags).filter(are_few)?;
    let combine = |x: &[Print], y: &[Print]| fingerprint::call(operator.combine, &[x, y].concat());
    let mut bound = f64::INFINITY;
    for case in 0..cases {
        let mut rest = case;
        let mut state = |number: usize| -> Vec<Print> {
            let component = |(i, &ty): (usize, &Type)| match ty {
                Type::Bool => {
                    let known = rest & 1 == 1;
                    rest >>= 1;
                    Print::flag(known)
                }
                _ => Print::variable(number * width + i),
            };
            operator.types.iter().enumerate().map(component).collect()
        };
        let x = state(0);
        let certainty = match equation {
            Equation::Associativity => {
                let (y, z) = (state(1), state(2));
                fingerprint::equal(&combine(&combine(&x, &y), &z), &combine(&x, &combine(&y, &z)))
            }
            Equation::Identity => {
                let e: Vec<Print> = operator.identity.iter().map(|&constant| Print::constant(constant)).collect();
                let both = [combine(&e, &x), combine(&x, &e)].concat();
                fingerprint::equal(&both, &[x.as_slice(), &x].concat())
            }
        };
        bound = bound.min(certainty?);
    }
    let bound = bound - (cases as f64).log2();
    let reals = operator.types.iter().any(|ty| ty.is_float());
    (bound >= 100.0).then_some(Proof::RandomPoints { reals, bound: bound as u32, cases })
}
