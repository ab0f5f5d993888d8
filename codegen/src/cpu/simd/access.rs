//! Loads of a group of records from its columns, and stores of its results: all of them, or those
//! that are kept, side by side.

use cranelift_codegen::ir::{self, InstBuilder};
use cranelift_frontend::FunctionBuilder;
use monoscan_ir::{Layout, Source, Type};

use super::group_code::GroupCode;
use super::lanes::Lanes;
use super::{compress, shuffle};

/// For each record of a lane, the values that are read.
pub(super) type Records = Vec<Read>;

/// The components of all columns of a record, of the next one and of the one before; none for those that are not read.
#[derive(Clone, Default)]
pub(super) struct Read {
    pub(super) own: Vec<Option<ir::Value>>,
    pub(super) next: Vec<Option<ir::Value>>,
    pub(super) before: Vec<Option<ir::Value>>,
}

impl GroupCode<'_> {
    /// Loads the values of a group's records that these functions read.
    pub(super) fn load(&self, b: &mut FunctionBuilder<'_>, reads: &[&[Source]]) -> Records {
        let own = self.load_some(b, reads, 0, Source::Record);
        let next = self.load_some(b, reads, 1, Source::Next);
        let before = self.load_some(b, reads, -1, Source::Prev);
        let records = own.into_iter().zip(next).zip(before);
        records.map(|((own, next), before)| Read { own, next, before }).collect()
    }

    /// The components that are read of the records so many places on, for each record of a lane.
    fn load_some(
        &self,
        b: &mut FunctionBuilder<'_>,
        reads: &[&[Source]],
        on: i64,
        source: impl Fn(u32) -> Source,
    ) -> Vec<Vec<Option<ir::Value>>> {
        let form = self.form;
        let mut records = vec![Vec::new(); form.group.depth];
        for (column, layout) in form.inputs.iter().enumerate() {
            let before = records[0].len() as u32;
            let is_read = |place: usize| {
                let source = source(before + place as u32);
                reads.iter().any(|reads| reads.contains(&source))
            };
            let is_read: Vec<bool> = (0..layout.fields.len()).map(is_read).collect();
            let columns = match is_read.contains(&true) {
                true => {
                    let base = self.bases.inputs[column].expect("a column that is read has a base");
                    let base = if on == 0 { base } else { b.ins().iadd_imm_s(base, on * i64::from(layout.size)) };
                    let address = self.address(b, base, layout, self.place);
                    form.group.load(b, layout, &is_read, address)
                }
                false => vec![vec![None; is_read.len()]; form.group.depth],
            };
            for (record, values) in records.iter_mut().zip(columns) {
                record.extend(values);
            }
        }
        records
    }

    /// Writes the outputs of all records of a group.
    pub(super) fn store(&self, b: &mut FunctionBuilder<'_>, outputs: &[Vec<Lanes>]) {
        let form = self.form;
        let mut first = 0;
        for (column, layout) in form.outputs.iter().enumerate() {
            let range = first..first + layout.fields.len();
            first = range.end;
            let mut values = Vec::new();
            for record in outputs {
                values.push(record[range.clone()].iter().map(|lanes| lanes.vector(b, form.group.shape)).collect());
            }
            let address = self.address(b, self.bases.outputs[column], layout, self.place);
            // Of a line that is walked from its second element on, no group is aligned.
            form.group.store(b, layout, &values, (address, !form.is_alone()));
        }
    }

    /// Writes the outputs that are kept behind so many that were, and gives how many those are then. The last result of each record
    /// says whether it is kept.
    pub(super) fn keep(&self, b: &mut FunctionBuilder<'_>, outputs: &[Vec<Lanes>], mut rank: ir::Value) -> ir::Value {
        let form = self.form;
        let shape = form.group.shape;
        // Vectors with the result at a place, in the order of memory.
        let in_order = |b: &mut FunctionBuilder<'_>, place: usize, ty: Type| {
            let mut vectors = Vec::new();
            for record in outputs {
                let vector = record[place].vector(b, shape);
                vectors.push(match place + 1 == record.len() {
                    true => vector,
                    false => form.group.bits(b, ty, vector),
                });
            }
            shuffle::zip_all(b, shape, &vectors)
        };
        let columns: Vec<Vec<ir::Value>> = (form.outputs.iter().enumerate())
            .map(|(column, layout)| in_order(b, column, layout.fields[0].ty))
            .collect();
        let masks = in_order(b, form.outputs.len(), Type::Bool);
        for (vector, &mask) in masks.iter().enumerate() {
            let bits = compress::bits(b, mask);
            for (column, layout) in form.outputs.iter().enumerate() {
                let address = self.address(b, self.bases.outputs[column], layout, rank);
                compress::store(b, shape, (columns[column][vector], layout.size as usize), bits, address);
            }
            let kept = b.ins().popcnt(bits);
            rank = b.ins().iadd(rank, kept);
        }
        rank
    }

    fn address(&self, b: &mut FunctionBuilder<'_>, base: ir::Value, layout: &Layout, place: ir::Value) -> ir::Value {
        let offset = match layout.size {
            1 => place,
            size if size.is_power_of_two() => b.ins().ishl_imm_u(place, i64::from(size.trailing_zeros())),
            size => b.ins().imul_imm_u(place, i64::from(size)),
        };
        b.ins().iadd(base, offset)
    }
}
