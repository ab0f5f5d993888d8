//! The tables of a program: constants of the module in device memory, unless a kernel has put them
//! elsewhere.
//!
//! Elements of 3, 5 to 7 and 9 to 15 bytes are padded with zeros to a power of two, so that one
//! aligned load reads any element.

use monoscan_ir::facts::Range;
use monoscan_ir::{Table, Type};

use super::{from_memory, memory_ty};
use crate::gpu::{BANKS, WORD};
use crate::nvptx::emit::{Builder, Space, Ty, Value};

/// Where the tables of a program are.
pub struct Tables<'k>(Vec<Place<'k>>);

/// Where one table is.
#[derive(Clone, Copy)]
pub struct Place<'k> {
    /// Its first element, at a multiple of [`stride`](Place::stride).
    pub base: Value<'k>,
    ty: Type,
    /// Bytes from one element to the next, a power of two.
    stride: usize,
    /// How many elements there are.
    len: usize,
    /// Whether there is a copy for each bank of shared memory: `base` is that of a lane's own, whose words are all in one bank.
    bank_replicated: bool,
}

impl<'k> Tables<'k> {
    /// Makes the tables constants of the module.
    pub fn in_module(k: &'k Builder, contents: &[Table]) -> Tables<'k> {
        let place = |(number, table): (usize, &Table)| Place {
            base: k.constant_bytes(number, &padded(table)),
            ty: table.ty,
            stride: table.ty.size().next_power_of_two(),
            len: table.len(),
            bank_replicated: false,
        };
        Tables(contents.iter().enumerate().map(place).collect())
    }

    /// Where a table is.
    pub fn get(&self, number: u32) -> Option<Place<'k>> {
        self.0.get(number as usize).copied()
    }

    /// From now on the table is read at `base`, in memory of any kind, aligned to 16 bytes, where the kernel has put
    /// a copy of it; or one for each bank, of which `base` is that of this lane.
    pub fn moved(&mut self, number: u32, base: Value<'k>, bank_replicated: bool) {
        if let Some(place) = self.0.get_mut(number as usize) {
            (place.base, place.bank_replicated) = (base, bank_replicated);
        }
    }
}

impl<'k> Place<'k> {
    /// Whether there is a copy of it for each bank.
    pub fn is_in_each_bank(self) -> bool {
        self.bank_replicated
    }

    /// Bytes it takes.
    pub fn size(self) -> usize {
        self.stride * self.len
    }

    /// Where an element is in a copy whose words are all in one bank.
    fn place_in_bank(self, index: Value<'k>) -> Value<'k> {
        // Words are apart by as many as there are banks; elements of a word are not.
        let place = index * self.stride;
        match WORD / self.stride {
            1 => place * BANKS,
            in_word => place + ((index >> in_word.ilog2() as usize) * (WORD * (BANKS - 1))),
        }
    }

    /// The element at `index`, which is in this range; past the end the last. None if the table is empty.
    pub(super) fn load(self, index: Value<'k>, range: Range) -> Option<Value<'k>> {
        let last = self.len.checked_sub(1)?;
        let index = if range.max <= last as i128 { index } else { index.math("umin", &[index.same(last as i128)]) };
        let element = match self.bank_replicated {
            true => self.base.byte(self.place_in_bank(index.resize(Ty::I32))),
            false => self.base.byte(index.resize(Ty::I64) * self.stride),
        };
        // Padded elements are loaded whole.
        let ty = Ty::Int(8 * self.stride as u16);
        let bits = match self.base.ty() {
            Ty::Pointer(Space::Global) => element.load_constant(ty, self.stride),
            _ => element.load(ty, self.stride),
        };
        Some(from_memory(bits.resize(memory_ty(self.ty)), self.ty))
    }
}

/// The bytes of a table with its elements padded, and itself padded to a multiple of 16 bytes.
fn padded(table: &Table) -> Vec<u8> {
    let size = table.ty.size();
    let padding = size.next_power_of_two() - size;
    let elements = table.bytes.chunks_exact(size);
    let mut bytes: Vec<u8> =
        elements.flat_map(|element| element.iter().copied().chain(std::iter::repeat_n(0, padding))).collect();
    bytes.resize(bytes.len().next_multiple_of(16), 0);
    bytes
}
