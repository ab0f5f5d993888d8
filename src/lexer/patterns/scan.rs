//! The scan of a [`PatternSet`](super::PatternSet)'s automaton: its maps, and which patterns match
//! behind each byte.
//!
//! An element gives the place behind its byte. The kind of what follows there, the next element's
//! byte or the end of the text, is looked up only for patterns that look ahead. The start of a text
//! is behind no byte, so a match that ends there, which is empty, is found without the scan.

use monoscan_ir::{
    FunctionBuilder, Layout, Mapping, Opcode, Output, Program, Source, Stage, Table, Type, Value, Verified, verify,
};

use super::automaton::{Automaton, SET_BITS};
use super::{MAX_SCANNED_STATES, PatternSetError};

/// The form in which a scan writes places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Places {
    /// A column of `u64`, as [`place`](super::automaton::place) makes them.
    Packed,
    /// A column of ends, `u32`, and one of sets, `u16`.
    Columns,
}

/// A column of bytes in; out, for each place behind the first byte where a match ends, the end and which set of patterns matches.
pub(super) fn program(automaton: &Automaton, places: Places) -> Result<Verified<Program>, PatternSetError> {
    let states = automaton.states;
    if states > MAX_SCANNED_STATES {
        return Err(PatternSetError::TooManyScannedStates { states });
    }
    let mut tables = vec![Table { ty: Type::U8, bytes: automaton.class_of.to_vec() }];
    let stage = Stage::automaton(states, &low_bytes(&automaton.maps), symbol(), &mut tables);
    let sets = Sets::new(automaton, &mut tables);
    let (project, columns) = match places {
        Places::Packed => (sets.packed(), vec![Type::U64]),
        Places::Columns => (sets.columns(), vec![Type::U32, Type::U16]),
    };
    let program = Program {
        parameters: Vec::new(),
        name: "patterns".to_owned(),
        tables,
        inputs: vec![Layout::of(Type::U8)],
        stages: vec![stage.expect("maps lead to states, of which there are at most 256")],
        output: Output { filter: Some(sets.is_any()), project, columns: columns.into_iter().map(Layout::of).collect() },
        sequential: None,
    };
    Ok(verify(program)
        .expect("256 states and 256 classes keep the program small, and the rest is typed as it should be"))
}

/// The input symbol of an element: its byte's class.
fn symbol() -> Mapping {
    let mut b = FunctionBuilder::new();
    let byte = b.param(Type::U8);
    let index = b.cast(Type::U32, byte);
    let class = b.table(0, Type::U8, index);
    let class = b.cast(Type::U32, class);
    Mapping { reads: vec![Source::Record(0)], function: b.finish(&[class]) }
}

fn low_bytes(numbers: &[u16]) -> Vec<u8> {
    numbers.iter().map(|&number| number as u8).collect()
}

fn words(numbers: &[u16]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// How a scan looks up the set that matches behind an element.
struct Sets {
    /// The first vector of the map up to the element: its first lane is the state.
    map: Type,
    /// For each kind of what follows, the set of each state; and the type of a set.
    table: u32,
    ty: Type,
    /// For patterns that look ahead.
    follows: Option<Follows>,
}

/// Where a kind's sets begin in their table.
struct Follows {
    /// A table, by the byte that follows.
    by_byte: u32,
    at_end: u32,
}

impl Sets {
    fn new(automaton: &Automaton, tables: &mut Vec<Table>) -> Sets {
        let states = automaton.states;
        let table = tables.len() as u32;
        let (ty, bytes) = match automaton.sets.len() {
            ..=256 => (Type::U8, low_bytes(&automaton.set_of)),
            _ => (Type::U16, words(&automaton.set_of)),
        };
        tables.push(Table { ty, bytes });
        let follows = automaton.looks_ahead().then(|| {
            let begins = automaton.kinds.of_byte.map(|kind| u16::from(kind) * states as u16);
            tables.push(Table { ty: Type::U16, bytes: words(&begins) });
            Follows { by_byte: table + 1, at_end: u32::from(automaton.kinds.of_end) * states as u32 }
        });
        Sets { map: Type::bytes(states.min(16)).expect("1 to 16 lanes"), table, ty, follows }
    }

    /// Whether a match ends behind the element.
    fn is_any(&self) -> Mapping {
        let (mut reads, mut b) = (Vec::new(), FunctionBuilder::new());
        let params = self.params(&mut reads, &mut b);
        let set = self.set(&mut b, &params);
        let none = b.constant(self.ty.zero());
        let is_any = b.binary(Opcode::Ne, set, none);
        Mapping { reads, function: b.finish(&[is_any]) }
    }

    /// The place behind the element, in one number.
    fn packed(&self) -> Mapping {
        self.with_end(|b, end, set| {
            let bits = b.lit(SET_BITS);
            let end = b.binary(Opcode::Shl, end, bits);
            let set = b.cast(Type::U64, set);
            vec![b.binary(Opcode::Or, end, set)]
        })
    }

    /// The place and the set behind the element.
    fn columns(&self) -> Mapping {
        self.with_end(|b, end, set| vec![b.cast(Type::U32, end), b.cast(Type::U16, set)])
    }

    fn with_end(&self, of: impl Fn(&mut FunctionBuilder, Value, Value) -> Vec<Value>) -> Mapping {
        let (mut reads, mut b) = (vec![Source::Index], FunctionBuilder::new());
        let index = b.param(Type::U64);
        let params = self.params(&mut reads, &mut b);
        let set = self.set(&mut b, &params);
        let one = b.lit(1u64);
        let end = b.binary(Opcode::Add, index, one);
        let results = of(&mut b, end, set);
        Mapping { reads, function: b.finish(&results) }
    }

    /// The parameters by which a set is looked up.
    fn params(&self, reads: &mut Vec<Source>, b: &mut FunctionBuilder) -> Vec<Value> {
        reads.push(Source::After { stage: 0, component: 0 });
        let mut params = vec![b.param(self.map)];
        if self.follows.is_some() {
            reads.extend([Source::Next(0), Source::Last]);
            params.extend([Type::U8, Type::Bool].map(|ty| b.param(ty)));
        }
        params
    }

    fn set(&self, b: &mut FunctionBuilder, params: &[Value]) -> Value {
        let state = b.lane(params[0], 0);
        let state = b.cast(Type::U32, state);
        let place = match (&self.follows, params) {
            (Some(Follows { by_byte, at_end }), &[_, next, last]) => {
                let next = b.cast(Type::U32, next);
                let begin = b.table(*by_byte, Type::U16, next);
                let (begin, end) = (b.cast(Type::U32, begin), b.lit(*at_end));
                let begin = b.select(last, end, begin);
                b.binary(Opcode::Add, begin, state)
            }
            _ => state,
        };
        b.table(self.table, self.ty, place)
    }
}
