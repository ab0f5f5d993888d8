//! Tokens of the text form. The lexer never fails: what is no token is one of its own, and the
//! parser refuses it.

use std::fmt::{self, Display, Formatter};

use crate::program::Program;

/// A token, borrowed from the text.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Token<'a> {
    /// A letter or `_`, then letters, digits, `_` and `.`.
    Word(&'a str),
    /// A number, or a word that starts like one, `-inf` and `nan:bits` among them.
    Number(&'a str),
    /// `%n`.
    Value(u32),
    /// One of `( ) { } [ ] , : = @ #`.
    Mark(char),
    /// Characters that are no token.
    Odd(&'a str),
    /// The end of the text.
    End,
}

impl Display for Token<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Token::Word(text) | Token::Number(text) | Token::Odd(text) => write!(f, "`{text}`"),
            Token::Value(number) => write!(f, "`%{number}`"),
            Token::Mark(mark) => write!(f, "`{mark}`"),
            Token::End => f.write_str("the end of the text"),
        }
    }
}

/// A place in the text; both count from 1, columns in characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Position {
    pub(super) line: usize,
    pub(super) column: usize,
}

/// Cuts a text into tokens.
pub(super) struct Lexer<'a> {
    rest: &'a str,
    position: Position,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Lexer<'a> {
        Lexer { rest: text, position: Position { line: 1, column: 1 } }
    }

    /// The next token and where it starts.
    pub(super) fn next(&mut self) -> (Token<'a>, Position) {
        self.skip_blank();
        let start = self.position;
        let Some(first) = self.rest.chars().next() else { return (Token::End, start) };
        let token = match first {
            '(' | ')' | '{' | '}' | '[' | ']' | ',' | ':' | '=' | '@' | '#' => {
                self.take(first.len_utf8());
                Token::Mark(first)
            }
            '%' => self.value(),
            '-' | '0'..='9' => self.number(),
            'a'..='z' | 'A'..='Z' | '_' => self.word(),
            _ => Token::Odd(self.take(first.len_utf8())),
        };
        (token, start)
    }

    /// A program's name, which has rules of its own; none if there is no name here.
    pub(super) fn name(&mut self) -> (Option<String>, Position) {
        self.skip_blank();
        let start = self.position;
        if self.rest.starts_with('"') {
            return (self.quoted(), start);
        }
        let name = self.take_while(Program::is_name_char);
        ((!name.is_empty()).then(|| name.to_string()), start)
    }

    fn quoted(&mut self) -> Option<String> {
        let mut name = String::new();
        let mut chars = self.rest.char_indices().skip(1);
        let end = loop {
            match chars.next()? {
                (at, '"') => break at + 1,
                (_, '\\') => match chars.next()?.1 {
                    'u' => {
                        let mut code = 0u32;
                        (chars.next()?.1 == '{').then_some(())?;
                        loop {
                            match chars.next()?.1 {
                                '}' => break,
                                digit => code = code.checked_mul(16)?.checked_add(digit.to_digit(16)?)?,
                            }
                        }
                        name.push(char::from_u32(code)?);
                    }
                    escaped @ ('"' | '\\') => name.push(escaped),
                    _ => return None,
                },
                (_, c) => name.push(c),
            }
        };
        self.take(end);
        Some(name)
    }

    fn value(&mut self) -> Token<'a> {
        let digits = self.rest[1..].bytes().take_while(u8::is_ascii_digit).count();
        let text = self.take(1 + digits);
        text[1..].parse().map_or(Token::Odd(text), Token::Value)
    }

    fn word(&mut self) -> Token<'a> {
        let length = |text: &str| text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.'));
        let end = length(self.rest).unwrap_or(self.rest.len());
        match self.rest[..end] == *"nan" && self.rest[end..].starts_with(':') {
            true => {
                let bits = self.rest[end + 1..].bytes().take_while(u8::is_ascii_hexdigit).count();
                Token::Number(self.take(end + 1 + bits))
            }
            false => Token::Word(self.take(end)),
        }
    }

    fn number(&mut self) -> Token<'a> {
        let mut previous = ' ';
        let end = self.rest.char_indices().find(|&(at, c)| {
            let sign = c == '-' && at == 0 || matches!(c, '+' | '-') && matches!(previous, 'e' | 'E');
            previous = c;
            !(sign || c.is_ascii_alphanumeric() || c == '.')
        });
        let end = end.map_or(self.rest.len(), |(at, _)| at);
        Token::Number(self.take(end))
    }

    fn skip_blank(&mut self) {
        loop {
            self.take_while(char::is_whitespace);
            if !self.rest.starts_with(';') {
                return;
            }
            self.take_while(|c| c != '\n');
        }
    }

    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !wanted(c)).unwrap_or(self.rest.len());
        self.take(end)
    }

    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes);
        for c in taken.chars() {
            match c {
                '\n' => self.position = Position { line: self.position.line + 1, column: 1 },
                _ => self.position.column += 1,
            }
        }
        self.rest = rest;
        taken
    }
}
