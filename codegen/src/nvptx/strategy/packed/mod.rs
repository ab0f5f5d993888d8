//! Programs of bytes, worked on four records to a 32-bit word.
//!
//! The *packed form* of a program has its lift, operator and projection as [`Code`] for four lanes
//! at once. A state is a word for each component; neighbouring lanes are neighbouring states.
//!
//! A program has a packed form if it has one stage, its components and columns are single bytes, it
//! reads nothing but records, states, initial states and parameters, and all its opcodes have a
//! form on four lanes. A pass takes it where it is the shorter one.

mod code;
mod operator;
mod passes;
mod questions;
mod sums;
#[cfg(test)]
mod tests;
mod words;

use std::iter::zip;

use monoscan_ir::automaton::Carried;
use monoscan_ir::facts::{CarryUpdate, Range};
use monoscan_ir::transform::Lowered;
use monoscan_ir::{Constant, Layout, Mapping, Program, Source, Type, simplify};

use crate::nvptx::emit::{Builder, Value};
use crate::nvptx::kernel::arguments::KernelArguments;
use code::Code;
use operator::Operator;
pub(crate) use passes::{PackedFold, PackedReplay};
pub(crate) use questions::PackedQuestions;
use words::Word;

/// Instructions that take a byte out of a word, and that put one in, about.
const TAKE: usize = 1;
const PUT: usize = 3;

/// Instructions of the machine for four records one by one, by those of the IR for one: of four, one goes into another.
const FOUR: usize = 3;

/// The packed form of a program.
pub(crate) struct Packed {
    identity: Vec<Constant>,
    /// The components that a replay carries, in its order.
    live: Vec<usize>,
    /// The content of each column.
    inputs: Vec<Type>,
    outputs: Vec<Type>,
    lift: Reading,
    operator: Operator,
    project: Reading,
}

/// The code of a mapping, and what it reads.
struct Reading {
    reads: Vec<Source>,
    code: Code,
}

/// Sources that are the same for all elements, four times each.
struct Uniform<'k>(Vec<(Source, Word<'k>)>);

impl<'k> Uniform<'k> {
    fn get(&self, source: Source) -> Word<'k> {
        let found = self.0.iter().find(|(read, _)| *read == source);
        found.expect("a packed form reads records, states, initial states and parameters").1
    }
}

impl Packed {
    /// The packed form of a program whose replay carries these components.
    pub(crate) fn of(program: &Lowered, carried: &[Carried]) -> Option<Packed> {
        let [stage] = program.stages.as_slice() else { return None };
        let ranges = program.facts()[0].ranges.as_slice();
        let has_bytes = !program.inputs.is_empty() && stage.state.iter().copied().all(is_byte);
        let is_packable = has_bytes && program.output.filter.is_none() && is_closed(program, carried);
        let columns = |columns: &[Layout]| columns.iter().map(only_byte).collect::<Option<Vec<Type>>>();
        is_packable.then_some(())?;
        Some(Packed {
            identity: stage.identity.clone(),
            live: carried.iter().map(|carried| carried.component as usize).collect(),
            inputs: columns(&program.inputs)?,
            outputs: columns(&program.output.columns)?,
            lift: Reading::new(program, &stage.lift, ranges)?,
            operator: Operator::new(&program.whole_combine(0).function, &stage.identity, ranges)?,
            project: Reading::new(program, &program.output.project, ranges)?,
        })
    }

    /// About how many instructions the fold of four records takes.
    fn fold_work(&self) -> usize {
        self.lift.code.work() + self.operator.fold_work(self.identity.len())
    }

    /// About how many instructions the replay of four records takes.
    fn replay_work(&self) -> usize {
        self.lift.code.work() + self.operator.scan_work(self.identity.len()) + self.project.code.work()
    }

    /// Whether four records are folded in fewer instructions than one by one, each in so many besides those that take
    /// it out of its word.
    pub(crate) fn folds_faster(&self, work: usize) -> bool {
        self.fold_work() < FOUR * (work + TAKE * self.inputs.len())
    }

    /// The same of their replay.
    pub(crate) fn replays_faster(&self, work: usize) -> bool {
        self.replay_work() < FOUR * (work + TAKE * self.inputs.len() + PUT * self.outputs.len())
    }

    /// Four times the state that changes nothing.
    fn identity<'k>(&self, k: &'k Builder) -> Vec<Word<'k>> {
        self.identity.iter().map(|&constant| words::constant(k, constant)).collect()
    }

    /// The records of columns of bytes, four at a time: a word of each column.
    fn records<'k>(&self, columns: &[Vec<Value<'k>>]) -> Vec<Vec<Word<'k>>> {
        let word = |place: usize| {
            zip(columns, &self.inputs).map(move |(column, &ty)| words::from_memory(column[place], ty)).collect()
        };
        (0..columns[0].len()).map(word).collect()
    }

    /// The sources that are the same for all elements, four times each.
    fn uniform<'k>(&self, args: KernelArguments<'k, '_>) -> Uniform<'k> {
        let reads = self.lift.reads.iter().chain(&self.project.reads);
        let value = |&source: &Source| match source {
            // Components of the only stage are numbered as those of all.
            Source::Init { component, .. } => {
                Some((source, words::splat(args.component(args.layout.init(), component as usize))))
            }
            Source::Parameter(parameter) => Some((source, words::splat(args.parameter(parameter)))),
            _ => None,
        };
        Uniform(reads.filter_map(value).collect())
    }

    /// The states of four records; `record` is a word of each column.
    fn lift<'k>(&self, k: &'k Builder, record: &[Word<'k>], uniform: &Uniform<'k>) -> Vec<Word<'k>> {
        self.lift.write(k, |source| match source {
            Source::Record(component) => record[component as usize],
            source => uniform.get(source),
        })
    }
}

impl Reading {
    fn new(program: &Program, mapping: &Mapping, ranges: &[Range]) -> Option<Reading> {
        let range = |(&source, &ty): (&Source, &Type)| match source {
            Source::Record(_) | Source::Init { .. } => Some(Range::full(ty)),
            Source::Parameter(_) if is_byte(ty) => Some(Range::full(ty)),
            Source::Before { component, .. } | Source::After { component, .. } => Some(ranges[component as usize]),
            _ => None,
        };
        let function = simplify(&mapping.function, &program.tables);
        let ranges = mapping.reads.iter().zip(&function.params).map(range).collect::<Option<Vec<Range>>>()?;
        Some(Reading { reads: mapping.reads.clone(), code: Code::new(&function, &ranges)? })
    }

    fn write<'k>(&self, k: &'k Builder, read: impl Fn(Source) -> Word<'k>) -> Vec<Word<'k>> {
        self.code.write(k, &self.reads.iter().map(|&source| read(source)).collect::<Vec<_>>())
    }
}

fn is_byte(ty: Type) -> bool {
    matches!(ty, Type::Bool | Type::I8 | Type::U8)
}

/// The type of a column's only component, if that is a byte and there is nothing else.
fn only_byte(column: &Layout) -> Option<Type> {
    match column.fields.as_slice() {
        [field] if column.size == 1 && is_byte(field.ty) => Some(field.ty),
        _ => None,
    }
}

/// Whether `combine`, and the projection, need no other components of an earlier state than these. What one element does to
/// them can need fewer than what any state does.
fn is_closed(program: &Program, carried: &[Carried]) -> bool {
    let read = program.output.project.reads.iter().filter_map(|source| match *source {
        Source::Before { component, .. } | Source::After { component, .. } => Some(component),
        _ => None,
    });
    let components: Vec<u32> = carried.iter().map(|carried| carried.component).collect();
    let needed = CarryUpdate::of(program, 0, components.iter().copied().chain(read)).components;
    needed.iter().all(|&component| components.contains(&component))
}
