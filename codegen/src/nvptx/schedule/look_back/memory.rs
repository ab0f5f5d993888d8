//! Copies of columns between device memory and the block, at any address, in the widest pieces that
//! the address allows.

use super::Block;
use crate::gpu::Arguments;
use crate::nvptx::emit::{Ty, Value};
use crate::nvptx::kernel::columns::store_output;

/// Pieces that a thread has under way at once.
const IN_FLIGHT: usize = 4;

impl<'k> Block<'k, '_> {
    /// Copies the tile's records into shared memory, and those beside them that the program reads.
    pub(super) fn fetch(&self) {
        let k = self.k;
        for (place, column) in self.recipe.inputs.iter().enumerate().filter(|(_, column)| column.size > 0) {
            let size = column.size as usize;
            let from = self.args.column(place).byte(self.place * size);
            let to = self.base.at(self.shared.inputs[place]);
            self.copy(from, to, from, self.count * size);
            let beside = |is_there: Value<'k>, offset: Value<'k>| {
                k.when(is_there, || {
                    k.range(self.thread, k.i32(size), k.i32(32 * self.plan.warps), |byte| {
                        let offset = offset + byte.resize(Ty::I64);
                        to.byte(offset).store(from.byte(offset).load(Ty::I8, 1), 1);
                    });
                });
            };
            // What comes next in the scan is after the tile in memory, or before it.
            let (start, end) = (k.int(Ty::I64, -(size as i128)), self.count.resize(Ty::I64) * size);
            if self.shared.reads_next {
                let has_next = (self.first + self.count.resize(Ty::I64)).below(self.records);
                beside(has_next, self.reversed.select(start, end));
            }
            if self.shared.reads_previous {
                beside(self.first.is_not(k.i64(0)), self.reversed.select(end, start));
            }
        }
    }

    /// Copies the results out of shared memory.
    pub(super) fn write_back(&self) {
        for (place, column) in self.recipe.outputs.iter().enumerate().filter(|(_, column)| column.size > 0) {
            let size = column.size as usize;
            let to = self.args.column(self.recipe.inputs.len() + place).byte(self.place * size);
            self.copy(self.base.at(self.shared.outputs[place]), to, to, self.count * size);
        }
    }

    /// Copies bytes, all threads together. Of the two addresses `global` is the one in device memory, the other is a multiple of 16.
    fn copy(&self, from: Value<'k>, to: Value<'k>, global: Value<'k>, bytes: Value<'k>) {
        let k = self.k;
        let is_multiple = |of: usize| (global.address() & (of - 1)).is(k.i64(0));
        let pieces = |ty: Ty, size: usize| {
            let whole = bytes & !(size - 1);
            let step = 32 * self.plan.warps * size;
            // A round has every thread's loads under way before the first store.
            k.range(self.thread * size, whole, k.i32(step * IN_FLIGHT), |start| {
                let places: Vec<Value<'k>> = (0..IN_FLIGHT).map(|place| start + place * step).collect();
                let is_there = |place: Value<'k>| place.below(whole);
                let loaded = places.iter().map(|&place| {
                    let piece = k.unset(ty);
                    k.when(is_there(place), || piece.set(from.byte(place).load(ty, size)));
                    piece
                });
                let loaded: Vec<_> = loaded.collect();
                for (&place, piece) in places.iter().zip(loaded) {
                    k.when(is_there(place), || to.byte(place).store(piece.get(), size));
                }
            });
            k.range(whole + self.thread, bytes, k.i32(32 * self.plan.warps), |byte| {
                to.byte(byte).store(from.byte(byte).load(Ty::I8, 1), 1);
            });
        };
        k.either(
            is_multiple(16),
            || pieces(Ty::Words(4), 16),
            || k.either(is_multiple(4), || pieces(Ty::I32, 4), || pieces(Ty::I8, 1)),
        );
    }

    /// Writes a kept record to its rank, if the output has space.
    pub(super) fn write_kept(&self, rank: Value<'k>, record: &[Value<'k>]) {
        let capacity = self.args.word(Arguments::CAPACITY);
        self.k.when(rank.below(capacity), || store_output(self.args, self.recipe, rank, record));
    }

    /// Writes a record beside its own, by its index.
    pub(super) fn write_record(&self, index: Value<'k>, record: &[Value<'k>]) {
        let row = self.row * self.args.word(Arguments::PITCH);
        let place = row + self.reversed.select(self.records - 1 - index, index);
        store_output(self.args, self.recipe, place, record);
    }
}
