//! The search for a case that breaks a law, when no proof was found.
//!
//! First all triples of a few small states, with all their products computed once; then random
//! triples of states and values that arithmetic trips over. A case counts only if it can be judged.
//! No law is refuted by a case in which native Rust would panic, since an integer overflows; where
//! arithmetic is mixed with comparisons (wrap-around is then not what was meant), such a case says
//! nothing at all. Nor does a float comparison that rounding could turn. A triple that breaks a law
//! is made smaller before it is shown.

mod simpler;

use crate::laws::machine::{Machine, Taint, Word, agree};
use crate::laws::neighbours::Neighbours;
use crate::laws::states::{Random, Sampler};
use crate::laws::verdict::Law;
use crate::program::{Stage, Table};

/// Instructions that a search may run: it keeps a judgement of an ordinary operator within a millisecond.
pub(crate) const BUDGET: usize = 90_000;
/// Most states of which all triples are tried.
const DENSE: usize = 18;
/// States of values that the operator names, side by side with small ones.
const MIXED: usize = 16;
/// States of each kind on which the identity is tried, however large the operator.
const LEAST_IDENTITIES: usize = 8;
/// How often a state that follows another is looked for.
const FOLLOWERS: usize = 8;

/// The laws that are still to be judged.
pub(crate) struct Question<'a> {
    /// Components whose associativity is not proved.
    pub(crate) associativity: &'a [usize],
    /// Components whose identity law is not proved.
    pub(crate) identity: &'a [usize],
    pub(crate) closure: bool,
    /// Whether the laws of `follows` are judged.
    pub(crate) follows: bool,
    /// Any value of a component's type may stand in a state, as far as `valid` accepts it.
    pub(crate) any_component: bool,
    /// A case in which native Rust would panic says nothing; else it counts if the law holds in it.
    pub(crate) skip_overflow: bool,
    /// NaN may stand in states; the identity law is not judged on it, unless the identity is NaN.
    pub(crate) skip_nan_identity: bool,
}

/// A case that breaks a law.
pub(crate) struct Found {
    pub(crate) law: Law,
    pub(crate) states: Vec<Vec<Word>>,
}

/// The finding of a triple about associativity.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Case {
    Holds,
    /// It breaks the law: with no overflow at all, or with one in y · z or behind it, where the loop has none.
    Breaks {
        cleanly: bool,
    },
}

/// How many cases were judged, and the first that breaks each law.
#[derive(Default)]
pub(crate) struct Outcome {
    pub(crate) associativity: (usize, Option<Found>),
    pub(crate) identity: (usize, Option<Found>),
    pub(crate) closure: (usize, Option<Found>),
    pub(crate) follows: (usize, Option<Found>),
    /// NaN was left out of the identity law.
    pub(crate) nan_skipped: bool,
    /// States were found to judge laws on.
    pub(crate) states_found: bool,
    /// A law failed in a case in which native Rust would panic.
    pub(crate) broken_by_overflow: bool,
}

impl Outcome {
    /// Whether a case was found that breaks a law.
    pub(crate) fn is_broken(&self) -> bool {
        let all = [&self.associativity, &self.identity, &self.closure, &self.follows];
        all.iter().any(|(_, found)| found.is_some())
    }
}

struct Search<'a, 'b> {
    stage: &'a Stage,
    question: &'b Question<'b>,
    combine: Machine<'a>,
    valid: Option<Machine<'a>>,
    neighbours: Neighbours<'a>,
    identity: Vec<Word>,
    budget: usize,
    spent: usize,
    broken_by_overflow: bool,
}

impl<'a, 'b> Search<'a, 'b> {
    fn new(stage: &'a Stage, tables: &'a [Table], question: &'b Question<'b>, budget: usize) -> Search<'a, 'b> {
        let combine = Machine::new(&stage.combine, tables);
        let valid = stage.valid.as_ref().map(|valid| Machine::new(valid, tables));
        let neighbours = Neighbours::of(stage, tables);
        let identity = stage.identity.iter().map(|&constant| Word::of(constant)).collect();
        Search { stage, question, combine, valid, neighbours, identity, budget, spent: 0, broken_by_overflow: false }
    }
}

/// Searches as long as so many instructions take.
pub(crate) fn search(
    stage: &Stage,
    tables: &[Table],
    sampler: &mut Sampler<'_>,
    question: &Question<'_>,
    budget: usize,
) -> Outcome {
    let mut random = Random::new(0x5ca1_ab1e);
    let mut search = Search::new(stage, tables, question, budget);
    // Each product is looked at from a few sides, where states may not all meet.
    let cost = search.combine.cost() + 4 * search.neighbours.cost();
    // Two runs a triple and one a pair take half the budget.
    let dense = (2..DENSE).rev().find(|n| (2 * n * n * n + n * n) * cost <= budget / 2).unwrap_or(2);
    let pool = sampler.pool(48, 120, &mut random);
    let mut outcome = Outcome { states_found: !pool.is_empty(), ..Outcome::default() };
    let named = sampler.named_states((budget / 16 / cost).min(96));
    let mixed = sampler.mixed_states(MIXED, &mut random);
    // Two runs a state take half the budget, of large operators somewhat more.
    let few = |states: &[Vec<Word>]| states.len().min((budget / 4 / cost).max(LEAST_IDENTITIES));
    search.identities(&[&pool[..few(&pool)], &named, &mixed[..few(&mixed)]].concat(), &mut outcome);
    search.dense(&pool[..pool.len().min(dense)], &mut outcome);
    search.noise(&[&pool[..], &mixed].concat(), sampler, &mut random, &mut outcome);
    search.shrink(&pool, &mut outcome);
    outcome.broken_by_overflow = search.broken_by_overflow;
    outcome
}

/// Whether these three states break associativity.
pub(crate) fn breaks(stage: &Stage, tables: &[Table], question: &Question<'_>, states: &[Vec<Word>]) -> bool {
    Search::new(stage, tables, question, 0).breaks(states).is_some()
}

impl Search<'_, '_> {
    /// Whether a result says nothing about a law of these components: so it is where the loop divides by zero.
    fn is_void(&self, uncertain: bool, result: &[Word], components: &[usize]) -> bool {
        uncertain || components.iter().any(|&component| self.says_nothing(result[component]))
    }

    fn says_nothing(&self, word: Word) -> bool {
        word.taint > if self.question.skip_overflow { Taint::Clean } else { Taint::Overflow }
    }

    /// The verdict of a case in which a law of these components holds or not, with these results.
    fn judged(&mut self, holds: bool, results: &[&[Word]], components: &[usize]) -> Option<bool> {
        let excused = !holds && results.iter().any(|result| panics(result, components));
        self.broken_by_overflow |= excused;
        (!excused).then_some(holds)
    }

    fn run(&mut self, a: &[Word], b: &[Word]) -> (Vec<Word>, bool) {
        self.spent += self.combine.cost();
        let mut result = Vec::with_capacity(self.stage.state.len());
        let uncertain = self.combine.run(&[a, b], &mut result);
        (result, uncertain)
    }

    fn agree(&self, a: &[Word], b: &[Word], components: &[usize]) -> bool {
        components.iter().all(|&i| agree(&a[i], &b[i], self.stage.state[i]))
    }

    /// Whether the triple associates; none if that cannot be judged, or no loop meets the three.
    fn associates(&mut self, x: &[Word], y: &[Word], z: &[Word]) -> Option<Case> {
        let (xy, uncertain) = self.run(x, y);
        let (yz, more) = self.run(y, z);
        let is_met = self.neighbours.is_met(x, y, &xy, z);
        is_met.then(|| self.closes((&xy, uncertain), (&yz, more), x, z)).flatten()
    }

    /// Judges three states with their products; gives whether they break associativity in a case to show.
    fn triple(
        &mut self,
        [x, y, z]: [&[Word]; 3],
        xy: (&[Word], bool),
        yz: (&[Word], bool),
        outcome: &mut Outcome,
    ) -> bool {
        self.spent += 4 * self.neighbours.cost();
        if !self.neighbours.is_met(x, y, xy.0, z) {
            return false;
        }
        // The identity follows everything, so a case with it says nothing of how records follow.
        if self.question.follows && [x, y, z].contains(&self.identity.as_slice()) {
            return false;
        }
        if self.question.follows && !xy.1 {
            self.neighbours.judge([x, y, z], yz, outcome);
        }
        if self.question.associativity.is_empty() {
            return false;
        }
        let case = self.closes(xy, yz, x, z);
        outcome.associativity.0 += case.is_some() as usize;
        let Some(Case::Breaks { cleanly }) = case else { return false };
        if cleanly || outcome.associativity.1.is_none() {
            let states = [x, y, z].map(<[Word]>::to_vec).to_vec();
            outcome.associativity.1 = Some(Found { law: Law::Associativity, states });
        }
        cleanly
    }

    fn closes(&mut self, xy: (&[Word], bool), yz: (&[Word], bool), x: &[Word], z: &[Word]) -> Option<Case> {
        let components = self.question.associativity;
        if self.is_void(xy.1, xy.0, components) || self.is_void(yz.1, yz.0, components) {
            return None;
        }
        let (left, uncertain) = self.run(xy.0, z);
        let (right, more) = self.run(x, yz.0);
        if self.is_void(uncertain, &left, components) || self.is_void(more, &right, components) {
            return None;
        }
        let holds = self.agree(&left, &right, components);
        // The sequential loop is (x·y)·z. Where it does not overflow and x·(y·z) does, a scan may differ from it.
        Some(match self.judged(holds, &[xy.0, &left], components)? {
            true => Case::Holds,
            false => Case::Breaks { cleanly: !panics(yz.0, components) && !panics(&right, components) },
        })
    }

    /// Whether the identity, put before or after x, leaves it.
    fn keeps(&mut self, x: &[Word], law: Law) -> Option<bool> {
        let identity = self.identity.clone();
        let (result, uncertain) =
            if law == Law::LeftIdentity { self.run(&identity, x) } else { self.run(x, &identity) };
        let components = self.question.identity;
        if self.is_void(uncertain, &result, components) {
            return None;
        }
        let holds = self.agree(&result, x, components);
        self.judged(holds, &[&result], components)
    }

    fn identities(&mut self, pool: &[Vec<Word>], outcome: &mut Outcome) {
        for x in pool.iter().filter(|_| self.question.follows) {
            self.neighbours.judge_identity(&self.identity, x, outcome);
        }
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
    fn is_valid(&mut self, product: &[Word], uncertain: bool) -> Option<bool> {
        let panics = product.iter().any(Word::is_tainted);
        let void = uncertain || product.iter().any(|&word| self.says_nothing(word));
        let valid = self.valid.as_mut().filter(|_| !void)?;
        self.spent += valid.cost();
        let mut result = Vec::new();
        let uncertain = valid.run(&[product], &mut result);
        let verdict = result.first()?;
        let excused = verdict.int == 0 && (panics || verdict.is_tainted());
        self.broken_by_overflow |= excused;
        (!uncertain && !excused).then_some(verdict.int != 0)
    }

    fn close(&mut self, x: &[Word], y: &[Word], product: &[Word], uncertain: bool, outcome: &mut Outcome) {
        if !self.question.closure || !self.neighbours.meet(x, y) {
            return;
        }
        let valid = self.is_valid(product, uncertain);
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
                let (product, uncertain) = self.run(x, y);
                self.close(x, y, &product, uncertain, outcome);
                products.push((product, uncertain));
            }
        }
        if self.question.associativity.is_empty() && !self.question.follows {
            return;
        }
        let triples = (0..count).flat_map(|i| (0..count).flat_map(move |j| (0..count).map(move |k| [i, j, k])));
        for [i, j, k] in triples {
            let (xy, yz) = (&products[i * count + j], &products[j * count + k]);
            let three = [i, j, k].map(|place| states[place].as_slice());
            if self.triple(three, (&xy.0, xy.1), (&yz.0, yz.1), outcome) {
                return;
            }
        }
    }

    /// A state made of another one that follows x, if one is found soon.
    fn follower(&mut self, x: &[Word], state: Vec<Word>, sampler: &mut Sampler<'_>, random: &mut Random) -> Vec<Word> {
        for _ in 0..FOLLOWERS {
            let near = sampler.near(&state, x, random);
            self.spent += self.neighbours.cost();
            if near != self.identity && self.neighbours.meet(x, &near) && sampler.is_valid(&near) {
                return near;
            }
        }
        state
    }

    fn noise(&mut self, pool: &[Vec<Word>], sampler: &mut Sampler<'_>, random: &mut Random, outcome: &mut Outcome) {
        let associativity = !self.question.associativity.is_empty() && outcome.associativity.1.is_none();
        let closure = self.question.closure && outcome.closure.1.is_none();
        let follows = self.question.follows && outcome.follows.1.is_none();
        if pool.is_empty() || !(associativity || closure || follows) {
            return;
        }
        let pick = |sampler: &mut Sampler<'_>, random: &mut Random| {
            let drawn = if random.below(4) < 2 { sampler.draw(random) } else { None };
            drawn.unwrap_or_else(|| pool[random.below(pool.len())].clone())
        };
        while self.spent < self.budget {
            // A step with no run in it must not go on for ever.
            self.spent += 40;
            let (x, mut y) = (pick(sampler, random), pick(sampler, random));
            if follows {
                y = self.follower(&x, y, sampler, random);
            }
            let (xy, uncertain) = self.run(&x, &y);
            if closure {
                self.close(&x, &y, &xy, uncertain, outcome);
            }
            if associativity || follows {
                let mut z = pick(sampler, random);
                if follows {
                    z = self.follower(&xy, z, sampler, random);
                }
                let (yz, more) = self.run(&y, &z);
                if self.triple([&x, &y, &z], (&xy, uncertain), (&yz, more), outcome) {
                    return;
                }
            }
        }
    }

    /// Whether valid states break associativity, and cleanly.
    fn breaks(&mut self, states: &[Vec<Word>]) -> Option<bool> {
        let valid = states.iter().all(|state| self.is_valid(state, false) != Some(false));
        match self.associates(&states[0], &states[1], &states[2]) {
            Some(Case::Breaks { cleanly }) if valid => Some(cleanly),
            _ => None,
        }
    }
}

/// Whether native Rust would panic for one of these components.
fn panics(result: &[Word], components: &[usize]) -> bool {
    components.iter().any(|&component| result[component].is_tainted())
}
