//! Composition of the [matrices](super::matrix) that vectors go through: their product, without the
//! entries that are 0 or 1 in every one.

use super::matrix::{Matrix, Row, Semiring, absent, normal, normalised, present};
use super::pattern::{Entry, closure};
use super::{Effect, Family, seeded};
use crate::builder::FunctionBuilder;
use crate::derive::code::Code;
use crate::function::{Function, Value};
use crate::opcode::Opcode;
use crate::types::{Constant, Type};

impl Matrix {
    pub(super) fn effect(&self, code: &mut Code<'_>, rows: &[Row]) -> Effect {
        let count = self.count;
        let entry = |value: Option<Value>| match value {
            None => Entry::Zero,
            Some(value) if code.constant_of(value) == Some(self.zero()) => Entry::Zero,
            Some(value) if self.is_one(code, value) => Entry::One,
            Some(_) => Entry::Any,
        };
        let mut pattern: Vec<Vec<Entry>> = rows
            .iter()
            .map(|row| row.factors.iter().map(|&factor| entry(factor)).chain([Entry::Any]).collect())
            .collect();
        pattern.push((0..=count).map(|j| if j == count { Entry::One } else { Entry::Zero }).collect());
        let pattern = closure(pattern);
        // The factors, row by row, then the constants.
        let factors: Vec<(usize, usize)> = (0..count)
            .flat_map(|i| (0..count).map(move |j| (i, j)))
            .filter(|&(i, j)| pattern[i][j] == Entry::Any)
            .collect();
        let mut places = factors.clone();
        places.extend((0..count).map(|i| (i, count)));
        let constant = rows.iter().flat_map(|row| row.factors.iter().flatten()).all(|&f| code.constant_of(f).is_some());
        let lift = places.iter().map(|&(i, j)| {
            let value = if j == count { rows[i].constant } else { rows[i].factors[j] };
            value.unwrap_or_else(|| code.constant(self.zero()))
        });
        let mut lift: Vec<Value> = lift.collect();
        if self.has_absent_integers() {
            lift.iter_mut().for_each(|entry| *entry = normalised(code, *entry, self.is_minimal()));
        }
        let mut identity: Vec<Constant> =
            places.iter().map(|&(i, j)| if i == j { self.one() } else { self.zero() }).collect();
        let mut types = vec![self.wide; places.len()];
        let own = vec![self.ty; count];
        let first = factors.len();
        let reset = self.reset(code, rows);
        if let Some(reset) = reset {
            lift.push(reset);
            identity.push(Constant::from(false));
            types.push(Type::Bool);
        }
        let resets = reset.is_some();
        Effect {
            family: match self.semiring {
                Semiring::Reals => Family::Affine { components: count, constant },
                _ => Family::Tropical { components: count, maxima: self.semiring == Semiring::MaxPlus },
            },
            identity,
            lift,
            combine: self.combine(&pattern, &places, resets),
            seed: seeded(&own, |b, u| {
                let zero = b.constant(self.zero());
                let constants: Vec<Value> = u.iter().map(|&u| b.cast(self.wide, u)).collect();
                let reset = resets.then(|| b.lit(true));
                [vec![zero; first], constants, reset.into_iter().collect()].concat()
            }),
            value: seeded(&types, |b, state| {
                state[first..][..count].iter().map(|&value| b.cast(self.ty, value)).collect()
            }),
            valid: self.valid(&types),
            types,
            tables: Vec::new(),
        }
    }

    /// Entries are numbers, or absent.
    fn valid(&self, types: &[Type]) -> Option<Function> {
        let (opcode, other) = match self.semiring {
            Semiring::Reals => return None,
            Semiring::MaxPlus => (Opcode::Lt, present(self.wide)),
            Semiring::MinPlus => (Opcode::Gt, absent(self.wide)),
        };
        Some(seeded(types, |b, state| {
            let other = b.constant(other);
            let all: Vec<Value> = state.iter().map(|&entry| b.binary(opcode, entry, other)).collect();
            vec![all.into_iter().reduce(|a, c| b.binary(Opcode::And, a, c)).expect("there is an entry")]
        }))
    }

    /// Where all components forget what was before, if elements may do that: 0 · NaN does not. Integers have no NaN.
    fn reset(&self, code: &Code<'_>, rows: &[Row]) -> Option<Value> {
        let reset = rows.first()?.reset;
        let is_shared = rows.iter().all(|row| row.reset == reset) && code.constant_of(reset).is_none();
        (self.semiring == Semiring::Reals && self.ty.is_float() && is_shared).then_some(reset)
    }

    /// The product of matrices whose entries are of this pattern; of a later one that resets, that one.
    fn combine(&self, pattern: &[Vec<Entry>], places: &[(usize, usize)], resets: bool) -> Function {
        let count = self.count;
        let mut b = FunctionBuilder::new();
        let types = [vec![self.wide; places.len()], vec![Type::Bool; usize::from(resets)]].concat();
        let (earlier, later) = (b.params(&types), b.params(&types));
        let place = |i: usize, j: usize| places.iter().position(|&place| place == (i, j));
        let mut results = Vec::new();
        for &(i, j) in places {
            let mut sum: Option<Value> = None;
            for k in 0..count {
                // Later[i][k] · earlier[k][j]
                let (second, first) = (pattern[i][k], pattern[k][j]);
                let term = match (second, first) {
                    (Entry::Zero, _) | (_, Entry::Zero) => continue,
                    (Entry::One, Entry::One) => b.constant(self.one()),
                    (Entry::One, Entry::Any) => earlier[place(k, j).expect("it is a component")],
                    (Entry::Any, Entry::One) => later[place(i, k).expect("it is a component")],
                    (Entry::Any, Entry::Any) => {
                        let (x, y) = (place(i, k).expect("a component"), place(k, j).expect("a component"));
                        b.push(self.times_inst(later[x], earlier[y]))
                    }
                };
                sum = Some(sum.map_or(term, |sum| b.push(self.inst(self.plus_opcode(), &[sum, term]))));
            }
            if j == count {
                let own = later[place(i, j).expect("constants are components")];
                sum = Some(sum.map_or(own, |sum| b.push(self.inst(self.plus_opcode(), &[sum, own]))));
            }
            let sum = sum.expect("an entry that is never absent has terms");
            results.push(if self.has_absent_integers() {
                b.inline(&normal(self.is_minimal()), &[sum])[0]
            } else {
                sum
            });
        }
        if resets {
            let last = places.len();
            results = results.iter().zip(&later).map(|(&product, &own)| b.select(later[last], own, product)).collect();
            results.push(b.binary(Opcode::Or, earlier[last], later[last]));
        }
        b.finish(&results)
    }

    /// Whether sums of what is absent have to be made absent again: those of integers.
    fn has_absent_integers(&self) -> bool {
        self.semiring != Semiring::Reals && !self.wide.is_float()
    }

    fn is_minimal(&self) -> bool {
        self.semiring == Semiring::MinPlus
    }
}
