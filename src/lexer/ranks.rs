//! Rank compression: maps between many states become maps between few ranks.
//!
//! A scan over an automaton composes its transition functions, one entry a state. But once a byte
//! of class x has been read, the automaton can only be in the *image* of x, the states that x leads
//! to from anywhere: at most eight for JSON, out of 36. So the states of each image are numbered,
//! and a state is known by its *rank* in the image of the last byte. The state that x leads to when
//! nothing is pending has rank 0, always.
//!
//! Element i of the scan is the map m\[i\] from ranks in the image of x\[i\] to ranks in the image
//! of x\[i + 1\], by reading x\[i + 1\]. It depends on this pair of classes alone; at the last byte
//! it is the identity. Elements are combined by composition, and m\[0\] … m\[i − 1\] composed,
//! applied to rank 0, which is where x\[0\] led, is the rank of the automaton once it has read
//! x\[i\]. So lane 0 of the state *before* element i, the pair of classes, and a table give byte i
//! its label.

use super::dfa::State;
use super::label::Codes;
use super::restart::LexAutomaton;

/// The most ranks that one image may have.
pub const MAX_RANKS: usize = 128;

/// The tables that the scan reads: maps and labels for each pair of neighbouring byte classes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankTables {
    class_of: [u8; 256],
    classes: usize,
    ranks: usize,
    width: usize,
    advance: Vec<u8>,
    label: Vec<u16>,
    codes: Codes,
}

impl RankTables {
    /// None if an image has more than [`MAX_RANKS`].
    pub(super) fn new(automaton: &LexAutomaton) -> Option<RankTables> {
        let images = images(automaton);
        let ranks = images.iter().map(Vec::len).max().unwrap_or(0);
        if ranks > MAX_RANKS {
            return None;
        }
        let width = if ranks <= 8 { 8 } else { ranks.next_multiple_of(16) };
        let mut tables = RankTables {
            class_of: automaton.class_of,
            classes: automaton.classes,
            ranks,
            width,
            advance: Vec::new(),
            label: Vec::new(),
            codes: automaton.codes,
        };
        for image in &images {
            for next in (0..automaton.classes).map(Some).chain([None]) {
                tables.push_pair(automaton, image, next.map(|class| (class, &images[class][..])));
            }
        }
        Some(tables)
    }

    /// Appends the rows of the bytes that lead to `image` before a byte of the class `next`, or before the end.
    fn push_pair(&mut self, automaton: &LexAutomaton, image: &[State], next: Option<(usize, &[State])>) {
        for rank in 0..self.width {
            let (advance, label) = match (image.get(rank), next) {
                // Lanes beyond the image mean nothing. They must only stay within the vector.
                (None, None) => (rank, 0),
                (None, Some(_)) => (0, 0),
                (Some(&state), None) => (rank, automaton.label(state, None)),
                (Some(&state), Some((class, next_image))) => {
                    let to = automaton.next(state, class);
                    let rank =
                        next_image.iter().position(|&q| q == to).expect("an image has all states its class leads to");
                    (rank, automaton.label(state, Some(class)))
                }
            };
            self.advance.push(advance as u8);
            self.label.push(label);
        }
    }

    /// The class of every byte.
    pub fn class_of(&self) -> &[u8; 256] {
        &self.class_of
    }

    /// How many classes of bytes there are, the end of the input not counted.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The size of the largest image.
    pub fn ranks(&self) -> usize {
        self.ranks
    }

    /// The bytes of a map: 8, or a multiple of 16.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The row of a class before another, or before the end of the input.
    pub fn pair(&self, class: usize, next: Option<usize>) -> usize {
        class * (self.classes + 1) + next.unwrap_or(self.classes)
    }

    /// How many rows the tables have.
    pub fn pairs(&self) -> usize {
        self.classes * (self.classes + 1)
    }

    /// The maps, [`Self::width`] bytes a row. Before the end of the input they are the identity.
    pub fn advance(&self) -> &[u8] {
        &self.advance
    }

    /// The labels by rank, [`Self::width`] of them a row.
    pub fn label(&self) -> &[u16] {
        &self.label
    }

    pub(super) fn codes(&self) -> Codes {
        self.codes
    }
}

/// For each class, the states that it leads to; first the one it leads to when nothing is pending.
fn images(automaton: &LexAutomaton) -> Vec<Vec<State>> {
    let image = |class| {
        let mut image: Vec<State> = automaton.states().map(|q| automaton.next(q, class)).collect();
        let restart = automaton.next(LexAutomaton::IDLE, class);
        image.sort_unstable_by_key(|&q| (q != restart, q));
        image.dedup();
        image
    };
    (0..automaton.classes).map(image).collect()
}
