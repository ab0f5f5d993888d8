//! Components that `valid` says nothing of, judged as a stage of their own.
//!
//! A product of monoids is lawful if its factors are. So the factors that `valid` speaks of are
//! judged on the states that it accepts, and the others as they would be alone: on those that lift
//! can lead to.

use super::advice::Advice;
use super::group::{self, group};
use super::{Condition, Counterexample, Judgement, Proof, Verdict};
use crate::facts::drop_unused;
use crate::function::Function;
use crate::program::{Mapping, Stage};
use crate::simplify::{restrict_params, used_values};
use crate::types::Constant;

/// Some components of a stage, and the stage that they are alone.
pub(super) struct Part {
    components: Vec<usize>,
    pub(super) stage: Stage,
}

/// The groups of components that `valid` speaks of, and the others, if there are both. None of a stage whose records must follow each
/// other, which is asked of the whole.
pub(super) fn parts(stage: &Stage) -> Option<[Part; 2]> {
    let valid = stage.valid.as_ref().filter(|_| stage.follows.is_none())?;
    let spoken_of = used_values(valid);
    let (bound, free): (Vec<_>, Vec<_>) = group::groups(stage)
        .into_iter()
        .map(|group| group.components)
        .partition(|components| components.iter().any(|&component| spoken_of[component]));
    let of = |groups: Vec<Vec<usize>>, is_bound: bool| {
        let mut components = groups.concat();
        components.sort_unstable();
        Part { stage: part(stage, &components, is_bound), components }
    };
    (!bound.is_empty() && !free.is_empty()).then(|| [of(bound, true), of(free, false)])
}

fn part(stage: &Stage, components: &[usize], has_valid: bool) -> Stage {
    let of_group = group(stage, components.to_vec());
    let Mapping { reads, function } = stage.lift.clone();
    let lifted = components.iter().map(|&component| function.results[component]).collect();
    let lift = Mapping { reads, function: Function { results: lifted, ..function } };
    let kept: Vec<bool> = (0..stage.state.len()).map(|component| components.contains(&component)).collect();
    Stage {
        state: of_group.types,
        identity: of_group.identity,
        lift: drop_unused(lift, 0),
        combine: of_group.combine,
        valid: stage.valid.as_ref().filter(|_| has_valid).map(|valid| restrict_params(valid, &kept)),
        ..Stage::default()
    }
}

/// The judgement of a stage out of those of its parts.
pub(super) fn joined(stage: &Stage, parts: &[Part; 2], judgements: [Judgement; 2]) -> Judgement {
    let [bound, free] = [0, 1].map(|which| widened(stage, &parts[which].components, &judgements[which]));
    Judgement {
        associativity: both(bound.associativity, free.associativity),
        identity: both(bound.identity, free.identity),
        // Every state of the other part is valid.
        closure: bound.closure,
        follows: None,
        conditions: together(bound.conditions, free.conditions),
    }
}

/// A judgement in the numbers of the whole stage, whose other components are the identity's in a counterexample.
fn widened(stage: &Stage, components: &[usize], judgement: &Judgement) -> Judgement {
    let state = |state: &Vec<Constant>| {
        let mut whole = stage.identity.clone();
        components.iter().zip(state).for_each(|(&component, &value)| whole[component] = value);
        if state.is_empty() { Vec::new() } else { whole }
    };
    let advice = |advice: &Advice| match *advice {
        Advice::ExcludeNan { component } => Advice::ExcludeNan { component: components[component] },
        Advice::TellInfinityApart { component } => Advice::TellInfinityApart { component: components[component] },
        advice => advice,
    };
    let verdict = |verdict: &Verdict| match verdict {
        Verdict::Refuted(found) => Verdict::Refuted(Counterexample {
            law: found.law,
            states: found.states.iter().map(state).collect(),
            left: state(&found.left),
            right: state(&found.right),
            advice: found.advice.iter().map(advice).collect(),
        }),
        verdict => verdict.clone(),
    };
    let condition = |condition: &Condition| match condition {
        Condition::NothingOverflows { components: own } => {
            Condition::NothingOverflows { components: own.iter().map(|&own| components[own]).collect() }
        }
        condition => condition.clone(),
    };
    Judgement {
        associativity: verdict(&judgement.associativity),
        identity: verdict(&judgement.identity),
        closure: verdict(&judgement.closure),
        follows: None,
        conditions: judgement.conditions.iter().map(condition).collect(),
    }
}

/// The worse of two verdicts; proofs of both, and of tests the fewer.
fn both(one: Verdict, other: Verdict) -> Verdict {
    match (one, other) {
        (Verdict::Proved { how }, Verdict::Proved { how: other }) if how == other => Verdict::Proved { how },
        (Verdict::Proved { how }, Verdict::Proved { how: other }) => {
            let parts = [how, other].into_iter().flat_map(|how| match how {
                Proof::Parts(parts) => parts,
                how => vec![how],
            });
            Verdict::Proved { how: Proof::Parts(parts.collect()) }
        }
        (Verdict::Tested { cases }, Verdict::Tested { cases: others }) => Verdict::Tested { cases: cases.min(others) },
        (one, other) if one.rank() >= other.rank() => one,
        (_, other) => other,
    }
}

/// All conditions, each once, in the order in which they are said.
fn together(one: Vec<Condition>, other: Vec<Condition>) -> Vec<Condition> {
    let (mut overflowing, mut others) = (Vec::new(), Vec::new());
    for condition in one.into_iter().chain(other) {
        match condition {
            Condition::NothingOverflows { components } => overflowing.extend(components),
            condition if !others.contains(&condition) => others.push(condition),
            _ => {}
        }
    }
    overflowing.sort_unstable();
    let overflow = (!overflowing.is_empty()).then_some(Condition::NothingOverflows { components: overflowing });
    let all = [Condition::FloatsOverTheReals, Condition::StatesOfLift, Condition::IdentityWithoutNan];
    overflow.into_iter().chain(all.into_iter().filter(|condition| others.contains(condition))).collect()
}

/// So many states, in each of which both parts have states of their own.
pub(super) fn states_of_both(stage: &Stage, parts: &[Part; 2], states: [Vec<Vec<Constant>>; 2]) -> Vec<Vec<Constant>> {
    let count = states.iter().map(Vec::len).max().unwrap_or(0);
    if states.iter().any(Vec::is_empty) {
        return Vec::new();
    }
    let whole = |place: usize| {
        let mut whole = stage.identity.clone();
        for (part, states) in parts.iter().zip(&states) {
            let state = &states[place % states.len()];
            part.components.iter().zip(state).for_each(|(&component, &value)| whole[component] = value);
        }
        whole
    };
    (0..count).map(whole).collect()
}
