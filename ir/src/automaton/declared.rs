//! Automata that a program declares: a stage that says so, and the one that builds it.
//!
//! A declared automaton gives each element an *input symbol*, a `u32`, and looks its map up: result
//! k of the lift is the symbol's element of a table, which has vector k of every map. So the lift
//! is the alphabet, its tables are the maps, and a declaration adds nothing that could contradict
//! them. The verifier checks that it is true.

use thiserror::Error;

use crate::builder::FunctionBuilder;
use crate::function::{Function, Payload, Value};
use crate::laws::construct;
use crate::opcode::Opcode;
use crate::program::{Mapping, Stage, Table};
use crate::types::{Constant, Type};

/// Most states of an automaton: a state's number is a byte, and a map has a byte for each state.
pub const MAX_STATES: usize = 256;

/// Lanes of a vector of a map that has several.
const LANES: usize = 16;

/// Why maps are not those of an automaton.
#[derive(Clone, Copy, PartialEq, Eq, Error, Debug)]
pub enum MapsError {
    /// A map of this many states has no vectors.
    #[error("expected an automaton of 1 to {MAX_STATES} states, found {0}")]
    States(usize),
    /// There is no map, or the last one is cut off.
    #[error("expected maps of {states} bytes each, at least one, found {bytes} bytes")]
    Bytes {
        /// The automaton's states.
        states: usize,
        /// How many bytes there are.
        bytes: usize,
    },
    /// A map leads to what is no state.
    #[error("expected the map of symbol {symbol} to lead to one of {states} states, found {to}")]
    Outside {
        /// Whose map it is.
        symbol: usize,
        /// The automaton's states.
        states: usize,
        /// Where it leads.
        to: u8,
    },
}

impl Stage {
    /// The scan of an automaton's transition maps: lane j of the state is where state j is led to by the elements so far.
    ///
    /// `symbol` gives an element's input symbol, one `u32`. `maps` has a row of `states` bytes for each symbol: where it
    /// leads each state. Symbols past the last row have the map of the last row. Up to 16 states take one vector, more
    /// take vectors of 16, whose spare lanes lead to themselves. Tables of maps are appended to those of the program.
    ///
    /// ```
    /// use monoscan_ir::{FunctionBuilder, Mapping, Source, Stage, Type};
    ///
    /// // Inside of quotation marks, or not: symbol 1 is a mark, 0 any other byte.
    /// let mut b = FunctionBuilder::new();
    /// let (byte, mark) = (b.param(Type::U8), b.lit(b'"'));
    /// let is_mark = b.binary(monoscan_ir::Opcode::Eq, byte, mark);
    /// let symbol = b.cast(Type::U32, is_mark);
    /// let symbol = Mapping { reads: vec![Source::Record(0)], function: b.finish(&[symbol]) };
    /// let mut tables = Vec::new();
    /// let stage = Stage::automaton(2, &[0, 1, 1, 0], symbol, &mut tables)?;
    /// assert!(stage.automaton && stage.state == [Type::bytes(2).unwrap()]);
    /// # Ok::<(), monoscan_ir::automaton::MapsError>(())
    /// ```
    ///
    /// # Errors
    /// If there are no or too many states, if there is no map or a part of one, or if one leads to what is no state.
    pub fn automaton(states: usize, maps: &[u8], symbol: Mapping, tables: &mut Vec<Table>) -> Result<Stage, MapsError> {
        if !(1..=MAX_STATES).contains(&states) {
            return Err(MapsError::States(states));
        }
        if maps.is_empty() || !maps.len().is_multiple_of(states) {
            return Err(MapsError::Bytes { states, bytes: maps.len() });
        }
        if let Some(place) = maps.iter().position(|&to| usize::from(to) >= states) {
            return Err(MapsError::Outside { symbol: place / states, states, to: maps[place] });
        }
        let shape = Shape::of(states);
        let first = tables.len() as u32;
        tables.extend((0..shape.vectors).map(|k| shape.table(maps.chunks_exact(states), k)));
        let state = vec![shape.vector; shape.vectors];
        let everywhere: Vec<u8> = (0..=u8::MAX).take(states).collect();
        let identity = (0..shape.vectors).map(|k| shape.part(&everywhere, k)).collect();
        Ok(Stage {
            identity,
            lift: shape.lift(symbol, first),
            combine: shape.combine(&state),
            valid: shape.valid(&state),
            automaton: true,
            state,
            ..Stage::default()
        })
    }
}

impl Stage {
    /// Whether the stage, of functions that are well-typed, is an automaton that a program may declare.
    pub fn is_automaton(&self, tables: &[Table]) -> bool {
        contradiction(self, tables).is_none()
    }
}

/// How maps are cut into vectors.
struct Shape {
    vector: Type,
    lanes: usize,
    vectors: usize,
}

impl Shape {
    fn of(states: usize) -> Shape {
        let lanes = states.min(LANES);
        Shape { vector: Type::bytes(lanes).expect("1 to 16 lanes"), lanes, vectors: states.div_ceil(LANES) }
    }

    /// Vector k of a map.
    fn part(&self, map: &[u8], k: usize) -> Constant {
        let lane = |lane: usize| map.get(lane).copied().unwrap_or(lane as u8);
        let lanes: Vec<u8> = (k * self.lanes..(k + 1) * self.lanes).map(lane).collect();
        Constant::vector(&lanes)
    }

    fn table<'a>(&self, maps: impl Iterator<Item = &'a [u8]>, k: usize) -> Table {
        Table::new(self.vector, maps.map(|map| self.part(map, k)))
    }

    /// The map of an element: its symbol's.
    fn lift(&self, symbol: Mapping, first: u32) -> Mapping {
        let mut b = FunctionBuilder::new();
        let params = b.params(&symbol.function.params);
        let symbols = b.inline(&symbol.function, &params);
        let part = |table| b.table(table, self.vector, symbols[0]);
        let map: Vec<Value> = (first..first + self.vectors as u32).map(part).collect();
        Mapping { reads: symbol.reads, function: b.finish(&map) }
    }

    /// Composition: the earlier map, then the later one. As a permutation gives 0 where its index is no lane, lane j is
    /// the `or` over the later map's vectors g₀, g₁, … of `gₖ[f[j] − 16 k]`.
    fn combine(&self, state: &[Type]) -> Function {
        let mut b = FunctionBuilder::new();
        let (earlier, later) = (b.params(state), b.params(state));
        let composed: Vec<Value> = earlier.iter().map(|&to| self.apply(&mut b, &later, to)).collect();
        b.finish(&composed)
    }

    /// Every lane of `states` sent through a map.
    fn apply(&self, b: &mut FunctionBuilder, map: &[Value], states: Value) -> Value {
        let part = |(k, &part): (usize, &Value)| {
            let below = b.constant(Constant::vector(&vec![(LANES * k) as u8; self.lanes]));
            let index = if k == 0 { states } else { b.binary(Opcode::Sub, states, below) };
            b.binary(Opcode::Permute, part, index)
        };
        let parts: Vec<Value> = map.iter().enumerate().map(part).collect();
        parts.into_iter().reduce(|all, part| b.binary(Opcode::Or, all, part)).expect("a map has a vector")
    }

    /// Maps lead to lanes only. On other vectors composition is not associative, as a permutation's 0 is a state too.
    fn valid(&self, state: &[Type]) -> Option<Function> {
        let greatest = u8::try_from(self.lanes * self.vectors - 1).ok().filter(|&greatest| greatest < u8::MAX)?;
        let mut b = FunctionBuilder::new();
        let map = b.params(state);
        let greatest = b.constant(Constant::vector(&vec![greatest; self.lanes]));
        let within = |&part: &Value| {
            let clamped = b.binary(Opcode::Min, part, greatest);
            b.binary(Opcode::Eq, clamped, part)
        };
        let within: Vec<Value> = map.iter().map(within).collect();
        let all = within.into_iter().reduce(|all, one| b.binary(Opcode::And, all, one))?;
        Some(b.finish(&[all]))
    }
}

/// The symbol that a lift finds: its results are this element of tables, one for each vector of a map.
pub(super) struct Symbol<'f> {
    pub(super) value: Value,
    pub(super) tables: Vec<u32>,
    function: &'f Function,
}

impl<'f> Symbol<'f> {
    /// None if the lift is no look-up of maps by one index.
    pub(super) fn of(lift: &'f Function) -> Option<Symbol<'f>> {
        let looked_up = |&result: &Value| match lift.inst(result).map(|inst| (inst.payload, inst.operands())) {
            Some((Payload::Table(table), &[symbol])) => Some((symbol, table)),
            _ => None,
        };
        let (symbols, tables): (Vec<Value>, Vec<u32>) = lift.results.iter().map(looked_up).collect::<Option<_>>()?;
        let &[value, ref rest @ ..] = &symbols[..] else { return None };
        let is_u32 = lift.type_of(value) == Some(Type::U32);
        (is_u32 && rest.iter().all(|&other| other == value)).then_some(Symbol { value, tables, function: lift })
    }

    /// From what the lift reads to the symbol.
    pub(super) fn function(&self) -> Function {
        Function { results: vec![self.value], ..self.function.clone() }
    }

    /// The map of each symbol. A symbol past the shortest of the tables has that table's last vector.
    pub(super) fn maps(&self, tables: &[Table]) -> Vec<Vec<Constant>> {
        let own = || self.tables.iter().map(|&table| &tables[table as usize]);
        let symbols = own().map(Table::len).max().unwrap_or(0);
        (0..symbols).map(|symbol| own().filter_map(|table| table.element(symbol)).collect()).collect()
    }
}

/// The property of a declared automaton that this stage lacks; none if it is an automaton. Its functions are
/// well-typed.
pub(crate) fn contradiction(stage: &Stage, tables: &[Table]) -> Option<&'static str> {
    let Some(states) = construct::composes_forwards(&stage.state, &stage.combine) else {
        return Some("an automaton's combine, which composes the maps that vectors of one type hold");
    };
    if !construct::is_identity_map(&stage.identity) {
        return Some("an automaton's identity, which leads each state to itself");
    }
    let Some(symbol) = Symbol::of(&stage.lift.function) else {
        return Some("an automaton's lift, whose results are elements of tables at one index");
    };
    let mut lanes = symbol.tables.iter().flat_map(|&table| &tables[table as usize].bytes);
    let is_within = lanes.all(|&to| usize::from(to) < states);
    (!is_within).then_some("tables of an automaton's maps, which lead to its states")
}
