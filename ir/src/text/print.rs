//! The printer: every part of a program as the text that the parser reads back.
//!
//! It also prints what does not verify, and loses nothing of it: see the notes on exceptional forms
//! in the [grammar](crate::text).

use std::fmt::{self, Display, Formatter};

use crate::function::{Function, Inst, Payload, Value};
use crate::program::{Layout, Mapping, Program, Sequential, Source, Stage, Table};
use crate::types::{Constant, Type};

impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "%{}", self.index())
    }
}

impl Display for Source {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Source::Record(component) => write!(f, "record.{component}"),
            Source::Next(component) => write!(f, "next.{component}"),
            Source::Prev(component) => write!(f, "prev.{component}"),
            Source::First => f.write_str("first"),
            Source::Last => f.write_str("last"),
            Source::Index => f.write_str("index"),
            Source::Before { stage, component } => write!(f, "before.{stage}.{component}"),
            Source::After { stage, component } => write!(f, "after.{stage}.{component}"),
            Source::Init { stage, component } => write!(f, "init.{stage}.{component}"),
            Source::Parameter(parameter) => write!(f, "parameter.{parameter}"),
            Source::State(component) => write!(f, "state.{component}"),
            Source::StateOf { stage, component } => write!(f, "state.{stage}.{component}"),
        }
    }
}

/// The operation without the value it defines: `add.i32 %0, %1`.
impl Display for Inst {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.opcode.name(), self.ty)?;
        let mut separator = " ";
        for operand in self.operands() {
            write!(f, "{separator}{operand}")?;
            separator = ", ";
        }
        match self.payload {
            Payload::None => Ok(()),
            Payload::Constant(value) => write!(f, "{separator}{}", Literal(value, Some(self.ty))),
            Payload::Table(table) => write!(f, "{separator}@{table}"),
            Payload::Lane(lane) => write!(f, "{separator}#{lane}"),
            Payload::Wraps => write!(f, "{separator}wraps"),
        }
    }
}

/// The parameters, the instructions and the results, over several lines.
impl Display for Function {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_function(f, self, None, 0)
    }
}

/// The function, its parameters with what they are.
impl Display for Mapping {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_function(f, &self.function, Some(&self.reads), 0)
    }
}

impl Display for Layout {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{{ size {}, align {}", self.size, self.align)?;
        for field in &self.fields {
            write!(f, ", {} @ {}", field.ty, field.offset)?;
        }
        f.write_str(" }")
    }
}

/// The type and all elements: `u8 = [0 1 2]`.
impl Display for Table {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let size = self.ty.size();
        let regular =
            self.bytes.len().is_multiple_of(size) && (self.ty != Type::Bool || self.bytes.iter().all(|&b| b < 2));
        write!(f, "{} = ", self.ty)?;
        if regular {
            write_list(f, self.bytes.chunks(size).map(|element| Constant::from_bytes(self.ty, element)))
        } else {
            f.write_str("bytes ")?;
            write_list(f, &self.bytes)
        }
    }
}

/// The whole program, ending with a newline.
impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "program {}", Name(&self.name))?;
        for input in &self.inputs {
            writeln!(f, "  input {input}")?;
        }
        for parameter in &self.parameters {
            writeln!(f, "  parameter {parameter}")?;
        }
        for table in &self.tables {
            writeln!(f, "  table {table}")?;
        }
        for stage in &self.stages {
            write_stage(f, stage)?;
        }
        writeln!(f, "  output {}", if self.output.filter.is_some() { "emit" } else { "write" })?;
        for column in &self.output.columns {
            writeln!(f, "    column {column}")?;
        }
        if let Some(filter) = &self.output.filter {
            write_part(f, "filter", &filter.function, Some(&filter.reads))?;
        }
        write_part(f, "project", &self.output.project.function, Some(&self.output.project.reads))?;
        self.sequential.as_ref().map_or(Ok(()), |sequential| write_sequential(f, sequential))
    }
}

fn write_sequential(f: &mut Formatter<'_>, of: &Sequential) -> fmt::Result {
    f.write_str("  sequential (")?;
    separated(f, of.initial.iter().map(|&value| Literal(value, None)))?;
    f.write_str(")\n")?;
    write_part(f, "enter", &of.enter, None)?;
    write_part(f, "leave", &of.leave, None)?;
    write_part(f, "step", &of.step.function, Some(&of.step.reads))?;
    write_part(f, "project", &of.project.function, Some(&of.project.reads))?;
    if let Some(written) = &of.checked {
        write_part(f, "checked_step", &written.step.function, Some(&written.step.reads))?;
        write_part(f, "checked_project", &written.project.function, Some(&written.project.reads))?;
    }
    for fold in &of.folds {
        write!(f, "    fold {} (", fold.stage)?;
        separated(f, fold.initial.iter().map(|&value| Literal(value, None)))?;
        f.write_str(")\n")?;
        write_part(f, "step", &fold.step.function, Some(&fold.step.reads))?;
        write_part(f, "leave", &fold.leave, None)?;
    }
    Ok(())
}

fn write_stage(f: &mut Formatter<'_>, stage: &Stage) -> fmt::Result {
    write!(f, "  stage {}(", if stage.automaton { "automaton " } else { "" })?;
    separated(f, stage.state.iter())?;
    f.write_str(")\n    identity (")?;
    let known = |place: usize| stage.state.get(place).copied();
    separated(f, stage.identity.iter().enumerate().map(|(place, &value)| Literal(value, known(place))))?;
    f.write_str(")\n")?;
    write_part(f, "lift", &stage.lift.function, Some(&stage.lift.reads))?;
    write_part(f, "combine", &stage.combine, None)?;
    for (word, function) in [("valid", &stage.valid), ("follows", &stage.follows)] {
        if let Some(function) = function {
            write_part(f, word, function, None)?;
        }
    }
    Ok(())
}

fn write_part(f: &mut Formatter<'_>, word: &str, function: &Function, reads: Option<&[Source]>) -> fmt::Result {
    write!(f, "    {word} ")?;
    write_function(f, function, reads, 4)?;
    f.write_str("\n")
}

fn write_function(f: &mut Formatter<'_>, function: &Function, reads: Option<&[Source]>, indent: usize) -> fmt::Result {
    f.write_str("(")?;
    let reads = reads.unwrap_or_default();
    let params = function.params.iter().enumerate().map(|(place, &ty)| Parameter(place, reads.get(place), ty));
    separated(f, params)?;
    for (place, source) in reads.iter().enumerate().skip(function.params.len()) {
        write!(f, "{}_ = {source}", if place == 0 { "" } else { ", " })?;
    }
    f.write_str(") {\n")?;
    for (value, inst) in function.values() {
        writeln!(f, "{:indent$}  {value} = {inst}", "")?;
    }
    write!(f, "{:indent$}  return", "")?;
    for (place, result) in function.results.iter().enumerate() {
        write!(f, "{}{result}", if place == 0 { " " } else { ", " })?;
    }
    write!(f, "\n{:indent$}}}", "")
}

struct Parameter<'a>(usize, Option<&'a Source>, Type);

impl Display for Parameter<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.1 {
            Some(source) => write!(f, "%{} = {source}: {}", self.0, self.2),
            None => write!(f, "%{}: {}", self.0, self.2),
        }
    }
}

/// A constant where the text around it says that it has this type; its own type is added where that differs.
struct Literal(Constant, Option<Type>);

impl Display for Literal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        if self.1 == Some(self.0.ty()) { Ok(()) } else { write!(f, ": {}", self.0.ty()) }
    }
}

/// A program's name: bare where the verifier accepts it, else quoted.
struct Name<'a>(&'a str);

impl Display for Name<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if !self.0.is_empty() && self.0.chars().all(Program::is_name_char) {
            return f.write_str(self.0);
        }
        f.write_str("\"")?;
        for c in self.0.chars() {
            match c {
                '"' | '\\' => write!(f, "\\{c}")?,
                _ if c.is_control() => write!(f, "\\u{{{:x}}}", c as u32)?,
                _ => write!(f, "{c}")?,
            }
        }
        f.write_str("\"")
    }
}

fn separated(f: &mut Formatter<'_>, items: impl Iterator<Item = impl Display>) -> fmt::Result {
    for (place, item) in items.enumerate() {
        write!(f, "{}{item}", if place == 0 { "" } else { ", " })?;
    }
    Ok(())
}

fn write_list(f: &mut Formatter<'_>, items: impl IntoIterator<Item = impl Display>) -> fmt::Result {
    f.write_str("[")?;
    for (place, item) in items.into_iter().enumerate() {
        write!(f, "{}{item}", if place == 0 { "" } else { " " })?;
    }
    f.write_str("]")
}
