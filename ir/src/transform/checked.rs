//! Checked scans: one more stage finds the first element at which the sequential loop overflows, or
//! that does not follow the state before it.
//!
//! The stage sees the states before each element, as every stage may. From these and the record it
//! does what the loop does there: lifts, combines, and computes the output. An integer that
//! overflows on the way ([`overflow`](super::overflow)) is an event, and so is a lifted state that
//! `follows` refuses. The stage's state is the earliest event, a maximum of integers (0: none; the
//! later the element, the smaller).
//!
//! That finds the loop's overflows if the states before elements are the loop's, and so they are
//! where the laws hold. Where they hold only as long as nothing overflows, the order in which a
//! scan combines may overflow though the loop does not. There the stage's state has more: what the
//! loop would have before the first element of its sequence of elements, and after the last. Where
//! two runs meet, both must be the same, else it is an event too: a state is not the loop's. So if
//! there is no event, then by induction every state is the loop's, whatever the laws; and the first
//! event, if it is an overflow, is the loop's first overflow. Likewise the states before the first
//! element that does not follow are the loop's, since laws hold of the elements before it.
//!
//! Components that hang on rounded floats are left out of this comparison, since another order
//! rounds otherwise.
//!
//! Of a program that was derived from a loop, that loop is meant, and not its stages
//! (`checked_loop`).

use super::checked_loop::{self, Seen};
use super::overflow::{self, Checked, and, any, sound};
use crate::builder::FunctionBuilder;
use crate::facts::{drop_unused, source_types};
use crate::function::{Function, Inst, Value};
use crate::laws;
use crate::opcode::Opcode;
use crate::program::{Mapping, Program, Source, Stage, Written};
use crate::types::{Constant, Type};

/// The first finding of a checked scan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The number of the element, in the order of the scan.
    pub element: u64,
    /// The event there.
    pub event: Event,
}

/// The events that a checked scan looks for, in the order in which the loop meets it at an element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// The state before the element is not the sequential loop's: combined in another order, something overflowed.
    Regrouped,
    /// An integer overflows in the lift of this stage.
    Lift(u32),
    /// The lifted state of this stage may not [follow](Stage::follows) the state before it.
    OutOfOrder(u32),
    /// An integer overflows in the operator of this stage.
    Combine(u32),
    /// An integer overflows in the step of the loop that the program was derived from.
    Step,
    /// An integer overflows in the function that says which records are kept.
    Filter,
    /// An integer overflows in the function that computes the output.
    Project,
}

/// Bits of an event's number that say what it is.
const KIND_BITS: u32 = 4;
/// The kinds behind those of the stages.
const STEP: u64 = 13;
const FILTER: u64 = 14;
const PROJECT: u64 = 15;

impl Event {
    fn kind(self) -> u64 {
        match self {
            Event::Regrouped => 0,
            Event::Lift(stage) => 1 + 3 * u64::from(stage),
            Event::OutOfOrder(stage) => 2 + 3 * u64::from(stage),
            Event::Combine(stage) => 3 + 3 * u64::from(stage),
            Event::Step => STEP,
            Event::Filter => FILTER,
            Event::Project => PROJECT,
        }
    }

    fn of_kind(kind: u64) -> Event {
        match kind {
            0 => Event::Regrouped,
            STEP => Event::Step,
            FILTER => Event::Filter,
            PROJECT => Event::Project,
            _ => {
                let stage = ((kind - 1) / 3) as u32;
                match kind % 3 {
                    1 => Event::Lift(stage),
                    2 => Event::OutOfOrder(stage),
                    _ => Event::Combine(stage),
                }
            }
        }
    }
}

/// The stage that checks a program, and how to read its state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Check {
    /// For each component that is compared where sequences of elements meet, its stage and place; those of a loop are of stage 0.
    compared: Vec<(u32, u32)>,
    types: Vec<Type>,
    /// How a loop's state follows from those of the stages, if the program was derived from one.
    seen: Option<Seen>,
}

/// Components of the stage's state before those that are compared.
const EVENT: usize = 0;
const SOME: usize = 1;
const START: usize = 2;
const BEGINS: usize = 3;
const FIRST: usize = 4;

impl Check {
    /// Whether an integer may overflow in a program at all, or an element be out of order: else there is nothing to check.
    pub fn is_needed(program: &Program) -> bool {
        if program.stages.iter().any(|stage| stage.follows.is_some()) {
            return true;
        }
        if let Some(written) = written(program) {
            return written.mappings().into_iter().any(|mapping| mapping.function.may_panic());
        }
        let stages = program.stages.iter();
        let functions = stages.flat_map(|stage| [&stage.lift.function, &stage.combine]);
        let outputs = program.output.filter.iter().chain([&program.output.project]).map(|mapping| &mapping.function);
        functions.chain(outputs).flat_map(|function| &function.insts).any(Inst::may_panic)
    }

    /// How a program is checked: one that a user wrote, not a lowered one.
    pub fn of(program: &Program) -> Check {
        if let (Some(of), Some(written)) = (&program.sequential, written(program)) {
            let types = of.types();
            let compared = checked_loop::compared(&types, written);
            return Check {
                types: compared.iter().map(|&component| types[component as usize]).collect(),
                compared: compared.into_iter().map(|component| (0, component)).collect(),
                seen: Some(Seen::new(program, of)),
            };
        }
        let stages = (0..).zip(&program.stages);
        let compared: Vec<(u32, u32)> = stages
            .flat_map(|(place, stage)| {
                laws::broken_by_overflow(stage).into_iter().map(move |component| (place, component as u32))
            })
            .collect();
        let ty = |&(stage, component): &(u32, u32)| program.stages[stage as usize].state[component as usize];
        Check { types: compared.iter().map(ty).collect(), compared, seen: None }
    }

    /// Bytes of the components that are compared where sequences of elements meet; the stage's state has all of them twice.
    pub fn compared_bytes(&self) -> usize {
        self.types.iter().map(|ty| ty.size()).sum()
    }

    /// How many components the stage's state has.
    pub fn components(&self) -> usize {
        self.state().len()
    }

    /// The finding, if there is one: from the stage's state after the last element of a sequence. `after` gives a component of a
    /// stage as the scan gives it after that element, if it does; then that is compared with the loop's.
    pub fn finding(&self, state: &[Constant], after: Option<&dyn Fn(u32, u32) -> Constant>) -> Option<Finding> {
        let number = |constant: Constant| constant.bits() as u64;
        let found = Some(number(state[EVENT])).filter(|&found| found != 0).map(|found| Finding {
            element: !found >> KIND_BITS,
            event: Event::of_kind(!found & ((1 << KIND_BITS) - 1)),
        });
        let ends = || {
            let (last, after) = (state.get(FIRST + self.types.len()..)?, after?);
            // A sequence without elements has no last state.
            state.get(SOME).filter(|is_some| is_some.bits() != 0)?;
            let seen = self.seen.as_ref().map(|seen| seen.state(after));
            let given = |&(stage, component): &(u32, u32)| match &seen {
                Some(seen) => seen[component as usize],
                None => after(stage, component),
            };
            let is_same = self.compared.iter().zip(last).all(|(component, last)| given(component).same(*last));
            (!is_same).then_some(Finding { element: u64::MAX, event: Event::Regrouped })
        };
        found.or_else(ends)
    }

    /// The stage for a program whose mappings read no `State`. Its lift gives false for whether the element begins a sequence.
    pub(super) fn stage(&self, program: &Program) -> Stage {
        let state = self.state();
        let identity = state.iter().map(|ty| ty.zero()).collect();
        Stage { state, identity, lift: self.lift(program), combine: self.combine(), ..Stage::default() }
    }

    fn state(&self) -> Vec<Type> {
        match self.types.is_empty() {
            true => vec![Type::U64],
            false => [&[Type::U64, Type::Bool, Type::U64, Type::Bool], &self.types[..], &self.types].concat(),
        }
    }

    /// The earliest event of two sequences of elements, or that they do not fit.
    fn combine(&self) -> Function {
        let state = self.state();
        let mut b = FunctionBuilder::new();
        let (x, y) = (b.params(&state), b.params(&state));
        let earliest = b.binary(Opcode::Max, x[EVENT], y[EVENT]);
        if self.types.is_empty() {
            return b.finish(&[earliest]);
        }
        let width = self.types.len();
        let mut differ = b.lit(false);
        for place in 0..width {
            let other = b.binary(Opcode::Ne, x[FIRST + width + place], y[FIRST + place]);
            differ = overflow::or(&mut b, differ, other);
        }
        let goes_on = b.unary(Opcode::Not, y[BEGINS]);
        let both = and(&mut b, x[SOME], y[SOME]);
        let meet = and(&mut b, both, goes_on);
        let broken = and(&mut b, meet, differ);
        let none = b.lit(0u64);
        let event = b.select(broken, y[START], none);
        let mut results = vec![b.binary(Opcode::Max, earliest, event), overflow::or(&mut b, x[SOME], y[SOME])];
        results.extend((START..FIRST + width).map(|place| b.select(x[SOME], x[place], y[place])));
        results.extend((FIRST + width..FIRST + 2 * width).map(|place| b.select(y[SOME], y[place], x[place])));
        b.finish(&results)
    }

    fn lift(&self, program: &Program) -> Mapping {
        if let (Some(of), Some(written)) = (&program.sequential, written(program)) {
            return checked_loop::lift(self, program, (of, written));
        }
        let mut step = Step::new(program, &[]);
        let mut events = Vec::new();
        for (place, stage) in (0u32..).zip(&program.stages) {
            let lifted = step.call(&stage.lift);
            events.push((Event::Lift(place), any(&mut step.b, &lifted)));
            let before = step.before(place);
            let both: Vec<Value> = before.into_iter().chain(lifted.iter().map(|part| part.value)).collect();
            let both: Vec<Checked> = both.into_iter().map(|value| sound(&mut step.b, value)).collect();
            if let Some(follows) = &stage.follows {
                // States on which it panics natively do not follow: laws are not asked of them.
                let verdict = overflow::inline(&mut step.b, follows, &both)[0];
                let refused = step.b.unary(Opcode::Not, verdict.value);
                let event = overflow::or(&mut step.b, refused, verdict.overflowed);
                events.push((Event::OutOfOrder(place), event));
            }
            let after = overflow::inline(&mut step.b, &stage.combine, &both);
            events.push((Event::Combine(place), any(&mut step.b, &after)));
            step.after.push(after.iter().map(|part| part.value).collect());
        }
        let kept = program.output.filter.as_ref().map(|filter| {
            let kept = step.call(filter);
            events.push((Event::Filter, any(&mut step.b, &kept)));
            kept[0].value
        });
        let written = step.call(&program.output.project);
        let mut overflowed = any(&mut step.b, &written);
        if let Some(kept) = kept {
            overflowed = and(&mut step.b, kept, overflowed);
        }
        events.push((Event::Project, overflowed));
        let states = |step: &Step<'_>, of: fn(u32, u32) -> Source| {
            self.compared.iter().map(|&(stage, component)| step.read(of(stage, component))).collect::<Vec<Value>>()
        };
        let before = states(&step, |stage, component| Source::Before { stage, component });
        let after = states(&step, |stage, component| Source::After { stage, component });
        step.finish(self, &events, [before, after])
    }

    /// The components that are compared.
    pub(super) fn compared(&self) -> impl Iterator<Item = u32> {
        self.compared.iter().map(|&(_, component)| component)
    }
}

/// The loop that a program was derived from, as it was written.
fn written(program: &Program) -> Option<&Written> {
    program.sequential.as_ref()?.checked.as_ref()
}

/// Lets the results of the stage's lift say whether the element begins a sequence, if they say so at all.
pub(super) fn begins(results: &mut [Value], begins: Value) {
    if let Some(result) = results.get_mut(BEGINS) {
        *result = begins;
    }
}

/// The step of the loop at one element, while it is written.
pub(super) struct Step<'p> {
    program: &'p Program,
    pub(super) b: FunctionBuilder,
    /// In order, each once.
    reads: Vec<Source>,
    params: Vec<Value>,
    /// The states after the element of the stages so far.
    pub(super) after: Vec<Vec<Value>>,
}

impl<'p> Step<'p> {
    /// Of a program, which reads these sources too.
    pub(super) fn new(program: &'p Program, more: &[Source]) -> Step<'p> {
        let stages = (0..).zip(&program.stages);
        let before = stages.flat_map(|(stage, of)| {
            (0..of.state.len() as u32).map(move |component| Source::Before { stage, component })
        });
        let read = program.mappings().flat_map(|mapping| mapping.reads.iter().copied());
        let is_outside = |source: &Source| !matches!(source, Source::After { .. });
        let read = read.chain(more.iter().copied()).filter(is_outside);
        let mut reads: Vec<Source> = before.chain(read).chain([Source::Index]).collect();
        reads.sort();
        reads.dedup();
        let mut b = FunctionBuilder::new();
        let params = b.params(&source_types(program, &reads));
        Step { program, b, reads, params, after: Vec::new() }
    }

    pub(super) fn read(&self, source: Source) -> Value {
        match source {
            Source::After { stage, component } => self.after[stage as usize][component as usize],
            _ => self.params[self.reads.binary_search(&source).expect("every source is read")],
        }
    }

    pub(super) fn before(&self, stage: u32) -> Vec<Value> {
        let components = 0..self.program.stages[stage as usize].state.len() as u32;
        components.map(|component| self.read(Source::Before { stage, component })).collect()
    }

    fn call(&mut self, mapping: &Mapping) -> Vec<Checked> {
        let arguments: Vec<Value> = mapping.reads.iter().map(|&source| self.read(source)).collect();
        let arguments: Vec<Checked> = arguments.into_iter().map(|value| sound(&mut self.b, value)).collect();
        overflow::inline(&mut self.b, &mapping.function, &arguments)
    }

    /// The mapping to a state of the stage: the first of these events that occurs, and what the loop has before and after of the
    /// components that are compared. That the state after it is not the loop's is an event of the next element.
    pub(super) fn finish(mut self, check: &Check, events: &[(Event, Value)], states: [Vec<Value>; 2]) -> Mapping {
        let index = self.read(Source::Index);
        let b = &mut self.b;
        let kind_bits = b.lit(KIND_BITS);
        let place = b.binary(Opcode::Shl, index, kind_bits);
        let numbered_at = |b: &mut FunctionBuilder, place: Value, event: Event| {
            let kind = b.lit(event.kind());
            let number = b.binary(Opcode::Or, place, kind);
            b.unary(Opcode::Not, number)
        };
        let numbered = |b: &mut FunctionBuilder, event: Event| match event {
            Event::Regrouped => {
                let one = b.lit(1u64 << KIND_BITS);
                let next = b.binary(Opcode::Add, place, one);
                numbered_at(b, next, event)
            }
            _ => numbered_at(b, place, event),
        };
        let mut event = b.lit(0u64);
        for &(kind, occurs) in events.iter().rev() {
            if b.as_constant(occurs).is_none_or(|constant| constant.bits() != 0) {
                let number = numbered(b, kind);
                event = b.select(occurs, number, event);
            }
        }
        let mut results = vec![event];
        if !check.types.is_empty() {
            let regrouped = numbered_at(b, place, Event::Regrouped);
            results.extend([b.lit(true), regrouped, b.lit(false)]);
            results.extend(states.into_iter().flatten());
        }
        let function = self.b.finish(&results);
        drop_unused(Mapping { reads: self.reads, function: function.unmarked() }, 0)
    }
}
