//! That the derived scan is the loop.
//!
//! 1. For each group: from the constant function of a state s, the effect of an element leads to
//!    the constant function of step(s, x). `value(combine(seed(s), lift(x))) = step(s, x)` for all
//!    s and x, by the normal forms of the judge and cases. Families of minima and maxima of sums
//!    are compared over ideal numbers: integers that do not overflow, with −∞ and ∞. Where they
//!    stay in the loop's own type, they are compared by linear arithmetic.
//! 2. The whole on sampled elements, against the step (`samples`).
//!
//! With the laws of the stages, which the judge decides, the first says by induction that every
//! state of the scan stands for the loop's.

use super::Flat;
use super::code::{Code, taken_away};
use super::graph::Placed;
use super::reached::reached_parameters;
use super::samples::{SAMPLES, element};
use crate::builder::FunctionBuilder;
use crate::function::{Function, Inst, Payload, Value};
use crate::interp;
use crate::laws::elements::{Assumptions, Elements, Id, Means};
use crate::laws::linear;
use crate::opcode::Opcode;
use crate::types::{Constant, Type};

use super::family::{ABSENT, Family};

/// How it is known that the effect of an element is the step.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Trust {
    /// By normal forms, in so many cases.
    Proved {
        /// How many cases.
        cases: usize,
        /// Whether no integer overflows, which is then a condition.
        no_overflow: bool,
        /// Whether nothing is NaN, which is then a condition: `if s > x { s } else { x }` is no
        /// maximum of NaN.
        no_nan: bool,
    },
    /// By construction: the step was evaluated at every state of a table; or, where its operations make a matrix of bits of it, at a
    /// basis of the words, for sampled elements.
    Construction,
    /// On samples alone.
    Tested {
        /// Whether nothing is NaN, as of a proof.
        no_nan: bool,
    },
}

impl Trust {
    /// The conditions under which the effect is the step, as far as they are known.
    pub fn conditions(&self) -> Conditions {
        match *self {
            Trust::Proved { no_overflow, no_nan, .. } => Conditions { no_overflow, no_nan },
            Trust::Tested { no_nan } => Conditions { no_overflow: false, no_nan },
            Trust::Construction => Conditions::default(),
        }
    }
}

/// Conditions under which a scan is the loop that it was derived from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Conditions {
    /// No integer overflows.
    pub no_overflow: bool,
    /// No state or element is NaN.
    pub no_nan: bool,
}

impl Conditions {
    /// Those of both.
    pub fn and(self, other: Conditions) -> Conditions {
        Conditions { no_overflow: self.no_overflow || other.no_overflow, no_nan: self.no_nan || other.no_nan }
    }
}

/// Work that one proof may take.
const FUEL: usize = 24_000;

/// The equation of one group.
pub(super) fn of_group(code: &mut Code<'_>, flat: &Flat, next: &[Value], group: &Placed) -> Trust {
    let effect = &group.effect;
    // Proofs come out of the same budget.
    code.fuel.spend(FUEL);
    if matches!(effect.family, Family::Table { .. }) {
        return Trust::Construction;
    }
    if effect.family == Family::Linear {
        let is_on_basis = !code.fuel.is_spent() && on_basis(code, flat, group);
        return if is_on_basis { Trust::Construction } else { Trust::Tested { no_nan: false } };
    }
    let members: Vec<Value> = group.members.iter().map(|&member| Value::new(member)).collect();
    let seeds = code.inline(&effect.seed, &members);
    let after = code.inline(&effect.combine, &[seeds, effect.lift.clone()].concat());
    let applied = code.inline(&effect.value, &after);
    let expected: Vec<Value> = group.members.iter().map(|&member| next[member]).collect();
    let no_nan = orders_floats(code, flat, &expected) || (effect.family.is_ordered() && effect.types[0].is_float());
    if code.fuel.is_spent() {
        return Trust::Tested { no_nan };
    }
    // The step as it was written: its arms are no minima and maxima here.
    let mut plain = Code::as_written(&flat.step.params, flat.initial.len(), code.tables());
    let params = reached_parameters(&mut plain, flat);
    let written = plain.inline(&flat.step, &params);
    let applied_in_code = applied;
    let applied = plain.inline(&code.extract(&applied_in_code), &params);
    let expected: Vec<Value> = group.members.iter().map(|&member| written[member]).collect();
    if applied == expected {
        return Trust::Proved { cases: 1, no_overflow: false, no_nan };
    }
    let function = plain.extract(&[applied, expected].concat());
    let sides = |function: &Function| by_cases(code, function, group.members.len());
    if let Some((cases, means)) = sides(&function) {
        return Trust::Proved { cases, no_overflow: means.no_overflow, no_nan };
    }
    let ideal = effect.family.is_ordered().then(|| ideal(&function)).flatten();
    match ideal.and_then(|ideal| sides(&ideal)) {
        Some((cases, _)) => Trust::Proved { cases, no_overflow: true, no_nan },
        None => linearly(code, flat, group, &applied_in_code).unwrap_or(Trust::Tested { no_nan }),
    }
}

/// Work that a proof by linear arithmetic may take, in inequalities.
const INEQUALITIES: usize = 2_000;

/// By linear arithmetic, wherever the step does not overflow as it was written.
fn linearly(code: &Code<'_>, flat: &Flat, group: &Placed, applied: &[Value]) -> Option<Trust> {
    let effect = &group.effect;
    if !effect.types.iter().all(|ty| ty.is_int()) || effect.valid.is_none() || !flat.rewritten.is_empty() {
        return None;
    }
    let mut b = FunctionBuilder::new();
    let params = b.params(&flat.step.params);
    let step = b.inline(&flat.step, &params);
    // The simplifier drops marks of what wraps, so all that was derived is taken to wrap.
    let applied = b.inline(&code.extract(applied).wrapping(), &params);
    let pairs = group.members.iter().zip(applied);
    let same: Vec<Value> = pairs.map(|(&member, applied)| b.binary(Opcode::Eq, step[member], applied)).collect();
    let holds = linear::prove(&b.finish(&same), 0, code.tables(), INEQUALITIES)?;
    Some(Trust::Proved { cases: holds.cases, no_overflow: holds.no_overflow, no_nan: false })
}

/// Whether the step takes every vector of a basis of the component's words, and sums of them, where the matrix of the group and
/// what it adds say, for sampled elements. That it is linear is known from its operations; so the basis says which map it is.
fn on_basis(code: &Code<'_>, flat: &Flat, group: &Placed) -> bool {
    let (&[member], Some((&added, columns))) = (&group.members[..], group.effect.lift.split_last()) else {
        return false;
    };
    let columns: Option<Vec<u128>> =
        columns.iter().map(|&column| code.constant_of(column).map(|column| column.bits())).collect();
    let Some(columns) = columns else { return false };
    let added = code.extract(&[added]);
    let ty = flat.initial[member].ty();
    (0..SAMPLES).all(|seed| {
        let other = |place: usize| match place.checked_sub(flat.initial.len()) {
            Some(read) => element(flat.reads[read], flat.step.params[place], seed, 1, place),
            None => flat.initial[place],
        };
        let mut arguments: Vec<Constant> = (0..flat.step.params.len()).map(other).collect();
        let origin = interp::call(&added, &arguments, code.tables())[0].bits();
        let mut step = |word: u128| {
            arguments[member] = Constant::new(ty, word);
            interp::call(&flat.step, &arguments, code.tables())[member].bits()
        };
        let basis = (0..columns.len()).map(|bit| 1 << bit);
        let sums = [0, u128::MAX, 0x5555_5555, 0x1234_5678, 0xdead_beef].map(|word| word & ty.mask());
        basis.chain(sums).all(|word: u128| {
            let of = |bit: &usize| word >> bit & 1 == 1;
            step(word) == (0..columns.len()).filter(of).fold(origin, |sum, bit| sum ^ columns[bit])
        })
    })
}

/// Whether minima or maxima of floats, which may stand for comparisons of the step, lead to these
/// values.
fn orders_floats(code: &Code<'_>, flat: &Flat, values: &[Value]) -> bool {
    use Opcode::{Ge, Gt, Le, Lt};
    let is_float = |inst: &Inst| flat.step.type_of(inst.operands()[0]).is_some_and(Type::is_float);
    if !flat.step.insts.iter().any(|inst| matches!(inst.opcode, Lt | Le | Gt | Ge) && is_float(inst)) {
        return false;
    }
    let function = code.extract(values);
    function.insts.iter().any(|inst| matches!(inst.opcode, Opcode::Min | Opcode::Max) && inst.ty.is_float())
}

/// Whether the first results are the last ones, for all arguments.
fn by_cases(code: &Code<'_>, function: &Function, count: usize) -> Option<(usize, Means)> {
    let mut elements = Elements::new(code.tables(), Assumptions::default(), FUEL);
    let arguments: Vec<Id> =
        function.params.iter().enumerate().map(|(place, &ty)| elements.variable(ty, place as u32)).collect();
    let mut sides = |elements: &mut Elements<'_>| {
        // A flag that was decided is that constant in this case.
        let known: Vec<Id> = arguments.iter().map(|&argument| elements.in_case(argument)).collect();
        let mut left = elements.call(function, &known)?;
        let right = left.split_off(count);
        Ok((left, right))
    };
    let mut cases = 0;
    elements.by_cases(&mut sides, &mut cases).ok().filter(|&equal| equal)?;
    Some((cases, elements.means))
}

/// The function over ideal numbers: every integer a real one, ±[`ABSENT`] infinite, and what no number has a parameter of its
/// own. None if something is left that is no sum, extreme or choice of numbers.
fn ideal(function: &Function) -> Option<Function> {
    let number = |ty: Type| ty.is_int() || ty.is_float();
    let real = |constant: Constant| match taken_away(constant) {
        _ if constant.ty().is_float() => constant.as_f64(),
        known if known == ABSENT as i128 => f64::NEG_INFINITY,
        known if known == -(ABSENT as i128) => f64::INFINITY,
        known => known as f64,
    };
    // Which instructions are kept, and which are names of what they compute.
    let is_kept = |inst: &Inst| {
        let operand = inst.operands().first().and_then(|&x| function.type_of(x));
        let numbers = number(inst.ty) && operand.is_none_or(number);
        match inst.opcode {
            Opcode::Add | Opcode::Sub | Opcode::Neg => numbers && inst.payload == Payload::None,
            Opcode::Min | Opcode::Max | Opcode::Const => numbers || inst.ty == Type::Bool,
            Opcode::Mul => inst.ty.is_float(),
            Opcode::Cast => numbers && inst.ty.size() >= operand.map_or(0, |ty| ty.size()),
            Opcode::Select => true,
            Opcode::Eq | Opcode::Ne | Opcode::Lt | Opcode::Le | Opcode::Gt | Opcode::Ge => operand.is_some_and(number),
            Opcode::And | Opcode::Or | Opcode::Xor | Opcode::Not => inst.ty == Type::Bool,
            _ => false,
        }
    };
    let named = |ty: Type| if number(ty) { Type::F64 } else { ty };
    let mut b = FunctionBuilder::new();
    let mut values: Vec<Value> = function.params.iter().map(|&ty| b.param(named(ty))).collect();
    let names: Vec<Option<Value>> = function
        .insts
        .iter()
        .map(|inst| (!is_kept(inst) && !narrows(function, inst)).then(|| b.param(named(inst.ty))))
        .collect();
    for (inst, name) in function.insts.iter().zip(names) {
        let x: Vec<Value> = inst.operands().iter().map(|operand| values[operand.index()]).collect();
        let value = match (name, inst.opcode) {
            (Some(name), _) => name,
            (_, Opcode::Const) if inst.ty == Type::Bool => b.push(*inst),
            (_, Opcode::Const) => b.lit(real(inst.as_constant()?)),
            (_, Opcode::Cast) => x[0],
            (_, Opcode::Select) if puts_back(function, inst) => x[2],
            (_, opcode) => b.op(opcode, &x),
        };
        values.push(value);
    }
    let results: Vec<Value> = function.results.iter().map(|result| values[result.index()]).collect();
    Some(b.finish(&results))
}

/// Whether it is the cast back from `i64` that families add: what it casts is the loop's own number.
fn narrows(function: &Function, inst: &Inst) -> bool {
    let from = inst.operands().first().and_then(|&x| function.type_of(x));
    inst.opcode == Opcode::Cast && from == Some(Type::I64) && inst.ty.is_int()
}

/// Whether a select puts what is far below back to −∞, or far above to ∞.
fn puts_back(function: &Function, inst: &Inst) -> bool {
    let &[condition, none, _] = inst.operands() else { return false };
    let is = |value: Value, number: i64| {
        function.as_constant(value).is_some_and(|c| c.ty() == Type::I64 && c.as_int() == number as i128)
    };
    let limit = function.inst(condition).and_then(|test| test.operands().get(1).copied());
    let Some(limit) = limit else { return false };
    [1, -1].iter().any(|sign| is(none, sign * ABSENT) && is(limit, sign * ABSENT / 2))
}
