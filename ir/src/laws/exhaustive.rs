//! Every case, where there are few: all states, or all that lift can lead to.

use std::collections::HashMap;

use super::group::Group;
use super::machine::{Machine, Word};
use super::verdict::Proof;
use crate::program::Table;
use crate::types::{Constant, Type};

/// Most states whose triples are all tried.
pub(crate) const MAX_STATES: usize = 64;

/// Most states that are asked whether they are valid, for those that are to be tried.
pub(crate) const MAX_CANDIDATES: usize = 1024;

/// All states of these types, if they are at most so many.
pub(crate) fn all_states(types: &[Type], most: usize) -> Option<Vec<Vec<Word>>> {
    let bits: u32 = types.iter().map(|ty| ty.bits()).sum();
    if types.iter().any(|ty| ty.is_float()) || 1 << bits.min(31) > most {
        return None;
    }
    let state = |number: u128| {
        let mut rest = number;
        let component = |ty: &Type| {
            let constant = Constant::new(*ty, rest);
            rest >>= ty.bits();
            Word::of(constant)
        };
        types.iter().map(component).collect()
    };
    Some((0..1u128 << bits).map(state).collect())
}

/// Proofs of associativity and identity by trying every state of a group.
pub(super) fn prove(group: &Group, tables: &[Table]) -> (Option<Proof>, Option<Proof>) {
    let Some(states) = all_states(&group.types, MAX_STATES) else { return (None, None) };
    let table = CombineTable::of(states, &mut Machine::new(&group.combine, tables));
    let identity: Vec<Word> = group.identity.iter().map(|&constant| Word::of(constant)).collect();
    let proof = Proof::Exhaustion { states: table.states.len(), lifted: false };
    let proved = |holds: bool| holds.then(|| proof.clone());
    (proved(table.is_associative()), proved(table.has_identity(&identity)))
}

/// The results of `combine` on a finite set of states.
pub(crate) struct CombineTable {
    pub(crate) states: Vec<Vec<Word>>,
    /// The number of state i · state j at `i * states.len() + j`; none where that is no state of the set.
    products: Vec<Option<u8>>,
}

impl CombineTable {
    /// Computes all products.
    pub(crate) fn of(states: Vec<Vec<Word>>, combine: &mut Machine<'_>) -> CombineTable {
        let numbers = number(&states);
        let mut products = Vec::with_capacity(states.len() * states.len());
        let mut result = Vec::new();
        for x in &states {
            for y in &states {
                combine.run(&[x, y], &mut result);
                products.push(numbers.get(&key(&result)).copied());
            }
        }
        CombineTable { states, products }
    }

    /// The set grown by products until it is closed, if it stays small.
    pub(crate) fn closure(generators: Vec<Vec<Word>>, combine: &mut Machine<'_>) -> Option<CombineTable> {
        let mut states = generators;
        states.sort_by_key(|state| key(state));
        states.dedup_by_key(|state| key(state));
        let mut numbers = number(&states);
        let (mut result, mut done) = (Vec::new(), 0);
        while done < states.len() {
            for other in 0..=done {
                for (i, j) in [(done, other), (other, done)] {
                    combine.run(&[&states[i], &states[j]], &mut result);
                    let next = states.len();
                    if let std::collections::hash_map::Entry::Vacant(entry) = numbers.entry(key(&result)) {
                        if next == MAX_STATES {
                            return None;
                        }
                        entry.insert(next as u8);
                        states.push(result.clone());
                    }
                }
            }
            done += 1;
        }
        Some(CombineTable::of(states, combine))
    }

    fn product(&self, i: usize, j: usize) -> Option<usize> {
        self.products[i * self.states.len() + j].map(usize::from)
    }

    /// Whether no product leaves the set.
    pub(crate) fn is_closed(&self) -> bool {
        self.products.iter().all(Option::is_some)
    }

    /// Whether all triples associate.
    pub(crate) fn is_associative(&self) -> bool {
        let all = 0..self.states.len();
        self.is_closed()
            && all.clone().all(|i| {
                all.clone().all(|j| {
                    let ij = self.product(i, j).unwrap_or(0);
                    all.clone().all(|k| self.product(ij, k) == self.product(i, self.product(j, k).unwrap_or(0)))
                })
            })
    }

    /// Whether this state is in the set and changes none of it.
    pub(crate) fn has_identity(&self, identity: &[Word]) -> bool {
        let is_identity =
            |e: usize| (0..self.states.len()).all(|i| self.product(e, i) == Some(i) && self.product(i, e) == Some(i));
        self.states.iter().position(|state| key(state) == key(identity)).is_some_and(is_identity)
    }
}

fn number(states: &[Vec<Word>]) -> HashMap<Vec<i128>, u8> {
    states.iter().enumerate().map(|(i, state)| (key(state), i as u8)).collect()
}

fn key(state: &[Word]) -> Vec<i128> {
    state.iter().map(|word| word.int).collect()
}
