//! The advance: how a carry passes a block whose aggregate is known.
//!
//! It is `combine(carry, aggregate)`, cut down to the components that those need who start from the carry, and whatever
//! `combine` computes these from in the carry. For maps `x ↦ a·x + b` with output `b` that is `b` alone: the product of
//! all `a` since the start of the input is nobody's business, and would only run out of the range of its type.

use super::Body;
use crate::function::Function;
use crate::program::{Program, Verified};
use crate::simplify::{simplify, used_values};

/// What a stage does to the carry of a block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Advance {
    /// (carry, aggregate) → the new carry. Parameters are all components of both states; results are the components
    /// listed below.
    pub function: Function,
    /// Which components a carry has, in order.
    pub components: Vec<u32>,
}

/// The advance of a stage between replays of this body.
///
/// # Panics
/// If the program has no such stage.
pub fn advance(program: &Verified<Program>, replay: &Body, stage: usize) -> Advance {
    advance_over(program, &[replay], stage as u32)
}

/// The advance of a stage whose carry all these bodies start from: the replay, and the folds of
/// [levels](super::fold_levels) above the stage's own.
///
/// # Panics
/// If the program has no such stage.
pub fn advance_over(program: &Verified<Program>, bodies: &[&Body], stage: u32) -> Advance {
    let carried = |component| bodies.iter().any(|body| body.carried.contains(&(stage, component)));
    let components = program.stages[stage as usize].state.len() as u32;
    closed(program, stage, (0..components).filter(|&component| carried(component)).collect())
}

/// The advance of a stage in all its components: for totals, which are told to whoever called.
///
/// # Panics
/// If the program has no such stage.
pub fn whole_combine(program: &Verified<Program>, stage: u32) -> Advance {
    closed(program, stage, (0..program.stages[stage as usize].state.len() as u32).collect())
}

/// The advance of these components, and of those that they are computed from.
fn closed(program: &Program, stage: u32, mut components: Vec<u32>) -> Advance {
    let declared = &program.stages[stage as usize];
    let combine = simplify(&declared.combine, &program.tables);
    loop {
        let results = components.iter().map(|&component| combine.results[component as usize]).collect();
        let function = simplify(&Function { results, ..combine.clone() }, &program.tables);
        let used = used_values(&function);
        let needed = |component: &u32| components.contains(component) || used[*component as usize];
        let grown: Vec<u32> = (0..declared.state.len() as u32).filter(needed).collect();
        if grown.len() == components.len() {
            return Advance { function, components };
        }
        components = grown;
    }
}
