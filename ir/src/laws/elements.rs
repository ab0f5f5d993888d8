//! Normal forms of values: what the symbolic proofs compute with.
//!
//! Every value of a function becomes an *element*: a constant, an atom, a polynomial, a boolean
//! polynomial or a lattice of such. Elements are interned, so that two values are proved equal by
//! having one number. What no normal form understands becomes an atom that is named by its opcode
//! and its operands: equal operands, equal result.
//!
//! An atom of type `bool` that decides a `select` is remembered; the proof may go on by cases on
//! it.

use std::collections::{BTreeSet, HashMap};

use rustc_hash::FxHashMap;

use super::polynomial::{Atom, Polynomial, Ring};
use super::tropical::Lattice;
use crate::eval::evaluate;
use crate::function::{Function, Inst, Payload};
use crate::opcode::{Opcode, Rule};
use crate::program::Table;
use crate::types::{Constant, Type};

/// The number of an element.
pub(crate) type Id = u32;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Element {
    Constant(Constant),
    Atom(Atom),
    Sum(Polynomial),
    Bits(Polynomial),
    Lattice(Lattice),
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Name {
    /// A component of one of the states.
    Variable(u32),
    /// An element that the surrounding polynomial does not look into.
    Whole(Id),
    /// An operation on elements.
    Operation(Opcode, Payload, Vec<Id>),
}

/// The kinds of reasoning that a proof used, for its verdict.
#[derive(Clone, PartialEq, Eq, Debug, Default, PartialOrd, Ord)]
pub struct Means {
    /// Polynomials modulo 2^k, for these k.
    pub integers: BTreeSet<u32>,
    /// Polynomials over the reals.
    pub reals: bool,
    /// `and`, `or`, `xor`, `not`, bit by bit.
    pub bits: bool,
    /// Minima.
    pub minima: bool,
    /// Maxima.
    pub maxima: bool,
    /// Sums inside minima or maxima, exact where no integer overflows.
    pub no_overflow: bool,
}

/// Assumptions that the operator allows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Assumptions {
    /// NaN occurs: `min` and `max` skip it, so they no longer distribute over each other.
    pub(crate) nan: bool,
    /// Both infinities occur, so that their sum does.
    pub(crate) both_infinities: bool,
    /// Unsigned integers are only added with saturation and compared by `min` and `max`: they behave as natural
    /// numbers that are cut off at the end.
    pub(crate) saturating: bool,
}

/// Why a run ended early.
#[derive(Debug)]
pub(crate) enum GaveUp {
    /// A normal form grew too large, or a constant would be rounded.
    TooLarge,
    /// A `select` hangs on a component of a state that the case leaves open.
    Undecided,
}

/// The two sides of an equation.
pub(crate) type Sides = (Vec<Id>, Vec<Id>);

/// Most cases of a proof.
const MAX_CASES: usize = 130;

pub(crate) struct Elements<'a> {
    tables: &'a [Table],
    pub(crate) assume: Assumptions,
    pub(super) elements: Vec<(Type, Element)>,
    numbers: FxHashMap<(Type, Element), Id>,
    pub(super) names: Vec<(Type, Name)>,
    atoms: FxHashMap<(Type, Name), Atom>,
    /// The values of atoms of type `bool` in the present case.
    case: HashMap<Atom, bool>,
    /// A `bool` on which a `select` hung.
    pub(super) undecided: Option<Atom>,
    pub(crate) means: Means,
    /// Work that is left before giving up.
    pub(crate) fuel: usize,
}

impl<'a> Elements<'a> {
    pub(crate) fn new(tables: &'a [Table], assume: Assumptions, fuel: usize) -> Elements<'a> {
        Elements {
            tables,
            assume,
            elements: Vec::new(),
            numbers: HashMap::default(),
            names: Vec::new(),
            atoms: HashMap::default(),
            case: HashMap::new(),
            undecided: None,
            means: Means::default(),
            fuel,
        }
    }

    /// The free variable with this number.
    pub(crate) fn variable(&mut self, ty: Type, number: u32) -> Id {
        let atom = self.atom(ty, Name::Variable(number));
        self.of_atom(atom)
    }

    pub(crate) fn constant(&mut self, constant: Constant) -> Id {
        let ty = constant.ty();
        let zero = ty.is_float() && constant.as_f64() == 0.0;
        self.intern(ty, Element::Constant(if zero { ty.zero() } else { constant }))
    }

    /// The value of a variable in the present case.
    pub(crate) fn in_case(&mut self, id: Id) -> Id {
        match self.elements[id as usize].1 {
            Element::Atom(atom) => self.of_atom(atom),
            _ => id,
        }
    }

    /// The results of a function on these arguments.
    pub(crate) fn call(&mut self, function: &Function, arguments: &[Id]) -> Result<Vec<Id>, GaveUp> {
        let mut values = arguments.to_vec();
        for inst in &function.insts {
            let operands: Vec<Id> = inst.operands().iter().map(|operand| values[operand.index()]).collect();
            self.spend(2)?;
            values.push(self.apply(inst, &operands)?);
        }
        Ok(function.results.iter().map(|result| values[result.index()]).collect())
    }

    /// Whether both sides of an equation are the same, in each case of the conditions that they hang on; and how many cases there
    /// are.
    pub(crate) fn by_cases(
        &mut self,
        sides: &mut dyn FnMut(&mut Self) -> Result<Sides, GaveUp>,
        cases: &mut usize,
    ) -> Result<bool, GaveUp> {
        *cases += 1;
        if *cases > MAX_CASES {
            return Err(GaveUp::TooLarge);
        }
        self.undecided = None;
        match sides(self) {
            Ok((left, right)) if left == right => return Ok(true),
            Err(GaveUp::TooLarge) => return Err(GaveUp::TooLarge),
            Ok(_) | Err(GaveUp::Undecided) => {}
        }
        let Some(atom) = self.undecided else { return Ok(false) };
        *cases -= 1;
        for known in [false, true] {
            self.case.insert(atom, known);
            if !self.by_cases(sides, cases)? {
                return Ok(false);
            }
        }
        self.case.remove(&atom);
        Ok(true)
    }

    /// Whether a `bool` is known in the present case: else the proof goes on by cases of it.
    pub(super) fn decide(&mut self, id: Id) -> Result<(), GaveUp> {
        if self.as_constant(id).is_some() {
            return Ok(());
        }
        self.undecided = Some(self.as_atom(id));
        Err(GaveUp::Undecided)
    }

    /// The two sides of an equality with a constant, which is the second of them.
    pub(super) fn as_equality(&self, id: Id) -> Option<(Id, Id)> {
        let Element::Atom(atom) = self.elements[id as usize].1 else { return None };
        let Name::Operation(Opcode::Eq, _, operands) = &self.names[atom as usize].1 else { return None };
        let &[a, b] = &operands[..] else { return None };
        let is_constant = |id: Id| self.as_constant(id).is_some();
        if is_constant(b) { Some((a, b)) } else { is_constant(a).then_some((b, a)) }
    }

    pub(super) fn spend(&mut self, work: usize) -> Result<(), GaveUp> {
        self.fuel = self.fuel.checked_sub(work).ok_or(GaveUp::TooLarge)?;
        Ok(())
    }

    pub(super) fn intern(&mut self, ty: Type, element: Element) -> Id {
        let next = self.elements.len() as Id;
        let key = (ty, element);
        if let Some(&id) = self.numbers.get(&key) {
            return id;
        }
        self.elements.push(key.clone());
        self.numbers.insert(key, next);
        next
    }

    pub(super) fn atom(&mut self, ty: Type, name: Name) -> Atom {
        let next = self.names.len() as Atom;
        let key = (ty, name);
        if let Some(&atom) = self.atoms.get(&key) {
            return atom;
        }
        self.names.push(key.clone());
        self.atoms.insert(key, next);
        next
    }

    pub(super) fn of_atom(&mut self, atom: Atom) -> Id {
        let (ty, name) = self.names[atom as usize].clone();
        match (self.case.get(&atom), name) {
            (Some(&known), _) => self.constant(Constant::from(known)),
            (None, Name::Whole(id)) => id,
            (None, _) => self.intern(ty, Element::Atom(atom)),
        }
    }

    pub(super) fn as_atom(&mut self, id: Id) -> Atom {
        match &self.elements[id as usize] {
            (_, Element::Atom(atom)) => *atom,
            &(ty, _) => self.atom(ty, Name::Whole(id)),
        }
    }

    pub(super) fn as_constant(&self, id: Id) -> Option<Constant> {
        match &self.elements[id as usize].1 {
            Element::Constant(constant) => Some(*constant),
            _ => None,
        }
    }

    pub(super) fn ty(&self, id: Id) -> Type {
        self.elements[id as usize].0
    }

    pub(super) fn apply(&mut self, inst: &Inst, x: &[Id]) -> Result<Id, GaveUp> {
        let from = x.first().map_or(inst.ty, |&id| self.ty(id));
        let known: Option<Vec<Constant>> = x.iter().map(|&id| self.as_constant(id)).collect();
        if let Some(known) = known
            && let Some(result) = evaluate(inst, &known, self.tables)
        {
            return Ok(self.constant(result));
        }
        let arithmetic = Ring::arithmetic(from).is_some();
        // Sums that are meant to wrap do not keep the order of their operands.
        if inst.payload == Payload::Wraps && x.iter().any(|&id| self.is_lattice(id)) {
            return self.operation(inst, x);
        }
        match inst.opcode {
            Opcode::Add if arithmetic => self.add(x[0], x[1]),
            Opcode::AddSat if self.saturates(from) => self.add(x[0], x[1]),
            Opcode::Sub if arithmetic => {
                let negated = self.negate(x[1])?;
                self.add(x[0], negated)
            }
            Opcode::Neg if arithmetic => self.negate(x[0]),
            Opcode::Mul => self.multiply(x[0], x[1]),
            Opcode::MulAdd => {
                let product = self.multiply(x[0], x[1])?;
                self.add(product, x[2])
            }
            Opcode::Div if from.is_float() => self.divide(x[0], x[1]),
            Opcode::Shl => match self.as_constant(x[1]) {
                Some(amount) => {
                    let factor = Constant::new(from, 1 << (amount.bits() as u32 % from.bits()));
                    let factor = self.constant(factor);
                    self.multiply(x[0], factor)
                }
                None => self.operation(inst, x),
            },
            Opcode::Min | Opcode::Max => self.extreme(inst.opcode, x[0], x[1]),
            Opcode::And | Opcode::Or | Opcode::Xor | Opcode::Not => self.bitwise(inst.opcode, x),
            Opcode::Select => self.select(x),
            opcode if matches!(opcode.rule(), Rule::Compare(_)) => self.compare(inst, x),
            _ => self.operation(inst, x),
        }
    }

    pub(super) fn operation(&mut self, inst: &Inst, x: &[Id]) -> Result<Id, GaveUp> {
        let mut operands = x.to_vec();
        if inst.opcode.is_commutative() {
            operands.sort_unstable();
        }
        let atom = self.atom(inst.ty, Name::Operation(inst.opcode, inst.payload, operands));
        Ok(self.of_atom(atom))
    }
}
