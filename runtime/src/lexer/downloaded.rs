//! Tokens in the memory of a GPU → columns here.

use std::mem::MaybeUninit;

use rayon::prelude::*;

use super::{KindNumber, PlaceNumber, TokenColumnsOf};
use crate::device_memory::DeviceMemory;
use crate::error::Error;

/// Numbers that one thread turns into others at a time.
const GRAIN: usize = 64 << 10;

impl<K: KindNumber, P: PlaceNumber> TokenColumnsOf<K, P> {
    /// Drops the tokens and takes `len` others: a byte of kind, of which `error` is that of bytes that begin no token, and `u32`s
    /// where each starts and ends.
    ///
    /// # Errors
    /// There is too little memory, or the driver fails; there are no tokens then.
    #[doc(hidden)]
    pub fn download(&mut self, len: usize, [kinds, starts, ends]: [&DeviceMemory; 3], error: u8) -> Result<(), Error> {
        self.clear();
        self.reserve(len)?;
        let kind = |&kind: &u8| if kind == error { K::ERROR } else { K::of_kind(kind.into()) };
        let place = |&place: &u32| P::of_place(place as usize);
        take(kinds, &mut self.kinds.spare_capacity_mut()[..len], kind)?;
        take(starts, &mut self.starts.spare_capacity_mut()[..len], place)?;
        take(ends, &mut self.ends.spare_capacity_mut()[..len], place)?;
        // SAFETY: so many of each were written.
        unsafe { self.set_len(len) };
        Ok(())
    }
}

/// Writes as many numbers as `to` has, made of those on the device.
fn take<Read: bytemuck::Pod + Sync, Made: Send>(
    from: &DeviceMemory,
    to: &mut [MaybeUninit<Made>],
    number: impl Fn(&Read) -> Made + Sync,
) -> Result<(), Error> {
    let mut rest = to;
    let bytes = rest.len() * size_of::<Read>();
    from.download_pieces(bytes, |piece| {
        let numbers: &[Read] = bytemuck::cast_slice(piece);
        let (part, behind) = std::mem::take(&mut rest).split_at_mut(numbers.len());
        rest = behind;
        part.par_chunks_mut(GRAIN).zip(numbers.par_chunks(GRAIN)).for_each(|(part, numbers)| {
            for (to, from) in part.iter_mut().zip(numbers) {
                to.write(number(from));
            }
        });
    })
}
