//! A scan by warps: each scans what its own lanes have, then the first warp what the warps have.
//!
//! Lanes of a warp exchange their states without waiting for the block, so two barriers are enough,
//! however many threads there are.

use super::block::{Banks, Block, Exchange, Scanned, Slots};
use monoscan_codegen::nvptx::parts::Value;
use monoscan_codegen::nvptx::parts::{State, select};

const LANES: usize = 32;

impl<'k> Block<'k, '_> {
    pub(super) fn warps(&self, state: &[Value<'k>], exchange: Exchange) -> Scanned<'k> {
        let (k, lanes) = (self.lanes.k, self.lanes);
        let (warp, warps) = (self.thread >> 5, self.threads / LANES);
        let threads = match exchange {
            Exchange::Shared => Some(self.slots(0, self.threads, Banks::Plain)),
            Exchange::Shuffle => None,
        };
        let of_warps = self.slots(threads.as_ref().map_or(0, |_| self.threads), LANES, Banks::Plain);
        let (inclusive, below) = match &threads {
            Some(slots) => {
                let inclusive = self.scan_shared(state, slots, self.thread, LANES);
                k.warp_barrier();
                (inclusive, slots.load(lanes.is_first().select(self.thread, self.thread - 1)))
            }
            None => {
                let inclusive = lanes.scan(state.to_vec(), LANES);
                let below = lanes.shifted_up(&inclusive, 1);
                (inclusive, below)
            }
        };
        k.when(lanes.lane.is(k.i32(LANES - 1)), || of_warps.store(warp, &inclusive));
        k.barrier();
        k.when(warp.is(k.i32(0)), || {
            let own = of_warps.load(lanes.lane.umin(k.i32(warps - 1)));
            // Lanes that stand for no warp have read the last one's slot.
            k.warp_barrier();
            match &threads {
                Some(_) => drop(self.scan_shared(&own, &of_warps, lanes.lane, warps)),
                None => {
                    let inclusive = lanes.scan(own, warps);
                    k.when(lanes.lane.below(k.i32(warps)), || of_warps.store(lanes.lane, &inclusive));
                }
            }
        });
        k.barrier();
        let is_first = warp.is(k.i32(0));
        let before_warp = of_warps.load(is_first.select(warp, warp - 1));
        let inside = select(is_first, &below, &lanes.combine(&before_warp, &below));
        Scanned { before: select(lanes.is_first(), &before_warp, &inside), aggregate: of_warps.load(k.i32(warps - 1)) }
    }

    /// The inclusive scan over the first lanes of a warp, through slots of which this lane's is `slot`. It is left there
    /// for the reads after a barrier.
    fn scan_shared(&self, state: &[Value<'k>], slots: &Slots<'k, '_>, slot: Value<'k>, lanes: usize) -> State<'k> {
        let (k, lane) = (self.lanes.k, self.lanes.lane);
        let mut state = state.to_vec();
        slots.store(slot, &state);
        for distance in (0..).map(|round| 1 << round).take_while(|&distance| distance < lanes) {
            k.warp_barrier();
            let reaches = lane.at_least(k.i32(distance));
            let earlier = slots.load(reaches.select(slot - distance, slot));
            state = select(reaches, &self.lanes.combine(&earlier, &state), &state);
            k.warp_barrier();
            slots.store(slot, &state);
        }
        state
    }
}
