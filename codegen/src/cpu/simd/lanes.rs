//! Lowers a straight-line function of the IR to vectors, one lane an element: lane by lane what
//! `monoscan_ir::evaluate` says.
//!
//! How values are held, in lanes that are as wide as the widest type in use:
//!
//! - floats only in lanes of their own width;
//! - integers extended to the lane by their own sign, whatever operation made them;
//! - `bool` as a mask: all ones or all zeros.
//!
//! A value that is the same constant in every lane, or another constant in each, is computed when
//! the kernel is compiled. So the powers of a recurrence's matrix become constants.

use cranelift_codegen::ir::{self, InstBuilder, condcodes::IntCC, types};
use cranelift_frontend::FunctionBuilder;
use monoscan_ir::{Constant, Function, Inst, Opcode, Rule, Table, Type, evaluate};

use super::super::error::CodegenError;
use super::super::lower::compare;
use super::forms::has_lane_form;
use super::shuffle::{self, Shape, retype};

/// A value of all lanes.
#[derive(Clone, Debug)]
pub(crate) enum Lanes {
    /// A constant for each lane.
    Constants(Vec<Constant>),
    /// Computed when the kernel runs.
    Vector(ir::Value),
}

impl Lanes {
    /// The same constant in every lane.
    pub(crate) fn constant(shape: Shape, value: Constant) -> Lanes {
        Lanes::Constants(vec![value; shape.lanes()])
    }

    fn is_known(&self) -> bool {
        matches!(self, Lanes::Constants(_))
    }

    /// The constant, if it is the same in all lanes.
    fn uniform(&self) -> Option<Constant> {
        let Lanes::Constants(values) = self else { return None };
        let first = *values.first()?;
        values.iter().all(|&value| value == first).then_some(first)
    }

    /// In a vector register.
    pub(crate) fn vector(&self, b: &mut FunctionBuilder<'_>, shape: Shape) -> ir::Value {
        let values = match self {
            Lanes::Vector(vector) => return *vector,
            Lanes::Constants(values) => values,
        };
        let mut all = [0; 16];
        for (lane, value) in all.chunks_exact_mut(shape.bytes).zip(values) {
            let bits = match value.ty() {
                Type::Bool => 0u64.wrapping_sub(value.bits() as u64),
                ty if ty.is_float() => value.bits() as u64,
                _ => value.as_int() as u64,
            };
            lane.copy_from_slice(&bits.to_le_bytes()[..shape.bytes]);
        }
        let ty = values.first().map_or(Type::U8, |value| value.ty());
        shuffle::bytes(b, vector_type(shape, ty), all)
    }
}

/// The vectors that hold a type.
pub(crate) fn vector_type(shape: Shape, ty: Type) -> ir::Type {
    match ty {
        Type::F32 => types::F32X4,
        Type::F64 => types::F64X2,
        _ => shape.int(),
    }
}

/// The low `bits` of each lane, extended to the lane.
pub(crate) fn extend(b: &mut FunctionBuilder<'_>, shape: Shape, bits: u32, signed: bool, v: ir::Value) -> ir::Value {
    let above = i64::from(shape.bits() - bits);
    if above == 0 {
        return v;
    }
    if signed {
        let up = b.ins().ishl_imm_u(v, above);
        return b.ins().sshr_imm_u(up, above);
    }
    let mask = splat_bits(b, shape, (1u64 << bits) - 1);
    b.ins().band(v, mask)
}

/// The same bits in every lane.
pub(super) fn splat_bits(b: &mut FunctionBuilder<'_>, shape: Shape, bits: u64) -> ir::Value {
    let mut all = [0; 16];
    for lane in all.chunks_exact_mut(shape.bytes) {
        lane.copy_from_slice(&bits.to_le_bytes()[..shape.bytes]);
    }
    shuffle::bytes(b, shape.int(), all)
}

/// Appends the instructions of `function` and returns its results.
pub(crate) fn lower_lanes(
    b: &mut FunctionBuilder<'_>,
    shape: Shape,
    tables: &[Table],
    function: &Function,
    args: &[Lanes],
) -> Result<Vec<Lanes>, CodegenError> {
    debug_assert_eq!(function.params.len(), args.len());
    let mut lowering = Lowering { b, shape, function, tables, values: args.to_vec() };
    for inst in &function.insts {
        let value = lowering.inst(inst).ok_or(CodegenError::Malformed(inst.opcode))?;
        lowering.values.push(value);
    }
    Ok(function.results.iter().map(|result| lowering.values[result.index()].clone()).collect())
}

pub(super) struct Lowering<'a, 'b> {
    pub(super) b: &'a mut FunctionBuilder<'b>,
    pub(super) shape: Shape,
    pub(super) function: &'a Function,
    tables: &'a [Table],
    values: Vec<Lanes>,
}

impl<'b> Lowering<'_, 'b> {
    pub(super) fn ins(&mut self) -> cranelift_frontend::FuncInstBuilder<'_, 'b> {
        self.b.ins()
    }

    /// None if the instruction has no such form, which [`has_lane_form`] says beforehand.
    fn inst(&mut self, inst: &Inst) -> Option<Lanes> {
        let operands: Vec<Lanes> = inst.operands().iter().map(|&v| self.values[v.index()].clone()).collect();
        if operands.iter().all(Lanes::is_known) {
            return self.known(inst, &operands);
        }
        if let (Rule::Select, Some(condition)) = (inst.opcode.rule(), operands[0].uniform()) {
            return Some(operands[if condition.bits() != 0 { 1 } else { 2 }].clone());
        }
        let types: Vec<Type> =
            inst.operands().iter().map(|&operand| self.function.type_of(operand)).collect::<Option<_>>()?;
        let known: Vec<bool> = operands.iter().map(Lanes::is_known).collect();
        if !has_lane_form(inst, &types, &known, self.shape) {
            return None;
        }
        if let Rule::Shift = inst.opcode.rule() {
            let amount = operands[1].uniform()?.bits() as u32 % types[0].bits();
            let a = operands[0].vector(self.b, self.shape);
            return Some(Lanes::Vector(self.shift(inst.opcode, types[0], a, amount)));
        }
        if let Some(value) = self.masked(inst, &operands, &types) {
            return Some(Lanes::Vector(value));
        }
        let args: Vec<ir::Value> = operands.iter().map(|operand| operand.vector(self.b, self.shape)).collect();
        self.varying(inst, &types, &args).map(Lanes::Vector)
    }

    fn known(&self, inst: &Inst, operands: &[Lanes]) -> Option<Lanes> {
        let lane = |lane: usize| {
            let operands: Vec<Constant> = operands
                .iter()
                .map(|operand| match operand {
                    Lanes::Constants(values) => values.get(lane).copied(),
                    Lanes::Vector(_) => None,
                })
                .collect::<Option<_>>()?;
            evaluate(inst, &operands, self.tables)
        };
        (0..self.shape.lanes()).map(lane).collect::<Option<_>>().map(Lanes::Constants)
    }

    fn varying(&mut self, inst: &Inst, types: &[Type], args: &[ir::Value]) -> Option<ir::Value> {
        let ty = *types.first()?;
        Some(match inst.opcode.rule() {
            Rule::Select => self.select(args[0], args[1], args[2]),
            Rule::Compare(_) => compare(self.b, inst.opcode, ty, args[0], args[1])?,
            Rule::Cast => self.cast(ty, inst.ty, args[0])?,
            Rule::Bitcast => {
                let value = retype(self.b, self.shape.int(), args[0]);
                let value = if inst.ty.is_float() { value } else { self.normal(inst.ty, value) };
                retype(self.b, vector_type(self.shape, inst.ty), value)
            }
            Rule::Convert(..) if inst.opcode == Opcode::FromBf16 => {
                let bits = self.ins().ishl_imm_u(args[0], 16);
                retype(self.b, types::F32X4, bits)
            }
            Rule::Unary(_) | Rule::Binary(_) | Rule::Ternary(_) if ty.is_float() => self.float(inst, ty, args)?,
            Rule::Unary(_) | Rule::Binary(_) => self.integer(inst.opcode, ty, args)?,
            _ => return None,
        })
    }

    /// The result of integer arithmetic in the lanes, extended as its type is held.
    pub(super) fn normal(&mut self, ty: Type, v: ir::Value) -> ir::Value {
        if ty == Type::Bool { v } else { extend(self.b, self.shape, ty.bits(), ty.is_signed(), v) }
    }

    /// The constant in every lane, as a type is held.
    pub(super) fn splat(&mut self, value: Constant) -> ir::Value {
        Lanes::constant(self.shape, value).vector(self.b, self.shape)
    }

    /// A `select` that is arithmetic with a mask, which is cheaper than a blend: one of its arms is zero bits, or is the other
    /// one with something added: c ? x : x + y = x + (c ? 0 : y) for integers.
    fn masked(&mut self, inst: &Inst, operands: &[Lanes], types: &[Type]) -> Option<ir::Value> {
        if inst.opcode != Opcode::Select {
            return None;
        }
        let is_zero = |lanes: &Lanes| lanes.uniform().is_some_and(|value| value.bits() == 0);
        let ty = types[1];
        let [_, yes, no] = *inst.operands() else { return None };
        if is_zero(&operands[1]) || is_zero(&operands[2]) {
            let kept = if is_zero(&operands[1]) { &operands[2] } else { &operands[1] };
            let kept = kept.vector(self.b, self.shape);
            return Some(self.kept(&operands[0], is_zero(&operands[2]), kept));
        }
        if !ty.is_int() || ty.size() != self.shape.bytes {
            return None;
        }
        for (base, other, keeps_if) in [(yes, no, false), (no, yes, true)] {
            let Some(sum) = self.function.inst(other).filter(|sum| sum.opcode == Opcode::Add) else { continue };
            let added = match *sum.operands() {
                [a, b] if a == base => b,
                [a, b] if b == base => a,
                _ => continue,
            };
            let (base, added) = (self.values[base.index()].clone(), self.values[added.index()].clone());
            let (base, added) = (base.vector(self.b, self.shape), added.vector(self.b, self.shape));
            let added = self.kept(&operands[0], keeps_if, added);
            return Some(self.ins().iadd(base, added));
        }
        None
    }

    /// The value where the condition is `keeps_if`, else zero bits.
    fn kept(&mut self, condition: &Lanes, keeps_if: bool, value: ir::Value) -> ir::Value {
        let ty = self.b.func.dfg.value_type(value);
        let mask = condition.vector(self.b, self.shape);
        let mask = retype(self.b, ty, mask);
        if keeps_if { self.ins().band(value, mask) } else { self.ins().band_not(value, mask) }
    }

    /// For x86 Cranelift blends in one instruction where a comparison gave the mask, and takes three for any other.
    pub(super) fn select(&mut self, mask: ir::Value, yes: ir::Value, no: ir::Value) -> ir::Value {
        let ty = self.b.func.dfg.value_type(yes);
        if !cfg!(target_arch = "x86_64") || self.is_compared(mask) {
            let mask = retype(self.b, ty, mask);
            return self.ins().bitselect(mask, yes, no);
        }
        let [mask, yes, no] = [mask, yes, no].map(|value| retype(self.b, types::I8X16, value));
        let zero = shuffle::bytes(self.b, types::I8X16, [0; 16]);
        let mask = self.ins().icmp(IntCC::SignedLessThan, mask, zero);
        let picked = self.ins().bitselect(mask, yes, no);
        retype(self.b, ty, picked)
    }

    /// Whether a comparison gave these bits.
    fn is_compared(&self, mask: ir::Value) -> bool {
        let dfg = &self.b.func.dfg;
        let Some(inst) = dfg.value_def(mask).inst() else { return false };
        matches!(dfg.insts[inst].opcode(), ir::Opcode::Icmp | ir::Opcode::Fcmp)
    }

    fn shift(&mut self, opcode: Opcode, ty: Type, a: ir::Value, amount: u32) -> ir::Value {
        let by = i64::from(amount);
        match opcode {
            Opcode::Shl => {
                let up = self.ins().ishl_imm_u(a, by);
                self.normal(ty, up)
            }
            Opcode::Shr if ty.is_signed() => self.ins().sshr_imm_u(a, by),
            Opcode::Shr => self.ins().ushr_imm_u(a, by),
            _ => {
                let left =
                    if opcode == Opcode::RotateLeft { by } else { (i64::from(ty.bits()) - by) % i64::from(ty.bits()) };
                if left == 0 {
                    return a;
                }
                let bits = extend(self.b, self.shape, ty.bits(), false, a);
                let up = self.ins().ishl_imm_u(bits, left);
                let down = self.ins().ushr_imm_u(bits, i64::from(ty.bits()) - left);
                let both = self.ins().bor(up, down);
                self.normal(ty, both)
            }
        }
    }
}
