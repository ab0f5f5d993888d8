//! Blocks in order, each in one pass: a thread that walks them knows the carry into each, so it
//! need not reduce a block before it replays it.
//!
//! The association is that of strips ([`walk`](super::walk)), to the bit. An element is loaded
//! once, and its fold and its replay do not wait for each other. Strips take less where W chains
//! side by side gain more than a second pass costs.

use super::line::Line;
use super::worker::{AGGREGATE, CARRY, NEXT, Strip, Worker};

impl Line<'_> {
    /// Takes the blocks of a strip from the carry on, which becomes the one behind them. With `adds`, their aggregates are added to the
    /// tile's.
    pub(super) fn together(&self, strip: Strip, adds: bool, worker: &mut Worker<'_>) {
        let code = &self.kernels.code;
        let block = Strip { interleave: 1, slot: NEXT, ..strip };
        // Kernels leave these components there.
        (0..code.levels()).for_each(|level| self.put_known(level, block, &mut worker.states));
        for place in 0..strip.interleave {
            let start = strip.start + place * strip.block;
            let args = self.args(Strip { start, slot: CARRY, ..block }, worker);
            // SAFETY: as in `replay`; the first slot has the carry, and nothing but the second is written besides outputs.
            unsafe { code.together(self.writes, &args) };
            let slots = worker.states.first(AGGREGATE + 1);
            let [carry, own, tile] = [CARRY, NEXT, AGGREGATE].map(|slot| slots.at(slot));
            for level in 0..code.levels() {
                // SAFETY: all are slots of this program's states.
                unsafe {
                    if adds {
                        code.carry_update_fn(level, true)(tile, own, tile);
                    }
                    code.carry_update_fn(level, self.totals)(carry, own, carry);
                }
            }
        }
    }
}
