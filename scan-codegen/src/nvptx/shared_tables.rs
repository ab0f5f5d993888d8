//! Copies of a program's tables in shared memory, where every lane of a warp can look up another element at once.

use scan_ir::Table;

use super::emit::{Emit, Ty, Value};
use super::lower::Tables;
use crate::gpu::MOST_TABLE_BYTES;

/// Where each copy is in shared memory, if there are copies.
pub(crate) struct SharedTables(Vec<usize>);

impl SharedTables {
    /// Makes room by `take`, which gives the place of so many bytes, a multiple of 16.
    pub(crate) fn of(tables: &[Table], take: &mut dyn FnMut(usize) -> usize) -> SharedTables {
        let sizes = || tables.iter().map(|table| table.len() * table.ty.size().next_power_of_two());
        match sizes().sum::<usize>() <= MOST_TABLE_BYTES {
            true => SharedTables(sizes().map(take).collect()),
            false => SharedTables(Vec::new()),
        }
    }

    /// Copies them, all threads together, and has them read there. A barrier must follow.
    pub(crate) fn fill<'k>(&self, k: &'k Emit, tables: &mut Tables<'k>, thread: Value<'k>, threads: usize) {
        for (number, &offset) in (0..).zip(&self.0) {
            let Some(table) = tables.get(number) else { continue };
            let to = k.shared().at(offset);
            // Elements are padded to powers of two and begin at multiples of 16: whole words can be read, if there are any.
            let (ty, size) = if table.size() % 4 == 0 { (Ty::I32, 4) } else { (Ty::I8, 1) };
            k.range(thread * size, k.i32(table.size()), k.i32(threads * size), |byte| {
                to.byte(byte).store(table.base.byte(byte).load_constant(ty, size), size);
            });
            tables.moved(number, to);
        }
    }
}
