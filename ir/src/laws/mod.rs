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
use exhaustive::CombineTable;
use faces::Face;
use functions::Functions;
use group::Group;
use kept::Kept;
use machine::{Machine, Word};
use search::{Found, Outcome, Question};
use states::{Carrier, Random, Sampler, Specials};
use symbolic::{Equation, Operator};
use traits::Traits;

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
    let mut judge = Judge::new(stage, tables);
    judge.prove_groups();
    judge.prove_small_carrier();
    judge.prove_closure();
    judge.prove_on_valid_states();
    judge.finish()
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

/// A judgement in the making. A law is proved for all components, or for some groups of them.
struct Judge<'a> {
    stage: &'a Stage,
    tables: &'a [Table],
    carrier: Carrier,
    groups: Vec<Group>,
    traits: Vec<Traits>,
    associativity: Vec<Option<Proof>>,
    identity: Vec<Option<Proof>>,
    closure: Option<Proof>,
}

impl<'a> Judge<'a> {
    fn new(stage: &'a Stage, tables: &'a [Table]) -> Judge<'a> {
        let groups = group::groups(stage);
        let traits: Vec<Traits> = groups.iter().map(Traits::of).collect();
        let closure = stage.valid.is_none().then_some(Proof::EveryState);
        let none = vec![None; groups.len()];
        let carrier = Carrier::of(stage);
        Judge { stage, tables, carrier, groups, traits, associativity: none.clone(), identity: none, closure }
    }

    /// Proves the laws of groups on all states, so on the valid ones.
    fn prove_groups(&mut self) {
        for (i, group) in self.groups.iter().enumerate() {
            let operator = Operator { types: &group.types, identity: &group.identity, combine: &group.combine };
            let (mut associativity, mut identity) = exhaustive::prove(group, self.tables);
            if let Some(size) = construct::composes(&group.types, &group.combine)
                && construct::lanes_are_below(
                    self.stage,
                    self.tables,
                    &group.components,
                    size,
                    self.carrier == Carrier::Lifted,
                )
            {
                associativity = Some(Proof::Construction(construct::NAME));
                identity = construct::is_identity_map(&group.identity).then_some(Proof::Construction(construct::NAME));
            }
            let prove =
                |equation| symbolic::prove(equation, &operator, self.tables, self.traits[i].assumptions(equation));
            self.associativity[i] = associativity.or_else(|| prove(Equation::Associativity));
            self.identity[i] = identity.or_else(|| prove(Equation::Identity));
        }
    }

    /// Tries all states that `valid` accepts or lift can lead to, if they are few.
    fn prove_small_carrier(&mut self) {
        let proofs = self.associativity.iter().chain(&self.identity);
        if proofs.chain([&self.closure]).all(Option::is_some) {
            return;
        }
        let identity: Vec<Word> = self.stage.identity.iter().map(|&constant| Word::of(constant)).collect();
        let mut combine = Machine::new(&self.stage.combine, self.tables);
        let table = match self.carrier {
            Carrier::All => None,
            Carrier::Valid => {
                exhaustive::all_states(&self.stage.state, exhaustive::MAX_CANDIDATES).and_then(|states| {
                    let specials = self.specials();
                    let mut sampler = Sampler::new(self.stage, self.tables, &specials);
                    let states: Vec<Vec<Word>> = states.into_iter().filter(|state| sampler.is_valid(state)).collect();
                    let few = (states.len() <= exhaustive::MAX_STATES).then_some(states)?;
                    Some(CombineTable::of(few, &mut combine)).filter(CombineTable::is_closed)
                })
            }
            Carrier::Lifted => {
                self.lifted_states(identity.clone()).and_then(|states| CombineTable::closure(states, &mut combine))
            }
        };
        let Some(table) = table else { return };
        let proof = Proof::Exhaustion { states: table.states.len(), lifted: self.carrier == Carrier::Lifted };
        let fill = |open: &mut Vec<Option<Proof>>| {
            open.iter_mut().for_each(|slot| *slot = slot.take().or_else(|| Some(proof.clone())));
        };
        if table.is_associative() {
            fill(&mut self.associativity);
        }
        if table.has_identity(&identity) {
            fill(&mut self.identity);
            self.closure.get_or_insert(proof.clone());
        }
    }

    /// The lifted states of all records, with the identity, if records are few and states hold no floats.
    fn lifted_states(&self, identity: Vec<Word>) -> Option<Vec<Vec<Word>>> {
        let lift = &self.stage.lift.function;
        let bits: u32 = lift.params.iter().map(|ty| ty.bits()).sum();
        if bits > 8 || self.stage.state.iter().chain(&lift.params).any(|ty| ty.is_float()) {
            return None;
        }
        let mut machine = Machine::new(lift, self.tables);
        let mut states = vec![identity];
        let mut result = Vec::new();
        for number in 0..1u128 << bits {
            let mut rest = number;
            let record = lift.params.iter().map(|ty| {
                let constant = Constant::new(*ty, rest);
                rest >>= ty.bits();
                Word::of(constant)
            });
            let record: Vec<Word> = record.collect();
            machine.run(&[&record], &mut result);
            if !states.contains(&result) {
                states.push(result.clone());
            }
            if states.len() > exhaustive::MAX_STATES {
                return None;
            }
        }
        Some(states)
    }

    /// Composed maps stay within their states, if that is all that `valid` asks for.
    fn prove_closure(&mut self) {
        let Some(valid) = &self.stage.valid else { return };
        let composed = |proof: &Option<Proof>| matches!(proof, Some(Proof::Construction(_)));
        let only = |group: &Group| {
            let size = group.types.iter().map(|ty| ty.size()).sum();
            construct::demands_only(valid, &group.components, size)
        };
        let mut groups = self.groups.iter().zip(self.associativity.iter().zip(&self.identity));
        if groups.any(|(group, (associative, identity))| composed(associative) && composed(identity) && only(group)) {
            self.closure.get_or_insert(Proof::Construction(construct::NAME));
        }
    }

    /// Proves the laws of groups on the states that `valid` says: of those that keep or set values, and of those that compose
    /// functions of a number.
    fn prove_on_valid_states(&mut self) {
        let Some(valid) = &self.stage.valid else { return };
        let (mut conditions, mut closed) = (0, Vec::new());
        for (i, group) in self.groups.iter().enumerate() {
            if self.closure.is_some() && self.associativity[i].is_some() && self.identity[i].is_some() {
                continue;
            }
            let own = group::conditions(group, valid);
            let assume = self.traits[i].assumptions(Equation::Identity);
            let kept = Kept { group, valid: &own, tables: self.tables, assume };
            let (associativity, identity) = (&mut self.associativity[i], &mut self.identity[i]);
            *identity = identity.take().or_else(|| kept.identity());
            let mut closure = kept.closure();
            let is_open = closure.is_none() || associativity.is_none() || identity.is_none();
            if let Some(functions) = is_open.then(|| Functions::new(group, &own, self.tables)).flatten() {
                let cases = functions.closure();
                closure = closure.or(cases.map(|cases| Proof::Linear { cases }));
                *associativity = associativity.take().or_else(|| functions.associativity(cases));
                *identity = identity.take().or_else(|| functions.identity());
            }
            if let Some(closure) = closure {
                conditions += own.results.len();
                closed.push(closure);
            }
        }
        if conditions == group::conjuncts(valid).len() {
            self.closure.get_or_insert_with(|| Proof::of_parts(closed));
        }
    }

    fn specials(&self) -> Specials {
        let mut specials = vec![Vec::new(); self.stage.state.len()];
        for (group, traits) in self.groups.iter().zip(&self.traits) {
            for &component in &group.components {
                if self.stage.state[component].is_float() {
                    specials[component] = traits.specials.clone();
                }
            }
        }
        specials
    }

    fn open(&self, proofs: &[Option<Proof>]) -> Vec<usize> {
        let open = self.groups.iter().zip(proofs).filter(|(_, proof)| proof.is_none());
        open.flat_map(|(group, _)| group.components.clone()).collect()
    }

    /// Searches for what is not proved, and puts everything together.
    fn finish(self) -> Judgement {
        let (associativity, identity) = (self.open(&self.associativity), self.open(&self.identity));
        let question = Question {
            associativity: &associativity,
            identity: &identity,
            closure: self.closure.is_none(),
            follows: self.stage.follows.is_some(),
            any_component: self.carrier != Carrier::Lifted,
            skip_overflow: traits::overflow_is_meaningless(&self.stage.combine),
            skip_nan_identity: !self.stage.identity.iter().any(|constant| constant.is_nan()),
        };
        let searched = !(associativity.is_empty() && identity.is_empty()) || question.closure || question.follows;
        let specials = self.specials();
        let mut sampler = Sampler::new(self.stage, self.tables, &specials);
        let outcome = match searched {
            true => self.search(&mut sampler, &question),
            false => Default::default(),
        };
        let conditions = self.conditions(&question, &outcome);
        let closure = match self.broken_identity_state(&mut sampler) {
            Some(counterexample) => Verdict::Refuted(counterexample),
            None => {
                self.verdict(self.closure.iter().cloned().map(Some).collect(), outcome.closure, outcome.states_found)
            }
        };
        Judgement {
            associativity: self.verdict(self.associativity.clone(), outcome.associativity, outcome.states_found),
            identity: self.verdict(self.identity.clone(), outcome.identity, outcome.states_found),
            closure,
            follows: (self.stage.follows.is_some())
                .then(|| self.verdict(Vec::new(), outcome.follows, outcome.states_found)),
            conditions,
        }
    }

    /// Searches the whole, and its faces for what breaks associativity.
    fn search(&self, sampler: &mut Sampler<'_>, question: &Question<'_>) -> Outcome {
        let faces = faces::faces(self.stage, self.tables, question.associativity, self.carrier);
        let budget = search::BUDGET / (1 + faces.len());
        let mut outcome = search::search(self.stage, self.tables, sampler, question, budget);
        for Face { component, stage } in &faces {
            let only = Question { associativity: &[0], identity: &[], closure: false, follows: false, ..*question };
            let specials = vec![self.specials()[*component].clone()];
            let mut states = Sampler::new(stage, self.tables, &specials);
            let on_face = search::search(stage, self.tables, &mut states, &only, budget);
            let (cases, found) = on_face.associativity;
            outcome.associativity.0 += cases;
            let whole = |state: Vec<Word>| {
                let mut whole: Vec<Word> = self.stage.identity.iter().map(|&constant| Word::of(constant)).collect();
                whole[*component] = state[0];
                whole
            };
            let states = found.map(|found| found.states.into_iter().map(whole).collect::<Vec<_>>());
            // What the identity's own numbers do was computed beforehand: a panic among them shows in the whole alone.
            let states = states.filter(|states| search::breaks(self.stage, self.tables, question, states));
            let found = states.map(|states| Found { law: Law::Associativity, states });
            outcome.associativity.1 = outcome.associativity.1.take().or(found);
        }
        outcome
    }

    fn verdict(
        &self,
        proofs: Vec<Option<Proof>>,
        (cases, found): (usize, Option<Found>),
        states_found: bool,
    ) -> Verdict {
        if let Some(found) = found {
            return Verdict::Refuted(self.counterexample(found));
        }
        let proofs: Option<Vec<Proof>> = proofs.into_iter().collect();
        match proofs {
            Some(proofs) if !proofs.is_empty() => Verdict::Proved { how: Proof::of_parts(proofs) },
            _ if cases > 0 => Verdict::Tested { cases },
            _ if !states_found => Verdict::Untested { why: Unjudged::NoState },
            _ if self.stage.follows.is_some() => Verdict::Untested { why: Unjudged::NoneFollow },
            _ => Verdict::Untested { why: Unjudged::EveryCase },
        }
    }

    fn broken_identity_state(&self, sampler: &mut Sampler<'_>) -> Option<Counterexample> {
        let identity: Vec<Word> = self.stage.identity.iter().map(|&constant| Word::of(constant)).collect();
        let valid = sampler.is_valid(&identity);
        let sides = || [self.stage.identity.clone(), Vec::new()];
        (!valid).then(|| Counterexample::new(Law::IdentityValid, Vec::new(), sides(), [Advice::AcceptIdentity]))
    }

    /// The case as the user's types compute it.
    fn counterexample(&self, found: Found) -> Counterexample {
        let mut states: Vec<Vec<Constant>> = found.states.iter().map(|state| constants(self.stage, state)).collect();
        let identity = &self.stage.identity;
        let combine = |a: &[Constant], b: &[Constant]| traits::call(&self.stage.combine, &[a, b].concat(), self.tables);
        let (left, right) = match (found.law, &states[..]) {
            (Law::Associativity, [x, y, z]) => (combine(&combine(x, y), z), combine(x, &combine(y, z))),
            (Law::LeftIdentity, [x]) => (combine(identity, x), x.clone()),
            (Law::RightIdentity, [x]) => (combine(x, identity), x.clone()),
            (Law::Follows, [_, y, z]) => (combine(y, z), Vec::new()),
            (Law::IdentityFollows, _) => (identity.clone(), Vec::new()),
            (_, [x, y]) => (combine(x, y), Vec::new()),
            _ => (Vec::new(), Vec::new()),
        };
        if matches!(found.law, Law::LeftIdentity | Law::RightIdentity) {
            states.push(identity.clone());
        }
        let saturates = found.law == Law::Associativity && traits::saturates_signed(&self.stage.combine);
        let declared = match (found.law, self.carrier) {
            (Law::LeftIdentity | Law::RightIdentity, Carrier::All) => Advice::DeclareValidForIdentity,
            (Law::Closure, _) => Advice::WidenValid,
            (Law::IdentityFollows, _) => Advice::LetIdentityFollow,
            (Law::Follows, _) => Advice::MendFollows,
            (_, Carrier::Valid) => Advice::NarrowValid,
            (_, Carrier::Lifted) => Advice::DeclareValidBeyondLift,
            (_, Carrier::All) => Advice::DeclareValid,
        };
        let advice = saturates.then_some(Advice::AvoidSignedSaturation).into_iter().chain([declared]);
        Counterexample::new(found.law, states, [left, right], advice)
    }
}
