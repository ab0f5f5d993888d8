//! Replays by symbols, and what a replay carries.

use super::*;

#[test]
fn a_replay_by_symbols_is_the_replay() {
    let bytes: Vec<Vec<Constant>> = (0..=255u8).chain(*b"a \"b\\\" 1\" -1.5.-2\"\"").map(|b| vec![b.into()]).collect();
    for mode in [Mode::Inclusive, Mode::Exclusive] {
        let by_symbols = must_replay(&writes_the_state(&small()), mode, &bytes);
        assert!(by_symbols.symbols < 16);
        let look_ups = |function: &Function| function.insts.iter().filter(|inst| inst.opcode == Opcode::Table).count();
        assert_eq!(look_ups(&by_symbols.body.mapping.function), 1);
    }
    let reads: Vec<Vec<Constant>> = triples().map(|read| read.to_vec()).collect();
    must_replay(&with_the_next_byte(), Mode::Inclusive, &reads);
}

#[test]
fn outputs_may_be_computed_from_what_is_found() {
    // Where the byte and the state before are odd, the index; else the state. The byte as it is makes 256 symbols.
    let project = |lane_of_byte: bool| {
        let mut b = FunctionBuilder::new();
        let (state, byte, index) = (b.param(Type::bytes(8).unwrap()), b.param(Type::U8), b.param(Type::U64));
        let state = b.lane(state, 0);
        let (one, none) = (b.lit(1u8), b.lit(0u8));
        let odd = b.binary(Opcode::And, byte, state);
        let odd = b.binary(Opcode::And, odd, one);
        let is_odd = b.binary(Opcode::Ne, odd, none);
        let state = b.cast(Type::U64, if lane_of_byte { byte } else { state });
        let result = b.select(is_odd, index, state);
        let reads = vec![Source::Before { stage: 0, component: 0 }, Source::Record(0), Source::Index];
        Mapping { reads, function: b.finish(&[result]) }
    };
    let bytes: Vec<Vec<Constant>> = (0..=255u8).map(|byte| vec![byte.into()]).collect();
    let found = verify(automaton(&small(), project(false))).unwrap();
    must_replay(&found, Mode::Inclusive, &bytes);
    let too_many = verify(automaton(&small(), project(true))).unwrap();
    let (body, lowered) = replay_of(&too_many, Mode::Inclusive);
    assert_eq!(SymbolReplay::of(&lowered, &body, STEP_BYTES), None);
}

#[test]
fn replays_that_carry_more_or_have_no_ids_are_not_by_symbols() {
    let of = |program: Program| {
        let program = verify(program).unwrap();
        let (body, lowered) = replay_of(&program, Mode::Inclusive);
        SymbolReplay::of(&lowered, &body, STEP_BYTES)
    };
    assert!(of(automaton(&small(), lanes_of(8, &[3]))).is_some());
    assert_eq!(of(automaton(&small(), lanes_of(8, &[5, 2]))), None, "two lanes");
    assert_eq!(of(automaton(&any(16), lanes_of(16, &[0]))), None, "too many ranges");
    assert_eq!(of(automaton(&turning(), lanes_of(16, &[0]))), None, "as many symbols as bytes");
    let mut columns = automaton(&small(), lanes_of(8, &[0]));
    columns.inputs.push(Layout::of(Type::U8));
    assert_eq!(of(columns), None, "another column");
    let mut wide = automaton(&small(), lanes_of(8, &[0]));
    wide.inputs = vec![Layout { size: 2, ..Layout::of(Type::U8) }];
    assert_eq!(of(wide), None, "records that are more than a byte");
}

/// The components that a replay carries which writes these lanes.
fn carried(maps: &[Map], lanes: &[u8]) -> (Vec<Option<u8>>, Function) {
    let program = verify(automaton(maps, lanes_of(maps[0].len(), lanes))).unwrap();
    let (body, _) = replay_of(&program, Mode::Inclusive);
    let lanes = body.carried.iter().map(|carried: &Carried| carried.lane).collect();
    (lanes, body.mapping.function)
}

#[test]
fn a_replay_carries_the_lanes_that_outputs_read() {
    let look_ups = |function: &Function| function.insts.iter().filter(|inst| inst.opcode == Opcode::Table).count();
    let (lanes, function) = carried(&small(), &[0]);
    assert_eq!(lanes, [Some(0)]);
    assert_eq!(look_ups(&function), 1);
    let (lanes, function) = carried(&small(), &[5, 2]);
    assert_eq!(lanes, [Some(2), Some(5)]);
    assert_eq!(look_ups(&function), 2);
    // Three are cheaper as a vector.
    assert_eq!(carried(&small(), &[0, 1, 2]).0, [None]);
    // What is no lane reads 0.
    let mut outside = small();
    outside[7][3] = 8;
    assert!(carried(&outside, &[0]).1.insts.iter().any(|inst| inst.opcode == Opcode::Select));
    assert!(carried(&small(), &[0]).1.insts.iter().all(|inst| inst.opcode != Opcode::Select));
}

/// Keeps bytes where they and a state are odd, with that state and the index; by the state before them, or after them.
fn keeps_odd_ones(reads: fn(u32, u32) -> Source) -> Verified<Program> {
    let reads = vec![reads(0, 0), Source::Record(0)];
    let mut b = FunctionBuilder::new();
    let (state, byte) = (b.param(Type::bytes(8).unwrap()), b.param(Type::U8));
    let state = b.lane(state, 0);
    let (one, none) = (b.lit(1u8), b.lit(0u8));
    let odd = b.binary(Opcode::And, byte, state);
    let odd = b.binary(Opcode::And, odd, one);
    let is_odd = b.binary(Opcode::Ne, odd, none);
    let filter = Mapping { reads: reads.clone(), function: b.finish(&[is_odd]) };
    let mut b = FunctionBuilder::new();
    let (state, _, index) = (b.param(Type::bytes(8).unwrap()), b.param(Type::U8), b.param(Type::U64));
    let state = b.lane(state, 0);
    let state = b.cast(Type::U64, state);
    let result = b.binary(Opcode::Xor, index, state);
    let project = Mapping { reads: [&reads[..], &[Source::Index]].concat(), function: b.finish(&[result]) };
    let mut program = automaton(&small(), project);
    program.output.filter = Some(filter);
    verify(program).unwrap()
}

#[test]
fn output_symbols_say_of_each_element_what_the_replay_does() {
    must_be_mealy(&keeps_odd_ones(|stage, component| Source::Before { stage, component }));
    must_be_mealy(&keeps_odd_ones(|stage, component| Source::After { stage, component }));
}

fn must_be_mealy(program: &Verified<Program>) {
    let (body, lowered) = replay_of(program, Mode::Inclusive);
    let by_symbols = SymbolReplay::of(&lowered, &body, STEP_BYTES).expect("the tables are small enough");
    let mealy = by_symbols.mealy.as_ref().expect("it carries a lane and the rank");
    let lane = body.carried.iter().position(|carried| carried.lane.is_some()).expect("a lane");
    for state in 0..8u8 {
        let mut fold = Fold::new(program, &by_symbols.fold);
        let mut carried = vec![Constant::from(0u64); 2];
        carried[lane] = state.into();
        for (index, byte) in (0..=255u8).enumerate() {
            let run = |body: &LaneBody, carried: &[Constant], record: Constant| {
                let mut carried = carried.iter();
                let value = |source: &Source| match source {
                    Source::Before { .. } => *carried.next().expect("as many as are carried"),
                    Source::Record(_) => record,
                    Source::Index => Constant::from(index as u64),
                    other => panic!("{other:?} is not read"),
                };
                let arguments: Vec<Constant> = body.mapping.reads.iter().map(value).collect();
                call(&body.mapping.function, &arguments, &body.tables)
            };
            let expected = run(&body, &carried, byte.into());
            let symbol = Constant::from(fold.step(&[byte.into()]).bits() as u8);
            let folded = run(&mealy.fold, &[as_carried(&mealy.fold, carried[lane])], symbol);
            let (output, is_kept) = (folded[1], expected[3].bits() != 0);
            assert_eq!(folded[0], as_carried(&mealy.fold, expected[lane]));
            assert_eq!((output.bits() != 0, folded[2].bits() & 0xff), (is_kept, is_kept.into()));
            assert!(output.bits() < mealy.count.into());
            let replayed = run(&mealy.replay, &carried[1 - lane..][..1], output);
            assert_eq!(replayed[2], expected[3]);
            assert!(!is_kept || replayed[1] == expected[2], "{byte} after {state}");
            carried = expected[..2].to_vec();
        }
    }
}

/// Sums a number of each byte and the state before it: this one if both are odd, else −128.
fn sums(most: i32) -> Verified<Program> {
    let reads = vec![Source::Before { stage: 0, component: 0 }, Source::Record(0)];
    let mut b = FunctionBuilder::new();
    let (state, byte) = (b.param(Type::bytes(8).unwrap()), b.param(Type::U8));
    let state = b.lane(state, 0);
    let (one, none) = (b.lit(1u8), b.lit(0u8));
    let odd = b.binary(Opcode::And, byte, state);
    let odd = b.binary(Opcode::And, odd, one);
    let is_odd = b.binary(Opcode::Ne, odd, none);
    let (most, least) = (b.lit(most), b.lit(-128));
    let number = b.select(is_odd, most, least);
    let lift = Mapping { reads, function: b.finish(&[number]) };
    let mut b = FunctionBuilder::new();
    let both = b.params(&[Type::I32; 2]);
    let sum = b.binary(Opcode::Add, both[0], both[1]);
    let combine = b.finish(&[sum]);
    let mut b = FunctionBuilder::new();
    let sum = b.param(Type::I32);
    let project = Mapping { reads: vec![Source::After { stage: 1, component: 0 }], function: b.finish(&[sum]) };
    let mut program = automaton(&small(), project);
    let state = vec![Type::I32];
    program.stages.push(Stage { state, identity: vec![0.into()], lift, combine, ..Stage::default() });
    program.output.columns = vec![Layout::of(Type::I32)];
    verify(program).unwrap()
}

#[test]
fn a_fold_leaves_the_number_of_each_element_to_the_replay() {
    let program = sums(127);
    let (body, lowered) = replay_of(&program, Mode::Inclusive);
    let by_symbols = SymbolReplay::of(&lowered, &body, STEP_BYTES).expect("the tables are small enough");
    let outputs = by_symbols.outputs.as_ref().expect("the number fits a byte");
    let lane = body.carried.iter().position(|carried| carried.lane.is_some()).expect("a lane");
    for state in 0..8u8 {
        let mut fold = Fold::new(&program, &by_symbols.fold);
        let mut carried = vec![Constant::from(5); 2];
        carried[lane] = state.into();
        for byte in 0..=255u8 {
            let run = |body: &LaneBody, carried: &[Constant], record: Constant| {
                let mut carried = carried.iter();
                let value = |source: &Source| match source {
                    Source::Before { .. } => *carried.next().expect("as many as are carried"),
                    Source::Record(_) => record,
                    other => panic!("{other:?} is not read"),
                };
                let arguments: Vec<Constant> = body.mapping.reads.iter().map(value).collect();
                call(&body.mapping.function, &arguments, &body.tables)
            };
            let expected = run(&body, &carried, byte.into());
            let symbol = Constant::from(fold.step(&[byte.into()]).bits() as u8);
            let as_folded = |carried: &[Constant]| {
                let mut carried = carried[..2].to_vec();
                carried[lane] = as_carried(&outputs.fold, carried[lane]);
                carried
            };
            let folded = run(&outputs.fold, &as_folded(&carried), symbol);
            assert_eq!(folded[..2], as_folded(&expected), "{byte} after {state}");
            let replayed = run(&outputs.replay, &carried[1 - lane..][..1], folded[2]);
            assert_eq!(replayed, [expected[1 - lane], expected[2]], "{byte} after {state}");
            carried = expected[..2].to_vec();
        }
    }
}

#[test]
fn a_number_past_a_byte_is_not_left() {
    let program = sums(128);
    let (body, lowered) = replay_of(&program, Mode::Inclusive);
    let by_symbols = SymbolReplay::of(&lowered, &body, STEP_BYTES).expect("the tables are small enough");
    assert_eq!(by_symbols.outputs, None);
}
