//! Random numbers (splitmix64), the same in every run.

/// A small deterministic generator.
pub struct Random(u64);

impl Random {
    /// The numbers of an initial state.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.number() % bound as u64) as usize
    }

    /// True once in `times`.
    pub fn chance(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of these.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// Bytes, of which many are small or at the ends of their range.
    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        let byte = |_| match self.below(4) {
            0 => *self.pick(&[0, 1, 2, 0x7f, 0x80, 0xff]),
            _ => (self.number() >> 56) as u8,
        };
        (0..count).map(byte).collect()
    }
}
