//! A lowered program, and all that is known about it: what planners, code generators and engines
//! take.

use std::ops::Deref;

use super::{Check, Form, SegmentStart};
use crate::automaton::Cache;
use crate::builder::FunctionBuilder;
use crate::facts::{self, Body, Facts, Level, Range, StageFacts, Step};
use crate::program::{Mapping, Program, WellTyped};
use crate::types::Constant;

/// A program as engines run it for calls of one [`Form`]: the one that [`lower`](super::lower) made, analysed once.
///
/// It reads as the [`Program`] that it is. That keeps every invariant of the [verifier](mod@crate::verify) but its limits:
/// it may have three stages more, two columns more, for each stage a component more, and no output column. Cheap to read;
/// cloning it copies the program.
#[derive(Clone, PartialEq, Debug)]
pub struct Lowered {
    program: Program,
    form: Form,
    /// How many stages the program has that the user wrote.
    user_stages: usize,
    carried: Vec<usize>,
    rank: Option<u32>,
    check: Option<Check>,
    steps: Vec<Step>,
    facts: Facts,
    look_ups: Cache,
}

/// Where a component of a lowered program's state comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Role {
    /// The user's program has it.
    User,
    /// It is of the record before the next one: carries have it, initial states do not.
    Previous,
    /// Whether a segment began.
    SegmentFlag,
    /// The finding of a [checked](Form::checked) scan.
    Check,
    /// How many records were kept.
    Rank,
}

impl Lowered {
    /// Analyses a lowered program; `written` is the one it was made from, and the first stages have these steps.
    pub(super) fn new(
        program: Program,
        (form, written): (Form, &Program),
        check: Option<Check>,
        steps: Vec<Step>,
    ) -> Lowered {
        let rank = program.output.filter.is_some().then(|| program.stages.len() as u32 - 1);
        let user_stages = written.stages.len();
        let mut carried: Vec<usize> = written.stages.iter().map(|stage| stage.state.len()).collect();
        if form.previous && written.reads_previous() {
            carried.push(written.first_carry().len() - written.state_len());
        }
        let facts = facts::facts(&program, rank, &steps);
        let look_ups = Cache::default();
        Lowered { program, form, user_stages, carried, rank, check, steps, facts, look_ups }
    }

    /// The same for calls that start from states outside of the [ranges](StageFacts::ranges) that the program keeps to by
    /// itself: all ranges are [full](Range::full).
    pub fn for_any_states(mut self) -> Lowered {
        for (known, declared) in self.facts.stages.iter_mut().zip(&self.program.stages) {
            known.ranges = declared.state.iter().map(|&ty| Range::full(ty)).collect();
        }
        self.look_ups = Cache::default();
        self
    }

    /// The same program for reductions, which want the states after the last element alone: it writes nothing. A program
    /// that keeps goes on counting, and has its columns still, in which there needs to be no space.
    pub fn without_outputs(mut self) -> Lowered {
        if self.program.output.filter.is_none() {
            self.program.output.columns.clear();
            let nothing = Mapping { reads: Vec::new(), function: FunctionBuilder::new().finish(&[]) };
            if let Some(of) = &mut self.program.sequential {
                of.project = nothing.clone();
            }
            self.program.output.project = nothing;
            let ranges =
                self.facts.stages.iter_mut().map(|known| std::mem::take(&mut known.ranges)).collect::<Vec<_>>();
            self.facts = facts::facts(&self.program, self.rank, &self.steps);
            self.facts.stages.iter_mut().zip(ranges).for_each(|(known, ranges)| known.ranges = ranges);
            self.look_ups = Cache::default();
        }
        self
    }

    /// The same by its stages alone, if it was [derived](crate::Sequential) from a loop: what folds compute. What is known about it
    /// stays that of the loop's program: its ranges hold for both.
    pub fn by_stages(mut self) -> Lowered {
        self.program.sequential = None;
        self
    }

    /// The calls that it is for.
    pub fn form(&self) -> Form {
        self.form
    }

    /// The facts of each stage, in order.
    pub fn facts(&self) -> &[StageFacts] {
        &self.facts.stages
    }

    /// How its stages are folded, level by level; each stage is in one. Stages that read no other stage are level 0; one
    /// that does is one level above the highest that it reads. Folds leave out
    /// [length-only](StageFacts::length_only) components.
    pub fn levels(&self) -> &[Level] {
        &self.facts.levels
    }

    /// The code of an element in the replay of a tile, from the state before the tile. It carries what the outputs need, and no more. If
    /// records are kept, that includes the [rank](Lowered::rank), component 0 of its stage: it says where one goes.
    pub fn replay(&self) -> &Body {
        &self.facts.replay
    }

    /// All that an element does: every component is carried, every output made.
    pub(crate) fn whole(&self) -> &Body {
        &self.facts.whole
    }

    /// The last stage, if records are kept: its only component, a `u64`, is how many were kept. Before an element that is
    /// the element's place in the output, should it be kept.
    pub fn rank(&self) -> Option<u32> {
        self.rank
    }

    /// How to read the stage that a [checked](Form::checked) scan has behind those of the user.
    #[inline]
    pub fn check(&self) -> Option<&Check> {
        self.check.as_ref()
    }

    /// How many stages the user's program has. They are the first ones.
    pub fn user_stages(&self) -> usize {
        self.user_stages
    }

    /// How many components of each stage a stream carries: those that the user's stages have, and, with
    /// [`previous`](Form::previous), those of the last record. They are the first ones of their stages.
    pub fn carried_components(&self) -> &[usize] {
        &self.carried
    }

    /// The carry that a stream starts from, in these components: their identities.
    pub fn first_carry(&self) -> impl Iterator<Item = Constant> {
        self.program.stages.iter().zip(&self.carried).flat_map(|(stage, &own)| stage.identity[..own].iter().copied())
    }

    /// The look-ups that were searched in its automata so far.
    pub(crate) fn cache(&self) -> &Cache {
        &self.look_ups
    }

    /// The input column that has the start of each segment, the last one, if segments have [their
    /// own](SegmentStart::Each).
    pub fn starts(&self) -> Option<usize> {
        (self.form.start == SegmentStart::Each).then(|| self.program.inputs.len() - 1)
    }

    /// Where a component of a stage comes from.
    pub fn role(&self, stage: u32, component: u32) -> Role {
        match self.carried.get(stage as usize) {
            _ if self.rank == Some(stage) => Role::Rank,
            Some(&own) if component as usize >= own => Role::SegmentFlag,
            Some(_) if (stage as usize) < self.user_stages => Role::User,
            Some(_) => Role::Previous,
            None => Role::Check,
        }
    }

    /// Whether these components, the first ones [that a stream carries](Lowered::carried_components), lie in the ranges
    /// that kernels rely on. If not, a call needs the program [for any states](Lowered::for_any_states).
    pub fn holds(&self, state: &[Constant]) -> bool {
        self.beyond(state).is_none()
    }

    /// The first of these components that lies in no such range, by number, and the range.
    pub fn beyond(&self, state: &[Constant]) -> Option<(usize, Range)> {
        let ranges = self.facts.stages.iter().zip(&self.carried).flat_map(|(stage, &own)| &stage.ranges[..own]);
        let mut ranges = ranges.zip(state).enumerate();
        ranges.find(|(_, (range, component))| !range.holds(**component)).map(|(place, (&range, _))| (place, range))
    }

    /// Whether kernels rely on no range: every state lies in them.
    pub fn holds_any(&self) -> bool {
        let stages = self.facts.stages.iter().zip(&self.program.stages);
        let mut components = stages.flat_map(|(facts, stage)| facts.ranges.iter().zip(&stage.state));
        components.all(|(range, &ty)| *range == Range::full(ty))
    }
}

impl Deref for Lowered {
    type Target = Program;
    fn deref(&self) -> &Program {
        &self.program
    }
}

impl WellTyped for Lowered {}
