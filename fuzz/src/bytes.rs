//! Bytes as a row of decisions: the fuzzer's bytes in order, and zeros when they are used up.

/// The bytes that are left.
pub(crate) struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Bytes<'a> {
        Bytes(bytes)
    }

    pub(crate) fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    /// A number below `bound`, which is not 0; the first choice once the bytes are used up.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let mut number = usize::from(self.byte());
        if bound > 256 {
            number |= usize::from(self.byte()) << 8;
        }
        number % bound
    }

    /// True once in `times` at most, and never once the bytes are used up.
    pub(crate) fn chance(&mut self, times: usize) -> bool {
        self.below(times) == times - 1
    }

    pub(crate) fn pick<'t, T>(&mut self, items: &'t [T]) -> &'t T {
        &items[self.below(items.len())]
    }

    /// A number near `honest`, or one that arithmetic trips over.
    pub(crate) fn hostile(&mut self, honest: usize) -> usize {
        match self.below(8) {
            0 => honest,
            1 => honest.wrapping_add(1),
            2 => honest.wrapping_sub(1),
            3 => self.below(1 << 16),
            4 => usize::MAX - self.below(4),
            5 => (usize::MAX >> self.below(64)).wrapping_add(1),
            6 => usize::MAX / honest.max(1),
            _ => self.below(8),
        }
    }

    /// `count` bytes: those that follow, again and again, each time changed a little.
    pub(crate) fn fill(&mut self, count: usize) -> Vec<u8> {
        let source = if self.0.is_empty() { &[0] } else { self.0 };
        let bytes = source.iter().cycle().zip(0..count);
        let filled = bytes.map(|(byte, at)| byte.wrapping_add((at / source.len()) as u8)).collect();
        self.0 = &self.0[count.min(self.0.len())..];
        filled
    }
}
