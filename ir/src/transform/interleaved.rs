//! Interleaved rows as one line: a record has those of all rows, and so has a state.
//!
//! Rows that run down an array of few columns lie in each other's cache lines, and each waits for
//! its own states. As one line they are read once, their chains run beside each other, and the line
//! has all that lines have: tiles, threads, one pass. The state of a stage is k of its states, row
//! by row, under
//!
//! ```text
//! (s₀, …, sₖ₋₁) ⊕ (t₀, …, tₖ₋₁) = (s₀ ⊕ t₀, …, sₖ₋₁ ⊕ tₖ₋₁)
//! ```
//!
//! so its laws are those of ⊕.

use crate::builder::FunctionBuilder;
use crate::function::{Function, Value};
use crate::opcode::Opcode;
use crate::program::{Mapping, Output, OwnFold, Program, Sequential, Source, Stage, Verified};
use crate::simplify::simplify;
use crate::types::Type;
use crate::verify::verify;
use crate::{Field, Layout};

/// The program whose records are those of so many interleaved rows: record i of each of its columns has `rows` records of a column of
/// `program`, and its states have the states of all rows, row by row within each stage. None if it keeps records, has an
/// [automaton](Stage::automaton), or would have larger states or records than a program may.
///
/// ```
/// use monoscan_ir::{interp, text, transform::interleaved, verify};
/// let sum = verify(text::parse("program sum
///   input { size 1, align 1, u8 @ 0 }
///   stage (u8)
///     identity (0)
///     lift (%0 = record.0: u8) { return %0 }
///     combine (%0: u8, %1: u8) {
///       %2 = add.u8 %0, %1
///       return %2
///     }
///   output write
///     column { size 1, align 1, u8 @ 0 }
///     project (%0 = state.0: u8) { return %0 }").unwrap()).unwrap();
/// let pairs = interleaved(&sum, 2).unwrap();
/// let run = interp::run(&pairs, &[&[1, 10, 2, 20, 3, 30]], &interp::Request::default()).unwrap();
/// assert_eq!(run.outputs, [[1, 10, 3, 30, 6, 60]]);
/// ```
pub fn interleaved(program: &Verified<Program>, rows: usize) -> Option<Verified<Program>> {
    if program.output.filter.is_some() || program.stages.iter().any(|stage| stage.automaton) {
        return None;
    }
    let rows = Rows { program, rows: rows as u32 };
    let output = &program.output;
    let wide = Program {
        name: program.name.clone(),
        tables: program.tables.clone(),
        inputs: rows.columns(&program.inputs)?,
        parameters: program.parameters.clone(),
        stages: program.stages.iter().map(|stage| rows.stage(stage)).collect(),
        output: Output {
            filter: None,
            project: rows.mapping(
                &output.project,
                |source, row| rows.source(source, row),
                |results| rows.written(results),
            ),
            columns: rows.columns(&output.columns)?,
        },
        sequential: program.sequential.as_ref().map(|of| rows.sequential(of)),
    };
    verify(wide).ok()
}

/// So many rows of a program.
#[derive(Clone, Copy)]
struct Rows<'p> {
    program: &'p Program,
    rows: u32,
}

impl Rows<'_> {
    fn columns(self, columns: &[Layout]) -> Option<Vec<Layout>> {
        let column = |column: &Layout| {
            let offset = |row: u32, field: &Field| {
                Some(Field { offset: row.checked_mul(column.size)?.checked_add(field.offset)?, ..*field })
            };
            let fields = (0..self.rows).flat_map(|row| column.fields.iter().map(move |field| offset(row, field)));
            Some(Layout {
                size: column.size.checked_mul(self.rows)?,
                fields: fields.collect::<Option<_>>()?,
                ..column.clone()
            })
        };
        columns.iter().map(column).collect()
    }

    /// A component of the record of a row, in the record of all: they are numbered column by column.
    fn component(self, columns: &[Layout], component: u32, row: u32) -> u32 {
        let mut first = 0;
        for column in columns {
            let fields = column.fields.len() as u32;
            if component < first + fields {
                return first * self.rows + row * fields + (component - first);
            }
            first += fields;
        }
        unreachable!("a component is in a column")
    }

    fn of_stage(self, stage: u32, component: u32, row: u32) -> u32 {
        row * self.program.stages[stage as usize].state.len() as u32 + component
    }

    /// The source that a mapping of the stages reads for a row.
    fn source(self, source: Source, row: u32) -> Source {
        let record = |component| self.component(&self.program.inputs, component, row);
        let of_stage = |stage, component| self.of_stage(stage, component, row);
        let last = self.program.stages.len() as u32 - 1;
        match source {
            Source::Record(component) => Source::Record(record(component)),
            Source::Next(component) => Source::Next(record(component)),
            Source::Prev(component) => Source::Prev(record(component)),
            Source::Before { stage, component } => Source::Before { stage, component: of_stage(stage, component) },
            Source::After { stage, component } => Source::After { stage, component: of_stage(stage, component) },
            Source::Init { stage, component } => Source::Init { stage, component: of_stage(stage, component) },
            Source::StateOf { stage, component } => Source::StateOf { stage, component: of_stage(stage, component) },
            Source::State(component) => Source::State(of_stage(last, component)),
            Source::First | Source::Last | Source::Index | Source::Parameter(_) => source,
        }
    }

    /// The same of a mapping of a loop, of so many components.
    fn loop_source(self, source: Source, row: u32, components: u32) -> Source {
        let own = |component| row * components + component;
        match source {
            Source::Before { stage: 0, component } => Source::Before { stage: 0, component: own(component) },
            Source::After { stage: 0, component } => Source::After { stage: 0, component: own(component) },
            Source::State(component) => Source::State(own(component)),
            source => self.source(source, row),
        }
    }

    /// A mapping once for each row. Takes what each reads, and the results, row by row, to those of all.
    fn mapping(
        self,
        mapping: &Mapping,
        source: impl Fn(Source, u32) -> Source,
        ordered: impl FnOnce(Vec<Vec<Value>>) -> Vec<Value>,
    ) -> Mapping {
        let mut reads: Vec<Source> = Vec::new();
        let mut b = FunctionBuilder::new();
        let mut arguments = Vec::new();
        for row in 0..self.rows {
            for (&read, &ty) in mapping.reads.iter().zip(&mapping.function.params) {
                let read = source(read, row);
                let place = reads.iter().position(|&known| known == read).unwrap_or_else(|| {
                    reads.push(read);
                    b.param(ty);
                    reads.len() - 1
                });
                arguments.push(Value::new(place));
            }
        }
        let count = mapping.reads.len();
        let row = |row: usize| b.inline(&mapping.function, &arguments[row * count..(row + 1) * count]);
        let results = (0..self.rows as usize).map(row).collect();
        Mapping { reads, function: simplify(&b.finish(&ordered(results)), &self.program.tables) }
    }

    /// The components of the output record of all rows.
    fn written(self, results: Vec<Vec<Value>>) -> Vec<Value> {
        let mut first = 0;
        let mut written = Vec::new();
        for column in &self.program.output.columns {
            let own = first..first + column.fields.len();
            written.extend(results.iter().flat_map(|results| &results[own.clone()]));
            first = own.end;
        }
        written
    }

    /// A function once for each row. Of each argument it takes as many components a row as `arguments` says, row by row.
    fn function(self, function: &Function, arguments: &[usize], results: &[usize]) -> Function {
        let mut b = FunctionBuilder::new();
        let mut params = Vec::new();
        let mut first = 0;
        for &count in arguments {
            let types: Vec<Type> = function.params[first..first + count].repeat(self.rows as usize);
            params.push(b.params(&types));
            first += count;
        }
        let of_row = |row: usize| {
            let own = params.iter().zip(arguments).flat_map(|(all, &count)| &all[row * count..(row + 1) * count]);
            let own: Vec<Value> = own.copied().collect();
            b.inline(function, &own)
        };
        let of_rows: Vec<Vec<Value>> = (0..self.rows as usize).map(of_row).collect();
        let mut first = 0;
        let mut ordered = Vec::new();
        for &count in results {
            ordered.extend(of_rows.iter().flat_map(|own| &own[first..first + count]));
            first += count;
        }
        simplify(&b.finish(&ordered), &self.program.tables)
    }

    /// A `bool` of states, for all rows.
    fn all(self, function: &Function, arguments: &[usize]) -> Function {
        let each = self.function(function, arguments, &[1]);
        let mut b = FunctionBuilder::new();
        let params = b.params(&each.params);
        let holds = b.inline(&each, &params);
        let all = holds.into_iter().reduce(|a, c| b.binary(Opcode::And, a, c)).expect("there is a row");
        b.finish(&[all])
    }

    fn stage(self, stage: &Stage) -> Stage {
        let (len, rows) = (stage.state.len(), self.rows as usize);
        Stage {
            state: stage.state.repeat(rows),
            identity: stage.identity.repeat(rows),
            lift: self.mapping(&stage.lift, |source, row| self.source(source, row), |results| results.concat()),
            combine: self.function(&stage.combine, &[len, len], &[len]),
            valid: stage.valid.as_ref().map(|valid| self.all(valid, &[len])),
            follows: stage.follows.as_ref().map(|follows| self.all(follows, &[len, len])),
            automaton: false,
        }
    }

    fn sequential(self, of: &Sequential) -> Sequential {
        let rows = self.rows as usize;
        let components = of.initial.len();
        let states: Vec<usize> = self.program.stages.iter().map(|stage| stage.state.len()).collect();
        let step = |mapping: &Mapping, components: usize| {
            let source = |source, row| self.loop_source(source, row, components as u32);
            self.mapping(mapping, source, |results| results.concat())
        };
        let source = |source, row| self.loop_source(source, row, components as u32);
        let fold = |fold: &OwnFold| OwnFold {
            stage: fold.stage,
            initial: fold.initial.repeat(rows),
            step: step(&fold.step, fold.initial.len()),
            leave: self.function(&fold.leave, &[fold.initial.len()], &[states[fold.stage as usize]]),
        };
        Sequential {
            initial: of.initial.repeat(rows),
            enter: self.function(&of.enter, &states, &[components]),
            leave: self.function(&of.leave, &[components], &states),
            step: step(&of.step, components),
            project: self.mapping(&of.project, source, |results| self.written(results)),
            checked: None,
            folds: of.folds.iter().map(fold).collect(),
        }
    }
}
