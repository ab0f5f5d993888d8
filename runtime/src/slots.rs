//! States in memory, as kernels read and write them: slots at a fixed stride, each laid out like the state's record.

use scan_codegen::cpu::StateLayout;
use scan_ir::{Constant, MAX_STATE_BYTES};

/// Memory for one state of any program, on the stack.
pub(crate) type One = [u128; MAX_STATE_BYTES / 16];

/// A row of states in `Memory`, aligned to 16 bytes.
pub(crate) struct Slots<'a, Memory> {
    memory: Memory,
    state: &'a StateLayout,
}

impl<'a> Slots<'a, One> {
    /// One slot, zeroed, without allocation.
    pub(crate) fn one(state: &'a StateLayout) -> Self {
        assert!(state.stride <= MAX_STATE_BYTES, "the verifier bounds states");
        Slots { memory: One::default(), state }
    }
}

impl<'a> Slots<'a, Vec<u128>> {
    /// Zeroed slots.
    pub(crate) fn many(state: &'a StateLayout, slots: usize) -> Self {
        Slots { memory: vec![0; slots * state.stride / 16], state }
    }
}

impl<Memory: AsMut<[u128]>> Slots<'_, Memory> {
    /// Where a slot starts; the slots after it follow.
    pub(crate) fn from(&mut self, slot: usize) -> *mut u8 {
        let start = slot * self.state.stride;
        self.bytes()[start..].as_mut_ptr()
    }

    /// The bytes of one state.
    pub(crate) fn get(&mut self, slot: usize) -> &mut [u8] {
        let (start, size) = (slot * self.state.stride, self.state.layout.size as usize);
        &mut self.bytes()[start..start + size]
    }

    /// Copies one state.
    pub(crate) fn copy(&mut self, from: usize, to: usize) {
        let stride = self.state.stride;
        self.bytes().copy_within(from * stride..(from + 1) * stride, to * stride);
    }

    /// Writes some components of one state.
    pub(crate) fn write(&mut self, slot: usize, components: impl IntoIterator<Item = (usize, Constant)>) {
        for (component, value) in components {
            let offset = self.state.layout.fields[component].offset as usize;
            let bytes = value.to_bytes();
            self.get(slot)[offset..offset + bytes.len()].copy_from_slice(&bytes);
        }
    }

    fn bytes(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(self.memory.as_mut())
    }
}
