//! Automata: replays that carry a byte, and folds that carry an id, do what the interpreter does
//! with maps, and only where the program allows it.

use std::collections::HashSet;

use monoscan_ir::automaton::{
    Automaton, Carried, Composition, LaneBody, MOST_MAP_BYTES, MapFold, MapsError, SymbolReplay, TableBudget,
};
use monoscan_ir::interp::{Mode, call};
use monoscan_ir::transform::{Form, Lowered, lower};
use monoscan_ir::{
    Constant, Function, FunctionBuilder, Layout, Mapping, Opcode, Output, Program, Source, Stage, Table, Type, Value,
    Verified, verify,
};
use scan_kit::Random;

/// A byte's map.
type Map = Vec<u8>;

/// Bytes for the step's table.
const STEP_BYTES: usize = 64 << 10;

/// The vectors that a map is cut into.
fn cut(map: &[u8]) -> Vec<Constant> {
    map.chunks(16).map(Constant::vector).collect()
}

/// An automaton: a map of states for each byte. What it writes is in the hands of `project`.
fn automaton(maps: &[Map], project: Mapping) -> Program {
    let vectors = cut(&maps[0]);
    let (vector, count) = (vectors[0].ty(), vectors.len());
    let identity: Vec<u8> = (0..maps[0].len() as u8).collect();
    let lift = {
        let mut b = FunctionBuilder::new();
        let byte = b.param(Type::U8);
        let index = b.cast(Type::U32, byte);
        let vectors = b.lit(count as u32);
        let first = b.binary(Opcode::Mul, index, vectors);
        let part = |k| {
            let k = b.lit(k as u32);
            let place = b.binary(Opcode::Add, first, k);
            b.table(0, vector, place)
        };
        let map: Vec<Value> = (0..count).map(part).collect();
        b.finish(&map)
    };
    let combine = {
        let mut b = FunctionBuilder::new();
        let (earlier, later) = (b.params(&vec![vector; count]), b.params(&vec![vector; count]));
        let mut led = |states: Value| {
            let parts = later.iter().enumerate().map(|(k, &part)| {
                let below = b.constant(Constant::vector(&vec![16 * k as u8; vector.size()]));
                let index = if k == 0 { states } else { b.binary(Opcode::Sub, states, below) };
                b.binary(Opcode::Permute, part, index)
            });
            let parts: Vec<Value> = parts.collect();
            parts.into_iter().reduce(|all, part| b.binary(Opcode::Or, all, part)).unwrap()
        };
        let both: Vec<Value> = earlier.iter().map(|&states| led(states)).collect();
        b.finish(&both)
    };
    let columns = project.function.result_types().into_iter().map(Layout::of).collect();
    Program {
        parameters: Vec::new(),
        name: "automaton".into(),
        tables: vec![Table::new(vector, maps.iter().flat_map(|map| cut(map)))],
        inputs: vec![Layout::of(Type::U8)],
        stages: vec![Stage {
            state: vec![vector; count],
            identity: cut(&identity),
            lift: Mapping { reads: vec![Source::Record(0)], function: lift },
            combine,
            ..Stage::default()
        }],
        output: Output { filter: None, project, columns },
    }
}

/// Writes these lanes of the state.
fn lanes_of(states: usize, lanes: &[u8]) -> Mapping {
    let mut b = FunctionBuilder::new();
    let state = b.param(Type::bytes(states.min(16)).unwrap());
    let lanes: Vec<Value> = lanes.iter().map(|&lane| b.lane(state, lane)).collect();
    Mapping { reads: vec![Source::State(0)], function: b.finish(&lanes) }
}

fn writes_the_state(maps: &[Map]) -> Verified<Program> {
    verify(automaton(maps, lanes_of(maps[0].len(), &[0]))).unwrap()
}

/// A string with escapes, and numbers, in 8 states.
fn small() -> Vec<Map> {
    let next = |state: u8, byte: u8| match (state, byte) {
        (1, b'"') => 0,
        (1, b'\\') => 2,
        (1 | 2, _) => 1,
        (3..=6, b'0'..=b'9') => 7 - state,
        (3..=6, b'.') => state + 1,
        (_, b'"') => 1,
        (_, b'-') => 3,
        _ => 0,
    };
    (0..=255).map(|byte| (0..8).map(|state| next(state, byte)).collect()).collect()
}

/// Strings with escapes alone.
fn strings() -> Vec<Map> {
    let next = |state: u8, byte: u8| match (state, byte) {
        (1, b'\\') => 2,
        (1, b'"') => 0,
        (0, b'"') | (1 | 2, _) => 1,
        _ => 0,
    };
    (0..=255).map(|byte| (0..3).map(|state| next(state, byte)).collect()).collect()
}

/// Half of the bytes are permutations of a group with 64 elements, the others are any maps.
fn turning() -> Vec<Map> {
    let mut random = Random(3);
    let turn = |byte: u8| (0..16).map(|state: u8| (state * 5 + byte) & 15).collect();
    (0..=255u8)
        .map(|byte| if byte < 128 { turn(byte) } else { (0..16).map(|_| random.below(16) as u8).collect() })
        .collect()
}

fn any(states: u64) -> Vec<Map> {
    let mut random = Random(4);
    (0..256).map(|_| (0..states).map(|_| random.below(states) as u8).collect()).collect()
}

/// A fold by look-ups: the id, and what was deferred.
struct Fold<'a> {
    fold: &'a MapFold,
    combine: &'a Function,
    id: Constant,
    deferred: Vec<Constant>,
}

impl<'a> Fold<'a> {
    fn new(program: &'a Program, fold: &'a MapFold) -> Fold<'a> {
        let stage = &program.stages[0];
        Fold { fold, combine: &stage.combine, id: Constant::from(0u32), deferred: stage.identity.clone() }
    }

    /// Takes it past an element, of which this is read; gives its symbol.
    fn step(&mut self, read: &[Constant]) -> Constant {
        let Fold { fold, id, .. } = *self;
        let symbol = call(&fold.symbol, read, &fold.tables)[0];
        assert!(symbol.bits() < fold.symbols.into());
        let entry = call(&fold.entry, &[id, symbol], &fold.tables)[0];
        assert!(entry.bits() < 1 << 16);
        let mut next = call(&fold.step, &[entry], &fold.tables)[0].bits() as u32;
        if fold.defers() && next % 2 == 1 {
            let map = match &fold.composition {
                Composition::Coalesced { deferred } => call(deferred, &[entry], &fold.tables),
                Composition::Group { deferred } => call(deferred, &[&[entry, id], read].concat(), &fold.tables),
                _ => panic!("nothing is deferred"),
            };
            self.deferred = self.composed(&map);
            next -= 1;
        }
        assert!(next < fold.end());
        self.id = Constant::from(next);
        symbol
    }

    fn composed(&self, map: &[Constant]) -> Vec<Constant> {
        call(self.combine, &[&self.deferred, map].concat(), &[])
    }

    fn map(&self) -> Vec<Constant> {
        self.composed(&call(&self.fold.map, &[self.id], &self.fold.tables))
    }
}

/// The fold of a program's first stage, if it is an automaton that has one.
fn fold_of(program: &Program, most_bytes: usize) -> Option<MapFold> {
    MapFold::of(&Automaton::of(program, 0)?, &program.stages[0], &program.tables, most_bytes)
}

fn must_fold(maps: &[Map], most_bytes: usize) -> MapFold {
    let program = writes_the_state(maps);
    let by_ids = fold_of(&program, most_bytes).expect("the tables are small enough");
    let mut random = Random(5);
    for range in [256, 128, 4] {
        let text: Vec<u8> = (0..400).map(|_| random.below(range) as u8).chain(*b"a \"b\\\" 1\" -1.5.-2\"\"").collect();
        let mut map: Map = (0..maps[0].len() as u8).collect();
        let mut fold = Fold::new(&program, &by_ids);
        let mut middle = None;
        for (place, &byte) in text.iter().enumerate() {
            map = map.iter().map(|&state| maps[usize::from(byte)][usize::from(state)]).collect();
            fold.step(&[byte.into()]);
            assert_eq!(fold.map(), cut(&map));
            let Composition::Closed { compose, apply } = &by_ids.composition else { continue };
            let (state, map) = (place % map.len(), &map);
            let led = call(apply, &[fold.id, Constant::from(state as u8)], &by_ids.tables)[0];
            assert_eq!(led, Constant::from(map[state]));
            // What came before the middle, and what came since.
            let (earlier, later) = middle.get_or_insert_with(|| (fold.id, Constant::from(0u32)));
            let both = call(compose, &[*earlier, *later], &by_ids.tables)[0];
            assert_eq!(both, fold.id, "at {place}");
            if let Some(&next) = text.get(place + 1) {
                let symbol = call(&by_ids.symbol, &[next.into()], &by_ids.tables)[0];
                let entry = call(&by_ids.entry, &[*later, symbol], &by_ids.tables)[0];
                *later = call(&by_ids.step, &[entry], &by_ids.tables)[0];
            }
        }
    }
    by_ids
}

#[test]
fn folds_by_ids_are_folds() {
    // Every map has an id; a few ids are composed as such.
    let fold = must_fold(&small(), STEP_BYTES);
    assert!(fold.count > 256 && fold.composition == Composition::Maps, "{}", fold.count);
    let fold = must_fold(&strings(), STEP_BYTES);
    assert!(fold.count < 20 && matches!(fold.composition, Composition::Closed { .. }), "{}", fold.count);
    // Every range is found, and no id is reset.
    let fold = must_fold(&small(), 4 << 10);
    assert!(matches!(fold.composition, Composition::Coalesced { .. }), "{}", fold.count);
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
}

/// As a lexer's: the map is that of the class of a byte before the class of the next one, or before the end.
fn with_the_next_byte() -> Verified<Program> {
    let mut random = Random(6);
    let mut maps =
        |count: usize| -> Vec<Map> { (0..count).map(|_| (0..4).map(|_| random.below(4) as u8).collect()).collect() };
    let mut program = automaton(&maps(3 * 4), lanes_of(4, &[0]));
    let classes = (0..=255u8).map(|byte| Constant::from(byte.leading_zeros() as u8 / 3));
    program.tables.push(Table::new(Type::U8, classes));
    let mut b = FunctionBuilder::new();
    let (byte, next, last) = (b.param(Type::U8), b.param(Type::U8), b.param(Type::Bool));
    let [class, next] = [byte, next].map(|byte| {
        let index = b.cast(Type::U32, byte);
        let class = b.table(1, Type::U8, index);
        b.cast(Type::U32, class)
    });
    let (end, classes) = (b.lit(3u32), b.lit(4u32));
    let next = b.select(last, end, next);
    let row = b.binary(Opcode::Mul, class, classes);
    let pair = b.binary(Opcode::Add, row, next);
    let map = b.table(0, Type::bytes(4).unwrap(), pair);
    let reads = vec![Source::Record(0), Source::Next(0), Source::Last];
    program.stages[0].lift = Mapping { reads, function: b.finish(&[map]) };
    verify(program).unwrap()
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

/// Bytes, next bytes, and whether they are the last.
fn triples() -> impl Iterator<Item = [Constant; 3]> {
    let mut random = Random(7);
    let mut byte = move || random.below(256) as u8 >> random.below(8);
    (0..300).map(move |_| [Constant::from(byte()), byte().into(), (byte() == 0).into()])
}

fn replay_of(program: &Verified<Program>, mode: Mode) -> (LaneBody, Lowered) {
    let lowered = lower(program, Form { mode, ..Form::default() });
    let budget = TableBudget { step_bytes: 0, keeps_symbols: false };
    (lowered.look_ups(budget).replay.clone(), lowered)
}

/// Replays by symbols and by what is read, side by side, from each state.
fn must_replay(program: &Verified<Program>, mode: Mode, reads: &[Vec<Constant>]) -> SymbolReplay {
    let (body, lowered) = replay_of(program, mode);
    let by_symbols = SymbolReplay::of(&lowered, &body, STEP_BYTES).expect("the tables are small enough");
    for state in 0..program.stages[0].state[0].size() as u8 {
        let (mut fold, mut lane, mut other) = (Fold::new(program, &by_symbols.fold), state.into(), state.into());
        for (place, read) in reads.iter().enumerate() {
            let symbol = Constant::from(fold.step(read).bits() as u8);
            assert!(symbol.bits() < by_symbols.symbols.into());
            let arguments = |body: &LaneBody, lane: Constant, record: Constant| -> Vec<Constant> {
                let value = |source: &Source| match source {
                    Source::Before { .. } => lane,
                    Source::Record(_) => record,
                    Source::Next(_) => read[1],
                    Source::Last => read[2],
                    Source::Index => Constant::from(place as u64),
                    other => panic!("{other:?} is not read"),
                };
                body.mapping.reads.iter().map(value).collect()
            };
            let own = arguments(&body, lane, read[0]);
            let expected = call(&body.mapping.function, &own, &body.tables);
            let own = arguments(&by_symbols.body, other, symbol);
            let got = call(&by_symbols.body.mapping.function, &own, &by_symbols.body.tables);
            assert_eq!(got, expected);
            (lane, other) = (expected[0], got[0]);
        }
    }
    by_symbols
}

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

#[test]
fn there_are_ids_only_if_their_table_is_small_enough() {
    let most = |most| fold_of(&writes_the_state(&small()), most);
    let count = most(STEP_BYTES).unwrap().count;
    let is_known = |bytes: &usize| most(*bytes).is_some_and(|fold| fold.count == count);
    let least = (1..STEP_BYTES).step_by(2).find(is_known).unwrap();
    assert!(least / 2 >= count as usize, "{least} bytes for {count} ids");
    assert_eq!(must_fold(&small(), least).count, count);
    assert!(must_fold(&small(), least - 2).defers());
    // With less, maps of fewer symbols have ids of their own, and in the end there is no table.
    assert!(must_fold(&small(), least - 2).count < count);
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

/// What a replay carries that writes these lanes.
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
