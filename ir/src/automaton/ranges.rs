//! The ranges that maps have, how symbols lead from one to another, and the tables of that.

use std::collections::HashMap;

use crate::program::Table;
use crate::types::{Constant, Type};

/// Most symbols of a map that has an id of its own beside ranges.
const MOST_SYMBOLS: usize = 3;

/// Most ids: with the bit that says that a composition is deferred they fit 16 bits.
const MOST_IDS: usize = 1 << 15;

/// Bytes of a table of which engines may keep a copy for each bank of their memory; no padding is then needed.
pub const SMALL_TABLE: usize = 2304;

/// Most bytes of the table that composes ids.
const MOST_COMPOSING_BYTES: usize = 32 << 10;

/// The maps that symbols lead to from the identity: maps of a few symbols, and the ranges of longer ones.
pub(super) struct Ranges {
    /// Each as its states, in order, or as a map; the identity first.
    pub(super) ranges: Vec<Vec<u8>>,
    ids: HashMap<Vec<u8>, usize>,
    /// How many symbols more may follow each for it to be a map still, and not a range.
    growth: Vec<usize>,
    /// The maps of the symbols that lead from each of these to another: the columns of the table.
    pub(super) inside: Vec<usize>,
}

impl Ranges {
    /// Those under all symbols; or if there are too many, under those that keep all states apart, if their shares make up
    /// half of all.
    pub(super) fn reached(maps: &[Vec<u8>], shares: &[usize], most_bytes: usize) -> Option<Ranges> {
        let all: Vec<usize> = (0..maps.len()).collect();
        let under_all = [usize::MAX].into_iter().chain((0..=MOST_SYMBOLS).rev());
        let mut under_all = under_all.filter_map(|symbols| Ranges::under(&all, maps, symbols, most_bytes));
        under_all.next().or_else(|| {
            let keeping: Vec<usize> = all.iter().copied().filter(|&symbol| is_permutation(&maps[symbol])).collect();
            let share: usize = keeping.iter().map(|&symbol| shares[symbol]).sum();
            let is_half = 2 * share >= shares.iter().sum();
            is_half.then(|| Ranges::under(&keeping, maps, 0, most_bytes)).flatten()
        })
    }

    /// Those under some symbols, if the table has space for them.
    fn under(inside: &[usize], maps: &[Vec<u8>], symbols: usize, most_bytes: usize) -> Option<Ranges> {
        // One more column is for symbols outside.
        let columns = inside.len() + 1;
        let most = MOST_IDS.min(most_bytes / (2 * padded_row(columns, Type::U16)));
        let identity: Vec<u8> = (0..=255u8).take(maps[0].len()).collect();
        let ids = HashMap::from([(identity.clone(), 0)]);
        let mut reached = Ranges { ids, ranges: vec![identity], growth: vec![symbols], inside: inside.to_vec() };
        let mut place = 0;
        while place < reached.ranges.len() && reached.ranges.len() <= most && columns <= 256 {
            for &symbol in inside {
                let (next, _) = reached.led(place, &maps[symbol]);
                if !reached.ids.contains_key(&next) {
                    reached.ids.insert(next.clone(), reached.ranges.len());
                    reached.ranges.push(next);
                    reached.growth.push(reached.growth[place].saturating_sub(1));
                }
            }
            place += 1;
        }
        (reached.ranges.len() <= most && columns <= 256).then_some(reached)
    }

    /// The range after a symbol's map, and which of its states each state of the range before is led to.
    fn led(&self, place: usize, map: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let led = self.ranges[place].iter().map(|&state| map[usize::from(state)]);
        if self.growth[place] > 0 {
            return (led.collect(), (0..=255u8).take(map.len()).collect());
        }
        let mut next = Vec::new();
        let index = led.map(|to| {
            let place = next.iter().position(|&known| known == to).unwrap_or_else(|| {
                next.push(to);
                next.len() - 1
            });
            place as u8
        });
        let index = index.collect();
        (next, index)
    }

    /// Gives each symbol of an alphabet a column of its own, also where several have one map, if the table stays so small that
    /// each bank may have a copy: then what stands for a symbol is its number alone.
    pub(super) fn widened(self, map_of_symbol: &[usize]) -> Ranges {
        let is_small = self.ranges.len() * map_of_symbol.len().next_multiple_of(4) <= SMALL_TABLE;
        let inside = if self.is_whole() && is_small { map_of_symbol.to_vec() } else { self.inside };
        Ranges { inside, ..self }
    }

    /// Whether every map has an id of its own.
    pub(super) fn is_whole(&self) -> bool {
        self.growth[0] == usize::MAX
    }

    /// The effect of each symbol on each of them; the last column is for symbols outside, if there may be such.
    pub(super) fn entries(&self, maps: &[Vec<u8>]) -> Entries {
        let count = self.ranges.len();
        let is_whole = self.is_whole();
        let ty = if is_whole && count <= 256 { Type::U8 } else { Type::U16 };
        let width =
            if is_whole { small_row(count, self.inside.len(), ty) } else { padded_row(self.inside.len() + 1, ty) };
        let id = |place: usize| if is_whole { place as u16 } else { 2 * place as u16 };
        let (mut steps, mut deferred) = (Vec::new(), Vec::new());
        for place in 0..count {
            let mut row = vec![(1, Vec::new()); width];
            for (entry, &symbol) in row.iter_mut().zip(&self.inside) {
                let (next, index) = self.led(place, &maps[symbol]);
                let stays = index.iter().enumerate().all(|(place, &to)| place == usize::from(to));
                *entry = (id(self.ids[&next]) + u16::from(!stays), index);
            }
            let (own, indices): (Vec<u16>, Vec<Vec<u8>>) = row.into_iter().unzip();
            steps.extend(own);
            deferred.extend(indices);
        }
        Entries { width, steps: numbers_of(ty, &steps), deferred }
    }

    /// The composition of any two of them, and the length of a row of that.
    pub(super) fn composed(&self) -> Option<(Table, usize)> {
        let count = self.ranges.len();
        let width = padded_row(count, Type::U8);
        if !self.is_whole() || count > 256 || count * width > MOST_COMPOSING_BYTES {
            return None;
        }
        let mut composed = vec![0u16; count * width];
        for (earlier, row) in self.ranges.iter().zip(composed.chunks_exact_mut(width)) {
            for (later, entry) in self.ranges.iter().zip(row) {
                let both: Vec<u8> = earlier.iter().map(|&state| later[usize::from(state)]).collect();
                *entry = self.ids[&both] as u16;
            }
        }
        Some((numbers_of(Type::U8, &composed), width))
    }
}

/// The effect of symbols on ranges.
pub(super) struct Entries {
    /// Elements of a row, which there is for each range, with an element for each symbol.
    pub(super) width: usize,
    /// The id of the range it leads to, and whether a composition is deferred.
    pub(super) steps: Table,
    /// And the kernel index, as a map.
    pub(super) deferred: Vec<Vec<u8>>,
}

/// Whether no two states meet.
fn is_permutation(map: &[u8]) -> bool {
    map.iter().enumerate().all(|(state, to)| !map[..state].contains(to))
}

/// Elements of a row of so many columns: whole words, if the table is so small that each bank may have a copy.
pub(super) fn small_row(rows: usize, columns: usize, ty: Type) -> usize {
    let words = (columns * ty.size()).div_ceil(4);
    if rows * 4 * words <= SMALL_TABLE { 4 * words / ty.size() } else { padded_row(columns, ty) }
}

/// Elements of a row of a table: an odd number of words, so that rows begin in different banks.
fn padded_row(columns: usize, ty: Type) -> usize {
    4 * ((columns * ty.size()).div_ceil(4) | 1) / ty.size()
}

fn numbers_of(ty: Type, numbers: &[u16]) -> Table {
    Table::new(ty, numbers.iter().map(|&number| Constant::from(number)))
}
