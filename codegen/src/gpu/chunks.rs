//! Transducers of many states on a GPU: a thread for each *chunk* of the symbols.
//!
//! The output of a chunk follows from the transducer's state before it. Any state may be before a
//! symbol, but few are behind it: behind a line break, the automaton of a lexer is in one of two
//! or three, wherever it began. So there are three passes over the chunks, and a scan:
//!
//! 1. The *range* of a chunk is found, the states that may be before it: of the last symbols before
//!    the chunk, one that leads to few states is looked for, and these are led on to the chunk.
//!    Where two are left, as in a long string, one that leads to one state is looked for farther
//!    back.
//! 2. The states of the range are led on through the chunk; where some meet, one goes on for them.
//!    In the end each has a number in the range of the next chunk. So a chunk is a map between
//!    numbers. Most chunks need no walk, since one state alone is in the range of the next: the
//!    others are listed by the first pass.
//! 3. An ordinary scan composes the maps, and says for each chunk in which state it begins.
//! 4. Each chunk is walked from that state, and outputs are written.
//!
//! A range has at most sixteen states, or thirty-two. That this is so for every text is known when
//! tables are made: all sets of states are listed that a few symbols lead to. Where these have more
//! states, or there are too many of them, there are no tables.
//!
//! (To begin with the states that the symbols before a chunk may lead to is in Jiang and Agrawal,
//! PPoPP 2017; ranges are in Mytkowicz, Musuvathi and Schulte, ASPLOS 2014.)

use std::collections::HashSet;

use super::Transducer;

/// Most states of ranges, and so of the maps of a chunk.
pub const RANGES: [usize; 2] = [16, 32];

/// Symbols of a chunk are a multiple of this, and no fewer than those of a window.
pub const CHUNK_STEP: usize = 64;

/// Symbols before a chunk among which one that leads to few states is looked for.
pub const CHUNK_WINDOW: usize = 64;

/// Windows before a chunk: the second is looked at where symbols of the first leave two states.
pub const CHUNK_WINDOWS: usize = 2;

/// The entries of a range behind its states.
pub const UNUSED_STATE: u16 = u16::MAX;

/// Most sets of states that are listed, times symbols.
const MOST_CELLS: usize = 1 << 19;

/// The tables that threads look up.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChunkTables {
    /// How many symbols have images: those of the table [`next`](ChunkTables::next).
    pub symbols: usize,
    /// Most states of a range, one of [`RANGES`].
    pub most_states: usize,
    /// How many symbols behind the first one leave at most so many states.
    pub depth: usize,
    /// For each symbol where the states are that it leads to, shifted left by 8 bits, and how many; behind them, the same of the
    /// first state.
    pub images: Vec<u32>,
    /// The states of all images.
    pub members: Vec<u16>,
    /// Where symbols lead each state.
    pub next: StateTable,
    /// The same, and what is given: in the upper half of an element.
    pub walk: StateTable,
}

/// Most bytes of a table that has a column for each byte instead of each class, so that one look-up does: two blocks have space.
const MOST_BY_BYTE: usize = 64 << 10;

/// Most bytes of rows that have space in each bank. They are by class then.
const MOST_IN_BANK: usize = 4608;

/// Classes of 256 bytes, and then a row for each state with an element for each symbol, or each byte.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StateTable {
    /// The bytes, a multiple of 16.
    pub bytes: Vec<u8>,
    /// Elements of a row.
    pub row: usize,
    /// Whether numbers take two bytes, not one.
    pub wide: bool,
    /// Whether there is an element for each byte.
    pub by_byte: bool,
}

impl ChunkTables {
    /// The tables of a transducer; none if too many states may be left.
    pub fn of(transducer: &Transducer) -> Option<ChunkTables> {
        let (depth, most_states) = depth(transducer)?;
        let next = StateTable::of(transducer, 1, |cell| vec![transducer.next[cell]]);
        let walk = StateTable::of(transducer, 2, |cell| vec![transducer.next[cell], transducer.output[cell]]);
        let columns = next.columns(transducer);
        let (mut images, mut members) = (Vec::new(), Vec::new());
        let all: Vec<u16> = (0..transducer.states as u16).collect();
        for image in columns.iter().map(|&symbol| transducer.image(&all, symbol)).chain([vec![0]]) {
            // A count is a byte, and the largest is no image's.
            let count = u8::try_from(image.len()).ok().filter(|&count| count < u8::MAX)?;
            images.push((members.len() as u32) << 8 | u32::from(count));
            members.extend(image);
        }
        Some(ChunkTables { symbols: columns.len(), most_states, depth, images, members, next, walk })
    }
}

impl StateTable {
    fn of(transducer: &Transducer, numbers: usize, cell: impl Fn(usize) -> Vec<u16>) -> StateTable {
        let Transducer { states, symbols, ref class_of, .. } = *transducer;
        let wide = (0..states * symbols).flat_map(&cell).any(|number| number > u16::from(u8::MAX));
        let element = if wide { 2 * numbers } else { numbers };
        // An odd number of words, so that rows begin in different banks.
        let row_of = |columns: usize| 4 * ((columns * element).div_ceil(4) | 1) / element;
        let has_space = states * row_of(symbols) * element <= MOST_IN_BANK;
        let by_byte = class_of.is_some() && !has_space && states * 256 * element <= MOST_BY_BYTE;
        let table = StateTable { bytes: Vec::new(), row: 0, wide, by_byte };
        let columns = table.columns(transducer);
        let row = row_of(columns.len());
        let mut bytes = class_of.unwrap_or([0; 256]).to_vec();
        for state in 0..states {
            for place in 0..row {
                let own = columns.get(place).map_or(vec![0; numbers], |symbol| cell(symbol * states + state));
                let own = own.into_iter().flat_map(u16::to_le_bytes);
                bytes.extend(own.enumerate().filter(|(place, _)| wide || place % 2 == 0).map(|(_, byte)| byte));
            }
        }
        bytes.resize(bytes.len().next_multiple_of(16), 0);
        StateTable { bytes, row, ..table }
    }

    /// The symbol of each column.
    fn columns(&self, transducer: &Transducer) -> Vec<usize> {
        match &transducer.class_of {
            Some(class_of) if self.by_byte => class_of.iter().map(|&class| usize::from(class)).collect(),
            _ => (0..transducer.symbols).collect(),
        }
    }
}

impl Transducer {
    /// The states that a symbol leads some to, in order.
    fn image(&self, of: &[u16], symbol: usize) -> Vec<u16> {
        let next = |&state: &u16| self.next[symbol * self.states + usize::from(state)];
        let mut image: Vec<u16> = of.iter().map(next).collect();
        image.sort_unstable();
        image.dedup();
        image
    }
}

/// How many symbols behind the first one leave few states, and the least of [`RANGES`] that has so many.
fn depth(transducer: &Transducer) -> Option<(usize, usize)> {
    let [few, many] = RANGES;
    let mut found = None;
    let mut layer = HashSet::from([(0..transducer.states as u16).collect::<Vec<u16>>()]);
    let mut cells = 0;
    for depth in 0..CHUNK_WINDOW {
        cells += layer.len() * transducer.symbols;
        if cells > MOST_CELLS {
            break;
        }
        let images = layer.iter().flat_map(|set| (0..transducer.symbols).map(|symbol| transducer.image(set, symbol)));
        layer = images.collect();
        let most = layer.iter().map(Vec::len).max()?;
        if most <= few {
            return Some((depth, few));
        }
        found = found.or((most <= many).then_some((depth, many)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With a map for each symbol.
    fn transducer(maps: &[Vec<u16>]) -> Transducer {
        let (states, symbols) = (maps[0].len(), maps.len());
        Transducer { class_of: None, states, symbols, next: maps.concat(), output: vec![0; states * symbols] }
    }

    #[test]
    fn few_states_have_to_be_left_whatever_the_symbols() {
        let tables =
            |maps: &[Vec<u16>]| ChunkTables::of(&transducer(maps)).map(|found| (found.depth, found.most_states));
        let halved = |states: u16| (0..states).map(|state| state / 2).collect::<Vec<u16>>();
        // One symbol halves the states, the other leads all to one.
        assert_eq!(tables(&[halved(32), vec![3; 32]]), Some((0, 16)));
        assert_eq!(tables(&[halved(128), vec![3; 128]]), Some((2, 16)));
        // Thirty of them stay apart.
        let apart: Vec<u16> = (0..100).map(|state| state % 30).collect();
        assert_eq!(tables(&[apart, vec![3; 100]]), Some((0, 32)));
        let apart: Vec<u16> = (0..100).map(|state| state % 33).collect();
        assert_eq!(tables(&[apart, vec![3; 100]]), None);
    }

    #[test]
    fn images_are_those_of_columns() {
        let mut of = transducer(&[vec![1, 1, 0], vec![2, 2, 2]]);
        let images = |of: &Transducer| ChunkTables::of(of).map(|found| (found.images, found.members)).unwrap();
        assert_eq!(images(&of), (vec![2, 2 << 8 | 1, 3 << 8 | 1], vec![0, 1, 2, 0]));
        // Few classes have space in each bank; of many there is a column for each byte.
        of.class_of = Some(std::array::from_fn(|byte| byte as u8 % 2));
        assert_eq!(images(&of).0.len(), 3);
        let led_to = |symbol: usize, state: u16| if symbol.is_multiple_of(2) { u16::from(state < 100) } else { 2 };
        let maps: Vec<Vec<u16>> = (0..30).map(|symbol| (0..200).map(|state| led_to(symbol, state)).collect()).collect();
        let class_of = Some(std::array::from_fn(|byte| byte as u8 % 30));
        let (images, members) = images(&Transducer { class_of, ..transducer(&maps) });
        assert_eq!((images.len(), &members[..6]), (257, &[0, 1, 2, 0, 1, 2][..]));
    }
}
