//! Which of 16 bytes are outside a set: the cheapest vector test that is exact.
//!
//! | test | sets |
//! |---|---|
//! | `pshufb(t, v) == v` | at most one byte, not 0, for each low nibble, all below 128 |
//! | a few comparisons, `min(v, k) == v` | all bytes but `0..=k` and at most three others |
//! | `min(v − low, high − low) == v − low` | one range |
//! | `pshufb(low, v) & pshufb(high, v >> 4)` | all others that have all or no bytes from 128 on |
//!
//! After a skip the byte at hand is known to be outside, so a test that is not exact would be
//! wrong.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Endianness, InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::FunctionBuilder;

/// A set of bytes.
pub(super) type Bytes = [bool; 256];

/// A test of 16 bytes, found before code is emitted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Test {
    /// A byte is a member if it is the one in the lane of its low nibble.
    Nibble { members: [u8; 16] },
    /// A byte is outside if it is below `below` or one of these.
    Exits { below: u8, others: [u8; 3], count: usize },
    /// A byte is a member if it is in this range.
    Range { low: u8, high: u8 },
    /// A byte below 128 is a member if its low nibble's entry has the bit of its high nibble; so are those from 128 on, if `inverted`,
    /// and then members and others change places.
    Nibbles { low: [u8; 16], inverted: bool },
}

/// The cheapest test for a set; `shuffles` if the machine looks up bytes in a vector.
pub(super) fn test(set: &Bytes, shuffles: bool) -> Option<Test> {
    let members: Vec<u8> = (0..=255).filter(|&byte| set[usize::from(byte)]).collect();
    let others: Vec<u8> = (0..=255).filter(|&byte| !set[usize::from(byte)]).collect();
    if shuffles && let Some(members) = one_for_each_nibble(&members) {
        return Some(Test::Nibble { members });
    }
    let below = set.iter().position(|&member| member)?;
    let exits: Vec<u8> = others.into_iter().filter(|&byte| usize::from(byte) >= below).collect();
    if exits.len() <= 3 {
        let mut others = [0; 3];
        others[..exits.len()].copy_from_slice(&exits);
        return Some(Test::Exits { below: below as u8, others, count: exits.len() });
    }
    let (&low, &high) = (members.first()?, members.last()?);
    if usize::from(high - low) + 1 == members.len() {
        return Some(Test::Range { low, high });
    }
    let high = set[128..].iter().filter(|&&member| member).count();
    if !shuffles || !matches!(high, 0 | 128) {
        return None;
    }
    let inverted = high == 128;
    let bit = |low: usize, high: usize| u8::from(set[16 * high + low] != inverted) << high;
    let low = std::array::from_fn(|low| (0..8).fold(0, |bits, high| bits | bit(low, high)));
    Some(Test::Nibbles { low, inverted })
}

/// For each low nibble the one member that has it, or a byte that has not.
fn one_for_each_nibble(members: &[u8]) -> Option<[u8; 16]> {
    let mut table: [u8; 16] = std::array::from_fn(|low| (low as u8 + 1) & 15);
    let mut taken = [false; 16];
    for &member in members {
        let low = usize::from(member & 15);
        if member == 0 || member >= 128 || std::mem::replace(&mut taken[low], true) {
            return None;
        }
        table[low] = member;
    }
    Some(table)
}

impl Test {
    /// A mask with a bit for each of the 16 bytes that is outside the set.
    pub(super) fn outside(&self, b: &mut FunctionBuilder<'_>, v: Value) -> Value {
        let (lanes, inverted) = match *self {
            Test::Nibble { members } => {
                let table = vector(b, members);
                let wanted = b.ins().x86_pshufb(table, v);
                (b.ins().icmp(IntCC::Equal, wanted, v), true)
            }
            Test::Exits { below, others, count } => (exits(b, v, below, &others[..count]), false),
            Test::Range { low, high } => {
                let least = vector(b, [low; 16]);
                let distance = b.ins().isub(v, least);
                let most = vector(b, [high - low; 16]);
                let clamped = b.ins().umin(distance, most);
                (b.ins().icmp(IntCC::Equal, clamped, distance), true)
            }
            Test::Nibbles { low, inverted } => (nibbles(b, v, low), inverted),
        };
        let mask = b.ins().vhigh_bits(types::I32, lanes);
        if inverted { b.ins().bxor_imm_u(mask, 0xffff) } else { mask }
    }
}

/// Lanes below a bound, or equal to one of a few bytes.
fn exits(b: &mut FunctionBuilder<'_>, v: Value, below: u8, others: &[u8]) -> Value {
    let mut tests = Vec::new();
    for &byte in others {
        let byte = vector(b, [byte; 16]);
        tests.push(b.ins().icmp(IntCC::Equal, v, byte));
    }
    // It takes longest, so it is joined last.
    if let Some(last) = below.checked_sub(1) {
        let last = vector(b, [last; 16]);
        let least = b.ins().umin(v, last);
        tests.push(b.ins().icmp(IntCC::Equal, least, v));
    }
    match tests.into_iter().reduce(|a, other| b.ins().bor(a, other)) {
        Some(lanes) => lanes,
        None => vector(b, [0; 16]),
    }
}

/// Lanes whose low nibble's entry lacks the bit of their high nibble.
fn nibbles(b: &mut FunctionBuilder<'_>, v: Value, low: [u8; 16]) -> Value {
    let flags = MemFlagsData::new().with_endianness(Endianness::Little);
    let words = b.ins().bitcast(types::I16X8, flags, v);
    let words = b.ins().ushr_imm_u(words, 4);
    let high = b.ins().bitcast(types::I8X16, flags, words);
    let fifteen = vector(b, [15; 16]);
    let high = b.ins().band(high, fifteen);
    let bits = vector(b, std::array::from_fn(|high| if high < 8 { 1 << high } else { 0 }));
    let bit = b.ins().x86_pshufb(bits, high);
    let low = vector(b, low);
    let low = b.ins().x86_pshufb(low, v);
    let both = b.ins().band(low, bit);
    let zero = vector(b, [0; 16]);
    b.ins().icmp(IntCC::Equal, both, zero)
}

pub(super) fn vector(b: &mut FunctionBuilder<'_>, bytes: [u8; 16]) -> Value {
    let constant = b.func.dfg.constants.insert(bytes[..].into());
    b.ins().vconst(types::I8X16, constant)
}
