//! The body of one pass and of replays where the program was derived from a loop: the loop's own
//! step.
//!
//! What is carried from element to element is the loop's state. It is entered from the components
//! of the stages that a slot has before a block, and left to them behind it ([`Ends`]). So every
//! block of a scan is the loop to the bit, at the loop's cost.

use super::body::{Body, narrowed};
use super::late::carried_last;
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

/// The loop's body in place of one that carries these components, with the outputs or without. None if the program was not derived
/// from a loop, or if the loop needs more than these components say.
pub(super) fn in_place_of(body: &Body, program: &Program, rank: Option<u32>, writes: bool) -> Option<Body> {
    let of = program.sequential.as_ref()?;
    let carried = &body.carried;
    let counts = rank.is_some_and(|rank| carried.last() == Some(&(rank, 0)));
    let places: Vec<usize> = carried.iter().filter_map(|&component| place(program, of, component)).collect();
    if places.len() + usize::from(counts) != carried.len() {
        return None;
    }
    let whole = element(program, of, rank.filter(|_| counts), writes);
    let left = Function { results: places.iter().map(|&place| of.leave.results[place]).collect(), ..of.leave.clone() };
    let left = simplify(&left, &program.tables);
    // The loop's components that go from element to element: those that outputs and the carried ones need. The rank does.
    let mut asked = used_values(&left)[..of.initial.len()].to_vec();
    asked.extend(counts.then_some(true));
    let (mapping, mut needed) = narrowed(whole, asked);
    needed.truncate(of.initial.len());
    let entered = of.enter.results.iter().zip(&needed).filter(|(_, needed)| **needed).map(|(&result, _)| result);
    let entered = Function { results: entered.collect(), ..of.enter.clone() };
    let entered = simplify(&entered, &program.tables);
    let used = used_values(&entered);
    if (0..entered.params.len()).any(|param| used[param] && !places.contains(&param)) {
        return None;
    }
    let is_carried: Vec<bool> = (0..entered.params.len()).map(|param| places.contains(&param)).collect();
    let enter = counted(&restrict_params(&entered, &is_carried), counts);
    let leave = counted(&restrict_params(&left, &needed), counts);
    Some(carried_last(Body { mapping, carried: carried.clone(), ends: Some(Ends { enter, leave }) }))
}

/// Where a component of a stage is among those of all stages that stand for the loop.
fn place(program: &Program, of: &Sequential, (stage, component): (u32, u32)) -> Option<usize> {
    let before: usize = program.stages[..stage as usize].iter().map(|stage| stage.state.len()).sum();
    Some(before + component as usize).filter(|&place| place < of.enter.params.len())
}

/// One element: from the loop's state, and the rank if records are counted, to the same after it, the outputs, and whether the
/// record is kept.
fn element(program: &Program, of: &Sequential, rank: Option<u32>, writes: bool) -> Mapping {
    let state: Vec<Source> = (0..of.initial.len() as u32).map(Source::State).collect();
    let counter = rank.map(|stage| Source::Before { stage, component: 0 });
    let outputs = || [&of.project].into_iter().filter(|_| writes);
    let filter = of.filter.as_ref().filter(|_| counter.is_some());
    let mappings = || [&of.step].into_iter().chain(outputs()).chain(filter);
    let mut inputs: Vec<Source> = mappings().flat_map(|mapping| mapping.reads.iter().copied()).collect();
    inputs.retain(|source| !matches!(source, Source::Before { .. } | Source::After { .. } | Source::State(_)));
    inputs.sort();
    inputs.dedup();
    let reads = [state, counter.into_iter().collect(), inputs].concat();
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
    let kept = filter.map(|filter| inline(&mut b, filter, &after)[0]);
    if let Some(kept) = kept {
        let one_or_none = b.cast(Type::U64, kept);
        results.push(b.binary(crate::opcode::Opcode::Add, params[of.initial.len()], one_or_none));
    }
    outputs().for_each(|mapping| results.extend(inline(&mut b, mapping, &after)));
    results.extend(kept.filter(|_| writes));
    Mapping { reads, function: simplify(&b.finish(&results), &program.tables) }
}

/// The function with one more number that passes through it, if records are counted.
fn counted(function: &Function, counts: bool) -> Function {
    let mut b = FunctionBuilder::new();
    let arguments = b.params(&function.params);
    let counter = counts.then(|| b.param(Type::U64));
    let mut results = b.inline(function, &arguments);
    results.extend(counter);
    b.finish(&results)
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
