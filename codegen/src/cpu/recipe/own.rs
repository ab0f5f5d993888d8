//! [`OwnBodies`]: the bodies of a program that was derived from a loop, which run that loop's step,
//! or compose an automaton's maps where that takes less.

use monoscan_ir::facts::Body;
use monoscan_ir::transform::Lowered;

/// Bodies of such a program: the replay, the folds and the pass with whole states, and the total.
pub(super) struct OwnBodies {
    pub(super) replay: Body,
    pub(super) folds: Body,
    pub(super) writes: Body,
    pub(super) total: Body,
}

impl OwnBodies {
    /// All of them, if each has one.
    pub(super) fn of(program: &Lowered) -> Option<OwnBodies> {
        program.sequential.as_ref()?;
        let own = |body: &Body, writes| program.own_body(body, writes);
        Some(OwnBodies {
            replay: own(program.replay(), true)?,
            folds: own(&program.whole_body(false), false)?,
            writes: own(&program.whole_body(true), true)?,
            total: own(&program.total_body(), false)?,
        })
    }

    pub(super) fn all(&self) -> [&Body; 4] {
        [&self.replay, &self.folds, &self.writes, &self.total]
    }
}
