//! Kernel bodies: the straight-line function that an engine runs for one element of a tile.
//!
//! A tile is walked in two ways. A *fold* reduces it to what the next tiles must know; the *replay*
//! starts from the state before the tile and makes the outputs. Each carries only what it must: a
//! fold leaves out components that depend on the number of elements alone, the replay those that no
//! output needs. The replay holds all stages of a program, later ones reading earlier ones inside
//! the same function; there is a fold for each [level](Lowered::levels) of stages.

use super::late::carried_last;
use super::sequential::{self, Ends};
use super::step::{before, drop_unused, source_types};
use crate::builder::FunctionBuilder;
use crate::function::Value;
use crate::program::{Mapping, Program, Source};
use crate::simplify::{restrict_params, simplify, used_values};
use crate::transform::Lowered;

/// The code of one element.
///
/// The parameters are, first, the carried components before the element, in the order of `carried` (all of them, also
/// where one is overwritten unread), then those of other sources that are needed. The results
/// are, first, the new value of every carried component, in the same order; then, in a replay, the output components;
/// then, in the replay of an `emit`, whether the element is kept, as `bool`.
///
/// With `ends`, what goes from element to element is the state of a loop instead, which is read as [`Source::State`]. Of a body
/// [in the loop's states](Lowered::in_loop_states) the carried components are the loop's, as those of a stage 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Body {
    /// The function and what its parameters are.
    pub mapping: Mapping,
    /// The (stage, component) pairs that go from one element to the next, in that order.
    pub carried: Vec<(u32, u32)>,
    /// Of the body of a [loop](crate::Sequential), how its state follows from the carried components, and these from it.
    pub ends: Option<Ends>,
}

impl Body {
    /// How many values go from element to element: the carried components, or the state of the loop.
    pub fn state_len(&self) -> usize {
        self.ends.as_ref().map_or(self.carried.len(), |ends| ends.enter.results.len())
    }
}

impl Lowered {
    /// The code of an element in a reduction of a tile, all stages at once. It carries every component that is not length-only, and
    /// what those need. For a program of one stage it is the body of its only [level](Lowered::levels).
    ///
    /// Starting from the identities it computes the tile's aggregate in the carried components; the others follow from the
    /// tile's length by [`LengthOnly::after`](super::LengthOnly::after). Where the lift of a later stage reads an earlier
    /// stage's state, the later stage's aggregate is right only if the earlier stage started from its true state before the
    /// tile.
    pub fn fold(&self) -> Body {
        match self.levels() {
            [only] => only.body.clone(),
            _ => fold(self.whole(), |stage, component| {
                !self.facts()[stage as usize].length_only.components()[component as usize]
            }),
        }
    }

    /// The code of an element in one pass that leaves whole states behind. It carries every component of every stage, in order, and makes
    /// the outputs or, without `writes`, none.
    pub fn whole_body(&self, writes: bool) -> Body {
        let whole = if writes { self.whole().clone() } else { without_outputs(self.whole()) };
        let all = vec![true; whole.carried.len()];
        narrow(whole, all)
    }

    /// The body that does the same as one of these, or as the [replay](Lowered::replay), by the step of the loop that the program was
    /// [derived](crate::Sequential) from: it starts from the same components and leaves them behind. The body itself, if it composes
    /// maps of an automaton in less time. None of another program.
    pub fn own_body(&self, body: &Body, writes: bool) -> Option<Body> {
        sequential::in_place_of(body, self, writes)
    }

    /// One of the bodies of one pass with whole states, its own or not, for a caller whose states are those of the
    /// [loop](crate::Sequential) that the program was derived from: it carries the same from element to element. None of another
    /// program, or of one that has more states than stand for the loop's.
    pub fn in_loop_states(&self, body: &Body) -> Option<Body> {
        sequential::in_loop_states(body, self)
    }

    /// Whether the program may go from every state of the [loop](crate::Sequential) that it was derived from, those too that the loop
    /// never reaches. Not of another program.
    pub fn takes_any_loop_state(&self) -> bool {
        self.sequential.as_ref().is_some_and(|of| sequential::takes_any_state(of, self))
    }

    /// The same without outputs and without the [rank](Lowered::rank) that says where outputs go.
    pub fn total_body(&self) -> Body {
        fold(self.whole(), |stage, _| Some(stage) != self.rank())
    }
}

/// Of a [whole](whole_element) body that without outputs which aggregates these components, and carries what they need.
pub(super) fn fold(whole: &Body, aggregates: impl Fn(u32, u32) -> bool) -> Body {
    let needed = whole.carried.iter().map(|&(stage, component)| aggregates(stage, component)).collect();
    narrow(without_outputs(whole), needed)
}

/// Of a [whole](whole_element) body the replay, if the rank is this stage.
pub(super) fn replay(whole: &Body, rank: Option<u32>) -> Body {
    let needed = whole.carried.iter().map(|&(stage, _)| Some(stage) == rank).collect();
    narrow(whole.clone(), needed)
}

fn without_outputs(whole: &Body) -> Body {
    let mut body = whole.clone();
    body.mapping.function.results.truncate(body.carried.len());
    body
}

/// The state of a stage after an element, from that before it, which it reads as [`Source::Before`] of this stage. It is the same as
/// that before combined with the element's lift, in fewer instructions.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Step(pub(crate) Mapping);

/// All stages and the outputs of a program without `State`, for one element; every component is carried. All other bodies are parts
/// of it: simplifying it takes most of the time that facts take. `steps` are those of all stages from the first on, or fewer.
pub(super) fn whole_element(program: &Program, steps: &[Step]) -> Body {
    let states: Vec<Source> =
        program.stages.iter().enumerate().flat_map(|(stage, s)| before(stage, s.state.len())).collect();
    let outputs = || [&program.output.project].into_iter().chain(&program.output.filter);
    let others = program.stages.iter().skip(steps.len()).map(|stage| &stage.lift);
    let mappings = steps.iter().map(|Step(step)| step).chain(others).chain(outputs());
    let mut inputs: Vec<Source> = mappings.flat_map(|mapping| mapping.reads.iter().copied()).collect();
    inputs.retain(|source| !matches!(source, Source::Before { .. } | Source::After { .. }));
    inputs.sort();
    inputs.dedup();

    let reads = [states, inputs].concat();
    let mut element = Element::new(program, &reads);
    for stage in 0..program.stages.len() {
        match steps.get(stage) {
            Some(Step(step)) => {
                let after = element.inline(step);
                element.after.push(after);
            }
            None => element.run_stage(program, stage),
        }
    }
    let mut results: Vec<Value> = element.after.concat();
    outputs().for_each(|mapping| results.extend(element.inline(mapping)));
    let function = simplify(&element.builder.finish(&results), &program.tables);
    let carried = reads.iter().filter_map(|source| match *source {
        Source::Before { stage, component } => Some((stage, component)),
        _ => None,
    });
    let carried = carried.collect();
    Body { mapping: Mapping { reads, function }, carried, ends: None }
}

/// The function of one element while its stages are written into it.
struct Element<'r> {
    builder: FunctionBuilder,
    reads: &'r [Source],
    params: Vec<Value>,
    before: Vec<Vec<Value>>,
    after: Vec<Vec<Value>>,
}

impl<'r> Element<'r> {
    /// `reads` begins with the states before, stage by stage.
    fn new(program: &Program, reads: &'r [Source]) -> Element<'r> {
        let mut builder = FunctionBuilder::new();
        let params = builder.params(&source_types(program, reads));
        let mut states = params.iter().copied();
        let before = program.stages.iter().map(|stage| states.by_ref().take(stage.state.len()).collect()).collect();
        Element { builder, reads, params, before, after: Vec::new() }
    }

    fn run_stage(&mut self, program: &Program, stage: usize) {
        let declared = &program.stages[stage];
        let x = self.inline(&declared.lift);
        let both: Vec<Value> = self.before[stage].iter().copied().chain(x).collect();
        let after = self.builder.inline(&declared.combine, &both);
        self.after.push(after);
    }

    fn inline(&mut self, mapping: &Mapping) -> Vec<Value> {
        let arguments: Vec<Value> = mapping.reads.iter().map(|&source| self.source(source)).collect();
        self.builder.inline(&mapping.function, &arguments)
    }

    fn source(&self, source: Source) -> Value {
        match source {
            Source::Before { stage, component } => self.before[stage as usize][component as usize],
            Source::After { stage, component } => self.after[stage as usize][component as usize],
            _ => {
                let place = self.reads.iter().position(|&read| read == source);
                self.params[place.expect("every source is read")]
            }
        }
    }
}

/// The body that carries only the components marked, and those that they or the outputs need at a later element.
fn narrow(whole: Body, needed: Vec<bool>) -> Body {
    let (mapping, kept) = narrowed(whole.mapping, needed);
    let carried = whole.carried.iter().zip(&kept).filter(|(_, kept)| **kept).map(|(&pair, _)| pair).collect();
    carried_last(Body { mapping, carried, ends: None })
}

/// The effect of an element on the carried values that are marked, which are the first ones it reads and gives, and on those that
/// they or the results behind need at a later element; and which these are.
pub(crate) fn narrowed(mapping: Mapping, mut needed: Vec<bool>) -> (Mapping, Vec<bool>) {
    let count = needed.len();
    let Mapping { reads, mut function } = mapping;
    let all = function.results.clone();
    loop {
        let news = all[..count].iter().zip(&needed).filter(|(_, needed)| **needed).map(|(&result, _)| result);
        function.results = news.chain(all[count..].iter().copied()).collect();
        let used = used_values(&function);
        let grown: Vec<bool> = needed.iter().zip(&used).map(|(&needed, &used)| needed || used).collect();
        if grown == needed {
            break;
        }
        needed = grown;
    }
    let kept: Vec<bool> = (0..reads.len()).map(|param| needed.get(param).copied().unwrap_or(true)).collect();
    let reads = reads.iter().zip(&kept).filter(|(_, kept)| **kept).map(|(&source, _)| source).collect();
    let mapping = Mapping { reads, function: restrict_params(&function, &kept) };
    (drop_unused(mapping, needed.iter().filter(|needed| **needed).count()), needed)
}
