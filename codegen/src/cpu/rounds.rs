//! The rounds of a tile kernel: loops whose every round takes an element of each block.
//!
//! Where rounds are short, several are taken at a time: the places of those behind the first are
//! offsets in the accesses, and stepping and branching is shared. What is left over is taken one by
//! one.

use cranelift_codegen::ir::{self, BlockArg, InstBuilder, condcodes::IntCC};
use cranelift_frontend::FunctionBuilder;
use monoscan_ir::facts::Range;

use super::element::Element;
use super::error::CodegenError;
use super::kernel::{Loop, branch};
use super::lower::{Env, lower_function};
use super::place::{Place, Position};
use super::steady_state::{Prime, SteadyState};

/// Instructions of the elements of an unrolled loop, about, and most rounds of it.
const UNROLLED: usize = 32;
const MOST_AT_ONCE: usize = 4;

/// The values that go from round to round.
#[derive(Clone, Default)]
pub(super) struct Progress {
    /// The place of each block.
    pub(super) places: Vec<Place>,
    /// Rounds done, if numbers are counted apart from places.
    pub(super) round: Option<ir::Value>,
    /// The carried components, block by block.
    pub(super) states: Vec<ir::Value>,
    /// The values that pass to the next element, block by block.
    pub(super) ahead: Vec<ir::Value>,
}

impl Progress {
    fn values(&self) -> Vec<ir::Value> {
        let places: Vec<ir::Value> = self.places.iter().map(|place| place.base).collect();
        [&places[..], self.round.as_slice(), &self.states, &self.ahead].concat()
    }

    /// The same with other values.
    fn with(&self, values: &[ir::Value]) -> Progress {
        let (places, rest) = values.split_at(self.places.len());
        let (round, rest) = rest.split_at(self.round.iter().len());
        let (states, ahead) = rest.split_at(self.states.len());
        let places = places.iter().copied().map(Place::at).collect();
        Progress { places, round: round.first().copied(), states: states.into(), ahead: ahead.into() }
    }
}

/// Which elements a round of the loop may meet.
#[derive(Clone, Copy)]
pub(super) enum Round<'a> {
    /// Any.
    Any,
    /// Such as have a next one.
    SteadyState(&'a SteadyState),
}

impl Loop<'_> {
    /// Loops of so many rounds, each an element of every block: several rounds at a time where these are short, and what is left one
    /// by one. Gives what there is behind them.
    pub(super) fn all_rounds(
        &self,
        b: &mut FunctionBuilder<'_>,
        env: &Env<'_>,
        round: Round<'_>,
        rounds: ir::Value,
        outer: Progress,
    ) -> Result<Progress, CodegenError> {
        let at_once = self.at_once(round);
        if at_once == 1 {
            return self.rounds(b, env, round, (rounds, 1), outer);
        }
        let rest = b.ins().band_imm_u(rounds, at_once as i64 - 1);
        let most = b.ins().isub(rounds, rest);
        let behind = self.rounds(b, env, round, (most, at_once), outer)?;
        self.rounds(b, env, round, (rest, 1), behind)
    }

    /// How many rounds to take at a time, a power of two: so many that stepping and branching, about five instructions, are
    /// the lesser part.
    fn at_once(&self, round: Round<'_>) -> usize {
        let function = match round {
            Round::Any => &self.kernel.body.mapping.function,
            Round::SteadyState(steady_state) => &steady_state.function,
        };
        let columns = self.kernel.inputs.len() + self.kernel.outputs.len();
        let work = self.interleave as usize * (function.insts.len() + columns);
        1 << (UNROLLED / work.max(1)).clamp(1, MOST_AT_ONCE).ilog2()
    }

    /// A loop of so many rounds, a multiple of those `at_once`. Gives what there is behind it.
    pub(super) fn rounds(
        &self,
        b: &mut FunctionBuilder<'_>,
        env: &Env<'_>,
        round: Round<'_>,
        (rounds, at_once): (ir::Value, usize),
        outer: Progress,
    ) -> Result<Progress, CodegenError> {
        // What tells when the rounds are done: the rounds themselves, or the first block's place.
        let counter = |progress: &Progress| progress.round.unwrap_or(progress.places[0].base);
        let end = b.ins().iadd(counter(&outer), rounds);
        let kind = |b: &FunctionBuilder<'_>, value: ir::Value| b.func.dfg.value_type(value);
        let enter = b.create_block();
        let body = b.create_block();
        let exit = b.create_block();
        let before = outer.values();
        let after: Vec<ir::Value> = before.iter().map(|&v| b.append_block_param(exit, kind(b, v))).collect();
        branch(b, rounds, enter, &[], exit, &before);

        b.switch_to_block(enter);
        let mut first = outer.clone();
        if let Round::SteadyState(steady_state) = round {
            for &place in &outer.places {
                first.ahead.extend(self.primed(b, env, &steady_state.prime, place)?);
            }
        }
        let values = first.values();
        let params: Vec<ir::Value> = values.iter().map(|&v| b.append_block_param(body, kind(b, v))).collect();
        b.ins().jump(body, &values.iter().map(|&value| BlockArg::Value(value)).collect::<Vec<_>>());

        b.switch_to_block(body);
        let mut next = first.with(&params);
        for _ in 0..at_once {
            next = self.round(b, env, round, &next)?;
        }
        next.places.iter_mut().for_each(|place| *place = Place::at(place.value(b)));
        let more = b.ins().icmp(IntCC::UnsignedLessThan, counter(&next), end);
        let again = next.values();
        branch(b, more, body, &again, exit, &again[..before.len()]);

        b.switch_to_block(exit);
        Ok(outer.with(&after))
    }

    /// An element of every block.
    pub(super) fn round(
        &self,
        b: &mut FunctionBuilder<'_>,
        env: &Env<'_>,
        round: Round<'_>,
        now: &Progress,
    ) -> Result<Progress, CodegenError> {
        let interleave = self.interleave as usize;
        let (carried, ahead) = (now.states.len() / interleave, now.ahead.len() / interleave);
        let mut next = Progress::default();
        for block in 0..interleave {
            let place = now.places[block];
            let number = match (&self.numbers, now.round) {
                (Some(numbers), Some(round)) => b.ins().iadd(numbers[block], round),
                _ => place.value(b),
            };
            let before = [&now.states[block * carried..][..carried], &now.ahead[block * ahead..][..ahead]].concat();
            let mut results = self.element(b, env, round, Position { place, number }, &before)?;
            next.ahead.extend(results.split_off(carried));
            next.states.extend(results);
            next.places.push(self.data.following(b, place));
        }
        next.round = now.round.map(|round| b.ins().iadd_imm_u(round, 1));
        Ok(next)
    }

    /// The look-ahead of an element, from its record.
    fn primed(
        &self,
        b: &mut FunctionBuilder<'_>,
        env: &Env<'_>,
        prime: &Prime,
        place: Place,
    ) -> Result<Vec<ir::Value>, CodegenError> {
        let args: Vec<ir::Value> = prime.reads.iter().map(|&component| self.data.load(b, component, place)).collect();
        let ranges: Vec<Range> = prime.function.params.iter().map(|&ty| Range::full(ty)).collect();
        lower_function(b, &prime.function, &args, &ranges, env)
    }

    /// One element of one block: reads, computes, writes. From what is carried and, in the steady state, passed to this
    /// element, to the same after it.
    fn element(
        &self,
        b: &mut FunctionBuilder<'_>,
        env: &Env<'_>,
        round: Round<'_>,
        position: Position,
        before: &[ir::Value],
    ) -> Result<Vec<ir::Value>, CodegenError> {
        let (mapping, carried) = (&self.kernel.body.mapping, self.kernel.body.state_len());
        let (function, reads, ranges) = match round {
            Round::Any => (&mapping.function, &mapping.reads[carried..], self.kernel.ranges),
            Round::SteadyState(steady_state) => {
                (&steady_state.function, &steady_state.reads[..], &steady_state.ranges[..])
            }
        };
        let mut element = Element::new(position, matches!(round, Round::SteadyState(_)));
        let mut args = before.to_vec();
        for &source in reads {
            args.push(self.data.read(b, &mut element, source));
        }
        let mut results = lower_function(b, function, &args, ranges, env)?;
        let outputs: Vec<ir::Value> = results.drain(carried..carried + self.data.outputs()).collect();
        match self.kernel.rank {
            Some(rank) => {
                let kept = results.remove(carried);
                self.data.emit(b, (before[rank], kept), &outputs);
            }
            None => self.data.write(b, position.place, &outputs),
        }
        Ok(results)
    }
}
