//! Results past the caches, for lines on several threads whose results no cache holds.
//!
//! Kernels that write whole vectors have a form with streaming stores, which do not read a cache
//! line before they fill it. They are no faster where a cache would have held the results, or where
//! one thread alone does not use up what memory moves, and slower on few threads that fill lines
//! slowly. They need aligned addresses, and are ordered
//! with what comes after by a fence alone. Results that replace the records they come from are in a
//! cache already.

use monoscan_codegen::cpu::{Kernel, TileFn};

use super::line::Line;
use super::worker::Strip;
use crate::caches;

/// The alignment of the addresses of streaming stores.
const ALIGNMENT: usize = 16;

impl Line<'_> {
    /// Whether results of a line of so many elements should go past the caches, if so many threads write them.
    pub(super) fn should_stream(&self, len: usize, threads: usize) -> bool {
        len >= self.plan.streaming && threads >= self.plan.streaming_threads && !self.is_in_place()
    }

    /// Whether results are written over records that are read.
    pub(crate) fn is_in_place(&self) -> bool {
        self.writes && self.outputs.iter().any(|output| self.inputs.contains(&output.cast_const()))
    }

    /// A kernel's streaming form for a strip, if results go past the caches.
    pub(crate) fn streaming(&self, kernel: Kernel, strip: Strip) -> Option<TileFn> {
        let first = self.first + strip.start;
        let is_aligned = |(base, size): (&*mut u8, &usize)| {
            base.addr().wrapping_add(first * size).is_multiple_of(ALIGNMENT)
                && (strip.interleave == 1 || (strip.block * size).is_multiple_of(ALIGNMENT))
        };
        let allowed = self.streams && self.outputs.iter().zip(&self.kernels.sizes.outputs).all(is_aligned);
        if allowed { self.kernels.code.streaming(kernel) } else { None }
    }

    /// Puts the results that this thread has written so far before all that it does next: to be called before another thread is told of them.
    pub(crate) fn settle(&self) {
        if self.streams {
            caches::settle();
        }
    }
}
