//! The parser: recursive descent over the [grammar](super), without recursion, since nothing nests.
//!
//! It takes time and memory linear in the text and never panics. A wrong instruction is reported
//! and skipped; any other error ends the parse, since what follows it could mean anything.

use super::cursor::{Parsed, Parser, error};
use super::error::ParseErrors;
use super::lex::Token;
use super::lines::Lines;
use crate::function::Function;
use crate::math;
use crate::program::{Field, Layout, Output, OwnFold, Program, Sequential, Stage, Table, Written};
use crate::types::{Constant, Type};
use crate::verify::{Item, Part};

/// Reads a program. It need not verify.
///
/// # Errors
/// Where the text is no program, with what was expected there.
///
/// ```
/// let errors = monoscan_ir::text::parse("program p\n  stag").unwrap_err().to_string();
/// assert_eq!(errors, "2:3: expected `input`, `parameter`, `table`, `stage` or `output`, found `stag`");
/// ```
pub fn parse(text: &str) -> Result<Program, ParseErrors> {
    parse_with_lines(text).map(|(program, _)| program)
}

/// Reads a program, and says on which line each part of it stands.
///
/// # Errors
/// As [`parse`].
pub fn parse_with_lines(text: &str) -> Result<(Program, Lines), ParseErrors> {
    let mut parser = Parser::new(text);
    let program = parser.program();
    parser.finish(program)
}

/// Reads a function that stands alone.
///
/// # Errors
/// Where the text is no function, with what was expected there.
///
/// ```
/// let twice = monoscan_ir::text::parse_function("(%0: i32) {\n  %1 = add.i32 %0, %0\n  return %1\n}").unwrap();
/// assert_eq!(twice.insts.len(), 1);
/// ```
pub fn parse_function(text: &str) -> Result<Function, ParseErrors> {
    let mut parser = Parser::new(text);
    let function = parser.function(Part::Function);
    parser.finish(function).map(|(function, _)| function)
}

/// Reads the layout of a column that stands alone.
///
/// # Errors
/// Where the text is no layout, with what was expected there.
///
/// ```
/// let text = "{ size 8, align 4, i32 @ 0, bool @ 4 }";
/// assert_eq!(monoscan_ir::text::parse_layout(text).unwrap().to_string(), text);
/// ```
pub fn parse_layout(text: &str) -> Result<Layout, ParseErrors> {
    let mut parser = Parser::new(text);
    let layout = parser.bare_layout();
    parser.finish(layout).map(|(layout, _)| layout)
}

/// Reads a literal of this type that stands alone, as [`Constant`] prints it.
///
/// # Errors
/// Where the text is no such literal, with what was expected there.
///
/// ```
/// use monoscan_ir::{Constant, Type, text::parse_constant};
///
/// assert_eq!(parse_constant("-inf", Type::F32).unwrap(), Constant::from(f32::NEG_INFINITY));
/// let error = parse_constant("256", Type::U8).unwrap_err();
/// assert_eq!(error.to_string(), "1:1: expected a literal of type u8, from 0 to 255, found `256`");
/// ```
pub fn parse_constant(text: &str, ty: Type) -> Result<Constant, ParseErrors> {
    let mut parser = Parser::new(text);
    let position = parser.position();
    let constant = parser.literal().and_then(|literal| literal.of_type(ty).map_err(|message| error(position, message)));
    parser.finish(constant).map(|(constant, _)| constant)
}

impl Parser<'_> {
    fn program(&mut self) -> Parsed<Program> {
        self.word("program")?;
        self.lines.set(Part::Program, Item::Whole, self.line);
        let name = self.name()?;
        let (mut inputs, mut parameters, mut tables, mut stages) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        loop {
            self.tables = Some(tables.len());
            match self.peek() {
                Token::Word("input") if stages.is_empty() => inputs.push(self.layout(Part::Input(inputs.len()))?),
                Token::Word("parameter") if stages.is_empty() => {
                    self.take();
                    parameters.push(self.ty()?);
                }
                Token::Word("table") if stages.is_empty() => tables.push(self.table(tables.len())?),
                Token::Word("stage") => stages.push(self.stage(stages.len())?),
                Token::Word("output") => break,
                _ if stages.is_empty() => {
                    return Err(self.expected("`input`, `parameter`, `table`, `stage` or `output`"));
                }
                _ => return Err(self.expected("`stage` or `output`")),
            }
        }
        let output = self.output()?;
        let sequential = if *self.peek() == Token::Word("sequential") { Some(self.sequential()?) } else { None };
        if self.needs_turns {
            tables.push(math::turns());
        }
        Ok(Program { name, tables, inputs, parameters, stages, output, sequential })
    }

    /// A layout after the word that says whose it is.
    fn layout(&mut self, part: Part) -> Parsed<Layout> {
        self.take();
        self.lines.set(part, Item::Whole, self.line);
        self.bare_layout()
    }

    fn bare_layout(&mut self) -> Parsed<Layout> {
        self.mark('{')?;
        self.word("size")?;
        let size = self.int("a size")?;
        self.mark(',')?;
        self.word("align")?;
        let align = self.int("an alignment")?;
        let mut fields = Vec::new();
        while self.accept(',') {
            let ty = self.ty()?;
            self.mark('@')?;
            fields.push(Field { offset: self.int("an offset")?, ty });
        }
        self.mark('}')?;
        Ok(Layout { size, align, fields })
    }

    fn table(&mut self, place: usize) -> Parsed<Table> {
        self.take();
        self.lines.set(Part::Table(place), Item::Whole, self.line);
        let ty = self.ty()?;
        self.mark('=')?;
        if *self.peek() == Token::Word("bytes") {
            self.take();
            return Ok(Table { ty, bytes: self.bytes()? });
        }
        self.mark('[')?;
        let mut bytes = Vec::new();
        while !self.accept(']') {
            let position = self.position();
            let element = self.literal()?.of_type(ty).map_err(|message| error(position, message))?;
            bytes.extend_from_slice(&element.bits().to_le_bytes()[..ty.size()]);
        }
        Ok(Table { ty, bytes })
    }

    fn stage(&mut self, place: usize) -> Parsed<Stage> {
        self.take();
        self.lines.set(Part::Stage(place), Item::Whole, self.line);
        let automaton = *self.peek() == Token::Word("automaton");
        if automaton {
            self.take();
        }
        let state = self.list(Parser::ty)?;
        self.start("identity", Part::Identity(place))?;
        let mut component = 0;
        let identity = self.list(|parser| {
            component += 1;
            parser.constant(state.get(component - 1).copied())
        })?;
        self.start("lift", Part::Lift(place))?;
        let lift = self.mapping(Part::Lift(place))?;
        self.start("combine", Part::Combine(place))?;
        let combine = self.function(Part::Combine(place))?;
        let valid = self.declared("valid", Part::Valid(place))?;
        let follows = self.declared("follows", Part::Follows(place))?;
        Ok(Stage { state, identity, lift, combine, valid, follows, automaton })
    }

    /// A function that a stage may have.
    fn declared(&mut self, word: &'static str, part: Part) -> Parsed<Option<Function>> {
        if *self.peek() != Token::Word(word) {
            return Ok(None);
        }
        self.start(word, part)?;
        self.function(part).map(Some)
    }

    fn output(&mut self) -> Parsed<Output> {
        self.start("output", Part::Output)?;
        let emits = match self.peek() {
            Token::Word("write") => false,
            Token::Word("emit") => true,
            _ => return Err(self.expected("`write` or `emit`")),
        };
        self.take();
        let mut columns = Vec::new();
        while *self.peek() == Token::Word("column") {
            columns.push(self.layout(Part::Column(columns.len()))?);
        }
        let filter = if emits {
            self.start("filter", Part::Filter)?;
            Some(self.mapping(Part::Filter)?)
        } else {
            None
        };
        self.start("project", Part::Project)?;
        let project = self.mapping(Part::Project)?;
        Ok(Output { filter, project, columns })
    }

    fn sequential(&mut self) -> Parsed<Sequential> {
        self.start("sequential", Part::Sequential)?;
        let initial = self.list(|parser| parser.constant(None))?;
        self.start("enter", Part::Enter)?;
        let enter = self.function(Part::Enter)?;
        self.start("leave", Part::Leave)?;
        let leave = self.function(Part::Leave)?;
        self.start("step", Part::Step)?;
        let step = self.mapping(Part::Step)?;
        self.start("project", Part::Written)?;
        let project = self.mapping(Part::Written)?;
        let checked = if *self.peek() == Token::Word("checked_step") { Some(self.written()?) } else { None };
        let mut folds = Vec::new();
        while *self.peek() == Token::Word("fold") {
            folds.push(self.own_fold(folds.len())?);
        }
        Ok(Sequential { initial, enter, leave, step, project, checked, folds })
    }

    fn written(&mut self) -> Parsed<Written> {
        self.start("checked_step", Part::CheckedStep)?;
        let step = self.mapping(Part::CheckedStep)?;
        self.start("checked_project", Part::CheckedProject)?;
        Ok(Written { step, project: self.mapping(Part::CheckedProject)? })
    }

    fn own_fold(&mut self, number: usize) -> Parsed<OwnFold> {
        self.start("fold", Part::Fold(number))?;
        let stage = self.int("the number of a stage")?;
        let initial = self.list(|parser| parser.constant(None))?;
        self.start("step", Part::FoldStep(number))?;
        let step = self.mapping(Part::FoldStep(number))?;
        self.start("leave", Part::FoldLeave(number))?;
        let leave = self.function(Part::FoldLeave(number))?;
        Ok(OwnFold { stage, initial, step, leave })
    }

    /// The word that a part starts with.
    fn start(&mut self, word: &'static str, part: Part) -> Parsed<()> {
        self.word(word)?;
        self.lines.set(part, Item::Whole, self.line);
        Ok(())
    }
}
