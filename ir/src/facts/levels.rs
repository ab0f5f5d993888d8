//! Levels: which stages of a cascade can be reduced side by side.
//!
//! A stage can be reduced over a tile once the lift knows all that it reads. If that is the record
//! alone, every tile can be reduced at once. If it is the state of another stage, the reduction
//! must follow that stage from its true state before the tile. So it waits for the carries of that
//! stage. A stage's *level* is how often such waiting comes before it. A tile of a cascade is
//! therefore folded once for each level, the carries of a level being known before the next one is
//! folded, and replayed once.

use super::body::{self, Body};
use super::drop_unused;
use crate::program::{Mapping, Program, Source};
use crate::simplify::simplify;
use crate::transform::Lowered;

/// The stages of a level, and how to reduce them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Level {
    /// The stages, in order.
    pub stages: Vec<u32>,
    /// The work of their reduction for one element. Of these stages it carries every component that is not length-only,
    /// and what those need of the same stage: from the identities to the tile's aggregate. Of stages of earlier levels
    /// it carries what the lifts need, as a replay does: from the true state before the tile.
    pub body: Body,
}

impl Level {
    /// The (stage, component) pairs of its stages, in order.
    pub fn components(&self, program: &Program) -> Vec<(u32, u32)> {
        let of_stage = |&stage: &u32| {
            let components = 0..program.stages[stage as usize].state.len() as u32;
            components.map(move |component| (stage, component))
        };
        self.stages.iter().flat_map(of_stage).collect()
    }
}

impl Lowered {
    /// The levels whose folds carry every component of their stages, those that depend on the length alone too: for an
    /// engine that combines aggregates of many lengths.
    pub fn full_levels(&self) -> Vec<Level> {
        levels(self, self.whole(), |_, _| false)
    }
}

/// The levels of a program, the first one first; each stage is in one. Stages that read no other stage are level 0; one
/// that does is one level above the highest that it reads. `whole` is its
/// whole element; `leaves_out` says which components of which stages folds do not carry.
pub(super) fn levels(program: &Program, whole: &Body, leaves_out: impl Fn(u32, u32) -> bool) -> Vec<Level> {
    let level_of = level_of_stages(program);
    let highest = level_of.iter().copied().max().unwrap_or(0);
    let level = |level: usize| Level {
        stages: (0..program.stages.len() as u32).filter(|&stage| level_of[stage as usize] == level).collect(),
        body: body::fold(whole, |stage, component| level_of[stage as usize] == level && !leaves_out(stage, component)),
    };
    (0..=highest).map(level).collect()
}

fn level_of_stages(program: &Program) -> Vec<usize> {
    // The stage that has the record before reads none, and comes behind those that read it.
    let mut levels = vec![0; program.stages.len()];
    for (place, stage) in program.stages.iter().enumerate() {
        let function = simplify(&stage.lift.function, &program.tables);
        let needed = drop_unused(Mapping { reads: stage.lift.reads.clone(), function }, 0);
        let above = needed.reads.iter().map(|source| match *source {
            Source::Before { stage, .. } | Source::After { stage, .. } => levels[stage as usize] + 1,
            _ => 0,
        });
        levels[place] = above.max().unwrap_or(0);
    }
    levels
}
