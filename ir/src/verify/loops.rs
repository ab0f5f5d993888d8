//! Sequential loops, before a scan is derived of them.

use super::diagnostic::{Diagnostics, Item, Part};
use super::function::{self, Signature, list};
use super::sequential::carrying;
use super::{Findings, Scope, check_frame, check_output};
use crate::derive::LoopProgram;
use crate::function::Value;
use crate::program::{Mapping, Source};
use crate::types::Type;

/// Accepts a loop that [`derive`](crate::derive::derive) takes: its parts keep the invariants of a program's (1, 3 to 7 and 14 to 27 of
/// the [list](super)), its step takes and gives the types of the initial state, and every component has a name.
///
/// # Errors
/// Everything that is wrong with the loop.
pub fn verify_loop(of: &LoopProgram) -> Result<(), Diagnostics> {
    let mut found = Findings::default();
    check_frame(&mut found, (&of.name, &of.inputs, &of.parameters), &of.tables);
    let stage = carrying(&of.initial);
    let stages = [stage];
    let types = &stages[0].state[..];
    if types.is_empty() {
        found.whole(Part::Sequential, "expected a state of at least one component, found none".into());
    }
    if of.names.len() != types.len() {
        let (expected, came) = (types.len(), of.names.len());
        found.whole(
            Part::Sequential,
            format!("expected {expected} names, one for each component of the state, found {came}"),
        );
    }
    let record = of.inputs.iter().flat_map(|layout| layout.fields.iter().map(|field| field.ty)).collect();
    let scope = Scope { record, parameters: &of.parameters, stages: &stages, tables: &of.tables };
    check_step(&mut found, &scope, &of.step, types);
    let fields: Vec<Type> =
        of.output.columns.iter().flat_map(|layout| layout.fields.iter().map(|field| field.ty)).collect();
    check_output(&mut found, &scope, &of.output, &fields);
    let mappings = of.output.filter.iter().map(|filter| (Part::Filter, filter));
    for (part, mapping) in mappings.chain([(Part::Project, &of.output.project)]) {
        for (place, source) in mapping.reads.iter().enumerate() {
            if matches!(source, Source::Init { .. } | Source::StateOf { .. }) {
                let message = format!("expected a state before or after the element, found {source}");
                found.add(part, Item::Value(Value::new(place)), String::new(), message);
            }
        }
    }
    match found.0.is_empty() {
        true => Ok(()),
        false => Err(Diagnostics::new(format!("loop {:?}", of.name), found.0)),
    }
}

/// The step's first parameters are the components of the state.
fn check_step(found: &mut Findings, scope: &Scope<'_>, Mapping { reads, function }: &Mapping, types: &[Type]) {
    let (own, params) = (types.len(), &function.params);
    if params.len() != own + reads.len() {
        let (expected, came) = (own + reads.len(), params.len());
        let message =
            format!("expected {expected} parameters, {own} of the state and one for each source, found {came}");
        found.whole(Part::Step, message);
    }
    if params.get(..own).is_some_and(|states| states != types) {
        let (expected, came) = (list(types), list(&params[..own]));
        found.whole(Part::Step, format!("expected the first parameters {expected}, the initial state's, found {came}"));
    }
    for (place, (&source, &ty)) in reads.iter().zip(params.iter().skip(own)).enumerate() {
        let value = Value::new(own + place);
        // A lift of the first stage reads no state.
        let wrong = match scope.source_type(source, Some(0)) {
            Ok(_) if matches!(source, Source::Init { .. }) => {
                format!("expected no state to start from, found {source}")
            }
            Ok(expected) if expected == ty => continue,
            Ok(expected) => format!("expected {value} to be {expected}, the type of {source}, found {ty}"),
            Err(wrong) => wrong,
        };
        found.add(Part::Step, Item::Value(value), format!("{value} = {source}: {ty}"), wrong);
    }
    let results = Some((types, "the types of the initial state"));
    function::check(found, Part::Step, function, scope.tables, Signature { params: None, results });
}
