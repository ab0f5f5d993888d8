//! The verifier: which programs mean something.
//!
//! Engines take [`Verified`] programs only, and such a program never makes one panic or trap. What
//! "verified" says is this list, and nothing else:
//!
//! **Program**
//!  1. The name is not empty, and of ASCII letters, digits and `_ . : < > ,`.
//!  2. There are one to [`MAX_STAGES`] stages.
//!
//! **Columns and tables**
//!  3. There are 1 to [`MAX_COLUMNS`](crate::MAX_COLUMNS) input columns, and as many output
//!     columns.
//!  4. A record takes 1 to [`MAX_RECORD_BYTES`](crate::MAX_RECORD_BYTES) bytes; its alignment is a
//!     power of two and divides its size.
//!  5. A record has at least one field; its fields end within it and do not overlap.
//!  6. All tables together take at most [`MAX_TABLE_BYTES`](crate::MAX_TABLE_BYTES) bytes.
//!  7. A table has at least one element, and whole elements only; the bytes of a `bool` are 0 or 1.
//!
//! **Stages**
//!  8. The state has at least one component and takes at most [`MAX_STATE_BYTES`] bytes as a packed
//!     record, padding included.
//!  9. The identity has a constant for each component, of its type.
//! 10. `lift` gives the state's types.
//! 11. `combine` takes the state's types twice, the earlier state first, and gives them once.
//! 12. `valid`, if there is one, takes the state's types and gives one `bool`; `follows`, if there
//!     is one, takes them twice and gives one `bool`.
//! 13. A stage that is declared to be an [automaton](Stage::automaton) is one. `combine` composes
//!     the maps that the state's vectors hold, the later after the earlier one, and the identity
//!     leads each state to itself. The results of `lift` are elements of tables, all at one index,
//!     the input symbol; all elements of these tables lead to states.
//!
//! **Mappings** (`lift`, `filter`, `project`)
//! 14. There is one source for each parameter.
//! 15. Each source exists, and the parameter has its type.
//! 16. What is read of the record before has at most [`MAX_STATE_BYTES`] bytes as a packed record.
//!     `lift` reads `before` and `after` of earlier stages only, and no `state`. (Every mapping may
//!     read every `init`.)
//! 17. `filter` gives one `bool`; `project` gives the types of the output columns' fields.
//!
//! **Functions**
//! 18. There are at most [`MAX_PARAMS`](crate::MAX_PARAMS) parameters and as many results, and at
//!     most [`MAX_INSTS`](crate::MAX_INSTS) instructions.
//! 19. An operand is a parameter or the value of an earlier instruction.
//! 20. A result is a value of the function.
//! 21. An instruction has as many operands as its opcode's rule says.
//! 22. Operands and result have the types that the [rule](crate::Rule) allows.
//! 23. `const` carries a constant of its type; no other opcode carries one.
//! 24. `table` carries the number of a table of the program, whose elements have its type; no other
//!     opcode does.
//! 25. `lane` and `with_lane` carry a lane of their vector; no other opcode does.
//! 26. A cast to `bool` is from `bool`; a bitcast keeps the size, and neither side is `bool`.
//! 27. `wraps` is carried by integer arithmetic that can overflow alone.
//!
//! **The loop that a program was derived from**
//! 28. `enter` takes the components of all stages' states and gives the loop's state; `leave` the
//!     other way round.
//! 29. Its mappings read the loop's state as that of stage 0, no `init`, and of the record before
//!     what the program does; `step` gives the state and reads none after the element. So do
//!     `checked_step` and `checked_project`.
//! 30. The output has no `filter`, and no stage a `follows`.
//! 31. A fold is of a stage, at most one of each. Its `step` reads what it carries as `state`, and
//!     no other state; it gives what it carries. `leave` takes that, and gives the stage's state.
//!
//! Everything that is wrong is reported, in the order of the text form, each with its [`Place`].

mod data;
mod diagnostic;
mod function;
mod loops;
mod sequential;

pub use diagnostic::{Diagnostic, Diagnostics, Item, Part, Place};
pub use loops::verify_loop;

use crate::automaton;
use crate::function::{Function, Value};
use crate::program::{Layout, MAX_STAGES, MAX_STATE_BYTES, Mapping, Output, Program, Source, Stage, Table, Verified};
use crate::types::Type;
use function::Signature;

/// Accepts a program that has every invariant of the [list](self), in time linear in its size.
///
/// # Errors
/// Everything that is wrong with the program.
///
/// ```
/// use monoscan_ir::{text, verify};
/// let sum = "program sum
///   input { size 4, align 4, u32 @ 0 }
///   stage (u32)
///     identity (0)
///     lift (%0 = record.0: u32) { return %0 }
///     combine (%0: u32, %1: u32) {
///       %2 = add.u32 %0, %1
///       return %2
///     }
///   output write
///     column { size 4, align 4, u32 @ 0 }
///     project (%0 = state.0: u32) { return %0 }";
/// let program = text::parse(sum).unwrap();
/// assert!(verify(program).is_ok());
///
/// let program = text::parse(&sum.replace("add.u32", "add.i32")).unwrap();
/// let errors = verify(program).unwrap_err();
/// assert!(errors.to_string().contains("stage 0 combine, %2: expected %0 to be i32, as the result, found u32"));
/// ```
pub fn verify(program: Program) -> Result<Verified<Program>, Diagnostics> {
    let mut found = Findings::default();
    check_program(&mut found, &program);
    match found.0.is_empty() {
        true => Ok(Verified::trust(program)),
        false => Err(Diagnostics::new(format!("program {:?}", program.name), found.0)),
    }
}

/// Accepts a function that keeps the invariants of functions (18 to 27) beside these tables.
///
/// # Errors
/// Everything that is wrong with the function; the tables are not looked at.
pub fn verify_function(function: Function, tables: &[Table]) -> Result<Verified<Function>, Diagnostics> {
    let mut found = Findings::default();
    function::check(&mut found, Part::Function, &function, tables, Signature::default());
    match found.0.is_empty() {
        true => Ok(Verified::trust(function)),
        false => Err(Diagnostics::new("the function".into(), found.0)),
    }
}

/// The diagnostics so far.
#[derive(Default)]
struct Findings(Vec<Diagnostic>);

impl Findings {
    fn add(&mut self, part: Part, item: Item, context: String, message: String) {
        self.0.push(Diagnostic { place: Place { part, item }, context, message });
    }

    /// Something wrong with a part as a whole.
    fn whole(&mut self, part: Part, message: String) {
        self.add(part, Item::Whole, String::new(), message);
    }
}

/// The parts that programs and loops have: their name, the input columns, the types of parameters, and tables.
fn check_frame(found: &mut Findings, (name, inputs, parameters): (&str, &[Layout], &[Type]), tables: &[Table]) {
    if name.is_empty() {
        found.whole(Part::Program, "expected a name, found an empty one".into());
    }
    if let Some(odd) = name.chars().find(|&c| !Program::is_name_char(c)) {
        found.whole(Part::Program, format!("expected a name of ASCII letters, digits and _ . : < > , found {odd:?}"));
    }
    data::check_columns(found, Part::Program, inputs, Part::Input, "input");
    data::check_tables(found, tables);
    // They are carried to kernels as a state is.
    let bytes: usize = parameters.iter().map(|ty| ty.size()).sum();
    if bytes > MAX_STATE_BYTES {
        found.whole(Part::Program, format!("expected at most {MAX_STATE_BYTES} bytes of parameters, found {bytes}"));
    }
}

fn check_program(found: &mut Findings, program: &Program) {
    check_frame(found, (&program.name, &program.inputs, &program.parameters), &program.tables);
    if program.stages.is_empty() || program.stages.len() > MAX_STAGES {
        found.whole(Part::Program, format!("expected 1 to {MAX_STAGES} stages, found {}", program.stages.len()));
    }
    let scope = Scope {
        record: program.record_types(),
        parameters: &program.parameters,
        stages: &program.stages,
        tables: &program.tables,
    };
    check_previous(found, program);
    for (place, stage) in program.stages.iter().enumerate() {
        check_stage(found, &scope, place, stage);
    }
    check_output(found, &scope, &program.output, &program.output_types());
    if let Some(of) = &program.sequential {
        sequential::check(found, &scope, of, program);
    }
}

/// Values of the record before that are read go from element to element as a state does.
fn check_previous(found: &mut Findings, program: &Program) {
    let types = program.previous().into_iter().filter_map(|component| program.source_type(Source::Prev(component)));
    let bytes = Layout::packed(&types.collect::<Vec<_>>()).size;
    if bytes as usize > MAX_STATE_BYTES {
        let message =
            format!("expected at most {MAX_STATE_BYTES} bytes to be read of the record before, found {bytes}");
        found.whole(Part::Program, message);
    }
}

fn check_stage(found: &mut Findings, scope: &Scope<'_>, place: usize, stage: &Stage) {
    let before = found.0.len();
    let state = stage.state.as_slice();
    // A state so long that its padded size would not fit the layout's numbers is refused by its plain size.
    let plain: u128 = state.iter().map(|ty| ty.size() as u128).sum();
    let bytes = if plain > MAX_STATE_BYTES as u128 { plain } else { Layout::packed(state).size as u128 };
    if state.is_empty() {
        found.whole(Part::Stage(place), "expected a state of at least one component, found none".into());
    }
    if bytes > MAX_STATE_BYTES as u128 {
        found.whole(Part::Stage(place), format!("expected a state of at most {MAX_STATE_BYTES} bytes, found {bytes}"));
    }
    check_identity(found, place, stage);
    let results = Some((state, "the state's types"));
    scope.check_mapping(found, Part::Lift(place), &stage.lift, Some(place), results);
    let twice = [state, state].concat();
    let params = Some((twice.as_slice(), "the state's types twice"));
    function::check(found, Part::Combine(place), &stage.combine, scope.tables, Signature { params, results });
    let results = Some(([Type::Bool].as_slice(), "the verdict"));
    if let Some(valid) = &stage.valid {
        let params = Some((state, "the state's types"));
        function::check(found, Part::Valid(place), valid, scope.tables, Signature { params, results });
    }
    if let Some(follows) = &stage.follows {
        function::check(found, Part::Follows(place), follows, scope.tables, Signature { params, results });
    }
    // What an automaton has is looked for in functions that are well-typed.
    if stage.automaton
        && found.0.len() == before
        && let Some(expected) = automaton::contradiction(stage, scope.tables)
    {
        found.whole(Part::Stage(place), format!("expected {expected}"));
    }
}

fn check_identity(found: &mut Findings, place: usize, stage: &Stage) {
    let part = Part::Identity(place);
    if stage.identity.len() != stage.state.len() {
        let (expected, came) = (stage.state.len(), stage.identity.len());
        found.whole(part, format!("expected {expected} constants, one for each component of the state, found {came}"));
    }
    for (component, (value, ty)) in stage.identity.iter().zip(&stage.state).enumerate() {
        if value.ty() != *ty {
            found.whole(part, format!("expected component {component} to be {ty}, found {value:?}"));
        }
    }
}

fn check_output(found: &mut Findings, scope: &Scope<'_>, output: &Output, types: &[Type]) {
    data::check_columns(found, Part::Output, &output.columns, Part::Column, "output");
    if let Some(filter) = &output.filter {
        scope.check_mapping(found, Part::Filter, filter, None, Some((&[Type::Bool], "the verdict")));
    }
    scope.check_mapping(found, Part::Project, &output.project, None, Some((types, "the types of the output's fields")));
}

/// The sources that the functions of a program can refer to.
struct Scope<'a> {
    record: Vec<Type>,
    parameters: &'a [Type],
    stages: &'a [Stage],
    tables: &'a [Table],
}

impl Scope<'_> {
    /// Checks a mapping: a lift's where `lifts` names its stage, else the output's.
    fn check_mapping(
        &self,
        found: &mut Findings,
        part: Part,
        mapping: &Mapping,
        lifts: Option<usize>,
        results: Option<(&[Type], &str)>,
    ) {
        let Mapping { reads, function } = mapping;
        if reads.len() != function.params.len() {
            let (expected, came) = (function.params.len(), reads.len());
            found.whole(part, format!("expected {expected} sources, one for each parameter, found {came}"));
        }
        for (place, (&source, &ty)) in reads.iter().zip(&function.params).enumerate() {
            let value = Value::new(place);
            let wrong = match self.source_type(source, lifts) {
                Ok(expected) if expected == ty => continue,
                Ok(expected) => format!("expected {value} to be {expected}, the type of {source}, found {ty}"),
                Err(wrong) => wrong,
            };
            found.add(part, Item::Value(value), format!("{value} = {source}: {ty}"), wrong);
        }
        function::check(found, part, function, self.tables, Signature { params: None, results });
    }

    /// The type of what a source names, or why it cannot be read here.
    fn source_type(&self, source: Source, lifts: Option<usize>) -> Result<Type, String> {
        match source {
            Source::Record(component) | Source::Next(component) | Source::Prev(component) => {
                let ty = self.record.get(component as usize).copied();
                ty.ok_or_else(|| format!("expected one of {} fields of the input, found {source}", self.record.len()))
            }
            Source::First | Source::Last => Ok(Type::Bool),
            Source::Index => Ok(Type::U64),
            Source::Before { stage, component } | Source::After { stage, component } => match lifts {
                Some(own) if stage as usize >= own => {
                    Err(format!("expected a stage before stage {own}, which this lift belongs to, found {source}"))
                }
                _ => self.component(stage as usize, component, source),
            },
            Source::Init { stage, component } => self.component(stage as usize, component, source),
            Source::Parameter(parameter) => {
                let ty = self.parameters.get(parameter as usize).copied();
                ty.ok_or_else(|| format!("expected one of {} parameters, found {source}", self.parameters.len()))
            }
            Source::StateOf { stage, component } => match lifts {
                None => self.component(stage as usize, component, source),
                Some(_) => Err(format!("expected a source that a lift can read, found {source}")),
            },
            Source::State(component) => match (lifts, self.stages.len().checked_sub(1)) {
                (None, Some(last)) => self.component(last, component, source),
                (None, None) => Err(format!("expected a state to read, found {source} in a program without stages")),
                (Some(_), _) => Err(format!("expected a source that a lift can read, found {source}")),
            },
        }
    }

    fn component(&self, stage: usize, component: u32, source: Source) -> Result<Type, String> {
        let Some(found) = self.stages.get(stage) else {
            return Err(format!("expected one of {} stages, found {source}", self.stages.len()));
        };
        let ty = found.state.get(component as usize).copied();
        ty.ok_or_else(|| format!("expected one of {} components of stage {stage}, found {source}", found.state.len()))
    }
}
