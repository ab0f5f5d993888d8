//! The components of aggregates that depend on the number of elements alone: what reductions leave
//! out.

use std::borrow::Cow;

use monoscan_codegen::cpu::Compiled;
use monoscan_ir::facts::LengthOnly;
use monoscan_ir::transform::Lowered;
use monoscan_ir::{Constant, Field};

/// The length-only components of a program's aggregates.
pub(crate) struct LengthConstants {
    /// For each level.
    levels: Vec<LevelConstants>,
    /// How long a block usually is.
    block: usize,
}

struct LevelConstants {
    stages: Vec<(u32, LengthOnly)>,
    after_block: Vec<(Field, Constant)>,
}

impl LengthConstants {
    /// For blocks of this many elements, and for the shorter ones of a last strip.
    pub(crate) fn new(program: &Lowered, code: &Compiled, block: usize) -> LengthConstants {
        let level = |level| {
            let stages = code.stages_of(level).iter();
            let length_only = |&stage: &u32| (stage, program.facts()[stage as usize].length_only.clone());
            let stages: Vec<_> = stages.map(length_only).collect();
            let after_block = after(code, &stages, block);
            LevelConstants { stages, after_block }
        };
        LengthConstants { levels: (0..code.levels()).map(level).collect(), block }
    }

    /// The components that are known of the aggregate of `block` elements.
    pub(crate) fn after(&self, code: &Compiled, level: usize, block: usize) -> Cow<'_, [(Field, Constant)]> {
        let level = &self.levels[level];
        match block == self.block || level.after_block.is_empty() {
            true => Cow::Borrowed(&level.after_block),
            false => Cow::Owned(after(code, &level.stages, block)),
        }
    }
}

fn after(code: &Compiled, stages: &[(u32, LengthOnly)], block: usize) -> Vec<(Field, Constant)> {
    let mut known = Vec::new();
    for (stage, length_only) in stages {
        for (component, value) in (0..).zip(length_only.after(block as u64)) {
            known.extend(code.state_layout().field(*stage, component).zip(value));
        }
    }
    known
}
