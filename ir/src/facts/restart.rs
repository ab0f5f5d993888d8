//! Restarts: a flag that, where it is set in a state, makes `combine` forget every state before.
//!
//! The state of a segmented scan says whether a segment began in it. If one did, `combine(p, q)` is
//! the same for all p. So what comes after a tile often follows from its last few elements,
//! whatever came before them.

use crate::function::Function;
use crate::program::Stage;
use crate::simplify::{simplify, used_values};
use crate::types::{Constant, Type};
use crate::{FunctionBuilder, Table};

/// The first component of a stage such that `combine` depends on the later state alone where it is true there.
pub(super) fn restart(stage: &Stage, tables: &[Table]) -> Option<u32> {
    let flags = (0..).zip(&stage.state).filter(|(_, ty)| **ty == Type::Bool).map(|(component, _)| component);
    let components = stage.state.len();
    let forgets = |&component: &u32| {
        let set = simplify(&with_flag(&stage.combine, components + component as usize), tables);
        used_values(&set)[..components].iter().all(|used| !used)
    };
    flags.into_iter().find(forgets)
}

/// A function with `true` for one of its parameters, which it still has.
fn with_flag(function: &Function, param: usize) -> Function {
    let mut b = FunctionBuilder::new();
    let mut arguments = b.params(&function.params);
    arguments[param] = b.constant(Constant::from(true));
    let results = b.inline(function, &arguments);
    b.finish(&results)
}
