//! The loop that a program was derived from (numbers 28 to 31 of the [list](super)).

use super::diagnostic::{Item, Part};
use super::function::{self, Signature};
use super::{Findings, Scope};
use crate::function::{Function, Value};
use crate::program::{Mapping, OwnFold, Program, Sequential, Source, Stage};
use crate::types::{Constant, Type};

/// The loop's functions, in which the states are those of one stage.
pub(super) fn check(found: &mut Findings, scope: &Scope<'_>, of: &Sequential, program: &Program) {
    let own = of.types();
    let all: Vec<Type> = program.stages.iter().flat_map(|stage| stage.state.iter().copied()).collect();
    let (states, state) = ((&all[..], "the types of all stages' states"), (&own[..], "the types of the initial state"));
    let mut signed = |part, function: &Function, from, to| {
        let signature = Signature { params: Some(from), results: Some(to) };
        function::check(found, part, function, scope.tables, signature);
    };
    signed(Part::Enter, &of.enter, states, state);
    signed(Part::Leave, &of.leave, state, states);
    let stages = [carrying(&of.initial)];
    let inner = Scope { record: scope.record.clone(), stages: &stages, ..*scope };
    let types = program.output_types();
    let simplified = [(Part::Step, &of.step), (Part::Written, &of.project)];
    let written = of.checked.iter().flat_map(|of| [(Part::CheckedStep, &of.step), (Part::CheckedProject, &of.project)]);
    for (part, mapping) in simplified.into_iter().chain(written) {
        match part {
            Part::Step | Part::CheckedStep => inner.check_mapping(found, part, mapping, Some(1), Some(state)),
            _ => {
                let results = (&types[..], "the types of the output's fields");
                inner.check_mapping(found, part, mapping, None, Some(results));
            }
        }
        check_reads(found, (part, mapping), program);
    }
    if program.stages.iter().any(|stage| stage.follows.is_some()) {
        let message = "expected none where a stage says which states may follow: the loop does not";
        found.whole(Part::Sequential, message.into());
    }
    if program.output.filter.is_some() {
        let message = "expected none in a program that filters: kept records are counted by the stages";
        found.whole(Part::Sequential, message.into());
    }
    for (number, fold) in of.folds.iter().enumerate() {
        if of.folds[..number].iter().any(|other| other.stage == fold.stage) {
            found.whole(Part::Fold(number), format!("expected one fold of stage {}, found another", fold.stage));
        }
        check_fold(found, scope, (number, fold), program);
    }
}

/// A fold's functions: what it carries is the state of the only stage.
fn check_fold(found: &mut Findings, scope: &Scope<'_>, (number, fold): (usize, &OwnFold), program: &Program) {
    let Some(stage) = program.stages.get(fold.stage as usize) else {
        let message = format!("expected one of {} stages, found {}", program.stages.len(), fold.stage);
        return found.whole(Part::Fold(number), message);
    };
    let stages = [carrying(&fold.initial)];
    let inner = Scope { record: scope.record.clone(), stages: &stages, ..*scope };
    let carried = (&stages[0].state[..], "the types that it begins with");
    inner.check_mapping(found, Part::FoldStep(number), &fold.step, None, Some(carried));
    check_reads(found, (Part::FoldStep(number), &fold.step), program);
    let signature = Signature { params: Some(carried), results: Some((&stage.state, "the state's types")) };
    function::check(found, Part::FoldLeave(number), &fold.leave, scope.tables, signature);
}

/// Checks the sources that a mapping of the loop reads, beyond that they exist.
fn check_reads(found: &mut Findings, (part, mapping): (Part, &Mapping), program: &Program) {
    let is_fold = matches!(part, Part::FoldStep(_));
    let expected = |source: &Source| match source {
        Source::Before { .. } | Source::After { .. } | Source::Init { .. } | Source::StateOf { .. } if is_fold => {
            Some("what the fold carries")
        }
        Source::After { .. } if matches!(part, Part::Step | Part::CheckedStep) => Some("the state before the element"),
        Source::Init { .. } => Some("the loop's state"),
        Source::StateOf { .. } if matches!(part, Part::Written | Part::CheckedProject) => Some("the loop's state"),
        Source::Prev(component) if program.previous().contains(component) => None,
        Source::First if program.reads_previous() => None,
        Source::Prev(_) | Source::First => Some("of the record before what the program reads, which carries have"),
        _ => None,
    };
    for (place, source) in mapping.reads.iter().enumerate() {
        if let Some(expected) = expected(source) {
            let value = Value::new(place);
            found.add(part, Item::Value(value), String::new(), format!("expected {expected}, found {source}"));
        }
    }
}

/// A stage that mappings read these values of.
pub(super) fn carrying(values: &[Constant]) -> Stage {
    Stage { state: values.iter().map(|value| value.ty()).collect(), identity: values.to_vec(), ..Stage::default() }
}
