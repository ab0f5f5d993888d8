//! The search for a case that breaks a law, when no proof was found.
//!
//! First all triples of a few small states, with all their products computed once; then random triples of states and
//! values that arithmetic trips over. A case counts only if it can be judged: results that hang on integer overflow are
//! left out where the operator mixes arithmetic with comparisons (wrap-around is then not what was meant), and so is a
//! float comparison that rounding could turn. A triple that breaks a law is made smaller before it is shown.

use super::machine::{Flags, Machine, Word, agree};
use super::states::{Random, Sampler};
use super::verdict::Law;
use crate::program::{Stage, Table};

/// Instructions that the search may run: it keeps a judgement within two milliseconds.
const BUDGET: usize = 90_000;
/// Most states of which all triples are tried.
const DENSE: usize = 18;

/// What is still to be judged.
pub(crate) struct Question<'a> {
    /// Components whose associativity is not proved.
    pub(crate) associativity: &'a [usize],
    /// Components whose identity law is not proved.
    pub(crate) identity: &'a [usize],
    pub(crate) closure: bool,
    /// Any value of a component's type may stand in a state, as far as `valid` accepts it.
    pub(crate) any_component: bool,
    /// Native integer overflow makes a case void.
    pub(crate) skip_overflow: bool,
    /// NaN may stand in states; the identity law is not judged on it, unless the identity is NaN.
    pub(crate) skip_nan_identity: bool,
}

/// A case that breaks a law.
pub(crate) struct Found {
    pub(crate) law: Law,
    pub(crate) states: Vec<Vec<Word>>,
}

/// How many cases were judged, and the first that breaks each law.
#[derive(Default)]
pub(crate) struct Outcome {
    pub(crate) associativity: (usize, Option<Found>),
    pub(crate) identity: (usize, Option<Found>),
    pub(crate) closure: (usize, Option<Found>),
    /// NaN was left out of the identity law.
    pub(crate) nan_skipped: bool,
    /// States were found to judge laws on.
    pub(crate) states_found: bool,
}

struct Search<'a, 'b> {
    stage: &'a Stage,
    question: &'b Question<'b>,
    combine: Machine<'a>,
    valid: Option<Machine<'a>>,
    spent: usize,
}

pub(crate) fn search(stage: &Stage, tables: &[Table], sampler: &mut Sampler<'_>, question: &Question<'_>) -> Outcome {
    let mut random = Random::new(0x5ca1_ab1e);
    let combine = Machine::new(&stage.combine, tables);
    let valid = stage.valid.as_ref().map(|valid| Machine::new(valid, tables));
    let mut search = Search { stage, question, combine, valid, spent: 0 };
    let cost = search.combine.cost();
    // Two runs a triple and one a pair take half the budget.
    let dense = (2..DENSE).rev().find(|n| (2 * n * n * n + n * n) * cost <= BUDGET / 2).unwrap_or(2);
    let pool = sampler.pool(48, 120, &mut random);
    let mut outcome = Outcome { states_found: !pool.is_empty(), ..Outcome::default() };
    let named = sampler.named_states((BUDGET / 16 / cost).min(96));
    search.identities(&[&pool[..], &named].concat(), &mut outcome);
    search.dense(&pool[..pool.len().min(dense)], &mut outcome);
    search.noise(&pool, sampler, &mut random, &mut outcome);
    search.shrink(&pool, &mut outcome);
    outcome
}

impl Search<'_, '_> {
    /// Whether these components of a result say nothing about the law.
    fn is_void(&self, flags: Flags, result: &[Word], components: &[usize]) -> bool {
        flags.uncertain || (self.question.skip_overflow && components.iter().any(|&i| result[i].tainted))
    }

    fn run(&mut self, a: &[Word], b: &[Word]) -> (Vec<Word>, Flags) {
        self.spent += self.combine.cost();
        let mut result = Vec::with_capacity(self.stage.state.len());
        let flags = self.combine.run(&[a, b], &mut result);
        (result, flags)
    }

    fn agree(&self, a: &[Word], b: &[Word], components: &[usize]) -> bool {
        components.iter().all(|&i| agree(&a[i], &b[i], self.stage.state[i]))
    }

    /// Whether the triple associates; none if that cannot be judged.
    fn associates(&mut self, x: &[Word], y: &[Word], z: &[Word]) -> Option<bool> {
        let (xy, flags) = self.run(x, y);
        let (yz, more) = self.run(y, z);
        self.closes((&xy, flags), (&yz, more), x, z)
    }

    fn closes(&mut self, xy: (&[Word], Flags), yz: (&[Word], Flags), x: &[Word], z: &[Word]) -> Option<bool> {
        let components = self.question.associativity;
        if self.is_void(xy.1, xy.0, components) || self.is_void(yz.1, yz.0, components) {
            return None;
        }
        let (left, flags) = self.run(xy.0, z);
        let (right, more) = self.run(x, yz.0);
        let void = self.is_void(flags, &left, components) || self.is_void(more, &right, components);
        (!void).then(|| self.agree(&left, &right, components))
    }

    /// Whether the identity, put before or after x, leaves it.
    fn keeps(&mut self, x: &[Word], law: Law) -> Option<bool> {
        let identity: Vec<Word> = self.stage.identity.iter().map(|&constant| Word::of(constant)).collect();
        let (result, flags) = if law == Law::LeftIdentity { self.run(&identity, x) } else { self.run(x, &identity) };
        let components = self.question.identity;
        (!self.is_void(flags, &result, components)).then(|| self.agree(&result, x, components))
    }

    fn identities(&mut self, pool: &[Vec<Word>], outcome: &mut Outcome) {
        if self.question.identity.is_empty() {
            return;
        }
        for x in pool {
            if self.question.skip_nan_identity && x.iter().any(|word| word.real.is_nan()) {
                outcome.nan_skipped = true;
                continue;
            }
            for law in [Law::LeftIdentity, Law::RightIdentity] {
                let kept = self.keeps(x, law);
                outcome.identity.0 += kept.is_some() as usize;
                if kept == Some(false) && outcome.identity.1.is_none() {
                    outcome.identity.1 = Some(Found { law, states: vec![x.clone()] });
                }
            }
        }
    }

    /// Whether a product of valid states is valid, if that can be judged.
    fn is_valid(&mut self, product: &[Word], flags: Flags) -> Option<bool> {
        let void = flags.uncertain || (self.question.skip_overflow && product.iter().any(|word| word.tainted));
        let valid = self.valid.as_mut().filter(|_| !void)?;
        self.spent += valid.cost();
        let mut result = Vec::new();
        let flags = valid.run(&[product], &mut result);
        (!flags.uncertain).then(|| result.first().is_some_and(|word| word.int != 0))
    }

    fn close(&mut self, x: &[Word], y: &[Word], product: &[Word], flags: Flags, outcome: &mut Outcome) {
        if !self.question.closure {
            return;
        }
        let valid = self.is_valid(product, flags);
        outcome.closure.0 += valid.is_some() as usize;
        if valid == Some(false) && outcome.closure.1.is_none() {
            outcome.closure.1 = Some(Found { law: Law::Closure, states: vec![x.to_vec(), y.to_vec()] });
        }
    }

    fn dense(&mut self, states: &[Vec<Word>], outcome: &mut Outcome) {
        let count = states.len();
        let mut products = Vec::with_capacity(count * count);
        for x in states {
            for y in states {
                let (product, flags) = self.run(x, y);
                self.close(x, y, &product, flags, outcome);
                products.push((product, flags));
            }
        }
        if self.question.associativity.is_empty() {
            return;
        }
        for i in 0..count {
            for j in 0..count {
                for k in 0..count {
                    let (xy, yz) = (&products[i * count + j], &products[j * count + k]);
                    let holds = self.closes((&xy.0, xy.1), (&yz.0, yz.1), &states[i], &states[k]);
                    outcome.associativity.0 += holds.is_some() as usize;
                    if holds == Some(false) {
                        let states = [i, j, k].map(|i| states[i].clone()).to_vec();
                        outcome.associativity.1 = Some(Found { law: Law::Associativity, states });
                        return;
                    }
                }
            }
        }
    }

    fn noise(&mut self, pool: &[Vec<Word>], sampler: &mut Sampler<'_>, random: &mut Random, outcome: &mut Outcome) {
        let associativity = !self.question.associativity.is_empty() && outcome.associativity.1.is_none();
        let closure = self.question.closure && outcome.closure.1.is_none();
        if pool.is_empty() || !(associativity || closure) {
            return;
        }
        let pick = |sampler: &mut Sampler<'_>, random: &mut Random| {
            let drawn = if random.below(4) < 2 { sampler.draw(random) } else { None };
            drawn.unwrap_or_else(|| pool[random.below(pool.len())].clone())
        };
        while self.spent < BUDGET {
            // A step with no run in it must not go on for ever.
            self.spent += 40;
            let (x, y) = (pick(sampler, random), pick(sampler, random));
            if closure {
                let (product, flags) = self.run(&x, &y);
                self.close(&x, &y, &product, flags, outcome);
            }
            if associativity {
                let z = pick(sampler, random);
                let holds = self.associates(&x, &y, &z);
                outcome.associativity.0 += holds.is_some() as usize;
                if holds == Some(false) {
                    outcome.associativity.1 = Some(Found { law: Law::Associativity, states: vec![x, y, z] });
                    return;
                }
            }
        }
    }

    /// Makes a broken triple simpler while it stays broken: whole states first, then, where every value may stand in a
    /// state, component by component.
    fn shrink(&mut self, pool: &[Vec<Word>], outcome: &mut Outcome) {
        let Some(found) = &mut outcome.associativity.1 else { return };
        for place in 0..3 {
            for simple in pool.iter().take(8) {
                let mut states = found.states.clone();
                states[place] = simple.clone();
                if self.is_simpler(&found.states[place], simple) && self.breaks(&states) {
                    found.states = states;
                    break;
                }
            }
        }
        for place in (0..3).filter(|_| self.question.any_component) {
            for component in 0..self.stage.state.len() {
                for number in [0, 1] {
                    let mut states = found.states.clone();
                    states[place][component] = Word::of(self.stage.state[component].of_i64(number));
                    if self.is_simpler(&found.states[place], &states[place]) && self.breaks(&states) {
                        found.states = states;
                        break;
                    }
                }
            }
        }
    }

    fn breaks(&mut self, states: &[Vec<Word>]) -> bool {
        let valid = states.iter().all(|state| self.is_valid(state, Flags::default()) != Some(false));
        valid && self.associates(&states[0], &states[1], &states[2]) == Some(false)
    }

    /// Whether `new` has smaller numbers in all.
    fn is_simpler(&self, old: &[Word], new: &[Word]) -> bool {
        let size = |word: &Word| {
            if word.real.is_nan() {
                1e300
            } else {
                word.real.abs().min(1e300) + word.int as f64 * word.int.signum() as f64
            }
        };
        new.iter().map(size).sum::<f64>() < old.iter().map(size).sum::<f64>()
    }
}
