//! Operators whose components read each other across the boundary of two operands: runs, words,
//! sortedness, gaps.
//!
//! Take any monoid, and any function that makes one of its states of two neighbouring values. The
//! product over all elements and over all pairs of neighbours is a scan, if a state has the first
//! and the last value too:
//!
//! ```text
//! (any, first, last, n) ⊕ (any', first', last', n')
//!     = (any ∨ any', any ? first : first', any' ? last' : last, n · pair(last, first') · n')
//! ```
//!
//! where the pair is left out if either side has no values.

use super::Random;
use super::associative::Family;
use monoscan_ir::{Constant, FunctionBuilder, Opcode, Type, Value};

/// An operator of this kind.
pub(super) struct Neighbours {
    value: Type,
    pair: Pair,
    inner: Family,
}

/// The contribution of two neighbours.
enum Pair {
    /// Whether they compare so, as a number or a flag.
    Compare(Opcode),
    /// The difference of two integers.
    Gap,
    /// Both are set: then a count has one less. It needs no look at `any`, since values that are not there are not set.
    Joined,
}

impl Neighbours {
    pub(super) fn random(rng: &mut Random, inner: Family) -> Neighbours {
        let value = if rng.chance(2) { Type::Bool } else { rng.int_ty() };
        if value == Type::Bool && rng.chance(2) {
            let inner = Family::Opcode(Opcode::Add, rng.int_ty().zero());
            return Neighbours { value, pair: Pair::Joined, inner };
        }
        let compare = [Opcode::Eq, Opcode::Ne, Opcode::Lt, Opcode::Le, Opcode::Gt, Opcode::Ge];
        let pair = if value.is_int() && rng.chance(2) { Pair::Gap } else { Pair::Compare(*rng.pick(&compare)) };
        Neighbours { value, pair, inner }
    }

    pub(super) fn identity(&self) -> Vec<Constant> {
        [vec![Constant::from(false), self.value.zero(), self.value.zero()], self.inner.identity()].concat()
    }

    pub(super) fn combine(&self, b: &mut FunctionBuilder, earlier: &[Value], later: &[Value]) -> Vec<Value> {
        let any = b.binary(Opcode::Or, earlier[0], later[0]);
        let first = b.select(earlier[0], earlier[1], later[1]);
        let last = b.select(later[0], later[2], earlier[2]);
        let (before, after) = (&earlier[3..], &later[3..]);
        let product = match self.pair {
            Pair::Joined => {
                let joined = b.binary(Opcode::And, earlier[2], later[1]);
                let all = b.binary(Opcode::Add, before[0], after[0]);
                let one = b.cast(b.type_of(all), joined);
                vec![b.binary(Opcode::Sub, all, one)]
            }
            _ => {
                let both = b.binary(Opcode::And, earlier[0], later[0]);
                let pair = self.pair(b, earlier[2], later[1]);
                let identity = self.inner.identity();
                let pair: Vec<Value> = pair
                    .into_iter()
                    .zip(identity)
                    .map(|(pair, identity)| {
                        let identity = b.constant(identity);
                        b.select(both, pair, identity)
                    })
                    .collect();
                let before = self.inner.combine(b, before, &pair);
                self.inner.combine(b, &before, after)
            }
        };
        [vec![any, first, last], product].concat()
    }

    /// The contribution of these two, as a state of the inner monoid.
    fn pair(&self, b: &mut FunctionBuilder, last: Value, first: Value) -> Vec<Value> {
        let made = match self.pair {
            Pair::Compare(opcode) => b.binary(opcode, last, first),
            Pair::Gap => b.binary(Opcode::Sub, first, last),
            Pair::Joined => b.binary(Opcode::And, last, first),
        };
        let types = self.inner.types();
        let state: Vec<Value> = types.iter().map(|&ty| convert(b, ty, made)).collect();
        self.inner.normalise(b, &state)
    }

    pub(super) fn normalise(&self, b: &mut FunctionBuilder, state: &[Value]) -> Vec<Value> {
        let inner = self.inner.normalise(b, &state[3..]);
        let state = [&state[..3], &inner].concat();
        let mut select = |(&value, identity): (&Value, Constant)| {
            let identity = b.constant(identity);
            b.select(state[0], value, identity)
        };
        [vec![state[0]], state.iter().zip(self.identity()).skip(1).map(&mut select).collect()].concat()
    }

    pub(super) fn valid(&self, b: &mut FunctionBuilder, state: &[Value]) -> Value {
        let mut nothing = b.constant(Constant::from(true));
        for (&value, identity) in state.iter().zip(self.identity()).skip(1) {
            let identity = b.constant(identity);
            let same = b.binary(Opcode::Eq, value, identity);
            nothing = b.binary(Opcode::And, nothing, same);
        }
        let valid = b.binary(Opcode::Or, state[0], nothing);
        match self.inner.valid(b, &state[3..]) {
            Some(inner) => b.binary(Opcode::And, valid, inner),
            None => valid,
        }
    }
}

/// A value as another scalar type; as a flag, whether it is not zero.
pub(super) fn convert(b: &mut FunctionBuilder, to: Type, value: Value) -> Value {
    let from = b.type_of(value);
    match to {
        Type::Bool if from != Type::Bool => {
            let zero = b.constant(from.zero());
            b.binary(Opcode::Ne, value, zero)
        }
        _ if from == to => value,
        _ => b.cast(to, value),
    }
}
