//! Memory that kernels and the emulator both touch.
//!
//! A kernel reaches it by address, behind Rust's back, so no reference to its bytes may ever exist:
//! bytes are copied in and out.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr::NonNull;

/// A piece of memory of fixed length.
pub(crate) struct Region {
    base: NonNull<u8>,
    start: usize,
    len: usize,
    /// How it was allocated; none if it is someone else's.
    layout: Option<Layout>,
}

impl Region {
    /// The alignment of a region that is not shifted.
    const ALIGN: usize = 256;

    /// So many zeros, whose address is `shift` beyond a multiple of 256.
    pub(crate) fn new(len: usize, shift: usize) -> Region {
        assert!(shift < Region::ALIGN);
        let layout = Layout::from_size_align(shift + len.max(1), Region::ALIGN).expect("a buffer that fits in memory");
        // SAFETY: the layout is of at least one byte.
        let base = NonNull::new(unsafe { alloc_zeroed(layout) }).unwrap_or_else(|| handle_alloc_error(layout));
        Region { base, start: shift, len, layout: Some(layout) }
    }

    /// Memory of someone else.
    ///
    /// # Safety
    ///
    /// These bytes can be read as long as the region lives, and nobody writes them; neither does the caller by [`Region::write`].
    pub(crate) unsafe fn borrowed(address: NonNull<u8>, len: usize) -> Region {
        Region { base: address, start: 0, len, layout: None }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Where a kernel finds it.
    pub(crate) fn address(&self) -> usize {
        self.base.as_ptr().expose_provenance() + self.start
    }

    /// How far inside an access is, if all of it is inside.
    pub(crate) fn offset(&self, address: usize, bytes: usize) -> Option<usize> {
        let offset = address.checked_sub(self.address())?;
        (offset.checked_add(bytes)? <= self.len).then_some(offset)
    }

    /// Copies bytes out.
    pub(crate) fn read(&self, offset: usize, to: &mut [u8]) {
        assert!(offset <= self.len && to.len() <= self.len - offset, "an offset that was checked");
        // SAFETY: the source is inside the region by the assertion, and `to` is a Rust slice, which no region overlaps.
        // Kernels run on this thread only, and not while this does.
        unsafe { self.base.as_ptr().add(self.start + offset).copy_to_nonoverlapping(to.as_mut_ptr(), to.len()) }
    }

    /// Copies bytes in.
    pub(crate) fn write(&mut self, offset: usize, from: &[u8]) {
        assert!(offset <= self.len && from.len() <= self.len - offset, "an offset that was checked");
        // SAFETY: as in `read`; memory of someone else is not written, as `borrowed` was promised.
        unsafe { self.base.as_ptr().add(self.start + offset).copy_from_nonoverlapping(from.as_ptr(), from.len()) }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        if let Some(layout) = self.layout {
            // SAFETY: `base` came from the allocator with this layout, and a kernel that knew the address has ended.
            unsafe { dealloc(self.base.as_ptr(), layout) }
        }
    }
}
