//! Programs: what is compiled.
//!
//! A program reads columns of records, runs one to three scans over them ([`Stage`]s, each of which
//! may read what the earlier ones made of the same element), and writes one output. Each function
//! of a program says by a list of [`Source`]s what each of its parameters is, so it names only what
//! it reads.
//!
//! For element i of n, with `combine` written ⊕ and `identity` e, stage k computes
//!
//! ```text
//! x[i]      = lift_k(record i, the records beside it, first, last, index, initial states, states of the stages before k)
//! before[i] = init ⊕ x[0] ⊕ … ⊕ x[i-1]            (init = e unless the caller gives one)
//! after[i]  = before[i] ⊕ x[i]
//! ```
//!
//! and the output is `project(…)` of element i: written to place i, or, with `filter`, appended
//! where `filter` is true.

mod sequential;
mod states;
mod verified;

pub use sequential::{OwnFold, Sequential, Written};
pub use verified::{Verified, WellTyped};

use crate::builder::FunctionBuilder;
use crate::function::{Function, Value};
pub use crate::layout::{Field, Layout, Table};
use crate::opcode::Opcode;
use crate::types::{Constant, Type};

/// Most stages a program has.
pub const MAX_STAGES: usize = 3;
/// Most bytes a stage's state takes as a [packed](Layout::packed) record.
pub const MAX_STATE_BYTES: usize = 256;
/// Most instructions a function has.
pub const MAX_INSTS: usize = 1 << 16;
/// Most parameters a function has, and most results.
pub const MAX_PARAMS: usize = 1 << 12;
/// Most bytes the tables of a program take together.
pub const MAX_TABLE_BYTES: usize = 64 << 20;
/// Most columns on either side of a program.
pub const MAX_COLUMNS: usize = 64;
/// Most bytes a record takes, padding included.
pub const MAX_RECORD_BYTES: usize = 1 << 12;

/// The source of a parameter of a mapping.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Source {
    /// A component of the element's record; components are numbered through all columns.
    Record(u32),
    /// The same component of the next record; zero bits at the last element.
    Next(u32),
    /// The same component of the record before, in the order of the scan; zero bits at the first element.
    Prev(u32),
    /// `bool`: this is the first element, there is no record before it.
    First,
    /// `bool`: this is the last element, there is no next record.
    Last,
    /// `u64`: the element's place, from 0.
    Index,
    /// A component of a stage's state before the element.
    Before {
        /// Which stage.
        stage: u32,
        /// Which component of its state.
        component: u32,
    },
    /// A component of a stage's state after the element.
    After {
        /// Which stage.
        stage: u32,
        /// Which component of its state.
        component: u32,
    },
    /// A component of the state that a stage's sequences start from: its initial state, or the identity where none is given. The same
    /// for every element of a sequence, and any mapping may read that of any stage.
    Init {
        /// Which stage.
        stage: u32,
        /// Which component of its state.
        component: u32,
    },
    /// A [parameter](Program::parameters): the same value for every element of a call.
    Parameter(u32),
    /// Only in outputs: the state of the last stage that was asked for, `After` in an inclusive scan and `Before` in an
    /// exclusive one.
    State(u32),
    /// Only in outputs: the same of any stage.
    StateOf {
        /// Which stage.
        stage: u32,
        /// Which component of its state.
        component: u32,
    },
}

/// A function with what its parameters are.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Mapping {
    /// For each parameter of the function, what it is.
    pub reads: Vec<Source>,
    /// The function.
    pub function: Function,
}

/// One scan. What a stage has not, `..Stage::default()` leaves out.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Stage {
    /// The types of the state's components.
    pub state: Vec<Type>,
    /// The state that changes nothing.
    pub identity: Vec<Constant>,
    /// The state of one element, from the record, the next one, initial states, and earlier stages.
    pub lift: Mapping,
    /// The operator: (earlier state, later state) → state, each as its components in order.
    pub combine: Function,
    /// State → one `bool`: which states occur. Laws are judged on these only.
    pub valid: Option<Function>,
    /// (Earlier state, later state) → one `bool`: which states may meet, the earlier one on the left. Laws are asked of
    /// such sequences only, and a checked scan finds the first element that does not follow the state before it.
    pub follows: Option<Function>,
    /// Whether it is declared to be a finite [automaton](Stage::automaton): a lift that looks up the map of an element's
    /// input symbol, and a `combine` that composes maps.
    pub automaton: bool,
}

impl Stage {
    /// A stage whose state nobody reads, for a program that looks at records alone: a program has a stage at least. It is the
    /// disjunction of `false`s.
    pub fn unread() -> Stage {
        let mut lift = FunctionBuilder::new();
        let nothing = lift.lit(false);
        let mut b = FunctionBuilder::new();
        let both = b.params(&[Type::Bool; 2]);
        let either = b.binary(Opcode::Or, both[0], both[1]);
        Stage {
            state: vec![Type::Bool],
            identity: vec![Constant::from(false)],
            lift: Mapping { reads: Vec::new(), function: lift.finish(&[nothing]) },
            combine: b.finish(&[either]),
            ..Stage::default()
        }
    }

    /// All its functions.
    pub fn functions(&self) -> impl Iterator<Item = &Function> {
        [&self.lift.function, &self.combine].into_iter().chain(&self.valid).chain(&self.follows)
    }

    pub(crate) fn functions_mut(&mut self) -> impl Iterator<Item = &mut Function> {
        [&mut self.lift.function, &mut self.combine].into_iter().chain(&mut self.valid).chain(&mut self.follows)
    }
}

/// The output of a program.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Output {
    /// With it, only elements for which it gives `true` are written, densely and in order (`emit`); without it, every
    /// element is (`write`).
    pub filter: Option<Mapping>,
    /// The components of the output record, numbered through all columns.
    pub project: Mapping,
    /// How the columns lie in memory.
    pub columns: Vec<Layout>,
}

/// A cascade of scans with its input, tables and output.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Program {
    /// Its name in text, plans and errors: letters, digits, `_`, `.`, `:`, `<`, `>`, `,`; not empty.
    pub name: String,
    /// Constant tables, named by their place.
    pub tables: Vec<Table>,
    /// The input columns, all of the same length.
    pub inputs: Vec<Layout>,
    /// The types of the values that are bound when a call is made, for all its elements. Mappings read them; operators and
    /// identities do not, so laws do not depend on them.
    pub parameters: Vec<Type>,
    /// One to three scans.
    pub stages: Vec<Stage>,
    /// The output.
    pub output: Output,
    /// The loop that it was derived from, if it was. It gives the same, but for the rounding of floats.
    pub sequential: Option<Sequential>,
}

impl Program {
    /// Whether a name may have this character.
    pub const fn is_name_char(c: char) -> bool {
        c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':' | '<' | '>' | ',')
    }

    /// The same program with every function replaced.
    pub(crate) fn map_functions(mut self, f: impl Fn(Function) -> Function) -> Program {
        let change = |function: &mut Function| *function = f(std::mem::take(function));
        self.stages.iter_mut().flat_map(Stage::functions_mut).for_each(change);
        [Some(&mut self.output.project), self.output.filter.as_mut()]
            .into_iter()
            .flatten()
            .for_each(|mapping| change(&mut mapping.function));
        self.sequential.iter_mut().flat_map(Sequential::functions_mut).for_each(change);
        self
    }

    /// Whether another program computes the same, instruction by instruction: overflow may be meant in one and not in the
    /// other, which says nothing to an engine.
    pub fn computes_as(&self, other: &Program) -> bool {
        let unmarked = |program: &Program| program.clone().map_functions(Function::unmarked);
        unmarked(self) == unmarked(other)
    }

    /// Every function: those of stages, of what is kept, of the projection.
    pub fn functions(&self) -> impl Iterator<Item = &Function> {
        let outputs = self.output.filter.iter().chain([&self.output.project]).map(|mapping| &mapping.function);
        self.stages.iter().flat_map(Stage::functions).chain(outputs)
    }

    /// Every mapping: the lifts, what is kept, the projection.
    pub fn mappings(&self) -> impl Iterator<Item = &Mapping> {
        let lifts = self.stages.iter().map(|stage| &stage.lift);
        lifts.chain(&self.output.filter).chain([&self.output.project])
    }

    /// The same, to be changed.
    pub fn mappings_mut(&mut self) -> impl Iterator<Item = &mut Mapping> {
        let lifts = self.stages.iter_mut().map(|stage| &mut stage.lift);
        lifts.chain(&mut self.output.filter).chain([&mut self.output.project])
    }

    /// The program with these values in place of its parameters, as constants; it has none left. None if they are not
    /// of the parameters' types.
    pub fn bound(&self, values: &[Constant]) -> Option<Program> {
        if !values.iter().map(|value| value.ty()).eq(self.parameters.iter().copied()) {
            return None;
        }
        let mut program = self.clone();
        program.parameters.clear();
        let is_parameter = |source: &Source| matches!(source, Source::Parameter(_));
        let mut own = program.sequential.take();
        let mappings = program.mappings_mut().chain(own.iter_mut().flat_map(Sequential::mappings_mut));
        for mapping in mappings.filter(|mapping| mapping.reads.iter().any(is_parameter)) {
            let mut b = FunctionBuilder::new();
            let mut reads = Vec::new();
            // Parameters of a function come before its constants.
            let types = mapping.reads.iter().zip(&mapping.function.params);
            let own: Vec<Option<Value>> = types
                .map(|(&source, &ty)| match source {
                    Source::Parameter(_) => None,
                    _ => {
                        reads.push(source);
                        Some(b.param(ty))
                    }
                })
                .collect();
            let arguments = mapping.reads.iter().zip(own).map(|(source, own)| match *source {
                Source::Parameter(of) => b.constant(values[of as usize]),
                _ => own.expect("what is no parameter is read"),
            });
            let arguments: Vec<Value> = arguments.collect();
            let results = b.inline(&mapping.function, &arguments);
            *mapping = Mapping { reads, function: b.finish(&results) };
        }
        program.sequential = own;
        Some(program)
    }

    /// The types of the input record's components, numbered through all columns.
    pub fn record_types(&self) -> Vec<Type> {
        self.inputs.iter().flat_map(Layout::types).collect()
    }

    /// The types of the output record's components, numbered through all columns.
    pub fn output_types(&self) -> Vec<Type> {
        self.output.columns.iter().flat_map(Layout::types).collect()
    }

    /// The type a source has in this program; none where it names something that does not exist.
    pub fn source_type(&self, source: Source) -> Option<Type> {
        let component = |stage: usize, component: u32| self.stages.get(stage)?.state.get(component as usize).copied();
        match source {
            Source::Record(c) | Source::Next(c) | Source::Prev(c) => {
                self.inputs.iter().flat_map(Layout::types).nth(c as usize)
            }
            Source::First | Source::Last => Some(Type::Bool),
            Source::Index => Some(Type::U64),
            Source::Before { stage, component: c }
            | Source::After { stage, component: c }
            | Source::StateOf { stage, component: c }
            | Source::Init { stage, component: c } => component(stage as usize, c),
            Source::Parameter(c) => self.parameters.get(c as usize).copied(),
            Source::State(c) => component(self.stages.len().checked_sub(1)?, c),
        }
    }
}
