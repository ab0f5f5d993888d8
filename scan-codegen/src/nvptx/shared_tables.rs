//! Copies of a program's tables in shared memory, where every lane of a warp can look up another element at once.

use super::emit::{Emit, Ty, Value};
use super::lower::Tables;
use super::recipe::Recipe;
use super::room::Room;

/// Bytes that a thread copies at a time. Tables begin at multiples of it, and are padded to one.
const PIECE: usize = 16;

/// Which tables have copies, and where these are in shared memory.
pub(crate) struct SharedTables(Vec<(u32, usize)>);

impl SharedTables {
    /// Takes what those need that elements look up, unless that is too much.
    pub(crate) fn of(recipe: &Recipe, room: &mut Room) -> SharedTables {
        let tables = (0..).zip(&recipe.tables).zip(recipe.looked_up()).filter(|(_, looked_up)| *looked_up);
        let sizes = tables.map(|((number, table), _)| (number, table.len() * table.ty.size().next_power_of_two()));
        let sizes: Vec<(u32, usize)> = sizes.collect();
        match sizes.iter().map(|(_, size)| size).sum::<usize>() <= recipe.most_table_bytes {
            true => SharedTables(sizes.into_iter().map(|(number, size)| (number, room.take(size))).collect()),
            false => SharedTables(Vec::new()),
        }
    }

    /// Copies them, all threads together, and has them read there. A barrier must follow.
    pub(crate) fn fill<'k>(&self, k: &'k Emit, tables: &mut Tables<'k>, thread: Value<'k>, threads: usize) {
        for &(number, offset) in &self.0 {
            let Some(table) = tables.get(number) else { continue };
            let to = k.shared().at(offset);
            k.range(thread * PIECE, k.i32(table.size()), k.i32(threads * PIECE), |byte| {
                to.byte(byte).store(table.base.byte(byte).load_constant(Ty::Words(4), PIECE), PIECE);
            });
            tables.moved(number, to);
        }
    }
}
