//! Transducers: automata that give an output for each symbol they read, from the state before it
//! (Mealy machines).

use super::minimal::{equivalent, number_by_value};

/// An automaton with an output for each symbol. State 0 is the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Transducer {
    pub(super) states: usize,
    pub(super) symbols: usize,
    /// Where symbol `s` leads state `q`, at `s * states + q`.
    pub(super) next: Vec<u16>,
    /// And what it gives there.
    pub(super) output: Vec<u16>,
}

impl Transducer {
    /// The smallest one that does the same; states that are never reached are left out.
    pub(super) fn minimised(&self) -> Transducer {
        let reached = self.reached();
        let own = |&q: &usize| (0..self.symbols).map(move |s| (s, q));
        let outputs = |q: &usize| own(q).map(|(s, q)| self.output(s, q)).collect::<Vec<_>>();
        let mut place = vec![0; self.states];
        reached.iter().enumerate().for_each(|(i, &q)| place[q] = i);
        let next = |symbol: usize, state: usize| place[self.next(symbol, reached[state])];
        let (block, count) = equivalent(self.symbols, next, number_by_value(reached.iter().map(outputs)));
        let mut members = vec![0; count];
        reached.iter().enumerate().rev().for_each(|(i, &q)| members[block[i]] = q);
        let cells = || (0..self.symbols).flat_map(|s| members.iter().map(move |&q| (s, q)));
        Transducer {
            states: count,
            symbols: self.symbols,
            next: cells().map(|(s, q)| block[place[self.next(s, q)]] as u16).collect(),
            output: cells().map(|(s, q)| self.output(s, q)).collect(),
        }
    }

    /// Symbols that do the same become one; and which one each became.
    pub(super) fn merged(&self) -> (Transducer, Vec<usize>) {
        let row = |s: usize| s * self.states..(s + 1) * self.states;
        let (merged, symbols) = number_by_value((0..self.symbols).map(|s| (&self.next[row(s)], &self.output[row(s)])));
        let mut members = vec![0; symbols];
        (0..self.symbols).rev().for_each(|s| members[merged[s]] = s);
        let rows = |of: &[u16]| members.iter().flat_map(|&s| of[row(s)].to_vec()).collect();
        let small = Transducer { states: self.states, symbols, next: rows(&self.next), output: rows(&self.output) };
        (small, merged)
    }

    pub(super) fn next(&self, symbol: usize, state: usize) -> usize {
        usize::from(self.next[symbol * self.states + state])
    }

    pub(super) fn output(&self, symbol: usize, state: usize) -> u16 {
        self.output[symbol * self.states + state]
    }

    /// The states that a symbol leads to, in order.
    pub(super) fn image(&self, symbol: usize) -> Vec<usize> {
        let mut image: Vec<usize> = (0..self.states).map(|state| self.next(symbol, state)).collect();
        image.sort_unstable();
        image.dedup();
        image
    }

    /// The states that are reached, in the order in which they are met; state 0 first.
    fn reached(&self) -> Vec<usize> {
        let mut is_met = vec![false; self.states];
        is_met[0] = true;
        let mut met = vec![0];
        let mut at = 0;
        while at < met.len() {
            for symbol in 0..self.symbols {
                let to = self.next(symbol, met[at]);
                if !std::mem::replace(&mut is_met[to], true) {
                    met.push(to);
                }
            }
            at += 1;
        }
        met
    }

    /// As engines take it, over classes of bytes if these are given.
    pub(super) fn of_engine(&self, class_of: Option<[u8; 256]>) -> monoscan_runtime::Transducer {
        let Transducer { states, symbols, next, output } = self.clone();
        monoscan_runtime::Transducer { class_of, states, symbols, next, output }
    }

    /// Its outputs for symbols, one after the other.
    pub(super) fn run(&self, symbols: impl Iterator<Item = usize>) -> impl Iterator<Item = u16> {
        let mut state = 0;
        symbols.map(move |symbol| {
            let output = self.output(symbol, state);
            state = self.next(symbol, state);
            output
        })
    }
}
