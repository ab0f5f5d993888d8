//! How far ahead maximal munch must look (the maximal token neighbour distance, max-TND).

use std::fmt;

use super::dfa::{State, TokenDfa};
use super::lookahead::{self, Conflict};
use super::rules::Rules;

/// How many bytes behind a token must be read until its end is known, for any text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Distance {
    /// At most so many, and sometimes all of them.
    Bytes(usize),
    /// More than any number.
    Unbounded,
}

/// How far ahead rules look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LookAhead {
    tokens: Distance,
    errors: Distance,
    conflicts: Vec<Conflict>,
}

impl LookAhead {
    pub(super) fn of(dfa: &TokenDfa, rules: &Rules) -> LookAhead {
        let is_open = |q: State| q != TokenDfa::DEAD && dfa.accept(q).is_none();
        let mut depths = Depths { dfa, known: vec![None; dfa.states().count()] };
        let mut after = |from: State| {
            let steps = || (0..dfa.classes).map(|class| dfa.next(from, class));
            let deepest = steps().filter(|&q| is_open(q)).map(|q| depths.of(q)).max().unwrap_or(Distance::Bytes(0));
            (deepest, steps().any(|q| q != TokenDfa::DEAD))
        };
        let tokens = dfa.states().filter(|&q| dfa.accept(q).is_some()).map(|q| match after(q) {
            (Distance::Bytes(depth), goes_on) => Distance::Bytes(depth + usize::from(goes_on)),
            (unbounded, _) => unbounded,
        });
        let tokens = tokens.max().unwrap_or(Distance::Bytes(0));
        let errors = after(TokenDfa::START).0;
        let conflicts = lookahead::find(dfa, rules);
        LookAhead { tokens, errors, conflicts }
    }

    /// How far behind a token.
    pub fn tokens(&self) -> Distance {
        self.tokens
    }

    /// How far behind a byte that begins no token.
    pub fn errors(&self) -> Distance {
        self.errors
    }

    /// The rules that look further than one byte; none if one pass, forward, is exact.
    pub fn conflicts(&self) -> &[Conflict] {
        &self.conflicts
    }
}

impl fmt::Display for Distance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Distance::Bytes(1) => write!(f, "1 byte"),
            Distance::Bytes(bytes) => write!(f, "{bytes} bytes"),
            Distance::Unbounded => write!(f, "unbounded"),
        }
    }
}

impl fmt::Display for LookAhead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "look-ahead behind tokens: {}, behind errors: {}", self.tokens, self.errors)?;
        self.conflicts.iter().try_for_each(|conflict| {
            let Conflict { after, rule, complete, .. } = conflict;
            let after = after.as_deref().unwrap_or("an error");
            write!(f, "\n  after {after}, rule {rule} may go on, as in {}", lookahead::quote(complete))
        })
    }
}

/// The most states that do not accept on a way from a state on.
struct Depths<'a> {
    dfa: &'a TokenDfa,
    /// Unbounded while a state is being looked at: a path that meets it again is a cycle.
    known: Vec<Option<Distance>>,
}

impl Depths<'_> {
    fn of(&mut self, state: State) -> Distance {
        if let Some(known) = self.known[state.index()] {
            return known;
        }
        self.known[state.index()] = Some(Distance::Unbounded);
        let mut deepest = Distance::Bytes(1);
        for class in 0..self.dfa.classes {
            let next = self.dfa.next(state, class);
            if next == TokenDfa::DEAD || self.dfa.accept(next).is_some() {
                continue;
            }
            deepest = deepest.max(match self.of(next) {
                Distance::Bytes(depth) => Distance::Bytes(depth + 1),
                Distance::Unbounded => Distance::Unbounded,
            });
        }
        self.known[state.index()] = Some(deepest);
        deepest
    }
}
