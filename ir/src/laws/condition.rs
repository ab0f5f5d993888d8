//! Under which conditions the verdicts hold: as data, and in words.

use std::fmt;

use super::group::{self, Group};
use super::judging::Judge;
use super::search::{Outcome, Question};
use super::states::Carrier;
use super::traits;
use super::verdict::Proof;
use crate::function::Inst;
use crate::program::Stage;

/// A condition under which the laws hold, and with them what a scan promises. Components are numbered within the state.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Condition {
    /// The laws of these components hold where no integer overflows. Elsewhere a build of the source with overflow checks
    /// panics, and a scan, which combines in another order, may give other results than the loop of a build without.
    NothingOverflows {
        /// Which components.
        components: Vec<usize>,
    },
    /// The laws hold over the real numbers: another order of combining changes how results are rounded.
    FloatsOverTheReals,
    /// The laws were judged on the states that lift can lead to, and on their products.
    StatesOfLift,
    /// The laws hold of records each of which [follows](crate::Stage::follows) the state before it.
    InOrder,
    /// That the identity changes nothing was not judged on NaN, which `min` and `max` skip.
    IdentityWithoutNan,
}

impl Condition {
    /// The condition and what to do about it, with the state's components called by these names.
    pub fn describe(&self, names: &[String]) -> String {
        match self {
            Condition::NothingOverflows { components } => {
                let name = |&component: &usize| match names.get(component) {
                    Some(name) => format!("`{name}`"),
                    None => component.to_string(),
                };
                let which = match names.len().max(components.len()) {
                    1 => String::new(),
                    _ => format!(" of {}", components.iter().map(name).collect::<Vec<_>>().join(", ")),
                };
                format!(
                    "the laws{which} hold if no integer overflows, in the loop or in a combination of its parts: where \
                     one does, results may differ from those of the sequential loop, and from call to call. A checked \
                     scan reports the first overflow; a wider type avoids it, if there is one, and so does arithmetic \
                     that is meant to wrap"
                )
            }
            Condition::FloatsOverTheReals => {
                "floats are judged over the reals: regrouping changes rounding, not meaning".to_owned()
            }
            Condition::StatesOfLift => "judged on the states that lift can lead to".to_owned(),
            Condition::InOrder => {
                "laws hold of records that follow each other: results of others depend on how the scan is divided. A \
                 checked scan reports the first that does not follow"
                    .to_owned()
            }
            Condition::IdentityWithoutNan => {
                "the identity law is not judged on NaN, which `min` and `max` skip".to_owned()
            }
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.describe(&[]))
    }
}

impl Judge<'_> {
    /// Under which conditions the proofs hold, and what the search found.
    pub(super) fn conditions(&self, question: &Question<'_>, outcome: &Outcome) -> Vec<Condition> {
        let components = self.overflow_matters_to(question, outcome);
        let overflow =
            (!components.is_empty() && !outcome.is_broken()).then_some(Condition::NothingOverflows { components });
        let rounds = |inst: &Inst| inst.ty.is_float() && traits::rounds(inst.opcode);
        let floats = self.stage.combine.insts.iter().any(rounds).then_some(Condition::FloatsOverTheReals);
        let is_open = self.open(&self.associativity).len() + self.open(&self.identity).len() > 0;
        let lifted = (self.carrier == Carrier::Lifted && is_open).then_some(Condition::StatesOfLift);
        let nan = outcome.nan_skipped.then_some(Condition::IdentityWithoutNan);
        let in_order = self.stage.follows.is_some().then_some(Condition::InOrder);
        [overflow, floats, lifted, in_order, nan].into_iter().flatten().collect()
    }

    /// The components of groups that were proved without overflow, or whose search left cases with overflow out.
    fn overflow_matters_to(&self, question: &Question<'_>, outcome: &Outcome) -> Vec<usize> {
        let laws = self.associativity.iter().zip(&self.identity);
        let matters = |(group, (associative, identity)): (&Group, (&Option<Proof>, &Option<Proof>))| {
            let proofs = [associative, identity];
            let without = |proof: &Proof| matches!(proof, Proof::Identity { means, .. } if means.no_overflow);
            let is_searched = proofs.contains(&&None);
            let may_panic = group.combine.insts.iter().any(Inst::may_panic);
            proofs.into_iter().flatten().any(without)
                || (is_searched && may_panic && (question.skip_overflow || outcome.broken_by_overflow))
        };
        let groups = self.groups.iter().zip(laws).filter(|&part| matters(part));
        let mut components: Vec<usize> = groups.flat_map(|(group, _)| group.components.clone()).collect();
        components.sort_unstable();
        // What is left is the law of valid states, which is about all components.
        if components.is_empty() && outcome.broken_by_overflow {
            components.extend(0..self.stage.state.len());
        }
        components
    }
}

/// The components whose laws may fail where an integer overflows, floats and what hangs on their rounding left out: all
/// but those in whose groups nothing overflows, or all arithmetic is exact modulo a power of two.
pub fn broken_by_overflow(stage: &Stage) -> Vec<usize> {
    let groups = group::groups(stage).into_iter().filter(|group| {
        let insts = &group.combine.insts;
        let rounds = insts.iter().any(|inst| inst.ty.is_float() && traits::rounds(inst.opcode));
        insts.iter().any(Inst::may_panic) && !rounds && !traits::is_exact_when_wrapped(&group.combine)
    });
    let components = groups.flat_map(|group| group.components);
    components.filter(|&component| !stage.state[component].is_float()).collect()
}
