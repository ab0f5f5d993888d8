//! Work in parts that need nothing from each other, on as many threads as it is worth.
//!
//! The cost of a part is not known before. So of many parts the caller does the first ones alone.
//! As soon as these say that the others are worth helpers, it calls for them. Few parts are long
//! ones, which have helpers from the start.
//!
//! The caller waits for no helper to start, and in the end for those alone that are in the middle
//! of a part. Where one was late, short work has no helpers for a while, as scans have none
//! (`engine::helpers`).

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;
use std::time::Instant;

use monoscan_protocol::crew::{self, Step};
use monoscan_protocol::tickets::Tickets;

use crate::engine::helpers::{self, Caller};

/// Fewer parts than so many times the threads are few.
const FEW: usize = 4;

/// Calls `of` with each number below `parts`, on this thread and helpers. A part should take a microsecond at least: a call costs some
/// 50 ns.
///
/// # Panics
/// If `of` does, after all parts that were begun have ended.
pub fn each(parts: usize, of: &(dyn Fn(usize) + Sync)) {
    let (own, _caller) = (Own::default(), Caller::new());
    let threads = helpers::threads();
    let are_few = parts < FEW * threads && !helpers::are_paused();
    let mut helpers = if are_few { threads.min(parts).saturating_sub(1) } else { 0 };
    let mut done = 0;
    while helpers == 0 {
        if done == parts {
            return;
        }
        own.time(|| of(done));
        done += 1;
        let left = parts - done;
        helpers = helpers::of_time(own.mean().mul_f64(left as f64), left, || threads);
    }

    let work = |seat: usize| {
        let own = &own;
        move |part: usize| {
            let part = || of(done + part);
            if seat == 0 { own.time(part) } else { part() }
        }
    };
    let waited = shared(parts - done, helpers, &work);
    helpers::ended_within(own.mean(), waited);
}

/// Does parts on this thread and so many helpers; `work` makes what a thread needs, of seat 0 for the caller. Says how long the caller
/// waited for the last.
pub(crate) fn shared<F: FnMut(usize) + Send>(
    parts: usize,
    helpers: usize,
    work: &(dyn Fn(usize) -> F + Sync),
) -> Duration {
    let tickets = Tickets::new(parts);
    let step = |work: &mut F| match tickets.take() {
        Some(part) => {
            work(part.get());
            Step::More
        }
        None => Step::Done,
    };
    crew::with_helpers(helpers::spawn, helpers, &|seat| work(seat), &step)
}

/// How long the caller took for its parts. Relaxed: one thread writes, and they guard no data.
#[derive(Default)]
struct Own {
    nanos: AtomicU64,
    parts: AtomicUsize,
}

impl Own {
    fn time(&self, part: impl FnOnce()) {
        let start = Instant::now();
        part();
        self.nanos.fetch_add(start.elapsed().as_nanos() as u64, Relaxed);
        self.parts.fetch_add(1, Relaxed);
    }

    fn mean(&self) -> Duration {
        Duration::from_nanos(self.nanos.load(Relaxed) / self.parts.load(Relaxed).max(1) as u64)
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    /// Parts that take so long, or no time.
    fn work(part: Duration) {
        let start = Instant::now();
        while start.elapsed() < part {
            std::hint::spin_loop();
        }
    }

    #[test]
    fn each_part_is_done_once() {
        for part in [Duration::ZERO, Duration::from_micros(30)] {
            for parts in [0, 1, 2, 7, 300] {
                let done: Vec<AtomicUsize> = (0..parts).map(|_| AtomicUsize::new(0)).collect();
                each(parts, &|number| {
                    work(part);
                    done[number].fetch_add(1, Relaxed);
                });
                assert!(done.iter().all(|done| done.load(Relaxed) == 1), "{parts} parts of {part:?}");
            }
        }
    }

    #[test]
    fn a_panic_of_a_part_is_the_callers() {
        for wrong in [0, 3, 150] {
            let done = AtomicUsize::new(0);
            let parts = catch_unwind(AssertUnwindSafe(|| {
                each(200, &|number| {
                    work(Duration::from_micros(30));
                    assert!(number != wrong, "part {wrong}");
                    done.fetch_add(1, Relaxed);
                });
            }));
            let message = parts.expect_err("a part panics");
            assert_eq!(message.downcast_ref(), Some(&format!("part {wrong}")));
            assert!(done.into_inner() < 200);
        }
    }
}
