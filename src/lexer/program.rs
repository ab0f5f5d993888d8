//! Tables → the scan [`Program`]s of a lexer: one labels a text, one lists where its tokens end.
//! Where an oracle is needed, a third gives a text's symbols, from its end, which the other two
//! read in the text's place.
//!
//! Each has one column in, one column out, and one stage, an automaton. A *row* of its tables says
//! what an element does: where it leads each lane of a map, and what it gives there.

use monoscan_ir::{
    Constant, FunctionBuilder, Layout, Mapping, Opcode, Output, Program, Source, Stage, Table, Type, Value, Verified,
    verify,
};

use super::label::{self, Codes};
use super::maps::{Maps, RowOf};
use super::ranks::RankTables;

/// The scan of an automaton, but for what it writes.
pub(super) struct Automaton {
    name: &'static str,
    input: Type,
    width: usize,
    advance: Vec<u8>,
    output: Table,
    /// The tables that rows are found by.
    tables: Vec<Table>,
    /// The row of an element, a `u32`.
    row: Mapping,
}

impl Automaton {
    /// The lexing automaton, over a text.
    pub(super) fn of_ranks(tables: &RankTables) -> Automaton {
        let mut b = FunctionBuilder::new();
        let [byte, next, last] = [Type::U8, Type::U8, Type::Bool].map(|ty| b.param(ty));
        let (class, next) = (look_up(&mut b, 0, Type::U8, byte), look_up(&mut b, 0, Type::U8, next));
        let end = b.lit(tables.classes() as u32);
        let next = b.select(last, end, next);
        let row = pair(&mut b, class, tables.classes() + 1, next);
        Automaton {
            name: "lexer",
            input: Type::U8,
            width: tables.width(),
            advance: tables.advance().to_vec(),
            output: label::table(tables.label(), tables.codes().ty()),
            tables: vec![classes(tables.class_of())],
            row: Mapping { reads: vec![Source::Record(0), Source::Next(0), Source::Last], function: b.finish(&[row]) },
        }
    }

    /// A transducer over classes of bytes.
    pub(super) fn of_text(name: &'static str, maps: &Maps, class_of: &[u8; 256], output: Type) -> Automaton {
        Automaton::of_maps(name, maps, Type::U8, vec![classes(class_of)], output)
    }

    /// A transducer over symbols.
    pub(super) fn of_symbols(name: &'static str, maps: &Maps, input: Type, output: Type) -> Automaton {
        Automaton::of_maps(name, maps, input, Vec::new(), output)
    }

    /// Of elements that are symbols, or have them in a table.
    fn of_maps(name: &'static str, maps: &Maps, input: Type, mut tables: Vec<Table>, output: Type) -> Automaton {
        let has_classes = !tables.is_empty();
        let symbol = |b: &mut FunctionBuilder, element: Value| {
            if has_classes { look_up(b, 0, Type::U8, element) } else { b.cast(Type::U32, element) }
        };
        let mut b = FunctionBuilder::new();
        let (reads, row) = match &maps.row {
            RowOf::Symbol => {
                let element = b.param(input);
                (vec![Source::Record(0)], symbol(&mut b, element))
            }
            RowOf::Pair { symbols, of_pair } => {
                let [before, element, first] = [input, input, Type::Bool].map(|ty| b.param(ty));
                let (before, own) = (symbol(&mut b, before), symbol(&mut b, element));
                let none = b.lit(*symbols as u32);
                let before = b.select(first, none, before);
                let place = pair(&mut b, before, *symbols, own);
                let row = look_up(&mut b, tables.len() as u32, Type::U16, place);
                tables.push(label::table(of_pair, Type::U16));
                (vec![Source::Prev(0), Source::Record(0), Source::First], row)
            }
        };
        Automaton {
            name,
            input,
            width: maps.width,
            advance: maps.advance.clone(),
            output: label::table(&maps.output, output),
            tables,
            row: Mapping { reads, function: b.finish(&[row]) },
        }
    }

    /// The program that writes its output for every element.
    pub(super) fn outputs(self) -> Verified<Program> {
        let project = self.of_output(|_, output| output);
        let columns = vec![Layout::of(self.output.ty)];
        let name = self.name.to_owned();
        self.program(name, Output { filter: None, project, columns })
    }

    /// Of one that gives labels: for every byte that ends a token, in order, where that is, and the token's code.
    pub(super) fn endings(self, codes: Codes) -> Verified<Program> {
        let ty = codes.ty();
        let masked = |b: &mut FunctionBuilder, label, mask: u16| {
            let mask = b.constant(Constant::new(ty, mask.into()));
            b.binary(Opcode::And, label, mask)
        };
        let filter = self.of_output(|b, label| {
            let ends = masked(b, label, codes.ends());
            let zero = b.constant(ty.zero());
            b.binary(Opcode::Ne, ends, zero)
        });
        let code = self.of_output(|b, label| {
            let code = masked(b, label, !codes.ends());
            b.cast(Type::U64, code)
        });
        let columns = vec![Layout::of(Type::U64)];
        let name = format!("{}_tokens", self.name);
        self.program(name, Output { filter: Some(filter), project: with_end(code), columns })
    }

    fn program(mut self, name: String, output: Output) -> Verified<Program> {
        let stage = Stage::automaton(self.width, &self.advance, self.row, &mut self.tables);
        self.tables.push(self.output);
        let program = Program {
            parameters: Vec::new(),
            name,
            tables: self.tables,
            inputs: vec![Layout::of(self.input)],
            stages: vec![stage.expect("maps lead to lanes, of which there are at most 256")],
            output,
            sequential: None,
        };
        verify(program).expect("tables have bounds, and the rest is typed as it should be")
    }

    /// The value that `of` makes of an element's results. The state before it is where the elements before led lane 0.
    fn of_output(&self, of: impl Fn(&mut FunctionBuilder, Value) -> Value) -> Mapping {
        let mut b = FunctionBuilder::new();
        let element = b.params(&self.row.function.params);
        // Tables of maps have a vector each, that of outputs is behind them.
        let (lanes, vectors) = (self.width.min(16), self.width.div_ceil(16));
        let before = b.param(Type::bytes(lanes).expect("a width is 8 or a multiple of 16"));
        let outputs = (self.tables.len() + vectors) as u32;
        let row = b.inline(&self.row.function, &element)[0];
        let lane = b.lane(before, 0);
        let lane = b.cast(Type::U32, lane);
        let place = pair(&mut b, row, self.width, lane);
        let output = b.table(outputs, self.output.ty, place);
        let result = of(&mut b, output);
        let reads = self.row.reads.iter().copied().chain([Source::Before { stage: 0, component: 0 }]).collect();
        Mapping { reads, function: b.finish(&[result]) }
    }
}

/// Labels → endings: a column of labels in, for each that ends a token, in order, where that is, and the token's code.
pub(super) fn endings_of_labels(codes: Codes) -> Verified<Program> {
    let ty = codes.ty();
    let masked = |mask: u16| {
        let mut b = FunctionBuilder::new();
        let label = b.param(ty);
        let mask = b.constant(Constant::new(ty, mask.into()));
        let masked = b.binary(Opcode::And, label, mask);
        (b, masked)
    };
    let (mut b, ends) = masked(codes.ends());
    let zero = b.constant(ty.zero());
    let ends = b.binary(Opcode::Ne, ends, zero);
    let filter = Mapping { reads: vec![Source::Record(0)], function: b.finish(&[ends]) };
    let (mut b, code) = masked(!codes.ends());
    let code = b.cast(Type::U64, code);
    let code = Mapping { reads: vec![Source::Record(0)], function: b.finish(&[code]) };
    let program = Program {
        parameters: Vec::new(),
        name: "endings".to_owned(),
        tables: Vec::new(),
        inputs: vec![Layout::of(ty)],
        stages: vec![Stage::unread()],
        output: Output { filter: Some(filter), project: with_end(code), columns: vec![Layout::of(Type::U64)] },
        sequential: None,
    };
    verify(program).expect("it is typed as it should be")
}

/// Bits of an ending that are the token's code; those above are its end.
pub(super) const CODE_BITS: u32 = 16;

/// A mapping that gives a code → one that gives the ending of a token that ends with the element.
fn with_end(code: Mapping) -> Mapping {
    let mut b = FunctionBuilder::new();
    let params = b.params(&code.function.params);
    let index = b.param(Type::U64);
    let code_value = b.inline(&code.function, &params)[0];
    let (one, bits) = (b.lit(1u64), b.lit(CODE_BITS));
    let end = b.binary(Opcode::Add, index, one);
    let end = b.binary(Opcode::Shl, end, bits);
    let ending = b.binary(Opcode::Or, end, code_value);
    let reads = code.reads.into_iter().chain([Source::Index]).collect();
    Mapping { reads, function: b.finish(&[ending]) }
}

fn classes(class_of: &[u8; 256]) -> Table {
    Table { ty: Type::U8, bytes: class_of.to_vec() }
}

/// An element of a table as `u32`.
fn look_up(b: &mut FunctionBuilder, table: u32, ty: Type, index: Value) -> Value {
    let index = b.cast(Type::U32, index);
    let value = b.table(table, ty, index);
    b.cast(Type::U32, value)
}

/// `first * count + second`.
fn pair(b: &mut FunctionBuilder, first: Value, count: usize, second: Value) -> Value {
    let count = b.lit(count as u32);
    let row = b.binary(Opcode::Mul, first, count);
    b.binary(Opcode::Add, row, second)
}
