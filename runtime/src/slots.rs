//! States in memory, as kernels read and write them: slots at a fixed stride, each laid out like the state's record.

use bytemuck::{Pod, Zeroable};
use scan_ir::{Constant, Layout, MAX_STATE_BYTES};

/// Room for one state of any program.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(16))]
struct Room([u8; MAX_STATE_BYTES]);

/// Up to `ROOMS` states, on the stack.
pub(crate) struct Slots<'a, const ROOMS: usize> {
    rooms: [Room; ROOMS],
    layout: &'a Layout,
    stride: usize,
}

impl<'a, const ROOMS: usize> Slots<'a, ROOMS> {
    /// Zeroed slots for states of this layout, `stride` bytes apart.
    ///
    /// # Panics
    /// If the stride is larger than any state, which kernels never make it.
    pub(crate) fn new(layout: &'a Layout, stride: usize) -> Self {
        assert!(layout.size as usize <= stride && stride <= MAX_STATE_BYTES, "the verifier bounds states");
        Slots { rooms: [Room::zeroed(); ROOMS], layout, stride }
    }

    /// Where slot `slot` starts; the slots after it follow.
    pub(crate) fn from(&mut self, slot: usize) -> *mut u8 {
        let start = slot * self.stride;
        self.bytes_mut()[start..].as_mut_ptr()
    }

    /// The bytes of one state.
    pub(crate) fn get(&mut self, slot: usize) -> &mut [u8] {
        let (start, size) = (slot * self.stride, self.layout.size as usize);
        &mut self.bytes_mut()[start..start + size]
    }

    /// Writes some components of one state.
    pub(crate) fn write(&mut self, slot: usize, components: impl IntoIterator<Item = (usize, Constant)>) {
        for (component, value) in components {
            let offset = self.layout.fields[component].offset as usize;
            let bytes = value.to_bytes();
            self.get(slot)[offset..offset + bytes.len()].copy_from_slice(&bytes);
        }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(&mut self.rooms)
    }
}
