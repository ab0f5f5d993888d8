//! The interpreter: what a function and a program mean, one instruction and one element at a time.
//!
//! It is the oracle that every engine is compared to, so it is written like the formulas in the
//! documentation of [`Program`]: no tiles, no tricks. [`call`] runs a function, [`run`] a verified
//! program over columns of bytes; [`Interpreter`] is `call` for many calls, since it keeps its
//! memory between them.

use crate::eval::{evaluate, overflows};
use crate::function::Function;
use crate::program::{Layout, Program, Sequential, Source, Stage, Table, WellTyped};
use crate::types::{Constant, Type};

mod element;

use element::{Element, Previous, Writer};

/// Which state of the last stage an output sees as its [`Source::State`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Mode {
    /// `y[i]` includes `x[i]`: the state after the element.
    #[default]
    Inclusive,
    /// `y[i]` stops before `x[i]`: the state before the element.
    Exclusive,
}

/// How to run a program, besides its input.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Request {
    /// Inclusive or exclusive.
    pub mode: Mode,
    /// For each stage the state before the first element; if none, what [`Program::start`] gives: the identities.
    pub init: Option<Vec<Vec<Constant>>>,
    /// The record before the first element, if there is one: those of its components that are
    /// [read](Program::previous).
    pub previous: Option<Vec<Constant>>,
    /// The values of the program's [parameters](Program::parameters).
    pub parameters: Vec<Constant>,
    /// Whether to look for integers that overflow, which takes longer.
    pub checked: bool,
}

/// The results of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Run {
    /// The bytes of every output column; padding is zero.
    pub outputs: Vec<Vec<u8>>,
    /// How many records each output column has: all elements, or those kept.
    pub count: usize,
    /// For each stage the state after the last element: the initial state of the next part of a stream.
    pub states_after: Vec<Vec<Constant>>,
    /// The last record, or without elements the one before them: what the next part of a stream has before it.
    pub previous: Option<Vec<Constant>>,
    /// Whether an integer overflowed, where that is not meant, of a [checked](Request::checked) run: in an element, or in a product of
    /// elements.
    pub overflowed: bool,
    /// The first element that may not [follow](Stage::follows) the state before it, and its stage.
    pub out_of_order: Option<(usize, usize)>,
}

/// Why a program cannot be run on these inputs.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InterpError {
    /// The number of columns is not the program's.
    #[error("the program reads {expected} input columns, got {got}")]
    Columns {
        /// Columns of the program.
        expected: usize,
        /// Columns given.
        got: usize,
    },
    /// A column ends inside a record.
    #[error("input column {column} has {bytes} bytes, which is no whole number of records of {record} bytes")]
    PartialRecord {
        /// Which column.
        column: usize,
        /// Its length.
        bytes: usize,
        /// Bytes of a record.
        record: usize,
    },
    /// Columns have different numbers of records.
    #[error("input column {column} has {got} records, the first column has {expected}")]
    Lengths {
        /// Which column.
        column: usize,
        /// Records of the first column.
        expected: usize,
        /// Records of this one.
        got: usize,
    },
    /// There is not one initial state for each stage.
    #[error("the program has {expected} stages, got {got} initial states")]
    Init {
        /// Stages of the program.
        expected: usize,
        /// Initial states given.
        got: usize,
    },
    /// The values of parameters are not those of the program's parameters.
    #[error("the parameters must have the types {expected:?}, got {got:?}")]
    Parameters {
        /// The types of the program's parameters.
        expected: Vec<Type>,
        /// The types given.
        got: Vec<Type>,
    },
    /// The record before the first element is not one of the program's records.
    #[error("the record before must have the types {expected:?}, got {got:?}")]
    PreviousType {
        /// The types of the components that are read.
        expected: Vec<Type>,
        /// The types given.
        got: Vec<Type>,
    },
    /// An initial state is not a state of its stage.
    #[error("the initial state of stage {stage} must have the types {expected:?}, got {got:?}")]
    SeedType {
        /// Which stage.
        stage: usize,
        /// The types of the state.
        expected: Vec<Type>,
        /// The types given.
        got: Vec<Type>,
    },
}

/// Runs functions, keeping its memory from one call to the next.
///
/// ```
/// use monoscan_ir::{interp::Interpreter, FunctionBuilder, Opcode, Type};
/// let mut b = FunctionBuilder::new();
/// let x = b.param(Type::U8);
/// let twice = b.binary(Opcode::Add, x, x);
/// let double = b.finish(&[twice]);
///
/// let mut interpreter = Interpreter::new(&[]);
/// assert_eq!(interpreter.call(&double, &[100u8.into()]).as_slice(), [200u8.into()]);
/// assert!(!interpreter.overflowed());
/// assert_eq!(interpreter.call(&double, &[200u8.into()]).as_slice(), [144u8.into()]);
/// ```
#[derive(Clone, Debug)]
pub struct Interpreter<'t> {
    tables: &'t [Table],
    values: Vec<Constant>,
    results: Vec<Constant>,
    checked: bool,
    overflowed: bool,
    ever_overflowed: bool,
}

impl<'t> Interpreter<'t> {
    /// An interpreter of functions over these tables.
    pub fn new(tables: &'t [Table]) -> Interpreter<'t> {
        let (values, results) = (Vec::new(), Vec::new());
        Interpreter { tables, values, results, checked: false, overflowed: false, ever_overflowed: false }
    }

    /// One that also records where Rust would panic with overflow checks; see [`overflowed`](Interpreter::overflowed).
    pub fn checked(tables: &'t [Table]) -> Interpreter<'t> {
        Interpreter { checked: true, ..Interpreter::new(tables) }
    }

    /// The results of `function` on these arguments. They stay readable until the next call.
    ///
    /// # Panics
    /// If the function is not well formed or the arguments do not have its parameters' types: the verifier refuses
    /// such functions.
    pub fn call(&mut self, function: &Function, arguments: &[Constant]) -> &Vec<Constant> {
        debug_assert!(arguments.iter().map(|argument| argument.ty()).eq(function.params.iter().copied()));
        self.overflowed = false;
        self.values.clear();
        self.values.extend_from_slice(arguments);
        for inst in &function.insts {
            let mut operands = [Type::Bool.zero(); 3];
            for (slot, operand) in operands.iter_mut().zip(inst.operands()) {
                *slot = self.values[operand.index()];
            }
            let operands = &operands[..inst.operands().len()];
            self.overflowed |= self.checked && overflows(inst, operands);
            let value = evaluate(inst, operands, self.tables);
            self.values.push(value.expect("a verified function is well typed"));
        }
        self.ever_overflowed |= self.overflowed;
        self.results.clear();
        self.results.extend(function.results.iter().map(|result| self.values[result.index()]));
        &self.results
    }

    /// Whether, in the last call of a [checked](Interpreter::checked) interpreter, some instruction overflowed: Rust
    /// would panic there in a build with overflow checks, while the IR has a defined result.
    pub fn overflowed(&self) -> bool {
        self.overflowed
    }
}

/// The results of `function` on these arguments.
///
/// # Panics
/// As [`Interpreter::call`].
pub fn call(function: &Function, arguments: &[Constant], tables: &[Table]) -> Vec<Constant> {
    let mut interpreter = Interpreter::new(tables);
    interpreter.call(function, arguments);
    interpreter.results
}

/// The results of `function`, and whether some instruction overflowed where Rust would panic.
///
/// # Panics
/// As [`Interpreter::call`].
pub fn call_checked(function: &Function, arguments: &[Constant], tables: &[Table]) -> (Vec<Constant>, bool) {
    let mut interpreter = Interpreter::checked(tables);
    interpreter.call(function, arguments);
    (interpreter.results, interpreter.overflowed)
}

/// Runs a program over its input columns, each given as the bytes of its records one after the other.
///
/// With no elements the outputs are empty and the states after are the initial states. Takes time proportional to elements
/// times instructions, and is not fast: it is the definition.
///
/// # Errors
/// If the columns are not whole records or not equally many, or the initial states or parameters are not the program's.
pub fn run(program: &(impl WellTyped + ?Sized), inputs: &[&[u8]], request: &Request) -> Result<Run, InterpError> {
    run_in_chunks(program, inputs, request, usize::MAX)
}

/// The same in another association, as engines choose one: the state that leaves each `chunk` elements is the one that entered
/// them ⊕ their own product, each folded from the identity. Where an operator is exactly associative on the states that occur, the
/// results are those of [`run`].
///
/// # Errors
/// As [`run`].
pub fn run_in_chunks(
    program: &(impl WellTyped + ?Sized),
    inputs: &[&[u8]],
    request: &Request,
    chunk: usize,
) -> Result<Run, InterpError> {
    check_parameters(program, &request.parameters)?;
    let count = count_records(&program.inputs, inputs)?;
    let identities = || program.stages.iter().map(|stage| stage.identity.clone()).collect::<Vec<_>>();
    let init = match &request.init {
        Some(init) => check_init(&program.stages, init)?.to_vec(),
        None => program.start(),
    };
    let mut interpreter = Interpreter { checked: request.checked, ..Interpreter::new(&program.tables) };
    let mut writer = Writer::new(&program.output.columns);
    let (mut carries, mut products) = (init.clone(), identities());
    let previous = check_previous(program, request)?;
    let mut element = Element::new(inputs, &program.inputs, count, request, (init, previous));
    let is_one_chunk = chunk > count;
    let mut out_of_order = None;
    for index in 0..count {
        element.enter(index);
        let own = program.sequential.as_ref().map(|of| step_of_loop(of, &mut interpreter, &mut element));
        for (k, stage) in program.stages.iter().enumerate() {
            let combine = |interpreter: &mut Interpreter<'_>, earlier: &[Constant], later: &[Constant]| {
                interpreter.call(&stage.combine, &[earlier, later].concat()).clone()
            };
            let x = interpreter.call(&stage.lift.function, element.read(&stage.lift.reads)).clone();
            if let Some(follows) = stage.follows.as_ref().filter(|_| out_of_order.is_none()) {
                let (verdict, overflowed) =
                    call_checked(follows, &[&element.before[k][..], &x].concat(), &program.tables);
                out_of_order = (overflowed || verdict[0].bits() == 0).then_some((index, k));
            }
            element.after[k] = match own.as_ref().and_then(|own| own.get(k)) {
                Some(after) => after.clone(),
                None => combine(&mut interpreter, &element.before[k], &x),
            };
            if is_one_chunk {
                continue;
            }
            products[k] = combine(&mut interpreter, &products[k], &x);
            if (index + 1).is_multiple_of(chunk) {
                element.after[k] = combine(&mut interpreter, &carries[k], &products[k]);
                carries[k].clone_from(&element.after[k]);
                products[k].clone_from(&stage.identity);
            }
        }
        let kept = program.output.filter.as_ref().is_none_or(|filter| {
            let results = interpreter.call(&filter.function, element.read(&filter.reads));
            results[0].bits() != 0
        });
        if kept {
            let project = &program.output.project;
            writer.write(interpreter.call(&project.function, element.read(&project.reads)));
        }
    }
    let previous = element.previous();
    Ok(Run {
        outputs: writer.columns,
        count: writer.count,
        states_after: element.after,
        previous,
        overflowed: interpreter.ever_overflowed,
        out_of_order,
    })
}

/// The states of the stages after an element, by the step of the loop that the program was derived from.
fn step_of_loop(of: &Sequential, interpreter: &mut Interpreter<'_>, element: &mut Element<'_>) -> Vec<Vec<Constant>> {
    let stages = &element.before;
    let state: Vec<Constant> = stages.iter().flatten().take(of.enter.params.len()).copied().collect();
    let before = interpreter.call(&of.enter, &state).clone();
    let read = |source: &Source| match *source {
        Source::Before { component, .. } => before[component as usize],
        source => element.source(source),
    };
    let arguments: Vec<Constant> = of.step.reads.iter().map(read).collect();
    let after = interpreter.call(&of.step.function, &arguments).clone();
    let mut left = interpreter.call(&of.leave, &after).iter().copied();
    let mut each = Vec::new();
    for stage in stages {
        let own: Vec<Constant> = left.by_ref().take(stage.len()).collect();
        if own.len() < stage.len() {
            // A stage that lowering added.
            break;
        }
        each.push(own);
    }
    each
}

/// The components of the record before the first element that are read, with their numbers.
fn check_previous(program: &Program, request: &Request) -> Result<Previous, InterpError> {
    let components = program.previous();
    let Some(values) = &request.previous else { return Ok(Previous { components, values: None }) };
    let expected = components.iter().filter_map(|&component| program.source_type(Source::Prev(component)));
    let (expected, got): (Vec<Type>, Vec<Type>) = (expected.collect(), values.iter().map(|value| value.ty()).collect());
    match expected == got {
        true => Ok(Previous { components, values: Some(values.clone()) }),
        false => Err(InterpError::PreviousType { expected, got }),
    }
}

fn check_parameters(program: &Program, values: &[Constant]) -> Result<(), InterpError> {
    let got: Vec<Type> = values.iter().map(|value| value.ty()).collect();
    match got == program.parameters {
        true => Ok(()),
        false => Err(InterpError::Parameters { expected: program.parameters.clone(), got }),
    }
}

fn count_records(layouts: &[Layout], inputs: &[&[u8]]) -> Result<usize, InterpError> {
    if layouts.len() != inputs.len() {
        return Err(InterpError::Columns { expected: layouts.len(), got: inputs.len() });
    }
    let mut count = None;
    for (column, (layout, bytes)) in layouts.iter().zip(inputs).enumerate() {
        let (bytes, record) = (bytes.len(), layout.size as usize);
        if record == 0 || bytes % record != 0 {
            return Err(InterpError::PartialRecord { column, bytes, record });
        }
        let got = bytes / record;
        let expected = *count.get_or_insert(got);
        if got != expected {
            return Err(InterpError::Lengths { column, expected, got });
        }
    }
    Ok(count.unwrap_or(0))
}

fn check_init<'s>(stages: &[Stage], init: &'s [Vec<Constant>]) -> Result<&'s [Vec<Constant>], InterpError> {
    if init.len() != stages.len() {
        return Err(InterpError::Init { expected: stages.len(), got: init.len() });
    }
    for (stage, (declared, init)) in stages.iter().zip(init).enumerate() {
        let got: Vec<Type> = init.iter().map(|component| component.ty()).collect();
        if got != declared.state {
            return Err(InterpError::SeedType { stage, expected: declared.state.clone(), got });
        }
    }
    Ok(init)
}
