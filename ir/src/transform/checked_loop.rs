//! The check of a program that was derived from a loop: for overflows of that loop's step and
//! output, as they were written.
//!
//! The states of the stages stand for a state of the loop. From that before an element the step
//! goes on as the loop does. What the stages come to must stand for the same. Where sequences of
//! elements meet, the state behind the first must be that before the second. So, without an event,
//! every state is the loop's by induction, whatever the derivation takes for granted.

use super::checked::{Check, Event, Step};
use super::overflow::{self, Checked, any, or, sound};
use crate::function::{Function, Value};
use crate::interp;
use crate::laws::traits;
use crate::opcode::Opcode;
use crate::program::{Mapping, Program, Sequential, Source, Table, Written};
use crate::types::{Constant, Type};

/// How a loop's state follows from those of the stages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Seen {
    enter: Function,
    tables: Vec<Table>,
    /// The components of all stages, by stage and place.
    components: Vec<(u32, u32)>,
}

impl Seen {
    pub(super) fn new(program: &Program, of: &Sequential) -> Seen {
        let stages = (0..).zip(&program.stages);
        let components = stages.flat_map(|(stage, own)| (0..own.state.len() as u32).map(move |place| (stage, place)));
        let looks_up = of.enter.looked_up().next().is_some();
        let tables = if looks_up { program.tables.clone() } else { Vec::new() };
        Seen { enter: of.enter.clone(), tables, components: components.collect() }
    }

    /// The loop's state, for these components of the stages.
    pub(super) fn state(&self, of_stage: &dyn Fn(u32, u32) -> Constant) -> Vec<Constant> {
        let components: Vec<Constant> = self.components.iter().map(|&(stage, place)| of_stage(stage, place)).collect();
        interp::call(&self.enter, &components, &self.tables)
    }
}

/// The components of the loop's state that are compared: all but floats, and what hangs on their rounding.
pub(super) fn compared(types: &[Type], written: &Written) -> Vec<u32> {
    let Mapping { reads, function } = &written.step;
    let mut rounded = vec![false; types.len()];
    loop {
        let is_rounded = |source: &Source| match *source {
            Source::Before { component, .. } | Source::State(component) => rounded[component as usize],
            _ => false,
        };
        let mut values: Vec<bool> = reads.iter().map(is_rounded).collect();
        for inst in &function.insts {
            let rounds = inst.ty.is_float() && traits::rounds(inst.opcode);
            values.push(rounds || inst.operands().iter().any(|operand| values[operand.index()]));
        }
        let after: Vec<bool> = function.results.iter().map(|result| values[result.index()]).collect();
        let both: Vec<bool> = after.iter().zip(&rounded).map(|(after, before)| after | before).collect();
        if both == rounded {
            return (0..)
                .zip(&rounded)
                .filter(|&(place, &is)| !is && !types[place as usize].is_float())
                .map(|(place, _)| place)
                .collect();
        }
        rounded = both;
    }
}

/// The lift of the stage that checks the program.
pub(super) fn lift(check: &Check, program: &Program, (of, written): (&Sequential, &Written)) -> Mapping {
    let is_of_loop =
        |source: &Source| matches!(source, Source::Before { .. } | Source::After { .. } | Source::State(_));
    let read = written.mappings().into_iter().flat_map(|mapping| &mapping.reads);
    let others: Vec<Source> = read.copied().filter(|source| !is_of_loop(source)).collect();
    let mut step = Step::new(program, &others);
    let before: Vec<Value> = (0..program.stages.len() as u32).flat_map(|stage| step.before(stage)).collect();
    let state = step.b.inline(&of.enter, &before);

    let after = called(&mut step, &written.step, [&state, &[]]);
    let reached: Vec<Value> = after.iter().map(|part| part.value).collect();
    let output = called(&mut step, &written.project, [&state, &reached]);
    let mut events = vec![(Event::Step, any(&mut step.b, &after)), (Event::Project, any(&mut step.b, &output))];

    for (place, stage) in (0..).zip(&program.stages) {
        let arguments: Vec<Value> = stage.lift.reads.iter().map(|&source| step.read(source)).collect();
        let lifted = step.b.inline(&stage.lift.function, &arguments);
        let both = [step.before(place), lifted].concat();
        let combined = step.b.inline(&stage.combine, &both);
        step.after.push(combined);
    }
    let all = step.after.concat();
    let by_stages = step.b.inline(&of.enter, &all);
    let mut differs = step.b.lit(false);
    for component in check.compared() {
        let other = step.b.binary(Opcode::Ne, by_stages[component as usize], reached[component as usize]);
        differs = or(&mut step.b, differs, other);
    }
    events.push((Event::Regrouped, differs));
    let compared =
        |state: &[Value]| check.compared().map(|component| state[component as usize]).collect::<Vec<Value>>();
    let states = [compared(&state), compared(&reached)];
    step.finish(check, &events, states)
}

/// A mapping of the loop, with its overflows, at an element that has these states of the loop before and after it.
fn called(step: &mut Step<'_>, mapping: &Mapping, [before, after]: [&[Value]; 2]) -> Vec<Checked> {
    let read = |source: &Source| match *source {
        Source::Before { component, .. } | Source::State(component) => before[component as usize],
        Source::After { component, .. } => after[component as usize],
        source => step.read(source),
    };
    let values: Vec<Value> = mapping.reads.iter().map(read).collect();
    let arguments: Vec<Checked> = values.into_iter().map(|value| sound(&mut step.b, value)).collect();
    overflow::inline(&mut step.b, &mapping.function, &arguments)
}
