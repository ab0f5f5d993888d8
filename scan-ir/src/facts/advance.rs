//! The advance: how a carry passes a block whose aggregate is known.
//!
//! It is `combine(carry, aggregate)`, cut down to the components that a replay carries and whatever `combine` computes
//! those from in the carry. For maps `x ↦ a·x + b` with output `b` that is `b` alone: the product of all `a` since the
//! start of the input is nobody's business, and would only run out of the range of its type.

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
    let declared = &program.stages[stage];
    let combine = simplify(&declared.combine, &program.tables);
    let only = |components: &[usize]| {
        let results = components.iter().map(|&component| combine.results[component]).collect();
        simplify(&Function { results, ..combine.clone() }, &program.tables)
    };
    let carried = replay.carried.iter().filter(|(of, _)| *of as usize == stage);
    let mut components: Vec<usize> = carried.map(|&(_, component)| component as usize).collect();
    loop {
        let function = only(&components);
        let used = used_values(&function);
        let needed: Vec<usize> =
            (0..declared.state.len()).filter(|component| components.contains(component) || used[*component]).collect();
        if needed.len() == components.len() {
            let components = components.into_iter().map(|component| component as u32).collect();
            return Advance { function, components };
        }
        components = needed;
    }
}
