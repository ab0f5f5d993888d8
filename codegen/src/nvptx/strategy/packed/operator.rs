//! How four states to a word are put together.
//!
//! Eight states become four by taking the earlier ones of neighbours out of two words, the later
//! ones too, and combining both. Within a word states are scanned in two steps (Hillis and Steele,
//! Data parallel algorithms, 1986), and the state before the word is put in front of all four.
//! [Sums](Operator::Sums) need less.

use std::iter::zip;

use monoscan_ir::facts::Range;
use monoscan_ir::{Constant, Function};

use super::code::Code;
use super::sums::{self, is_sum};
use super::words::{self, Word};
use crate::nvptx::emit::{Builder, Value};

/// The operator of a program.
pub(super) enum Operator {
    /// Each component is a sum.
    Sums,
    /// Any, as code on four lanes.
    Any(Code),
}

impl Operator {
    pub(super) fn new(combine: &Function, identity: &[Constant], ranges: &[Range]) -> Option<Operator> {
        match is_sum(combine, identity) {
            true => Some(Operator::Sums),
            false => Code::new(combine, &ranges.repeat(2)).map(Operator::Any),
        }
    }

    /// About how many instructions it takes to fold four states of so many components.
    pub(super) fn fold_work(&self, components: usize) -> usize {
        match self {
            Operator::Sums => components,
            Operator::Any(code) => 2 * components + code.work(),
        }
    }

    /// About how many instructions it takes to scan four states of so many components.
    pub(super) fn scan_work(&self, components: usize) -> usize {
        match self {
            Operator::Sums => sums::SCAN_WORK * components,
            Operator::Any(code) => 3 * (components + code.work()),
        }
    }

    /// The state before a word, as [`scan`](Operator::scan) takes it.
    pub(super) fn carry<'k>(&self, state: Value<'k>) -> Word<'k> {
        match self {
            Operator::Sums => sums::carry(state),
            Operator::Any(_) => words::splat(state),
        }
    }

    /// The states after each of four records, and the carry behind the last, component by component.
    pub(super) fn scan<'k>(
        &self,
        k: &'k Builder,
        carry: &[Word<'k>],
        states: &[Word<'k>],
        identity: &[Word<'k>],
    ) -> Scanned<'k> {
        let code = match self {
            Operator::Sums => return zip(carry, states).map(|(&carry, &bytes)| sums::scan(carry, bytes)).unzip(),
            Operator::Any(code) => code,
        };
        let combine = |earlier: &[Word<'k>], later: &[Word<'k>]| code.write(k, &[earlier, later].concat());
        let pairs = combine(&words::one_on(states, identity), states);
        let fours = combine(&words::two_on(&pairs, identity), &pairs);
        let after = combine(carry, &fours);
        let last = after.iter().map(|&word| words::last(word)).collect();
        (after, last)
    }
}

/// States after each of four records, and the carry behind the last.
pub(super) type Scanned<'k> = (Vec<Word<'k>>, Vec<Word<'k>>);
