//! Columns in memory: at odd addresses, with bytes around and between their records that nobody may
//! write.

use std::ops::Range;

use monoscan_ir::{Layout, Type};
use monoscan_runtime::{Bits, Column, ColumnMut};

use super::subject::poison;
use crate::Random;

/// How the records of a column lie.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Form {
    /// One after the other.
    Dense,
    /// So many bytes from one to the next.
    Apart(isize),
    /// As bits, from this one on.
    Bits(usize),
}

impl Form {
    /// The form of an input column of a call that draws forms by `seed`.
    pub(super) fn of_input(seed: u64, column: usize, layout: &Layout) -> Form {
        let mut random = Random(seed.wrapping_add(column as u64));
        match random.below(6) {
            0 => Form::Dense,
            1 => Form::Apart(0),
            2 | 3 if layout.fields.len() == 1 && layout.fields[0].ty == Type::Bool && layout.size == 1 => {
                Form::Bits(random.below(20))
            }
            _ => Form::apart(&mut random, layout),
        }
    }

    /// The same of an output column.
    pub(super) fn of_output(seed: u64, column: usize, layout: &Layout) -> Form {
        let mut random = Random(seed.wrapping_add(column as u64).wrapping_mul(3));
        if random.chance(4) { Form::Dense } else { Form::apart(&mut random, layout) }
    }

    fn apart(random: &mut Random, layout: &Layout) -> Form {
        let bytes = layout.size as isize + random.below(9) as isize;
        Form::Apart(if random.chance(2) { bytes } else { -bytes })
    }
}

/// A column.
pub struct Memory<'l> {
    /// The bytes of its records, and others around and between them.
    pub all: Vec<u8>,
    /// The byte that record 0 starts at.
    pub first: usize,
    pub form: Form,
    pub len: usize,
    pub layout: &'l Layout,
}

impl<'l> Memory<'l> {
    const AFTER: usize = 64;

    /// Records that hold these bytes, the lowest address `at` bytes behind what an allocation gives.
    pub(super) fn new(bytes: &[u8], layout: &'l Layout, form: Form, at: usize) -> Memory<'l> {
        let size = layout.size as usize;
        let len = bytes.len() / size;
        let step = match form {
            Form::Apart(step) => step,
            _ => size as isize,
        };
        let extent = step.unsigned_abs() * len.max(1) + size;
        let first = if step < 0 { at + step.unsigned_abs() * (len.max(1) - 1) } else { at };
        let mut memory = Memory { all: poison(at + extent + Memory::AFTER), first, form, len, layout };
        for (place, record) in bytes.chunks(size).enumerate() {
            match form {
                Form::Bits(bit) => {
                    let bit = 8 * first + bit + place;
                    memory.all[bit / 8] &= !(1 << (bit % 8));
                    memory.all[bit / 8] |= u8::from(record[0] != 0) << (bit % 8);
                }
                _ => {
                    let record_at = memory.record(place);
                    memory.all[record_at].copy_from_slice(record);
                }
            }
        }
        memory
    }

    /// From one record to the next, in bytes.
    pub fn step(&self) -> isize {
        if let Form::Apart(step) = self.form { step } else { self.layout.size as isize }
    }

    fn record(&self, place: usize) -> Range<usize> {
        let start = self.first.wrapping_add_signed(self.step() * place as isize);
        start..start + self.layout.size as usize
    }

    pub(super) fn column(&self) -> Column<'_> {
        let Memory { all, first, len, layout, .. } = self;
        match self.form {
            Form::Bits(bit) => Column::bits(Bits::new(all, 8 * first + bit, *len).expect("bits that are there")),
            Form::Dense => Column::from_bytes(&all[self.dense()], layout).expect("whole records"),
            Form::Apart(step) => Column::strided(all, layout, *first, step, *len).expect("records that are there"),
        }
    }

    pub(super) fn column_mut(&mut self) -> ColumnMut<'_> {
        let dense = self.dense();
        let Memory { all, first, len, layout, .. } = self;
        match self.form {
            Form::Apart(step) => ColumnMut::strided(all, layout, *first, step, *len).expect("records apart"),
            _ => ColumnMut::from_bytes(&mut all[dense], layout).expect("whole records"),
        }
    }

    /// The bytes of records one after the other.
    fn dense(&self) -> Range<usize> {
        self.first..self.first + self.len * self.layout.size as usize
    }

    /// The records, one after the other.
    pub(super) fn records(&self) -> Vec<u8> {
        let mut records = Vec::with_capacity(self.len * self.layout.size as usize);
        (0..self.len).for_each(|place| records.extend_from_slice(&self.all[self.record(place)]));
        records
    }

    /// Whether nothing was written but records.
    pub(super) fn is_intact_around(&self) -> bool {
        let mut fresh = poison(self.all.len());
        for place in 0..self.len {
            let record = self.record(place);
            fresh[record.clone()].copy_from_slice(&self.all[record]);
        }
        self.all == fresh
    }
}
