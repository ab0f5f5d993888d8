//! The replay, as a pass over a run.

use crate::nvptx::emit::{Value, Var};
use crate::nvptx::kernel::arguments::KernelArguments;
use crate::nvptx::kernel::element::Element;
use crate::nvptx::kernel::items::{PackedPass, Pass};
use crate::nvptx::kernel::recipe::Recipe;
use crate::nvptx::kernel::warp::{get, set};
use crate::nvptx::strategy::fold::{FoldToReplay, MOST_INTERLEAVED};
use crate::nvptx::strategy::packed::PackedReplay;

/// Writes a record that is kept: takes its rank and its components.
pub(crate) type Keep<'k, 'a> = &'a dyn Fn(Value<'k>, &[Value<'k>]);

/// Replays from the state before the run, and writes.
pub struct Replay<'k, 'a> {
    pub recipe: &'a Recipe,
    pub args: KernelArguments<'k, 'a>,
    /// The values that it takes along from before the run.
    pub before: &'a [Value<'k>],
    /// The same as they [go from element to element](Recipe::enter).
    pub state: &'a [Var<'k>],
    /// Where kept records go, in a program that filters; where each record goes that is not written beside its own, by its index.
    pub elsewhere: Option<Keep<'k, 'a>>,
    /// The results of the fold.
    pub from_fold: FoldToReplay<Var<'k>>,
}

impl<'k> Pass<'k> for Replay<'k, '_> {
    fn element(&self, element: &dyn Element<'k>) -> Vec<Value<'k>> {
        let before = get(self.state);
        let known = self.from_fold.known(element);
        let element = known.as_ref().map_or(element, |known| known);
        let replayed = self.recipe.replay(self.args, &before, element);
        set(self.state, &replayed.after);
        let Some(elsewhere) = self.elsewhere else { return replayed.outputs };
        match (self.recipe.rank, replayed.filter) {
            (Some(rank), Some(filter)) => self.args.k.when(filter, || elsewhere(before[rank], &replayed.outputs)),
            _ => elsewhere(element.index(), &replayed.outputs),
        }
        Vec::new()
    }

    fn interleaves(&self, groups: usize) -> bool {
        self.writes() && self.from_fold.before.is_some() && (2..=MOST_INTERLEAVED).contains(&groups)
    }

    fn interleaved(&self, groups: &[Vec<&dyn Element<'k>>]) -> Vec<Vec<Vec<Value<'k>>>> {
        let (Some(before), Some(map_ids)) = (self.from_fold.before, self.recipe.chained()) else { return Vec::new() };
        let start = self.before[0];
        let led = |group: usize| match group.checked_sub(1) {
            None => start,
            Some(place) => {
                let id = (before.get() >> (8 * place)) & 255usize;
                map_ids.apply(self.args, id, start).expect("groups are interleaved where ids are applied")
            }
        };
        let enter = |lane| self.recipe.enter(self.args, self.recipe.levels.len(), vec![lane])[0];
        let mut states: Vec<Value<'k>> = (0..groups.len()).map(|group| enter(led(group))).collect();
        let mut written = vec![Vec::new(); groups.len()];
        let first = self.from_fold.known(groups[0][0]);
        for place in 0..groups[0].len() {
            for (number, ((group, state), written)) in groups.iter().zip(&mut states).zip(&mut written).enumerate() {
                let first = first.as_ref().filter(|_| (number, place) == (0, 0));
                let element = first.map_or(group[place], |first| first);
                let replayed = self.recipe.replay(self.args, &[*state], element);
                *state = replayed.after[0];
                written.push(replayed.outputs);
            }
        }
        self.state[0].set(states[groups.len() - 1]);
        written
    }

    fn writes(&self) -> bool {
        self.elsewhere.is_none()
    }

    fn work(&self) -> usize {
        self.recipe.replay_work()
    }

    fn packed(&self) -> Option<Box<dyn PackedPass<'k> + '_>> {
        let packed = self.recipe.packed_replay()?;
        self.writes().then(|| -> Box<dyn PackedPass<'k>> { Box::new(PackedReplay::new(self.args, packed, self.state)) })
    }
}
