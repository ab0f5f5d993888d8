//! Records in registers: the bytes of some consecutive records of a column, loaded and stored in wide pieces.
//!
//! A thread works on the records of a *unit* at a time. Their bytes move between shared memory and registers in pieces of
//! up to 16 bytes, and their fields are cut out of these pieces, or put together to such.

use scan_ir::Type;

use super::emit::{Emit, Ty, Value};
use super::lower::{from_memory, to_memory};

/// Consecutive bytes, as integers of at most 32 bits with the places where they begin.
pub(crate) struct Bytes<'k> {
    k: &'k Emit,
    parts: Vec<(usize, Value<'k>)>,
}

/// The bytes that one access moves, for runs that begin at multiples of `bytes`.
pub(crate) fn width(bytes: usize) -> usize {
    (1 << bytes.trailing_zeros()).min(16)
}

impl<'k> Bytes<'k> {
    /// Loads `bytes` bytes from an address that is a multiple of their [`width`].
    pub(crate) fn load(k: &'k Emit, from: Value<'k>, bytes: usize) -> Bytes<'k> {
        let width = width(bytes);
        let mut parts = Vec::new();
        for start in (0..bytes).step_by(width) {
            let at = from.at(start);
            match width {
                1..=4 => parts.push((start, at.load(Ty::Int(8 * width as u16), width))),
                _ => {
                    let words = at.load(Ty::Words((width / 4) as u8), width);
                    parts.extend((0..width / 4).map(|lane| (start + 4 * lane, words.word(lane))));
                }
            }
        }
        Bytes { k, parts }
    }

    /// The bytes of these words.
    pub(crate) fn of_words(k: &'k Emit, words: Vec<Value<'k>>) -> Bytes<'k> {
        Bytes { k, parts: words.into_iter().enumerate().map(|(place, word)| (4 * place, word)).collect() }
    }

    /// The parts, which are words if they were made from such.
    pub(crate) fn into_words(self) -> Vec<Value<'k>> {
        self.parts.into_iter().map(|(_, part)| part).collect()
    }

    /// The value of a field that begins at a byte.
    pub(crate) fn field(&self, offset: usize, ty: Type) -> Value<'k> {
        let whole = Ty::Int(8 * ty.size() as u16);
        let mut bits: Option<Value<'k>> = None;
        for &(start, part) in &self.parts {
            let (part_end, end) = (start + part.ty().bits() as usize / 8, offset + ty.size());
            if part_end <= offset || end <= start {
                continue;
            }
            let piece = match start < offset {
                true => (part >> (8 * (offset - start))).resize(whole),
                false => part.resize(whole) << (8 * (start - offset)),
            };
            bits = Some(bits.map_or(piece, |bits| bits | piece));
        }
        from_memory(bits.unwrap_or(self.k.int(whole, 0)), ty)
    }

    /// No bytes yet, of `bytes`: all are zero.
    pub(crate) fn zeroed(k: &'k Emit, bytes: usize) -> Bytes<'k> {
        let part = width(bytes).min(4);
        let parts = (0..bytes).step_by(part).map(|start| (start, k.int(Ty::Int(8 * part as u16), 0)));
        Bytes { k, parts: parts.collect() }
    }

    /// Puts a field where zeros are.
    pub(crate) fn put(&mut self, offset: usize, ty: Type, value: Value<'k>) {
        let bits = to_memory(value, ty);
        for (start, part) in &mut self.parts {
            let (part_end, end) = (*start + part.ty().bits() as usize / 8, offset + ty.size());
            if part_end <= offset || end <= *start {
                continue;
            }
            let piece = match *start < offset {
                true => bits.resize(part.ty()) << (8 * (offset - *start)),
                false => (bits >> (8 * (*start - offset))).resize(part.ty()),
            };
            *part = if part.as_constant() == Some(0) { piece } else { *part | piece };
        }
    }

    /// Stores them at an address that is a multiple of their [`width`].
    pub(crate) fn store(&self, to: Value<'k>, bytes: usize) {
        let width = width(bytes);
        match width {
            1..=4 => self.parts.iter().for_each(|&(start, part)| to.at(start).store(part, width)),
            _ => {
                for (place, words) in self.parts.chunks(width / 4).enumerate() {
                    let vector = words
                        .iter()
                        .enumerate()
                        .fold(self.k.poison(Ty::Words((width / 4) as u8)), |vector, (lane, &(_, word))| {
                            vector.with_word(lane, word)
                        });
                    to.at(place * width).store(vector, width);
                }
            }
        }
    }
}
