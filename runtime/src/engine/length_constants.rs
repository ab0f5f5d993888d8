//! The components of aggregates that depend on the number of elements alone: what reductions leave
//! out.

use std::borrow::Cow;
use std::sync::OnceLock;

use monoscan_codegen::cpu::Compiled;
use monoscan_ir::facts::LengthOnly;
use monoscan_ir::transform::Lowered;
use monoscan_ir::{Constant, Field};
use monoscan_protocol::state::State;

use super::slots::Slots;

/// The length-only components of a program's aggregates.
pub(crate) struct LengthConstants {
    /// For each level.
    levels: Vec<LevelConstants>,
    /// How long a block usually is.
    block: usize,
}

struct LevelConstants {
    stages: Vec<(u32, LengthOnly)>,
    /// The components that a reduction carries all the same, since others need them.
    carried: Vec<(u32, u32)>,
    after_block: Option<State>,
    /// After fewer elements, each once it was asked for: lines of one length end in blocks of the same.
    after_fewer: OnceLock<Box<[OnceLock<Option<State>>]>>,
}

/// The most lengths that are kept.
const KEPT: usize = 4096;

impl LengthConstants {
    /// For blocks of this many elements, and for the shorter ones of a last strip.
    pub(crate) fn new(program: &Lowered, code: &Compiled, block: usize) -> LengthConstants {
        let level = |level| {
            let stages = code.stages_of(level).iter();
            let length_only = |&stage: &u32| (stage, program.facts()[stage as usize].length_only.clone());
            let stages: Vec<_> = stages.map(length_only).collect();
            let after_block = after(code, &stages, block);
            let carried = program.levels()[level].body.carried.clone();
            LevelConstants { stages, carried, after_block, after_fewer: OnceLock::new() }
        };
        LengthConstants { levels: (0..code.levels()).map(level).collect(), block }
    }

    /// The components of the aggregate of `block` elements that reductions leave out.
    pub(crate) fn left_out(&self, code: &Compiled, level: usize, block: usize) -> Vec<(Field, Constant)> {
        let LevelConstants { stages, carried, .. } = &self.levels[level];
        known(code, stages, block, |component| !carried.contains(&component))
    }

    /// A slot with the components that are known of the aggregate of `block` elements, and zero elsewhere, if there are any.
    #[inline]
    pub(crate) fn after(&self, code: &Compiled, level: usize, block: usize) -> Option<Cow<'_, State>> {
        let level = &self.levels[level];
        let after_block = level.after_block.as_ref()?;
        if block == self.block {
            return Some(Cow::Borrowed(after_block));
        }
        let fewer = || (0..self.block.min(KEPT)).map(|_| OnceLock::new()).collect();
        let after = || after(code, &level.stages, block);
        match level.after_fewer.get_or_init(fewer).get(block) {
            Some(kept) => kept.get_or_init(after).as_ref().map(Cow::Borrowed),
            None => after().map(Cow::Owned),
        }
    }
}

fn after(code: &Compiled, stages: &[(u32, LengthOnly)], block: usize) -> Option<State> {
    let known = known(code, stages, block, |_| true);
    (!known.is_empty()).then(|| Slots::one(code.state_layout(), known).state(0))
}

fn known(
    code: &Compiled,
    stages: &[(u32, LengthOnly)],
    block: usize,
    is_wanted: impl Fn((u32, u32)) -> bool,
) -> Vec<(Field, Constant)> {
    let mut known = Vec::new();
    for (stage, length_only) in stages {
        let components = (0..).zip(length_only.after(block as u64));
        for (component, value) in components.filter(|&(component, _)| is_wanted((*stage, component))) {
            known.extend(code.state_layout().field(*stage, component).zip(value));
        }
    }
    known
}
