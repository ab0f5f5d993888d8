//! [`Transducer`] → maps, as a scan composes them.
//!
//! A scan of a transducer composes one map for each element, which says where each state is led.
//! Two representations are known, and the sizes of both decide:
//!
//! - by *symbols*: a map is between all states. There is one for each symbol.
//! - by *pairs*: once a symbol has been read, only the states of its *image* are possible. They are
//!   numbered, each image on its own, and maps are between such *ranks*: for each pair of a symbol
//!   and the one before it. Of C, 49 states have 13 ranks. Pairs that have the same map and the
//!   same outputs share a row, so a table says which row a pair has.
//!
//! Composing maps of v vectors takes v² permutations, so fewer vectors count most; but where maps
//! of all states have two vectors at most, tables of pairs are not worth it, nor where these are
//! large.

use std::collections::HashMap;

use super::LexerError;
use super::transducer::Transducer;

/// The most states, or ranks, of a map: a state's number is a byte.
pub const MAX_SCAN_STATES: usize = 256;

/// Maps of all states are taken up to this many.
const FEW_STATES: usize = 32;

/// The most entries that are looked at for pairs: these squared times ranks.
const MOST_PAIR_CELLS: usize = 1 << 22;

/// The tables that the scan of a transducer looks up.
pub(super) struct Maps {
    /// Lanes of a map. Lane 0 is the first state.
    pub(super) width: usize,
    /// For each row where its map leads each lane.
    pub(super) advance: Vec<u8>,
    /// For each row what is given in each lane.
    pub(super) output: Vec<u16>,
    /// The row of an element.
    pub(super) row: RowOf,
}

/// The source of an element's row.
pub(super) enum RowOf {
    /// Its symbol, whose number it is.
    Symbol,
    /// The symbol before it and its own: row `of_pair[before * symbols + own]`, with `before = symbols` at the first element.
    Pair { symbols: usize, of_pair: Vec<u16> },
}

impl Maps {
    pub(super) fn of(transducer: &Transducer) -> Result<Maps, LexerError> {
        let states = transducer.states;
        if states <= FEW_STATES {
            return Ok(Maps::by_symbols(transducer));
        }
        match Maps::by_pairs(transducer) {
            Some(maps) if vectors(maps.width) < vectors(states) => Ok(maps),
            _ if states <= MAX_SCAN_STATES => Ok(Maps::by_symbols(transducer)),
            _ => Err(LexerError::TooManyScanStates { states }),
        }
    }

    fn by_symbols(transducer: &Transducer) -> Maps {
        let width = width_of(transducer.states);
        let lanes = |row: usize| (0..width).map(move |lane| (row, lane));
        let cells = || (0..transducer.symbols).flat_map(lanes).map(|(s, q)| (q < transducer.states).then_some((s, q)));
        // Lanes beyond the states must only stay within the vector.
        let advance = cells().map(|cell| cell.map_or(0, |(s, q)| transducer.next(s, q) as u8)).collect();
        let output = cells().map(|cell| cell.map_or(0, |(s, q)| transducer.output(s, q))).collect();
        Maps { width, advance, output, row: RowOf::Symbol }
    }

    /// None if the tables would be large, or ranks do not fit a byte.
    fn by_pairs(transducer: &Transducer) -> Option<Maps> {
        let symbols = transducer.symbols;
        let mut images: Vec<Vec<usize>> = (0..symbols).map(|symbol| transducer.image(symbol)).collect();
        // Before the first element.
        images.push(vec![0]);
        let ranks = images.iter().map(Vec::len).max()?;
        if ranks > MAX_SCAN_STATES || symbols * symbols * ranks > MOST_PAIR_CELLS {
            return None;
        }
        let width = width_of(ranks);
        let mut number: HashMap<Vec<(u8, u16)>, u16> = HashMap::new();
        let mut maps =
            Maps { width, advance: Vec::new(), output: Vec::new(), row: RowOf::Pair { symbols, of_pair: Vec::new() } };
        let mut of_pair = Vec::new();
        for before in &images {
            for (own, image) in images[..symbols].iter().enumerate() {
                let cell = |&q: &usize| {
                    let to = transducer.next(own, q);
                    let rank = image.iter().position(|&q| q == to).expect("an image has all states that are led to");
                    (rank as u8, transducer.output(own, q))
                };
                let mut row: Vec<(u8, u16)> = before.iter().map(cell).collect();
                row.resize(width, (0, 0));
                let known = u16::try_from(number.len()).ok()?;
                of_pair.push(*number.entry(row).or_insert_with_key(|row| {
                    maps.advance.extend(row.iter().map(|cell| cell.0));
                    maps.output.extend(row.iter().map(|cell| cell.1));
                    known
                }));
            }
        }
        maps.row = RowOf::Pair { symbols, of_pair };
        Some(maps)
    }

    /// How many maps there are.
    pub(super) fn rows(&self) -> usize {
        self.output.len() / self.width
    }
}

/// The lanes of a map between so many states.
fn width_of(states: usize) -> usize {
    if states <= 8 { 8 } else { states.next_multiple_of(16) }
}

fn vectors(states: usize) -> usize {
    states.div_ceil(16)
}
