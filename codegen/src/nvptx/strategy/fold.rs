//! The fold of a level, as a pass over a run, and what it leaves for the replay.

use std::cell::Cell;

use crate::gpu::MOST_DEFERRED;
use crate::nvptx::emit::{Ty, Value, Var};
use crate::nvptx::kernel::arguments::KernelArguments;
use crate::nvptx::kernel::element::Element;
use crate::nvptx::kernel::items::{PackedPass, Pass};
use crate::nvptx::kernel::recipe::{OwnFold, Recipe};
use crate::nvptx::kernel::warp::{get, set, variables};
use crate::nvptx::strategy::map_ids::MapIds;
use crate::nvptx::strategy::packed::{Packed, PackedFold};

/// Sentinel: the first symbol was consumed.
const CONSUMED: i128 = 256;

/// Folds a level: its state, and the components of earlier levels that it follows. It begins with the identity.
pub struct Fold<'k, 'a> {
    recipe: &'a Recipe,
    args: KernelArguments<'k, 'a>,
    level: usize,
    state: &'a [Var<'k>],
    followed: &'a [Var<'k>],
    strategy: Strategy<'k, 'a>,
    /// The results of the fold of the first level.
    given: FoldToReplay<Var<'k>>,
}

/// How a fold takes its records.
enum Strategy<'k, 'a> {
    /// The state of each is combined.
    Direct,
    /// The states of four are, where records are in whole words; else as above.
    Packed(&'a Packed),
    /// The numbers of the loop go past each.
    Own { own: &'a OwnFold, values: Vec<Var<'k>>, next: Cell<Next> },
    /// Each has an output symbol, and those that are kept are counted, in the low byte.
    Mealy { kept: Var<'k> },
    /// An id is looked up, or the map of a symbol, which is composed. The state is what was deferred, until the fold ends, unless
    /// states are ids.
    MapIds {
        map_ids: &'a MapIds,
        /// The id, or the word that maps are composed in.
        id: Var<'k>,
        /// Where compositions are queued, if they are.
        queue: Option<Deferred<'k>>,
        from_fold: FoldToReplay<Var<'k>>,
    },
}

/// The element that is written next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    /// Any.
    Any,
    /// The thread's first.
    First,
    /// One behind it.
    Later,
}

/// Data that the fold of the first level leaves for later passes over the same items, besides a prefix.
#[derive(Clone, Copy)]
pub struct FoldToReplay<T> {
    /// The symbol of the thread's first record, if that is not written over it.
    pub(super) first: Option<T>,
    /// The ids of what comes before each load group but the first, each a byte, where groups are interleaved.
    pub(super) before: Option<T>,
}

impl<T: Copy> FoldToReplay<T> {
    /// Nothing.
    pub const NONE: FoldToReplay<T> = FoldToReplay { first: None, before: None };

    /// Fold-to-replay data of a program, made one by one.
    pub fn of(recipe: &Recipe, mut make: impl FnMut() -> T) -> FoldToReplay<T> {
        FoldToReplay { first: recipe.keeps_first().then(&mut make), before: recipe.chained().map(|_| make()) }
    }

    /// The data that there are.
    pub fn values(self) -> impl Iterator<Item = T> {
        self.first.into_iter().chain(self.before)
    }

    /// The same of other things, made one by one.
    pub fn map<U>(self, mut make: impl FnMut(T) -> U) -> FoldToReplay<U> {
        FoldToReplay { first: self.first.map(&mut make), before: self.before.map(make) }
    }
}

impl<'k> FoldToReplay<Var<'k>> {
    /// An element whose record may be the first symbol, which is then consumed. None if no symbol is kept apart.
    pub(super) fn known<'e>(&self, element: &'e dyn Element<'k>) -> Option<Known<'k, 'e>> {
        let first = self.first?;
        let (symbol, none) = (first.get(), first.get().same(CONSUMED));
        first.set(none);
        Some(Known { element, record: symbol.is(none).select(element.record(0), symbol.resize(Ty::I8)) })
    }
}

/// Most load groups that are interleaved: the ids before them fit a word.
pub(super) const MOST_INTERLEAVED: usize = 5;

/// The queues of deferred compositions in shared memory: the first of each thread side by side, then the second of each.
#[derive(Clone, Copy)]
pub struct Deferred<'k> {
    /// That of a thread's first one.
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
        let by_look_up = |map_ids: &'a MapIds| {
            let id = if map_ids.is_closed() { state[0] } else { k.var(map_ids.first(k)) };
            let from_fold = FoldToReplay::of(recipe, || k.var(k.int(Ty::I32, CONSUMED)));
            Strategy::MapIds { map_ids, id, queue: None, from_fold }
        };
        let strategy = match (recipe.map_ids(level), recipe.packed_fold(level)) {
            _ if recipe.is_mealy && level > 0 => Strategy::Mealy { kept: k.var(k.i32(0)) },
            _ if recipe.leaves_numbers && level > 0 => Strategy::Direct,
            (Some(map_ids), _) => by_look_up(map_ids),
            (None, Some(packed)) => Strategy::Packed(packed),
            (None, None) => match recipe.own_fold(level) {
                Some(own) => {
                    let values = variables(&own.start(k));
                    Strategy::Own { own, values, next: Cell::new(Next::Any) }
                }
                None => Strategy::Direct,
            },
        };
        Fold { recipe, args, level, state, followed, strategy, given: FoldToReplay::NONE }
    }

    /// The same behind a fold that left this.
    pub fn after(self, given: FoldToReplay<Var<'k>>) -> Fold<'k, 'a> {
        Fold { given, ..self }
    }

    /// The same with a queue for deferred compositions.
    pub fn with_deferred(mut self, deferred: Option<Deferred<'k>>) -> Fold<'k, 'a> {
        if let Strategy::MapIds { map_ids, queue, .. } = &mut self.strategy {
            *queue = deferred.filter(|_| map_ids.queues());
        }
        self
    }

    /// The data that it leaves for the replay.
    pub fn from_fold(&self) -> FoldToReplay<Value<'k>> {
        self.variables().map(Var::get)
    }

    fn variables(&self) -> FoldToReplay<Var<'k>> {
        match self.strategy {
            Strategy::Direct | Strategy::Packed(_) | Strategy::Own { .. } | Strategy::Mealy { .. } => {
                FoldToReplay::NONE
            }
            Strategy::MapIds { from_fold, .. } => from_fold,
        }
    }

    /// Puts a map behind the state.
    fn compose(&self, map: &[Value<'k>]) {
        set(self.state, &self.recipe.combine(self.args, self.level, &get(self.state), map));
    }

    /// Takes an id past elements. Some lane of a warp usually needs a composition, each lane rarely: so lanes queue theirs,
    /// if there is a queue, and do them after these elements.
    fn steps(
        &self,
        (map_ids, id): (&MapIds, Var<'k>),
        queue: Option<Deferred<'k>>,
        elements: &[(&dyn Element<'k>, Value<'k>)],
    ) {
        let k = self.args.k;
        let count = k.var(k.i32(0));
        for &(element, symbol) in elements {
            let before = id.get();
            let entry = map_ids.entry(self.args, before, symbol);
            let after = map_ids.step(self.args, entry);
            if !map_ids.defers() {
                id.set(after);
                continue;
            }
            let defers = after & 1usize;
            id.set(after - defers);
            k.when(defers.is(k.i32(1)), || match queue {
                Some(queue) => {
                    queue.of(count.get()).store(entry.resize(Ty::Int(16)), 2);
                    count.set(count.get() + 1);
                }
                None => {
                    let map = map_ids.deferred(self.args, (entry, before), element);
                    map.iter().for_each(|map| self.compose(map));
                }
            });
        }
        if let Some(queue) = queue {
            k.range(k.i32(0), count.get(), k.i32(1), |place| {
                let entry = queue.of(place).load(Ty::Int(16), 2).resize(Ty::I32);
                map_ids.deferred_at(self.args, entry).iter().for_each(|map| self.compose(map));
            });
        }
    }

    /// The value that is written over a record: its symbol, if that is left to the replay.
    fn symbol(&self, symbol: Value<'k>) -> Vec<Value<'k>> {
        let symbol = symbol.resize(Ty::I8);
        if let Some(first) = self.variables().first {
            let is_first = first.get().is(first.get().same(CONSUMED));
            first.set(is_first.select(symbol.resize(Ty::I32), first.get()));
        }
        if self.writes() { vec![symbol] } else { Vec::new() }
    }
}

impl<'k> Pass<'k> for Fold<'k, '_> {
    fn element(&self, element: &dyn Element<'k>) -> Vec<Value<'k>> {
        if let Strategy::MapIds { .. } = self.strategy {
            return self.elements(&[element]).concat();
        }
        let known = self.given.known(element);
        let element = known.as_ref().map_or(element, |known| known);
        if let Strategy::Mealy { kept } = self.strategy {
            let lane = self.followed[0];
            let [after, output, is_kept] = self.recipe.mealy_step(self.args, self.level, lane.get(), element);
            lane.set(after);
            kept.set(kept.get() + is_kept);
            return vec![output];
        }
        if let Strategy::Own { own, values, next } = &self.strategy {
            let step = own.step(next.get() == Next::Later);
            set(values, &self.recipe.write(self.args, step, &get(values), element));
            if next.get() == Next::First {
                next.set(Next::Later);
            }
            return Vec::new();
        }
        let mut followed = get(self.followed);
        let (after, left) = self.recipe.step(self.args, self.level, &get(self.state), &mut followed, element);
        set(self.state, &after);
        set(self.followed, &followed);
        left.into_iter().collect()
    }

    fn elements(&self, elements: &[&dyn Element<'k>]) -> Vec<Vec<Value<'k>>> {
        let Strategy::MapIds { map_ids, id, queue, .. } = self.strategy else {
            return elements.iter().map(|&element| self.element(element)).collect();
        };
        // Symbols are looked up side by side, ids one after the other.
        let symbols: Vec<Value<'k>> = elements.iter().map(|&element| map_ids.symbol(self.args, element)).collect();
        match map_ids.composed(self.args, id.get(), &symbols) {
            Some(word) => id.set(word),
            None => {
                let known: Vec<_> = elements.iter().copied().zip(symbols.iter().copied()).collect();
                known.chunks(MOST_DEFERRED).for_each(|elements| self.steps((map_ids, id), queue, elements));
            }
        }
        symbols.into_iter().map(|symbol| self.symbol(symbol)).collect()
    }

    fn interleaves(&self, groups: usize) -> bool {
        self.variables().before.is_some() && (2..=MOST_INTERLEAVED).contains(&groups)
    }

    fn interleaved(&self, groups: &[Vec<&dyn Element<'k>>]) -> Vec<Vec<Vec<Value<'k>>>> {
        let Strategy::MapIds { map_ids, id, from_fold, .. } = self.strategy else { return Vec::new() };
        let k = self.args.k;
        let mut ids = vec![k.i32(0); groups.len()];
        let mut written = vec![Vec::new(); groups.len()];
        for place in 0..groups[0].len() {
            for ((group, id), written) in groups.iter().zip(&mut ids).zip(&mut written) {
                let symbol = map_ids.symbol(self.args, group[place]);
                *id = map_ids.step(self.args, map_ids.entry(self.args, *id, symbol));
                written.push(self.symbol(symbol));
            }
        }
        let (mut all, mut before) = (ids[0], k.i32(0));
        for (place, &own) in ids[1..].iter().enumerate() {
            before = before | (all << (8 * place));
            all = map_ids.compose(self.args, all, own).expect("groups are interleaved where ids are composed");
        }
        id.set(all);
        if let Some(saved) = from_fold.before {
            saved.set(before);
        }
        written
    }

    fn in_order(&self, is_so: bool) {
        if let Strategy::Own { next, .. } = &self.strategy {
            next.set(if is_so { Next::First } else { Next::Any });
        }
    }

    fn end(&self) {
        match self.strategy {
            Strategy::Own { own, ref values, .. } => set(self.state, &own.leave(self.args, &get(values))),
            Strategy::MapIds { map_ids, id, .. } if !map_ids.is_closed() => {
                self.compose(&map_ids.map(self.args, id.get()));
            }
            Strategy::Mealy { kept } => {
                let rank = self.state[0];
                rank.set(rank.get() + (kept.get() & 255usize).resize(rank.get().ty()));
            }
            _ => {}
        }
    }

    fn writes(&self) -> bool {
        match self.strategy {
            Strategy::MapIds { .. } => self.recipe.symbols.is_some(),
            Strategy::Mealy { .. } => true,
            Strategy::Direct => self.recipe.leaves_numbers && self.level > 0,
            Strategy::Packed(_) | Strategy::Own { .. } => false,
        }
    }

    fn spares_first(&self) -> bool {
        self.variables().first.is_some()
    }

    fn work(&self) -> usize {
        match self.strategy {
            Strategy::Direct | Strategy::Packed(_) | Strategy::Own { .. } | Strategy::Mealy { .. } => {
                self.recipe.step_work(self.level)
            }
            Strategy::MapIds { map_ids, .. } => map_ids.work(),
        }
    }

    fn packed(&self) -> Option<Box<dyn PackedPass<'k> + '_>> {
        let Strategy::Packed(packed) = self.strategy else { return None };
        Some(Box::new(PackedFold::new(self.args, packed, self.state)))
    }
}

/// An element of which it is known what the record is.
pub(super) struct Known<'k, 'a> {
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

    fn prev(&self, component: usize) -> Value<'k> {
        self.element.prev(component)
    }

    fn is_first(&self) -> Value<'k> {
        self.element.is_first()
    }

    fn is_last(&self) -> Value<'k> {
        self.element.is_last()
    }

    fn index(&self) -> Value<'k> {
        self.element.index()
    }
}
