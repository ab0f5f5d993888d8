//! Which rule makes an automaton too large.

use super::LexerError;
use super::dfa::{TokenDfa, rule};
use super::rules::Rules;

/// The same error with the name of the rule that is too large alone, or larger than all others together, if it says that some of the
/// rules are too large. They are determinised one by one, up to the first that is too large, so this takes about the time that all
/// together took.
pub(super) fn of(error: LexerError, rules: &Rules, include: impl Fn(usize) -> bool) -> LexerError {
    let most = match error {
        LexerError::TooManyStates { .. } | LexerError::TooMuchMemory { .. } => needs_most(rules, include),
        other => return other,
    };
    let rule = most.map(|index| rule(rules, index).name().to_owned());
    match error {
        LexerError::TooMuchMemory { .. } => LexerError::TooMuchMemory { rule },
        _ => LexerError::TooManyStates { rule },
    }
}

fn needs_most(rules: &Rules, include: impl Fn(usize) -> bool) -> Option<usize> {
    let (mut sum, mut most) = (0, (0, None));
    for index in (0..rules.len()).filter(|&index| include(index)) {
        let Ok(alone) = TokenDfa::of_patterns(rules, |other| other == index) else { return Some(index) };
        let states = alone.states().count();
        sum += states;
        most = most.max((states, Some(index)));
    }
    most.1.filter(|_| 2 * most.0 > sum)
}
