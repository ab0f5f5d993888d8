//! Memory asked for ahead of its use.
//!
//! A processor fetches ahead by itself along streams that it sees. Two passes hide them: while a
//! strip is replayed from cache nothing is read from memory, and W blocks that are written side by
//! side are no stream. So lines longer than a cache ask for the next strip: its records, and the
//! places of its results. They ask for a part before each pass over a strip. Asking changes no
//! result and cannot fail.

use super::line::{Line, Strip};

/// Bytes that are fetched together.
const CACHE_LINE: usize = 64;

impl Line<'_> {
    /// Asks for one of `parts` parts of the next strip: its records, and, unless results go past the caches, their places.
    pub(crate) fn ask_for_next(&self, strip: Strip, part: usize, parts: usize) {
        if !self.is_long {
            return;
        }
        let elements = strip.elements();
        let number =
            strip.start + elements + elements * part / parts..strip.start + elements + elements * (part + 1) / parts;
        let start = if self.step < 0 { self.place.wrapping_sub(number.end).wrapping_add(1) } else { number.start };
        let columns = self.inputs.iter().zip(&self.kernels.sizes.inputs);
        columns.for_each(|(&base, size)| each_line(base, *size, start, number.len(), to_read));
        if self.writes && self.streaming(strip.kernel(), strip).is_none() {
            let columns = self.outputs.iter().zip(&self.kernels.sizes.outputs);
            columns.for_each(|(base, size)| each_line(base.cast_const(), *size, start, number.len(), to_write));
        }
    }
}

/// Asks for bytes that will be read.
pub(crate) fn ask_for_bytes(bytes: &[u8]) {
    each_line(bytes.as_ptr(), 1, 0, bytes.len(), to_read);
}

/// Calls `ask` for each cache line that these records touch.
fn each_line(base: *const u8, size: usize, start: usize, records: usize, ask: impl Fn(*const u8)) {
    let from = base.wrapping_add(start.wrapping_mul(size));
    (0..records * size).step_by(CACHE_LINE).for_each(|offset| ask(from.wrapping_add(offset)));
}

/// Asks for a line that will be read, in the second-level cache: the first is in use.
fn to_read(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        // SAFETY: every x86-64 has this instruction; it accesses nothing, at whatever address.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(address.cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// Asks for a line that will be written.
fn to_write(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
        // SAFETY: a processor without this hint takes it for nothing; it accesses nothing, at whatever address.
        unsafe { _mm_prefetch::<_MM_HINT_ET0>(address.cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
