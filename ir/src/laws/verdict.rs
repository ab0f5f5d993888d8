//! Verdicts on laws, and how users read them.

use std::fmt::{self, Write};

use super::advice::Advice;
use super::condition::Condition;
use super::elements::Means;
use super::words::Words;
use crate::types::Constant;

/// A law that a counterexample breaks. `·` is combine, e the identity.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Law {
    /// (x · y) · z = x · (y · z)
    Associativity,
    /// e · x = x
    LeftIdentity,
    /// x · e = x
    RightIdentity,
    /// x · y is valid where x and y are.
    Closure,
    /// e is valid.
    IdentityValid,
    /// `follows` holds of e and x, and of x and e.
    IdentityFollows,
    /// Where `follows` holds of x and y, and of x · y and z, it holds of y and z, and of x and y · z.
    Follows,
}

/// Why a law holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Proof {
    /// Every case was computed.
    Exhaustion {
        /// How many states there are.
        states: usize,
        /// They are the states that lift can produce, with their products.
        lifted: bool,
    },
    /// Both sides have one normal form.
    Identity {
        /// The parts of the normal forms.
        means: Means,
        /// How many cases of the conditions were told apart; 1 if there was no need.
        cases: usize,
    },
    /// Both sides, as polynomials, agree at random points of three prime fields.
    RandomPoints {
        /// They are over the reals, else over the integers.
        reals: bool,
        /// Wrong with a probability below 2 to the minus this.
        bound: u32,
        /// How many cases of the flags were told apart; 1 if there are none.
        cases: usize,
    },
    /// By linear arithmetic over the integers, in each case of what is smaller and of what wraps.
    Linear {
        /// How many cases were told apart.
        cases: usize,
    },
    /// States are functions of a number, which the operator composes, by linear arithmetic.
    Functions {
        /// How many cases were told apart.
        cases: usize,
    },
    /// The operator has a form that is known to obey the law.
    Construction(&'static str),
    /// There is nothing to obey.
    EveryState,
    /// Independent components, each proved in its own way.
    Parts(Vec<Proof>),
}

impl Proof {
    /// Of independent components, each proved so.
    pub(super) fn of_parts(mut parts: Vec<Proof>) -> Proof {
        parts.dedup();
        let single = if parts.len() == 1 { parts.pop() } else { None };
        single.unwrap_or(Proof::Parts(parts))
    }
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Proof::Exhaustion { states, lifted: false } => write!(f, "by exhaustion over {states} states"),
            Proof::Exhaustion { states, .. } => {
                write!(f, "by exhaustion over the {states} states that lift can lead to")
            }
            Proof::Identity { means, cases } => {
                write!(f, "{}", describe(means))?;
                if *cases > 1 { write!(f, ", in each of {cases} cases of its conditions") } else { Ok(()) }
            }
            Proof::RandomPoints { reals, bound, cases } => {
                let numbers = if *reals { "reals" } else { "integers" };
                write!(f, "as a polynomial identity over the {numbers}, wrong with probability below 2^-{bound}")?;
                if *cases > 1 { write!(f, ", in each of {cases} cases of its flags") } else { Ok(()) }
            }
            Proof::Linear { cases } => write!(f, "by linear arithmetic, in each of {cases} cases"),
            Proof::Functions { cases } => {
                write!(f, "as composition of functions of a number, by linear arithmetic in each of {cases} cases")
            }
            Proof::Construction(form) => write!(f, "by construction: {form}"),
            Proof::EveryState => write!(f, "because every state is valid"),
            Proof::Parts(parts) => {
                let mut said: Vec<String> = parts.iter().map(Proof::to_string).collect();
                said.dedup();
                write!(f, "{}", said.join("; and "))
            }
        }
    }
}

fn describe(means: &Means) -> String {
    let mut kinds = Vec::new();
    let sums = means.reals || !means.integers.is_empty();
    match (means.minima, means.maxima, sums) {
        (true, true, true) => kinds.push("as an identity of (min, max, +) expressions".to_owned()),
        (true, true, false) => kinds.push("as an identity of minima and maxima".to_owned()),
        (true, false, true) => kinds.push("as an identity of (min, +) expressions".to_owned()),
        (false, true, true) => kinds.push("as an identity of (max, +) expressions".to_owned()),
        (true, false, false) => kinds.push("as an identity of minima".to_owned()),
        (false, true, false) => kinds.push("as an identity of maxima".to_owned()),
        (false, false, _) => {
            for bits in &means.integers {
                kinds.push(format!("as a polynomial identity over the integers modulo 2^{bits}"));
            }
            if means.reals {
                kinds.push("as a polynomial identity over the reals".to_owned());
            }
        }
    }
    if means.bits {
        kinds.push("as a boolean identity, bit by bit".to_owned());
    }
    if kinds.is_empty() { "because both sides are the same expression".to_owned() } else { kinds.join(" and ") }
}

/// A case in which a law fails.
#[derive(Clone, PartialEq, Debug)]
pub struct Counterexample {
    /// Which law.
    pub law: Law,
    /// The states: x, y, z; for closure x, y; for the identity laws x and, if it is combined with x, the identity.
    pub states: Vec<Vec<Constant>>,
    /// The left side of the law; for closure the state that is not valid; for `follows` the product, or the identity.
    pub left: Vec<Constant>,
    /// The right side; empty for closure and `follows`.
    pub right: Vec<Constant>,
    /// Remedies.
    pub advice: Vec<Advice>,
}

impl Counterexample {
    /// The law, the states and both sides, with the components called by these names, and what to do in these words.
    pub fn report(&self, names: &[String], words: &Words) -> String {
        let mut out = String::new();
        let [headline, left, right] = match self.law {
            Law::Associativity => ["`combine` is not associative", "(x · y) · z", "x · (y · z)"],
            Law::LeftIdentity => {
                ["`identity` is no identity: combining it with a state changes the state", "identity · x", "x"]
            }
            Law::RightIdentity => {
                ["`identity` is no identity: combining a state with it changes the state", "x · identity", "x"]
            }
            Law::Closure => ["`combine` leaves the valid states: x and y are valid, x · y is not", "x · y", ""],
            Law::IdentityValid => ["`identity` is not a valid state", "identity", ""],
            Law::IdentityFollows => ["`follows` is false of x and `identity`, or of `identity` and x", "identity", ""],
            Law::Follows => [
                "`follows` depends on the grouping: follows(x, y) and follows(x · y, z) hold, but not follows(y, z), or not follows(x, y · z)",
                "y · z",
                "",
            ],
        };
        let identity = matches!(self.law, Law::LeftIdentity | Law::RightIdentity);
        let width = left.chars().count().max(1);
        let mut line = |label: &str, state: &[Constant]| {
            let pad = " ".repeat(width - label.chars().count().min(width));
            // Writing to a string does not fail.
            let _ = writeln!(out, "  {pad}{label} = {}", show(state, names));
        };
        let labels = if identity { ["x", "identity", ""] } else { ["x", "y", "z"] };
        for (label, state) in labels.into_iter().zip(&self.states) {
            line(label, state);
        }
        line(left, &self.left);
        if !right.is_empty() && !identity {
            line(right, &self.right);
        }
        let mut text = format!("{headline}\n{out}");
        if let Some(difference) = self.difference(names) {
            let _ = writeln!(text, "  {difference}");
        }
        for advice in &self.advice {
            let _ = writeln!(text, "  help: {}", (words.advice)(advice, names));
        }
        text.trim_end().to_owned()
    }

    fn difference(&self, names: &[String]) -> Option<String> {
        let pairs = self.left.iter().zip(&self.right).enumerate();
        let differing: Vec<String> = pairs
            .filter(|(_, (a, b))| !(a.same(**b) || a.ty().is_float() && a.as_f64() == b.as_f64()))
            .map(|(i, (a, b))| format!("`{}`: {} against {}", name(names, i), value(*a), value(*b)))
            .collect();
        (self.left.len() > 1 && !differing.is_empty()).then(|| format!("they differ in {}", differing.join(", ")))
    }
}

impl fmt::Display for Counterexample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.report(&[], &Words::default()))
    }
}

pub(super) fn name(names: &[String], component: usize) -> String {
    names.get(component).cloned().unwrap_or_else(|| component.to_string())
}

fn value(constant: Constant) -> String {
    if constant.is_nan() { "NaN".to_owned() } else { constant.to_string() }
}

/// A state, `(a: 1, b: 2)`; a state of one unnamed component is its value.
fn show(state: &[Constant], names: &[String]) -> String {
    match state {
        [only] if names.is_empty() => value(*only),
        _ => {
            let parts = state.iter().enumerate().map(|(i, c)| match names.get(i) {
                Some(name) => format!("{name}: {}", value(*c)),
                None => value(*c),
            });
            format!("({})", parts.collect::<Vec<_>>().join(", "))
        }
    }
}

/// Why no case of a law could be judged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Unjudged {
    /// In every case an integer overflows, or a comparison of floats hangs on rounding.
    EveryCase,
    /// No state was found that `valid` accepts.
    NoState,
    /// No three states were found that [`follows`](crate::Stage::follows) lets stand in a row.
    NoneFollow,
}

impl fmt::Display for Unjudged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unjudged::EveryCase => "in every case an integer overflows or is divided by zero, or a comparison of floats depends on rounding",
            Unjudged::NoState => "no valid state was found",
            Unjudged::NoneFollow => "no three states were found of which each follows those before it",
        })
    }
}

/// The verdict on one law.
#[derive(Clone, PartialEq, Debug)]
pub enum Verdict {
    /// It holds.
    Proved {
        /// Why.
        how: Proof,
    },
    /// It held in every case that was tried.
    Tested {
        /// How many.
        cases: usize,
    },
    /// Nothing is known: it is not proved, and no case could be judged.
    Untested {
        /// Why not.
        why: Unjudged,
    },
    /// It does not hold.
    Refuted(Counterexample),
}

impl Verdict {
    pub(super) fn rank(&self) -> u8 {
        match self {
            Verdict::Proved { .. } => 0,
            Verdict::Tested { .. } => 1,
            Verdict::Untested { .. } => 2,
            Verdict::Refuted(_) => 3,
        }
    }

    /// Whether the law is proved, or held in at least one case and failed in none: what a scan asks for.
    pub fn is_accepted(&self) -> bool {
        self.rank() < 2
    }

    /// Whether the law holds for certain.
    pub fn is_proved(&self) -> bool {
        self.rank() == 0
    }

    /// The case in which the law fails, if there is one.
    pub fn counterexample(&self) -> Option<&Counterexample> {
        match self {
            Verdict::Refuted(counterexample) => Some(counterexample),
            _ => None,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Proved { how } => write!(f, "proved {how}"),
            Verdict::Tested { cases } => write!(f, "tested on {cases} cases"),
            Verdict::Untested { why } => write!(f, "not proved, and no case could be judged: {why}"),
            Verdict::Refuted(counterexample) => write!(f, "refuted: {counterexample}"),
        }
    }
}

/// The verdicts on the laws of a stage.
#[derive(Clone, PartialEq, Debug)]
pub struct Judgement {
    /// Whether (x · y) · z = x · (y · z).
    pub associativity: Verdict,
    /// Whether identity · x = x = x · identity.
    pub identity: Verdict,
    /// Whether valid states combine to valid ones, and the identity is one.
    pub closure: Verdict,
    /// Whether `follows` agrees with `combine`, if there is one.
    pub follows: Option<Verdict>,
    /// Under which conditions the verdicts hold.
    pub conditions: Vec<Condition>,
}

impl Judgement {
    /// The worst of the verdicts.
    pub fn verdict(&self) -> &Verdict {
        let all = [&self.associativity, &self.closure, &self.identity].into_iter().chain(&self.follows);
        all.rev().max_by_key(|v| v.rank()).unwrap_or(&self.associativity)
    }

    /// The components whose laws hold only where no integer overflows; none if they hold whatever overflows.
    pub fn overflow_matters_to(&self) -> &[usize] {
        let components = self.conditions.iter().find_map(|condition| match condition {
            Condition::NothingOverflows { components } => Some(components.as_slice()),
            _ => None,
        });
        components.unwrap_or_default()
    }

    /// The first broken law, if one is broken.
    pub fn counterexample(&self) -> Option<&Counterexample> {
        self.verdict().counterexample()
    }

    /// All that there is to say, what is refuted first, with the state's components called by these names, in these words.
    pub fn report(&self, names: &[String], words: &Words) -> String {
        let laws =
            [("associative", &self.associativity), ("identity", &self.identity), ("valid states", &self.closure)];
        let neighbours = self.follows.iter().map(|verdict| ("neighbours", verdict));
        let (mut lines, mut others) = (Vec::new(), Vec::new());
        for (law, verdict) in laws.into_iter().chain(neighbours) {
            match verdict {
                Verdict::Refuted(counterexample) => lines.push(counterexample.report(names, words)),
                _ => others.push(format!("{law}: {verdict}")),
            }
        }
        lines.append(&mut others);
        if [&self.associativity, &self.identity, &self.closure].iter().any(|v| matches!(v, Verdict::Untested { .. })) {
            lines.push(format!("  help: {}", words.unjudged));
        }
        lines.extend(self.conditions.iter().map(|condition| format!("note: {}", (words.condition)(condition, names))));
        lines.join("\n")
    }
}

impl fmt::Display for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.report(&[], &Words::default()))
    }
}
