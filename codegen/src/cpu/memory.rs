//! Loads and stores of values, at any address, touching exactly the bytes of the value.
//!
//! A vector of 9 to 15 bytes is two overlapping words, so that neither a neighbour nor the end of a
//! buffer is touched.

use cranelift_codegen::ir::{self, Endianness, InstBuilder, MemFlagsData, condcodes::IntCC, types};
use cranelift_frontend::FunctionBuilder;
use monoscan_ir::Type;

use super::lower::clif_type;

/// For columns and slots: never traps, may be unaligned, may alias anything.
pub(crate) fn data_flags() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}

/// For tables: as [`data_flags`], and nothing ever writes there.
pub(crate) fn table_flags() -> MemFlagsData {
    data_flags().with_readonly().with_can_move()
}

fn lanes_flags() -> MemFlagsData {
    MemFlagsData::new().with_endianness(Endianness::Little)
}

/// Loads a value; `readable` says how many bytes from its place on may be read.
pub(crate) fn load(
    b: &mut FunctionBuilder<'_>,
    flags: MemFlagsData,
    ty: Type,
    readable: usize,
    address: ir::Value,
    offset: i32,
) -> ir::Value {
    match ty {
        Type::Bool => {
            let word = b.ins().uload8(types::I64, flags, address, offset);
            b.ins().icmp_imm_u(IntCC::NotEqual, word, 0)
        }
        Type::Bytes(_) if readable >= 16 => b.ins().load(types::I8X16, flags, address, offset),
        Type::Bytes(lanes) => {
            let lanes = lanes.get() as i32;
            let low = if lanes >= 8 {
                b.ins().load(types::I64, flags, address, offset)
            } else {
                load_word(b, flags, lanes, address, offset)
            };
            let mut vector = b.ins().scalar_to_vector(types::I64X2, low);
            if lanes > 8 {
                let high = b.ins().load(types::I64, flags, address, offset + lanes - 8);
                let high = b.ins().ushr_imm_u(high, i64::from(8 * (16 - lanes)));
                vector = b.ins().insertlane(vector, high, 1);
            }
            b.ins().bitcast(types::I8X16, lanes_flags(), vector)
        }
        _ => b.ins().load(clif_type(ty), flags, address, offset),
    }
}

/// The word that a truth value was [loaded](load) as: a byte, extended by zeros.
pub(crate) fn word_of_bool(b: &FunctionBuilder<'_>, value: ir::Value) -> Option<ir::Value> {
    let of = |value: ir::Value| Some(b.func.dfg.insts[b.func.dfg.value_def(value).inst()?]);
    let ir::InstructionData::IntCompare { cond: IntCC::NotEqual, args: [word, zero], .. } = of(value)? else {
        return None;
    };
    let is_zero = matches!(of(zero)?, ir::InstructionData::UnaryImm { imm, .. } if imm.bits() == 0);
    let is_byte = matches!(of(word)?, ir::InstructionData::Load { opcode: ir::Opcode::Uload8, .. });
    (is_zero && is_byte).then_some(word)
}

/// 1 to 7 bytes in the low end of a word.
fn load_word(
    b: &mut FunctionBuilder<'_>,
    flags: MemFlagsData,
    bytes: i32,
    address: ir::Value,
    offset: i32,
) -> ir::Value {
    let part = largest_part(bytes);
    let low = b.ins().load(part, flags, address, offset);
    let low = b.ins().uextend(types::I64, low);
    let size = part.bytes() as i32;
    if size == bytes {
        return low;
    }
    let high = b.ins().load(part, flags, address, offset + bytes - size);
    let high = b.ins().uextend(types::I64, high);
    // Where the two overlap they agree.
    let high = b.ins().ishl_imm_u(high, i64::from(8 * (bytes - size)));
    b.ins().bor(low, high)
}

/// Stores a value.
pub(crate) fn store(b: &mut FunctionBuilder<'_>, ty: Type, value: ir::Value, address: ir::Value, offset: i32) {
    let flags = data_flags();
    let Type::Bytes(lanes) = ty else {
        b.ins().store(flags, value, address, offset);
        return;
    };
    let lanes = lanes.get() as i32;
    if lanes == 16 {
        b.ins().store(flags, value, address, offset);
        return;
    }
    if lanes == 1 {
        let byte = b.ins().extractlane(value, 0);
        b.ins().store(flags, byte, address, offset);
        return;
    }
    let words = b.ins().bitcast(types::I64X2, lanes_flags(), value);
    let low = b.ins().extractlane(words, 0);
    if lanes < 8 {
        store_word(b, lanes, low, address, offset);
        return;
    }
    b.ins().store(flags, low, address, offset);
    if lanes > 8 {
        let high = b.ins().extractlane(words, 1);
        store_word(b, lanes - 8, high, address, offset + 8);
    }
}

/// The low 1 to 7 bytes of a word.
fn store_word(b: &mut FunctionBuilder<'_>, bytes: i32, word: ir::Value, address: ir::Value, offset: i32) {
    let part = largest_part(bytes);
    let size = part.bytes() as i32;
    let low = b.ins().ireduce(part, word);
    b.ins().store(data_flags(), low, address, offset);
    if size < bytes {
        let high = b.ins().ushr_imm_u(word, i64::from(8 * (bytes - size)));
        let high = b.ins().ireduce(part, high);
        b.ins().store(data_flags(), high, address, offset + bytes - size);
    }
}

/// The largest integer of at most `bytes` bytes, 1 to 7.
fn largest_part(bytes: i32) -> ir::Type {
    match bytes {
        1 => types::I8,
        2 | 3 => types::I16,
        _ => types::I32,
    }
}
