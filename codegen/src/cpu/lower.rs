//! Lowers a straight-line function of the IR to Cranelift IR, opcode by opcode, bit for bit what
//! `monoscan_ir::evaluate` says (which NaN an operation makes is open there and here).
//!
//! How values are held:
//!
//! - `bool` is an `i8` that is 0 or 1; integers are `i8` … `i64`, their sign lives in the opcodes.
//! - `u8xN` is an `i8x16` **whose lanes from N on are unspecified**. Operations on whole
//!   registers clear them first: comparisons, and [`Opcode::Permute`] unless the indexes are known
//!   to stay below N. This keeps the common case, a chain of permutations, at one instruction each.
//!
//! Nothing here can trap: divisions are guarded, conversions saturate, table indexes are clamped
//! unless [ranges](monoscan_ir::facts::Range) prove them in range.

mod casts;
mod choices;
mod floats;
mod instructions;
mod ints;
mod packs;
mod selects;
mod vectors;

use cranelift_codegen::ir::{self, BlockArg, InstBuilder, condcodes::IntCC, types};
use cranelift_codegen::isa::TargetFrontendConfig;
use cranelift_frontend::FunctionBuilder;
use monoscan_ir::facts::{Range, value_ranges};
use monoscan_ir::{Constant, Function, Inst, Opcode, Payload, Rule, Table, Type};

use super::error::CodegenError;
use super::memory;
use super::tables::Tables;
use choices::{Choice, choices};
pub(crate) use floats::plain_operand;
pub(crate) use instructions::instruction;
use packs::Packed;

/// Facts that lowering has besides the function.
pub(crate) struct Env<'a> {
    /// The tables, and where they lie.
    pub(crate) tables: &'a [Table],
    pub(crate) placed: &'a Tables,
    /// The host is x86-64: scalar floats live in vector registers, and a float `select` would become a branch.
    pub(crate) x86: bool,
    /// `pshufb` is one instruction.
    pub(crate) pshufb: bool,
    /// Vectors of floats do all that scalars do, fused multiply-adds too.
    pub(crate) lanes: bool,
    /// The number of first parameters that are carried from element to element in a single chain, whose [choices](mod@choices) are branches.
    pub(crate) chain: usize,
    /// Facts of the machine that the code that writes functions needs.
    pub(crate) frontend: TargetFrontendConfig,
}

/// The Cranelift type that holds values of a type.
pub(crate) fn clif_type(ty: Type) -> ir::Type {
    match ty {
        Type::Bool | Type::I8 | Type::U8 => types::I8,
        Type::I16 | Type::U16 => types::I16,
        Type::I32 | Type::U32 => types::I32,
        Type::I64 | Type::U64 => types::I64,
        Type::F32 => types::F32,
        Type::F64 => types::F64,
        Type::Bytes(_) => types::I8X16,
    }
}

/// Appends the instructions of `function` for these arguments, each in its range, and returns its results.
pub(crate) fn lower_function(
    b: &mut FunctionBuilder<'_>,
    function: &Function,
    args: &[ir::Value],
    ranges: &[Range],
    env: &Env<'_>,
) -> Result<Vec<ir::Value>, CodegenError> {
    let Some(packed) = Packed::of(function).filter(|_| env.lanes) else {
        return lower_scalars(b, function, args, ranges, env);
    };
    let leaves = lower_scalars(b, &packed.before, args, ranges, env)?;
    let results = packed.lower(b, env.tables, &leaves)?;
    let full = packed.after.params[args.len()..].iter().map(|&ty| Range::full(ty));
    let ranges: Vec<Range> = ranges.iter().copied().chain(full).collect();
    lower_scalars(b, &packed.after, &[args, &results].concat(), &ranges, env)
}

/// Element by element.
fn lower_scalars(
    b: &mut FunctionBuilder<'_>,
    function: &Function,
    args: &[ir::Value],
    ranges: &[Range],
    env: &Env<'_>,
) -> Result<Vec<ir::Value>, CodegenError> {
    debug_assert_eq!(function.params.len(), args.len());
    let ranges = value_ranges(function, ranges, env.tables);
    let mut lowering = Lowering { b, function, values: args.to_vec(), ranges, env };
    let choices = choices(function, env.chain);
    let mut chosen = Vec::new();
    for (place, inst) in function.insts.iter().enumerate() {
        if let Some(Choice(selects)) = choices.iter().find(|Choice(selects)| selects[0] == place) {
            chosen.extend(lowering.choose(selects));
        }
        let branched = chosen.iter().find(|&&(select, _)| select == place).map(|&(_, value)| value);
        let value = branched.or_else(|| lowering.inst(inst)).ok_or(CodegenError::Malformed(inst.opcode))?;
        lowering.values.push(value);
    }
    Ok(function.results.iter().map(|result| lowering.values[result.index()]).collect())
}

/// A constant in a register.
pub(crate) fn constant(b: &mut FunctionBuilder<'_>, value: Constant) -> ir::Value {
    match value.ty() {
        Type::F32 => b.ins().f32const(ir::immediates::Ieee32::with_bits(value.bits() as u32)),
        Type::F64 => b.ins().f64const(ir::immediates::Ieee64::with_bits(value.bits() as u64)),
        Type::Bytes(_) => vector_constant(b, value.bits()),
        // Cranelift wants the bits of a narrow constant zero above its width.
        ty => b.ins().iconst(clif_type(ty), value.bits() as u64 as i64),
    }
}

/// A comparison of two numbers, or of those in each lane; none for another opcode. Masks order as `bool` does, since they are
/// taken for unsigned.
pub(crate) fn compare(
    b: &mut FunctionBuilder<'_>,
    opcode: Opcode,
    ty: Type,
    left: ir::Value,
    right: ir::Value,
) -> Option<ir::Value> {
    if ty.is_float() {
        return Some(b.ins().fcmp(floats::condition(opcode)?, left, right));
    }
    let condition = match (opcode, ty.is_signed()) {
        (Opcode::Eq, _) => IntCC::Equal,
        (Opcode::Ne, _) => IntCC::NotEqual,
        (Opcode::Lt, true) => IntCC::SignedLessThan,
        (Opcode::Le, true) => IntCC::SignedLessThanOrEqual,
        (Opcode::Gt, true) => IntCC::SignedGreaterThan,
        (Opcode::Ge, true) => IntCC::SignedGreaterThanOrEqual,
        (Opcode::Lt, false) => IntCC::UnsignedLessThan,
        (Opcode::Le, false) => IntCC::UnsignedLessThanOrEqual,
        (Opcode::Gt, false) => IntCC::UnsignedGreaterThan,
        (Opcode::Ge, false) => IntCC::UnsignedGreaterThanOrEqual,
        _ => return None,
    };
    Some(b.ins().icmp(condition, left, right))
}

fn vector_constant(b: &mut FunctionBuilder<'_>, bits: u128) -> ir::Value {
    let handle = b.func.dfg.constants.insert(bits.to_le_bytes().to_vec().into());
    b.ins().vconst(types::I8X16, handle)
}

struct Lowering<'a, 'b> {
    b: &'a mut FunctionBuilder<'b>,
    function: &'a Function,
    values: Vec<ir::Value>,
    ranges: Vec<Range>,
    env: &'a Env<'a>,
}

impl<'b> Lowering<'_, 'b> {
    fn ins(&mut self) -> cranelift_frontend::FuncInstBuilder<'_, 'b> {
        self.b.ins()
    }

    fn value(&self, operand: monoscan_ir::Value) -> ir::Value {
        self.values[operand.index()]
    }

    fn int(&mut self, ty: ir::Type, value: i64) -> ir::Value {
        let bits = ty.bits();
        let mask = if bits >= 64 { -1 } else { (1i64 << bits) - 1 };
        self.b.ins().iconst(ty, value & mask)
    }

    /// Lowers one instruction; none if it is typed wrongly, which a verified program never is.
    fn inst(&mut self, inst: &Inst) -> Option<ir::Value> {
        let types: Vec<Type> =
            inst.operands().iter().map(|&operand| self.function.type_of(operand)).collect::<Option<_>>()?;
        let args: Vec<ir::Value> = inst.operands().iter().map(|&operand| self.value(operand)).collect();
        if args.len() != inst.opcode.rule().arity() {
            return None;
        }
        match inst.opcode.rule() {
            Rule::Constant => inst.as_constant().map(|value| constant(self.b, value)),
            Rule::Select => self.select(inst, &args, types[1]),
            Rule::Cast => self.cast(types[0], inst.ty, args[0]),
            Rule::Bitcast => self.bitcast(types[0], inst.ty, args[0]),
            Rule::Convert(..) => self.convert(inst.opcode, args[0]),
            Rule::Table => self.table(inst, args[0]),
            Rule::Splat | Rule::Lane | Rule::WithLane | Rule::Permute => self.vector(inst, &args, &types),
            Rule::Shift | Rule::Count => self.shift_or_count(inst.opcode, types[0], &args),
            Rule::Compare(_) => self.compare(inst, types[0], args[0], args[1]),
            Rule::Unary(_) | Rule::Binary(_) | Rule::Ternary(_) => match types[0] {
                Type::F32 | Type::F64 => self.float(inst, types[0], &args),
                Type::Bytes(_) => instruction(self.b, inst.opcode, types[0], &args),
                ty => self.integer(inst, ty, &args),
            },
        }
    }

    fn compare(&mut self, inst: &Inst, ty: Type, a: ir::Value, b: ir::Value) -> Option<ir::Value> {
        match ty {
            Type::Bytes(lanes) => self.vector_equal(inst.opcode, lanes.get(), a, b),
            ty if ty.is_int() && !ty.is_signed() => self.compare_unsigned(inst, ty, a, b),
            ty => compare(self.b, inst.opcode, ty, a, b),
        }
    }

    /// A comparison of unsigned integers as `<` or `>=`. On x86 these read one flag, and a choice by them takes one cycle; `>` and `<=`
    /// read two flags, and take two.
    fn compare_unsigned(&mut self, inst: &Inst, ty: Type, a: ir::Value, b: ir::Value) -> Option<ir::Value> {
        let (swapped, with_next) = match inst.opcode {
            Opcode::Gt => (Opcode::Lt, Opcode::Ge),
            Opcode::Le => (Opcode::Ge, Opcode::Lt),
            opcode => return compare(self.b, opcode, ty, a, b),
        };
        let bound = inst.operands().last().and_then(|&bound| self.function.as_constant(bound));
        // Above a number is at least the next one.
        match bound.map(|bound| bound.bits() + 1).filter(|next| next >> ty.bits() == 0) {
            Some(next) => {
                let next = self.int(clif_type(ty), next as i64);
                compare(self.b, with_next, ty, a, next)
            }
            None => compare(self.b, swapped, ty, b, a),
        }
    }

    /// The values of these selects, which have one condition, by a branch.
    fn choose(&mut self, selects: &[usize]) -> Vec<(usize, ir::Value)> {
        let chosen = self.b.create_block();
        let function = self.function;
        let of_inst =
            |&select: &usize| (select, self.b.append_block_param(chosen, clif_type(function.insts[select].ty)));
        let values = selects.iter().map(of_inst).collect();
        let arm = |operand: usize| -> Vec<BlockArg> {
            let of_inst = |&select: &usize| BlockArg::Value(self.value(function.insts[select].operands()[operand]));
            selects.iter().map(of_inst).collect()
        };
        let (yes, no) = (arm(1), arm(2));
        let condition = self.value(function.insts[selects[0]].operands()[0]);
        self.ins().brif(condition, chosen, &yes, chosen, &no);
        self.b.switch_to_block(chosen);
        values
    }

    fn table(&mut self, inst: &Inst, index: ir::Value) -> Option<ir::Value> {
        let Payload::Table(number) = inst.payload else { return None };
        let table = self.env.placed.get(number)?;
        let index = if self.ranges[inst.operands()[0].index()].max <= table.last {
            index
        } else {
            let last = self.int(types::I32, table.last as i64);
            self.ins().umin(index, last)
        };
        let base = self.ins().iconst(types::I64, table.address as i64);
        let index = self.ins().uextend(types::I64, index);
        let offset = self.ins().imul_imm_u(index, table.stride as i64);
        let address = self.ins().iadd(base, offset);
        Some(memory::load(self.b, memory::table_flags(), table.ty, table.stride, address, 0))
    }
}
