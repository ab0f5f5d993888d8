//! Blelloch's scan: up a tree for the sum of each subtree, then down it for what is before each.
//!
//! A subtree of 2d records keeps its sum at its last record, and that of its left half at the left
//! half's last. On the way down, what is before the subtree stands at its last record: the left
//! half has the same before it, and the right half that and the left half's sum, in this order.

use super::block::{Banks, Block, Scanned};
use monoscan_codegen::nvptx::parts::Value;

impl<'k> Block<'k, '_> {
    pub(super) fn blelloch(&self, state: &[Value<'k>], banks: Banks) -> Scanned<'k> {
        let (k, thread, threads) = (self.lanes.k, self.thread, self.threads);
        let slots = self.slots(0, threads, banks);
        // The last records of the two halves of this thread's subtree, if there are so many of this size.
        let each_subtree = |half: usize, act: &dyn Fn(Value<'k>, Value<'k>)| {
            k.when(thread.below(k.i32(threads / (2 * half))), || {
                let left = (thread * 2 + 1) * half - 1;
                act(left, left + half);
            });
            k.barrier();
        };
        let halves: Vec<usize> = (0..threads.trailing_zeros()).map(|level| 1 << level).collect();
        slots.store(thread, state);
        k.barrier();
        for &half in &halves {
            each_subtree(half, &|left, right| {
                slots.store(right, &self.lanes.combine(&slots.load(left), &slots.load(right)));
            });
        }
        let aggregate = slots.load(k.i32(threads - 1));
        k.barrier();
        // The largest subtree belongs to the same thread, so nobody has to wait.
        k.when(thread.is(k.i32(0)), || slots.store(k.i32(threads - 1), &self.lanes.identity()));
        for &half in halves.iter().rev() {
            each_subtree(half, &|left, right| {
                let (sum, before) = (slots.load(left), slots.load(right));
                slots.store(left, &before);
                slots.store(right, &self.lanes.combine(&before, &sum));
            });
        }
        Scanned { before: slots.load(thread), aggregate }
    }
}
