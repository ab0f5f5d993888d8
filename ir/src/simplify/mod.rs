//! The simplifier: the same function with less to do.
//!
//! [`simplify`] rewrites every instruction by local rules that hold *exactly* for its type, shares
//! equal instructions, folds constants (tables included) and drops what no result needs. For all
//! arguments the results keep every bit; the one freedom is the one the IR leaves open, which NaN
//! an operation yields. So floats keep almost everything (`x + −0.0` is `x`, `x + 0.0` is not),
//! while wrapping integers are the ring that they are.
//!
//! The rules live in three files by what they rewrite. Each either makes the function smaller or
//! moves it toward a normal form (constants to the right, operands in the order of their numbers,
//! `x − c` as `x + −c`, comparisons instead of negated ones). So the passes end, and simplifying
//! twice changes nothing.

mod arithmetic;
mod convert;
mod logic;

use crate::builder::FunctionBuilder;
use crate::eval::evaluate;
use crate::function::{Function, Inst, Payload, Value};
use crate::opcode::{Opcode, Rule};
use crate::program::Table;
use crate::types::{Constant, Type};

/// Passes after which simplifying stops even if something still changed; ordinary functions need two or three.
const MAX_PASSES: usize = 64;

/// The function with the same results, simplified. `tables` are those of its program.
///
/// It expects a well-typed function (what is typed wrongly stays as it is). Takes time about linear in the
/// instructions. What overflows natively ([`overflows`](crate::overflows)) may change: judge that on the original.
///
/// ```
/// use monoscan_ir::{simplify, FunctionBuilder, Opcode, Type};
/// let mut b = FunctionBuilder::new();
/// let (x, zero) = (b.param(Type::I32), b.lit(0i32));
/// let (sum, product) = (b.binary(Opcode::Add, zero, x), b.binary(Opcode::Mul, x, zero));
/// let both = b.binary(Opcode::Or, sum, product);
/// let function = simplify(&b.finish(&[both]), &[]);
/// assert!(function.insts.is_empty()); // (0 + x) | (x · 0) is x
/// assert_eq!(function.results, [x]);
/// ```
pub fn simplify(function: &Function, tables: &[Table]) -> Function {
    let mut current = drop_dead(function);
    for _ in 0..MAX_PASSES {
        let next = drop_dead(&rewrite(&current, tables));
        if next == current {
            break;
        }
        current = next;
    }
    current
}

/// The function over those parameters alone that `keep` marks.
///
/// # Panics
/// If a result still needs another one.
pub(crate) fn restrict_params(function: &Function, keep: &[bool]) -> Function {
    let mut renumbered: Vec<Option<Value>> = Vec::with_capacity(function.value_count());
    let mut params = Vec::new();
    for (&ty, &keep) in function.params.iter().zip(keep) {
        renumbered.push(keep.then(|| Value::new(params.len())));
        params.extend(keep.then_some(ty));
    }
    let used = used_values(function);
    let mut insts = Vec::with_capacity(used.iter().filter(|used| **used).count());
    for (value, inst) in function.values() {
        renumbered.push(used[value.index()].then(|| Value::new(params.len() + insts.len())));
        if used[value.index()] {
            insts.push(inst.map_operands(|operand| renumbered[operand.index()].expect("the parameter is kept")));
        }
    }
    let results = function.results.iter().map(|result| renumbered[result.index()].expect("the parameter is kept"));
    let results = results.collect();
    Function { params, insts, results }
}

/// For every value, whether some result needs it.
pub(crate) fn used_values(function: &Function) -> Vec<bool> {
    let mut used = vec![false; function.value_count()];
    for result in &function.results {
        used[result.index()] = true;
    }
    for (value, inst) in function.values().rev() {
        if used[value.index()] {
            for operand in inst.operands() {
                used[operand.index()] = true;
            }
        }
    }
    used
}

/// The function without instructions that no result needs.
pub(crate) fn drop_dead(function: &Function) -> Function {
    restrict_params(function, &vec![true; function.params.len()])
}

fn rewrite(function: &Function, tables: &[Table]) -> Function {
    let builder = FunctionBuilder::with_capacity(function.insts.len());
    let mut rewriter = Rewriter { builder, tables };
    let mut values = rewriter.builder.params(&function.params);
    for inst in &function.insts {
        let value = rewriter.push(inst.map_operands(|operand| values[operand.index()]));
        values.push(value);
    }
    let results: Vec<Value> = function.results.iter().map(|result| values[result.index()]).collect();
    rewriter.builder.finish(&results)
}

/// The function under construction, as rules see it: what defines a value, and how to make new ones.
pub(crate) struct Rewriter<'t> {
    pub(crate) builder: FunctionBuilder,
    tables: &'t [Table],
}

impl<'t> Rewriter<'t> {
    /// No instructions yet.
    pub(crate) fn new(tables: &'t [Table]) -> Rewriter<'t> {
        Rewriter { builder: FunctionBuilder::new(), tables }
    }
}

impl Rewriter<'_> {
    /// The value of an instruction: by a rule if one applies, else the instruction itself, built once.
    pub(crate) fn push(&mut self, inst: Inst) -> Value {
        let inst = self.in_order(inst);
        if let Some(constant) = self.fold(&inst) {
            return self.constant(constant);
        }
        let simpler = match inst.opcode.rule() {
            Rule::Cast | Rule::Bitcast | Rule::Splat | Rule::Lane | Rule::WithLane | Rule::Permute => {
                convert::rewrite(self, &inst)
            }
            Rule::Select | Rule::Compare(_) => logic::rewrite(self, &inst),
            _ => match inst.opcode {
                Opcode::And | Opcode::Or | Opcode::Xor | Opcode::Not => logic::rewrite(self, &inst),
                _ => arithmetic::rewrite(self, &inst),
            },
        };
        simpler.unwrap_or_else(|| self.builder.push(inst))
    }

    /// Operands that may change places: constants last, else in the order of their numbers.
    fn in_order(&self, inst: Inst) -> Inst {
        let &[a, b, ..] = inst.operands() else { return inst };
        let key = |value: Value| (self.known(value).is_some(), value);
        if key(a) <= key(b) {
            return inst;
        }
        match inst.opcode.rule() {
            Rule::Compare(_) => Inst::new(mirrored(inst.opcode), inst.ty, &[b, a], inst.payload),
            // In a·b + c the first two may change places, the third must stay.
            Rule::Ternary(_) => Inst::new(inst.opcode, inst.ty, &[b, a, inst.operands()[2]], inst.payload),
            _ if inst.opcode.is_commutative() => Inst::new(inst.opcode, inst.ty, &[b, a], inst.payload),
            _ => inst,
        }
    }

    fn fold(&self, inst: &Inst) -> Option<Constant> {
        let mut operands = [Type::Bool.zero(); 3];
        for (slot, &operand) in operands.iter_mut().zip(inst.operands()) {
            *slot = self.known(operand)?;
        }
        evaluate(inst, &operands[..inst.operands().len()], self.tables)
    }

    /// The value of an operation whose result type follows from its operands.
    fn op(&mut self, opcode: Opcode, operands: &[Value]) -> Value {
        let ty = match opcode.rule() {
            Rule::Compare(_) => Type::Bool,
            Rule::Select | Rule::Permute => self.ty(operands[1]),
            _ => self.ty(operands[0]),
        };
        self.push(Inst::new(opcode, ty, operands, Payload::None))
    }

    fn cast(&mut self, opcode: Opcode, ty: Type, value: Value) -> Value {
        if self.ty(value) == ty { value } else { self.push(Inst::new(opcode, ty, &[value], Payload::None)) }
    }

    fn constant(&mut self, value: impl Into<Constant>) -> Value {
        self.builder.constant(value)
    }

    fn ty(&self, value: Value) -> Type {
        self.builder.type_of(value)
    }

    /// The constant a value is, if it is one.
    fn known(&self, value: Value) -> Option<Constant> {
        self.builder.as_constant(value)
    }

    /// The instruction that defines a value, if it has this opcode.
    fn defined_by(&self, value: Value, opcode: Opcode) -> Option<Inst> {
        self.builder.function().inst(value).copied().filter(|inst| inst.opcode == opcode)
    }

    /// `a` where `value` is `opcode(a)`.
    fn unary(&self, value: Value, opcode: Opcode) -> Option<Value> {
        self.defined_by(value, opcode).map(|inst| inst.operands()[0])
    }

    /// `(a, b)` where `value` is `opcode(a, b)`.
    fn binary(&self, value: Value, opcode: Opcode) -> Option<(Value, Value)> {
        self.defined_by(value, opcode).map(|inst| (inst.operands()[0], inst.operands()[1]))
    }

    /// `(a, c)` where `value` is `opcode(a, c)` and `c` is constant.
    fn with_constant(&self, value: Value, opcode: Opcode) -> Option<(Value, Value)> {
        self.binary(value, opcode).filter(|&(_, b)| self.known(b).is_some())
    }

    /// `op(op(x, c1), c2)` as `op(x, op(c1, c2))`, for an operation that is associative on this type.
    fn gather_constants(&mut self, inst: &Inst) -> Option<Value> {
        let &[a, b] = inst.operands() else { return None };
        self.known(b)?;
        let (x, inner) = self.with_constant(a, inst.opcode)?;
        let both = self.op(inst.opcode, &[inner, b]);
        Some(self.op(inst.opcode, &[x, both]))
    }
}

/// The comparison that says of (b, a) what this one says of (a, b).
fn mirrored(comparison: Opcode) -> Opcode {
    match comparison {
        Opcode::Lt => Opcode::Gt,
        Opcode::Gt => Opcode::Lt,
        Opcode::Le => Opcode::Ge,
        Opcode::Ge => Opcode::Le,
        symmetric => symmetric,
    }
}
