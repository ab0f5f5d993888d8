//! Folds by ids of the transition monoid, and by ranges.

use super::*;

#[test]
fn folds_by_ids_are_folds() {
    // Every map has an id; a few ids are composed as such.
    let fold = must_fold(&beside_others(9), STEP_BYTES);
    assert!(fold.count > 256 && fold.composition == Composition::Maps, "{}", fold.count);
    let fold = must_fold(&strings(), STEP_BYTES);
    assert!(fold.count < 20 && matches!(fold.composition, Composition::Closed { .. }), "{}", fold.count);
    // Every range is found, and no id is reset.
    let fold = must_fold(&beside_others(9), 4 << 10);
    assert!(matches!(fold.composition, Composition::Coalesced { .. }), "{}", fold.count);
    // Maps of eight states are composed at once, unless they have ids that are composed as such.
    let fold = must_fold(&small(), STEP_BYTES);
    assert!(fold.count == 1 && matches!(fold.composition, Composition::Each { .. }), "{:?}", fold.composition);
    // The group's 64 permutations; the maps of other bytes are composed as they come.
    let fold = must_fold(&turning(), STEP_BYTES);
    assert_eq!(fold.count, 64);
    assert!(matches!(fold.composition, Composition::Group { .. }));
    must_fold(&any(2), STEP_BYTES);
}

/// Strings beside others that count how many began, up to so many states: their maps take several vectors.
fn counting(states: u8) -> Vec<Map> {
    let next = |state: u8, byte: u8| match byte {
        b'"' => (state + 2).min(states - 1),
        b'1' => state ^ 1,
        b' ' => state / 4,
        _ => 0,
    };
    (0..=255).map(|byte| (0..states).map(|state| next(state, byte)).collect()).collect()
}

/// How many ranges these maps have: sets of states in the order in which those before reach them.
fn count_ranges(maps: &[Map]) -> usize {
    let mut ranges: Vec<Vec<u8>> = vec![(0..maps[0].len() as u8).collect()];
    let mut known: HashSet<Vec<u8>> = ranges.iter().cloned().collect();
    while let Some(range) = ranges.pop() {
        for map in maps {
            let mut led: Vec<u8> = range.iter().map(|&state| map[usize::from(state)]).collect();
            let mut seen = HashSet::new();
            led.retain(|&state| seen.insert(state));
            if known.insert(led.clone()) {
                ranges.push(led);
            }
        }
    }
    known.len()
}

#[test]
fn maps_may_take_several_vectors() {
    let mut seen = [0; 4];
    // Of those that count, the ones of up to 80 states have space for a deferred map at every entry of the step.
    for states in [32, 48, 80, 96, 128] {
        let maps = counting(states);
        let program = writes_the_state(&maps);
        assert_eq!(Automaton::of(&program, 0).map(|automaton| automaton.states), Some(states.into()));
        // Half of the bytes of the other one turn, and generate a group.
        let turn = |byte: u8| (0..states).map(|state| (state + byte % 3) % states).collect();
        let mut turning = maps.clone();
        (0..160u8).for_each(|byte| turning[usize::from(byte)] = turn(byte));
        let mut distinct = maps.clone();
        distinct.sort();
        distinct.dedup();
        let deferred = count_ranges(&distinct) * (distinct.len() + 1) * usize::from(states);
        let is_too_large = deferred > MOST_MAP_BYTES;
        assert_eq!(is_too_large, states > 80, "{states} states: {deferred} bytes");
        for (maps, is_too_large) in [(maps, is_too_large), (turning, false)] {
            let program = writes_the_state(&maps);
            let budgets = (8..18).map(|bits| 1 << bits).filter(|&most| fold_of(&program, most).is_some());
            let folds: Vec<MapFold> = budgets.map(|most| must_fold(&maps, most)).collect();
            assert_eq!(folds.is_empty(), is_too_large, "{states} states");
            for fold in folds {
                seen[match fold.composition {
                    Composition::Closed { .. } => 0,
                    Composition::Maps => 1,
                    Composition::Each { .. } => unreachable!("maps of so many states are no words"),
                    Composition::Coalesced { .. } => 2,
                    Composition::Group { .. } => 3,
                }] += 1;
            }
        }
    }
    assert!(seen.iter().all(|&folds| folds > 0), "{seen:?}");
    let bytes: Vec<Vec<Constant>> = (0..=255u8).chain(*b"\"\"1 \"1\"\"\"\" 1\"a\"").map(|b| vec![b.into()]).collect();
    let by_symbols = must_replay(&writes_the_state(&counting(32)), Mode::Inclusive, &bytes);
    assert!(by_symbols.symbols < 8);
    let backwards = |states| {
        let mut program = automaton(&counting(states), lanes_of(16, &[0]));
        let combine = &mut program.stages[0].combine;
        let mut b = FunctionBuilder::new();
        let params = b.params(&combine.params);
        let (earlier, later) = params.split_at(params.len() / 2);
        let result = b.inline(combine, &[later, earlier].concat());
        *combine = b.finish(&result);
        verify(program).unwrap()
    };
    assert_eq!(Automaton::of(&backwards(32), 0), None, "later maps are applied first");
    let restart = |program: &Verified<Program>| lower(program, Form::default()).facts()[0].restart;
    assert_eq!(restart(&backwards(32)), None);
    for states in [16, 48, 128] {
        let maps = counting(states);
        let program = writes_the_state(&maps);
        assert_eq!(restart(&program), Some(Restart::ConstantMap), "{states} states");
        for earlier in &maps {
            let constant = cut(&vec![3; states.into()]);
            let both = [cut(earlier), constant.clone()].concat();
            assert_eq!(call(&program.stages[0].combine, &both, &program.tables), constant);
        }
    }
}

#[test]
fn symbols_may_follow_from_several_sources() {
    let program = with_the_next_byte();
    let by_ids = fold_of(&program, STEP_BYTES).unwrap();
    // As many as there are pairs of classes, and fewer than the 128 Ki combinations of what is read.
    assert!(by_ids.symbols <= 12, "{}", by_ids.symbols);
    let lift = &program.stages[0].lift;
    let mut map = program.stages[0].identity[0];
    let mut fold = Fold::new(&program, &by_ids);
    for read in triples() {
        map = call(fold.combine, &[map, call(&lift.function, &read, &program.tables)[0]], &[])[0];
        fold.step(&read);
        assert_eq!(fold.map(), [map]);
    }
}

#[test]
fn there_are_ids_only_if_their_table_is_small_enough() {
    let most = |most| fold_of(&writes_the_state(&beside_others(9)), most);
    let count = most(STEP_BYTES).unwrap().count;
    let is_known = |bytes: &usize| most(*bytes).is_some_and(|fold| fold.count == count);
    let least = (1..STEP_BYTES).step_by(2).find(is_known).unwrap();
    assert!(least / 2 >= count as usize, "{least} bytes for {count} ids");
    assert_eq!(must_fold(&beside_others(9), least).count, count);
    assert!(must_fold(&beside_others(9), least - 2).defers());
    // With less, maps of fewer symbols have ids of their own, and in the end there is no table.
    assert!(must_fold(&beside_others(9), least - 2).count < count);
    assert_eq!(most(100), None);
    let any = writes_the_state(&any(16));
    assert_eq!(fold_of(&any, STEP_BYTES), None);
    // Fewer than half of the bytes turn.
    let mut turning = turning();
    turning[..2].clone_from_slice(&[vec![0; 16], vec![1; 16]]);
    let turning = writes_the_state(&turning);
    assert_eq!(fold_of(&turning, STEP_BYTES), None);
}

#[test]
fn what_is_no_fold_of_known_maps_has_no_ids() {
    let of = |program: Program| {
        let program = verify(program).unwrap();
        fold_of(&program, STEP_BYTES)
    };
    let base = automaton(&small(), lanes_of(8, &[0]));
    assert!(of(base.clone()).is_some());

    let mut outside = small();
    outside[7][3] = 8;
    assert_eq!(of(automaton(&outside, lanes_of(8, &[0]))), None, "a map leads to what is no state");

    let mut by_index = base.clone();
    let mut b = FunctionBuilder::new();
    let index = b.param(Type::U64);
    let index = b.cast(Type::U32, index);
    let map = b.table(0, Type::bytes(8).unwrap(), index);
    by_index.stages[0].lift = Mapping { reads: vec![Source::Index], function: b.finish(&[map]) };
    assert_eq!(of(by_index), None, "the lift reads the index");

    let mut backwards = base.clone();
    let combine = &mut backwards.stages[0].combine;
    let mut b = FunctionBuilder::new();
    let params = b.params(&combine.params);
    let result = b.inline(combine, &[params[1], params[0]]);
    *combine = b.finish(&result);
    assert_eq!(of(backwards), None, "later maps are applied first");

    let mut shifted = base;
    shifted.stages[0].identity = vec![Constant::vector(&[1, 2, 3, 4, 5, 6, 7, 0])];
    assert_eq!(of(shifted), None, "it begins with another map");
}

#[test]
fn a_byte_and_the_next_one_have_a_table() {
    let program = with_the_next_byte();
    let fold = fold_of(&program, STEP_BYTES).unwrap();
    let neighbours =
        fold.neighbours.as_ref().expect("symbols follow from a byte, the next one, and whether there is one");
    let class = |side: usize, byte: Constant| usize::from(neighbours.class_of[side][byte.bits() as usize]);
    for read in triples() {
        let row = &neighbours.rows[class(0, read[0])];
        let column = if read[2].bits() == 1 { row.len() - 1 } else { class(1, read[1]) };
        assert_eq!(call(&fold.symbol, &read, &fold.tables), [Constant::from(u32::from(row[column]))]);
    }
    assert_eq!(must_fold(&small(), STEP_BYTES).neighbours, None, "these follow from one byte");
}

/// A lift may read whether an element is the last, and make nothing of it.
#[test]
fn what_is_read_may_say_nothing() {
    let program = with_the_next(|b, last, next| {
        let (last, one) = (b.cast(Type::U32, last), b.lit(1u32));
        let nothing = b.binary(Opcode::Shr, last, one);
        b.binary(Opcode::Add, next, nothing)
    });
    let fold = fold_of(&program, STEP_BYTES).unwrap();
    assert_eq!((fold.reads.len(), fold.neighbours), (3, None));
}
