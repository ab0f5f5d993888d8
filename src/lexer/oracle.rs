//! The oracle: what maximal munch must know of the text that follows, found by reading it from its
//! end. With it any regular rules are lexed by two scans.
//!
//! Let `E[i]` be the states of the token DFA from which some non-empty prefix of the text from `i`
//! on leads to a state that accepts. `E[i]` follows from the byte at `i` and `E[i + 1]`, and is
//! empty behind the end. So the sets that arise are the states of an automaton that reads the text
//! from its end: the *oracle*. They are few: of C 57.
//!
//! A second automaton, *munch*, reads the text from its beginning. Its states are those of the
//! token DFA in which a token goes on, and *idle*, in which none is pending. At byte `i`, from
//! state `q`:
//!
//! - If it is idle, a token begins at `i` if `E[i]` has the start; else the byte is an error, and
//!   munch stays idle.
//! - If a token is pending or begins, the byte takes `q`, or the start, to `t = δ(q, x[i])`. If
//!   `E[i + 1]` has `t`, the token goes on, in state `t`. Else it ends with this byte, and munch is
//!   idle.
//!
//! *This is maximal munch.* Claim: a token is pending before byte `i` exactly if the longest match
//! at its first byte is longer than what was read of it; `q` is then the state that this leads to,
//! and in `E[i]`. From idle, there is a match at `i` exactly if `E[i]` has the start. While `t` is
//! in `E[i + 1]`, a longer match exists. Where it is not, none does; as `q` was in `E[i]`, `t`
//! accepts, and what was read is the longest match, of the kind that `t` accepts. ∎
//!
//! A byte's effect on each state follows from its class and `E[i + 1]`. Pairs that do the same are
//! one *symbol*. The oracle writes a symbol for each byte, and munch reads nothing else: it looks
//! no byte ahead. Both are minimised. In a state whose token does not go on, a byte that goes on
//! with it does what it does when idle: munch is never there. Symbols that differ only where munch
//! never is are one, too ([`super::possible`]).

use std::collections::HashMap;

use super::LexerError;
use super::dfa::{State, TokenDfa};
use super::label::Codes;
use super::possible;
use super::transducer::Transducer;

/// The most entries of an oracle: its states times classes of bytes times states of the rules' automaton.
pub const MAX_ORACLE_CELLS: usize = 1 << 23;

/// Rules as two scans.
pub(super) struct Oracle {
    /// Reads classes of bytes from the end, gives symbols.
    pub(super) oracle: Transducer,
    /// Reads symbols from the beginning, gives labels.
    pub(super) munch: Transducer,
}

impl Oracle {
    /// Of a DFA that never enters its start.
    pub(super) fn of(dfa: &TokenDfa, codes: Codes) -> Result<Oracle, LexerError> {
        Ok(Oracle::with_all_symbols(dfa, codes)?.merged())
    }

    /// The same, of symbols that are all told apart.
    pub(super) fn with_all_symbols(dfa: &TokenDfa, codes: Codes) -> Result<Oracle, LexerError> {
        let sets = Sets::of(dfa)?;
        let (munch, symbol_of) = sets.munch(dfa, codes)?;
        let (munch, merged) = munch.minimised().merged();
        let cells = || (0..dfa.classes).flat_map(|class| (0..sets.found.len()).map(move |behind| (class, behind)));
        let place = |(class, behind)| behind * dfa.classes + class;
        let oracle = Transducer {
            states: sets.found.len(),
            symbols: dfa.classes,
            next: cells().map(|cell| sets.before[place(cell)]).collect(),
            output: cells().map(|cell| merged[usize::from(symbol_of[place(cell)])] as u16).collect(),
        };
        Ok(Oracle { oracle: oracle.minimised(), munch })
    }

    /// The same with fewer symbols.
    pub(super) fn merged(&self) -> Oracle {
        let (munch, merged) = possible::merge_symbols(&self.oracle, &self.munch);
        let output = self.oracle.output.iter().map(|&symbol| merged[usize::from(symbol)] as u16).collect();
        Oracle { oracle: Transducer { output, ..self.oracle.clone() }.minimised(), munch }
    }
}

/// A set of states.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Set(Box<[u64]>);

impl Set {
    fn of(states: impl Iterator<Item = State>, count: usize) -> Set {
        let mut bits = vec![0; count.div_ceil(64)];
        states.for_each(|state| bits[state.index() / 64] |= 1 << (state.index() % 64));
        Set(bits.into())
    }

    fn has(&self, state: State) -> bool {
        self.0[state.index() / 64] >> (state.index() % 64) & 1 == 1
    }
}

/// The sets `E` that arise; that behind the end is the first.
struct Sets {
    found: Vec<Set>,
    /// The set before a byte of class `c` that set `e` follows, at `e * classes + c`.
    before: Vec<u16>,
}

impl Sets {
    fn of(dfa: &TokenDfa) -> Result<Sets, LexerError> {
        let states = dfa.states().count();
        let empty = Set::of([].into_iter(), states);
        let mut number = HashMap::from([(empty.clone(), 0)]);
        let mut sets = Sets { found: vec![empty], before: Vec::new() };
        let mut at = 0;
        while at < sets.found.len() {
            for class in 0..dfa.classes {
                let behind = &sets.found[at];
                let leads_on = |&q: &State| {
                    let to = dfa.next(q, class);
                    dfa.accept(to).is_some() || behind.has(to)
                };
                let set = Set::of(dfa.states().filter(leads_on), states);
                let known = number.len();
                let place = *number.entry(set.clone()).or_insert(known as u16);
                if usize::from(place) == known {
                    if (known + 1) * dfa.classes * states > MAX_ORACLE_CELLS || known == usize::from(u16::MAX) {
                        return Err(LexerError::OracleTooLarge);
                    }
                    sets.found.push(set);
                }
                sets.before.push(place);
            }
            at += 1;
        }
        Ok(sets)
    }

    /// Munch over the states of the DFA, idle where that is dead; and for each pair of a class and a set behind, at
    /// `set * classes + class`, its symbol.
    fn munch(&self, dfa: &TokenDfa, codes: Codes) -> Result<(Transducer, Vec<u16>), LexerError> {
        let mut number: HashMap<Vec<(u16, u16)>, u16> = HashMap::new();
        let (mut symbol_of, mut rows) = (Vec::new(), Vec::new());
        for (place, &before) in self.before.iter().enumerate() {
            let (class, before) = (place % dfa.classes, &self.found[usize::from(before)]);
            let behind = &self.found[place / dfa.classes];
            let step = |q: State| {
                let from = if before.has(q) { q } else { TokenDfa::START };
                if !before.has(from) {
                    return (TokenDfa::DEAD.index() as u16, codes.ended(None));
                }
                let to = dfa.next(from, class);
                if behind.has(to) {
                    (to.index() as u16, codes.goes_on(dfa.accept(to)))
                } else {
                    (TokenDfa::DEAD.index() as u16, codes.ended(dfa.accept(to)))
                }
            };
            let row: Vec<(u16, u16)> = dfa.states().map(step).collect();
            let known = u16::try_from(number.len()).map_err(|_| LexerError::OracleTooLarge)?;
            let symbol = *number.entry(row).or_insert_with_key(|row| {
                rows.extend_from_slice(row);
                known
            });
            symbol_of.push(symbol);
        }
        let (next, output) = rows.into_iter().unzip();
        Ok((Transducer { states: dfa.states().count(), symbols: number.len(), next, output }, symbol_of))
    }
}
