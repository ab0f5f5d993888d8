//! Folds by look-up: a fold of maps that carries a number, and looks up the next one at each
//! element.
//!
//! Composing two maps of an automaton's states is a permutation of bytes, and engines without
//! an instruction for it take dozens. But each symbol leads from each map to another one, so a
//! table of ids, a row for each map and a column for each symbol, makes a step one look-up.
//! Where the maps of the transition monoid are few enough, each has an id of its own. If they
//! are very few, a table also has the id of any two composed, and no map is formed until the
//! fold has ended.
//!
//! Where they are too many, a map is kept in two parts, `map[j] = range[kernel[j]]`: its
//! *range*, the states that it reaches, in some order, and its *kernel index*, which of these
//! it leads each state to. States soon meet: after a quotation mark an automaton is in one of
//! two states, wherever it began. So there are few ranges where there may be tens of thousands
//! of maps: 700 and 29,523 for an automaton of JSON with 16 states. As long as the states of a
//! range stay apart, a symbol changes the range alone, whose id is looked up. Where some meet,
//! it changes the kernel index too. That is a composition, which may be *deferred* and done for
//! several elements together. In words of the monoid, `fold = deferred · map(id)` always, and
//! where `map(id) · symbol` is `f · map(other)`, `deferred` becomes `deferred · f`.
//!
//! In the first few elements states meet again and again. While there is space, maps of few
//! symbols have ids of their own, and are taken apart only when more symbols follow.
//!
//! A map of at most eight states fits a word, and engines that pick bytes by such a word
//! compose two of them in a few instructions that wait for no look-up. So where such maps are
//! too many to be composed by ids, the map of each symbol is looked up and composed at once.
//! There is one id then.
//!
//! Symbols under which no two states meet generate a group. If that alone is small, and such
//! symbols make up half of what is read, the others reset the id: `f` is then `map(id) ·
//! symbol`, and the id is that of the identity again.

use super::alphabet::{Alphabet, Neighbours};
use super::ranges::Ranges;
use super::{Automaton, map_of, tables};
use crate::function::Function;
use crate::program::{Source, Stage, Table};

/// The fold of an automaton by look-ups. An id is a `u32`, that of the identity is 0. Where compositions are deferred, ids
/// are even.
#[derive(Clone, PartialEq, Debug)]
pub struct MapFold {
    /// How many ids there are.
    pub count: u32,
    /// The sources that an element's symbol follows from.
    pub reads: Vec<Source>,
    /// reads → the element's input symbol, a `u32` that says what it does.
    pub symbol: Function,
    /// The same as a table, where the symbol follows from a byte and the next one.
    pub neighbours: Option<Neighbours>,
    /// Symbols are below this.
    pub symbols: u32,
    /// (id, symbol) → the *entry* of a table that says what becomes of the id: below 2¹⁶.
    pub entry: Function,
    /// entry → the id after an element, plus 1 if a composition is deferred.
    pub step: Function,
    /// id → map, as its vectors.
    pub map: Function,
    /// How two folds are composed, and what a step defers.
    pub composition: Composition,
    /// The tables of these functions: those given, and more behind them.
    pub tables: Vec<Table>,
}

/// Most bytes of the table of deferred maps, which kernels have as a constant. It has a map for each entry of the step's table.
pub const MOST_MAP_BYTES: usize = 1 << 20;

/// Most states of a map that is a word: a nibble says where each is led, by a number below 8.
pub const FEW_STATES: usize = 8;

/// How a [`MapFold`] composes.
#[derive(Clone, PartialEq, Debug)]
pub enum Composition {
    /// Every map has an id, and these are so few that a table composes them.
    Closed {
        /// (earlier id, later id) → the id of both maps composed.
        compose: Function,
        /// (id, state) → the state that the id's map leads it to, a `u8`.
        apply: Function,
    },
    /// Every map has an id. Folds are composed as maps.
    Maps,
    /// The only id is that of the identity. The map of each symbol is composed: it is between at most [`FEW_STATES`] states.
    Each {
        /// symbol → its map, a `u32`: nibble i has where state i is led.
        of_symbol: Function,
    },
    /// Ids are those of ranges. A step may defer a map: a kernel index.
    Coalesced {
        /// entry → the map.
        deferred: Function,
    },
    /// Ids are those of a group's maps, which other symbols reset.
    Group {
        /// (entry, id, reads) → the map that a symbol outside of the group, and with it the id before, leaves.
        deferred: Function,
    },
}

impl MapFold {
    /// Ids are below this.
    pub fn end(&self) -> u32 {
        self.count << u32::from(self.defers())
    }

    /// Whether steps defer compositions.
    pub fn defers(&self) -> bool {
        matches!(self.composition, Composition::Coalesced { .. } | Composition::Group { .. })
    }

    /// The fold of an automaton that is this stage, with a table of the step of up to `most_bytes`; `tables` begin with
    /// those of the program. None if the lift has no [alphabet](super) or reads more than records, if a map leads to what is no
    /// state, or if there are too many ranges.
    pub fn of(automaton: &Automaton, stage: &Stage, tables: &[Table], most_bytes: usize) -> Option<MapFold> {
        let is_of_records = |source: &Source| {
            use Source::{First, Index, Last, Next, Prev, Record};
            matches!(source, Record(_) | Next(_) | Prev(_) | First | Last | Index)
        };
        let lift = Some(&automaton.lift).filter(|lift| lift.reads.iter().all(is_of_records))?;
        let declared = || Alphabet::looked_up(lift, tables).filter(|_| automaton.is_declared);
        let alphabet = Alphabet::of(lift, tables).or_else(declared)?;
        MapFold::new(automaton, stage, &alphabet, tables, most_bytes, false)
    }

    /// The same for an alphabet each of whose symbols begins with the lift's map. If symbols are `numbered`, the low byte
    /// of an element's is its number in the alphabet, which has at most 256.
    pub(super) fn new(
        automaton: &Automaton,
        stage: &Stage,
        alphabet: &Alphabet,
        tables: &[Table],
        most_bytes: usize,
        numbered: bool,
    ) -> Option<MapFold> {
        let mut maps: Vec<Vec<u8>> = Vec::new();
        let mut shares = Vec::new();
        let mut map_of_symbol = Vec::new();
        for (symbol, share) in alphabet.symbols.iter().zip(&alphabet.shares) {
            let map = map_of(&symbol[..automaton.vectors()]);
            let known = maps.iter().position(|known| *known == map).unwrap_or_else(|| {
                maps.push(map);
                shares.push(0);
                maps.len() - 1
            });
            shares[known] += share;
            map_of_symbol.push(known);
        }
        if maps.iter().flatten().any(|&state| usize::from(state) >= automaton.states) {
            return None;
        }
        let alphabet = (alphabet, &map_of_symbol[..], numbered);
        // An entry of the step's table has two bytes, and a map beside it.
        let most_bytes = most_bytes.min(2 * (MOST_MAP_BYTES / automaton.states.next_multiple_of(16)));
        let reached = Ranges::reached(&maps, &shares, most_bytes);
        let is_word = automaton.states <= FEW_STATES && automaton.vectors() == 1;
        // A word for each map, or for each symbol that is numbered.
        let words = if numbered { map_of_symbol.len() } else { maps.len() };
        let is_each = is_word && size_of::<u32>() * words <= most_bytes;
        if is_each && reached.as_ref().is_none_or(|ranges| ranges.composed().is_none()) {
            return Some(tables::fold_of_each(&maps, alphabet, stage, tables));
        }
        let ranges = if numbered { reached?.widened(&map_of_symbol) } else { reached? };
        Some(ranges.fold(&maps, alphabet, (&automaton.lift, stage), tables))
    }

    /// Bytes of the tables that symbols, steps and compositions look up.
    pub fn step_bytes(&self) -> usize {
        let mut functions = vec![&self.symbol, self.of_element()];
        if let Composition::Closed { compose, apply } = &self.composition {
            functions.extend([compose, apply]);
        }
        let tables = functions.into_iter().flat_map(Function::looked_up);
        tables.map(|table| self.tables[table as usize].bytes.len()).sum()
    }

    /// The function that looks an element up once its symbol is known: the step, or the symbol's map.
    pub fn of_element(&self) -> &Function {
        match &self.composition {
            Composition::Each { of_symbol } => of_symbol,
            _ => &self.step,
        }
    }
}
