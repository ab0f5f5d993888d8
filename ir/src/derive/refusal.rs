//! Why a loop is no scan: the components, the operation, the reason, and what would do.

use std::borrow::Cow;
use std::fmt;

use super::code::{Code, Components, MOST_OWN};
use super::family::LARGEST_MODULUS;
use super::show::{Names, rust_name};
use super::{Flat, LoopProgram};
use crate::function::{Function, Inst, Value};
use crate::opcode::Opcode;
use crate::types::Type;

/// An operation that no family of functions of the state has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Why {
    /// A `select` whose condition is computed from the state.
    Branch,
    /// A comparison of the state.
    Compared,
    /// A product of two values that both depend on the state.
    Square,
    /// A division by the state.
    Quotient,
    /// An operation of the state that no family has.
    Operation(Opcode),
    /// A method of the state that stands for several operations, and that no family has.
    Method(&'static str),
    /// An operation that no family has, of a state that minima and maxima are taken of too.
    Beside(Opcode),
    /// Arithmetic that wraps, under bounds or a remainder by no power of two.
    Wraps,
    /// Constants that are added and multiplied and reach half of their type together, under bounds or `%`.
    Constants,
    /// A remainder by what is no constant, or by one above 2^32.
    Modulus,
    /// An initial state that is below 0, or not below the modulus.
    Start {
        /// The modulus.
        modulus: u64,
    },
    /// A remainder of what may be negative.
    Negative,
    /// Arithmetic and bit operations on one word.
    Mixed,
    /// Minima and maxima that bend the function in too many places.
    Bends,
    /// A factor of the state that may be larger than 1 in size, under bounds.
    Growth,
    /// Components that depend on each other, where a family has one alone.
    Several,
    /// A type that the family has no numbers of.
    Type(Type),
    /// A table that is read at the state, where there are more joint states than a table has.
    States,
    /// More stages than are compiled.
    Levels {
        /// How many stages the loop needs.
        needed: usize,
    },
    /// A state larger than a stage carries.
    Size {
        /// Its bytes.
        bytes: usize,
    },
    /// More components than a loop may have.
    Components {
        /// How many there are.
        got: usize,
    },
    /// The derivation took more work than a step may: it is too large, or too many of its components read each other.
    Effort,
    /// The derived scan does not compute what the loop does: a recogniser is wrong, which is a bug in monoscan.
    Wrong,
}

/// That a family was left: which operation says most about a group is found when all families have left it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leave;

/// A place in the source of a program.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SourcePlace {
    /// The file, as the compiler names it.
    pub file: Cow<'static, str>,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
    /// The method that stands there for several operations, `tanh` or its like.
    pub method: Option<&'static str>,
}

impl fmt::Display for SourcePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// Why a loop cannot be scanned.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// The names of the components that no family has, in order.
    pub components: Vec<String>,
    /// The property that no family has.
    pub why: Why,
    /// The operation, as it was written but for what the simplifier did; none where it is the group as a whole.
    pub place: Option<String>,
    /// Where the statement or branch with that operation was written, if the loop says so.
    pub source: Option<SourcePlace>,
}

impl Refusal {
    /// The refusal of these components as a whole.
    pub(super) fn of(components: Vec<String>, why: Why) -> Refusal {
        Refusal { components, why, place: None, source: None }
    }

    /// The refusal of a group that every family left: by the operation that says most.
    pub(super) fn of_group(
        code: &Code<'_>,
        names: &Names<'_>,
        members: &[usize],
        next: &[Value],
        (flat, of): (&Flat, &LoopProgram),
    ) -> Refusal {
        let mask = members.iter().fold(0, |mask, &member| mask | 1 << member);
        let (why, at) = worst(code, mask, members, next, flat);
        let components = members.iter().map(|&member| names.component(member)).collect();
        // Components that no family has together have no one operation: the first is where to look.
        let source = flat.written(of).place(at.unwrap_or(next[members[0]]));
        // A method is not shown as what it is made of.
        match (why, source.as_ref().and_then(|source| source.method)) {
            (Why::Operation(_), Some(method)) => Refusal { components, why: Why::Method(method), place: None, source },
            _ => Refusal { components, why, place: at.map(|at| names.show(code, at)), source },
        }
    }

    /// A remedy.
    pub fn advice(&self) -> &'static str {
        match self.why {
            Why::Branch | Why::Compared => {
                "arms that meet can be written with `min`, `max` or `clamp`; integers in a range of at most 64, as \
                 `.clamp(0, 15)` makes them, become a table; a test of the element or of another component is free"
            }
            Why::Square => "scale by a value of the element instead",
            Why::Quotient => {
                "divide by a value of the element instead; quotients of two sums, each with one multiple of the state, are \
                 closed, as in `x + 1.0 / s`"
            }
            Why::Operation(_) | Why::Method(_) | Why::Beside(_) => {
                "compute it from the element, or write the monoid yourself"
            }
            Why::Wraps => {
                "write `+`, `-` and `*`, which wrap only where the loop overflows; what wraps of the element alone can be a column"
            }
            Why::Constants => "use a wider type",
            Why::Modulus => "take the remainder by a constant of at most 2^32",
            Why::Start { .. } => "start from 0 or above, and below the modulus",
            Why::Negative => {
                "keep the sum from being negative, in a type without sign or as in `(s + (x % 360 + 360)) % 360`"
            }
            Why::Mixed => "use `+` and `*` alone, or bit operations alone",
            Why::Bends => {
                "one lower and one upper bound of a sum are closed, as in `(s + x).clamp(lo, hi)`; and the largest and the \
                 smallest product together, where both have one factor"
            }
            Why::Growth => {
                "bound the factor too, as in `(k.clamp(-1.0, 1.0) * s + x).clamp(lo, hi)`; or leave out the bounds of the state"
            }
            Why::Several => "components that depend on each other must be sums, maxima or a few states together",
            Why::Type(_) => "use numbers of at most 32 bits, which are composed in 64, or floats",
            Why::States => "clamp the component to a range of at most 64 values",
            Why::Levels { .. } => "fewer components that read each other's results; or several scans",
            Why::Size { .. } => "smaller types, or several scans",
            Why::Components { .. } => "several scans",
            Why::Effort => "a smaller step, or several scans",
            Why::Wrong => "please report the loop",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.components.iter().map(|name| format!("`{name}`")).collect();
        write!(f, "{} cannot be scanned: ", names.join(" and "))?;
        match self.why {
            Why::Branch => f.write_str("which arm is taken depends on the state")?,
            Why::Compared => f.write_str("the state is compared")?,
            Why::Square => f.write_str("state × state")?,
            Why::Quotient => f.write_str("a quotient by the state")?,
            Why::Operation(opcode) => write!(f, "no family of functions has `{}` of the state", rust_name(opcode))?,
            Why::Method(name) => write!(f, "no family of functions has `{name}` of the state")?,
            Why::Beside(opcode) => {
                write!(f, "no family of functions has `{}` of the state beside minima and maxima", rust_name(opcode))?;
            }
            Why::Wraps => {
                f.write_str("arithmetic wraps, and no family has that under bounds, or `%` by no power of two")?;
            }
            Why::Constants => {
                f.write_str("constants reach half of their type, and no family has that under bounds or `%`")?
            }
            Why::Modulus => f.write_str("a remainder by no constant, or by one above 2^32")?,
            Why::Start { modulus } => write!(f, "its initial state is not from 0 to {}", modulus - 1)?,
            Why::Negative => f.write_str("a remainder of what may be negative")?,
            Why::Mixed => f.write_str("arithmetic and bit operations are mixed")?,
            Why::Bends => f.write_str("minima and maxima bend the state in more than one place")?,
            Why::Growth => f.write_str("a factor under bounds may be larger than 1")?,
            Why::Several => f.write_str("they depend on each other, and no family has them together")?,
            Why::Type(ty) => write!(f, "no family has it for the type {ty}")?,
            Why::States => f.write_str("a table is read at the state, of which more than 64 are reached")?,
            Why::Levels { needed } => write!(f, "a cascade of {needed} levels is needed, and 3 are compiled")?,
            Why::Size { bytes } => write!(f, "a stage's state takes {bytes} bytes, and at most 256 are carried")?,
            Why::Components { got } => write!(f, "{got} components, and a loop has at most {MOST_OWN}")?,
            Why::Effort => f.write_str("the step is too large, or too many of its components read each other")?,
            Why::Wrong => f.write_str("the derived scan is not the loop, which is a bug in monoscan")?,
        }
        if let Some(place) = &self.place {
            write!(f, " in `{place}`")?;
        }
        if let Some(source) = &self.source {
            write!(f, " at {source}")?;
        }
        write!(f, "; {}", self.advice())
    }
}

impl std::error::Error for Refusal {}

/// Where the instructions of a loop's step were written, as its [`Code`] has them.
pub(super) struct Written<'a> {
    places: &'a [Option<SourcePlace>],
    /// How many values there are once an instruction of the step is there.
    values: Vec<usize>,
}

impl<'a> Written<'a> {
    /// Of a step that is built anew in such code, which simplifies it.
    pub(super) fn new(step: &Function, places: &'a [Option<SourcePlace>], mut code: Code<'_>) -> Written<'a> {
        let mut values: Vec<Value> = (0..step.params.len()).map(Value::new).collect();
        let mut counts = Vec::new();
        for inst in &step.insts {
            values.push(code.push(inst.map_operands(|operand| values[operand.index()])));
            counts.push(code.function().value_count());
        }
        Written { places, values: counts }
    }

    /// Where the instruction that made this value was written, if that is known.
    fn place(&self, value: Value) -> Option<SourcePlace> {
        let first = self.values.partition_point(|&count| count <= value.index());
        self.places.get(first).cloned().flatten()
    }
}

/// The operation nearest to the element that says most about why no family has the group.
fn worst(code: &Code<'_>, mask: Components, members: &[usize], next: &[Value], flat: &Flat) -> (Why, Option<Value>) {
    let mut used = vec![false; code.function().value_count()];
    let mut open: Vec<Value> = members.iter().map(|&member| next[member]).collect();
    while let Some(value) = open.pop() {
        if code.depends(value) & mask != 0 && !std::mem::replace(&mut used[value.index()], true) {
            open.extend(code.inst(value).iter().flat_map(|inst| inst.operands().to_vec()));
        }
    }
    let unknown = |value: Value| code.depends(value) & mask != 0;
    let all = || (0..used.len()).filter(|&place| used[place]).map(Value::new);
    let insts = || all().filter_map(|value| Some((value, code.inst(value)?)));
    if code.grows {
        let scales = |inst: &Inst| inst.ty.is_float() && matches!(inst.opcode, Opcode::Mul | Opcode::Div);
        // A state that meets itself in a sum is a multiple too.
        let is_sum = |inst: &Inst| matches!(inst.opcode, Opcode::Add | Opcode::Sub);
        let meets = |inst: &Inst| is_sum(inst) && inst.operands().iter().all(|&x| unknown(x));
        let at = insts().find(|(_, inst)| scales(inst)).or_else(|| insts().find(|(_, inst)| meets(inst)));
        return (Why::Growth, at.map(|(value, _)| value));
    }
    // Why an operation of operands that are known or not leaves every family.
    type Reason = fn(Opcode, &[bool]) -> Option<Why>;
    let kinds: [Reason; 5] = [
        |opcode, unknown| {
            use Opcode::*;
            let ordinary = matches!(
                opcode,
                Add | Sub | Mul | Div | Neg | Abs | Min | Max | AddSat | SubSat | And | Or | Xor | Not | Select | Rem
            ) || matches!(
                opcode,
                Shl | Shr | Cast | RotateLeft | RotateRight | Eq | Ne | Lt | Le | Gt | Ge | Table
            );
            (!ordinary && unknown.contains(&true)).then_some(Why::Operation(opcode))
        },
        |opcode, unknown| {
            let square = matches!(opcode, Opcode::Mul | Opcode::MulAdd) && unknown.starts_with(&[true, true]);
            square.then_some(Why::Square)
        },
        |opcode, unknown| (opcode == Opcode::Div && unknown.get(1) == Some(&true)).then_some(Why::Quotient),
        |opcode, unknown| (opcode == Opcode::Select && unknown[0]).then_some(Why::Branch),
        |opcode, unknown| (opcode == Opcode::Table && unknown[0]).then_some(Why::States),
    ];
    for kind in kinds {
        let hit = insts().find_map(|(value, inst)| {
            let operands: Vec<bool> = inst.operands().iter().map(|&operand| unknown(operand)).collect();
            kind(inst.opcode, &operands).map(|why| (why, Some(value)))
        });
        if let Some(hit) = hit {
            return hit;
        }
    }
    let last = |test: &dyn Fn(Opcode) -> bool| insts().filter(|(_, inst)| test(inst.opcode)).last();
    let is_word = |opcode| {
        matches!(
            opcode,
            Opcode::Xor | Opcode::RotateLeft | Opcode::RotateRight | Opcode::Shr | Opcode::And | Opcode::Or
        )
    };
    let words = insts().any(|(_, inst)| is_word(inst.opcode) && inst.ty.is_int());
    let numbers = insts().any(|(_, inst)| matches!(inst.opcode, Opcode::Add | Opcode::Mul) && inst.ty.is_int());
    let unlike_integers = flat.overflows.reason(mask);
    let is_alone = insts().all(|(_, inst)| !is_word(inst.opcode) || inst.opcode == Opcode::And);
    let remainder = last(&|opcode| opcode == Opcode::Rem || opcode == Opcode::And && numbers && is_alone);
    if let Some((value, inst)) = remainder
        && let Some(why) = of_remainder(code, &inst, members, flat)
    {
        return (why, Some(value));
    }
    if words && numbers {
        return (Why::Mixed, last(&|_| true).map(|(value, _)| value));
    }
    let bounds = |opcode| matches!(opcode, Opcode::Min | Opcode::Max | Opcode::AddSat | Opcode::SubSat);
    if let Some(((value, _), why)) = last(&bounds).zip(unlike_integers) {
        return (why, Some(value));
    }
    if let Some((value, _)) =
        last(&|opcode| matches!(opcode, Opcode::Eq | Opcode::Ne | Opcode::Lt | Opcode::Le | Opcode::Gt | Opcode::Ge))
    {
        return (Why::Compared, Some(value));
    }
    if let Some((value, inst)) = last(&|opcode| matches!(opcode, Opcode::Min | Opcode::Max | Opcode::Abs)) {
        let beside = |inst: &Inst| match inst.opcode {
            Opcode::Mul | Opcode::Div => inst.ty.is_int(),
            opcode => is_word(opcode) || matches!(opcode, Opcode::Cast | Opcode::Not | Opcode::Shl),
        };
        if let Some((value, inst)) = insts().rfind(|(_, inst)| beside(inst)) {
            return (Why::Beside(inst.opcode), Some(value));
        }
        let too_wide = is_closed_but_for_width(insts().map(|(_, inst)| inst), members.len() == 1, unknown);
        return (if too_wide { Why::Type(inst.ty) } else { Why::Bends }, Some(value));
    }
    // Sums and products are in families; what is beside them is what is not.
    let odd = last(&|opcode| !matches!(opcode, Opcode::Add | Opcode::Sub | Opcode::Mul | Opcode::Neg));
    match (members.len(), odd.or_else(|| insts().next_back())) {
        (1, Some((value, inst))) => (Why::Operation(inst.opcode), Some(value)),
        _ => (Why::Several, None),
    }
}

/// Why a remainder has no family. None if the operation is none: a mask of other bits than the low ones.
fn of_remainder(code: &Code<'_>, inst: &Inst, members: &[usize], flat: &Flat) -> Option<Why> {
    let by = inst.operands().iter().find_map(|&operand| code.constant_of(operand)).map(|constant| constant.as_int());
    let modulus = match inst.opcode {
        Opcode::And => Some(by.filter(|by| *by > 0 && by & (by + 1) == 0)? + 1),
        _ => by,
    };
    if !inst.ty.is_int() || members.len() > 1 {
        return Some(Why::Operation(inst.opcode));
    }
    let Some(modulus) = modulus.filter(|modulus| (1..=LARGEST_MODULUS).contains(modulus)) else {
        return Some(Why::Modulus);
    };
    let is_power = modulus & (modulus - 1) == 0;
    Some(match flat.overflows.reason(1 << members[0]) {
        _ if !(0..modulus).contains(&flat.initial[members[0]].as_int()) => Why::Start { modulus: modulus as u64 },
        Some(why) if !is_power => why,
        _ if inst.ty.is_signed() && inst.opcode == Opcode::Rem => Why::Negative,
        _ => Why::Operation(inst.opcode),
    })
}

/// Whether these are sums under bounds that would have a family if they had fewer than 64 bits: one component of which each
/// operation takes one value, or maxima alone, or minima alone, of several.
fn is_closed_but_for_width(
    mut insts: impl Iterator<Item = Inst>,
    is_single: bool,
    unknown: impl Fn(Value) -> bool,
) -> bool {
    let mut bounds = [false; 2];
    insts.all(|inst| {
        let operands: Vec<bool> = inst.operands().iter().map(|&operand| unknown(operand)).collect();
        let is_of_one = operands != [true, true];
        let has_family = match inst.opcode {
            Opcode::Add => is_of_one,
            Opcode::Sub => is_of_one && (is_single || operands == [true, false]),
            Opcode::Min | Opcode::Max => {
                bounds[(inst.opcode == Opcode::Max) as usize] = true;
                if is_single { is_of_one } else { bounds != [true, true] }
            }
            _ => false,
        };
        has_family && matches!(inst.ty, Type::I64 | Type::U64)
    })
}
