//! Automata: replays that carry a byte, and folds that carry an id, do what the interpreter does
//! with maps, and only where the program allows it.

mod declared;
mod folds;
mod replays;

use monoscan_ir::automaton::{
    Automaton, Carried, Composition, LaneBody, MOST_MAP_BYTES, MapFold, MapsError, SymbolReplay, TableBudget,
};
use monoscan_ir::facts::Restart;
use monoscan_ir::interp::{Mode, call};
use monoscan_ir::transform::{Form, Lowered, lower};
use monoscan_ir::{
    Constant, Function, FunctionBuilder, Layout, Mapping, Opcode, Output, Program, Source, Stage, Table, Type, Value,
    Verified, verify,
};
use scan_kit::Random;
use std::collections::HashSet;

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
        sequential: None,
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
    beside_others(8)
}

/// The same in so many states, of which nothing leads to the ninth: too many for a map to be a word.
fn beside_others(states: u8) -> Vec<Map> {
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
    (0..=255).map(|byte| (0..states).map(|state| next(state, byte)).collect()).collect()
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
        if let Composition::Each { of_symbol } = &fold.composition {
            let word = call(of_symbol, &[symbol], &fold.tables)[0].bits();
            let led = |state: usize| (word >> (4 * state)) as u8 & 15;
            let map: Vec<u8> = (0..self.deferred[0].ty().size()).map(led).collect();
            self.deferred = self.composed(&cut(&map));
        }
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

/// A lane as a body carries it.
fn as_carried(body: &LaneBody, lane: Constant) -> Constant {
    body.row.map_or(lane, |row| Constant::from(lane.bits() as u32 * row))
}

/// Replays by symbols and by what is read, side by side, from each state.
fn must_replay(program: &Verified<Program>, mode: Mode, reads: &[Vec<Constant>]) -> SymbolReplay {
    let (body, lowered) = replay_of(program, mode);
    let by_symbols = SymbolReplay::of(&lowered, &body, STEP_BYTES).expect("the tables are small enough");
    for state in 0..program.stages[0].state[0].size() as u8 {
        let (mut fold, mut lane) = (Fold::new(program, &by_symbols.fold), state.into());
        let mut other = as_carried(&by_symbols.body, lane);
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
            assert_eq!((got[0], &got[1..]), (as_carried(&by_symbols.body, expected[0]), &expected[1..]));
            (lane, other) = (expected[0], got[0]);
        }
    }
    by_symbols
}

/// As a lexer's: the map is that of the class of a byte before the class of the next one, or before the end.
fn with_the_next_byte() -> Verified<Program> {
    with_the_next(|b, last, next| {
        let end = b.lit(3u32);
        b.select(last, end, next)
    })
}

/// The same by what is made of whether a byte is the last, and of the class of the next one.
fn with_the_next(next_of: impl Fn(&mut FunctionBuilder, Value, Value) -> Value) -> Verified<Program> {
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
    let classes = b.lit(4u32);
    let next = next_of(&mut b, last, next);
    let row = b.binary(Opcode::Mul, class, classes);
    let pair = b.binary(Opcode::Add, row, next);
    let map = b.table(0, Type::bytes(4).unwrap(), pair);
    let reads = vec![Source::Record(0), Source::Next(0), Source::Last];
    program.stages[0].lift = Mapping { reads, function: b.finish(&[map]) };
    verify(program).unwrap()
}
