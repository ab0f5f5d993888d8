//! The two passes over a run: the fold of a level, and the replay.

use super::emit::{Value, Var};
use super::given::Given;
use super::lanes::{get, set};
use super::named::Named;
use super::packed::{PackedFold, PackedReplay};
use super::recipe::{Element, Recipe};
use super::run::{PackedPass, Pass};

/// Folds a level: its state, and the components of earlier levels that it follows. It begins with the identity.
pub(crate) struct Fold<'k, 'a> {
    recipe: &'a Recipe,
    given: Given<'k, 'a>,
    level: usize,
    state: &'a [Var<'k>],
    followed: &'a [Var<'k>],
    /// In a fold by names, the name. The state is what was left behind, until the fold ends.
    named: Option<(&'a Named, Var<'k>)>,
}

impl<'k, 'a> Fold<'k, 'a> {
    pub(crate) fn new(
        recipe: &'a Recipe,
        given: Given<'k, 'a>,
        level: usize,
        state: &'a [Var<'k>],
        followed: &'a [Var<'k>],
    ) -> Fold<'k, 'a> {
        let named = recipe.named(level).map(|named| (named, given.k.var(given.k.i32(0))));
        Fold { recipe, given, level, state, followed, named }
    }

    /// Puts a map behind the state.
    fn leave(&self, map: Value<'k>) {
        set(self.state, &self.recipe.combine(self.given, self.level, &get(self.state), &[map]));
    }
}

impl<'k> Pass<'k> for Fold<'k, '_> {
    fn element(&self, element: &dyn Element<'k>) -> Vec<Value<'k>> {
        if self.named.is_some() {
            return self.elements(&[element]).concat();
        }
        let mut followed = get(self.followed);
        let after = self.recipe.step(self.given, self.level, &get(self.state), &mut followed, element);
        set(self.state, &after);
        set(self.followed, &followed);
        Vec::new()
    }

    fn elements(&self, elements: &[&dyn Element<'k>]) -> Vec<Vec<Value<'k>>> {
        let Some((named, name)) = self.named else {
            return elements.iter().map(|&element| self.element(element)).collect();
        };
        // Letters are looked up side by side, names one after the other.
        let letters: Vec<Value<'k>> = elements.iter().map(|&element| named.letter(self.given, element)).collect();
        for (&element, letter) in elements.iter().zip(letters) {
            let before = name.get();
            let after = named.step(self.given, before, letter);
            name.set(after);
            self.given.k.when(after.at_least(after.same(named.count as i128)), || {
                self.leave(named.left(self.given, before, letter, element));
                name.set(after - named.count);
            });
        }
        vec![Vec::new(); elements.len()]
    }

    fn end(&self) {
        if let Some((named, name)) = self.named {
            self.leave(named.map(self.given, name.get()));
        }
    }

    fn writes(&self) -> bool {
        false
    }

    fn work(&self) -> usize {
        // To leave something behind is to combine, which takes some dozen instructions.
        const LEAVING: usize = 48;
        self.named.map_or_else(|| self.recipe.step_work(self.level), |(named, _)| named.work() + LEAVING)
    }

    fn packed(&self) -> Option<Box<dyn PackedPass<'k> + '_>> {
        let packed = self.recipe.packed.as_ref();
        let packed = packed.filter(|packed| self.named.is_none() && packed.folds_faster(self.work()))?;
        Some(Box::new(PackedFold::new(self.given, packed, self.state)))
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
        self.recipe.replay_work()
    }

    fn packed(&self) -> Option<Box<dyn PackedPass<'k> + '_>> {
        let packed = self.recipe.packed.as_ref().filter(|packed| packed.replays_faster(self.work()))?;
        self.writes()
            .then(|| -> Box<dyn PackedPass<'k>> { Box::new(PackedReplay::new(self.given, packed, self.state)) })
    }
}
