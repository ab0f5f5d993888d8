//! Restarts: states q for which `combine(p, q)` is the same for all p.
//!
//! The state of a segmented scan has a flag that says whether a segment began in it. The state of
//! an automaton is a map between states. After a few dozen symbols it is often constant: it leads
//! all states to one. So what comes after a tile often follows from its last few elements alone.

use crate::automaton;
use crate::function::Function;
use crate::program::Stage;
use crate::simplify::{simplify, used_values};
use crate::types::{Constant, Type};
use crate::{FunctionBuilder, Table};

/// The property of the later of two states by which `combine` forgets the earlier one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Restart {
    /// This `bool` component is true.
    Flag(u32),
    /// The stage is an automaton. Its map leads all states to one: all bytes of all vectors are equal.
    ConstantMap,
}

/// How states of a stage restart, if they do: by the first flag that makes them.
pub(super) fn restart(stage: &Stage, tables: &[Table]) -> Option<Restart> {
    if automaton::is_automaton(stage, tables) {
        return Some(Restart::ConstantMap);
    }
    let flags = (0..).zip(&stage.state).filter(|(_, ty)| **ty == Type::Bool).map(|(component, _)| component);
    let components = stage.state.len();
    let forgets = |&component: &u32| {
        let set = simplify(&with_flag(&stage.combine, components + component as usize), tables);
        used_values(&set)[..components].iter().all(|used| !used)
    };
    flags.into_iter().find(forgets).map(Restart::Flag)
}

/// A function with `true` for one of its parameters, which it still has.
fn with_flag(function: &Function, param: usize) -> Function {
    let mut b = FunctionBuilder::new();
    let mut arguments = b.params(&function.params);
    arguments[param] = b.constant(Constant::from(true));
    let results = b.inline(function, &arguments);
    b.finish(&results)
}
