//! [`Operator`]: what a scan is made of, with an identity or without.

use monoscan_ir::{Constant, FunctionBuilder, Type};

use super::element::View;
use super::program::Part;
use crate::lang::{self, Monoid, ScanType, Traced};
use crate::ops::{Semigroup, WithIdentity};

/// An associative operator, whose scan has the state `M`: a [`Monoid`], whose state is of its own type, or a
/// [`Semigroup`], whose state is a [`WithIdentity`] of it. It is there for each type that is one of these.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no operator that a scan can be made of",
    label = "neither a monoid nor a semigroup",
    note = "of a type of your own, write `#[scan_monoid] impl Monoid for {Self}`; or, if it has no identity, `impl Semigroup for {Self}`",
    note = "numbers are no operators: take one of `monoscan::ops`, as `Sum<i32>` or `Max<f64>`; a lift gives its values, as `Sum(x)`"
)]
pub trait Operator<M: Monoid>: ScanType {
    /// Whether every value of the state is one of the operator.
    #[doc(hidden)]
    const HAS_IDENTITY: bool;

    /// The state that the value is.
    #[doc(hidden)]
    fn into_state(self) -> M;

    /// The value that a state is, if it is one; else anything.
    #[doc(hidden)]
    fn of_state(state: M) -> Self;
}

impl<M: Monoid> Operator<M> for M {
    const HAS_IDENTITY: bool = true;

    #[inline]
    fn into_state(self) -> M {
        self
    }

    #[inline]
    fn of_state(state: M) -> M {
        state
    }
}

impl<S: Semigroup> Operator<WithIdentity<S>> for S {
    const HAS_IDENTITY: bool = false;

    #[inline]
    fn into_state(self) -> WithIdentity<S> {
        WithIdentity::of(self)
    }

    #[inline]
    fn of_state(state: WithIdentity<S>) -> S {
        state.value
    }
}

/// The state that a value of the operator is.
pub(super) fn state_of<O: Operator<M>, M: Monoid>() -> Part {
    let mut b = FunctionBuilder::new();
    let value = b.params(&types_of::<O>());
    lifted::<O, M>(part(b.finish(&value), View::Record))
}

/// The value of the operator that a state is, if it is one.
pub(super) fn value_of<M: Monoid>(has_identity: bool) -> Part {
    let mut b = FunctionBuilder::new();
    let state = b.params(&types_of::<M>());
    part(b.finish(&state[usize::from(!has_identity)..]), View::State)
}

/// A function that gives a value of the operator as one that gives a state: of a [`WithIdentity`], whose first component says
/// that there is a value.
pub(super) fn lifted<O: Operator<M>, M: Monoid>(mut part: Part) -> Part {
    if !O::HAS_IDENTITY {
        let function = &part.traced.function;
        let mut b = FunctionBuilder::new();
        let arguments = b.params(&function.params);
        let is_there = b.constant(Constant::from(true));
        let value = b.inline(function, &arguments);
        part.traced.function = b.finish(&[vec![is_there], value].concat());
    }
    part
}

fn types_of<T: ScanType>() -> Vec<Type> {
    lang::layout_of::<T>().types().collect()
}

fn part(function: monoscan_ir::Function, view: View) -> Part {
    Part {
        traced: Traced { function, tables: Vec::new(), places: Vec::new(), differs: false, name: "", arguments: &[] },
        view,
        parameters: Vec::new(),
    }
}
