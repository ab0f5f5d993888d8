//! One judgement: the ways to prove a law are tried in turn, and what is left is searched.

use super::advice::Advice;
use super::constants;
use super::construct;
use super::exhaustive::{self, CombineTable};
use super::faces::{self, Face};
use super::functions::Functions;
use super::group::{self, Group};
use super::kept::Kept;
use super::machine::{Machine, Word};
use super::search::{self, Found, Outcome, Question};
use super::states::{Carrier, Sampler, Specials};
use super::symbolic::{self, Equation, Operator};
use super::traits::{self, Traits};
use super::verdict::{Counterexample, Judgement, Law, Proof, Unjudged, Verdict};
use crate::function::Function;
use crate::program::{Stage, Table};
use crate::types::Constant;

/// The judgement of a stage whose components are not judged apart.
pub(super) fn judged(stage: &Stage, tables: &[Table]) -> Judgement {
    let mut judge = Judge::new(stage, tables);
    judge.prove_groups();
    judge.prove_small_carrier();
    judge.prove_on_valid_states();
    judge.finish()
}

/// A judgement in the making. A law is proved for all components, or for some groups of them.
pub(super) struct Judge<'a> {
    pub(super) stage: &'a Stage,
    tables: &'a [Table],
    pub(super) carrier: Carrier,
    pub(super) groups: Vec<Group>,
    pub(super) traits: Vec<Traits>,
    pub(super) associativity: Vec<Option<Proof>>,
    pub(super) identity: Vec<Option<Proof>>,
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

    /// Proves the laws of groups on the states that `valid` says: of maps that are composed, of what is kept or set, and of
    /// functions of a number that are composed.
    fn prove_on_valid_states(&mut self) {
        let Some(valid) = &self.stage.valid else { return };
        let (mut conditions, mut closed) = (0, Vec::new());
        for (i, group) in self.groups.iter().enumerate() {
            if self.closure.is_some() && self.associativity[i].is_some() && self.identity[i].is_some() {
                continue;
            }
            let own = group::conditions(group, valid);
            // NaN may occur: of identities it is left out only where the verdict says so.
            let assume = self.traits[i].assumptions(Equation::Associativity);
            let kept = Kept { group, valid: &own, tables: self.tables, assume };
            let (associativity, identity) = (&mut self.associativity[i], &mut self.identity[i]);
            *identity = identity.take().or_else(|| kept.identity());
            let mut closure = composed_within(group, &own, [&*associativity, &*identity]).or_else(|| kept.closure());
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

    pub(super) fn open(&self, proofs: &[Option<Proof>]) -> Vec<usize> {
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

/// Composed maps stay within their states, if that is all that `valid` asks of them.
fn composed_within(group: &Group, valid: &Function, proofs: [&Option<Proof>; 2]) -> Option<Proof> {
    let is_composed = |proof: &Option<Proof>| matches!(proof, Some(Proof::Construction(_)));
    let size = group.types.iter().map(|ty| ty.size()).sum();
    let components: Vec<usize> = (0..group.types.len()).collect();
    let holds = proofs.into_iter().all(is_composed) && construct::demands_only(valid, &components, size);
    holds.then_some(Proof::Construction(construct::NAME))
}
