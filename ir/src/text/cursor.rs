//! The place of the parser in its text: it looks at the next token, takes it, and reads the small
//! things that every part is made of.

use super::error::{ParseError, ParseErrors};
use super::lex::{Lexer, Position, Token};
use super::lines::Lines;
use super::literal::Literal;
use crate::function::Value;
use crate::types::{Constant, Type};

pub(super) type Parsed<T> = Result<T, ParseError>;

/// A place in a text, and what was learnt on the way there.
pub(super) struct Parser<'a> {
    lexer: Lexer<'a>,
    /// The next token, once it was looked at.
    ahead: Option<(Token<'a>, Position)>,
    /// The line of the last token taken.
    pub(super) line: usize,
    pub(super) lines: Lines,
    /// The errors that were recovered from.
    pub(super) errors: Vec<ParseError>,
    /// The values of the function that is being read, by their numbers in the text. They are others where an instruction
    /// before stands for several.
    pub(super) values: Vec<Value>,
    /// How many values the function has so far.
    pub(super) defined: usize,
    /// How many tables the text has; none outside of a program.
    pub(super) tables: Option<usize>,
    /// Whether a function needs the table of turns, which follows those of the text.
    pub(super) needs_turns: bool,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str) -> Parser<'a> {
        Parser {
            lexer: Lexer::new(text),
            ahead: None,
            line: 1,
            lines: Lines::default(),
            errors: Vec::new(),
            values: Vec::new(),
            defined: 0,
            tables: None,
            needs_turns: false,
        }
    }

    /// Expects the end of the text, and gives what was parsed or everything that was wrong.
    pub(super) fn finish<T>(mut self, parsed: Parsed<T>) -> Result<(T, Lines), ParseErrors> {
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

    pub(super) fn name(&mut self) -> Parsed<String> {
        // The name follows `program` directly, so no token was looked at yet.
        match self.lexer.name() {
            (Some(name), position) => {
                self.line = position.line;
                Ok(name)
            }
            (None, position) => Err(error(position, "expected a name".into())),
        }
    }

    pub(super) fn value(&mut self) -> Parsed<Value> {
        match self.peek() {
            Token::Value(number) => {
                let number = *number as usize;
                self.take();
                // One that is not defined stays so.
                let undefined = || (number - self.values.len()).saturating_add(self.defined).min(u32::MAX as usize);
                Ok(self.values.get(number).copied().unwrap_or_else(|| Value::new(undefined())))
            }
            _ => Err(self.expected("a value, such as `%0`")),
        }
    }

    pub(super) fn ty(&mut self) -> Parsed<Type> {
        let ty = match self.peek() {
            Token::Word(word) => Type::from_name(word),
            _ => None,
        };
        let Some(ty) = ty else {
            return Err(self.expected("a type (bool, i8 to i64, u8 to u64, f32, f64, u8x1 to u8x16)"));
        };
        self.take();
        Ok(ty)
    }

    /// A literal that has the type its place asks for, unless it names one itself.
    pub(super) fn constant(&mut self, place: Option<Type>) -> Parsed<Constant> {
        let position = self.position();
        let literal = self.literal()?;
        let ty = match (self.accept(':'), place) {
            (true, _) => self.ty()?,
            (false, Some(ty)) => ty,
            (false, None) => return Err(self.expected("`:` and a type")),
        };
        literal.of_type(ty).map_err(|message| error(position, message))
    }

    pub(super) fn literal(&mut self) -> Parsed<Literal<'a>> {
        match *self.peek() {
            Token::Number(text) | Token::Word(text @ ("true" | "false" | "inf")) => {
                self.take();
                Ok(Literal::Scalar(text))
            }
            Token::Mark('[') => self.bytes().map(Literal::Lanes),
            _ => Err(self.expected("a literal")),
        }
    }

    pub(super) fn bytes(&mut self) -> Parsed<Vec<u8>> {
        self.mark('[')?;
        let mut bytes = Vec::new();
        while !self.accept(']') {
            bytes.push(self.int("a byte or `]`")?);
        }
        Ok(bytes)
    }

    pub(super) fn int<T: std::str::FromStr>(&mut self, what: &str) -> Parsed<T> {
        let number = match self.peek() {
            Token::Number(text) => text.parse().ok(),
            _ => None,
        };
        let Some(number) = number else { return Err(self.expected(what)) };
        self.take();
        Ok(number)
    }

    /// `( item, … )`
    pub(super) fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
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

    pub(super) fn word(&mut self, word: &'static str) -> Parsed<()> {
        match self.peek() {
            Token::Word(found) if *found == word => {
                self.take();
                Ok(())
            }
            _ => Err(self.expected(&format!("`{word}`"))),
        }
    }

    pub(super) fn mark(&mut self, mark: char) -> Parsed<()> {
        if self.accept(mark) { Ok(()) } else { Err(self.expected(&format!("`{mark}`"))) }
    }

    pub(super) fn accept(&mut self, mark: char) -> bool {
        let found = *self.peek() == Token::Mark(mark);
        if found {
            self.take();
        }
        found
    }

    pub(super) fn peek(&mut self) -> &Token<'a> {
        &self.ahead.get_or_insert_with(|| self.lexer.next()).0
    }

    pub(super) fn position(&mut self) -> Position {
        self.ahead.get_or_insert_with(|| self.lexer.next()).1
    }

    pub(super) fn take(&mut self) {
        let (_, position) = self.ahead.take().unwrap_or_else(|| self.lexer.next());
        self.line = position.line;
    }

    pub(super) fn expected(&mut self, what: &str) -> ParseError {
        let position = self.position();
        error(position, format!("expected {what}, found {}", self.peek()))
    }
}

pub(super) fn error(position: Position, message: String) -> ParseError {
    ParseError { line: position.line, column: position.column, message }
}
