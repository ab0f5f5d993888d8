//! Words that tokens may be, as numbers, and a perfect hash of them: how lexers look keywords up,
//! so that their automata have no states for them.

use monoscan_ir::random::SplitMix64;

/// Longer words stay in the automaton.
pub const MAX_WORD: usize = 16;

/// At most 16 bytes, zeros behind them.
pub(crate) type Packed = [u64; 2];

/// A word of at most [`MAX_WORD`] bytes.
pub(crate) fn pack(word: &[u8]) -> Packed {
    let mut bytes = [0; 16];
    bytes[..word.len()].copy_from_slice(word);
    [0, 8].map(|half| u64::from_le_bytes(std::array::from_fn(|i| bytes[half + i])))
}

/// A hash that gives each of some words a slot of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PerfectHash {
    pub(crate) factors: [u64; 2],
    pub(crate) shift: u32,
}

impl PerfectHash {
    /// That of these words, of which none is there twice; none if there are no words.
    pub(crate) fn of(words: &[Packed]) -> Option<PerfectHash> {
        if words.is_empty() {
            return None;
        }
        let mut random = SplitMix64(0);
        let bits = (2 * words.len()).next_power_of_two().trailing_zeros().max(4);
        // A table that stays too full for these factors grows.
        let mut hashes = (1u32..)
            .map(|tries| PerfectHash { factors: [(); 2].map(|()| random.next() | 1), shift: 64 - bits - tries / 1000 });
        hashes.find(|hash| {
            let mut is_taken = vec![false; hash.slots()];
            words.iter().all(|&word| !std::mem::replace(&mut is_taken[hash.slot(word)], true))
        })
    }

    /// How many slots there are.
    pub(crate) fn slots(self) -> usize {
        1 << (64 - self.shift)
    }

    fn slot(self, word: Packed) -> usize {
        let [low, high] = [0, 1].map(|half| word[half].wrapping_mul(self.factors[half]));
        ((low ^ high) >> self.shift) as usize
    }

    /// A value of each word, in its slot.
    pub(crate) fn placed<T: Copy>(self, words: impl Iterator<Item = (Packed, T)>) -> Vec<T> {
        let mut slots = vec![None; self.slots()];
        words.for_each(|(word, own)| slots[self.slot(word)] = Some(own));
        // A text is looked up in its own slot, so a word that stands in another's is never found.
        let elsewhere = slots.iter().flatten().next().copied();
        slots.into_iter().filter_map(|slot| slot.or(elsewhere)).collect()
    }
}
