//! Lowers a straight-line function of the IR to LLVM IR, opcode by opcode, bit for bit what
//! `monoscan_ir::evaluate` says (which NaN an operation makes is open there and here).
//!
//! How values are held in registers ([`ty`]) and in memory ([`to_memory`], [`from_memory`]):
//!
//! - `bool` is an `i1`, in memory a byte: read as `!= 0`, written as 0 or 1.
//! - Integers are `i8` … `i64`, their sign lives in the opcodes; floats are `float` and `double`.
//! - `u8xN` is an integer of as many 32-bit words as its lanes need, lane 0 lowest, **zero above
//!   lane N**. A GPU has no byte vectors, but works on words, four lanes at a time; and a
//!   permutation reads 0 beyond the vector for nothing.
//!
//! LLVM leaves much undefined that the IR defines. Nothing here makes such a value: divisors are
//! guarded, shift amounts masked, conversions saturate, table indexes are clamped unless
//! [ranges](Range) prove them in range. Floats carry no fast-math flag, so LLVM contracts nothing,
//! and writes `.rn` behind every operation, which forbids the driver's compiler to.

mod casts;
mod floats;
mod ints;
pub(crate) mod nibbles;
mod permute;
pub(crate) mod swar;
mod tables;
#[cfg(test)]
pub(crate) mod tests;
mod vectors;

use monoscan_ir::facts::{Range, value_ranges};
use monoscan_ir::{Constant, Function, Inst, Opcode, Payload, Rule, Table, Type};

use crate::nvptx::emit::{Builder, Ty, Value};
pub(crate) use tables::Place;
pub use tables::Tables;

/// The type that holds values of a type in registers.
pub fn ty(ty: Type) -> Ty {
    match ty {
        Type::Bool => Ty::BOOL,
        Type::F32 => Ty::F32,
        Type::F64 => Ty::F64,
        Type::Bytes(lanes) => Ty::Int(32 * lanes.get().div_ceil(4) as u16),
        _ => Ty::Int(ty.bits() as u16),
    }
}

/// The type that holds the bytes of a value in memory: an integer of as many.
pub(crate) fn memory_ty(ty: Type) -> Ty {
    Ty::Int(8 * ty.size() as u16)
}

/// A constant.
pub(crate) fn constant(k: &Builder, value: Constant) -> Value<'_> {
    match value.ty() {
        Type::F32 | Type::F64 => k.float(ty(value.ty()), value.bits() as u64),
        // Of 128 bits all count, as those of a negative number.
        _ => k.int(ty(value.ty()), value.bits() as i128),
    }
}

/// The bytes that a value has in memory, as a [`memory_ty`].
pub(crate) fn to_memory(value: Value<'_>, of: Type) -> Value<'_> {
    match of {
        // No `bitcast`: LLVM drops it, and the driver's compiler takes a store of the lowest byte of a register that it knows as
        // a float for a conversion to an integer.
        Type::F32 => value.emit().intrinsic(memory_ty(of), "scan.float_bits", &[value]),
        Type::F64 => value.emit().intrinsic(memory_ty(of), "scan.double_bits", &[value]),
        _ => value.resize(memory_ty(of)),
    }
}

/// The value that has these bytes in memory.
pub(crate) fn from_memory(bits: Value<'_>, of: Type) -> Value<'_> {
    match of {
        Type::Bool => bits.is_not(bits.same(0)),
        Type::F32 | Type::F64 => bits.bits_as(ty(of)),
        _ => bits.resize(ty(of)),
    }
}

/// A function of a verified program, with what is known of its values: to be written in many places.
pub(crate) struct Code {
    function: Function,
    ranges: Vec<Range>,
}

impl Code {
    /// For arguments in these ranges; `tables` are those that the function looks up.
    pub(crate) fn new(function: &Function, arguments: &[Range], tables: &[Table]) -> Code {
        Code { ranges: value_ranges(function, arguments, tables), function: function.clone() }
    }

    /// About how many instructions it is.
    pub(crate) fn work(&self) -> usize {
        self.function.insts.iter().map(work).sum()
    }

    /// About how many instructions it is where each works on a word of 32 bits.
    pub(crate) fn words(&self) -> usize {
        self.function.insts.iter().map(|inst| inst.ty.size().div_ceil(size_of::<u32>())).sum()
    }

    /// Which tables it looks up.
    pub(crate) fn looked_up(&self) -> impl Iterator<Item = u32> {
        self.function.looked_up()
    }

    /// Appends its instructions for these arguments, and gives its results.
    pub(crate) fn write<'k>(&self, k: &'k Builder, args: &[Value<'k>], tables: &Tables<'k>) -> Vec<Value<'k>> {
        let Code { function, ranges } = self;
        debug_assert_eq!(function.params.len(), args.len());
        let mut lowering = Lowering { k, function, values: args.to_vec(), ranges, tables };
        for inst in &function.insts {
            let value = lowering.inst(inst).unwrap_or_else(|| {
                panic!("`{}` is typed wrongly, which it never is in a verified program", inst.opcode.name())
            });
            debug_assert_eq!(value.ty(), ty(inst.ty), "{}", inst.opcode.name());
            lowering.values.push(value);
        }
        function.results.iter().map(|result| lowering.values[result.index()]).collect()
    }
}

/// About how many instructions one of the IR becomes: vectors take one for each word, and some more where they are permuted.
fn work(inst: &Inst) -> usize {
    const PERMUTE: usize = 8;
    let words = if inst.ty.is_vector() { inst.ty.size().div_ceil(size_of::<u32>()) } else { 1 };
    if inst.opcode.rule() == Rule::Permute { PERMUTE * words } else { words }
}

/// A lane of a vector.
pub(crate) fn lane(vector: Value<'_>, lane: u8) -> Value<'_> {
    vectors::lane(lane, &[vector]).expect("a vector has its lanes")
}

struct Lowering<'a, 'k> {
    k: &'k Builder,
    function: &'a Function,
    values: Vec<Value<'k>>,
    ranges: &'a [Range],
    tables: &'a Tables<'k>,
}

impl<'k> Lowering<'_, 'k> {
    /// The known property of an operand.
    fn range(&self, inst: &Inst, operand: usize) -> Range {
        self.ranges[inst.operands()[operand].index()]
    }

    /// Lowers one instruction; none if it is typed wrongly.
    fn inst(&self, inst: &Inst) -> Option<Value<'k>> {
        let operands = inst.operands();
        let types: Vec<Type> = operands.iter().map(|&operand| self.function.type_of(operand)).collect::<Option<_>>()?;
        let args: Vec<Value<'k>> = operands.iter().map(|operand| self.values[operand.index()]).collect();
        match (inst.opcode.rule(), args.as_slice()) {
            (Rule::Constant, []) => inst.as_constant().map(|value| constant(self.k, value)),
            (Rule::Select, &[condition, yes, no]) => Some(condition.select(yes, no)),
            (Rule::Cast, &[a]) => casts::cast(types[0], inst.ty, a),
            (Rule::Bitcast, &[a]) => casts::bitcast(types[0], inst.ty, a),
            (Rule::Convert(..), &[a]) => casts::convert(inst.opcode, a),
            (Rule::Table, &[index]) => self.table(inst, index),
            (Rule::Splat, &[byte]) => vectors::splat(inst.ty, byte),
            (Rule::Lane | Rule::WithLane, _) => {
                let Payload::Lane(lane) = inst.payload else { return None };
                vectors::lane(lane, &args)
            }
            (Rule::Permute, &[from, indices]) => {
                permute::permute(types[0], inst.ty, self.range(inst, 1).max, from, indices)
            }
            (Rule::Shift, &[a, amount]) => ints::shift(inst.opcode, types[0], a, amount),
            (Rule::Count, &[a]) => ints::count(inst.opcode, a),
            (Rule::Compare(_), &[a, b]) => compare(inst.opcode, types[0], a, b),
            (Rule::Unary(_) | Rule::Binary(_) | Rule::Ternary(_), _) => match types[0] {
                Type::F32 | Type::F64 => floats::arithmetic(inst.opcode, &args),
                Type::Bytes(_) => self.lanes(inst, &args),
                _ => self.integer(inst, types[0], &args),
            },
            _ => None,
        }
    }

    fn table(&self, inst: &Inst, index: Value<'k>) -> Option<Value<'k>> {
        let Payload::Table(number) = inst.payload else { return None };
        self.tables.get(number)?.load(index, self.range(inst, 0))
    }
}

fn compare<'k>(opcode: Opcode, ty: Type, a: Value<'k>, b: Value<'k>) -> Option<Value<'k>> {
    if ty.is_float() {
        return Some(a.fcmp(floats::condition(opcode)?, b));
    }
    let condition = match (opcode, ty.is_signed()) {
        (Opcode::Eq, _) => "eq",
        (Opcode::Ne, _) => "ne",
        (Opcode::Lt, true) => "slt",
        (Opcode::Le, true) => "sle",
        (Opcode::Gt, true) => "sgt",
        (Opcode::Ge, true) => "sge",
        (Opcode::Lt, false) => "ult",
        (Opcode::Le, false) => "ule",
        (Opcode::Gt, false) => "ugt",
        (Opcode::Ge, false) => "uge",
        _ => return None,
    };
    Some(a.icmp(condition, b))
}
