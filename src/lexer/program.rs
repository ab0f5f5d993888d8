//! [`RankTables`] → the scan [`Program`]s of a lexer: one labels a text, one lists where its tokens
//! end.
//!
//! One column of bytes in; one column out, of labels, or of [`ending`]s for those bytes that end a
//! token; and one stage, an automaton whose states are ranks and whose input symbols are pairs of
//! neighbouring byte classes.

use monoscan_ir::{
    FunctionBuilder, Layout, Mapping, Opcode, Output, Program, Source, Stage, Table, Type, Value, Verified, verify,
};

use super::ranks::RankTables;
use super::restart::ENDS;

/// The table of byte classes, the first of the program.
const CLASS: u32 = 0;

/// What lift and project read of the text.
const TEXT: [Source; 3] = [Source::Record(0), Source::Next(0), Source::Last];

/// The label of every byte.
pub(super) fn labels(tables: &RankTables) -> Verified<Program> {
    let project = of_element(tables, |_, label| label);
    program(tables, Output { filter: None, project, columns: vec![Layout::of(Type::U8)] })
}

/// For every byte that ends a token, in order: where that is, and the token's code.
pub(super) fn endings(tables: &RankTables) -> Verified<Program> {
    let filter = of_element(tables, |b, label| {
        let (flag, zero) = (b.lit(ENDS), b.lit(0u8));
        let ends = b.binary(Opcode::And, label, flag);
        b.binary(Opcode::Ne, ends, zero)
    });
    let code = of_element(tables, |b, label| {
        let code = b.lit(!ENDS);
        let code = b.binary(Opcode::And, label, code);
        b.cast(Type::U64, code)
    });
    program(tables, Output { filter: Some(filter), project: with_end(code), columns: vec![Layout::of(Type::U64)] })
}

/// Bits of an ending that are the token's code; those above are its end.
pub(super) const CODE_BITS: u32 = 8;

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

fn program(tables: &RankTables, output: Output) -> Verified<Program> {
    let mut looked_up = vec![Table { ty: Type::U8, bytes: tables.class_of().to_vec() }];
    let stage = Stage::automaton(tables.width(), tables.advance(), symbol(tables), &mut looked_up);
    looked_up.push(Table { ty: Type::U8, bytes: tables.label().to_vec() });
    let program = Program {
        parameters: Vec::new(),
        name: "lexer".to_owned(),
        tables: looked_up,
        inputs: vec![Layout::of(Type::U8)],
        stages: vec![stage.expect("maps lead to ranks, of which there are at most MAX_RANKS")],
        output,
    };
    verify(program).expect("MAX_RANKS and 256 classes keep the program small, and the rest is typed as it should be")
}

/// The input symbol of an element: its pair of classes.
fn symbol(tables: &RankTables) -> Mapping {
    let mut b = FunctionBuilder::new();
    let text = text_params(&mut b);
    let pair = pair(&mut b, tables, text);
    Mapping { reads: TEXT.to_vec(), function: b.finish(&[pair]) }
}

/// What `of_label` makes of the label of an element. The rank that its byte led to is lane 0 of the state before it.
fn of_element(tables: &RankTables, of_label: impl Fn(&mut FunctionBuilder, Value) -> Value) -> Mapping {
    let mut b = FunctionBuilder::new();
    let text = text_params(&mut b);
    // Tables of maps have a vector each, that of labels is behind them.
    let (lanes, vectors) = (tables.width().min(16), tables.width().div_ceil(16));
    let before = b.param(Type::bytes(lanes).expect("a width is 8 or a multiple of 16"));
    let labels = CLASS + 1 + vectors as u32;
    let pair = pair(&mut b, tables, text);
    let width = b.lit(tables.width() as u32);
    let row = b.binary(Opcode::Mul, pair, width);
    let rank = b.lane(before, 0);
    let rank = b.cast(Type::U32, rank);
    let place = b.binary(Opcode::Add, row, rank);
    let label = b.table(labels, Type::U8, place);
    let result = of_label(&mut b, label);
    let reads = TEXT.into_iter().chain([Source::Before { stage: 0, component: 0 }]).collect();
    Mapping { reads, function: b.finish(&[result]) }
}

/// Parameters for [`TEXT`].
fn text_params(b: &mut FunctionBuilder) -> [Value; 3] {
    [Type::U8, Type::U8, Type::Bool].map(|ty| b.param(ty))
}

/// [`RankTables::pair`] of a byte and the one after it, or the end.
fn pair(b: &mut FunctionBuilder, tables: &RankTables, [byte, next, last]: [Value; 3]) -> Value {
    let mut class = |byte| {
        let index = b.cast(Type::U32, byte);
        let class = b.table(CLASS, Type::U8, index);
        b.cast(Type::U32, class)
    };
    let (class, next_class) = (class(byte), class(next));
    let end = b.lit(tables.classes() as u32);
    let next_class = b.select(last, end, next_class);
    let stride = b.lit(tables.classes() as u32 + 1);
    let row = b.binary(Opcode::Mul, class, stride);
    b.binary(Opcode::Add, row, next_class)
}
