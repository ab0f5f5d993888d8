//! Hillis and Steele's scan: in each round, every thread takes in what the thread 1, 2, 4, … below
//! it has.
//!
//! Between rounds the states move to another part of shared memory, so that one barrier a round is
//! enough.

use super::block::{Banks, Block, Scanned};
use monoscan_codegen::nvptx::parts::Value;
use monoscan_codegen::nvptx::parts::{get, set, variables};

impl<'k> Block<'k, '_> {
    pub(super) fn hillis_steele(&self, state: &[Value<'k>]) -> Scanned<'k> {
        let (k, thread, threads) = (self.lanes.k, self.thread, self.threads);
        let slots = |part: usize| self.slots(part * threads, threads, Banks::Plain);
        let [mut from, mut to] = [slots(0), slots(1)];
        let own = variables(state);
        from.store(thread, state);
        k.barrier();
        for distance in (0..threads.trailing_zeros()).map(|round| 1 << round) {
            k.when(thread.at_least(k.i32(distance)), || {
                set(&own, &self.lanes.combine(&from.load(thread - distance), &get(&own)));
            });
            to.store(thread, &get(&own));
            k.barrier();
            std::mem::swap(&mut from, &mut to);
        }
        let below = thread.is(k.i32(0)).select(thread, thread - 1);
        Scanned { before: from.load(below), aggregate: from.load(k.i32(threads - 1)) }
    }
}
