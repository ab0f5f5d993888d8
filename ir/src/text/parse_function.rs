//! The part of the parser that reads functions and mappings.

use super::cursor::{Parsed, Parser, error};
use super::lex::Token;
use crate::function::{Function, Inst, Payload, Value};
use crate::math;
use crate::opcode::Opcode;
use crate::program::{Mapping, Source};
use crate::types::Type;
use crate::verify::{Item, Part};

impl Parser<'_> {
    pub(super) fn function(&mut self, part: Part) -> Parsed<Function> {
        let mut params = Vec::new();
        self.list(|parser| {
            parser.definition(part, params.len())?;
            parser.mark(':')?;
            params.push(parser.ty()?);
            Ok(())
        })?;
        self.body(part, params)
    }

    pub(super) fn mapping(&mut self, part: Part) -> Parsed<Mapping> {
        let (mut params, mut reads) = (Vec::new(), Vec::new());
        self.list(|parser| {
            // Sources without a parameter come last, and so do parameters without a source.
            if reads.len() >= params.len() && *parser.peek() == Token::Word("_") {
                parser.take();
                parser.mark('=')?;
                reads.push(parser.source()?);
                return Ok(());
            }
            if reads.len() > params.len() {
                return Err(parser.expected("`_`"));
            }
            parser.definition(part, params.len())?;
            if reads.len() == params.len() && parser.accept('=') {
                reads.push(parser.source()?);
            }
            parser.mark(':')?;
            params.push(parser.ty()?);
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
        self.values = (0..params.len()).map(Value::new).collect();
        self.defined = params.len();
        let mut function = Function { params, insts: Vec::new(), results: Vec::new() };
        while let Token::Value(_) = self.peek() {
            let line = self.position().line;
            let (own, value) = self.instruction(part, &function).unwrap_or_else(|error| {
                self.errors.push(error);
                while self.position().line == line && *self.peek() != Token::End {
                    self.take();
                }
                // Any instruction: it keeps the numbers right, and the program is refused.
                (vec![Inst::constant(Type::Bool.zero())], Value::new(self.defined))
            });
            for _ in &own {
                self.lines.set(part, Item::Value(Value::new(self.defined)), line);
                self.defined += 1;
            }
            function.insts.extend(own);
            self.values.push(value);
        }
        if *self.peek() != Token::Word("return") {
            return Err(self.expected("an instruction or `return`"));
        }
        self.take();
        self.lines.set(part, Item::Results, self.line);
        if !self.at_end_of_line() {
            function.results.push(self.value()?);
            while self.accept(',') {
                function.results.push(self.value()?);
            }
        }
        self.mark('}')?;
        Ok(function)
    }

    /// The next instruction of a function, or those that a function of [`math`] takes, and the value that is defined.
    fn instruction(&mut self, part: Part, before: &Function) -> Parsed<(Vec<Inst>, Value)> {
        self.definition(part, self.values.len())?;
        self.mark('=')?;
        if let Some(function) = self.math() {
            return self.expanded(&function, before);
        }
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
            Ok((vec![Inst::new(opcode, ty, &operands, payload)], Value::new(self.defined)))
        } else {
            Err(self.expected("the end of the line"))
        }
    }

    /// A function of [`math`] by its name and type, if one is next.
    fn math(&mut self) -> Option<Function> {
        let Token::Word(word) = *self.peek() else { return None };
        let (name, ty) = word.split_once('.')?;
        let (tables, mut needs_turns) = (self.tables, self.needs_turns);
        let function = math::function(name, Type::from_name(ty)?, || {
            needs_turns |= tables.is_some();
            tables.and_then(|tables| u32::try_from(tables).ok())
        })?;
        self.needs_turns = needs_turns;
        self.take();
        Some(function)
    }

    /// The instructions of a function at its operands, which follow, and are values defined before.
    fn expanded(&mut self, function: &Function, before: &Function) -> Parsed<(Vec<Inst>, Value)> {
        let mut operands = Vec::new();
        for (place, &ty) in function.params.iter().enumerate() {
            if place > 0 {
                self.mark(',')?;
            }
            let position = self.position();
            let operand = self.value()?;
            match before.type_of(operand) {
                // What stands for a line that did not parse has any type.
                _ if !self.errors.is_empty() => operands.push(operand),
                Some(own) if own == ty => operands.push(operand),
                Some(own) => {
                    return Err(error(position, format!("expected a value of type {ty}, found one of type {own}")));
                }
                None => return Err(error(position, "expected a value that is defined above".to_owned())),
            }
        }
        if !self.at_end_of_line() {
            return Err(self.expected("the end of the line"));
        }
        let first = self.defined;
        let renumbered = |value: Value| match operands.get(value.index()) {
            Some(&operand) => operand,
            None => Value::new(first + value.index() - operands.len()),
        };
        let insts = function.insts.iter().map(|inst| inst.map_operands(renumbered)).collect();
        Ok((insts, renumbered(function.results[0])))
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
        if *self.peek() == Token::Word("wraps") {
            self.take();
            return Ok(Payload::Wraps);
        }
        Ok(Payload::Constant(self.constant(Some(ty))?))
    }

    fn at_end_of_line(&mut self) -> bool {
        self.position().line != self.line || matches!(self.peek(), Token::Mark('}') | Token::End)
    }
}

fn source(word: &str) -> Option<Source> {
    let mut parts = word.split('.');
    let kind = parts.next()?;
    let numbers: Vec<u32> = parts.map(|part| part.parse().ok()).collect::<Option<_>>()?;
    Some(match (kind, numbers.as_slice()) {
        ("record", &[component]) => Source::Record(component),
        ("next", &[component]) => Source::Next(component),
        ("prev", &[component]) => Source::Prev(component),
        ("first", []) => Source::First,
        ("last", []) => Source::Last,
        ("index", []) => Source::Index,
        ("before", &[stage, component]) => Source::Before { stage, component },
        ("after", &[stage, component]) => Source::After { stage, component },
        ("init", &[stage, component]) => Source::Init { stage, component },
        ("parameter", &[parameter]) => Source::Parameter(parameter),
        ("state", &[component]) => Source::State(component),
        ("state", &[stage, component]) => Source::StateOf { stage, component },
        _ => return None,
    })
}
