//! A case that breaks associativity is made simpler while it stays broken, since it is shown to
//! people.

use super::{Outcome, Search};
use crate::laws::machine::Word;

/// The most that it may cost, in budgets.
const SIMPLER: usize = 2;

impl Search<'_, '_> {
    /// Makes a broken triple simpler while it stays broken: whole states first, then, where every value may stand in a
    /// state, component by component.
    pub(super) fn shrink(&mut self, pool: &[Vec<Word>], outcome: &mut Outcome) {
        let Some(found) = &mut outcome.associativity.1 else { return };
        let most = self.spent + SIMPLER * self.budget;
        // What is simpler must break the law as cleanly.
        let least = self.breaks(&found.states).max(Some(false));
        for place in 0..3 {
            for simple in pool.iter().take(8) {
                if self.spent > most {
                    return;
                }
                let mut states = found.states.clone();
                states[place] = simple.clone();
                if self.is_simpler(&found.states[place], simple) && self.breaks(&states) >= least {
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
                    if self.spent > most {
                        return;
                    }
                    if self.is_simpler(&found.states[place], &states[place]) && self.breaks(&states) >= least {
                        found.states = states;
                        break;
                    }
                }
            }
        }
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
