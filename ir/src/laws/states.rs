//! Which states laws are judged on, and how they are found.
//!
//! With `valid`, on the valid ones. Without it, and with a lift that does more than copy the
//! record, on the states that lift can lead to: what it makes of a record, the identity, and their
//! products. Else on all states. Small values come first, because counterexamples made of them are
//! easy to read; then the ends of the types, powers of two, fractions and noise. Narrow sets are
//! filled by closure: what valid states combine to is valid, or a counterexample.

use super::constants::Named;
use super::machine::{Machine, Word};
use super::neighbours::Neighbours;
pub(crate) use super::values::Specials;
use super::values::{any, ends, named, small, small_count};
use crate::program::{Mapping, Source, Stage, Table};
use crate::random::SplitMix64;
use crate::types::{Constant, Type};

/// Random numbers that are the same every time, as are states and verdicts.
pub(crate) struct Random(SplitMix64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(SplitMix64(seed))
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0.next()
    }

    pub(crate) fn below(&mut self, count: usize) -> usize {
        ((self.bits() as u128 * count as u128) >> 64) as usize
    }
}

/// The states that laws are judged on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Carrier {
    All,
    Valid,
    Lifted,
}

impl Carrier {
    pub(crate) fn of(stage: &Stage) -> Carrier {
        match () {
            () if stage.valid.is_some() => Carrier::Valid,
            () if copies(&stage.lift) => Carrier::All,
            () => Carrier::Lifted,
        }
    }
}

/// Whether lift copies components of the record, each at most once, so that every state can occur.
fn copies(lift: &Mapping) -> bool {
    let mut seen = vec![false; lift.function.params.len()];
    lift.function.results.iter().all(|result| {
        let record = matches!(lift.reads.get(result.index()), Some(Source::Record(_) | Source::Next(_)));
        let place = seen.get_mut(result.index());
        record && place.is_some_and(|seen| !std::mem::replace(seen, true))
    })
}

fn is_number(ty: Type) -> bool {
    ty != Type::Bool && !ty.is_vector()
}

/// A number of this type as far from another as a constant of some, or 0 or 1.
fn beside(ty: Type, from: Constant, constants: &[Constant], random: &mut Random) -> Constant {
    let step = named(constants, random).unwrap_or_else(|| small(ty, &[], random.below(2)));
    match ty {
        Type::F32 => Constant::from((from.as_f64() + step.as_f64()) as f32),
        Type::F64 => Constant::from(from.as_f64() + step.as_f64()),
        _ => Constant::new(ty, (from.as_int() + step.as_int()) as u128),
    }
}

/// So many small states come before the first that hold constants of the stage, and as many of these follow.
const FEW: usize = 4;

/// Finds states of a stage's carrier.
pub(crate) struct Sampler<'a> {
    stage: &'a Stage,
    pub(crate) carrier: Carrier,
    specials: &'a Specials,
    lift: Machine<'a>,
    valid: Option<Machine<'a>>,
    combine: Machine<'a>,
    neighbours: Neighbours<'a>,
    lift_specials: Vec<f64>,
    /// For each component, and for each part of a record, values around the constants that the stage names.
    named: Vec<Vec<Constant>>,
    named_record: Vec<Vec<Constant>>,
}

impl<'a> Sampler<'a> {
    pub(crate) fn new(stage: &'a Stage, tables: &'a [Table], specials: &'a Specials) -> Sampler<'a> {
        let lift = &stage.lift.function;
        // NaN in a record is tried where lift copies the number.
        let moves = lift.insts.iter().all(|inst| !inst.ty.is_float() || inst.opcode == crate::Opcode::Const);
        let mut lift_specials = if moves { specials.concat() } else { Vec::new() };
        lift_specials.sort_by(f64::total_cmp);
        lift_specials.dedup_by(|a, b| a.to_bits() == b.to_bits());
        let named = Named::of(stage);
        let values = |types: &[Type]| types.iter().map(|&ty| named.values(ty)).collect();
        Sampler {
            named: values(&stage.state),
            named_record: values(&lift.params),
            stage,
            carrier: Carrier::of(stage),
            specials,
            lift: Machine::new(lift, tables),
            valid: stage.valid.as_ref().map(|valid| Machine::new(valid, tables)),
            combine: Machine::new(&stage.combine, tables),
            neighbours: Neighbours::of(stage, tables),
            lift_specials,
        }
    }

    /// Whether a state is valid; one on which `valid` panics natively is not.
    pub(crate) fn is_valid(&mut self, state: &[Word]) -> bool {
        let mut result = Vec::new();
        self.valid.as_mut().is_none_or(|valid| {
            valid.run(&[state], &mut result);
            result.first().is_some_and(|word| word.int != 0 && !word.is_tainted())
        })
    }

    /// The state as it would be stored: rounded to its types, no longer with an error.
    fn store(&self, words: &[Word]) -> Vec<Word> {
        words.iter().zip(&self.stage.state).map(|(word, &ty)| Word::of(word.constant(ty))).collect()
    }

    /// The lifted state of a random record, if it does not panic natively; the n-th record is made of small values if n is
    /// small.
    pub(crate) fn lifted(&mut self, n: usize, random: &mut Random) -> Option<Vec<Word>> {
        let params = &self.stage.lift.function.params;
        let record = params.iter().enumerate().map(|(i, &ty)| {
            let part = if params.len() == 1 { n } else { (n / (i + 1)).saturating_add(random.below(2)) };
            Word::of(match named(&self.named_record[i], random).filter(|_| n >= 24) {
                Some(constant) => constant,
                None if n < 24 => small(ty, &self.lift_specials, part),
                None => any(ty, &self.lift_specials, random),
            })
        });
        let record: Vec<Word> = record.collect();
        let mut result = Vec::new();
        self.lift.run(&[&record], &mut result);
        (!result.iter().any(Word::is_tainted)).then(|| self.store(&result))
    }

    /// A state that may occur, out of nothing.
    pub(crate) fn draw(&mut self, random: &mut Random) -> Option<Vec<Word>> {
        if self.carrier == Carrier::Lifted {
            return self.lifted(usize::MAX, random);
        }
        let small_only = random.below(2) == 0;
        if self.named.iter().any(|named| !named.is_empty()) && random.below(2) == 0 {
            let component = |((&ty, specials), values): ((&Type, &Vec<f64>), &Vec<Constant>)| {
                Word::of(named(values, random).unwrap_or_else(|| {
                    let i = random.below(small_count(ty, specials));
                    small(ty, specials, i)
                }))
            };
            let state: Vec<Word> = self.stage.state.iter().zip(self.specials).zip(&self.named).map(component).collect();
            return self.is_valid(&state).then_some(state);
        }
        let component = |(&ty, specials): (&Type, &Vec<f64>)| {
            let i = random.below(small_count(ty, specials));
            Word::of(if small_only { small(ty, specials, i) } else { any(ty, specials, random) })
        };
        let state: Vec<Word> = self.stage.state.iter().zip(self.specials).map(component).collect();
        self.is_valid(&state).then_some(state)
    }

    /// A state with some numbers of one type as far from one of another state as a constant that the stage names, or 0 or 1;
    /// it need not be valid. Where lift alone makes states, it is lifted from a record with such numbers.
    pub(crate) fn near(&mut self, state: &[Word], other: &[Word], random: &mut Random) -> Vec<Word> {
        if self.carrier == Carrier::Lifted {
            return self.lifted_near(other, random).unwrap_or_else(|| state.to_vec());
        }
        let component = random.below(state.len());
        let ty = self.stage.state[component];
        if !is_number(ty) {
            return state.to_vec();
        }
        let value = beside(ty, other[component].constant(ty), &self.named[component], random);
        let types = self.stage.state.iter();
        let parts = state.iter().zip(types);
        parts.map(|(&own, &of)| if of == ty && random.below(4) != 0 { Word::of(value) } else { own }).collect()
    }

    /// The lifted state of a random record, most of whose numbers lie beside some of another state, if it does not panic natively.
    fn lifted_near(&mut self, other: &[Word], random: &mut Random) -> Option<Vec<Word>> {
        let types = &self.stage.state;
        let part = |(&ty, named): (&Type, &Vec<Constant>)| {
            let is_alike = |&place: &usize| is_number(types[place]) && types[place].is_float() == ty.is_float();
            let alike: Vec<usize> = (0..types.len()).filter(is_alike).collect();
            Word::of(match alike.len() {
                1.. if is_number(ty) && random.below(4) != 0 => {
                    let place = alike[random.below(alike.len())];
                    beside(ty, other[place].constant(types[place]), named, random)
                }
                _ => any(ty, &self.lift_specials, random),
            })
        };
        let record: Vec<Word> = self.stage.lift.function.params.iter().zip(&self.named_record).map(part).collect();
        let mut result = Vec::new();
        self.lift.run(&[&record], &mut result);
        (!result.iter().any(Word::is_tainted)).then(|| self.store(&result))
    }

    /// Up to `want` different states, the identity first, then small ones; `tries` bounds the work.
    pub(crate) fn pool(&mut self, want: usize, tries: usize, random: &mut Random) -> Vec<Vec<Word>> {
        let identity: Vec<Word> = self.stage.identity.iter().map(|&constant| Word::of(constant)).collect();
        let mut pool = Pool { states: Vec::new(), seen: Default::default(), want };
        if self.is_valid(&identity) {
            pool.add(identity);
        }
        for i in 0..tries {
            if i == FEW {
                self.named_states(FEW).into_iter().for_each(|state| pool.add(state));
            }
            if pool.states.len() >= want * 3 / 4 {
                break;
            }
            let state = match self.carrier {
                Carrier::Lifted => self.lifted(i, random),
                _ => self.grid(i, random),
            };
            pool.extend(state);
        }
        // Products of what was found reach states that neither records nor grids do.
        for _ in 0..tries.min(2 * want) {
            if pool.states.is_empty() || pool.states.len() >= want {
                break;
            }
            let (i, j) = (random.below(pool.states.len()), random.below(pool.states.len()));
            let meet = self.neighbours.meet(&pool.states[i], &pool.states[j]);
            if self.carrier == Carrier::All || !meet {
                continue;
            }
            let mut product = Vec::new();
            let uncertain = self.combine.run(&[&pool.states[i], &pool.states[j]], &mut product);
            let overflowed = product.iter().any(Word::is_tainted);
            let product = self.store(&product);
            let dull = overflowed || uncertain || product.iter().any(|word| word.real.is_nan());
            if !dull && self.is_valid(&product) {
                pool.add(product);
            }
        }
        for _ in 0..tries {
            if pool.states.len() >= want {
                break;
            }
            let state = self.draw(random);
            pool.extend(state);
        }
        pool.states
    }

    /// Valid states that have the value of a constant in one component, and the identity's or 1 in the others; at most
    /// `most`.
    pub(crate) fn named_states(&mut self, most: usize) -> Vec<Vec<Word>> {
        if self.carrier == Carrier::Lifted {
            return Vec::new();
        }
        let identity: Vec<Word> = self.stage.identity.iter().map(|&constant| Word::of(constant)).collect();
        let ones: Vec<Word> = self.stage.state.iter().map(|&ty| Word::of(small(ty, &[], 1))).collect();
        let mut states = Vec::new();
        for (component, values) in self.named.clone().iter().enumerate() {
            for &value in values {
                for base in [&identity, &ones] {
                    let mut state = base.clone();
                    state[component] = Word::of(value);
                    if states.len() < most && self.is_valid(&state) {
                        states.push(state);
                    }
                }
            }
        }
        states
    }

    /// Valid states whose every component is, by the toss of a coin, a constant that the stage names or a small number; at
    /// most `most`. Where a constant stands for something special, it meets ordinary numbers there in every component of
    /// a product, however many there are.
    pub(crate) fn mixed_states(&mut self, most: usize, random: &mut Random) -> Vec<Vec<Word>> {
        let mut states: Vec<Vec<Word>> = Vec::new();
        if self.carrier == Carrier::Lifted {
            return states;
        }
        // By turns what the identity holds in any place, what is next to a constant, and the ends of the type.
        let of_type =
            |ty: Type| self.stage.identity.iter().copied().filter(move |constant| constant.ty() == ty).collect();
        let components = self.stage.state.iter().zip(&self.named);
        let special: Vec<[Vec<Constant>; 3]> =
            components.map(|(&ty, named)| [of_type(ty), named.clone(), ends(ty)]).collect();
        for round in 0..4 * most {
            if states.len() >= most {
                break;
            }
            let component = |(&ty, special): (&Type, &[Vec<Constant>; 3])| {
                let special = &special[round % 3];
                let is_small = special.is_empty() || random.below(2) == 0;
                Word::of(match is_small {
                    true => small(ty, &[], random.below(2)),
                    false => special[random.below(special.len())],
                })
            };
            let state: Vec<Word> = self.stage.state.iter().zip(&special).map(component).collect();
            if self.is_valid(&state) {
                states.push(state);
            }
        }
        states
    }

    /// A state of small values: the i-th where there are few, else one at random.
    fn grid(&mut self, i: usize, random: &mut Random) -> Option<Vec<Word>> {
        let counts: Vec<usize> =
            self.stage.state.iter().zip(self.specials).map(|(&ty, specials)| small_count(ty, specials)).collect();
        let size = counts.iter().try_fold(1usize, |size, &count| size.checked_mul(count).filter(|&s| s <= 48));
        let mut rest = i;
        let components = self.stage.state.iter().zip(self.specials).zip(&counts);
        let state: Vec<Word> = components
            .map(|((&ty, specials), &count)| {
                let digit = if size.is_some() {
                    rest % count
                } else {
                    // Of the small values, the smallest most often.
                    let limit = 1 + random.below(count);
                    random.below(limit)
                };
                rest /= count;
                Word::of(small(ty, specials, digit))
            })
            .collect();
        self.is_valid(&state).then_some(state)
    }
}

struct Pool {
    states: Vec<Vec<Word>>,
    seen: std::collections::HashSet<Vec<(i128, u64)>>,
    want: usize,
}

impl Pool {
    fn add(&mut self, state: Vec<Word>) {
        let key = state.iter().map(|word| (word.int, word.real.to_bits())).collect();
        if self.states.len() < self.want && self.seen.insert(key) {
            self.states.push(state);
        }
    }

    fn extend(&mut self, state: Option<Vec<Word>>) {
        if let Some(state) = state {
            self.add(state);
        }
    }
}
