//! Which records a call scans on their own, in which order, and from which state.

use super::{Asked, Over};

/// Records that are scanned on their own.
#[derive(Clone, PartialEq, Debug)]
pub struct Sequence {
    /// In the order of the scan.
    pub records: Vec<usize>,
    /// The index of the first.
    pub index: u64,
    /// Where its start comes from.
    pub start: Start,
}

/// The start of a sequence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Start {
    /// This state of those that a stream goes on from.
    Carry(usize),
    /// The initial state, or this one of them if each sequence that begins has its own.
    Init(usize),
}

impl Asked {
    /// The sequences in the order of the scan.
    pub fn sequences(&self) -> Vec<Sequence> {
        let is_rows = self.is_rows();
        let starts_anew = matches!(&self.over, Over::Heads(flags) if flags.first() == Some(&true));
        // The sequences that go on from a carry: the first one, or all rows.
        let resumed = match self.carry {
            None => 0,
            Some(_) if is_rows => usize::MAX,
            Some(_) => usize::from(!starts_anew),
        };
        let start = |k: usize| if k < resumed { Start::Carry(k) } else { Start::Init(k - resumed) };
        let mut cut: Vec<(Start, Vec<usize>)> = (0..).map(start).zip(self.cut()).collect();
        if self.reversed {
            cut.iter_mut().for_each(|(_, sequence)| sequence.reverse());
            // Rows are scanned each for itself; everything else is one line, gone through from its end.
            if !is_rows {
                cut.reverse();
            }
        }
        let mut index = 0;
        let sequence = |(start, records): (Start, Vec<usize>)| {
            let sequence = Sequence { index, start, records };
            index += if is_rows { 0 } else { sequence.records.len() as u64 };
            sequence
        };
        cut.into_iter().map(sequence).collect()
    }

    /// How many sequences begin, and take an initial state.
    pub fn begun(&self) -> usize {
        self.sequences().iter().filter(|sequence| matches!(sequence.start, Start::Init(_))).count()
    }

    /// How many states a stream carries.
    pub fn carries(&self) -> usize {
        match self.over {
            Over::Rows { planes, step, .. } => planes * step,
            _ => 1,
        }
    }

    /// How many records it writes, if it writes all.
    pub fn written(&self) -> usize {
        self.cut().iter().map(Vec::len).sum()
    }

    /// Whether several sequences start from states of their own.
    pub fn has_states_of_each(&self) -> bool {
        self.init_each.is_some() || self.carry.is_some() && self.is_rows()
    }

    pub(super) fn is_rows(&self) -> bool {
        matches!(self.over, Over::Rows { .. })
    }

    /// The results of a reduction, of the totals of the sequences in the order of the scan: one for a line, and for all segments between
    /// heads the last, from which a resumed stream goes on; else one for each sequence in the order of memory.
    pub fn totals<T>(&self, mut of_sequences: Vec<T>) -> Vec<T> {
        match self.over {
            Over::Line | Over::Heads(_) => of_sequences.split_off(of_sequences.len() - 1),
            Over::Offsets(_) | Over::Keys(_) if self.reversed => of_sequences.into_iter().rev().collect(),
            Over::Offsets(_) | Over::Keys(_) | Over::Rows { .. } => of_sequences,
        }
    }

    /// The records of every sequence, first to last, in the order of memory.
    fn cut(&self) -> Vec<Vec<usize>> {
        match &self.over {
            Over::Line => vec![(0..self.len).collect()],
            Over::Keys(changes) if changes.is_empty() => Vec::new(),
            Over::Heads(flags) | Over::Keys(flags) => {
                let heads = (1..self.len).filter(|&i| flags[i]);
                let starts: Vec<usize> = [0].into_iter().chain(heads).chain([self.len]).collect();
                starts.windows(2).map(|ends| (ends[0]..ends[1]).collect()).collect()
            }
            Over::Offsets(offsets) => offsets.windows(2).map(|ends| (ends[0]..ends[1]).collect()).collect(),
            &Over::Rows { planes, pitch, len, step } => {
                let row = |p: usize, q: usize| (0..len).map(|i| p * pitch + i * step + q).collect();
                (0..planes).flat_map(|p| (0..step).map(move |q| (p, q))).map(|(p, q)| row(p, q)).collect()
            }
        }
    }
}
