//! The images that maps have, how letters lead from one to another, and the tables of that.

use std::collections::HashMap;

use crate::program::Table;
use crate::types::{Constant, Type};

/// Most letters of a map that has a name of its own.
const MOST_LETTERS: usize = 3;

/// Most names: with what says that something is left behind they fit 16 bits.
const MOST_NAMES: usize = 1 << 15;

/// Bytes of a table of which engines may keep a copy for each bank of their memory; no padding is then needed.
pub const SMALL_TABLE: usize = 2304;

/// Most bytes of the table that composes names.
const MOST_COMPOSING_BYTES: usize = 32 << 10;

/// What letters lead to from the identity: maps of a few letters, and the images of longer ones.
pub(super) struct Images {
    /// Each as its states, in order, or as a map; the identity first.
    pub(super) images: Vec<Vec<u8>>,
    numbers: HashMap<Vec<u8>, usize>,
    /// How many letters more each may be put before and still be a map, not an image.
    growth: Vec<usize>,
    /// The letters that lead from each of these images to another.
    pub(super) inside: Vec<usize>,
}

impl Images {
    /// Those under all letters; or if there are too many, under those that keep all states apart, if their shares make up
    /// half of all.
    pub(super) fn reached(maps: &[Vec<u8>], shares: &[usize], most_bytes: usize) -> Option<Images> {
        let all: Vec<usize> = (0..maps.len()).collect();
        let under_all = [usize::MAX].into_iter().chain((0..=MOST_LETTERS).rev());
        let mut under_all = under_all.filter_map(|letters| Images::under(&all, maps, letters, most_bytes));
        under_all.next().or_else(|| {
            let keeping: Vec<usize> = all.iter().copied().filter(|&letter| is_permutation(&maps[letter])).collect();
            let share: usize = keeping.iter().map(|&letter| shares[letter]).sum();
            let is_half = 2 * share >= shares.iter().sum();
            is_half.then(|| Images::under(&keeping, maps, 0, most_bytes)).flatten()
        })
    }

    /// Those under some letters, if there is room for them.
    fn under(inside: &[usize], maps: &[Vec<u8>], letters: usize, most_bytes: usize) -> Option<Images> {
        // One more column is for letters outside.
        let columns = inside.len() + 1;
        let most = MOST_NAMES.min(most_bytes / (2 * padded_row(columns, Type::U16)));
        let identity: Vec<u8> = (0..maps[0].len() as u8).collect();
        let numbers = HashMap::from([(identity.clone(), 0)]);
        let mut images = Images { numbers, images: vec![identity], growth: vec![letters], inside: inside.to_vec() };
        let mut place = 0;
        while place < images.images.len() && images.images.len() <= most && columns <= 256 {
            for &letter in inside {
                let (next, _) = images.led(place, &maps[letter]);
                if !images.numbers.contains_key(&next) {
                    images.numbers.insert(next.clone(), images.images.len());
                    images.images.push(next);
                    images.growth.push(images.growth[place].saturating_sub(1));
                }
            }
            place += 1;
        }
        (images.images.len() <= most && columns <= 256).then_some(images)
    }

    /// Where a map leads from an image, and which states of it each state is led to.
    fn led(&self, place: usize, map: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let led = self.images[place].iter().map(|&state| map[usize::from(state)]);
        if self.growth[place] > 0 {
            return (led.collect(), (0..map.len() as u8).collect());
        }
        let mut next = Vec::new();
        let slots = led.map(|to| {
            let slot = next.iter().position(|&known| known == to).unwrap_or_else(|| {
                next.push(to);
                next.len() - 1
            });
            slot as u8
        });
        let slots = slots.collect();
        (next, slots)
    }

    /// Whether every map has a name of its own.
    pub(super) fn is_whole(&self) -> bool {
        self.growth[0] == usize::MAX
    }

    /// What each letter does to each of them; the last column is for letters outside, if there may be such.
    pub(super) fn entries(&self, maps: &[Vec<u8>]) -> Entries {
        let count = self.images.len();
        let is_whole = self.is_whole();
        let ty = if is_whole && count <= 256 { Type::U8 } else { Type::U16 };
        let width =
            if is_whole { small_row(count, self.inside.len(), ty) } else { padded_row(self.inside.len() + 1, ty) };
        let name = |place: usize| if is_whole { place as u16 } else { 2 * place as u16 };
        let (mut steps, mut lefts) = (Vec::new(), Vec::new());
        for place in 0..count {
            let mut row = vec![(1, Vec::new()); width];
            for (entry, &letter) in row.iter_mut().zip(&self.inside) {
                let (next, slots) = self.led(place, &maps[letter]);
                let stays = slots.iter().enumerate().all(|(slot, &to)| slot == usize::from(to));
                *entry = (name(self.numbers[&next]) + u16::from(!stays), slots);
            }
            let (own, left): (Vec<u16>, Vec<Vec<u8>>) = row.into_iter().unzip();
            steps.extend(own);
            lefts.extend(left);
        }
        Entries { width, steps: numbers_of(ty, &steps), lefts }
    }

    /// What any two of them make together, and the length of a row of that.
    pub(super) fn composed(&self) -> Option<(Table, usize)> {
        let count = self.images.len();
        let width = padded_row(count, Type::U8);
        if !self.is_whole() || count > 256 || count * width > MOST_COMPOSING_BYTES {
            return None;
        }
        let mut composed = vec![0u16; count * width];
        for (earlier, row) in self.images.iter().zip(composed.chunks_exact_mut(width)) {
            for (later, entry) in self.images.iter().zip(row) {
                let both: Vec<u8> = earlier.iter().map(|&state| later[usize::from(state)]).collect();
                *entry = self.numbers[&both] as u16;
            }
        }
        Some((numbers_of(Type::U8, &composed), width))
    }
}

/// What letters do to images.
pub(super) struct Entries {
    /// Elements of a row, which there is for each image, with an element for each letter.
    pub(super) width: usize,
    /// The image it leads to, and whether something is left behind.
    pub(super) steps: Table,
    /// And what.
    pub(super) lefts: Vec<Vec<u8>>,
}

/// Whether no two states meet.
fn is_permutation(map: &[u8]) -> bool {
    map.iter().enumerate().all(|(state, to)| !map[..state].contains(to))
}

/// Elements of a row of so many columns: whole words, if the table is so small that there is room for it in each bank.
pub(in crate::facts) fn small_row(rows: usize, columns: usize, ty: Type) -> usize {
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
