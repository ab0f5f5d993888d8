//! The smallest automaton that does the same as another: Hopcroft's partition refinement, in
//! O(k·n·log n) for n states over k symbols.

use std::collections::HashMap;
use std::hash::Hash;

use super::dfa::{State, TokenDfa};

/// Merges states that accept alike and go on alike, and numbers them in the order in which they are met.
pub(super) fn minimise(dfa: TokenDfa) -> TokenDfa {
    let (block, count) = equivalent_states(&dfa);
    // Blocks are numbered by their first state: the dead state's is 0. The start's is 1, unless it is dead as well.
    let mut members = vec![TokenDfa::DEAD; count];
    for state in dfa.states().collect::<Vec<_>>().into_iter().rev() {
        members[block[state.index()]] = state;
    }
    if count == 1 {
        members.push(TokenDfa::START);
    }
    let next = |&q: &State| (0..dfa.classes).map(move |c| (q, c));
    TokenDfa {
        class_of: dfa.class_of,
        classes: dfa.classes,
        next: members.iter().flat_map(next).map(|(q, c)| State::new(block[dfa.next(q, c).index()])).collect(),
        accept: members.iter().map(|&q| dfa.accept(q)).collect(),
    }
}

/// Merges byte classes that no state tells apart any more.
pub(super) fn merge_classes(dfa: TokenDfa) -> TokenDfa {
    let column = |c: usize| dfa.states().map(|q| dfa.next(q, c)).collect::<Vec<_>>();
    let (merged, classes) = number_by_value((0..dfa.classes).map(column));
    let mut members = vec![0; classes];
    for class in (0..dfa.classes).rev() {
        members[merged[class]] = class;
    }
    TokenDfa {
        class_of: dfa.class_of.map(|class| merged[usize::from(class)] as u8),
        classes,
        next: dfa.states().flat_map(|q| members.iter().map(move |&c| (q, c))).map(|(q, c)| dfa.next(q, c)).collect(),
        accept: dfa.accept,
    }
}

/// The blocks of states that accept alike and go on alike, as [`equivalent`] gives them.
fn equivalent_states(dfa: &TokenDfa) -> (Vec<usize>, usize) {
    let next = |class: usize, state: usize| dfa.next(State::new(state), class).index();
    equivalent(dfa.classes, next, number_by_value(dfa.states().map(|q| dfa.accept(q))))
}

/// For each state the number of its block of equivalent states, in the order of their first states; and how many blocks there
/// are. States that symbols lead to different blocks are not equivalent, nor are those of different blocks of `first`;
/// `next(symbol, state)` is where a symbol leads.
pub(super) fn equivalent(
    symbols: usize,
    next: impl Fn(usize, usize) -> usize,
    (first, count): (Vec<usize>, usize),
) -> (Vec<usize>, usize) {
    let sources = Sources::of(first.len(), symbols, next);
    let mut partition = Partition::new(first, count);
    let mut waiting: Vec<usize> = (0..count).collect();
    let mut is_waiting = vec![true; count];
    while let Some(splitter) = waiting.pop() {
        is_waiting[splitter] = false;
        let targets = partition.members(splitter).to_vec();
        for symbol in 0..symbols {
            for &target in &targets {
                sources.of_transitions(symbol, target).iter().for_each(|&source| partition.mark(source as usize));
            }
            for (rest, marked) in partition.split() {
                is_waiting.push(false);
                // What a block has split already, its smaller part splits as finely as both.
                let is_smaller = partition.members(marked).len() <= partition.members(rest).len();
                let splitter = if is_waiting[rest] || is_smaller { marked } else { rest };
                is_waiting[splitter] = true;
                waiting.push(splitter);
            }
        }
    }
    number_by_value(partition.block.iter())
}

/// The transitions backwards.
struct Sources {
    states: usize,
    /// Where the sources for a symbol and a target begin in `sources`; one more at the end.
    starts: Vec<u32>,
    sources: Vec<u32>,
}

impl Sources {
    fn of(states: usize, symbols: usize, next: impl Fn(usize, usize) -> usize) -> Sources {
        let cells = || (0..symbols).flat_map(|symbol| (0..states).map(move |state| (symbol, state)));
        let place = |(symbol, state)| symbol * states + next(symbol, state);
        let mut starts = vec![0; symbols * states + 1];
        cells().for_each(|cell| starts[place(cell) + 1] += 1);
        for place in 1..starts.len() {
            starts[place] += starts[place - 1];
        }
        let (mut ends, mut sources) = (starts.clone(), vec![0; symbols * states]);
        for cell in cells() {
            let end = &mut ends[place(cell)];
            sources[*end as usize] = cell.1 as u32;
            *end += 1;
        }
        Sources { states, starts, sources }
    }

    fn of_transitions(&self, symbol: usize, target: usize) -> &[u32] {
        let place = symbol * self.states + target;
        &self.sources[self.starts[place] as usize..self.starts[place + 1] as usize]
    }
}

/// States in blocks that can be split. The states of a block stand side by side, those that are marked in front.
struct Partition {
    /// The block of each state.
    block: Vec<usize>,
    states: Vec<usize>,
    /// Where each state stands in `states`.
    place: Vec<usize>,
    /// Where each block begins and ends in `states`, and how many of it are marked.
    blocks: Vec<(usize, usize, usize)>,
    /// Blocks with marked states.
    touched: Vec<usize>,
}

impl Partition {
    fn new(block: Vec<usize>, count: usize) -> Partition {
        let mut states: Vec<usize> = (0..block.len()).collect();
        states.sort_by_key(|&state| block[state]);
        let mut place = vec![0; block.len()];
        let mut blocks = vec![(block.len(), 0, 0); count];
        for (at, &state) in states.iter().enumerate() {
            place[state] = at;
            let (start, end, _) = &mut blocks[block[state]];
            (*start, *end) = (at.min(*start), at + 1);
        }
        Partition { block, states, place, blocks, touched: Vec::new() }
    }

    fn members(&self, block: usize) -> &[usize] {
        let (start, end, _) = self.blocks[block];
        &self.states[start..end]
    }

    /// Marks a state that is not marked.
    fn mark(&mut self, state: usize) {
        let (start, _, marked) = &mut self.blocks[self.block[state]];
        let (from, to) = (self.place[state], *start + *marked);
        if *marked == 0 {
            self.touched.push(self.block[state]);
        }
        *marked += 1;
        let other = self.states[to];
        self.states.swap(from, to);
        (self.place[state], self.place[other]) = (to, from);
    }

    /// Makes the marked states of each block a block of their own, where others remain. Gives both, the new one second. Nothing
    /// is marked afterwards.
    fn split(&mut self) -> Vec<(usize, usize)> {
        let mut split = Vec::new();
        for rest in std::mem::take(&mut self.touched) {
            let (start, end, marked) = self.blocks[rest];
            self.blocks[rest].2 = 0;
            let middle = start + marked;
            if middle < end {
                let new = self.blocks.len();
                self.blocks[rest].0 = middle;
                self.blocks.push((start, middle, 0));
                self.states[start..middle].iter().for_each(|&state| self.block[state] = new);
                split.push((rest, new));
            }
        }
        split
    }
}

/// Gives equal values equal numbers, counted from 0 in the order of first appearance; also says how many there are.
pub(super) fn number_by_value<T: Hash + Eq>(values: impl Iterator<Item = T>) -> (Vec<usize>, usize) {
    let mut known = HashMap::new();
    let numbers = values
        .map(|value| {
            let fresh = known.len();
            *known.entry(value).or_insert(fresh)
        })
        .collect();
    (numbers, known.len())
}

#[cfg(test)]
mod tests {
    use scan_kit::Random;

    use super::*;

    /// The blocks by definition: Moore's rounds, each of which tells states apart by where they lead.
    fn by_rounds(dfa: &TokenDfa) -> (Vec<usize>, usize) {
        let (mut block, mut count) = number_by_value(dfa.states().map(|q| dfa.accept(q)));
        loop {
            let row = |q: State| (0..dfa.classes).map(|c| block[dfa.next(q, c).index()]).collect::<Vec<_>>();
            let (finer, finer_count) = number_by_value(dfa.states().map(|q| (block[q.index()], row(q))));
            if finer_count == count {
                return (block, count);
            }
            (block, count) = (finer, finer_count);
        }
    }

    #[test]
    fn blocks_are_those_of_the_definition() {
        let mut random = Random(0x4f7a);
        let mut merged = 0;
        for _ in 0..2000 {
            let (states, classes) = (2 + random.below(40), 1 + random.below(4));
            // Few targets and few kinds, so that states are equivalent.
            let targets = 1 + random.below(states);
            let next = (0..states * classes).map(|_| State::new(random.below(targets))).collect();
            let accept = (0..states).map(|_| random.chance(3).then(|| random.below(2u16))).collect();
            let dfa = TokenDfa { class_of: [0; 256], classes, next, accept };
            let (found, count) = equivalent_states(&dfa);
            assert_eq!((&found, count), (&by_rounds(&dfa).0, by_rounds(&dfa).1));
            merged += usize::from(1 < count && count < states);
        }
        assert!(merged > 1000, "{merged}");
    }
}
