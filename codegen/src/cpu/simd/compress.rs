//! Kept records side by side: the lanes of a vector for which a mask holds, moved to the front by
//! one shuffle of bytes, whose control a table has for each mask.
//!
//! A whole vector is stored where the kept ones go. What is behind them there is replaced by those
//! that are kept next, or lies in the place of a record that was read already, since no more
//! records are kept than read.

use cranelift_codegen::ir::{self, InstBuilder, types};
use cranelift_frontend::FunctionBuilder;
use monoscan_ir::Layout;

use super::super::memory;
use super::shuffle::{Shape, retype};

/// The narrowest lanes that are kept or not: those of narrower ones have too many masks for a table.
pub(crate) const NARROWEST: usize = 4;

/// A shuffle of bytes.
type Control = [u8; 16];

/// For lanes of 4 and of 8 bytes, for values of 1, 2, 4 and 8 of these bytes, and for each mask.
static OF_4: [[Control; 16]; 3] = [controls(4, 1), controls(4, 2), controls(4, 4)];
static OF_8: [[Control; 4]; 4] = [controls(8, 1), controls(8, 2), controls(8, 4), controls(8, 8)];

/// For each mask what moves the low bytes of the lanes that it has to the front.
const fn controls<const MASKS: usize>(lane_bytes: usize, bytes: usize) -> [Control; MASKS] {
    // Zeros behind them.
    let mut all = [[0x80; 16]; MASKS];
    let mut mask = 0;
    while mask < MASKS {
        let (mut lane, mut to) = (0, 0);
        while lane < 16 / lane_bytes {
            let mut byte = 0;
            while mask >> lane & 1 != 0 && byte < bytes {
                all[mask][to] = (lane * lane_bytes + byte) as u8;
                (byte, to) = (byte + 1, to + 1);
            }
            lane += 1;
        }
        mask += 1;
    }
    all
}

/// Whether records of this layout are kept in lanes: they are one value.
pub(crate) fn is_kept_in_lanes(layout: &Layout) -> bool {
    layout.fields.len() == 1 && layout.fields[0].ty.size() == layout.size as usize
}

/// One bit for each lane of a mask.
pub(super) fn bits(b: &mut FunctionBuilder<'_>, mask: ir::Value) -> ir::Value {
    let bits = b.ins().vhigh_bits(types::I32, mask);
    b.ins().uextend(types::I64, bits)
}

/// Stores the low bytes, so many, of those lanes whose bits are set, one behind the other; and anything behind them, as many bytes as
/// all lanes have.
pub(super) fn store(
    b: &mut FunctionBuilder<'_>,
    shape: Shape,
    (vector, bytes): (ir::Value, usize),
    bits: ir::Value,
    address: ir::Value,
) {
    let width = bytes.trailing_zeros() as usize;
    let table = match shape.bytes {
        4 => OF_4[width].as_ptr(),
        _ => OF_8[width].as_ptr(),
    };
    let table = b.ins().iconst(types::I64, table as i64);
    let offset = b.ins().ishl_imm_u(bits, 4);
    let control = b.ins().iadd(table, offset);
    let control = b.ins().load(types::I8X16, memory::table_flags(), control, 0);
    let vector = retype(b, types::I8X16, vector);
    let kept = match cfg!(target_arch = "x86_64") {
        true => b.ins().x86_pshufb(vector, control),
        false => b.ins().swizzle(vector, control),
    };
    let stored = match shape.lanes() * bytes {
        2 => Some(types::I16),
        4 => Some(types::I32),
        8 => Some(types::I64),
        _ => None,
    };
    let kept = match stored {
        Some(word) => {
            let words = retype(b, word.by(16 / word.bytes()).expect("a vector of words"), kept);
            b.ins().extractlane(words, 0)
        }
        None => kept,
    };
    b.ins().store(memory::data_flags(), kept, address, 0);
}

#[test]
fn each_control_moves_the_lanes_of_its_mask() {
    assert_eq!(OF_4[2][0b1010][..8], [4, 5, 6, 7, 12, 13, 14, 15]);
    assert_eq!(OF_4[2][0b1010][8..], [0x80; 8]);
    assert_eq!(OF_4[0][0b1101][..4], [0, 8, 12, 0x80]);
    assert_eq!(OF_8[3][0b10][..9], [8, 9, 10, 11, 12, 13, 14, 15, 0x80]);
    assert_eq!(OF_8[1][0b11][..5], [0, 1, 8, 9, 0x80]);
}
