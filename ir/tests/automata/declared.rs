//! Declared automata.

use super::*;

/// An automaton whose symbol is what a function makes of a column of `ty`.
fn declared(
    (states, maps): (usize, &[u8]),
    ty: Type,
    symbol: impl FnOnce(&mut FunctionBuilder, Value) -> Value,
) -> Program {
    let mut b = FunctionBuilder::new();
    let record = b.param(ty);
    let symbol = symbol(&mut b, record);
    let symbol = Mapping { reads: vec![Source::Record(0)], function: b.finish(&[symbol]) };
    let mut tables = Vec::new();
    let stage = Stage::automaton(states, maps, symbol, &mut tables).unwrap();
    let project = lanes_of(states, &[0]);
    Program {
        name: "declared".into(),
        tables,
        inputs: vec![Layout::of(ty)],
        parameters: Vec::new(),
        stages: vec![stage],
        output: Output { filter: None, project, columns: vec![Layout::of(Type::U8)] },
        sequential: None,
    }
}

/// The sign of a float says whether to go up or down, between the ends.
fn up_and_down(states: u8) -> Program {
    let down = (0..states).map(|state| state.saturating_sub(1));
    let up = (0..states).map(|state| (state + 1).min(states - 1));
    let maps: Vec<u8> = down.chain(up).collect();
    declared((states.into(), &maps), Type::F32, |b, x| {
        let zero = b.lit(0f32);
        let is_up = b.binary(Opcode::Gt, x, zero);
        b.cast(Type::U32, is_up)
    })
}

#[test]
fn declared_automata_are_scans_of_their_maps_however_many_states_they_have() {
    for states in [1, 2, 3, 15, 16, 17, 40, 100, 255] {
        let program = verify(up_and_down(states)).unwrap();
        let mut random = Random(u64::from(states));
        let x: Vec<f32> = (0..200).map(|_| if random.below(3) == 0 { -1.0 } else { 1.0 }).collect();
        let bytes: Vec<u8> = x.iter().flat_map(|x| x.to_ne_bytes()).collect();
        let run = monoscan_ir::interp::run(&program, &[&bytes], &Default::default()).unwrap();
        let mut state = 0;
        let expected = x.iter().map(|&x| {
            state = if x > 0.0 { (state + 1).min(states - 1) } else { state.saturating_sub(1) };
            state
        });
        assert_eq!(run.outputs[0], expected.collect::<Vec<u8>>(), "{states} states");
    }
}

#[test]
fn a_declared_automaton_folds_by_look_ups_whatever_it_reads() {
    let mut undeclared = up_and_down(5);
    undeclared.stages[0].automaton = false;
    assert_eq!(fold_of(&verify(undeclared).unwrap(), STEP_BYTES), None);
    let program = verify(up_and_down(5)).unwrap();
    let fold = fold_of(&program, STEP_BYTES).unwrap();
    assert_eq!((fold.symbols, &fold.reads[..]), (2, &[Source::Record(0)][..]));
    assert!(matches!(fold.composition, Composition::Closed { .. }), "{:?}", fold.composition);
    let (mut id, mut state) = (Constant::from(0u32), 0u8);
    for x in [1f32, 1.0, -1.0, f32::NAN, 1.0, 1.0, 1.0, 1.0, 1.0, -1.0] {
        let symbol = call(&fold.symbol, &[x.into()], &fold.tables)[0];
        let entry = call(&fold.entry, &[id, symbol], &fold.tables)[0];
        id = call(&fold.step, &[entry], &fold.tables)[0];
        state = if x > 0.0 { (state + 1).min(4) } else { state.saturating_sub(1) };
        assert_eq!(call(&fold.map, &[id], &fold.tables)[0].to_bytes()[0], state);
    }
}

#[test]
fn a_declared_automaton_is_text_that_is_read_back() {
    let program = up_and_down(20);
    let text = program.to_string();
    assert!(text.contains("stage automaton (u8x16, u8x16)"), "{text}");
    assert_eq!(monoscan_ir::text::parse(&text).unwrap(), program);
}

#[test]
fn a_declaration_that_is_not_true_is_refused() {
    let refusal = |change: &dyn Fn(&mut Program)| {
        let mut program = up_and_down(4);
        change(&mut program);
        verify(program).unwrap_err().to_string()
    };
    let keeps_later = |program: &mut Program| {
        let mut b = FunctionBuilder::new();
        let states = b.params(&[Type::bytes(4).unwrap(); 2]);
        program.stages[0].combine = b.finish(&states[1..]);
    };
    assert!(refusal(&keeps_later).contains("expected an automaton's combine"));
    let shifted = |program: &mut Program| program.stages[0].identity = vec![Constant::vector(&[1, 2, 3, 0])];
    assert!(refusal(&shifted).contains("expected an automaton's identity"));
    let computed = |program: &mut Program| {
        let mut b = FunctionBuilder::new();
        b.param(Type::F32);
        let map = b.constant(Constant::vector(&[0; 4]));
        program.stages[0].lift.function = b.finish(&[map]);
    };
    assert!(refusal(&computed).contains("expected an automaton's lift"));
    assert!(refusal(&|program| program.tables[0].bytes[5] = 4).contains("which lead to its states"));
}

#[test]
fn maps_that_are_none_are_refused() {
    let build = |states, maps: &[u8]| {
        let symbol = Mapping { reads: Vec::new(), function: FunctionBuilder::new().finish(&[]) };
        Stage::automaton(states, maps, symbol, &mut Vec::new()).unwrap_err()
    };
    assert_eq!(build(0, &[]), MapsError::States(0));
    assert_eq!(build(257, &[0; 257]), MapsError::States(257));
    assert_eq!(build(3, &[]), MapsError::Bytes { states: 3, bytes: 0 });
    assert_eq!(build(3, &[0; 7]), MapsError::Bytes { states: 3, bytes: 7 });
    assert_eq!(build(2, &[0, 1, 1, 2]), MapsError::Outside { symbol: 1, states: 2, to: 2 });
}
