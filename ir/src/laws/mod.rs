//! Laws: whether a stage's operator is what a scan needs.
//!
//! A scan may regroup its work only because `combine` is associative, may start anywhere only
//! because `identity` changes nothing, and may rely on `valid` only because valid states combine to
//! valid ones. Where a stage says which states may meet (`follows`), laws are asked of such
//! sequences only, and `follows` must agree with `combine` (`neighbours`). [`judge`] decides these
//! laws before anything is compiled. It proves them where
//! it can, else searches for a case that breaks them:
//!
//! 1. independent components are told apart (`group`) and proved one group at a time: by exhaustion
//!    (`exhaustive`) where there are few states, by construction (`construct`) where maps are
//!    composed, symbolically (`symbolic`) where both sides have one normal form. Normal forms are
//!    polynomials (`polynomial`) over the integers modulo 2^k or the reals, boolean polynomials bit
//!    by bit, and minima and maxima (`tropical`) of sums. A `select` is proved by cases. Terms too
//!    large to expand are evaluated at random points (`fingerprint`). Integers that `valid` puts in
//!    order may compose functions of a number (`functions`), which linear arithmetic decides, to
//!    the ends of the types (`linear`);
//! 2. what is left is searched (`search`) on states that can occur (`states`), a large operator on
//!    its `faces` too, in a fixed order, so that the verdict is the same every time.
//!
//! Which states can occur: those that `valid` accepts; without it, those that lift can lead to; all
//! of them, if lift only copies the record. Components that `valid` says nothing of, and that
//! `combine` does not mix with others, are judged apart (`apart`).
//!
//! Floats are judged over the reals, −0 counts as +0 and any NaN as any other. Infinities and NaN
//! are tried where the operator names them, or does nothing but order and move floats. Integers
//! wrap. Where that is not meant ([`Overflow`]), no case refutes a law in which native Rust would
//! panic. Where sums or products are mixed with comparisons, laws are judged where nothing
//! overflows, which is then a [`Condition`] of the verdict.

mod advice;
mod apart;
mod arithmetic;
mod condition;
mod constants;
pub(crate) mod construct;
pub(crate) mod elements;
mod exhaustive;
mod faces;
mod fingerprint;
mod functions;
mod group;
mod judging;
mod kept;
pub(crate) mod linear;
mod logic;
mod machine;
mod neighbours;
mod polynomial;
mod search;
mod states;
mod symbolic;
pub(crate) mod traits;
mod tropical;
mod values;
mod verdict;
mod words;

use crate::program::{Stage, Table};
use crate::types::Constant;
use machine::Word;
use states::{Random, Sampler, Specials};

pub use advice::Advice;
pub use condition::Condition;
pub use condition::broken_by_overflow;
pub use elements::Means;
pub use verdict::{Counterexample, Judgement, Law, Proof, Unjudged, Verdict};
pub use words::Words;

/// How the source of a stage takes integer overflow, where its instructions do not say that they are
/// [meant to wrap](crate::Payload::Wraps).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Overflow {
    /// It is meant everywhere, as in `wrapping_add`: laws must hold of the wrapped numbers.
    Wraps,
    /// It does not occur, because the source would have panicked: laws are judged on the cases without it, and may hold
    /// under a [`Condition`].
    #[default]
    NeverOccurs,
}

/// Judges the laws of a stage of a verified program. Takes less than 1 ms for operators of some ten
/// instructions, and some 5 ms for thousands, as a product of 4 × 4 matrices of logarithms has. Cases
/// of linear arithmetic take some microseconds each, and an operator has up to some hundreds.
///
/// ```
/// use monoscan_ir::laws::{judge, Overflow, Verdict};
/// use monoscan_ir::{FunctionBuilder, Mapping, Opcode, Source, Stage, Type};
/// let stage = |opcode| {
///     let mut b = FunctionBuilder::new();
///     let (x, y) = (b.param(Type::I32), b.param(Type::I32));
///     let result = b.binary(opcode, x, y);
///     let mut lift = FunctionBuilder::new();
///     let record = lift.param(Type::I32);
///     Stage {
///         state: vec![Type::I32],
///         identity: vec![Type::I32.zero()],
///         lift: Mapping { reads: vec![Source::Record(0)], function: lift.finish(&[record]) },
///         combine: b.finish(&[result]),
///         ..Stage::default()
///     }
/// };
/// assert!(judge(&stage(Opcode::Add), &[], Overflow::NeverOccurs).verdict().is_proved());
/// assert!(matches!(judge(&stage(Opcode::Sub), &[], Overflow::NeverOccurs).verdict(), Verdict::Refuted(_)));
/// ```
pub fn judge(stage: &Stage, tables: &[Table], overflow: Overflow) -> Judgement {
    if overflow == Overflow::Wraps {
        let mut stage = stage.clone();
        stage.functions_mut().for_each(|function| *function = std::mem::take(function).wrapping());
        return judge(&stage, tables, Overflow::NeverOccurs);
    }
    if let Some(parts) = apart::parts(stage) {
        let judgements = [0, 1].map(|which| judge(&parts[which].stage, tables, overflow));
        return apart::joined(stage, &parts, judgements);
    }
    judging::judged(stage, tables)
}

/// States of a stage of a verified program that are valid and can occur: the identity first, then small ones; fewer
/// than `count` where there are not as many, or they are hard to find. The same for the same `seed`.
pub fn sample_states(stage: &Stage, tables: &[Table], count: usize, seed: u64) -> Vec<Vec<Constant>> {
    if let Some(parts) = apart::parts(stage) {
        let states = [0, 1].map(|which| sample_states(&parts[which].stage, tables, count, seed));
        return apart::states_of_both(stage, &parts, states);
    }
    let specials: Specials = vec![Vec::new(); stage.state.len()];
    let mut sampler = Sampler::new(stage, tables, &specials);
    let states = sampler.pool(count, 4 * count + 64, &mut Random::new(seed));
    states.iter().map(|state| constants(stage, state)).collect()
}

fn constants(stage: &Stage, state: &[Word]) -> Vec<Constant> {
    state.iter().zip(&stage.state).map(|(word, &ty)| word.constant(ty)).collect()
}
