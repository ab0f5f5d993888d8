//! Traits of an operator that decide how it is judged, read from its instructions.

use super::elements::Assumptions;
use super::group::Group;
use super::symbolic::Equation;
use crate::eval::evaluate;
use crate::function::{Function, Inst};
use crate::opcode::{Opcode, Rule};
use crate::program::Table;
use crate::types::{Constant, Type};

/// How a group of components treats special numbers.
pub(crate) struct Traits {
    /// The floats beyond the finite ones that belong to its states.
    pub(crate) specials: Vec<f64>,
    both_infinities: bool,
    saturating: bool,
}

impl Traits {
    pub(crate) fn of(group: &Group) -> Traits {
        let specials = if orders_only(&group.combine) {
            vec![f64::NAN, f64::NEG_INFINITY, f64::INFINITY, -0.0]
        } else {
            named(group)
        };
        let constants = group.combine.insts.iter().filter_map(Inst::as_constant).chain(group.identity.iter().copied());
        let occurring = [special(constants), specials.clone()].concat();
        let occurs = |special: f64| occurring.contains(&special);
        let both_infinities = occurs(f64::INFINITY) && occurs(f64::NEG_INFINITY);
        Traits { specials, both_infinities, saturating: saturates(&group.combine) }
    }

    /// The special values that a proof of this equation must consider. The identity law is not judged on NaN.
    pub(crate) fn assumptions(&self, equation: Equation) -> Assumptions {
        Assumptions {
            nan: equation == Equation::Associativity && self.specials.iter().any(|special| special.is_nan()),
            both_infinities: self.both_infinities,
            saturating: self.saturating,
        }
    }
}

fn operand_type(function: &Function, inst: &Inst) -> Type {
    inst.operands().first().and_then(|&value| function.type_of(value)).unwrap_or(inst.ty)
}

/// Whether floats are compared, chosen, moved and negated, and nothing else.
pub(super) fn orders_only(combine: &Function) -> bool {
    let floats = combine.insts.iter().filter(|inst| inst.ty.is_float() || operand_type(combine, inst).is_float());
    let orders = |inst: &Inst| {
        let compares = matches!(inst.opcode.rule(), Rule::Compare(_));
        let moves = matches!(inst.opcode, Opcode::Const | Opcode::Select | Opcode::Neg | Opcode::Abs);
        compares || moves || matches!(inst.opcode, Opcode::Min | Opcode::Max)
    };
    floats.into_iter().all(orders)
}

/// The infinities and NaN that an operator names as states: its identity; else what it compares with. Other constants
/// are results of parts such as `exp`, which do not make an infinity a state.
fn named(group: &Group) -> Vec<f64> {
    let identity = special(group.identity.iter().copied());
    if !identity.is_empty() {
        return identity;
    }
    let combine = &group.combine;
    let orders = |inst: &&Inst| {
        matches!(inst.opcode.rule(), Rule::Compare(_)) || matches!(inst.opcode, Opcode::Min | Opcode::Max)
    };
    let operands = combine.insts.iter().filter(orders).flat_map(Inst::operands);
    special(operands.filter_map(|&value| combine.as_constant(value)))
}

fn special(constants: impl Iterator<Item = Constant>) -> Vec<f64> {
    let mut special: Vec<f64> = constants.filter(|c| c.ty().is_float()).map(Constant::as_f64).collect();
    special.retain(|value| !value.is_finite());
    special.sort_by(f64::total_cmp);
    special.dedup_by(|a, b| a == b || (a.is_nan() && b.is_nan()));
    special
}

/// Whether unsigned integers are added with saturation, and by no other arithmetic.
fn saturates(combine: &Function) -> bool {
    let unsigned = |ty: Type| ty.is_int() && !ty.is_signed();
    let mut insts = combine.insts.iter().filter(|inst| unsigned(inst.ty));
    let wraps = |opcode| matches!(opcode, Opcode::Add | Opcode::Sub | Opcode::Mul | Opcode::Neg | Opcode::Shl);
    insts.clone().any(|inst| inst.opcode == Opcode::AddSat) && insts.all(|inst| !wraps(inst.opcode))
}

/// Whether integer arithmetic that is not meant to wrap meets comparisons, so that a wrapped result breaks the laws.
pub(crate) fn overflow_is_meaningless(combine: &Function) -> bool {
    let any = |test: &dyn Fn(Opcode) -> bool| {
        combine.insts.iter().any(|inst| operand_type(combine, inst).is_int() && test(inst.opcode))
    };
    let adds = |opcode| matches!(opcode, Opcode::Add | Opcode::Sub | Opcode::Mul | Opcode::Neg | Opcode::Abs);
    let overflows = combine.insts.iter().any(|inst| inst.may_panic() && adds(inst.opcode));
    let orders = |opcode: Opcode| {
        matches!(opcode.rule(), Rule::Compare(_))
            || matches!(opcode, Opcode::Min | Opcode::Max | Opcode::Div | Opcode::Rem | Opcode::Select)
            || matches!(opcode, Opcode::AddSat | Opcode::SubSat | Opcode::Cast)
    };
    let selects = combine.insts.iter().any(|inst| inst.opcode == Opcode::Select && inst.ty.is_int());
    overflows && (any(&orders) || selects)
}

/// Whether integers are added, subtracted, multiplied and chosen by flags, and nothing else: what is true of whole numbers
/// is then true of wrapped ones.
pub(crate) fn is_exact_when_wrapped(combine: &Function) -> bool {
    combine.insts.iter().all(|inst| {
        let reads_int = operand_type(combine, inst).is_int();
        match inst.opcode {
            Opcode::Const | Opcode::Select | Opcode::Add | Opcode::Sub | Opcode::Mul | Opcode::Neg => true,
            _ => !reads_int,
        }
    })
}

/// Whether a float opcode rounds.
pub(crate) fn rounds(opcode: Opcode) -> bool {
    matches!(
        opcode,
        Opcode::Add | Opcode::Sub | Opcode::Mul | Opcode::Div | Opcode::MulAdd | Opcode::Sqrt | Opcode::Cast
    )
}

/// Whether signed integers are added with saturation, which is not associative.
pub(crate) fn saturates_signed(combine: &Function) -> bool {
    let saturates = |inst: &Inst| matches!(inst.opcode, Opcode::AddSat | Opcode::SubSat) && inst.ty.is_signed();
    combine.insts.iter().any(saturates)
}

/// The results of a function; a value that is typed wrongly counts as zero.
pub(crate) fn call(function: &Function, arguments: &[Constant], tables: &[Table]) -> Vec<Constant> {
    let mut values = arguments.to_vec();
    for inst in &function.insts {
        let operands: Vec<Constant> = inst.operands().iter().map(|operand| values[operand.index()]).collect();
        values.push(evaluate(inst, &operands, tables).unwrap_or(inst.ty.zero()));
    }
    function.results.iter().map(|result| values[result.index()]).collect()
}
