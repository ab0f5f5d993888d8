//! The two passes over a run: the fold of a level, and the replay.

use super::emit::{Value, Var};
use super::given::Given;
use super::lanes::{get, set};
use super::recipe::{Element, Recipe};
use super::run::Pass;

/// Folds a level: its state, and the components of earlier levels that it follows.
pub(crate) struct Fold<'k, 'a> {
    pub(crate) recipe: &'a Recipe,
    pub(crate) given: Given<'k, 'a>,
    pub(crate) level: usize,
    pub(crate) state: &'a [Var<'k>],
    pub(crate) followed: &'a [Var<'k>],
}

impl<'k> Pass<'k> for Fold<'k, '_> {
    fn element(&self, element: &dyn Element<'k>) -> Vec<Value<'k>> {
        let mut followed = get(self.followed);
        let after = self.recipe.step(self.given, self.level, &get(self.state), &mut followed, element);
        set(self.state, &after);
        set(self.followed, &followed);
        Vec::new()
    }

    fn writes(&self) -> bool {
        false
    }

    fn work(&self) -> usize {
        self.recipe.levels[self.level].0.body.mapping.function.insts.len()
    }
}

/// What becomes of a record that is kept: its rank, and its components.
pub(crate) type Keep<'k, 'a> = &'a dyn Fn(Value<'k>, &[Value<'k>]);

/// Replays from the state before the run, and writes.
pub(crate) struct Replay<'k, 'a> {
    pub(crate) recipe: &'a Recipe,
    pub(crate) given: Given<'k, 'a>,
    pub(crate) state: &'a [Var<'k>],
    /// Where kept records go, in a program that keeps; where each record goes that is not written beside its own, by its index.
    pub(crate) elsewhere: Option<Keep<'k, 'a>>,
}

impl<'k> Pass<'k> for Replay<'k, '_> {
    fn element(&self, element: &dyn Element<'k>) -> Vec<Value<'k>> {
        let before = get(self.state);
        let replayed = self.recipe.replay(self.given, &before, element);
        set(self.state, &replayed.after);
        let Some(elsewhere) = self.elsewhere else { return replayed.outputs };
        match (self.recipe.rank, replayed.keep) {
            (Some(rank), Some(keep)) => self.given.k.when(keep, || elsewhere(before[rank], &replayed.outputs)),
            _ => elsewhere(element.index(), &replayed.outputs),
        }
        Vec::new()
    }

    fn writes(&self) -> bool {
        self.elsewhere.is_none()
    }

    fn work(&self) -> usize {
        self.recipe.replay.mapping.function.insts.len()
    }
}
