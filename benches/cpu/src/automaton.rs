//! A lexer's automaton as a sequential lexer would have it, for rivals: found from the tables of
//! the scan.
//!
//! The scan knows a state by the class of the last byte and a rank. Those pairs are followed from
//! all first bytes, and pairs that no text tells apart are merged, so that the rivals' tables are
//! as small as they can be.

use std::collections::HashMap;

use monoscan::lexer::RankTables;

/// A class of bytes, and a rank in its image.
type Pair = (usize, u8);

/// States in a dense table. A label becomes known with the byte after it.
pub(crate) struct Automaton {
    class_of: [u8; 256],
    classes: usize,
    /// The state after the first byte, by its class.
    first: Vec<u16>,
    /// The step of a byte of a class from a state, at `state * classes + class`: the next state, and the label of the byte before.
    moves: Vec<(u16, u8)>,
    /// The label of the last byte, by the state after it.
    last: Vec<u8>,
}

impl Automaton {
    pub(crate) fn new(tables: &RankTables) -> Automaton {
        let classes = tables.classes();
        let place = |(class, rank): Pair, next| tables.pair(class, next) * tables.width() + usize::from(rank);
        let step = |pair, next| (next, tables.advance()[place(pair, Some(next))]);
        let label = |pair, next| tables.label()[place(pair, next)] as u8;

        let mut pairs: Vec<Pair> = (0..classes).map(|class| (class, 0)).collect();
        let mut known: HashMap<Pair, usize> = pairs.iter().copied().zip(0..).collect();
        let mut at = 0;
        while let Some(&pair) = pairs.get(at) {
            for next in (0..classes).map(|class| step(pair, class)) {
                known.entry(next).or_insert_with(|| {
                    pairs.push(next);
                    pairs.len() - 1
                });
            }
            at += 1;
        }

        // Moore's refinement: states differ if their labels do, or if the states do that they lead to.
        let labels = |pair: Pair| -> Vec<usize> {
            (0..classes).map(Some).chain([None]).map(|next| usize::from(label(pair, next))).collect()
        };
        let mut groups = number(pairs.iter().map(|&pair| labels(pair)));
        loop {
            let ahead = |pair: Pair| (0..classes).map(|class| groups[known[&step(pair, class)]]).collect::<Vec<_>>();
            let finer = number(pairs.iter().zip(&groups).map(|(&pair, &group)| [vec![group], ahead(pair)].concat()));
            if finer == groups {
                break;
            }
            groups = finer;
        }
        let states = groups.iter().max().map_or(0, |greatest| greatest + 1);
        let one_of: Vec<Pair> = (0..states)
            .map(|state| pairs[groups.iter().position(|&group| group == state).expect("numbers have no gaps")])
            .collect();
        let state = |pair: Pair| groups[known[&pair]] as u16;
        Automaton {
            class_of: *tables.class_of(),
            classes,
            first: (0..classes).map(|class| state((class, 0))).collect(),
            moves: one_of
                .iter()
                .flat_map(|&pair| (0..classes).map(move |class| (state(step(pair, class)), label(pair, Some(class)))))
                .collect(),
            last: one_of.iter().map(|&pair| label(pair, None)).collect(),
        }
    }

    /// How many states hold after some byte.
    #[cfg(test)]
    pub(crate) fn states(&self) -> usize {
        self.last.len()
    }

    /// The labels of a text, by the loop that everyone writes.
    #[inline(never)]
    pub(crate) fn labels(&self, text: &[u8], labels: &mut [u8]) {
        let class = |byte: u8| usize::from(self.class_of[usize::from(byte)]);
        let (Some((&first, text)), Some((last, labels))) = (text.split_first(), labels.split_last_mut()) else {
            return;
        };
        let mut state = self.first[class(first)];
        for (&byte, before) in text.iter().zip(labels) {
            (state, *before) = self.moves[usize::from(state) * self.classes + class(byte)];
        }
        *last = self.last[usize::from(state)];
    }

    /// The same with premultiplied states.
    pub(crate) fn premultiplied(&self) -> Premultiplied<'_> {
        let row = |state: u16| u32::from(state) * self.classes as u32;
        let moves = self.moves.iter().map(|&(state, label)| row(state) << 8 | u32::from(label)).collect();
        Premultiplied { automaton: self, moves }
    }
}

/// A table in which states are where their rows begin, and a label comes with the next state: a load a byte.
pub(crate) struct Premultiplied<'a> {
    automaton: &'a Automaton,
    moves: Vec<u32>,
}

impl Premultiplied<'_> {
    /// The labels of a text.
    #[inline(never)]
    pub(crate) fn labels(&self, text: &[u8], labels: &mut [u8]) {
        let Automaton { class_of, classes, first, last, .. } = self.automaton;
        let class = |byte: u8| usize::from(class_of[usize::from(byte)]);
        let (Some((&start, text)), Some((end, labels))) = (text.split_first(), labels.split_last_mut()) else { return };
        let mut row = usize::from(first[class(start)]) * classes;
        for (&byte, before) in text.iter().zip(labels) {
            let step = self.moves[row + class(byte)];
            *before = step as u8;
            row = (step >> 8) as usize;
        }
        *end = last[row / classes];
    }
}

/// Numbers equal keys alike, in order of their first appearance.
fn number(keys: impl Iterator<Item = Vec<usize>>) -> Vec<usize> {
    let mut numbers = HashMap::new();
    keys.map(|key| {
        let next = numbers.len();
        *numbers.entry(key).or_insert(next)
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use monoscan::lexer::{LexerTables, Rules};

    use super::*;

    #[test]
    fn it_is_the_lexer_s_automaton_and_no_larger() {
        let tables = LexerTables::new(&Rules::json()).unwrap();
        let automaton = Automaton::new(tables.ranks().expect("one pass lexes JSON"));
        assert!(automaton.states() <= tables.states(), "{} states", automaton.states());
        let noise = bench_shared::data::bytes(1000);
        let text = [&bench_shared::data::json(5000)[..], b"\"open \\u12", &noise, b"-1.e tru 0x"].concat();
        for len in (0..20).chain([text.len()]) {
            let expected = tables.label_sequentially(&text[..len]);
            let mut labels = [vec![0; len], vec![0; len]];
            automaton.labels(&text[..len], &mut labels[0]);
            automaton.premultiplied().labels(&text[..len], &mut labels[1]);
            assert_eq!(labels, [expected.clone(), expected]);
        }
    }
}
