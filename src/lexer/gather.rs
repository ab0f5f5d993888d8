//! Labels → tokens: a plain pass over the bytes that the scan wrote.

use super::label::{ENDS, ERROR};

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A match of the rule at this place among the [`Rules`](crate::lexer::Rules).
    Rule(u16),
    /// Bytes that no rule matches.
    Error,
}

/// A piece of the text. Tokens are contiguous unless some are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Token<K = Kind> {
    /// Where it begins, in bytes.
    pub start: usize,
    /// Where it ends: the offset behind its last byte.
    pub end: usize,
    /// Its kind.
    pub kind: K,
}

/// The tokens that a text's labels spell, from left to right. Each maximal run of error bytes is one token.
#[derive(Clone, Debug)]
pub struct Tokens<'a> {
    labels: &'a [u8],
    /// Bit k: leave out tokens whose label has kind k.
    dropped: u128,
    /// Labels below it mean rules; the others, errors.
    rules: u8,
    /// Where the next token begins.
    start: usize,
    /// The labels being looked at begin here, a multiple of 8.
    block: usize,
    /// The flags [`ENDS`] of those eight labels that are still ahead.
    ends: u64,
}

/// How many tokens of each kind a text has, skips included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts {
    rules: Vec<usize>,
    errors: usize,
}

impl<'a> Tokens<'a> {
    /// Those that are kept, of so many rules.
    pub(super) fn new(labels: &'a [u8], rules: usize, kept: impl Fn(Kind) -> bool) -> Tokens<'a> {
        // Labels have no rules further on.
        let kinds = (0..ERROR).zip(0..rules as u16).map(|(code, rule)| (code, Kind::Rule(rule)));
        let dropped = kinds.chain([(ERROR, Kind::Error)]).filter(|&(_, kind)| !kept(kind));
        let dropped = dropped.fold(0, |set, (code, _)| set | 1 << code);
        let mut tokens = Tokens { labels, dropped, rules: rules as u8, start: 0, block: 0, ends: 0 };
        tokens.look_at(0);
        tokens
    }

    /// Turns to the labels from `place` on.
    fn look_at(&mut self, place: usize) {
        self.block = place & !7;
        self.ends = ends(self.labels, self.block) & (!0 << (8 * (place % 8)));
    }

    /// The place behind the next label that ends something.
    fn next_end(&mut self) -> Option<usize> {
        while self.ends == 0 {
            if self.block + 8 >= self.labels.len() {
                return None;
            }
            self.block += 8;
            self.ends = ends(self.labels, self.block);
        }
        let end = self.block + self.ends.trailing_zeros() as usize / 8 + 1;
        self.ends &= self.ends - 1;
        Some(end)
    }

    /// The end of the run of error bytes that goes on at `end`.
    #[cold]
    fn error_end(&mut self, end: usize) -> usize {
        let run = self.labels[end..].iter().take_while(|&&label| label == ENDS | ERROR).count();
        self.look_at(end + run);
        end + run
    }
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    #[inline]
    fn next(&mut self) -> Option<Token> {
        loop {
            let mut end = self.next_end()?;
            let code = self.labels[end - 1] & !ENDS;
            let kind = if code < self.rules { Kind::Rule(u16::from(code)) } else { Kind::Error };
            if code == ERROR {
                end = self.error_end(end);
            }
            let start = std::mem::replace(&mut self.start, end);
            if self.dropped >> code & 1 == 0 {
                return Some(Token { start, end, kind });
            }
        }
    }
}

impl std::iter::FusedIterator for Tokens<'_> {}

/// The flags [`ENDS`] of eight labels, the first in the lowest byte. Behind the end there are none.
fn ends(labels: &[u8], block: usize) -> u64 {
    let word = match labels[block.min(labels.len())..].first_chunk() {
        Some(eight) => *eight,
        None => {
            let tail = &labels[block.min(labels.len())..];
            std::array::from_fn(|i| tail.get(i).copied().unwrap_or(0))
        }
    };
    u64::from_le_bytes(word) & u64::from_ne_bytes([ENDS; 8])
}

impl Counts {
    pub(super) fn new(labels: &[u8], rules: usize) -> Counts {
        let mut counts = Counts { rules: vec![0; rules], errors: 0 };
        for token in Tokens::new(labels, rules, |_| true) {
            match token.kind {
                Kind::Rule(rule) => counts.rules[usize::from(rule)] += 1,
                Kind::Error => counts.errors += 1,
            }
        }
        counts
    }

    /// The count of one kind; 0 for a kind of other rules.
    pub fn get(&self, kind: Kind) -> usize {
        match kind {
            Kind::Rule(rule) => self.rules.get(usize::from(rule)).copied().unwrap_or(0),
            Kind::Error => self.errors,
        }
    }

    /// All kinds in the order of their rules, then the errors.
    pub fn iter(&self) -> impl Iterator<Item = (Kind, usize)> {
        let rules = (0..).map(Kind::Rule).zip(self.rules.iter().copied());
        rules.chain([(Kind::Error, self.errors)])
    }
}
