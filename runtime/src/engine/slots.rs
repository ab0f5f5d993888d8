//! States in memory, as kernels read and write them: slots at a fixed stride, with a part for each stage.

use std::ops::Range;

use scan_codegen::cpu::StateLayout;
use scan_ir::{Constant, Field};
use smallvec::SmallVec;

/// A row of slots, aligned to 16 bytes. A few small ones need no allocation.
#[derive(Clone)]
pub(crate) struct Slots<'a> {
    memory: SmallVec<[u128; 8]>,
    layout: &'a StateLayout,
}

impl<'a> Slots<'a> {
    /// Zeroed slots.
    pub(crate) fn new(layout: &'a StateLayout, slots: usize) -> Self {
        Slots { memory: SmallVec::from_elem(0, slots * layout.stride / 16), layout }
    }

    /// One slot with these components of these stages; the others are zero.
    pub(crate) fn one(layout: &'a StateLayout, state: impl IntoIterator<Item = (Field, Constant)>) -> Self {
        let mut slots = Slots::new(layout, 1);
        slots.write(0, state);
        slots
    }

    /// Where a slot starts; the slots after it follow.
    pub(crate) fn from(&mut self, slot: usize) -> *mut u8 {
        let start = slot * self.layout.stride;
        self.bytes_mut()[start..].as_mut_ptr()
    }

    /// Where the first slot starts.
    pub(crate) fn as_ptr(&self) -> *const u8 {
        self.memory.as_ptr().cast()
    }

    /// Some bytes of one slot.
    pub(crate) fn part(&self, slot: usize, part: Range<usize>) -> &[u8] {
        let start = slot * self.layout.stride;
        &bytemuck::cast_slice(&self.memory)[start + part.start..start + part.end]
    }

    /// Some bytes of one slot, to write.
    pub(crate) fn part_mut(&mut self, slot: usize, part: Range<usize>) -> &mut [u8] {
        let start = slot * self.layout.stride;
        &mut self.bytes_mut()[start + part.start..start + part.end]
    }

    /// Copies some bytes of one slot to the same place of another.
    pub(crate) fn copy_part(&mut self, from: usize, to: usize, part: Range<usize>) {
        let (from, to) = (from * self.layout.stride, to * self.layout.stride);
        self.bytes_mut().copy_within(from + part.start..from + part.end, to + part.start);
    }

    /// Copies slot `other` of other states of the same layout.
    pub(crate) fn take(&mut self, slot: usize, from: &Slots<'_>, other: usize) {
        let words = self.layout.stride / 16;
        self.memory[slot * words..(slot + 1) * words].copy_from_slice(&from.memory[other * words..(other + 1) * words]);
    }

    /// Writes some components of one slot.
    pub(crate) fn write(&mut self, slot: usize, components: impl IntoIterator<Item = (Field, Constant)>) {
        for (field, value) in components {
            let start = field.offset as usize;
            let size = field.ty.size();
            self.part_mut(slot, start..start + size).copy_from_slice(&value.bits().to_le_bytes()[..size]);
        }
    }

    /// A component of one slot.
    pub(crate) fn read(&self, slot: usize, field: Field) -> Constant {
        let start = field.offset as usize;
        Constant::from_bytes(field.ty, self.part(slot, start..start + field.ty.size()))
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(&mut self.memory)
    }
}
