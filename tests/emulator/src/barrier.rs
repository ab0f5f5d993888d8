//! Barriers in shared memory (PTX calls them mbarriers).
//!
//! A phase ends when all its arrivals have come and all announced bytes of bulk copies have landed.
//! The first is phase 0.

use crate::error::Misuse;
use crate::order::{Known, Order, Stamp, join, learn};

/// A barrier that was set up.
pub(crate) struct Barrier {
    /// Its place in shared memory.
    at: usize,
    /// How many were set up before it.
    number: usize,
    /// Arrivals that a phase takes.
    count: u32,
    phase: u64,
    /// Arrivals that the phase still waits for.
    pending: u32,
    /// Bytes announced and not landed; below 0 while bytes have landed that will be announced.
    bytes: i64,
    /// The thread that set it up, and whether bulk copies may use it.
    maker: Stamp,
    fenced: bool,
    /// The knowledge of threads that arrived in this phase, or a phase before.
    open: Known,
    /// The same of phases that have ended.
    ended: Known,
    /// Threads that wait for the phase to end.
    pub(crate) waiting: Vec<usize>,
}

impl Barrier {
    /// The number that PTX bounds counts by.
    const MOST: u32 = (1 << 20) - 1;

    pub(crate) fn new(at: usize, number: usize, count: u64, thread: usize, order: &Order) -> Result<Barrier, Misuse> {
        let expected = "from 1 to 2^20 - 1";
        let count = u32::try_from(count)
            .ok()
            .filter(|&count| (1..=Barrier::MOST).contains(&count))
            .ok_or(Misuse::Argument { what: "the number of arrivals", found: count, expected })?;
        Ok(Barrier {
            at,
            number,
            count,
            phase: 0,
            pending: count,
            bytes: 0,
            maker: order.stamp(thread),
            fenced: false,
            open: order.nothing(),
            ended: order.nothing(),
            waiting: Vec::new(),
        })
    }

    /// Its place in shared memory.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Its maker makes it visible to bulk copies.
    pub(crate) fn fence(&mut self, thread: usize) {
        self.fenced |= self.maker.ticker() == thread;
    }

    /// Refuses a thread that is not ordered after the set-up.
    pub(crate) fn check_made(&self, thread: usize, order: &Order) -> Result<(), Misuse> {
        match order.after(thread, self.maker) {
            true => Ok(()),
            false => {
                let other = format!("thread {}", self.maker.ticker());
                Err(Misuse::Race { other, access: "set up a barrier at", byte: self.at })
            }
        }
    }

    /// Refuses a bulk copy that may not see it.
    pub(crate) fn check_fenced(&self) -> Result<(), Misuse> {
        if self.fenced { Ok(()) } else { Err(Misuse::BarrierUnfenced(self.at)) }
    }

    /// Whether the phase of this parity has ended.
    pub(crate) fn has_ended(&self, parity: u64) -> bool {
        self.phase % 2 != parity
    }

    /// The knowledge after the last phase that has ended.
    pub(crate) fn known(&self) -> &Known {
        &self.ended
    }

    /// A thread arrives; says whether that ends the phase.
    pub(crate) fn arrive(&mut self, thread: usize, order: &mut Order) -> Result<bool, Misuse> {
        if self.pending == 0 {
            return Err(Misuse::OverArrival { barrier: self.at, phase: self.phase, count: self.count });
        }
        self.pending -= 1;
        order.release(thread, &mut self.open);
        Ok(self.end_if_complete())
    }

    /// So many bytes more will land.
    pub(crate) fn expect(&mut self, bytes: u64) -> Result<(), Misuse> {
        self.bytes += bytes as i64;
        match self.bytes.unsigned_abs() <= Barrier::MOST.into() {
            true => Ok(()),
            false => {
                let expected = "together with what was announced before at most 2^20 - 1";
                Err(Misuse::Argument { what: "the number of bytes", found: bytes, expected })
            }
        }
    }

    /// The stamp of a bulk load that begins now.
    pub(crate) fn load(&self, order: &Order) -> Stamp {
        order.load(self.number, self.phase)
    }

    /// A bulk copy has landed; says whether that ends the phase.
    pub(crate) fn landed(&mut self, bytes: usize, copy: Stamp) -> bool {
        self.bytes -= bytes as i64;
        learn(&mut self.open, copy);
        self.end_if_complete()
    }

    fn end_if_complete(&mut self) -> bool {
        let complete = self.pending == 0 && self.bytes == 0;
        if complete {
            self.phase += 1;
            self.pending = self.count;
            join(&mut self.ended, &self.open);
        }
        complete
    }

    /// The event that it waits for, in words.
    pub(crate) fn describe(&self) -> String {
        let Barrier { at, phase, pending, count, bytes, .. } = self;
        format!(
            "phase {phase} of the barrier at shared byte {at}, which lacks {pending} of {count} arrivals and {bytes} bytes"
        )
    }
}
