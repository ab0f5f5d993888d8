//! Byte vectors in 32-bit words, four lanes at a time; zero above the last lane, as the module
//! above says.
//!
//! [Lanes are kept apart](swar), unless ranges show that there is no carry between them; then a
//! word is added as it is.

use monoscan_ir::{Inst, Opcode, Type};

use super::{Lowering, swar, ty};
use crate::nvptx::emit::{Builder, Ty, Value};

/// The words of a vector, the lowest lanes first.
pub(super) fn words(vector: Value<'_>) -> Vec<Value<'_>> {
    (0..vector.ty().bits() as usize / 32).map(|word| (vector >> (32 * word)).resize(Ty::I32)).collect()
}

/// The vector of these words.
pub(super) fn join<'k>(words: &[Value<'k>]) -> Option<Value<'k>> {
    let ty = Ty::Int(32 * words.len() as u16);
    let placed = words.iter().enumerate().map(|(place, word)| word.resize(ty) << (32 * place));
    placed.reduce(|low, high| low | high)
}

/// The bits of a vector's lanes in its register.
fn lanes_mask(vector: Type) -> u128 {
    u128::MAX >> (128 - vector.bits())
}

/// The word `place` of a vector of this type, with the lanes beyond the vector cleared.
pub(super) fn clear_beyond(vector: Type, place: usize, word: Value<'_>) -> Value<'_> {
    match (lanes_mask(vector) >> (32 * place)) as u32 {
        u32::MAX => word,
        mask => word & mask as usize,
    }
}

/// The byte in every lane.
pub(super) fn splat(vector: Type, byte: Value<'_>) -> Option<Value<'_>> {
    let word = byte.resize(Ty::I32) * 0x0101_0101;
    let count = ty(vector).bits() as usize / 32;
    join(&(0..count).map(|place| clear_beyond(vector, place, word)).collect::<Vec<_>>())
}

/// A lane, or the vector with the lane replaced if there is a byte too.
pub(super) fn lane<'k>(lane: u8, args: &[Value<'k>]) -> Option<Value<'k>> {
    let at = 8 * usize::from(lane);
    match *args {
        [vector] if at < vector.ty().bits() as usize => Some((vector >> at).resize(Ty::I8)),
        [vector, byte] if at < vector.ty().bits() as usize => {
            let others = vector & vector.same(!(0xff_i128 << at));
            Some(others | byte.resize(vector.ty()) << at)
        }
        _ => None,
    }
}

impl<'k> Lowering<'_, 'k> {
    /// Arithmetic and logic, lane by lane.
    pub(super) fn lanes(&self, inst: &Inst, args: &[Value<'k>]) -> Option<Value<'k>> {
        let (a, b) = match *args {
            [a] if inst.opcode == Opcode::Not => return Some(a ^ a.same(lanes_mask(inst.ty) as i128)),
            [a, b] => (a, b),
            _ => return None,
        };
        let (in_a, in_b) = (self.range(inst, 0), self.range(inst, 1));
        let small = in_a.max < 128 && in_b.max < 128;
        Some(match inst.opcode {
            Opcode::And => a & b,
            Opcode::Or => a | b,
            Opcode::Xor => a ^ b,
            Opcode::Add if in_a.max + in_b.max <= 255 => by_words(a, b, |a, b| a + b)?,
            Opcode::Add => by_words(a, b, swar::add)?,
            Opcode::Sub if in_a.min >= in_b.max => by_words(a, b, |a, b| a - b)?,
            Opcode::Sub => by_words(a, b, swar::sub)?,
            Opcode::Min => by_words(a, b, |a, b| swar::choose(swar::at_least(a, b, small), b, a))?,
            Opcode::Max => by_words(a, b, |a, b| swar::choose(swar::at_least(a, b, small), a, b))?,
            _ => return None,
        })
    }
}

fn by_words<'k>(a: Value<'k>, b: Value<'k>, f: impl Fn(Value<'k>, Value<'k>) -> Value<'k>) -> Option<Value<'k>> {
    let results: Vec<Value<'k>> = words(a).into_iter().zip(words(b)).map(|(a, b)| f(a, b)).collect();
    join(&results)
}

/// Bytes of two words, picked by the four low nibbles of the selector.
pub(super) fn pick<'k>(k: &'k Builder, a: Value<'k>, b: Value<'k>, selector: Value<'k>) -> Value<'k> {
    k.intrinsic(Ty::I32, "scan.pick_bytes", &[a, b, selector])
}
