//! Intrinsics that only compute. Kernels call them for each element, so they do not bother the
//! machine.

use half::{bf16, f16};

use crate::error::Misuse;
use crate::intrinsic::Intrinsic;

/// The result of such an intrinsic, of the bits of its arguments.
pub(crate) fn value(intrinsic: Intrinsic, [a, b, c]: [u64; 3]) -> Result<u64, Misuse> {
    let float = || f32::from_bits(a as u32);
    match intrinsic {
        Intrinsic::PickBytes => pick_bytes(a, b, c),
        // What it leaves open is not zero here, so that nobody relies on that.
        Intrinsic::PairBytes => Ok(a & 0xff | (b & 0xff) << 8 | 0xa5a5 << 16),
        Intrinsic::SelectBits => Ok(u64::from((a & b | !a & c) as u32)),
        Intrinsic::AddBytes => {
            let bytes = (a as u32).to_le_bytes().map(u32::from);
            Ok(bytes.into_iter().fold(b as u32, u32::wrapping_add).into())
        }
        Intrinsic::FromF16 => Ok(f16::from_bits(a as u16).to_f32().to_bits().into()),
        Intrinsic::ToF16 => Ok(f16::from_f32(float()).to_bits().into()),
        Intrinsic::ToBf16 => Ok(bf16::from_f32(float()).to_bits().into()),
        Intrinsic::HighestBit => Ok(u64::from(31u32.wrapping_sub((a as u32).leading_zeros()))),
        Intrinsic::FloatBits | Intrinsic::DoubleBits | Intrinsic::Opaque => Ok(a),
        _ => unreachable!("{} does not only compute", intrinsic.name()),
    }
}

fn pick_bytes(a: u64, b: u64, selector: u64) -> Result<u64, Misuse> {
    let bytes = (a & 0xffff_ffff) | b << 32;
    (0..4).try_fold(0, |picked, byte| match selector >> (4 * byte) & 15 {
        nibble if nibble < 8 => Ok(picked | (bytes >> (8 * nibble) & 0xff) << (8 * byte)),
        found => Err(Misuse::Argument { what: "a nibble of the selector", found, expected: "below 8" }),
    })
}
