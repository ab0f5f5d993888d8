//! The states of a program: what sequences start from, and what a stream carries from chunk to
//! chunk.

use std::collections::BTreeSet;

use super::{Program, Sequential, Source, Stage};
use crate::interp;
use crate::types::{Constant, Type};

impl Program {
    /// Whether any mapping reads the record before, or asks whether there is one.
    pub fn reads_previous(&self) -> bool {
        let mut reads = self.mappings().flat_map(|mapping| &mapping.reads);
        reads.any(|source| matches!(source, Source::Prev(_) | Source::First))
    }

    /// The components of the record before that are read, in order, each once.
    pub fn previous(&self) -> Vec<u32> {
        let reads = self.mappings().flat_map(|mapping| &mapping.reads);
        let components = reads.filter_map(|source| match *source {
            Source::Prev(component) => Some(component),
            _ => None,
        });
        let components: BTreeSet<u32> = components.collect();
        components.into_iter().collect()
    }

    /// How many components the states of all stages have.
    #[inline]
    pub fn state_len(&self) -> usize {
        self.stages.iter().map(|stage| stage.state.len()).sum()
    }

    /// The identities of all stages, one after the other.
    pub fn identities(&self) -> Vec<Constant> {
        self.stages.iter().flat_map(|stage| stage.identity.iter().copied()).collect()
    }

    /// The states of all stages, one after the other, as a caller sees them: of a program that was derived from a loop, the loop's state
    /// and what is behind it.
    pub fn seen(&self, states: Vec<Constant>) -> Vec<Constant> {
        let Some(sequential) = &self.sequential else { return states };
        let (own, rest) = states.split_at(sequential.enter.params.len());
        let seen = interp::call(&sequential.enter, own, &self.tables);
        [&seen, rest].concat()
    }

    /// For each stage the state that sequences start from unless a call gives another: the identity, or what stands for the initial
    /// state of the loop.
    pub fn start(&self) -> Vec<Vec<Constant>> {
        match &self.sequential {
            Some(sequential) => self.standing_for(sequential, &sequential.initial),
            None => self.stages.iter().map(|stage| stage.identity.clone()).collect(),
        }
    }

    /// For each stage the state that stands for one of the loop.
    pub fn standing_for(&self, of: &Sequential, state: &[Constant]) -> Vec<Vec<Constant>> {
        let mut all = interp::call(&of.leave, state, &self.tables).into_iter();
        // A stage that lowering added is none of the loop's.
        let own = |stage: &Stage| {
            let own: Vec<Constant> = all.by_ref().take(stage.state.len()).collect();
            if own.is_empty() { stage.identity.clone() } else { own }
        };
        self.stages.iter().map(own).collect()
    }

    /// The carry that a stream starts from, and that each chunk leaves to the next: the states of all stages, at first the
    /// identities; and, if the program [reads the record before](Program::reads_previous), the
    /// [components](Program::previous) of that which are read, at first zeros, and whether there is none.
    pub fn first_carry(&self) -> Vec<Constant> {
        let mut carry = self.identities();
        if self.reads_previous() {
            let types = self.previous().into_iter().filter_map(|component| self.source_type(Source::Prev(component)));
            carry.extend(types.map(Type::zero));
            carry.push(Constant::from(true));
        }
        carry
    }

    /// How many components that is.
    pub fn carry_len(&self) -> usize {
        let previous = if self.reads_previous() { self.previous().len() + 1 } else { 0 };
        self.state_len() + previous
    }
}
