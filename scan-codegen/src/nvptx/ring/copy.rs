//! The copy warp, of which one lane works: tickets, and what comes from and goes to device memory.

use super::{Cursor, END, Ring};
use crate::gpu::{EPOCH, TICKET};
use crate::nvptx::atoms::CachePolicy;
use crate::nvptx::emit::{Ty, Value, Var};

/// What the copying thread keeps.
struct Copying<'k> {
    keep: Value<'k>,
    normal: Value<'k>,
    /// Where the next tile goes.
    filling: Cursor<'k>,
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
            filling: Cursor::new(k, self.stages),
            begun: k.var(k.i32(0)),
            ticket: k.var(self.draw()),
            done: k.var(k.bool(false)),
        };
        k.range(k.i32(0), k.i32(self.stages), k.i32(1), |_| {
            k.when(this.done.get().not(), || self.begin(&this));
        });
        let draining = Cursor::new(k, self.stages);
        let ended = k.var(k.i32(0));
        k.forever(|tiles| {
            k.leave_if(tiles, this.done.get() & ended.get().at_least(this.begun.get()));
            draining.wait(self.drained());
            self.write_back(draining.get(), this.normal);
            k.bulk_commit();
            k.when(this.done.get().not(), || {
                k.bulk_wait_read();
                self.begin(&this);
            });
            draining.advance();
            ended.set(ended.get() + 1);
        });
        k.bulk_wait();
    }

    fn draw(&self) -> Value<'k> {
        self.k.atomic_add(self.workspace.at(TICKET), self.k.i32(1))
    }

    /// Starts the next tile, or says that there is none.
    fn begin(&self, this: &Copying<'k>) {
        let k = self.k;
        let (stage, tile) = (this.filling.get(), this.ticket.get());
        let full = self.full().byte(stage * 8);
        k.either(
            tile.below(self.tiles),
            || {
                self.ticket(stage).store(tile, 4);
                self.fetch(tile, stage, full, this.keep);
                this.filling.advance();
                this.begun.set(this.begun.get() + 1);
                this.ticket.set(self.draw());
            },
            || {
                self.ticket(stage).store(k.int(Ty::I32, END), 4);
                k.barrier_arrive(full);
                this.done.set(k.bool(true));
                // Every block draws one ticket too many; who draws the last of all of them tidies up.
                let last = self.tiles + k.blocks() - 1;
                k.when(tile.is(last), || {
                    k.store_control(self.workspace.at(TICKET), k.i32(0));
                    k.store_control(self.workspace.at(EPOCH), self.tag);
                });
            },
        );
    }

    /// Starts the copies of a tile's columns into a stage.
    fn fetch(&self, tile: Value<'k>, stage: Value<'k>, full: Value<'k>, policy: Value<'k>) {
        let k = self.k;
        let first = tile.resize(Ty::I64) * self.plan.tile();
        let columns = || self.recipe.inputs.iter().enumerate();
        let from = |place: usize, size: usize| self.given.column(place).byte(first * size);
        let to = |place: usize| self.stage(stage).at(self.shared.inputs[place]);
        k.either(
            tile.below(self.full_tiles),
            || {
                let bytes = |size: u32| self.plan.tile() * size as usize;
                k.barrier_expect(full, k.i32(columns().map(|(_, column)| bytes(column.size)).sum()));
                for (place, column) in columns().filter(|(_, column)| column.size > 0) {
                    let from = from(place, column.size as usize);
                    k.bulk_load(to(place), from, k.i32(bytes(column.size)), full, policy);
                }
            },
            || {
                // Bulk copies move multiples of 16 bytes; this thread moves what is left over.
                let rest = (self.records - first).resize(Ty::I32);
                let whole = |size: u32| (rest * size as usize) & !15usize;
                let mut bulk = k.i32(0);
                for (place, column) in columns().filter(|(_, column)| column.size > 0) {
                    let (from, to) = (from(place, column.size as usize), to(place));
                    k.range(whole(column.size), rest * column.size as usize, k.i32(1), |byte| {
                        to.byte(byte).store(from.byte(byte).load(Ty::I8, 1), 1);
                    });
                    bulk = whole(column.size) + bulk;
                }
                k.barrier_expect(full, bulk);
                for (place, column) in columns().filter(|(_, column)| column.size > 0) {
                    let bytes = whole(column.size);
                    k.when(bytes.is_not(k.i32(0)), || {
                        k.bulk_load(to(place), from(place, column.size as usize), bytes, full, policy);
                    });
                }
            },
        );
    }

    /// Starts the copies of a stage's results to device memory.
    fn write_back(&self, stage: Value<'k>, policy: Value<'k>) {
        let k = self.k;
        let tile = self.ticket(stage).load(Ty::I32, 4);
        let first = tile.resize(Ty::I64) * self.plan.tile();
        for (place, column) in self.recipe.outputs.iter().enumerate().filter(|(_, column)| column.size > 0) {
            let size = column.size as usize;
            let from = self.stage(stage).at(self.shared.outputs[place]);
            let to = self.given.column(self.recipe.inputs.len() + place).byte(first * size);
            k.either(
                tile.below(self.full_tiles),
                || k.bulk_store(to, from, k.i32(self.plan.tile() * size), policy),
                || {
                    let bytes = (self.records - first).resize(Ty::I32) * size;
                    let whole = bytes & !15usize;
                    k.when(whole.is_not(k.i32(0)), || k.bulk_store(to, from, whole, policy));
                    k.range(whole, bytes, k.i32(1), |byte| {
                        to.byte(byte).store(from.byte(byte).load(Ty::I8, 1), 1);
                    });
                },
            );
        }
    }
}
