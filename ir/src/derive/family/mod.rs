//! Families: sets of functions of an unknown state that are closed under composition.
//!
//! A family is an abstract domain. Each value of a step is either *known*, computed from the
//! element and from components of earlier levels, or a *form*: a function of the unknown components
//! with known coefficients. An operation takes forms to a form, or leaves the family. The forms of
//! the next state are the lift: they say what the element does to any state.
//!
//! A family gives an [`Effect`]: the state of a stage that holds the coefficients, and how two of
//! them compose. A state of the loop is a constant function, so it is such a state too
//! ([`Effect::seed`]), and can be read from it again ([`Effect::value`]).
//!
//! A file each: `moves`, `restart`, `table` with `cases` and `numbering`, `clamp` and `ramp` (in
//! the loop's own type), `matrix` and `product` (affine and tropical vectors), `modular` with
//! `moduli`, `bits`, `interval` (maxima and minima of products), `quotient`, `linear` (matrices of
//! bits). `ends` has the fold of a bounded sum in the loop's own type.

mod bits;
mod cases;
mod clamp;
mod ends;
mod interval;
mod linear;
mod matrix;
mod modular;
mod moduli;
mod moves;
mod numbering;
mod pattern;
mod product;
mod quotient;
mod ramp;
mod restart;
mod table;

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::code::{Code, Components};
use super::refusal::{Leave, Why};
use crate::builder::FunctionBuilder;
use crate::function::{Function, Inst, Value};
use crate::opcode::Opcode;
use crate::program::Table;
use crate::types::{Constant, Type};

pub(super) use ends::Ends;
pub(crate) use matrix::ABSENT;
pub(crate) use modular::MOST as LARGEST_MODULUS;

/// Lanes of a vector.
const LANES: usize = 16;

/// A closed family of functions of the state, for explanations. `u` is the state before.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Family {
    /// A known value whatever the state was: the last one.
    Last,
    /// The state before, or a known value.
    Latch,
    /// Each component is one of the components before, or a known value.
    Moves,
    /// u ⊕ k for this operation; if it restarts, k where the element says so.
    Accumulate {
        /// ⊕
        operation: Opcode,
        /// Whether elements may start it again.
        restarts: bool,
    },
    /// A map of a few states to themselves.
    Table {
        /// How many.
        states: usize,
    },
    /// min(max(a·u + b, lower), upper).
    Clamp {
        /// Whether a is not 1.
        scaled: bool,
        /// Whether there is a lower bound.
        lower: bool,
        /// Whether there is an upper bound.
        upper: bool,
    },
    /// A·u + b.
    Affine {
        /// How many components.
        components: usize,
        /// Whether A is the same for all elements.
        constant: bool,
    },
    /// u_i = max_j (a_ij + u_j), b_i; or with minima.
    Tropical {
        /// How many components.
        components: usize,
        /// Maxima, or minima.
        maxima: bool,
    },
    /// (a·u + b) mod m.
    Modular {
        /// m
        modulus: u64,
        /// Whether a is not 1.
        scaled: bool,
    },
    /// (u & a) ^ b.
    Bits,
    /// The larger and the smaller end of a·[u₁, u₂] and b.
    Interval,
    /// (a·u + b) / (c·u + d).
    Quotient,
    /// M·u ^ b, for a constant matrix M of bits.
    Linear,
}

/// The contribution of a group of components to a stage.
#[derive(Clone, Debug)]
pub(super) struct Effect {
    pub(super) family: Family,
    pub(super) types: Vec<Type>,
    pub(super) identity: Vec<Constant>,
    /// The coefficients for an element: values of the derivation's [`Code`].
    pub(super) lift: Vec<Value>,
    /// (earlier, later) → composed.
    pub(super) combine: Function,
    /// Components of the loop → the constant function.
    pub(super) seed: Function,
    /// A constant function → components of the loop.
    pub(super) value: Function,
    /// State → one `bool`: which states occur; none if all do. A stage says so only where its laws need it.
    pub(super) valid: Option<Function>,
    /// The tables of these functions, by their place here; those of the loop itself are not among them.
    pub(super) tables: Vec<Table>,
}

impl Effect {
    /// Its cost: bytes of the state, halved, and instructions of one composition and of the lift. Spare lanes of a map cost nothing.
    pub(super) fn cost(&self, code: &Code<'_>) -> usize {
        let bytes = match self.family {
            Family::Table { states } => states,
            _ => self.types.iter().map(|ty| ty.size()).sum(),
        };
        let work = |function: &Function| {
            function.insts.iter().filter(|inst| !matches!(inst.opcode, Opcode::Const | Opcode::Cast)).count()
        };
        bytes / 2 + work(&self.combine) + work(&code.extract(&self.lift))
    }
}

/// The components of a loop that depend on each other, while a family is tried on them.
pub(super) struct Group<'a, 't> {
    pub(super) code: &'a mut Code<'t>,
    /// Their numbers, in order.
    pub(super) members: &'a [usize],
    /// The types of all components of the loop.
    pub(super) types: &'a [Type],
    /// The next value of each component of the loop.
    pub(super) next: &'a [Value],
    pub(super) initial: &'a [Constant],
    /// Whether the step wraps on the way to a member, so that it is no function over the integers.
    pub(super) wraps: bool,
    /// The conditions that every arm is in which a value of the step is used in, once a family was tried.
    pub(super) assumed: Option<Rc<Assumed>>,
}

/// Conditions that hold, or do not, where a value is used; none are left out.
pub(super) type Assumed = FxHashMap<Value, Vec<(Value, bool)>>;

/// An operand of an operation that depends on the group's components.
pub(super) enum Operand<F> {
    Known(Value),
    Form(Result<F, Leave>),
}

impl<F: Clone> Operand<F> {
    pub(super) fn form(&self) -> Result<F, Leave> {
        match self {
            Operand::Known(_) => unreachable!("the operand depends on the state"),
            Operand::Form(form) => form.clone(),
        }
    }

    pub(super) fn known(&self) -> Option<Value> {
        match self {
            Operand::Known(value) => Some(*value),
            Operand::Form(_) => None,
        }
    }
}

/// The abstract domain of a family.
pub(super) trait Domain {
    /// A function of the group's components.
    type Form: Clone;

    /// The constant function.
    fn known(&self, code: &mut Code<'_>, value: Value) -> Result<Self::Form, Leave>;

    /// A component as it was.
    fn component(&self, code: &mut Code<'_>, place: usize) -> Self::Form;

    /// One of two, by a known condition.
    fn select(
        &self,
        code: &mut Code<'_>,
        condition: Value,
        yes: Self::Form,
        no: Self::Form,
    ) -> Result<Self::Form, Leave>;

    /// Any other operation, at least one of whose operands is no known value.
    fn operation(
        &self,
        code: &mut Code<'_>,
        inst: &Inst,
        operands: &[Operand<Self::Form>],
    ) -> Result<Self::Form, Leave>;
}

impl<'t> Group<'_, 't> {
    pub(super) fn mask(&self) -> Components {
        self.members.iter().fold(0, |mask, &member| mask | 1 << member)
    }

    /// The type of all members, if they have one.
    pub(super) fn one_type(&self) -> Option<Type> {
        let ty = self.types[*self.members.first()?];
        self.members.iter().all(|&member| self.types[member] == ty).then_some(ty)
    }

    /// The only member.
    pub(super) fn single(&self) -> Result<usize, Leave> {
        match *self.members {
            [member] => Ok(member),
            _ => Err(Leave),
        }
    }

    /// The forms of the members' next values. Takes time linear in the step's instructions.
    pub(super) fn forms<D: Domain>(&mut self, domain: &D) -> Result<Vec<D::Form>, Leave> {
        let mask = self.mask();
        self.code.fuel.spend(self.code.function().value_count());
        if self.code.fuel.is_spent() {
            return Err(Leave);
        }
        let results: Vec<Value> = self.members.iter().map(|&member| self.next[member]).collect();
        let mut needed = vec![false; self.code.function().value_count()];
        let mut open = results.clone();
        while let Some(value) = open.pop() {
            if std::mem::replace(&mut needed[value.index()], true) || self.code.depends(value) & mask == 0 {
                continue;
            }
            open.extend(self.code.inst(value).iter().flat_map(|inst| inst.operands().to_vec()));
        }
        let assumed = self.assumed.get_or_insert_with(|| Rc::new(assumed(self.code, &results, &needed))).clone();
        let mut forms: FxHashMap<Value, Result<D::Form, Leave>> = FxHashMap::default();
        for place in (0..needed.len()).filter(|&place| needed[place]) {
            let value = Value::new(place);
            if self.code.depends(value) & mask == 0 {
                continue;
            }
            if self.code.fuel.is_spent() {
                break;
            }
            let Some(inst) = self.code.inst(value) else {
                let place = self.members.iter().position(|&member| member == place).expect("it is a member");
                let form = domain.component(self.code, place);
                forms.insert(value, Ok(form));
                continue;
            };
            let operands = inst.operands().iter().map(|operand| match forms.get(operand) {
                Some(form) => Operand::Form(form.clone()),
                None => Operand::Known(*operand),
            });
            let operands: Vec<Operand<D::Form>> = operands.collect();
            self.code.assumed = assumed.get(&value).cloned().unwrap_or_default();
            let form = self.form(domain, &inst, &operands);
            forms.insert(value, form);
        }
        self.code.assumed.clear();
        if self.code.fuel.is_spent() {
            return Err(Leave);
        }
        let form = |result: &Value| match forms.get(result) {
            Some(form) => form.clone(),
            None => domain.known(self.code, *result),
        };
        results.iter().map(form).collect()
    }

    fn form<D: Domain>(&mut self, domain: &D, inst: &Inst, operands: &[Operand<D::Form>]) -> Result<D::Form, Leave> {
        if let (Opcode::Select, [Operand::Known(condition), yes, no]) = (inst.opcode, operands) {
            let mut arm = |operand: &Operand<D::Form>, holds: bool| match operand {
                Operand::Known(value) => {
                    self.code.assumed.push((*condition, holds));
                    let form = domain.known(self.code, *value);
                    self.code.assumed.pop();
                    form
                }
                Operand::Form(form) => form.clone(),
            };
            let (yes, no) = (arm(yes, true)?, arm(no, false)?);
            return domain.select(self.code, *condition, yes, no);
        }
        domain.operation(self.code, inst, operands)
    }
}

/// The conditions that every arm is in which one of these values is used in, on the way to the results.
fn assumed(code: &Code<'_>, results: &[Value], needed: &[bool]) -> Assumed {
    let mut assumed: Assumed = results.iter().map(|&result| (result, Vec::new())).collect();
    for value in (0..needed.len()).rev().filter(|&place| needed[place]).map(Value::new) {
        let (Some(inst), Some(own)) = (code.inst(value), assumed.get(&value).cloned()) else { continue };
        for (place, &operand) in inst.operands().iter().enumerate() {
            let mut all = own.clone();
            if inst.opcode == Opcode::Select && place > 0 {
                all.push((inst.operands()[0], place == 1));
            }
            let shared = |known: &mut Vec<(Value, bool)>| {
                let count = known.iter().zip(&all).take_while(|(a, b)| a == b).count();
                known.truncate(count);
            };
            assumed.entry(operand).and_modify(shared).or_insert(all);
        }
    }
    assumed.retain(|_, conditions| !conditions.is_empty());
    assumed
}

/// The cheapest family that has the group, if any has.
pub(super) fn classify(group: &mut Group<'_, '_>) -> Option<Effect> {
    if group.code.fuel.is_spent() {
        return None;
    }
    // Moves are exact for every type, and nothing costs less.
    if let Ok(moves) = moves::recognise(group) {
        return Some(moves);
    }
    let mut found = Vec::new();
    found.extend(restart::OPERATIONS.iter().filter_map(|&operation| restart::recognise(group, operation).ok()));
    found.extend(bits::recognise(group).ok());
    // These take any state to begin with; a table takes those that are reached, which of truth values are all.
    let takes_any =
        |effect: &Effect| matches!(effect.family, Family::Accumulate { restarts: false, .. } | Family::Bits);
    if !found.iter().any(takes_any) || group.one_type() == Some(Type::Bool) {
        found.extend(table::recognise(group).ok());
    }
    found.extend(matrix::affine(group).ok());
    if !group.wraps {
        found.extend(clamp::recognise(group).or_else(|_| ramp::recognise(group)).ok());
        found.extend(matrix::max_plus(group).ok());
        found.extend(matrix::min_plus(group).ok());
    }
    let moduli = moduli::candidates(group);
    found.extend(moduli.into_iter().filter_map(|modulus| modular::recognise(group, modulus).ok()));
    let cheapest = found.into_iter().min_by_key(|effect| effect.cost(group.code));
    // A sum with both bounds has a state half as wide in the loop's own type.
    let cheapest = cheapest.map(|effect| match effect.family {
        Family::Clamp { scaled: false, lower: true, upper: true } => ramp::recognise(group).unwrap_or(effect),
        _ => effect,
    });
    // What others have is theirs: these compose by more work.
    let mut costly = [interval::recognise, quotient::recognise, linear::recognise].into_iter();
    cheapest.or_else(|| costly.find_map(|recognise| recognise(group).ok()))
}

/// Why a family that has every operation of a group has not the group. Of a group that no family has, this says most.
pub(super) fn all_but(group: &mut Group<'_, '_>) -> Option<Why> {
    [clamp::all_but, linear::all_but, matrix::all_but].into_iter().find_map(|reason| reason(group))
}

/// The fold of a group in the loop's own numbers, if its family has one.
pub(super) fn own_fold(group: &mut Group<'_, '_>, effect: &Effect) -> Option<Ends> {
    ends::of_group(group, effect)
}

/// A function of parameters of these types.
fn seeded(types: &[Type], body: impl FnOnce(&mut FunctionBuilder, &[Value]) -> Vec<Value>) -> Function {
    let mut b = FunctionBuilder::new();
    let params = b.params(types);
    let results = body(&mut b, &params);
    b.finish(&results)
}

/// The group as a table, if it is one.
pub(super) fn table_of(group: &mut Group<'_, '_>) -> Option<Effect> {
    table::recognise(group).ok()
}
