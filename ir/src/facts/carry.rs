//! The carry update: how a carry passes a block whose aggregate is known.
//!
//! It is `combine(carry, aggregate)`, cut down to the components that folds and replays behind the
//! block start from, and to what `combine` computes these from in the carry. For maps `x ↦ a·x + b`
//! with output `b` that is `b` alone: nothing needs the product of all `a` since the start of the
//! input, which would only run out of the range of its type.

use crate::function::Function;
use crate::program::Program;
use crate::simplify::{restrict_params, simplify, used_values};
use crate::transform::Lowered;

/// ⊕ of a stage in some of its components.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CarryUpdate {
    /// (carry, aggregate) → the new carry. Parameters are all components of both states; results are the components
    /// listed below.
    pub function: Function,
    /// Which components a carry has, in order.
    pub components: Vec<u32>,
}

impl CarryUpdate {
    /// In these components, and those that they are computed from.
    ///
    /// # Panics
    /// If the program has no such stage, or the stage no such component.
    pub fn of(program: &Program, stage: u32, components: impl IntoIterator<Item = u32>) -> CarryUpdate {
        let declared = &program.stages[stage as usize];
        let combine = simplify(&declared.combine, &program.tables);
        let mut components: Vec<u32> = components.into_iter().collect();
        loop {
            let results = components.iter().map(|&component| combine.results[component as usize]).collect();
            // What is part of a simple function is simple.
            let every = vec![true; combine.params.len()];
            let function = restrict_params(&Function { results, ..combine.clone() }, &every);
            let used = used_values(&function);
            let needed = |component: &u32| components.contains(component) || used[*component as usize];
            let grown: Vec<u32> = (0..declared.state.len() as u32).filter(needed).collect();
            if grown == components {
                return CarryUpdate { function, components };
            }
            components = grown;
        }
    }
}

impl Lowered {
    /// The carry update of a stage: in the components that the replay starts from, and the folds of
    /// [levels](Lowered::levels) above the stage's own.
    ///
    /// # Panics
    /// If the program has no such stage.
    pub fn carry_update(&self, stage: u32) -> CarryUpdate {
        let own = self.levels().iter().position(|level| level.stages.contains(&stage)).expect("each stage has a level");
        let folds = self.levels()[own + 1..].iter().map(|level| &level.body);
        let started = folds.chain([self.replay()]).flat_map(|body| &body.carried);
        let mut components: Vec<u32> = started.filter(|of| of.0 == stage).map(|&(_, component)| component).collect();
        components.sort_unstable();
        components.dedup();
        CarryUpdate::of(self, stage, components)
    }

    /// ⊕ of a stage in all its components: for totals, which are told to the caller.
    ///
    /// # Panics
    /// If the program has no such stage.
    pub fn whole_combine(&self, stage: u32) -> CarryUpdate {
        CarryUpdate::of(self, stage, 0..self.stages[stage as usize].state.len() as u32)
    }
}
