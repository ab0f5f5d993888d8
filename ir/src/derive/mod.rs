//! From a loop to a scan: the monoid that a sequential step is, or why it is none.
//!
//! A [`LoopProgram`] is `state = step(state, element)`, from an initial state. What n elements do
//! to an *unknown* state is a function, and functions compose associatively. Where these functions
//! stay in a family that is closed under composition, a scan of them is the loop (Callahan,
//! *Recognizing and parallelizing bounded recurrences*, LCPC 1991; Fisher and Ghuloum,
//! *Parallelizing complex scans and reductions*, PLDI 1994). [`derive()`] finds the families:
//!
//! 1. `graph`: components that depend on each other are one group. A group that reads others is one
//!    level later. To it, those are known, since a later stage of a cascade reads the states of
//!    earlier ones. Groups of one level are one stage.
//! 2. `family`: each group is tried in each family. An operation that none has is the reason of the
//!    [`Refusal`]: `reasons` finds it, and `written` shows it as it was written. `choose`, `normal`
//!    and `within` write the step by operations that families have, as it is built.
//! 3. `rewrite`: where no family has a group, the loop may be written otherwise: a stop, as `break`
//!    is written, and tests such as `last == NONE`. `reached`: a test may mean less of the states
//!    that are reached than of all.
//! 4. `assemble`: a [`Program`] of at most three stages, with the functions from states of the loop
//!    to those of the program and back. `own_folds`: how stretches of elements are folded in the
//!    loop's own numbers.
//! 5. `proof`: that the effect of an element is the step, by the normal forms of the judge.
//!    `samples`: the whole on samples, cut in blocks. The laws of the stages are judged like those
//!    of any program.

mod assemble;
mod choose;
mod code;
mod explain;
mod family;
mod fuel;
mod graph;
mod normal;
mod overflow;
mod own_folds;
mod proof;
mod reached;
mod reasons;
mod refusal;
mod rewrite;
mod samples;
mod show;
mod size;
mod within;
mod written;

use crate::facts::Range;
use crate::function::{Function, Value};
use crate::program::{Layout, Mapping, Output, Program, Source, Table};
use crate::types::{Constant, Type};

use code::{Code, MOST_OWN};
use fuel::Fuel;
use graph::Placed;
use overflow::Overflows;
use rewrite::Test;
use show::Names;
use written::Written;

pub use family::Family;
pub use proof::{Conditions, Trust};
pub use refusal::{Refusal, SourcePlace, Why};
pub use samples::{BLOCKS, Compared, NativeStep};

/// A sequential loop: a state, and a step that an element takes it through.
#[derive(Clone, PartialEq, Debug)]
pub struct LoopProgram {
    /// Its name, as a [program](Program::name) has one.
    pub name: String,
    /// Constant tables.
    pub tables: Vec<Table>,
    /// The input columns.
    pub inputs: Vec<Layout>,
    /// The types of the [parameters](Program::parameters) that the step may read.
    pub parameters: Vec<Type>,
    /// The names of the components of the state, for explanations and refusals.
    pub names: Vec<String>,
    /// The names of the components of records, for refusals; fewer where they have none.
    pub record_names: Vec<String>,
    /// The state before the first element, which says the types of the components.
    pub initial: Vec<Constant>,
    /// The state after an element. Its first parameters are the components of the state before. `reads` are the others: sources
    /// that a lift of a first stage may read.
    pub step: Mapping,
    /// Where each of the first instructions of the step was written, for refusals; those without one are not known.
    pub places: Vec<Option<SourcePlace>>,
    /// The outputs. [`Source::State`] and, with stage 0, [`Source::Before`] and [`Source::After`] are components of the
    /// loop's state.
    pub output: Output,
}

/// A loop as a scan.
#[derive(Clone, PartialEq, Debug)]
pub struct Derivation {
    /// The scan. Its states are not those of the loop.
    pub program: Program,
    /// From a state of the loop to that of the program, the components of all stages: what sequences start from.
    pub seed: Function,
    /// From a state of the program that began with such a one to that of the loop.
    pub value: Function,
    /// The loop's initial state.
    pub initial: Vec<Constant>,
    /// The stages that were found, in the order of the levels.
    pub groups: Vec<Derived>,
    /// How the loop was written otherwise, if it was.
    pub rewritten: Vec<&'static str>,
    /// Instructions of the step, and of lifting and composing once.
    pub work: (usize, usize),
    /// On how many records of samples it was compared with a [native step](derive_beside); none if there was none.
    pub native: Option<Compared>,
}

/// Components that depend on each other, and their family.
#[derive(Clone, PartialEq, Debug)]
pub struct Derived {
    /// Their names.
    pub components: Vec<String>,
    /// Components of earlier levels that they read, whose states are known to them.
    pub reads: Vec<String>,
    /// The family.
    pub family: Family,
    /// Which stage they are in.
    pub level: usize,
    /// Bytes of their part of the stage's state.
    pub bytes: usize,
    /// How it is known that their effect is the step.
    pub trust: Trust,
}

/// A loop whose step is one function of components and reads, with what rewriting added.
#[derive(Clone)]
struct Flat {
    names: Vec<String>,
    initial: Vec<Constant>,
    /// Parameters: the components, then what it reads.
    step: Function,
    reads: Vec<Source>,
    /// How many components the user's loop has; they are the first ones.
    own: usize,
    /// From the user's components to all.
    extend: Function,
    /// And back.
    restrict: Function,
    rewritten: Vec<&'static str>,
    /// Components that say what a test of another one does.
    tests: Vec<(usize, Test)>,
    /// Intervals of some components, where not every state is one that is [reached].
    ranges: Vec<(usize, Range)>,
    /// Where the user's step may leave the integers.
    overflows: Overflows,
    /// The rest of the work for all that is tried.
    fuel: Fuel,
}

impl Flat {
    fn types(&self) -> Vec<Type> {
        self.initial.iter().map(|constant| constant.ty()).collect()
    }

    /// Code over the step's parameters.
    fn code_of<'t>(&self, tables: &'t [Table]) -> Code<'t> {
        let mut code = Code::new(&self.step.params, self.initial.len(), tables, self.overflows.sums);
        code.fuel = self.fuel.clone();
        self.ranges.iter().for_each(|&(member, range)| code.ranges[member] = range);
        code
    }

    /// Where the step was written; a loop that was written otherwise has no places.
    fn written<'a>(&self, of: &'a LoopProgram) -> Written<'a> {
        let places = if self.rewritten.is_empty() { &of.places[..] } else { &[] };
        Written::new(&self.step, places, self.code_of(&of.tables))
    }

    /// The code of the step and the next value of each component.
    fn code<'t>(&self, tables: &'t [Table]) -> (Code<'t>, Vec<Value>) {
        let mut code = self.code_of(tables);
        let params: Vec<Value> = (0..self.step.params.len()).map(Value::new).collect();
        let next = code.inline(&self.step, &params);
        (code, next)
    }

    /// A value of the step as it was written, as the text of an expression.
    fn show(&self, of: &LoopProgram, code: &Code<'_>, written: &Written<'_>, value: Value) -> String {
        Names { components: &self.names, reads: &self.read_names(of), written }.show(code, value)
    }

    /// The names of what the step reads, as the loop has them.
    fn read_names(&self, of: &LoopProgram) -> Vec<String> {
        let name = |source: &Source| match *source {
            Source::Record(component) => of.record_names.get(component as usize).cloned(),
            _ => None,
        };
        self.reads.iter().map(|source| name(source).unwrap_or_else(|| source.to_string())).collect()
    }
}

/// Derives the scan of a loop. Takes about a millisecond for typical steps, and some five for large tables and words under
/// matrices. All that is tried has one budget of work, so that a refusal takes some tens of them at most.
///
/// ```
/// use monoscan_ir::derive::{Family, derive};
/// # use monoscan_ir::{FunctionBuilder, Layout, Mapping, Opcode, Output, Source, Type, derive::LoopProgram};
/// // |s, x| max(s + x, 0)
/// let mut b = FunctionBuilder::new();
/// let (s, x, zero) = (b.param(Type::I32), b.param(Type::I32), ());
/// let sum = b.binary(Opcode::Add, s, x);
/// let zero = b.lit(0i32);
/// let step = b.binary(Opcode::Max, sum, zero);
/// let step = Mapping { reads: vec![Source::Record(0)], function: b.finish(&[step]) };
/// let mut b = FunctionBuilder::new();
/// let s = b.param(Type::I32);
/// let project = Mapping { reads: vec![Source::State(0)], function: b.finish(&[s]) };
/// let column = Layout::of(Type::I32);
/// let tail = LoopProgram {
///     name: "tail".into(),
///     tables: vec![],
///     inputs: vec![column.clone()],
///     parameters: vec![],
///     names: vec!["s".into()],
///     record_names: vec!["x".into()],
///     initial: vec![0i32.into()],
///     step,
///     places: vec![],
///     output: Output { filter: None, project, columns: vec![column] },
/// };
/// let derived = derive(&tail)?;
/// assert_eq!(derived.groups[0].family, Family::Clamp { scaled: false, lower: true, upper: false });
/// # Ok::<(), monoscan_ir::derive::Refusal>(())
/// ```
///
/// # Errors
/// Which components, which operation, and why.
///
/// # Panics
/// If [`verify_loop`](crate::verify_loop) refuses the loop.
pub fn derive(of: &LoopProgram) -> Result<Derivation, Refusal> {
    derive_with(of, None)
}

/// The same, where samples are those of the step as a compiler of its language made it: so the scan is compared with what the
/// user runs, and not with its program alone.
///
/// # Errors
/// As [`derive()`].
///
/// # Panics
/// As [`derive()`].
pub fn derive_beside(of: &LoopProgram, native: &dyn NativeStep) -> Result<Derivation, Refusal> {
    derive_with(of, Some(native))
}

fn derive_with(of: &LoopProgram, native: Option<&dyn NativeStep>) -> Result<Derivation, Refusal> {
    let own = of.initial.len();
    if own > MOST_OWN {
        return Err(Refusal::of(of.names.clone(), Why::Components { got: own }));
    }
    let types: Vec<Type> = of.initial.iter().map(|constant| constant.ty()).collect();
    let mut same = crate::FunctionBuilder::new();
    let components = same.params(&types);
    let same = same.finish(&components);
    let flat = Flat {
        names: of.names.clone(),
        initial: of.initial.clone(),
        step: of.step.function.clone(),
        reads: of.step.reads.clone(),
        own,
        extend: same.clone(),
        restrict: same,
        rewritten: Vec::new(),
        tests: Vec::new(),
        ranges: Vec::new(),
        overflows: Overflows::of(&of.step.function, own),
        fuel: Fuel::default(),
    };
    let fuel = flat.fuel.clone();
    let effort = || Refusal::of(of.names.clone(), Why::Effort);
    let (flat, groups) = solve(flat, of, 0).map_err(|refusal| if fuel.is_spent() { effort() } else { refusal })?;
    if fuel.is_spent() {
        return Err(effort());
    }
    let (mut code, next) = flat.code(&of.tables);
    let groups = graph::again(&mut code, &flat, &next, groups).map_err(|members| {
        if fuel.is_spent() {
            return effort();
        }
        Refusal::of_group(&mut code, &members, &next, (&flat, of))
    })?;
    let trust: Vec<Trust> = groups.iter().map(|group| proof::of_group(&mut code, &flat, &next, group)).collect();
    let mut derivation = assemble::assemble(of, &flat, &code, &next, groups, trust)?;
    derivation.native = samples::on_samples(of, &derivation, native)?;
    Ok(derivation)
}

/// The groups with their families and levels; of the loop as it is, or written otherwise.
fn solve(flat: Flat, of: &LoopProgram, depth: usize) -> Result<(Flat, Vec<Placed>), Refusal> {
    let tables = &of.tables[..];
    let (mut code, next) = flat.code(tables);
    match graph::groups(&mut code, &flat, &next) {
        Ok(groups) => Ok((flat, groups)),
        Err(graph::Failed::Levels { needed, members }) => {
            Err(Refusal::of_levels(&code, (needed, &members), &next, (&flat, of)))
        }
        Err(graph::Failed::Group { members }) => {
            let refusal = Refusal::of_group(&mut code, &members, &next, (&flat, of));
            if depth < 3 {
                for rewrite in [rewrite::stops, rewrite::sentinels, reached::within_reach] {
                    let Some(other) = rewrite(&flat, tables, &members) else { continue };
                    if let Ok(solved) = solve(other, of, depth + 1) {
                        return Ok(solved);
                    }
                }
            }
            Err(refusal)
        }
    }
}
