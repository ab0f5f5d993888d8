//! Live components: what the outputs still need of a state once it is known in full before a tile.
//!
//! The projected components are live, and so is whatever the step computes a live component from. For composed maps
//! `x ↦ a·x + b` with output `b` the step's new `b` needs the old `b` and the element, never the old `a`: the replay
//! of a tile is the plain recurrence.

use super::body;
use crate::interp::Mode;
use crate::program::Program;

/// For each stage, for each component, whether it is live in an inclusive or an exclusive scan.
pub(super) fn live_components(program: &Program) -> Vec<Vec<bool>> {
    let mut live: Vec<Vec<bool>> = program.stages.iter().map(|stage| vec![false; stage.state.len()]).collect();
    for mode in [Mode::Inclusive, Mode::Exclusive] {
        for (stage, component) in body::replay(program, mode).carried {
            live[stage as usize][component as usize] = true;
        }
    }
    live
}
