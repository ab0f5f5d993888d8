//! The input of the lexer compiler: a deterministic automaton of tokens, and keywords.

use std::collections::BTreeSet;

/// The kind of bytes that begin no token.
pub const ERROR: u16 = u16::MAX;

/// An automaton of tokens, total over byte classes.
///
/// A token is the longest text that leads from the start to a state that accepts. If it is one of the words, it is of that
/// word's kind, else of the state's.
///
/// A state may look at what follows (trailing context, of one character): where more text does, it may accept what ended some bytes
/// before it; and where the text ends, it may accept another kind, or alone accept one.
#[derive(Clone, Debug)]
pub struct LexAutomaton {
    /// The class of every byte.
    pub class_of: [u8; 256],
    /// How many classes there are.
    pub classes: usize,
    /// The successor of state `q` by class `c`, at `q * classes + c`.
    pub next: Vec<u16>,
    /// For each state, the kind of token that the bytes which led there are, if more text follows.
    pub accept: Vec<Option<u16>>,
    /// For each state, how many bytes before it the token that it accepts ended; its tokens are longer.
    pub back: Vec<u8>,
    /// For each state, the kind of token that ends there if the text does. A state that accepts has one.
    pub at_end: Vec<Option<u16>>,
    /// For each kind, whether its tokens are reported.
    pub kept: Vec<bool>,
    /// Whether runs of bytes that begin no token are reported.
    pub keeps_errors: bool,
    /// Words of one to [`MAX_WORD`](super::MAX_WORD) bytes, none twice, which tokens may be, and their kinds. None has a zero byte,
    /// and a zero byte behind it ends its token.
    pub words: Vec<(Vec<u8>, u16)>,
}

impl LexAutomaton {
    /// The state that nothing leads out of, in which no token is possible.
    pub const DEAD: u16 = 0;
    /// The state before the first byte. It does not accept, and no state leads to it.
    pub const START: u16 = 1;

    /// Refuses what code and tables cannot run safely. A token has at least a byte, so one per byte of a text is space enough.
    ///
    /// # Panics
    /// If columns differ in length, or a class or a state is out of bounds; if the start accepts, or a state leads to it; if a
    /// state accepts, but not where the text ends, or may accept what ended where it began.
    pub fn check(&self) {
        let states = self.accept.len();
        assert!(
            (2..=usize::from(u16::MAX)).contains(&states),
            "expected the dead state, the start, and fewer than 65536"
        );
        assert_eq!(self.back.len(), states, "a state has one `back`");
        assert_eq!(self.at_end.len(), states, "a state has one `at_end`");
        assert_eq!(self.next.len(), states * self.classes, "a state has one successor for each class");
        assert!(self.class_of.iter().all(|&class| usize::from(class) < self.classes), "a byte has no such class");
        assert!(self.next.iter().all(|&to| usize::from(to) < states), "a state leads to none");
        assert!(self.at_end(Self::START).is_none(), "the start accepts");
        assert!(
            self.accept.iter().zip(&self.at_end).all(|(more, end)| more.is_none() || end.is_some()),
            "a state accepts, but not where the text ends"
        );
        assert!(!self.next.contains(&Self::START), "a state leads to the start");
        // Breadth first, so that a state is met on a shortest way.
        let mut met = vec![false; states];
        let (mut level, mut length) = (vec![Self::START], 0);
        while !level.is_empty() {
            let mut behind = Vec::new();
            for state in level {
                let back = usize::from(self.back(state));
                assert!(back == 0 || back < length, "a token has no byte");
                let row = usize::from(state) * self.classes;
                for &to in &self.next[row..row + self.classes] {
                    if to != Self::DEAD && !std::mem::replace(&mut met[usize::from(to)], true) {
                        behind.push(to);
                    }
                }
            }
            (level, length) = (behind, length + 1);
        }
    }

    /// How many states there are.
    pub fn states(&self) -> u16 {
        self.accept.len() as u16
    }

    /// The successor by a byte.
    #[inline]
    pub fn step(&self, state: u16, byte: u8) -> u16 {
        self.next[usize::from(state) * self.classes + usize::from(self.class_of[usize::from(byte)])]
    }

    /// The kind that a state accepts where more text follows.
    #[inline]
    pub fn accept(&self, state: u16) -> Option<u16> {
        self.accept[usize::from(state)]
    }

    /// How many bytes before a state its token ended, where more text follows.
    #[inline]
    pub fn back(&self, state: u16) -> u8 {
        self.back[usize::from(state)]
    }

    /// The kind that a state accepts where the text ends.
    #[inline]
    pub fn at_end(&self, state: u16) -> Option<u16> {
        self.at_end[usize::from(state)]
    }

    /// The kinds that states accept.
    pub(super) fn kinds(&self) -> BTreeSet<u16> {
        self.accept.iter().chain(&self.at_end).flatten().copied().collect()
    }

    /// Whether what follows a state matters: a byte leads on from it, or the end of the text makes another token than a byte.
    pub fn is_open(&self, state: u16) -> bool {
        let row = usize::from(state) * self.classes;
        let leads_on = self.next[row..row + self.classes].iter().any(|&to| to != LexAutomaton::DEAD);
        leads_on || self.back(state) > 0 || self.accept(state) != self.at_end(state)
    }

    /// The most bytes that an attempt to lengthen a token reads in vain, at most as many as there are states; or none, if a way
    /// through states that accept nothing comes back to where it was.
    pub fn most_in_vain(&self) -> Option<usize> {
        let is_vain = |&state: &u16| state != Self::DEAD && self.accept(state).is_none();
        let row = |state: u16| &self.next[usize::from(state) * self.classes..][..self.classes];
        let mut ways = vec![0usize; self.accept.len()];
        let vain = || (0..self.states()).filter(is_vain);
        vain().flat_map(row).for_each(|&to| ways[usize::from(to)] += 1);
        // States that no way leads to any more go one after the other; those of a cycle stay.
        let mut left = vain().count();
        let mut free: Vec<u16> = vain().filter(|&state| ways[usize::from(state)] == 0).collect();
        // How many such states a longest way to each goes through.
        let mut depth = vec![0usize; self.accept.len()];
        let mut deepest = 0;
        while let Some(state) = free.pop() {
            left -= 1;
            let here = depth[usize::from(state)] + 1;
            deepest = deepest.max(here);
            for &to in row(state) {
                depth[usize::from(to)] = depth[usize::from(to)].max(here);
                ways[usize::from(to)] -= 1;
                if ways[usize::from(to)] == 0 && is_vain(&to) {
                    free.push(to);
                }
            }
        }
        // A byte leads to the first of them, and one leads on from the last.
        (left == 0).then_some(deepest + 1)
    }

    /// Whether tokens of a kind are reported.
    pub fn keeps(&self, kind: u16) -> bool {
        if kind == ERROR { self.keeps_errors } else { self.kept[usize::from(kind)] }
    }

    /// The bytes by which a state leads to itself.
    pub(super) fn loops(&self, state: u16) -> [bool; 256] {
        std::array::from_fn(|byte| self.step(state, byte as u8) == state)
    }

    /// The bytes that begin no token.
    pub(super) fn begins_none(&self) -> [bool; 256] {
        std::array::from_fn(|byte| self.step(Self::START, byte as u8) == Self::DEAD)
    }

    /// The states that a byte of a token leads to: all but the dead one and the start.
    pub(super) fn live(&self) -> std::ops::Range<u16> {
        2..self.states()
    }

    /// Whether a token may have ended before a byte that leads on, so that its end must be remembered.
    pub(super) fn remembers(&self, from: u16, to: u16) -> bool {
        to != Self::DEAD && self.accept(from).is_some() && self.accept(to).is_none()
    }

    /// The kinds of tokens that may be words.
    pub(super) fn kinds_with_words(&self) -> Vec<u16> {
        let run = |word: &[u8]| word.iter().fold(Self::START, |q, &byte| self.step(q, byte));
        self.words.iter().filter_map(|(word, _)| self.accept(run(word))).collect()
    }
}
