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
use std::hash::{BuildHasherDefault, Hasher};

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

/// Hashes a word a step. Keys are made by this file, a few thousand of them, so nobody can make them collide for long.
#[derive(Default)]
struct WordHasher(u64);

impl Hasher for WordHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0xf135_7aea_2e62_a9c5);
        self.0 ^= self.0 >> 32;
    }

    fn write_u8(&mut self, word: u8) {
        self.write_u64(word as u64);
    }

    fn write_u32(&mut self, word: u32) {
        self.write_u64(word as u64);
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }
}

type Interned<K, V> = HashMap<K, V, BuildHasherDefault<WordHasher>>;

pub(crate) struct Elements<'a> {
    tables: &'a [Table],
    pub(crate) assume: Assumptions,
    pub(super) elements: Vec<(Type, Element)>,
    numbers: Interned<(Type, Element), Id>,
    pub(super) names: Vec<(Type, Name)>,
    atoms: Interned<(Type, Name), Atom>,
    /// The values of atoms of type `bool` in the present case.
    pub(crate) case: HashMap<Atom, bool>,
    /// A `bool` on which a `select` hung.
    pub(crate) undecided: Option<Atom>,
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
