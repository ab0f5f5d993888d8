//! Advice about a law that does not hold: as data, and in words about programs.

use super::verdict::{Counterexample, Law, name};
use crate::types::Constant;

/// A remedy that a counterexample suggests. Components are numbered within the state. A front end says it in the terms of its
/// language, by [`Words`](super::Words).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Advice {
    /// This component is NaN in the counterexample: if it never is, `valid` should say so.
    ExcludeNan {
        /// Which component.
        component: usize,
    },
    /// This component is infinite in the counterexample, and arithmetic on it gives NaN: it should be told apart first.
    TellInfinityApart {
        /// Which component.
        component: usize,
    },
    /// Finite numbers lead to NaN: they should be told apart before the arithmetic.
    AvoidNan,
    /// Signed saturation is not associative: a wider type, or states of one sign, avoid it.
    AvoidSignedSaturation,
    /// `valid` refuses the identity, which is the state of an empty scan.
    AcceptIdentity,
    /// There is no `valid`, and the identity changes this state: if it never occurs, declare which states do.
    DeclareValidForIdentity,
    /// There is no `valid`: if one of these states never occurs, declare which do.
    DeclareValid,
    /// There is no `valid`, and lift can lead to all of these states: if one never occurs, declare which do.
    DeclareValidBeyondLift,
    /// `valid` refuses what valid states combine to: widen it, or mend `combine`.
    WidenValid,
    /// `valid` accepts all of these states: if one never occurs, narrow it.
    NarrowValid,
    /// `follows` refuses the identity, which stands where there is no record.
    LetIdentityFollow,
    /// `follows` and `combine` disagree: mend one of them.
    MendFollows,
}

impl Advice {
    /// The advice in terms of programs, with the state's components called by these names.
    pub fn describe(&self, names: &[String]) -> String {
        match *self {
            Advice::ExcludeNan { component } => {
                let name = name(names, component);
                format!("if `{name}` is never NaN, let `valid` say so")
            }
            Advice::TellInfinityApart { component } => {
                let name = name(names, component);
                format!(
                    "arithmetic on an infinite `{name}` gives NaN (∞ − ∞, 0 · ∞): return the other state first where it is infinite"
                )
            }
            Advice::AvoidNan => {
                "these finite numbers lead to NaN (0 / 0, ∞ − ∞): handle them before the arithmetic".to_owned()
            }
            Advice::AvoidSignedSaturation => {
                "signed saturation forgets how much it cut off; a wider type, or states of one sign only, avoid it"
                    .to_owned()
            }
            Advice::AcceptIdentity => "let `valid` accept the identity: it is the state of an empty scan".to_owned(),
            Advice::DeclareValidForIdentity => {
                "an identity leaves every state as it is; if this state never occurs, let `valid` say which do"
                    .to_owned()
            }
            Advice::DeclareValid => {
                "if one of these states never occurs, let `valid` say which do; laws are then judged on valid states only"
                    .to_owned()
            }
            Advice::DeclareValidBeyondLift => {
                "lift can lead to all of these states; if one of them never occurs, let `valid` say which do"
                    .to_owned()
            }
            Advice::WidenValid => {
                "`valid` must hold for every state that valid states combine to: widen it, or mend `combine`".to_owned()
            }
            Advice::NarrowValid => {
                "`valid` accepts all of these states; if one of them never occurs, make `valid` narrower".to_owned()
            }
            Advice::LetIdentityFollow => {
                "let `follows` hold where one of the two is the identity: it stands where there is no record".to_owned()
            }
            Advice::MendFollows => {
                "`follows` must hold however a sequence is grouped: mend it, or let `combine` keep what it asks for"
                    .to_owned()
            }
        }
    }
}

impl Counterexample {
    /// A case with what its numbers suggest, and then `more`. NaN and infinities are what `valid` most often has to exclude.
    pub(super) fn new(
        law: Law,
        states: Vec<Vec<Constant>>,
        [left, right]: [Vec<Constant>; 2],
        more: impl IntoIterator<Item = Advice>,
    ) -> Counterexample {
        let components = || states.iter().flat_map(|state| state.iter().enumerate());
        let nan = components().find(|(_, constant)| constant.is_nan());
        let infinite = components().find(|(_, constant)| constant.ty().is_float() && constant.as_f64().is_infinite());
        let made = left.iter().chain(&right).any(|constant| constant.is_nan());
        let special = match (nan, infinite, made) {
            (Some((component, _)), _, _) => Some(Advice::ExcludeNan { component }),
            (_, Some((component, _)), true) => Some(Advice::TellInfinityApart { component }),
            (None, None, true) => Some(Advice::AvoidNan),
            _ => None,
        };
        let advice = special.into_iter().chain(more).collect();
        Counterexample { law, states, left, right, advice }
    }
}
