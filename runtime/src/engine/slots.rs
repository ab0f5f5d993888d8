//! States in memory, as kernels read and write them: slots at a fixed stride, with a part for each
//! stage.

use std::marker::PhantomData;
use std::ops::Range;

use monoscan_codegen::cpu::StateLayout;
use monoscan_ir::{Constant, Field};
use monoscan_protocol::state::State;
use smallvec::SmallVec;

/// A row of slots, aligned to 16 bytes. A few small ones need no allocation: those of a thread that walks a line alone, say.
#[derive(Clone)]
pub(crate) struct Slots<'a> {
    memory: SmallVec<[u128; 16]>,
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

    /// A slot for each of these states, as [`one`](Slots::one) makes it.
    pub(crate) fn each<S>(layout: &'a StateLayout, states: impl ExactSizeIterator<Item = S>) -> Self
    where
        S: IntoIterator<Item = (Field, Constant)>,
    {
        let mut slots = Slots::new(layout, states.len());
        states.enumerate().for_each(|(slot, state)| slots.write(slot, state));
        slots
    }

    /// Where a slot starts; the slots after it follow.
    pub(crate) fn from(&mut self, slot: usize) -> *mut u8 {
        let start = slot * self.layout.stride;
        self.bytes_mut()[start..].as_mut_ptr()
    }

    /// The first `count` slots, for uses of several at the same time: their addresses come of one borrow, while another
    /// [`from`](Slots::from) would end it.
    pub(crate) fn first(&mut self, count: usize) -> FirstSlots<'_> {
        let words = self.layout.stride / size_of::<u128>();
        let memory = &mut self.memory[..count * words];
        FirstSlots { base: memory.as_mut_ptr(), words, count, borrowed: PhantomData }
    }

    /// Some bytes of one slot.
    fn part(&self, slot: usize, part: Range<usize>) -> &[u8] {
        let start = slot * self.layout.stride;
        &bytemuck::cast_slice(&self.memory)[start + part.start..start + part.end]
    }

    /// Some bytes of one slot, to write.
    fn part_mut(&mut self, slot: usize, part: Range<usize>) -> &mut [u8] {
        let start = slot * self.layout.stride;
        &mut self.bytes_mut()[start + part.start..start + part.end]
    }

    /// Copies slot `other` of other states of the same layout.
    pub(crate) fn take(&mut self, slot: usize, from: &Slots<'_>, other: usize) {
        let words = self.layout.stride / 16;
        self.memory[slot * words..(slot + 1) * words].copy_from_slice(&from.memory[other * words..(other + 1) * words]);
    }

    /// A component of a stage in one slot; the stage has it.
    pub(crate) fn of(&self, slot: usize, stage: u32, component: u32) -> Constant {
        let field = self.layout.field(stage, component).expect("the stage has so many components");
        self.read(slot, field)
    }

    /// Copies one slot to another.
    pub(crate) fn copy(&mut self, from: usize, to: usize) {
        let words = self.layout.stride / 16;
        self.memory.copy_within(from * words..(from + 1) * words, to * words);
    }

    /// Puts these words of a state that threads tell each other into one slot.
    pub(crate) fn put(&mut self, slot: usize, state: &State, words: Range<usize>) {
        let start = slot * self.layout.stride / size_of::<u64>();
        let all: &mut [u64] = bytemuck::cast_slice_mut(&mut self.memory);
        words.for_each(|word| all[start + word] = state.get(word));
    }

    /// One slot, for others.
    pub(crate) fn state(&self, slot: usize) -> State {
        let mut state = State::zeroed(self.layout.stride / size_of::<u64>());
        let words = 0..state.len();
        self.get(slot, &mut state, words);
        state
    }

    /// Gives these words of one slot to others.
    pub(crate) fn get(&self, slot: usize, state: &mut State, words: Range<usize>) {
        let start = slot * self.layout.stride / size_of::<u64>();
        let all: &[u64] = bytemuck::cast_slice(&self.memory);
        words.for_each(|word| state.set(word, all[start + word]));
    }

    /// Writes some components of one slot.
    pub(crate) fn write(&mut self, slot: usize, components: impl IntoIterator<Item = (Field, Constant)>) {
        for (field, value) in components {
            let start = field.offset as usize;
            value.write_to(self.part_mut(slot, start..start + field.ty.size()));
        }
    }

    /// A component of one slot.
    pub(crate) fn read(&self, slot: usize, field: Field) -> Constant {
        let start = field.offset as usize;
        Constant::from_bytes(field.ty, self.part(slot, start..start + field.ty.size()))
    }

    /// These components of some slots, one slot after the other, as far as there is space for them.
    pub(crate) fn read_each<'c>(
        &self,
        slots: Range<usize>,
        fields: &[Field],
        states: impl Iterator<Item = &'c mut [Constant]>,
    ) {
        let bytes: &[u8] = bytemuck::cast_slice(&self.memory);
        let stride = self.layout.stride;
        let slots = bytes[slots.start * stride..slots.end * stride].chunks_exact(stride);
        for (slot, state) in slots.zip(states) {
            for (to, field) in state.iter_mut().zip(fields) {
                *to = Constant::from_bytes(field.ty, &slot[field.offset as usize..]);
            }
        }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(&mut self.memory)
    }
}

/// Some words of 16 bytes of a slot of [`FirstSlots`].
pub(crate) struct Part(Range<usize>);

impl Part {
    /// Words are few: this is faster than a call that copies any number of bytes.
    ///
    /// # Safety
    /// Both addresses are those of such slots, aligned to 16 bytes, which may be one.
    #[inline]
    pub(crate) unsafe fn copy(&self, from: *const u8, to: *mut u8) {
        let (from, to) = (from.cast::<u128>(), to.cast::<u128>());
        // SAFETY: the words are within both.
        self.0.clone().for_each(|word| unsafe { *to.add(word) = *from.add(word) });
    }
}

/// The first slots of several, which may be read and written through their addresses.
pub(crate) struct FirstSlots<'s> {
    base: *mut u128,
    /// Of a slot.
    words: usize,
    count: usize,
    borrowed: PhantomData<&'s mut [u128]>,
}

impl FirstSlots<'_> {
    /// Where a slot starts.
    #[inline]
    pub(crate) fn at(&self, slot: usize) -> *mut u8 {
        assert!(slot < self.count, "slot {slot} of {}", self.count);
        self.base.wrapping_add(slot * self.words).cast()
    }

    /// The words of a slot that are these bytes, a part of a level, which are a multiple of 16.
    #[inline]
    pub(crate) fn part(&self, part: Range<usize>) -> Part {
        Part(part.start / 16..part.end.div_ceil(16).min(self.words))
    }

    /// Copies a part of one slot to the same place of another.
    #[inline]
    pub(crate) fn copy_part(&self, from: usize, to: usize, part: &Part) {
        // SAFETY: both are slots, which are borrowed mutably and hold plain numbers.
        unsafe { part.copy(self.at(from).cast_const(), self.at(to)) }
    }

    /// Copies a part of a state of as many words as a slot to the same place of a slot.
    #[inline]
    pub(crate) fn put_part(&self, from: &State, to: usize, part: &Part) {
        assert!(from.len() >= 2 * part.0.end, "a state of {} words", from.len());
        // SAFETY: the state has these words, aligned to 16 bytes, and the slot is borrowed mutably.
        unsafe { part.copy(from.as_ptr(), self.at(to)) }
    }
}

/// A state that runs start from: one of several slots.
#[derive(Clone, Copy)]
pub(crate) struct Start<'a> {
    slots: &'a Slots<'a>,
    slot: usize,
}

impl<'a> Start<'a> {
    /// The first of these slots.
    pub(crate) fn only(slots: &'a Slots<'a>) -> Start<'a> {
        Start { slots, slot: 0 }
    }

    /// One of these slots.
    pub(crate) fn of(slots: &'a Slots<'a>, slot: usize) -> Start<'a> {
        Start { slots, slot }
    }

    /// Where it lies.
    pub(crate) fn as_ptr(self) -> *const u8 {
        let words = self.slots.layout.stride / size_of::<u128>();
        self.slots.memory[self.slot * words..].as_ptr().cast()
    }

    /// Copies it to a slot of states of the same layout.
    pub(crate) fn put(self, states: &mut Slots<'_>, slot: usize) {
        states.take(slot, self.slots, self.slot);
    }

    /// The state, for others.
    pub(crate) fn state(self) -> State {
        self.slots.state(self.slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use monoscan_ir::{Layout, Type};

    #[test]
    fn states_go_to_other_threads_and_come_back() {
        let layout = StateLayout { stages: vec![(0, Layout::packed(&[Type::U64; 3]))], stride: 32 };
        let mut states = Slots::new(&layout, 2);
        let fields = (0..3).map(|component| layout.field(0, component).unwrap());
        states.write(1, fields.clone().zip([7u64, 8, 9].map(Constant::from)));
        let mut state = State::zeroed(4);
        states.get(1, &mut state, 1..4);
        assert_eq!(state, State::new([0, 8, 9, 0]));
        states.put(0, &state, 0..2);
        assert!(fields.map(|field| states.read(0, field)).eq([0u64, 8, 0].map(Constant::from)));
        states.copy(1, 0);
        assert_eq!(states.read(0, layout.field(0, 0).unwrap()), Constant::from(7u64));
    }

    /// Kernels do the same for `fold` and `reduce`; Miri watches the pointers.
    #[test]
    fn slots_are_read_and_written_through_several_pointers_at_once() {
        for slots in [3, 40] {
            let layout = StateLayout { stages: vec![(0, Layout::packed(&[Type::U8, Type::U32]))], stride: 16 };
            let (small, large) = (layout.field(0, 0).unwrap(), layout.field(0, 1).unwrap());
            let mut states = Slots::new(&layout, slots);
            states.write(0, [(large, Constant::from(3u32))]);
            states.write(1, [(small, Constant::from(1u8)), (large, Constant::from(4u32))]);
            let slots = states.first(3);
            let [earlier, later, out] = [0, 1, 2].map(|slot| slots.at(slot));
            let at = large.offset as usize;
            // SAFETY: all three are slots, which are aligned to 16 bytes and hold a `u32` at its natural alignment.
            unsafe { *out.add(at).cast::<u32>() = *earlier.add(at).cast::<u32>() + *later.add(at).cast::<u32>() };
            // SAFETY: slot 1 is behind slot 0.
            unsafe { *earlier.add(layout.stride) = 9 };
            slots.copy_part(2, 0, &slots.part(0..16));
            assert_eq!(states.read(0, large), Constant::from(7u32));
            assert_eq!(states.read(1, small), Constant::from(9u8));
        }
    }
}
