//! Streaming stores: results that go past the caches.
//!
//! An ordinary store reads a cache line before it fills it, which is a third of the traffic of a
//! scan that memory bounds. x86-64 has stores that do not (`movntps` and its kin), and Cranelift
//! emits none. But the instruction that stores a vector and its streaming form differ in the opcode
//! alone, and have the same length. So while a kernel is written, stores of whole vectors of
//! results are *marked* by source locations, which tell where their instructions end up. The
//! streaming form of a kernel is a copy of its machine code in which those instructions have the
//! other opcode.

use cranelift_codegen::CompiledCode;
use cranelift_codegen::ir::{InstBuilder, SourceLoc, Value};
use cranelift_frontend::FunctionBuilder;

use super::memory;

/// Stores a vector of 16 bytes of results: a store that is marked.
pub(crate) fn store(b: &mut FunctionBuilder<'_>, vector: Value, address: Value, offset: i32) {
    // Each has a location of its own, so that two in a row are two.
    b.set_srcloc(SourceLoc::new(b.func.dfg.num_insts() as u32));
    b.ins().store(memory::data_flags(), vector, address, offset);
    b.set_srcloc(SourceLoc::default());
}

/// Where the instructions of marked stores begin.
pub(crate) fn marked(code: &CompiledCode) -> impl Iterator<Item = usize> {
    let locations = code.buffer.get_srclocs_sorted().iter();
    locations.filter(|location| !location.loc.is_default()).map(|location| location.start as usize)
}

/// The streaming form of some machine code, whose marked stores begin there. None without any, or if one is no instruction
/// that is known here.
pub(crate) fn streaming(code: &[u8], stores: &[usize]) -> Option<Vec<u8>> {
    let mut copy = code.to_vec();
    for &start in stores {
        make_streaming(&mut copy[start..])?;
    }
    (!stores.is_empty()).then_some(copy)
}

/// Gives a store of 16 bytes at the beginning of some machine code its streaming form, which needs an address that is a
/// multiple of 16. Stores have a VEX prefix on every machine with AVX (Intel SDM, volume 2A, section 2.3); others are not looked for.
fn make_streaming(code: &mut [u8]) -> Option<()> {
    // The byte with the length and the mandatory prefix is the last before the opcode.
    let last = match *code {
        [0xc5, ..] => 1,
        // The second byte ends in the opcode map.
        [0xc4, map, ..] if map & 0x1f == 1 => 2,
        _ => return None,
    };
    let [prefix, opcode, operands, ..] = &mut code[last..] else { return None };
    let is_long = *prefix & 0b100 != 0;
    let is_register = *operands >> 6 == 0b11;
    if is_long || is_register {
        return None;
    }
    let (of_integers, of_floats) = (0b10, [0b00, 0b01]);
    match (*prefix & 0b11, *opcode) {
        // vmovups, vmovupd → vmovntps, vmovntpd
        (kind, 0x11) if of_floats.contains(&kind) => *opcode = 0x2b,
        // vmovdqu → vmovntdq, whose mandatory prefix is another
        (kind, 0x7f) if kind == of_integers => {
            *prefix = *prefix & !0b11 | 0b01;
            *opcode = 0xe7;
        }
        _ => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `objdump` shows them.
    #[test]
    fn each_store_of_a_vector_has_its_streaming_form() {
        let pairs: [(&[u8], &[u8]); 4] = [
            // vmovups [rdi + 16], xmm1 → vmovntps
            (&[0xc5, 0xf8, 0x11, 0x4f, 0x10], &[0xc5, 0xf8, 0x2b, 0x4f, 0x10]),
            // vmovupd [r8], xmm9 → vmovntpd
            (&[0xc4, 0x41, 0x79, 0x11, 0x08], &[0xc4, 0x41, 0x79, 0x2b, 0x08]),
            // vmovdqu [rdi], xmm1 → vmovntdq
            (&[0xc5, 0xfa, 0x7f, 0x0f], &[0xc5, 0xf9, 0xe7, 0x0f]),
            // vmovdqu [r9 + 4·r10], xmm3 → vmovntdq
            (&[0xc4, 0x81, 0x7a, 0x7f, 0x1c, 0x91], &[0xc4, 0x81, 0x79, 0xe7, 0x1c, 0x91]),
        ];
        for (ordinary, expected) in pairs {
            let code = [&[0x90], ordinary, &[0xc3]].concat();
            let got = streaming(&code, &[1]).unwrap();
            assert_eq!(got, [&[0x90], expected, &[0xc3]].concat());
        }
    }

    #[test]
    fn other_instructions_have_none() {
        let others: [&[u8]; 5] = [
            // vmovups ymm, which is twice as long
            &[0xc5, 0xfc, 0x11, 0x4f, 0x10],
            // vmovups from register to register
            &[0xc5, 0xf8, 0x11, 0xc8],
            // a load
            &[0xc5, 0xf8, 0x10, 0x4f, 0x10],
            // movups without VEX
            &[0x0f, 0x11, 0x4f, 0x10],
            &[0xc5],
        ];
        for code in others {
            assert_eq!(streaming(code, &[0]), None, "{code:02x?}");
        }
        assert_eq!(streaming(&[0xc3], &[]), None);
    }
}
