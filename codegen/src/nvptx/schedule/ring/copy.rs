//! The copy warp, of which one lane works: tickets, and what comes from and goes to device memory.

use super::compute::Tile;
use super::pipeline::{Buffer, Fill, OutputBuffer, Place};
use super::{END, Ring};
use crate::gpu::{Arguments, EPOCH, TICKET, natural};
use crate::nvptx::emit::{CachePolicy, Ty, Value, Var};

/// The state of the copying thread.
struct Copying<'k, 'a> {
    keep: Value<'k>,
    normal: Value<'k>,
    /// Where the next tile goes.
    fill: Fill<'k, 'a>,
    /// How many tiles were begun.
    begun: Var<'k>,
    /// The ticket that comes next, drawn early.
    ticket: Var<'k>,
    done: Var<'k>,
}

impl<'k> Ring<'k, '_> {
    pub(super) fn copy(&self) {
        let k = self.k;
        let this = Copying {
            keep: k.cache_policy(CachePolicy::Keep),
            normal: k.cache_policy(CachePolicy::Normal),
            fill: self.pipeline.fill(),
            begun: k.var(k.i32(0)),
            ticket: k.var(self.draw()),
            done: k.var(k.bool(false)),
        };
        let apart = self.shared.has_results_apart();
        let (write_back, free) = (self.pipeline.write_back(), self.pipeline.free());
        if apart {
            // All are free at first.
            free.end_everywhere();
        }
        let [rounds, ended] = [(); 2].map(|()| k.var(k.i32(0)));
        k.forever(|tiles| {
            k.leave_if(tiles, this.done.get() & ended.get().at_least(this.begun.get()));
            // All buffers are free at first; written apart, those rounds would be a second copy of all that begins a tile.
            let is_full = rounds.get().at_least(k.i32(self.buffers));
            k.when(is_full, || {
                let buffer = write_back.begin();
                if !self.shared.is_direct {
                    self.write_back((buffer, apart.then(|| free.begin())), this.normal);
                    k.bulk_commit();
                }
                if self.shared.has_results_in_buffer() {
                    k.bulk_wait_read();
                }
            });
            k.when(!this.done.get(), || self.begin(&this));
            k.when(is_full, || {
                if apart {
                    k.bulk_wait_read();
                    free.end(free.begin());
                    free.advance();
                }
                write_back.advance();
                ended.set(ended.get() + 1);
            });
            rounds.set(rounds.get() + 1);
        });
        k.bulk_wait();
    }

    fn draw(&self) -> Value<'k> {
        self.k.atomic_add(self.workspace.at(TICKET), self.k.i32(1))
    }

    /// Starts the next tile, or says that there is none.
    fn begin(&self, this: &Copying<'k, '_>) {
        let k = self.k;
        let (buffer, tile) = (this.fill.begin(), this.ticket.get());
        k.either(
            tile.below(self.tiles),
            || {
                self.ticket(buffer).store(tile, 4);
                self.fetch(tile, (buffer, this.fill.end_barrier(buffer)), this.keep);
                this.fill.advance();
                this.begun.set(this.begun.get() + 1);
                this.ticket.set(self.draw());
            },
            || {
                self.ticket(buffer).store(k.int(Ty::I32, END), 4);
                this.fill.end(buffer);
                this.done.set(k.bool(true));
                // Every block draws one ticket too many; the one that draws the last of all tidies up.
                let last = self.tiles + k.blocks() - 1;
                k.when(tile.is(last), || {
                    k.store_control(self.workspace.at(TICKET), k.i32(0));
                    k.store_control(self.workspace.at(EPOCH), self.tag);
                });
            },
        );
    }

    /// Starts the copies of a tile's columns into a buffer.
    fn fetch(&self, tile: Value<'k>, (buffer, full): (Place<'k, Buffer>, Value<'k>), policy: Value<'k>) {
        let k = self.k;
        // Before the first record of all there may be nothing.
        let nothing_before = self.shifts.is_some() || self.shared.reads_previous;
        let first = tile.resize(Ty::I64) * self.plan.tile();
        let columns = || self.recipe.inputs.iter().enumerate().filter(|(_, column)| column.size > 0);
        // From the piece of 16 bytes on that the first record lies in, or the one before it if that is read.
        let previous = |size: u32| if self.shared.reads_previous { k.i32(size as usize) } else { k.i32(0) };
        let before = |place: usize, size: u32| previous(size) + ((self.shift(place) - previous(size)) & 15usize);
        let back = |place: usize, size: u32| k.i64(0) - before(place, size).resize(Ty::I64);
        let from =
            |place: usize, size: u32| self.args.column(place).byte(first * size as usize).byte(back(place, size));
        let to = |place: usize, size: u32| self.input_area(buffer, place).byte(back(place, size));
        let mut is_whole = tile.below(self.whole_tiles);
        if nothing_before {
            is_whole = is_whole & tile.is_not(k.i32(0));
        }
        k.either(
            is_whole,
            || {
                let bytes = |place: usize, size: u32| self.plan.tile() * size as usize + self.shared.beside[place];
                k.barrier_expect(full, k.i32(columns().map(|(place, column)| bytes(place, column.size)).sum()));
                for (place, column) in columns() {
                    let bytes = k.i32(bytes(place, column.size));
                    k.bulk_load(to(place, column.size), from(place, column.size), bytes, full, policy);
                }
            },
            || {
                // Bulk copies move multiples of 16 bytes; this thread moves what is left over.
                let most = k.i64(self.plan.tile() + usize::from(self.shared.reads_next));
                let rest = (self.records - first).umin(most).resize(Ty::I32);
                let copy = |place: usize, size: u32, from_byte: Value<'k>, to_byte: Value<'k>| {
                    k.range(from_byte, to_byte, k.i32(1), |byte| {
                        to(place, size).byte(byte).store(from(place, size).byte(byte).load(Ty::I8, 1), 1);
                    });
                };
                let mut all = k.i32(0);
                let mut bulk = Vec::new();
                for (place, column) in columns() {
                    let own = before(place, column.size);
                    let start = own - tile.is_not(k.i32(0)).select(previous(column.size), k.i32(0));
                    let end = own + rest * column.size as usize;
                    let first = ((start + 15) & !15usize).umin(end);
                    let whole = (end - first) & !15usize;
                    copy(place, column.size, start, first);
                    copy(place, column.size, first + whole, end);
                    all = whole + all;
                    bulk.push((place, column, first, whole));
                }
                if nothing_before {
                    // The next tile in this buffer comes by bulk copies alone.
                    k.bulk_fence();
                }
                k.barrier_expect(full, all);
                for (place, column, first, whole) in bulk {
                    k.when(whole.is_not(k.i32(0)), || {
                        let from = from(place, column.size).byte(first);
                        k.bulk_load(to(place, column.size).byte(first), from, whole, full, policy);
                    });
                }
            },
        );
    }

    /// Starts the copies of a tile's results to device memory.
    fn write_back(&self, (buffer, output): Tile<'k>, policy: Value<'k>) {
        let k = self.k;
        if self.recipe.rank.is_some() {
            return self.write_kept(output, policy);
        }
        let tile = self.ticket(buffer).load(Ty::I32, 4);
        let first = tile.resize(Ty::I64) * self.plan.tile();
        let columns = self.recipe.outputs.iter().zip(self.result_areas((buffer, output))).enumerate();
        for (place, (column, from)) in columns.filter(|(_, (column, _))| column.size > 0) {
            let size = column.size as usize;
            let to = self.args.column(self.output(place)).byte(first * size);
            let rest = || (self.records - first).resize(Ty::I32);
            match self.shifts {
                None => k.either(
                    tile.below(self.full_tiles),
                    || k.bulk_store(to, from, k.i32(self.plan.tile() * size), policy),
                    || self.write_bytes(to, from, (k.i32(0), rest() * size, 1), policy),
                ),
                Some(_) => {
                    let count = tile.below(self.full_tiles).select(k.i32(self.plan.tile()), rest());
                    let before = (k.i32(16) - self.shift(self.output(place))) & 15usize;
                    self.write_bytes(to, from, (before, count * size, natural(column)), policy);
                }
            }
        }
    }

    /// Starts the copies of kept records to their ranks, as far as the output has space.
    fn write_kept(&self, output: Option<Place<'k, OutputBuffer>>, policy: Value<'k>) {
        let k = self.k;
        let capacity = self.args.word(Arguments::CAPACITY);
        let rank = |place: usize| self.ranks(output).at(8 * place).load(Ty::I64, 8);
        let first = rank(0);
        let count = (rank(1).umin(capacity) - first.umin(capacity)).resize(Ty::I32);
        let columns = self.recipe.outputs.iter().zip(self.kept_areas(output, first)).enumerate();
        for (place, (column, from)) in columns.filter(|(_, (column, _))| column.size > 0) {
            let size = column.size as usize;
            let to = self.args.column(self.output(place)).byte(first * size);
            let before = (k.i64(0) - to.address()) & 15usize;
            self.write_bytes(to, from, (before.resize(Ty::I32), count * size, natural(column)), policy);
        }
    }

    /// Copies bytes to device memory: as many as lie there before a multiple of 16, and those that are left over, so many at a time
    /// by this thread; all between is started as one bulk copy.
    fn write_bytes(
        &self,
        to: Value<'k>,
        from: Value<'k>,
        (before, bytes, step): (Value<'k>, Value<'k>, usize),
        policy: Value<'k>,
    ) {
        let k = self.k;
        let step = step.min(8);
        let ty = Ty::Int(8 * step as u16);
        let copy = |place: Value<'k>| to.byte(place).store(from.byte(place).load(ty, step), step);
        let before = before.umin(bytes);
        let whole = (bytes - before) & !15usize;
        k.range(k.i32(0), before, k.i32(step), copy);
        k.when(whole.is_not(k.i32(0)), || k.bulk_store(to.byte(before), from.byte(before), whole, policy));
        k.range(before + whole, bytes, k.i32(step), copy);
    }
}
