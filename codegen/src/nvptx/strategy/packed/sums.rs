//! Sums of bytes, several to an instruction.
//!
//! A fold adds the four bytes of a word to a number at once. A scan adds in the two halves of a
//! word, which can hold the sums of five bytes: one multiplication adds the lower half to the
//! upper one.

use monoscan_ir::{Constant, Function, Opcode};

use super::words::{Word, pick};
use crate::nvptx::emit::{Ty, Value};

/// Instructions of [`scan`].
pub(super) const SCAN_WORK: usize = 7;

/// A one in each half: as a factor it adds the lower half to the upper one.
const HALVES: usize = 0x0001_0001;

/// The lower byte of each half.
const EVEN: usize = 0x00ff_00ff;

/// Whether an operator adds each component of a state to that of another, from zeros on.
pub(super) fn is_sum(combine: &Function, identity: &[Constant]) -> bool {
    let components = identity.len();
    let adds = |(place, &result): (usize, &_)| {
        combine.inst(result).filter(|inst| inst.opcode == Opcode::Add).is_some_and(|inst| {
            let [a, b] = [0, 1].map(|operand| inst.operands()[operand].index());
            [(a, b), (b, a)].contains(&(place, place + components))
        })
    };
    identity.iter().all(|constant| constant.bits() == 0) && combine.results.iter().enumerate().all(adds)
}

/// The sum and the bytes of a word.
pub(super) fn fold<'k>(sum: Value<'k>, bytes: Word<'k>) -> Value<'k> {
    sum.emit().intrinsic(Ty::I32, "scan.add_bytes", &[bytes, sum])
}

/// A byte in the lower byte of each half.
pub(super) fn carry(state: Value<'_>) -> Word<'_> {
    state.resize(Ty::I32) * HALVES
}

/// The sums after each of four bytes, and that after the last as a [`carry`].
pub(super) fn scan<'k>(carry: Word<'k>, bytes: Word<'k>) -> (Word<'k>, Word<'k>) {
    let zero = bytes.same(0);
    let odd = pick(bytes, zero, 0x4341);
    let pairs = (bytes & EVEN) + odd;
    let after_odd = pairs * HALVES + carry;
    let after_even = after_odd - odd;
    (pick(after_even, after_odd, 0x6240), pick(after_odd, zero, 0x4242))
}
