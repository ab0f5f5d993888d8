//! The body of one pass and of replays where the program was derived from a loop: the loop's own
//! step.
//!
//! The loop's state passes from element to element. It is entered from the components of the stages
//! that a slot has before a block, and left to them behind it ([`Ends`]). So every block of a scan
//! is the loop to the bit, at the loop's cost. Maps of an automaton are the loop to the bit too:
//! where composing them takes less, they stay.

use super::body::{Body, narrowed};
use super::chain::shortened;
use super::late::carried_last;
use super::path::{carried_latency, work};
use super::ranges::{Range, value_ranges};
use crate::builder::FunctionBuilder;
use crate::function::{Function, Value};
use crate::program::{Mapping, Program, Sequential, Source, Stage};
use crate::simplify::{restrict_params, simplify, used_values};
use crate::types::Type;

/// How the values that a body goes on from follow from the components of the stages, and these from them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ends {
    /// The [carried](Body::carried) components → what goes from element to element.
    pub enter: Function,
    /// And back.
    pub leave: Function,
}

/// The loop's body in place of one that carries these components, with the outputs or without; that one itself, if it composes maps in
/// less time. None if the program was not derived from a loop, or if the loop needs more than these components say.
pub(super) fn in_place_of(body: &Body, program: &Program, writes: bool) -> Option<Body> {
    let of = program.sequential.as_ref()?;
    let carried = &body.carried;
    let places: Vec<usize> = carried.iter().filter_map(|&component| place(program, of, component)).collect();
    if places.len() != carried.len() {
        return None;
    }
    let left = Function { results: places.iter().map(|&place| of.leave.results[place]).collect(), ..of.leave.clone() };
    let left = simplify(&left, &program.tables);
    // The loop's components that go from element to element: those that outputs and the carried ones need.
    let (mapping, needed) = narrowed(element(program, of, writes), used_values(&left)[..of.initial.len()].to_vec());
    let entered = of.enter.results.iter().zip(&needed).filter(|(_, needed)| **needed).map(|(&result, _)| result);
    let entered = Function { results: entered.collect(), ..of.enter.clone() };
    let entered = simplify(&entered, &program.tables);
    let used = used_values(&entered);
    if (0..entered.params.len()).any(|param| used[param] && !places.contains(&param)) {
        return None;
    }
    let is_carried: Vec<bool> = (0..entered.params.len()).map(|param| places.contains(&param)).collect();
    let ends = Ends { enter: restrict_params(&entered, &is_carried), leave: restrict_params(&left, &needed) };
    let own = shortened(carried_last(Body { mapping, carried: carried.clone(), ends: Some(ends) }));
    let are_maps = program.stages.iter().all(|stage| stage.automaton);
    let is_less = || 100 * thirds_of_cycles(body) <= MARGIN * thirds_of_cycles(&own);
    Some(if are_maps && is_less() { body.clone() } else { own })
}

/// The time below which maps are composed, in hundredths of what the step takes: counting is that good.
const MARGIN: u32 = 70;

/// How long an element takes, about: its chain, or all its instructions and the share of the loop, of which three start in a cycle.
fn thirds_of_cycles(body: &Body) -> u32 {
    let stages = body.carried.iter().map(|&(stage, _)| carried_latency(body, stage));
    (3 * stages.max().unwrap_or(0)).max(work(&body.mapping.function) + 2)
}

/// The body with the states of the loop in memory in place of those of the stages, which stand for them. It carries the same from
/// element to element. None if the program was not derived from a loop, or if stages have more than what stands for its state.
pub(super) fn in_loop_states(body: &Body, program: &Program) -> Option<Body> {
    let of = program.sequential.as_ref()?;
    if body.carried.len() != of.enter.params.len() {
        return None;
    }
    let then = |first: &Function, second: Option<&Function>| match second {
        Some(second) => simplify(&composed(first, second), &program.tables),
        None => first.clone(),
    };
    let enter = then(&of.leave, body.ends.as_ref().map(|ends| &ends.enter));
    let leave = match &body.ends {
        Some(ends) => then(&ends.leave, Some(&of.enter)),
        None => of.enter.clone(),
    };
    let carried = (0..of.initial.len() as u32).map(|component| (0, component)).collect();
    Some(Body { mapping: body.mapping.clone(), carried, ends: Some(Ends { enter, leave }) })
}

/// Whether every state of the loop is one that the stages' states stand for: it is left and entered as it was.
pub(super) fn takes_any_state(of: &Sequential, program: &Program) -> bool {
    let both = simplify(&composed(&of.leave, &of.enter), &program.tables);
    both.results.iter().map(|result| result.index()).eq(0..of.initial.len())
}

/// The second function of the results of the first.
fn composed(first: &Function, second: &Function) -> Function {
    let mut b = FunctionBuilder::new();
    let params = b.params(&first.params);
    let between = b.inline(first, &params);
    let results = b.inline(second, &between);
    b.finish(&results)
}

/// Where a component of a stage is among those of all stages that stand for the loop.
fn place(program: &Program, of: &Sequential, (stage, component): (u32, u32)) -> Option<usize> {
    let before: usize = program.stages[..stage as usize].iter().map(|stage| stage.state.len()).sum();
    Some(before + component as usize).filter(|&place| place < of.enter.params.len())
}

/// One element: from the loop's state to that after it, and the outputs.
fn element(program: &Program, of: &Sequential, writes: bool) -> Mapping {
    let state: Vec<Source> = (0..of.initial.len() as u32).map(Source::State).collect();
    let outputs = || [&of.project].into_iter().filter(|_| writes);
    let mappings = [&of.step].into_iter().chain(outputs());
    let mut inputs: Vec<Source> = mappings.flat_map(|mapping| mapping.reads.iter().copied()).collect();
    inputs.retain(|source| !matches!(source, Source::Before { .. } | Source::After { .. } | Source::State(_)));
    inputs.sort();
    inputs.dedup();
    let reads = [state, inputs].concat();
    let ty = |source: &Source| match *source {
        Source::State(component) => of.initial[component as usize].ty(),
        source => program.source_type(source).expect("a verified program reads what exists"),
    };
    let types: Vec<Type> = reads.iter().map(ty).collect();
    let mut b = FunctionBuilder::new();
    let params = b.params(&types);
    let before = &params[..of.initial.len()];
    let read = |source: Source, after: &[Value]| match source {
        Source::Before { component, .. } | Source::State(component) => before[component as usize],
        Source::After { component, .. } => after[component as usize],
        _ => params[reads.iter().position(|&read| read == source).expect("every source is read")],
    };
    let inline = |b: &mut FunctionBuilder, mapping: &Mapping, after: &[Value]| {
        let arguments: Vec<Value> = mapping.reads.iter().map(|&source| read(source, after)).collect();
        b.inline(&mapping.function, &arguments)
    };
    let after = inline(&mut b, &of.step, &[]);
    let mut results = after.clone();
    outputs().for_each(|mapping| results.extend(inline(&mut b, mapping, &after)));
    Mapping { reads, function: simplify(&b.finish(&results), &program.tables) }
}

/// The ranges of the stages' components: full, unless all that the loop's state may leave lies in them. So they hold whatever the
/// loop does, where it overflows too.
pub(super) fn widened(ranges: Vec<Vec<Range>>, program: &Program) -> Vec<Vec<Range>> {
    let Some(of) = &program.sequential else { return ranges };
    let values = value_ranges(&of.leave, &[], &program.tables);
    let left = of.leave.results.iter().map(|result| values[result.index()]);
    if ranges.iter().flatten().zip(left).all(|(range, left)| range.contains(left)) {
        return ranges;
    }
    let full = |stage: &Stage| stage.state.iter().map(|&ty| Range::full(ty)).collect();
    program.stages.iter().map(full).collect()
}
