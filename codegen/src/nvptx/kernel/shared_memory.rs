//! The shared memory of a block while it is laid out.

/// Bytes of a line of memory: bulk copies are fast where source and destination lie at the same place of such.
pub(crate) const LINE: usize = 128;

/// The bytes that are taken so far.
#[derive(Default)]
pub(crate) struct SharedAllocator(usize);

impl SharedAllocator {
    /// The place of so many bytes, a multiple of 16.
    pub(crate) fn take(&mut self, bytes: usize) -> usize {
        let start = self.0;
        self.0 += bytes.next_multiple_of(16);
        start
    }

    /// The place of so many bytes that bulk copies come to or go from: a multiple of [`LINE`].
    pub(crate) fn take_lines(&mut self, bytes: usize) -> usize {
        self.0 = self.0.next_multiple_of(LINE);
        self.take(bytes)
    }

    /// Makes all that was taken so far one of so many equal parts, and gives the bytes of a part: whole lines.
    pub(crate) fn repeat(&mut self, parts: usize) -> usize {
        let part = self.0.next_multiple_of(LINE);
        self.0 = parts * part;
        part
    }

    /// All bytes that were taken.
    pub(crate) fn bytes(&self) -> usize {
        self.0
    }
}
