//! Whole states in callers' memory, which kernels of short lines start from and leave there.

use monoscan_codegen::cpu::Compiled;
use monoscan_ir::{Constant, Field, Layout};
use smallvec::SmallVec;

use super::native::put;
use super::variant::Variant;

/// States, aligned to 16 bytes.
pub(super) type Memory = SmallVec<[u128; 4]>;

/// How the states of a kernel lie in memory, and those that sequences start from.
pub(super) struct WholeStates {
    pub(super) layout: Layout,
    start: Memory,
    /// Whether they are states of the loop that the program was derived from.
    pub(super) are_of_loop: bool,
    /// Whether the kernel goes on from any states, and relies on none of their ranges.
    pub(super) takes_any: bool,
}

impl WholeStates {
    pub(super) fn of(variant: &Variant, code: &Compiled) -> WholeStates {
        let (layout, are_of_loop) = (code.whole_states().clone(), code.are_of_loop());
        let mut start = SmallVec::from_elem(0, (layout.size as usize).div_ceil(16));
        put(&layout, bytemuck::cast_slice_mut(&mut start), &code.whole_start());
        let program = &variant.program;
        let takes_any = if are_of_loop { program.takes_any_loop_state() } else { program.holds_any() };
        WholeStates { layout, start, are_of_loop, takes_any }
    }

    /// Bytes of a state.
    pub(super) fn size(&self) -> usize {
        self.layout.size as usize
    }

    /// Those that sequences start from.
    #[inline]
    pub(super) fn start(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.start)[..self.size()]
    }

    /// Memory for one state, with that which sequences start from, or this one.
    #[inline(always)]
    pub(super) fn one(&self, given: Option<&[Constant]>) -> Memory {
        let mut memory = Memory::from_slice(&self.start);
        if let Some(given) = given {
            put(&self.layout, bytemuck::cast_slice_mut(&mut memory), given);
        }
        memory
    }

    /// Memory for so many states, one after the other, with those that sequences start from, all with the given ones, or each with its own
    /// of them.
    pub(super) fn memory(&self, given: Option<&[Constant]>, are_of_each: bool, count: usize) -> Memory {
        let size = self.size();
        let mut memory = SmallVec::from_elem(0, (size * count).div_ceil(16));
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut memory);
        for (number, state) in bytes.chunks_exact_mut(size).take(count).enumerate() {
            let each = self.layout.fields.len();
            match given {
                None => state.copy_from_slice(self.start()),
                Some(given) if are_of_each => put(&self.layout, state, &given[number * each..][..each]),
                Some(given) => put(&self.layout, state, given),
            }
        }
        memory
    }

    /// Whether they lie in memory as so many of these, one after the other.
    pub(super) fn are_array_of(&self, one: &Layout, count: usize) -> bool {
        let (own, each) = (&self.layout.fields, one.fields.len());
        let is_in_place = |(place, field): (usize, &Field)| {
            let of_one = &one.fields[place % each];
            field.ty == of_one.ty && field.offset == of_one.offset + (place / each) as u32 * one.size
        };
        self.size() == one.size as usize * count && own.len() == each * count && own.iter().enumerate().all(is_in_place)
    }
}

/// The components of a state that lies there.
#[inline]
pub(super) fn components<'a>(layout: &'a Layout, state: &'a [u8]) -> impl ExactSizeIterator<Item = Constant> + 'a {
    layout.fields.iter().map(|field| Constant::from_bytes(field.ty, &state[field.offset as usize..]))
}

/// The states after a line.
pub(crate) struct StatesAfter<'a> {
    layout: &'a Layout,
    memory: Memory,
}

impl<'a> StatesAfter<'a> {
    #[inline(always)]
    pub(super) fn new(layout: &'a Layout, memory: Memory) -> StatesAfter<'a> {
        StatesAfter { layout, memory }
    }

    /// Their components in order.
    #[inline]
    pub(crate) fn components(&self) -> impl ExactSizeIterator<Item = Constant> {
        components(self.layout, bytemuck::cast_slice(&self.memory))
    }
}
