//! Copies of a program's tables in shared memory, where every lane of a warp can look up another
//! element at once.

use crate::gpu::{BANKS, WORD};
use crate::nvptx::emit::{Ty, Value};
use crate::nvptx::kernel::recipe::Recipe;
use crate::nvptx::kernel::shared_memory::SharedAllocator;
use crate::nvptx::lower::{Place, Tables};

/// Most bytes of tables that blocks copy to shared memory, those that folds look up aside; beyond, all stay in device memory.
pub(crate) const MOST_TABLE_BYTES: usize = 16 << 10;

/// Bytes that a thread copies at a time. Tables begin at multiples of it, and are padded to one.
const PIECE: usize = 16;

/// How many loads of a large table are under way at once, by a thread.
const AT_ONCE: usize = 4;

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

    /// Copies them to shared memory, which begins here, by all warps of a block together, and has them read there. A barrier must
    /// follow.
    pub(crate) fn fill<'k>(&self, base: Value<'k>, tables: &mut Tables<'k>, thread: Value<'k>, threads: usize) {
        let fills = self.0.iter().filter_map(|copied| {
            let from = tables.get(copied.table).filter(|from| from.size() > 0)?;
            Some((copied, Fill { from, to: base.at(copied.offset), thread, threads, copies: copied.copies }))
        });
        let fills: Vec<(&Copied, Fill<'k>)> = fills.collect();
        // All first loads come before any store: so device memory is waited for once.
        let loaded: Vec<Value<'k>> = fills.iter().map(|(_, fill)| fill.load(fill.first())).collect();
        for ((copied, fill), loaded) in fills.into_iter().zip(loaded) {
            fill.store(fill.first(), loaded);
            let (k, all) = (base.emit(), fill.all());
            if fill.step() < all {
                k.range(fill.first() + fill.step(), k.i32(all), k.i32(AT_ONCE * fill.step()), |at| {
                    let at: Vec<Value<'k>> = (0..AT_ONCE).map(|round| at + round * fill.step()).collect();
                    let loaded: Vec<Value<'k>> = at.iter().map(|&at| fill.load(at)).collect();
                    at.into_iter().zip(loaded).for_each(|(at, loaded)| fill.store(at, loaded));
                });
            }
            let is_of_lane = matches!(copied.copies, Copies::EachBank | Copies::Places);
            let base = if is_of_lane { fill.to.byte(fill.lane() * WORD) } else { fill.to };
            tables.moved(copied.table, base, copied.copies != Copies::One);
        }
    }
}

/// A table on its way to shared memory.
struct Fill<'k> {
    from: Place<'k>,
    to: Value<'k>,
    thread: Value<'k>,
    threads: usize,
    copies: Copies,
}

impl<'k> Fill<'k> {
    fn lane(&self) -> Value<'k> {
        self.thread & (BANKS - 1)
    }

    /// Bytes that are taken at a time: by each thread or, of words that each lane of a warp stores, by each warp, of which a lane
    /// loads one.
    fn unit(&self) -> usize {
        match self.copies {
            Copies::One => PIECE,
            _ => WORD * self.from.size().div_ceil(WORD).div_ceil(self.threads / BANKS).min(BANKS),
        }
    }

    /// Bytes that all of them take at a time, and bytes in all.
    fn step(&self) -> usize {
        self.unit() * if self.copies == Copies::One { self.threads } else { self.threads / BANKS }
    }

    fn all(&self) -> usize {
        self.from.size().next_multiple_of(if self.copies == Copies::One { PIECE } else { WORD })
    }

    /// The byte at which this thread, or its warp, begins.
    fn first(&self) -> Value<'k> {
        let number = if self.copies == Copies::One { self.thread } else { self.thread >> BANKS.ilog2() as usize };
        number * self.unit()
    }

    /// Loads what is taken from a byte on; past the end, what is last.
    fn load(&self, at: Value<'k>) -> Value<'k> {
        let last = |bytes: usize| at.same((self.all() - bytes) as i128);
        let load = |at: Value<'k>, ty, bytes: usize| self.from.base.byte(at.umin(last(bytes))).load_constant(ty, bytes);
        match self.copies {
            Copies::One => load(at, Ty::Words(4), PIECE),
            _ => load(at + self.lane() * WORD, Ty::I32, WORD),
        }
    }

    /// Stores it, if it is not past the end.
    fn store(&self, at: Value<'k>, loaded: Value<'k>) {
        let k = at.emit();
        let is_there = |at: Value<'k>| at.below(at.same(self.all() as i128));
        if self.copies == Copies::One {
            return k.when(is_there(at), || self.to.byte(at).store(loaded, PIECE));
        }
        let bank = self.lane() * WORD;
        for word in (0..self.unit()).step_by(WORD) {
            let at = at + word;
            let loaded = k.shuffle_from(loaded, k.i32(word / WORD));
            let loaded = if self.copies == Copies::Places { loaded + bank } else { loaded };
            k.when(is_there(at), || self.to.byte(at * BANKS + bank).store(loaded, WORD));
        }
    }
}
