//! The parser: recursive descent over the [grammar](super), without recursion, since nothing nests.
//!
//! It takes time and memory linear in the text and never panics. A wrong instruction is reported and skipped; any
//! other error ends the parse, since what follows it could mean anything.

use std::fmt::{self, Display, Formatter};

use super::lex::{Lexer, Position, Token};
use super::lines::Lines;
use super::literal::Literal;
use crate::function::{Function, Inst, Payload, Value};
use crate::opcode::Opcode;
use crate::program::{Field, Layout, Mapping, Output, Program, Source, Stage, Table};
use crate::types::{Constant, Type};
use crate::verify::{Item, Part};

/// Reads a program. It need not verify.
///
/// # Errors
/// Where the text is no program, with what was expected there.
///
/// ```
/// let errors = scan_ir::text::parse("program p\n  imput").unwrap_err();
/// assert_eq!(errors.to_string(), "2:3: expected `input`, `table`, `stage` or `output`, found `imput`");
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
/// let twice = scan_ir::text::parse_function("(%0: i32) {\n  %1 = add.i32 %0, %0\n  return %1\n}").unwrap();
/// assert_eq!(twice.insts.len(), 1);
/// ```
pub fn parse_function(text: &str) -> Result<Function, ParseErrors> {
    let mut parser = Parser::new(text);
    let function = parser.function(Part::Function);
    parser.finish(function).map(|(function, _)| function)
}

/// One thing that is wrong with a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    /// The line, from 1.
    pub line: usize,
    /// The character of the line, from 1.
    pub column: usize,
    /// What was expected and what was found.
    pub message: String,
}

impl Display for ParseError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

/// All that is wrong with a text, at least one error, in order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseErrors(Vec<ParseError>);

impl ParseErrors {
    /// The errors, in order.
    pub fn iter(&self) -> std::slice::Iter<'_, ParseError> {
        self.0.iter()
    }
}

impl std::error::Error for ParseErrors {}

impl Display for ParseErrors {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (place, error) in self.0.iter().enumerate() {
            write!(f, "{}{error}", if place == 0 { "" } else { "\n" })?;
        }
        Ok(())
    }
}

type Parsed<T> = Result<T, ParseError>;

struct Parser<'a> {
    lexer: Lexer<'a>,
    /// The next token, once it was looked at.
    ahead: Option<(Token<'a>, Position)>,
    /// The line of the last token taken.
    line: usize,
    lines: Lines,
    /// The errors that were recovered from.
    errors: Vec<ParseError>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Parser<'a> {
        Parser { lexer: Lexer::new(text), ahead: None, line: 1, lines: Lines::default(), errors: Vec::new() }
    }

    /// Expects the end of the text, and gives what was parsed or everything that was wrong.
    fn finish<T>(mut self, parsed: Parsed<T>) -> Result<(T, Lines), ParseErrors> {
        let parsed = parsed.and_then(|value| match self.peek() {
            Token::End => Ok(value),
            _ => Err(self.expected("the end of the text")),
        });
        match parsed {
            Ok(value) if self.errors.is_empty() => Ok((value, self.lines)),
            Ok(_) => Err(ParseErrors(self.errors)),
            Err(last) => {
                self.errors.push(last);
                Err(ParseErrors(self.errors))
            }
        }
    }

    // The parts of a program.

    fn program(&mut self) -> Parsed<Program> {
        self.word("program")?;
        self.lines.set(Part::Program, Item::Whole, self.line);
        let name = self.name()?;
        let (mut inputs, mut tables, mut stages) = (Vec::new(), Vec::new(), Vec::new());
        loop {
            match self.peek() {
                Token::Word("input") if stages.is_empty() => inputs.push(self.layout(Part::Input(inputs.len()))?),
                Token::Word("table") if stages.is_empty() => tables.push(self.table(tables.len())?),
                Token::Word("stage") => stages.push(self.stage(stages.len())?),
                Token::Word("output") => break,
                _ if stages.is_empty() => return Err(self.expected("`input`, `table`, `stage` or `output`")),
                _ => return Err(self.expected("`stage` or `output`")),
            }
        }
        let output = self.output()?;
        Ok(Program { name, tables, inputs, stages, output })
    }

    fn name(&mut self) -> Parsed<String> {
        // The name follows `program` directly, so no token was looked at yet.
        match self.lexer.name() {
            (Some(name), position) => {
                self.line = position.line;
                Ok(name)
            }
            (None, position) => Err(error(position, "expected a name".into())),
        }
    }

    /// A layout after the word that says whose it is.
    fn layout(&mut self, part: Part) -> Parsed<Layout> {
        self.take();
        self.lines.set(part, Item::Whole, self.line);
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
        let valid = if *self.peek() == Token::Word("valid") {
            self.start("valid", Part::Valid(place))?;
            Some(self.function(Part::Valid(place))?)
        } else {
            None
        };
        Ok(Stage { state, identity, lift, combine, valid })
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
        let keep = if emits {
            self.start("keep", Part::Keep)?;
            Some(self.mapping(Part::Keep)?)
        } else {
            None
        };
        self.start("project", Part::Project)?;
        let project = self.mapping(Part::Project)?;
        Ok(Output { keep, project, columns })
    }

    /// The word that a part starts with.
    fn start(&mut self, word: &'static str, part: Part) -> Parsed<()> {
        self.word(word)?;
        self.lines.set(part, Item::Whole, self.line);
        Ok(())
    }

    // Functions.

    fn function(&mut self, part: Part) -> Parsed<Function> {
        let mut params = Vec::new();
        self.list(|parser| {
            parser.definition(part, params.len())?;
            parser.mark(':')?;
            params.push(parser.ty()?);
            Ok(())
        })?;
        self.body(part, params)
    }

    fn mapping(&mut self, part: Part) -> Parsed<Mapping> {
        let (mut params, mut reads) = (Vec::new(), Vec::new());
        self.list(|parser| {
            // A source without a parameter, or a parameter without a source: only after all complete pairs.
            let unread = *parser.peek() == Token::Word("_") && reads.len() >= params.len();
            if unread {
                parser.take();
            } else if reads.len() > params.len() {
                return Err(parser.expected("`_`"));
            } else {
                parser.definition(part, params.len())?;
            }
            if (reads.len() == params.len() || unread) && (unread || *parser.peek() == Token::Mark('=')) {
                parser.mark('=')?;
                reads.push(parser.source()?);
            }
            if !unread {
                parser.mark(':')?;
                params.push(parser.ty()?);
            }
            Ok(())
        })?;
        Ok(Mapping { reads, function: self.body(part, params)? })
    }

    /// The value `%number`, where it is defined.
    fn definition(&mut self, part: Part, number: usize) -> Parsed<()> {
        match self.peek() {
            Token::Value(found) if *found as usize == number => {
                self.take();
                self.lines.set(part, Item::Value(Value::new(number)), self.line);
                Ok(())
            }
            _ => Err(self.expected(&format!("`%{number}`"))),
        }
    }

    fn source(&mut self) -> Parsed<Source> {
        let source = match self.peek() {
            Token::Word(word) => source(word),
            _ => None,
        };
        let Some(source) = source else { return Err(self.expected("a source, such as `record.0`")) };
        self.take();
        Ok(source)
    }

    fn body(&mut self, part: Part, params: Vec<Type>) -> Parsed<Function> {
        self.mark('{')?;
        let mut insts = Vec::new();
        while let Token::Value(_) = self.peek() {
            let line = self.position().line;
            match self.instruction(part, params.len() + insts.len()) {
                Ok(inst) => insts.push(inst),
                Err(error) => {
                    self.errors.push(error);
                    while self.position().line == line && *self.peek() != Token::End {
                        self.take();
                    }
                    // Any instruction: it keeps the numbers right, and the program is refused.
                    insts.push(Inst::constant(Type::Bool.zero()));
                }
            }
        }
        if *self.peek() != Token::Word("return") {
            return Err(self.expected("an instruction or `return`"));
        }
        self.take();
        self.lines.set(part, Item::Results, self.line);
        let mut results = Vec::new();
        if !self.at_end_of_line() {
            results.push(self.value()?);
            while self.accept(',') {
                results.push(self.value()?);
            }
        }
        self.mark('}')?;
        Ok(Function { params, insts, results })
    }

    fn instruction(&mut self, part: Part, number: usize) -> Parsed<Inst> {
        self.definition(part, number)?;
        self.mark('=')?;
        let (opcode, ty) = self.operation()?;
        let mut operands = Vec::new();
        let mut payload = Payload::None;
        let mut more = !self.at_end_of_line();
        while more {
            match self.peek() {
                Token::Value(_) if operands.len() == 3 => return Err(self.expected("at most three operands")),
                Token::Value(_) => operands.push(self.value()?),
                _ => payload = self.payload(ty)?,
            }
            more = payload == Payload::None && !self.at_end_of_line();
            if more {
                self.mark(',')?;
            }
        }
        if self.at_end_of_line() {
            Ok(Inst::new(opcode, ty, &operands, payload))
        } else {
            Err(self.expected("the end of the line"))
        }
    }

    /// `opcode.type`.
    fn operation(&mut self) -> Parsed<(Opcode, Type)> {
        let operation = match self.peek() {
            Token::Word(word) => word.split_once('.'),
            _ => None,
        };
        let Some((name, ty)) = operation else { return Err(self.expected("an operation, such as `add.i32`")) };
        let Some(opcode) = Opcode::from_name(name) else { return Err(self.expected("the name of an opcode")) };
        let Some(ty) = Type::from_name(ty) else { return Err(self.expected("a type after the opcode")) };
        self.take();
        Ok((opcode, ty))
    }

    fn payload(&mut self, ty: Type) -> Parsed<Payload> {
        if self.accept('@') {
            return Ok(Payload::Table(self.int("the number of a table")?));
        }
        if self.accept('#') {
            return Ok(Payload::Lane(self.int("the number of a lane")?));
        }
        Ok(Payload::Constant(self.constant(Some(ty))?))
    }

    fn at_end_of_line(&mut self) -> bool {
        self.position().line != self.line || matches!(self.peek(), Token::Mark('}') | Token::End)
    }

    // Small things.

    fn value(&mut self) -> Parsed<Value> {
        match self.peek() {
            Token::Value(number) => {
                let value = Value::new(*number as usize);
                self.take();
                Ok(value)
            }
            _ => Err(self.expected("a value, such as `%0`")),
        }
    }

    fn ty(&mut self) -> Parsed<Type> {
        let ty = match self.peek() {
            Token::Word(word) => Type::from_name(word),
            _ => None,
        };
        let Some(ty) = ty else { return Err(self.expected("a type")) };
        self.take();
        Ok(ty)
    }

    /// A literal that has the type its place asks for, unless it names one itself.
    fn constant(&mut self, place: Option<Type>) -> Parsed<Constant> {
        let position = self.position();
        let literal = self.literal()?;
        let ty = match (self.accept(':'), place) {
            (true, _) => self.ty()?,
            (false, Some(ty)) => ty,
            (false, None) => return Err(self.expected("`:` and a type")),
        };
        literal.of_type(ty).map_err(|message| error(position, message))
    }

    fn literal(&mut self) -> Parsed<Literal<'a>> {
        match *self.peek() {
            Token::Number(text) | Token::Word(text @ ("true" | "false" | "inf")) => {
                self.take();
                Ok(Literal::Scalar(text))
            }
            Token::Mark('[') => self.bytes().map(Literal::Lanes),
            _ => Err(self.expected("a literal")),
        }
    }

    fn bytes(&mut self) -> Parsed<Vec<u8>> {
        self.mark('[')?;
        let mut bytes = Vec::new();
        while !self.accept(']') {
            bytes.push(self.int("a byte or `]`")?);
        }
        Ok(bytes)
    }

    fn int<T: std::str::FromStr>(&mut self, what: &str) -> Parsed<T> {
        let number = match self.peek() {
            Token::Number(text) => text.parse().ok(),
            _ => None,
        };
        let Some(number) = number else { return Err(self.expected(what)) };
        self.take();
        Ok(number)
    }

    /// `( item, … )`
    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        self.mark('(')?;
        let mut items = Vec::new();
        if self.accept(')') {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if !self.accept(',') {
                self.mark(')')?;
                return Ok(items);
            }
        }
    }

    fn word(&mut self, word: &'static str) -> Parsed<()> {
        match self.peek() {
            Token::Word(found) if *found == word => {
                self.take();
                Ok(())
            }
            _ => Err(self.expected(&format!("`{word}`"))),
        }
    }

    fn mark(&mut self, mark: char) -> Parsed<()> {
        if self.accept(mark) { Ok(()) } else { Err(self.expected(&format!("`{mark}`"))) }
    }

    fn accept(&mut self, mark: char) -> bool {
        let found = *self.peek() == Token::Mark(mark);
        if found {
            self.take();
        }
        found
    }

    fn peek(&mut self) -> &Token<'a> {
        &self.ahead.get_or_insert_with(|| self.lexer.next()).0
    }

    fn position(&mut self) -> Position {
        self.ahead.get_or_insert_with(|| self.lexer.next()).1
    }

    fn take(&mut self) {
        let (_, position) = self.ahead.take().unwrap_or_else(|| self.lexer.next());
        self.line = position.line;
    }

    fn expected(&mut self, what: &str) -> ParseError {
        let position = self.position();
        error(position, format!("expected {what}, found {}", self.peek()))
    }
}

fn error(position: Position, message: String) -> ParseError {
    ParseError { line: position.line, column: position.column, message }
}

fn source(word: &str) -> Option<Source> {
    let mut parts = word.split('.');
    let kind = parts.next()?;
    let numbers: Vec<u32> = parts.map(|part| part.parse().ok()).collect::<Option<_>>()?;
    Some(match (kind, numbers.as_slice()) {
        ("record", &[component]) => Source::Record(component),
        ("next", &[component]) => Source::Next(component),
        ("last", []) => Source::Last,
        ("index", []) => Source::Index,
        ("before", &[stage, component]) => Source::Before { stage, component },
        ("after", &[stage, component]) => Source::After { stage, component },
        ("state", &[component]) => Source::State(component),
        _ => return None,
    })
}
