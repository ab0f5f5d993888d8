//! The two passes over a run: the fold of a level, and the replay.

use crate::gpu::NOTES;
use crate::nvptx::emit::{Ty, Value, Var};
use crate::nvptx::kernel::arguments::Given;
use crate::nvptx::kernel::element::Element;
use crate::nvptx::kernel::items::{PackedPass, Pass};
use crate::nvptx::kernel::recipe::Recipe;
use crate::nvptx::kernel::warp::{get, set};
use crate::nvptx::strategy::monoid::Named;
use crate::nvptx::strategy::packed::{PackedFold, PackedReplay};

/// No letter: what stands for that of a run's first record once it is not the next one to come.
const NO_LETTER: i128 = 256;

/// Folds a level: its state, and the components of earlier levels that it follows. It begins with the identity.
pub(crate) struct Fold<'k, 'a> {
    recipe: &'a Recipe,
    given: Given<'k, 'a>,
    level: usize,
    state: &'a [Var<'k>],
    followed: &'a [Var<'k>],
    /// In a fold by names, the name. The state is what was left behind, until the fold ends, unless it is the name itself.
    named: Option<(&'a Named, Var<'k>)>,
    notes: Option<Notes<'k>>,
    /// The letter of the run's first record, which is not written over it, as the thread before reads that.
    first: Option<Var<'k>>,
    /// The names of what comes before each unit but the first in the run, each a byte, where units are taken apart.
    before: Option<Var<'k>>,
}

/// What a fold hands on to the replay of the same run, besides a prefix.
#[derive(Clone, Copy)]
pub(crate) struct Handed<T> {
    /// The letter of the run's first record, if that is not written over it.
    first: Option<T>,
    /// The names of what comes before each unit but the first, where units are taken apart.
    before: Option<T>,
}

impl<T: Copy> Handed<T> {
    /// Nothing.
    pub(crate) const NONE: Handed<T> = Handed { first: None, before: None };

    /// What the folds of a program hand on, made one by one.
    pub(crate) fn of(recipe: &Recipe, mut make: impl FnMut() -> T) -> Handed<T> {
        Handed { first: recipe.keeps_first().then(&mut make), before: recipe.chained().map(|_| make()) }
    }

    /// What there is.
    pub(crate) fn values(self) -> impl Iterator<Item = T> {
        self.first.into_iter().chain(self.before)
    }

    /// The same of other things, made one by one.
    pub(crate) fn map<U>(self, mut make: impl FnMut(T) -> U) -> Handed<U> {
        Handed { first: self.first.map(&mut make), before: self.before.map(make) }
    }
}

/// Most units of a run that are taken apart: the names before them fit a word.
const MOST_APART: usize = 5;

/// Room in shared memory for the notes of a thread: the first of each thread side by side, then the second of each.
#[derive(Clone, Copy)]
pub(crate) struct Notes<'k> {
    /// That of its first note.
    pub(crate) first: Value<'k>,
    /// How many threads there are.
    pub(crate) threads: usize,
}

impl<'k> Notes<'k> {
    fn of(self, number: Value<'k>) -> Value<'k> {
        self.first.byte(number * (2 * self.threads))
    }
}

impl<'k, 'a> Fold<'k, 'a> {
    pub(crate) fn new(
        recipe: &'a Recipe,
        given: Given<'k, 'a>,
        level: usize,
        state: &'a [Var<'k>],
        followed: &'a [Var<'k>],
    ) -> Fold<'k, 'a> {
        let k = given.k;
        let name = |named: &Named| if named.composes() { state[0] } else { k.var(k.i32(0)) };
        let named = recipe.named(level).map(|named| (named, name(named)));
        let Handed { first, before } = Handed::of(recipe, || k.var(k.int(Ty::I32, NO_LETTER)));
        Fold { recipe, given, level, state, followed, named, notes: None, first, before }
    }

    /// The same with room for notes.
    pub(crate) fn with_notes(self, notes: Option<Notes<'k>>) -> Fold<'k, 'a> {
        Fold { notes, ..self }
    }

    /// What it hands on to the replay.
    pub(crate) fn handed(&self) -> Handed<Value<'k>> {
        Handed { first: self.first, before: self.before }.map(Var::get)
    }

    /// Puts a map behind the state.
    fn leave(&self, map: Value<'k>) {
        set(self.state, &self.recipe.combine(self.given, self.level, &get(self.state), &[map]));
    }

    /// Takes a name past elements. In a warp some lane leaves something behind at most of them, but a lane does at few: so
    /// where there is room for notes, it is noted, and done for all elements together.
    fn steps(&self, named: &Named, name: Var<'k>, elements: &[(&dyn Element<'k>, Value<'k>)]) {
        let k = self.given.k;
        let notes = self.notes.filter(|_| named.leaves_by_place());
        let noted = k.var(k.i32(0));
        for &(element, mark) in elements {
            let before = name.get();
            let place = named.place(self.given, before, mark);
            let after = named.step(self.given, place);
            if !named.leaves() {
                name.set(after);
                continue;
            }
            let leaves = after & 1usize;
            name.set(after - leaves);
            k.when(leaves.is(k.i32(1)), || match notes {
                Some(notes) => {
                    notes.of(noted.get()).store(place.resize(Ty::Int(16)), 2);
                    noted.set(noted.get() + 1);
                }
                None => self.leave(named.left(self.given, (place, before), element)),
            });
        }
        if let Some(notes) = notes {
            k.range(k.i32(0), noted.get(), k.i32(1), |note| {
                let place = notes.of(note).load(Ty::Int(16), 2).resize(Ty::I32);
                self.leave(named.left_at(self.given, place));
            });
        }
    }

    /// What is written over a record: its letter, if that is left to the replay.
    fn letter(&self, mark: Value<'k>) -> Vec<Value<'k>> {
        let letter = mark.resize(Ty::I8);
        if let Some(first) = self.first {
            let is_first = first.get().is(first.get().same(NO_LETTER));
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
        let after = self.recipe.step(self.given, self.level, &get(self.state), &mut followed, element);
        set(self.state, &after);
        set(self.followed, &followed);
        Vec::new()
    }

    fn elements(&self, elements: &[&dyn Element<'k>]) -> Vec<Vec<Value<'k>>> {
        let Some((named, name)) = self.named else {
            return elements.iter().map(|&element| self.element(element)).collect();
        };
        // Marks are looked up side by side, names one after the other.
        let marks: Vec<Value<'k>> = elements.iter().map(|&element| named.mark(self.given, element)).collect();
        let marked: Vec<_> = elements.iter().copied().zip(marks.iter().copied()).collect();
        marked.chunks(NOTES).for_each(|marked| self.steps(named, name, marked));
        marks.into_iter().map(|mark| self.letter(mark)).collect()
    }

    fn takes_apart(&self, units: usize) -> bool {
        self.before.is_some() && (2..=MOST_APART).contains(&units)
    }

    fn apart(&self, units: &[Vec<&dyn Element<'k>>]) -> Vec<Vec<Vec<Value<'k>>>> {
        let Some((named, name)) = self.named else { return Vec::new() };
        let k = self.given.k;
        let mut names = vec![k.i32(0); units.len()];
        let mut written = vec![Vec::new(); units.len()];
        for place in 0..units[0].len() {
            for ((unit, name), written) in units.iter().zip(&mut names).zip(&mut written) {
                let mark = named.mark(self.given, unit[place]);
                *name = named.step(self.given, named.place(self.given, *name, mark));
                written.push(self.letter(mark));
            }
        }
        let (mut all, mut before) = (names[0], k.i32(0));
        for (place, &own) in names[1..].iter().enumerate() {
            before = before | (all << (8 * place));
            all = named.compose(self.given, all, own).expect("units are taken apart where names are composed");
        }
        name.set(all);
        if let Some(handed) = self.before {
            handed.set(before);
        }
        written
    }

    fn end(&self) {
        match self.named {
            Some((named, name)) if !named.composes() => self.leave(named.map(self.given, name.get())),
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
    /// What the fold handed on.
    pub(crate) handed: Handed<Var<'k>>,
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
        let known = self.handed.first.map(|first| {
            let (letter, none) = (first.get(), first.get().same(NO_LETTER));
            first.set(none);
            Known { element, record: letter.is(none).select(element.record(0), letter.resize(Ty::I8)) }
        });
        let element = known.as_ref().map_or(element, |known| known);
        let replayed = self.recipe.replay(self.given, &before, element);
        set(self.state, &replayed.after);
        let Some(elsewhere) = self.elsewhere else { return replayed.outputs };
        match (self.recipe.rank, replayed.keep) {
            (Some(rank), Some(keep)) => self.given.k.when(keep, || elsewhere(before[rank], &replayed.outputs)),
            _ => elsewhere(element.index(), &replayed.outputs),
        }
        Vec::new()
    }

    fn takes_apart(&self, units: usize) -> bool {
        self.writes() && self.handed.before.is_some() && (2..=MOST_APART).contains(&units)
    }

    fn apart(&self, units: &[Vec<&dyn Element<'k>>]) -> Vec<Vec<Vec<Value<'k>>>> {
        let (Some(before), Some(named)) = (self.handed.before, self.recipe.chained()) else { return Vec::new() };
        let start = self.state[0].get();
        let led = |unit: usize| match unit.checked_sub(1) {
            None => start,
            Some(place) => {
                let name = (before.get() >> (8 * place)) & 255usize;
                named.apply(self.given, name, start).expect("units are taken apart where names are applied")
            }
        };
        let mut states: Vec<Value<'k>> = (0..units.len()).map(led).collect();
        let mut written = vec![Vec::new(); units.len()];
        for place in 0..units[0].len() {
            for ((unit, state), written) in units.iter().zip(&mut states).zip(&mut written) {
                let replayed = self.recipe.replay(self.given, &[*state], unit[place]);
                *state = replayed.after[0];
                written.push(replayed.outputs);
            }
        }
        self.state[0].set(states[units.len() - 1]);
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
        self.writes()
            .then(|| -> Box<dyn PackedPass<'k>> { Box::new(PackedReplay::new(self.given, packed, self.state)) })
    }
}
