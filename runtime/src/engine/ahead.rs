//! Memory asked for ahead of its use.
//!
//! A processor fetches ahead by itself along streams that it sees. Two passes hide them: while a
//! strip is replayed from cache nothing is read from memory, and W blocks that are written side by
//! side are no stream. So lines longer than a cache ask for the next strip: its records, and the
//! places of its results. They ask for a part before each pass over a strip. Asking changes no
//! result and cannot fail.

use super::line::Line;
use super::worker::Strip;
use crate::caches::{each_line, to_read, to_write};

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
        columns.for_each(|(&base, size)| {
            each_line(base.wrapping_add(start.wrapping_mul(*size)), number.len() * size, to_read);
        });
        if self.writes && self.streaming(strip.kernel(), strip).is_none() {
            let columns = self.outputs.iter().zip(&self.kernels.sizes.outputs);
            columns.for_each(|(base, size)| {
                each_line(base.wrapping_add(start.wrapping_mul(*size)), number.len() * size, to_write);
            });
        }
    }
}

/// Asks for bytes that will be read.
pub(crate) fn ask_for_bytes(bytes: &[u8]) {
    each_line(bytes.as_ptr(), bytes.len(), to_read);
}
