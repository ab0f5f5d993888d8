//! Segments: scans that start afresh wherever a record is flagged as the head of a segment.
//!
//! The operator is the one that every segmented scan uses (Schwartz, 1980; Blelloch, 1990). A state
//! says besides its components whether a segment began in the elements that it stands for:
//!
//! ```text
//! (s, f) ⊕ (t, g) = ((g ? e : s) ⊕ t,  f | g)        identity (e, false), lift (x, head)
//! with other starts          (g ? t : s ⊕ t,    f | g)        identity (e, false), lift (head ? start ⊕ x : x, head)
//! ```
//!
//! So the state after an element is always the true one, and that of a head is `start ⊕ x`, as on a
//! line. `e ⊕ x` is not taken for `x`: floats tell them apart (the larger of −∞ and NaN is −∞, and
//! 0 + −0 is 0). Where the start is not the identity, `combine` cannot know it, so the lift does:
//! it is the initial state of the call, or a record of a column that has each segment's own. The
//! state before the head of a segment is not the true one: it belongs to the segment before.
//! Wherever a mapping reads it, it reads `head ? start : before`.
//!
//! The [loop](Sequential) that a program was derived from stays: its state has the flag too, and
//! its step starts from `head ? start : before`.

use super::{SegmentStart, checked};
use crate::builder::FunctionBuilder;
use crate::facts::{Step, drop_unused, source_types};
use crate::function::{Function, Value};
use crate::opcode::Opcode;
use crate::program::{Layout, Mapping, Program, Sequential, Source, Stage};
use crate::types::{Constant, Type};

/// The program with a column of heads behind its inputs, and one of starts if each segment has its own: the states of so
/// many stages. The stage that checks it, if there is one, sees what its other mappings see, and goes through all segments. Besides
/// the steps of all stages, where they combine once and the stages do twice.
pub(super) fn segmented(
    mut program: Program,
    (start, user_stages): (SegmentStart, usize),
    check: Option<&mut Stage>,
) -> (Program, Vec<Step>) {
    let head = program.record_types().len() as u32;
    program.inputs.push(Layout::of(Type::Bool));
    if start == SegmentStart::Each {
        let stages = &program.stages[..user_stages];
        let state: Vec<Type> = stages.iter().flat_map(|stage| stage.state.iter().copied()).collect();
        program.inputs.push(Layout::packed(&state));
    }
    let segments = Segments { program: &program, head, start, user_stages, of_loop: None };
    if let Some(check) = check {
        check.lift = segments.mapping(&check.lift, &[], |code, mut results| {
            checked::begins(&mut results, code.read(Source::Record(head)));
            results
        });
    }
    let sequential = program.sequential.as_ref().map(|of| Segments { of_loop: Some(of), ..segments }.sequential(of));
    let stages = (0..program.stages.len()).map(|stage| segments.stage(stage)).collect();
    let started = (0..program.stages.len()).filter(|_| start != SegmentStart::Identity);
    let steps = started.map(|stage| segments.step(stage)).collect();
    let project = segments.mapping(&program.output.project, &[], |_, results| results);
    let filter = program.output.filter.as_ref().map(|filter| segments.mapping(filter, &[], |_, results| results));
    program.stages = stages;
    program.output.project = project;
    program.output.filter = filter;
    program.sequential = sequential;
    (program, steps)
}

/// The program that is rewritten, which has its column of heads but none of the rest.
#[derive(Clone, Copy)]
struct Segments<'p> {
    program: &'p Program,
    /// The number of the component that is the head. Those of starts follow.
    head: u32,
    start: SegmentStart,
    user_stages: usize,
    /// The loop whose mappings these are, if they are not those of the stages.
    of_loop: Option<&'p Sequential>,
}

impl Segments<'_> {
    fn stage(&self, stage: usize) -> Stage {
        let declared = &self.program.stages[stage];
        Stage {
            state: [declared.state.as_slice(), &[Type::Bool]].concat(),
            identity: [declared.identity.as_slice(), &[Constant::from(false)]].concat(),
            lift: self.lift(stage),
            combine: match self.start {
                SegmentStart::Identity => combine_from_identity(declared),
                SegmentStart::Init | SegmentStart::Each => combine_started(declared),
            },
            valid: declared.valid.as_ref().map(|valid| ignoring_flag(valid, &declared.state)),
            follows: declared.follows.as_ref().map(|follows| follows_or_begins(declared, follows)),
            automaton: false,
        }
    }

    fn lift(&self, stage: usize) -> Mapping {
        let declared = &self.program.stages[stage];
        let state = (0..declared.state.len() as u32).map(|component| (stage as u32, component));
        let state: Vec<(u32, u32)> = state.filter(|_| self.start != SegmentStart::Identity).collect();
        let starts: Vec<Source> = state.iter().filter_map(|&component| self.start(component)).collect();
        self.mapping(&declared.lift, &starts, |code, mut x| {
            let head = code.read(Source::Record(self.head));
            if !state.is_empty() {
                let start: Vec<Value> = state.iter().map(|&component| self.started(code, component)).collect();
                let first = code.builder.inline(&declared.combine, &[start, x.clone()].concat());
                x = first.iter().zip(&x).map(|(&first, &x)| code.builder.select(head, first, x)).collect();
            }
            x.push(head);
            x
        })
    }

    /// `(head ? start : before) ⊕ lift`: the same as the combine of the two gives.
    fn step(&self, stage: usize) -> Step {
        let declared = &self.program.stages[stage];
        let state = (0..declared.state.len() as u32).map(|component| (stage as u32, component));
        let before = |(stage, component)| Source::Before { stage, component };
        let flag = before((stage as u32, declared.state.len() as u32));
        let starts = state.clone().filter_map(|component| self.start(component));
        let more: Vec<Source> = state.clone().map(before).chain([flag]).chain(starts).collect();
        Step(self.mapping(&declared.lift, &more, |code, x| {
            let own: Vec<Value> = state.map(|component| self.source(code, before(component))).collect();
            let mut after = code.builder.inline(&declared.combine, &[own, x].concat());
            let (flag, head) = (code.read(flag), code.read(Source::Record(self.head)));
            after.push(code.builder.binary(Opcode::Or, flag, head));
            after
        }))
    }

    /// Where a component of a stage's start is read; none where segments start from the identity.
    fn start(&self, (stage, component): (u32, u32)) -> Option<Source> {
        match self.start {
            SegmentStart::Identity => None,
            SegmentStart::Init => Some(Source::Init { stage, component }),
            SegmentStart::Each => {
                let before = self.program.stages.get(..stage as usize)?.iter().map(|stage| stage.state.len() as u32);
                let is_users = (stage as usize) < self.user_stages;
                is_users.then(|| Source::Record(self.head + 1 + before.sum::<u32>() + component))
            }
        }
    }

    /// A component of a stage's start.
    fn started(&self, code: &mut Code, (stage, component): (u32, u32)) -> Value {
        match self.start((stage, component)) {
            Some(source) => code.read(source),
            None => code.builder.constant(self.program.stages[stage as usize].identity[component as usize]),
        }
    }

    /// A component of the state that a segment starts from, of a stage or of the loop.
    fn begun(&self, code: &mut Code, (stage, component): (u32, u32)) -> Value {
        let Some(of) = self.of_loop else { return self.started(code, (stage, component)) };
        let starts: Vec<Value> = self.components().map(|component| self.started(code, component)).collect();
        code.builder.inline(&of.enter, &starts)[component as usize]
    }

    /// The components of the states of all stages.
    fn components(&self) -> impl Iterator<Item = (u32, u32)> {
        (0..).zip(&self.program.stages).flat_map(|(stage, of)| (0..of.state.len() as u32).map(move |c| (stage, c)))
    }

    /// The loop with a flag behind its state, as each stage has one.
    fn sequential(&self, of: &Sequential) -> Sequential {
        let stages = &self.program.stages;
        let mut b = FunctionBuilder::new();
        let (mut own, mut flags) = (Vec::new(), Vec::new());
        for stage in stages {
            own.extend(b.params(&stage.state));
            flags.push(b.param(Type::Bool));
        }
        let mut entered = b.inline(&of.enter, &own);
        entered.push(flags[0]);
        let enter = b.finish(&entered);

        let mut b = FunctionBuilder::new();
        let state = b.params(&of.types());
        let flag = b.param(Type::Bool);
        let mut left = b.inline(&of.leave, &state).into_iter();
        let with_flag = |stage: &Stage| left.by_ref().take(stage.state.len()).chain([flag]).collect::<Vec<Value>>();
        let left: Vec<Value> = stages.iter().flat_map(with_flag).collect();
        let leave = b.finish(&left);

        let before = Source::Before { stage: 0, component: of.initial.len() as u32 };
        let step = self.mapping(&of.step, &[before], |code, mut results| {
            let (before, head) = (code.read(before), code.read(Source::Record(self.head)));
            results.push(code.builder.binary(Opcode::Or, before, head));
            results
        });
        Sequential {
            initial: [of.initial.as_slice(), &[Constant::from(false)]].concat(),
            enter,
            leave,
            step,
            project: self.mapping(&of.project, &[], |_, results| results),
            checked: None,
            folds: Vec::new(),
        }
    }

    /// The types of what mappings read. Behind the components of a state is its flag.
    fn types(&self, reads: &[Source]) -> Vec<Type> {
        let ty = |&source: &Source| match source {
            Source::Before { stage, component } | Source::After { stage, component } => {
                let state = match self.of_loop {
                    Some(of) => of.types(),
                    None => self.program.stages[stage as usize].state.clone(),
                };
                state.get(component as usize).copied().unwrap_or(Type::Bool)
            }
            _ => source_types(self.program, &[source])[0],
        };
        reads.iter().map(ty).collect()
    }

    /// A mapping that sees each segment as all there is. It may read `more` sources besides its own, for `finish`, which
    /// makes its results of those that it had.
    fn mapping(
        &self,
        mapping: &Mapping,
        more: &[Source],
        finish: impl FnOnce(&mut Code, Vec<Value>) -> Vec<Value>,
    ) -> Mapping {
        let starts = mapping.reads.iter().flat_map(|&source| match (source, self.of_loop) {
            (Source::Before { .. }, Some(_)) => {
                self.components().filter_map(|component| self.start(component)).collect()
            }
            (Source::Before { stage, component } | Source::Init { stage, component }, _) => {
                Vec::from_iter(self.start((stage, component)))
            }
            _ => Vec::new(),
        });
        let heads = [Source::Record(self.head), Source::Next(self.head)];
        let mut reads: Vec<Source> = mapping.reads.iter().chain(more).copied().chain(starts).chain(heads).collect();
        reads.sort();
        reads.dedup();
        let mut code = Code::new(&self.types(&reads), reads);
        let arguments: Vec<Value> = mapping.reads.iter().map(|&source| self.source(&mut code, source)).collect();
        let results = code.builder.inline(&mapping.function, &arguments);
        let results = finish(&mut code, results);
        drop_unused(Mapping { reads: code.reads, function: code.builder.finish(&results) }, 0)
    }

    /// The value of a source to an element that knows its own segment only.
    fn source(&self, code: &mut Code, source: Source) -> Value {
        let value = code.read(source);
        match source {
            Source::Before { stage, component } => {
                let head = code.read(Source::Record(self.head));
                let start = self.begun(code, (stage, component));
                code.builder.select(head, start, value)
            }
            Source::Init { stage, component } if self.start == SegmentStart::Each => {
                self.started(code, (stage, component))
            }
            Source::Next(_) => {
                let ends = code.read(Source::Next(self.head));
                let none = code.builder.constant(code.builder.type_of(value).zero());
                code.builder.select(ends, none, value)
            }
            Source::Prev(_) => {
                let begins = code.read(Source::Record(self.head));
                let none = code.builder.constant(code.builder.type_of(value).zero());
                code.builder.select(begins, none, value)
            }
            Source::First => {
                let begins = code.read(Source::Record(self.head));
                code.builder.binary(Opcode::Or, value, begins)
            }
            Source::Last => {
                let ends = code.read(Source::Next(self.head));
                code.builder.binary(Opcode::Or, value, ends)
            }
            _ => value,
        }
    }
}

/// A mapping while it is written.
struct Code {
    builder: FunctionBuilder,
    /// In order, each once.
    reads: Vec<Source>,
    params: Vec<Value>,
}

impl Code {
    fn new(types: &[Type], reads: Vec<Source>) -> Code {
        let mut builder = FunctionBuilder::new();
        let params = builder.params(types);
        Code { builder, reads, params }
    }

    fn read(&self, source: Source) -> Value {
        self.params[self.reads.binary_search(&source).expect("every source is read")]
    }
}

/// ⊕ where the later state begins with `e` if a segment began in it: the state before is replaced.
fn combine_from_identity(stage: &Stage) -> Function {
    let (mut b, [earlier, later]) = operands(stage);
    let own = stage.state.len();
    let mut operands = Vec::with_capacity(2 * own);
    for (&before, &identity) in earlier.iter().zip(&stage.identity) {
        let start = b.constant(identity);
        operands.push(b.select(later[own], start, before));
    }
    operands.extend(&later[..own]);
    let mut results = b.inline(&stage.combine, &operands);
    results.push(b.binary(Opcode::Or, earlier[own], later[own]));
    b.finish(&results)
}

/// ⊕ where the later state has its start in it if a segment began there.
fn combine_started(stage: &Stage) -> Function {
    let (mut b, [earlier, later]) = operands(stage);
    let own = stage.state.len();
    let joined = b.inline(&stage.combine, &[&earlier[..own], &later[..own]].concat());
    let mut results: Vec<Value> =
        joined.iter().zip(&later).map(|(&joined, &afresh)| b.select(later[own], afresh, joined)).collect();
    results.push(b.binary(Opcode::Or, earlier[own], later[own]));
    b.finish(&results)
}

/// Two states, each with its flag behind its own components.
fn operands(stage: &Stage) -> (FunctionBuilder, [Vec<Value>; 2]) {
    let state = [stage.state.as_slice(), &[Type::Bool]].concat();
    let mut b = FunctionBuilder::new();
    let both = [b.params(&state), b.params(&state)];
    (b, both)
}

/// Whether states with flags may meet: where a segment began in the later one, the earlier one does not matter.
fn follows_or_begins(stage: &Stage, follows: &Function) -> Function {
    let (mut b, [earlier, later]) = operands(stage);
    let own = stage.state.len();
    let verdict = b.inline(follows, &[&earlier[..own], &later[..own]].concat())[0];
    let either = b.binary(Opcode::Or, verdict, later[own]);
    b.finish(&[either])
}

/// A predicate of states for those that have a flag besides.
fn ignoring_flag(valid: &Function, state: &[Type]) -> Function {
    let mut b = FunctionBuilder::new();
    let components = b.params(state);
    b.param(Type::Bool);
    let verdict = b.inline(valid, &components);
    b.finish(&verdict)
}
