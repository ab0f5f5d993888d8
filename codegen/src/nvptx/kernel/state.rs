//! States of a level: how they travel between lanes, warps and blocks.
//!
//! The components of a state are packed into 32-bit words, in which they go through shuffles,
//! shared memory, and the *tile states* that blocks publish for each other in device memory.
//!
//! A tile state is read while another block may be writing it. So each naturally atomic piece of it
//! carries a tag, and a state counts when the tags of all its pieces are the one that is waited
//! for: no fence is needed. A state of one word is a piece of 8 bytes, word and tag; a longer one
//! has pieces of 16 bytes, three words and a tag.

use monoscan_ir::Type;

use crate::nvptx::emit::{Builder, Ty, Value};
use crate::nvptx::kernel::bytes::{Bytes, Pieces};

/// The components of a state, in order.
pub type State<'k> = Vec<Value<'k>>;

/// How states of these components are packed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Packing {
    types: Vec<Type>,
    offsets: Vec<usize>,
    /// How many words a state has, at least one.
    pub words: usize,
}

impl Packing {
    /// Components one after the other, each aligned to its size up to a word, small ones in the gaps that are left.
    pub fn of(types: &[Type]) -> Packing {
        let mut order: Vec<usize> = (0..types.len()).collect();
        order.sort_by_key(|&place| std::cmp::Reverse(types[place].size().min(4)));
        let mut offsets = vec![0; types.len()];
        let mut end = 0usize;
        for place in order {
            let size = types[place].size();
            let align = if types[place].is_vector() { 1 } else { size.min(4) };
            offsets[place] = end.next_multiple_of(align);
            end = offsets[place] + size;
        }
        Packing { types: types.to_vec(), offsets, words: end.div_ceil(4).max(1) }
    }

    pub fn pack<'k>(&self, k: &'k Builder, state: &[Value<'k>]) -> Vec<Value<'k>> {
        let mut pieces = Pieces::new(k, 4 * self.words);
        for ((&value, &ty), &offset) in state.iter().zip(&self.types).zip(&self.offsets) {
            pieces.put(offset, ty, value);
        }
        pieces.join().into_words()
    }

    pub fn unpack<'k>(&self, k: &'k Builder, words: &[Value<'k>]) -> State<'k> {
        let bytes = Bytes::of_words(k, words.to_vec());
        self.types.iter().zip(&self.offsets).map(|(&ty, &offset)| bytes.field(offset, ty)).collect()
    }

    /// The state that `exchange` makes of each word: for shuffles.
    pub fn map<'k>(&self, k: &'k Builder, state: &[Value<'k>], exchange: impl Fn(Value<'k>) -> Value<'k>) -> State<'k> {
        let words: Vec<Value<'k>> = self.pack(k, state).into_iter().map(exchange).collect();
        self.unpack(k, &words)
    }

    /// Bytes of a state in shared memory.
    pub fn shared_bytes(&self) -> usize {
        4 * self.words
    }

    pub fn store_shared<'k>(&self, k: &'k Builder, to: Value<'k>, state: &[Value<'k>]) {
        self.pack(k, state).into_iter().enumerate().for_each(|(place, word)| to.at(4 * place).store(word, 4));
    }

    pub fn load_shared<'k>(&self, k: &'k Builder, from: Value<'k>) -> State<'k> {
        let words: Vec<Value<'k>> = (0..self.words).map(|place| from.at(4 * place).load(Ty::I32, 4)).collect();
        self.unpack(k, &words)
    }

    /// Bytes of a tile state in device memory.
    pub fn tile_state_bytes(&self) -> usize {
        if self.words == 1 { 8 } else { 16 * self.words.div_ceil(3) }
    }

    /// Writes a tile state.
    pub fn publish<'k>(&self, k: &'k Builder, to: Value<'k>, state: &[Value<'k>], tag: Value<'k>) {
        let words = self.pack(k, state);
        let join = |low: Value<'k>, high: Value<'k>| low.resize(Ty::I64) | (high.resize(Ty::I64) << 32);
        if let [word] = words[..] {
            k.store_word(to, join(word, tag));
            return;
        }
        for (place, piece) in words.chunks(3).enumerate() {
            let word = |place: usize| piece.get(place).copied().unwrap_or(k.i32(0));
            k.store_pair(to.at(16 * place), join(word(0), word(1)), join(word(2), tag));
        }
    }

    /// Reads a tile state as it is now: its words, and whether its tag is this one.
    pub fn peek<'k>(&self, k: &'k Builder, from: Value<'k>, tag: Value<'k>) -> (Vec<Value<'k>>, Value<'k>) {
        let (words, tags) = self.read(k, from);
        let same: Vec<Value<'k>> = tags.into_iter().map(|found| found.is(tag)).collect();
        (words, same[1..].iter().fold(same[0], |all, &same| all & same))
    }

    /// Reads a tile state as it is now: its words, and the tags of its pieces.
    pub fn read<'k>(&self, k: &'k Builder, from: Value<'k>) -> (Vec<Value<'k>>, Vec<Value<'k>>) {
        let low = |pair: Value<'k>| pair.resize(Ty::I32);
        let high = |pair: Value<'k>| (pair >> 32).resize(Ty::I32);
        if self.words == 1 {
            let word = k.load_word(from);
            return (vec![low(word)], vec![high(word)]);
        }
        let pieces: Vec<Value<'k>> =
            (0..self.words.div_ceil(3)).map(|place| k.load_pair(from.at(16 * place))).collect();
        let (mut words, mut tags) = (Vec::new(), Vec::new());
        for piece in pieces {
            let (first, second) = (piece.half(0), piece.half(1));
            words.extend([low(first), high(first), low(second)]);
            tags.push(high(second));
        }
        words.truncate(self.words);
        (words, tags)
    }
}

/// One of two states.
pub fn select<'k>(condition: Value<'k>, yes: &[Value<'k>], no: &[Value<'k>]) -> State<'k> {
    yes.iter().zip(no).map(|(&yes, &no)| condition.select(yes, no)).collect()
}
