//! Steps that are written by hand: those that would take long, and those at the ends of types.

use monoscan_ir::derive::{Family, LoopProgram, Refusal, Why, derive};
use monoscan_ir::{FunctionBuilder, Layout, Mapping, Opcode, Output, Primitive, Source, Type, Value};

/// Without a budget each of these takes minutes.
#[test]
fn steps_that_would_take_long_are_refused() {
    // Sixty levels, of which any two may be put together.
    let integrators = loop_of(&[0i32; 60], |b, s, x| {
        let mut added = x;
        let next = s.iter().map(|&s| {
            added = b.binary(Opcode::Add, s, added);
            added
        });
        next.collect()
    });
    // Flags of flags, each a test of all that were before it.
    let flags = loop_of(&[0i32; 50], |b, s, x| {
        let mut limit = x;
        let next = s.iter().map(|&s| {
            let above = b.binary(Opcode::Lt, s, limit);
            limit = b.select(above, s, limit);
            limit
        });
        next.collect()
    });
    // A long chain on one component.
    let chain = loop_of(&[0i32], |b, s, x| {
        let mut value = s[0];
        for i in 0..20_000 {
            let k = b.lit(i);
            let bound = b.binary(Opcode::Add, x, k);
            value = b.binary(if i % 2 == 0 { Opcode::Max } else { Opcode::Min }, value, bound);
            value = b.binary(Opcode::Add, value, x);
        }
        vec![value]
    });
    // Bits of sums, whose ranges are asked for one by one.
    let bits = loop_of(&[0i32], |b, s, x| {
        let mut value = b.bitcast(Type::U32, s[0]);
        let (x, one) = (b.bitcast(Type::U32, x), b.lit(1u32));
        for i in 0..16_000 {
            let k = b.lit(i);
            let sum = b.binary(Opcode::Add, x, k);
            let bits = b.binary(Opcode::Xor, value, sum);
            value = b.binary(Opcode::RotateLeft, bits, one);
        }
        vec![b.bitcast(Type::I32, value)]
    });
    for (of, is_one) in [(integrators, false), (flags, false), (chain, true), (bits, true)] {
        match derive(&of) {
            Err(Refusal { why, .. }) => assert!(is_one || matches!(why, Why::Effort | Why::Levels { .. }), "{why:?}"),
            Ok(derivation) => assert!(is_one, "{}", derivation.explain()),
        }
    }
}

/// A state that goes from one end of its type to the other reaches three values, which are 2^64 apart.
#[test]
fn values_at_both_ends_of_a_type_are_a_table() {
    let ends = loop_of(&[0i64], |b, s, _| {
        let (zero, least, most) = (b.lit(0i64), b.lit(i64::MIN), b.lit(i64::MAX));
        let above = b.binary(Opcode::Gt, s[0], zero);
        vec![b.select(above, least, most)]
    });
    assert_eq!(derive(&ends).unwrap().groups[0].family, Family::Table { states: 3 });
}

/// Where large floats cancel, the loop keeps what rounding left, and the scan what is right.
#[test]
fn sums_that_cancel_are_derived() {
    let cancel = loop_of(&[1.25f32, 0.75], |b, s, x| {
        let doubled = b.binary(Opcode::Add, s[0], s[0]);
        let less = b.binary(Opcode::Sub, s[0], x);
        let cancelled = b.binary(Opcode::Sub, less, s[0]);
        vec![doubled, b.binary(Opcode::Sub, cancelled, s[1])]
    });
    assert!(derive(&cancel).is_ok(), "{:?}", derive(&cancel));
}

/// A loop over one column, of the type of the components that it starts from, whose step is written by `body`.
fn loop_of<T: Primitive>(
    initial: &[T],
    body: impl FnOnce(&mut FunctionBuilder, &[Value], Value) -> Vec<Value>,
) -> LoopProgram {
    let mut b = FunctionBuilder::new();
    let state = b.params(&vec![T::TYPE; initial.len()]);
    let x = b.param(T::TYPE);
    let next = body(&mut b, &state, x);
    let step = Mapping { reads: vec![Source::Record(0)], function: b.finish(&next) };
    let mut b = FunctionBuilder::new();
    let first = b.param(T::TYPE);
    let project = Mapping { reads: vec![Source::State(0)], function: b.finish(&[first]) };
    let column = Layout::of(T::TYPE);
    LoopProgram {
        name: "hostile".into(),
        tables: Vec::new(),
        inputs: vec![column.clone()],
        parameters: Vec::new(),
        names: (0..initial.len()).map(|component| format!("s{component}")).collect(),
        record_names: Vec::new(),
        initial: initial.iter().map(|&component| component.into()).collect(),
        step,
        places: Vec::new(),
        output: Output { filter: None, project, columns: vec![column] },
    }
}
