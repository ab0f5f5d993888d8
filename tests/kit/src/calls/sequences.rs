//! Which records a call scans on their own, in which order, and from which state.

use super::{Asked, Over};

/// Records that are scanned on their own.
#[derive(Clone, PartialEq, Debug)]
pub struct Sequence {
    /// In the order of the scan.
    pub records: Vec<usize>,
    /// The index of the first.
    pub index: u64,
    /// Whether a resumed stream goes on here; else the sequence starts from the initial state.
    pub resumes: bool,
}

impl Asked {
    /// The sequences in the order of the scan.
    pub fn sequences(&self) -> Vec<Sequence> {
        let is_rows = matches!(self.over, Over::Rows { .. });
        let starts_anew = matches!(&self.over, Over::Heads(flags) if flags.first() == Some(&true));
        let mut cut = self.cut();
        if self.reversed {
            cut.iter_mut().for_each(|sequence| sequence.reverse());
            // Rows are scanned each for itself; everything else is one line, gone through from its end.
            if !is_rows {
                cut.reverse();
            }
        }
        let mut index = 0;
        let sequence = |(k, records): (usize, Vec<usize>)| {
            let sequence = Sequence { index, resumes: k == 0 && self.carry.is_some() && !starts_anew, records };
            index += if is_rows { 0 } else { sequence.records.len() as u64 };
            sequence
        };
        cut.into_iter().enumerate().map(sequence).collect()
    }

    /// What a reduction gives, of the totals of the sequences in the order of the scan: one for a line, and for all segments between
    /// heads the last, from which a resumed stream goes on; else one for each sequence in the order of memory.
    pub fn totals<T>(&self, mut of_sequences: Vec<T>) -> Vec<T> {
        match self.over {
            Over::Line | Over::Heads(_) => of_sequences.split_off(of_sequences.len() - 1),
            Over::Offsets(_) if self.reversed => of_sequences.into_iter().rev().collect(),
            Over::Offsets(_) | Over::Rows { .. } => of_sequences,
        }
    }

    /// The records of every sequence, first to last, in the order of memory.
    fn cut(&self) -> Vec<Vec<usize>> {
        match &self.over {
            Over::Line => vec![(0..self.len).collect()],
            Over::Heads(flags) => {
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
