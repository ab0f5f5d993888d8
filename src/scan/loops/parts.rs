//! The functions of a loop, and the loop as data that they make.

use monoscan_ir::derive::LoopProgram;
use monoscan_ir::{Constant, Function, FunctionBuilder, Mapping, Output, Source, Type, Value};
use monoscan_runtime::Error;

use crate::lang::{self, Inputs, ScanFn, Traced};
use crate::prelude::*;
use crate::scan::columns::Record;
use crate::scan::element::View;
use crate::scan::outputs::Outputs;
use crate::scan::program::{Part, Tables, mapping, plain_name};
use crate::scan::witness::Witness;

/// The functions of a loop.
pub(super) struct Parts {
    pub(super) step: Part,
    pub(super) witness: Witness,
    pub(super) filter: Option<Part>,
    /// None for the state itself.
    pub(super) output: Option<Part>,
}

impl Parts {
    /// The loop as data, from this state, and its step as it was compiled.
    pub(super) fn program<U: ScanType, In: Record, Out: Outputs>(
        self,
        initial: &U,
    ) -> Result<(LoopProgram, Witness), Error> {
        let Parts { step, witness, filter, output } = self;
        let name = if step.traced.name.is_empty() { "loop" } else { step.traced.name };
        let inputs = In::layouts();
        let record: usize = inputs.iter().map(|column| column.fields.len()).sum();
        let initial = lang::to_constants(initial);
        let types: Vec<Type> = initial.iter().map(|constant| constant.ty()).collect();
        let (names, record_names) = names::<U, In>(&step);
        let mut tables = Tables::default();
        let parameters: Vec<Type> = step.parameters.iter().map(|value| value.ty()).collect();
        // The state comes first, then parameters, and then what an element has without states.
        let given = (0..parameters.len() as u32).map(Source::Parameter);
        let reads = given.chain(step.view.sources(record, &[])).collect();
        let places = step.traced.places.clone();
        let function = behind(tables.adopt(step.traced), parameters.len(), types.len());
        let step = Mapping { reads, function };
        let stages = [types.len()];
        let mut of = |part: Part| mapping(tables.adopt(part.traced), part.view.sources(record, &stages));
        let filter = filter.map(&mut of);
        let project = of(output.unwrap_or_else(|| the_state(&types)));
        let columns = <Out::Record as Inputs>::layouts();
        let output = Output { filter, project, columns };
        let program = LoopProgram {
            name: plain_name(name),
            tables: tables.0,
            inputs,
            parameters,
            names,
            record_names,
            initial,
            step,
            places,
            output,
        };
        Ok((program, witness))
    }
}

/// A step that was traced, with values of its parameters, and the step as it was compiled.
pub(super) fn traced<F: ScanFn<Args>, Args: Inputs>(
    step: F,
    view: View,
    parameters: Vec<Constant>,
) -> Result<(Part, Witness), Error> {
    let part = Part::new::<F, Args>(&step, view)?;
    let witness = Witness::new::<F, Args>(step, &part.traced, parameters.len());
    Ok((Part { parameters, ..part }, witness))
}

/// The function with its first parameters, so many, behind as many others.
fn behind(mut function: Function, first: usize, others: usize) -> Function {
    function.params[..first + others].rotate_left(first);
    let moved = |value: Value| match value.index() {
        place if place < first => Value::new(place + others),
        place if place < first + others => Value::new(place - first),
        place => Value::new(place),
    };
    function.insts.iter_mut().for_each(|inst| *inst = inst.map_operands(moved));
    function.results.iter_mut().for_each(|result| *result = moved(*result));
    function
}

/// The names of the components of the state and of records, after the arguments of the step. Those of records are not named where an
/// [`Element`](crate::Element) has them.
fn names<U: ScanType, In: Inputs>(step: &Part) -> (Vec<String>, Vec<String>) {
    let of_element = matches!(step.view, View::Element);
    let columns = if of_element { 1 } else { In::layouts().len() };
    // Arguments that are bound to something come before the state.
    let state = step.traced.arguments.len().checked_sub(columns + 1);
    let (state, columns) = state.map_or(("", &[][..]), |state| {
        let own = &step.traced.arguments[state..];
        (own[0], &own[1..])
    });
    let state = if state.is_empty() { "state" } else { state };
    let names = lang::component_names::<U>().into_iter().map(|name| component_name(state, name)).collect();
    if of_element || columns.iter().any(|column| column.is_empty()) {
        return (names, Vec::new());
    }
    let of_column = |name: String| {
        let end = name.find(|c: char| !c.is_ascii_digit()).unwrap_or(name.len());
        let column = name[..end].parse::<usize>().ok().and_then(|column| columns.get(column));
        column.map_or(name.clone(), |column| format!("{column}{}", &name[end..]))
    };
    let record_names = if columns.is_empty() { Vec::new() } else { lang::component_names::<In>() };
    (names, record_names.into_iter().map(of_column).collect())
}

/// Members of tuples and elements of arrays have no names of their own.
fn component_name(state: &str, name: String) -> String {
    match name.chars().next() {
        Some('0'..='9') => format!("{state}.{name}"),
        Some('[') => format!("{state}{name}"),
        _ if name == "value" => state.to_owned(),
        _ => name,
    }
}

/// The state as it is.
fn the_state(types: &[Type]) -> Part {
    let mut b = FunctionBuilder::new();
    let state = b.params(types);
    let function = b.finish(&state);
    let (tables, places) = (Vec::new(), Vec::new());
    let traced = Traced { function, tables, places, differs: false, name: "", arguments: &[] };
    Part { traced, view: View::State, parameters: Vec::new() }
}
