//! States as the protocol sees them: words, of which each level of a cascade has a part.

use std::ops::Range;

/// The states of all levels, as words: an aggregate, a carry or an inclusive prefix of each. Aligned to 16 bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    pairs: Box<[Pair]>,
    words: usize,
}

#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
#[repr(C, align(16))]
struct Pair([u64; 2]);

impl State {
    /// So many words, all zero.
    pub fn zeroed(words: usize) -> State {
        State { pairs: vec![Pair::default(); words.div_ceil(2)].into(), words }
    }

    /// These words.
    pub fn new(words: impl IntoIterator<Item = u64>) -> State {
        let words: Vec<u64> = words.into_iter().collect();
        let mut state = State::zeroed(words.len());
        words.into_iter().enumerate().for_each(|(place, word)| state.set(place, word));
        state
    }

    /// How many words there are.
    pub fn len(&self) -> usize {
        self.words
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.words == 0
    }

    /// A word.
    #[inline]
    pub fn get(&self, place: usize) -> u64 {
        self.pairs[place / 2].0[place % 2]
    }

    /// Replaces a word.
    #[inline]
    pub fn set(&mut self, place: usize, word: u64) {
        self.pairs[place / 2].0[place % 2] = word;
    }

    /// Replaces some words by those of another state.
    pub fn copy_part(&mut self, from: &State, part: Range<usize>) {
        part.for_each(|place| self.set(place, from.get(place)));
    }

    /// All words.
    pub fn words(&self) -> impl Iterator<Item = u64> + '_ {
        (0..self.words).map(|place| self.get(place))
    }

    /// Where the words lie, one after the other.
    pub fn as_ptr(&self) -> *const u8 {
        self.pairs.as_ptr().cast()
    }

    /// Where the words lie, to write.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.pairs.as_mut_ptr().cast()
    }
}
