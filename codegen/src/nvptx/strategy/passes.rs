//! The two passes over a run: the fold of a level, and the replay.

use crate::gpu::MOST_DEFERRED;
use crate::nvptx::emit::{Ty, Value, Var};
use crate::nvptx::kernel::arguments::KernelArguments;
use crate::nvptx::kernel::element::Element;
use crate::nvptx::kernel::items::{PackedPass, Pass};
use crate::nvptx::kernel::recipe::Recipe;
use crate::nvptx::kernel::warp::{get, set};
use crate::nvptx::strategy::monoid::Named;
use crate::nvptx::strategy::packed::{PackedFold, PackedReplay};

/// No letter: what stands for that of a run's first record once it is not the next one to come.
const CONSUMED: i128 = 256;

/// Folds a level: its state, and the components of earlier levels that it follows. It begins with the identity.
pub struct Fold<'k, 'a> {
    recipe: &'a Recipe,
    args: KernelArguments<'k, 'a>,
    level: usize,
    state: &'a [Var<'k>],
    followed: &'a [Var<'k>],
    /// In a fold by names, the name. The state is what was left behind, until the fold ends, unless it is the name itself.
    named: Option<(&'a Named, Var<'k>)>,
    deferred: Option<Deferred<'k>>,
    /// The letter of the run's first record, which is not written over it, as the thread before reads that.
    first: Option<Var<'k>>,
    /// The names of what comes before each unit but the first in the run, each a byte, where units are taken apart.
    before: Option<Var<'k>>,
}

/// What a fold hands on to the replay of the same run, besides a prefix.
#[derive(Clone, Copy)]
pub struct FoldToReplay<T> {
    /// The letter of the run's first record, if that is not written over it.
    first: Option<T>,
    /// The names of what comes before each unit but the first, where units are taken apart.
    before: Option<T>,
}

impl<T: Copy> FoldToReplay<T> {
    /// Nothing.
    pub const NONE: FoldToReplay<T> = FoldToReplay { first: None, before: None };

    /// What the folds of a program hand on, made one by one.
    pub fn of(recipe: &Recipe, mut make: impl FnMut() -> T) -> FoldToReplay<T> {
        FoldToReplay { first: recipe.keeps_first().then(&mut make), before: recipe.chained().map(|_| make()) }
    }

    /// What there is.
    pub fn values(self) -> impl Iterator<Item = T> {
        self.first.into_iter().chain(self.before)
    }

    /// The same of other things, made one by one.
    pub fn map<U>(self, mut make: impl FnMut(T) -> U) -> FoldToReplay<U> {
        FoldToReplay { first: self.first.map(&mut make), before: self.before.map(make) }
    }
}

/// Most units of a run that are taken apart: the names before them fit a word.
const MOST_INTERLEAVED: usize = 5;

/// Room in shared memory for the notes of a thread: the first of each thread side by side, then the second of each.
#[derive(Clone, Copy)]
pub struct Deferred<'k> {
    /// That of its first note.
    pub first: Value<'k>,
    /// How many threads there are.
    pub threads: usize,
}

impl<'k> Deferred<'k> {
    fn of(self, number: Value<'k>) -> Value<'k> {
        self.first.byte(number * (2 * self.threads))
    }
}

impl<'k, 'a> Fold<'k, 'a> {
    pub fn new(
        recipe: &'a Recipe,
        args: KernelArguments<'k, 'a>,
        level: usize,
        state: &'a [Var<'k>],
        followed: &'a [Var<'k>],
    ) -> Fold<'k, 'a> {
        let k = args.k;
        let name = |named: &Named| if named.composes() { state[0] } else { k.var(k.i32(0)) };
        let named = recipe.named(level).map(|named| (named, name(named)));
        let FoldToReplay { first, before } = FoldToReplay::of(recipe, || k.var(k.int(Ty::I32, CONSUMED)));
        Fold { recipe, args, level, state, followed, named, deferred: None, first, before }
    }

    /// The same with room for notes.
    pub fn with_deferred(self, deferred: Option<Deferred<'k>>) -> Fold<'k, 'a> {
        Fold { deferred, ..self }
    }

    /// What it hands on to the replay.
    pub fn from_fold(&self) -> FoldToReplay<Value<'k>> {
        FoldToReplay { first: self.first, before: self.before }.map(Var::get)
    }

    /// Puts a map behind the state.
    fn leave(&self, map: Value<'k>) {
        set(self.state, &self.recipe.combine(self.args, self.level, &get(self.state), &[map]));
    }

    /// Takes a name past elements. In a warp some lane leaves something behind at most of them, but a lane does at few: so
    /// where there is room for notes, it is noted, and done for all elements together.
    fn steps(&self, named: &Named, name: Var<'k>, elements: &[(&dyn Element<'k>, Value<'k>)]) {
        let k = self.args.k;
        let deferred = self.deferred.filter(|_| named.leaves_by_place());
        let count = k.var(k.i32(0));
        for &(element, mark) in elements {
            let before = name.get();
            let place = named.place(self.args, before, mark);
            let after = named.step(self.args, place);
            if !named.leaves() {
                name.set(after);
                continue;
            }
            let leaves = after & 1usize;
            name.set(after - leaves);
            k.when(leaves.is(k.i32(1)), || match deferred {
                Some(deferred) => {
                    deferred.of(count.get()).store(place.resize(Ty::Int(16)), 2);
                    count.set(count.get() + 1);
                }
                None => self.leave(named.left(self.args, (place, before), element)),
            });
        }
        if let Some(deferred) = deferred {
            k.range(k.i32(0), count.get(), k.i32(1), |note| {
                let place = deferred.of(note).load(Ty::Int(16), 2).resize(Ty::I32);
                self.leave(named.left_at(self.args, place));
            });
        }
    }

    /// What is written over a record: its letter, if that is left to the replay.
    fn letter(&self, mark: Value<'k>) -> Vec<Value<'k>> {
        let letter = mark.resize(Ty::I8);
        if let Some(first) = self.first {
            let is_first = first.get().is(first.get().same(CONSUMED));
            first.set(is_first.select(letter.resize(Ty::I32), first.get()));
        }
        if self.writes() { vec![letter] } else { Vec::new() }
    }
}

impl<'k> Pass<'k> for Fold<'k, '_> {
    fn element(&self, element: &dyn Element<'k>) -> Vec<Value<'k>> {
        if self.named.is_some() {
            return self.elements(&[element]).concat();
        }
        let mut followed = get(self.followed);
        let after = self.recipe.step(self.args, self.level, &get(self.state), &mut followed, element);
        set(self.state, &after);
        set(self.followed, &followed);
        Vec::new()
    }

    fn elements(&self, elements: &[&dyn Element<'k>]) -> Vec<Vec<Value<'k>>> {
        let Some((named, name)) = self.named else {
            return elements.iter().map(|&element| self.element(element)).collect();
        };
        // Marks are looked up side by side, names one after the other.
        let marks: Vec<Value<'k>> = elements.iter().map(|&element| named.mark(self.args, element)).collect();
        let marked: Vec<_> = elements.iter().copied().zip(marks.iter().copied()).collect();
        marked.chunks(MOST_DEFERRED).for_each(|marked| self.steps(named, name, marked));
        marks.into_iter().map(|mark| self.letter(mark)).collect()
    }

    fn interleaves(&self, groups: usize) -> bool {
        self.before.is_some() && (2..=MOST_INTERLEAVED).contains(&groups)
    }

    fn interleaved(&self, groups: &[Vec<&dyn Element<'k>>]) -> Vec<Vec<Vec<Value<'k>>>> {
        let Some((named, name)) = self.named else { return Vec::new() };
        let k = self.args.k;
        let mut names = vec![k.i32(0); groups.len()];
        let mut written = vec![Vec::new(); groups.len()];
        for place in 0..groups[0].len() {
            for ((group, name), written) in groups.iter().zip(&mut names).zip(&mut written) {
                let mark = named.mark(self.args, group[place]);
                *name = named.step(self.args, named.place(self.args, *name, mark));
                written.push(self.letter(mark));
            }
        }
        let (mut all, mut before) = (names[0], k.i32(0));
        for (place, &own) in names[1..].iter().enumerate() {
            before = before | (all << (8 * place));
            all = named.compose(self.args, all, own).expect("groups are taken interleaved where names are composed");
        }
        name.set(all);
        if let Some(from_fold) = self.before {
            from_fold.set(before);
        }
        written
    }

    fn end(&self) {
        match self.named {
            Some((named, name)) if !named.composes() => self.leave(named.map(self.args, name.get())),
            _ => {}
        }
    }

    fn writes(&self) -> bool {
        self.recipe.letters.is_some()
    }

    fn spares_first(&self) -> bool {
        self.first.is_some()
    }

    fn work(&self) -> usize {
        self.named.map_or_else(|| self.recipe.step_work(self.level), |(named, _)| named.work())
    }

    fn packed(&self) -> Option<Box<dyn PackedPass<'k> + '_>> {
        let packed = self.recipe.packed.as_ref();
        let packed = packed.filter(|packed| self.named.is_none() && packed.folds_faster(self.work()))?;
        Some(Box::new(PackedFold::new(self.args, packed, self.state)))
    }
}

/// What becomes of a record that is kept: its rank, and its components.
pub(crate) type Keep<'k, 'a> = &'a dyn Fn(Value<'k>, &[Value<'k>]);

/// Replays from the state before the run, and writes.
pub struct Replay<'k, 'a> {
    pub recipe: &'a Recipe,
    pub args: KernelArguments<'k, 'a>,
    pub state: &'a [Var<'k>],
    /// Where kept records go, in a program that keeps; where each record goes that is not written beside its own, by its index.
    pub elsewhere: Option<Keep<'k, 'a>>,
    /// What the fold handed on.
    pub from_fold: FoldToReplay<Var<'k>>,
}

/// An element of which it is known what the record is.
struct Known<'k, 'a> {
    element: &'a dyn Element<'k>,
    record: Value<'k>,
}

impl<'k> Element<'k> for Known<'k, '_> {
    fn record(&self, _component: usize) -> Value<'k> {
        self.record
    }

    fn next(&self, component: usize) -> Value<'k> {
        self.element.next(component)
    }

    fn is_last(&self) -> Value<'k> {
        self.element.is_last()
    }

    fn index(&self) -> Value<'k> {
        self.element.index()
    }
}

impl<'k> Pass<'k> for Replay<'k, '_> {
    fn element(&self, element: &dyn Element<'k>) -> Vec<Value<'k>> {
        let before = get(self.state);
        let known = self.from_fold.first.map(|first| {
            let (letter, none) = (first.get(), first.get().same(CONSUMED));
            first.set(none);
            Known { element, record: letter.is(none).select(element.record(0), letter.resize(Ty::I8)) }
        });
        let element = known.as_ref().map_or(element, |known| known);
        let replayed = self.recipe.replay(self.args, &before, element);
        set(self.state, &replayed.after);
        let Some(elsewhere) = self.elsewhere else { return replayed.outputs };
        match (self.recipe.rank, replayed.keep) {
            (Some(rank), Some(keep)) => self.args.k.when(keep, || elsewhere(before[rank], &replayed.outputs)),
            _ => elsewhere(element.index(), &replayed.outputs),
        }
        Vec::new()
    }

    fn interleaves(&self, groups: usize) -> bool {
        self.writes() && self.from_fold.before.is_some() && (2..=MOST_INTERLEAVED).contains(&groups)
    }

    fn interleaved(&self, groups: &[Vec<&dyn Element<'k>>]) -> Vec<Vec<Vec<Value<'k>>>> {
        let (Some(before), Some(named)) = (self.from_fold.before, self.recipe.chained()) else { return Vec::new() };
        let start = self.state[0].get();
        let led = |group: usize| match group.checked_sub(1) {
            None => start,
            Some(place) => {
                let name = (before.get() >> (8 * place)) & 255usize;
                named.apply(self.args, name, start).expect("groups are taken interleaved where names are applied")
            }
        };
        let mut states: Vec<Value<'k>> = (0..groups.len()).map(led).collect();
        let mut written = vec![Vec::new(); groups.len()];
        for place in 0..groups[0].len() {
            for ((group, state), written) in groups.iter().zip(&mut states).zip(&mut written) {
                let replayed = self.recipe.replay(self.args, &[*state], group[place]);
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
        let packed = self.recipe.packed.as_ref().filter(|packed| packed.replays_faster(self.work()))?;
        self.writes().then(|| -> Box<dyn PackedPass<'k>> { Box::new(PackedReplay::new(self.args, packed, self.state)) })
    }
}
