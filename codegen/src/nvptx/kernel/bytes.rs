//! Records in registers: the bytes of some consecutive records of a column, loaded and stored in
//! wide pieces.
//!
//! A thread works on the records of a *load group* at a time. Their bytes move between memory and
//! registers in pieces of up to 16 bytes, and their fields are cut out of these pieces,
//! or put together to such.

use monoscan_ir::Type;

use crate::nvptx::emit::{Builder, Ty, Value};
use crate::nvptx::lower::{from_memory, to_memory};

/// Consecutive bytes, as integers of at most 32 bits with the places where they begin.
pub struct Bytes<'k> {
    k: &'k Builder,
    parts: Vec<(usize, Value<'k>)>,
}

/// The bytes that one access moves, for runs that begin at multiples of `bytes`.
pub(crate) fn width(bytes: usize) -> usize {
    1 << bytes.trailing_zeros().min(4)
}

impl<'k> Bytes<'k> {
    /// Loads `bytes` bytes from an address that is a multiple of their [`width`].
    pub fn load(k: &'k Builder, from: Value<'k>, bytes: usize) -> Bytes<'k> {
        Bytes::load_by(k, from, bytes, width(bytes))
    }

    /// The same from a multiple of `width`, in pieces of so many bytes.
    pub(crate) fn load_by(k: &'k Builder, from: Value<'k>, bytes: usize, width: usize) -> Bytes<'k> {
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

    /// The bytes of these words, or of parts of another size, all of the same.
    pub fn of_words(k: &'k Builder, words: Vec<Value<'k>>) -> Bytes<'k> {
        let size = words.first().map_or(4, |word| word.ty().bits() as usize / 8);
        Bytes { k, parts: words.into_iter().enumerate().map(|(place, word)| (size * place, word)).collect() }
    }

    /// The parts, which are words if they were made from such.
    pub fn into_words(self) -> Vec<Value<'k>> {
        self.parts.into_iter().map(|(_, part)| part).collect()
    }

    /// The value of a field that begins at a byte.
    pub fn field(&self, offset: usize, ty: Type) -> Value<'k> {
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

    /// Stores them at an address that is a multiple of their [`width`].
    pub fn store(&self, to: Value<'k>, bytes: usize) {
        self.store_by(to, width(bytes));
    }

    /// The same at a multiple of `width`, in pieces of so many bytes, of which parts are no more.
    pub(crate) fn store_by(&self, to: Value<'k>, width: usize) {
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

    /// Stores all but the first byte at an address that is a multiple of 4, or of as many bytes as there are.
    pub fn store_but_first(&self, to: Value<'k>) {
        for &(start, part) in &self.parts {
            let size = part.ty().bits() as usize / 8;
            match start {
                0 => (0..size.trailing_zeros()).map(|power| 1 << power).for_each(|byte| {
                    to.at(byte).store((part >> (8 * byte)).resize(Ty::Int(8 * byte as u16)), byte);
                }),
                _ => to.at(start).store(part, size),
            }
        }
    }
}

/// Consecutive bytes while fields are put in.
pub(crate) struct Pieces<'k> {
    k: &'k Builder,
    /// The type of a part.
    ty: Ty,
    /// The content of each part.
    parts: Vec<Vec<Piece<'k>>>,
}

/// Something in a part: the byte it begins at, how many it has, and its value there.
type Piece<'k> = (usize, usize, Value<'k>);

impl<'k> Pieces<'k> {
    /// No fields yet, of `bytes` bytes.
    pub(crate) fn new(k: &'k Builder, bytes: usize) -> Pieces<'k> {
        let part = width(bytes).min(4);
        Pieces { k, ty: Ty::Int(8 * part as u16), parts: vec![Vec::new(); bytes / part] }
    }

    /// Puts a field at a byte where none is.
    pub(crate) fn put(&mut self, offset: usize, ty: Type, value: Value<'k>) {
        let bits = to_memory(value, ty);
        let end = offset + ty.size();
        let size = self.ty.bits() as usize / 8;
        for place in offset / size..end.div_ceil(size) {
            let start = place * size;
            let piece = (bits >> (8 * start.saturating_sub(offset))).resize(self.ty);
            let first = offset.saturating_sub(start);
            self.parts[place].push((first, end.min(start + size) - start - first, piece));
        }
    }

    /// The bytes, zeros where nothing was put.
    pub(crate) fn join(self) -> Bytes<'k> {
        let (k, ty) = (self.k, self.ty);
        let join = |(place, mut pieces): (usize, Vec<Piece<'k>>)| {
            pieces.sort_by_key(|&(start, ..)| start);
            let sizes: Vec<usize> = pieces.iter().map(|&(_, size, _)| size).collect();
            let low_halves = |a, b| k.intrinsic(Ty::I32, "scan.pick_bytes", &[a, b, k.i32(0x5410)]);
            let pair = |a: Value<'k>, b: Value<'k>| match (a.low_byte(), b.low_byte()) {
                // Bytes of words are picked where they are.
                (Some((a, first)), Some((b, second))) => {
                    k.intrinsic(Ty::I32, "scan.pick_bytes", &[a, b, k.i32(first | (second + 4) << 4)])
                }
                _ => k.intrinsic(Ty::I32, "scan.pair_bytes", &[a.resize(Ty::I8), b.resize(Ty::I8)]),
            };
            let whole = match (&sizes[..], &pieces[..]) {
                ([1, 1, 1, 1], &[(_, _, a), (_, _, b), (_, _, c), (_, _, d)]) => low_halves(pair(a, b), pair(c, d)),
                ([2, 2], &[(_, _, a), (_, _, b)]) => low_halves(a, b),
                _ => pieces.iter().fold(k.int(ty, 0), |whole, &(start, size, piece)| {
                    let kept = piece & piece.same((1i128 << (8 * size)) - 1);
                    let piece = if start + size < ty.bits() as usize / 8 { kept } else { piece };
                    if whole.as_constant() == Some(0) { piece << (8 * start) } else { whole | (piece << (8 * start)) }
                }),
            };
            (place * (ty.bits() as usize / 8), whole)
        };
        Bytes { k, parts: self.parts.into_iter().enumerate().map(join).collect() }
    }
}
