//! [`RankTables`] → the scan [`Program`]s of a lexer: one labels a text, one lists where its tokens
//! end.
//!
//! One column of bytes in; one column out, of labels, or of [`ending`]s for those bytes that end a
//! token; and one stage whose state is a map between ranks, lane j holding what rank j becomes. A
//! map of more than 16 ranks takes several vectors; as a permutation gives 0 where its index is no
//! lane, lane j of "f, then g" is the `or` over g's vectors g₀, g₁, … of g\[k\]\[f\[j\] − 16 k\].

use monoscan_ir::{
    Constant, Function, FunctionBuilder, Layout, Mapping, Opcode, Output, Program, Source, Stage, Table, Type, Value,
    Verified, verify,
};

use super::ranks::RankTables;
use super::restart::ENDS;

/// The tables by their place in the program.
const CLASS: u32 = 0;
const ADVANCE: u32 = 1;
const LABEL: u32 = 2;

/// What lift and project read of the text.
const TEXT: [Source; 3] = [Source::Record(0), Source::Next(0), Source::Last];

/// How a map is cut into vectors.
struct Shape {
    vector: Type,
    lanes: usize,
    vectors: usize,
}

impl Shape {
    fn of(tables: &RankTables) -> Shape {
        let lanes = tables.width().min(16);
        let vector = Type::bytes(lanes).expect("a width is 8 or a multiple of 16");
        Shape { vector, lanes, vectors: tables.width() / lanes }
    }

    fn types(&self) -> Vec<Type> {
        vec![self.vector; self.vectors]
    }
}

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
    let shape = Shape::of(tables);
    let vectors = |bytes: &[u8]| bytes.chunks_exact(shape.lanes).map(Constant::vector).collect::<Vec<_>>();
    let identity: Vec<u8> = (0..tables.width()).map(|rank| rank as u8).collect();
    let program = Program {
        parameters: Vec::new(),
        name: "lexer".to_owned(),
        tables: vec![
            Table { ty: Type::U8, bytes: tables.class_of().to_vec() },
            Table { ty: shape.vector, bytes: tables.advance().to_vec() },
            Table { ty: Type::U8, bytes: tables.label().to_vec() },
        ],
        inputs: vec![Layout::of(Type::U8)],
        stages: vec![Stage {
            state: shape.types(),
            identity: vectors(&identity),
            lift: Mapping { reads: TEXT.to_vec(), function: lift(tables, &shape) },
            combine: combine(&shape),
            valid: Some(valid(tables, &shape)),
        }],
        output,
    };
    verify(program).expect("MAX_RANKS and 256 classes keep the program small, and the rest is typed as it should be")
}

/// The map of an element: the row of its pair of classes.
fn lift(tables: &RankTables, shape: &Shape) -> Function {
    let mut b = FunctionBuilder::new();
    let text = text_params(&mut b);
    let pair = pair(&mut b, tables, text);
    let vectors = b.lit(shape.vectors as u32);
    let row = b.binary(Opcode::Mul, pair, vectors);
    let map: Vec<Value> = (0..shape.vectors as u32)
        .map(|k| {
            let k = b.lit(k);
            let place = b.binary(Opcode::Add, row, k);
            b.table(ADVANCE, shape.vector, place)
        })
        .collect();
    b.finish(&map)
}

/// Composition: the earlier map, then the later one.
fn combine(shape: &Shape) -> Function {
    let mut b = FunctionBuilder::new();
    let first = b.params(&shape.types());
    let then = b.params(&shape.types());
    let composed: Vec<Value> = first.iter().map(|&ranks| apply(&mut b, shape, &then, ranks)).collect();
    b.finish(&composed)
}

/// Every lane of `ranks` sent through a map.
fn apply(b: &mut FunctionBuilder, shape: &Shape, map: &[Value], ranks: Value) -> Value {
    let parts: Vec<Value> = (0u8..)
        .zip(map)
        .map(|(k, &part)| {
            let below = b.constant(Constant::vector(&vec![16 * k; shape.lanes]));
            let index = if k == 0 { ranks } else { b.binary(Opcode::Sub, ranks, below) };
            b.binary(Opcode::Permute, part, index)
        })
        .collect();
    parts.into_iter().reduce(|all, part| b.binary(Opcode::Or, all, part)).expect("a map has a vector")
}

/// Maps lead to ranks only. On other vectors composition is not associative, as a permutation's 0 is a rank too.
fn valid(tables: &RankTables, shape: &Shape) -> Function {
    let mut b = FunctionBuilder::new();
    let map = b.params(&shape.types());
    let greatest = b.constant(Constant::vector(&vec![tables.width() as u8 - 1; shape.lanes]));
    let within: Vec<Value> = map
        .iter()
        .map(|&part| {
            let clamped = b.binary(Opcode::Min, part, greatest);
            b.binary(Opcode::Eq, clamped, part)
        })
        .collect();
    let all = within.into_iter().reduce(|all, one| b.binary(Opcode::And, all, one)).expect("a map has a vector");
    b.finish(&[all])
}

/// What `of_label` makes of the label of an element. The rank that its byte led to is lane 0 of the state before it.
fn of_element(tables: &RankTables, of_label: impl Fn(&mut FunctionBuilder, Value) -> Value) -> Mapping {
    let shape = Shape::of(tables);
    let mut b = FunctionBuilder::new();
    let text = text_params(&mut b);
    let before = b.param(shape.vector);
    let pair = pair(&mut b, tables, text);
    let width = b.lit(tables.width() as u32);
    let row = b.binary(Opcode::Mul, pair, width);
    let rank = b.lane(before, 0);
    let rank = b.cast(Type::U32, rank);
    let place = b.binary(Opcode::Add, row, rank);
    let label = b.table(LABEL, Type::U8, place);
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
