//! Copies of a program's tables in shared memory, where every lane of a warp can look up another
//! element at once.

use crate::gpu::{BANKS, WORD};
use crate::nvptx::emit::{Builder, Ty, Value};
use crate::nvptx::kernel::recipe::Recipe;
use crate::nvptx::kernel::shared_memory::SharedAllocator;
use crate::nvptx::lower::Tables;

/// Most bytes of tables that blocks copy to shared memory, those that folds look up aside; beyond, all stay in device memory.
pub(crate) const MOST_TABLE_BYTES: usize = 16 << 10;

/// Bytes that a thread copies at a time. Tables begin at multiples of it, and are padded to one.
const PIECE: usize = 16;

/// Which tables have copies, and where these are in shared memory.
pub(crate) struct SharedTables(Vec<Copied>);

/// A table with a copy, or with one for each bank.
struct Copied {
    table: u32,
    offset: usize,
    copies: Copies,
}

/// The copies of a table.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Copies {
    /// One.
    One,
    /// One for each bank, read by the lanes of that bank.
    EachBank,
    /// One for each bank. Its elements are places in a [`Placed`](Copies::Placed) table; those of each copy are in its own bank.
    Places,
    /// One for each bank, read at places that a [`Places`](Copies::Places) table gives.
    Placed,
}

impl SharedTables {
    /// Takes what those need that elements look up, unless that is too much.
    pub(crate) fn of(recipe: &Recipe, shared: &mut SharedAllocator) -> SharedTables {
        let tables = (0..).zip(&recipe.tables).zip(recipe.looked_up()).filter(|(_, looked_up)| *looked_up);
        let sizes = tables.map(|((number, table), _)| (number, table.len() * table.ty.size().next_power_of_two()));
        let sizes: Vec<(u32, usize)> = sizes.collect();
        if sizes.iter().map(|(_, size)| size).sum::<usize>() > recipe.most_table_bytes {
            return SharedTables(Vec::new());
        }
        let copied = sizes.into_iter().map(|(table, size)| {
            let copies = recipe.copies(table);
            let offset = match copies {
                Copies::One => shared.take(size),
                _ => shared.take_lines(BANKS * size.next_multiple_of(WORD)),
            };
            Copied { table, offset, copies }
        });
        SharedTables(copied.collect())
    }

    /// Copies them, all threads together, and has them read there. A barrier must follow.
    pub(crate) fn fill<'k>(&self, k: &'k Builder, tables: &mut Tables<'k>, thread: Value<'k>, threads: usize) {
        for &Copied { table: number, offset, copies } in &self.0 {
            let Some(table) = tables.get(number) else { continue };
            let to = k.shared().at(offset);
            if copies != Copies::One {
                let lane = |place: Value<'k>| (place & (BANKS - 1)) * WORD;
                k.range(thread, k.i32(BANKS * table.size().div_ceil(WORD)), k.i32(threads), |place| {
                    let word = table.base.byte((place >> BANKS.ilog2() as usize) * WORD).load_constant(Ty::I32, WORD);
                    let word = if copies == Copies::Places { word + lane(place) } else { word };
                    to.byte(place * WORD).store(word, WORD);
                });
                let base = if copies == Copies::Placed { to } else { to.byte(lane(thread)) };
                tables.moved(number, base, true);
                continue;
            }
            k.range(thread * PIECE, k.i32(table.size()), k.i32(threads * PIECE), |byte| {
                to.byte(byte).store(table.base.byte(byte).load_constant(Ty::Words(4), PIECE), PIECE);
            });
            tables.moved(number, to, false);
        }
    }
}
