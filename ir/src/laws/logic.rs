//! Normal forms of logic: boolean polynomials, comparisons, and what a `select` comes to.

use super::elements::{Element, Elements, GaveUp, Id, Name};
use super::polynomial::{Atom, Polynomial, Ring};
use crate::function::{Inst, Payload};
use crate::opcode::Opcode;
use crate::types::{Constant, Type};

impl Elements<'_> {
    pub(super) fn bitwise(&mut self, opcode: Opcode, x: &[Id]) -> Result<Id, GaveUp> {
        let ty = self.ty(x[0]);
        let ring = Ring::bits(ty).ok_or(GaveUp::TooLarge)?;
        let ones = Polynomial::constant(ty.mask());
        let a = self.bits(x[0], ring);
        let b = x.get(1).map_or(ones.clone(), |&id| self.bits(id, ring));
        self.spend(a.terms.len() * b.terms.len())?;
        let result = match opcode {
            Opcode::And => a.multiply(&b, ring),
            Opcode::Or => {
                let both = a.multiply(&b, ring).ok_or(GaveUp::TooLarge)?;
                a.add(&b, ring).and_then(|sum| sum.add(&both, ring))
            }
            _ => a.add(&b, ring),
        };
        self.of_bits(ty, result.ok_or(GaveUp::TooLarge)?, ring)
    }

    pub(super) fn bits(&mut self, id: Id, ring: Ring) -> Polynomial {
        match &self.elements[id as usize].1 {
            Element::Constant(constant) => Polynomial::constant(constant.bits()),
            Element::Bits(polynomial) => polynomial.clone(),
            _ => {
                let atom = self.as_atom(id);
                Polynomial::atom(atom, ring)
            }
        }
    }

    pub(super) fn of_bits(&mut self, ty: Type, polynomial: Polynomial, ring: Ring) -> Result<Id, GaveUp> {
        self.spend(1 + polynomial.terms.len())?;
        if let Some(bits) = polynomial.as_constant() {
            return Ok(self.constant(Constant::new(ty, bits)));
        }
        if let Some(atom) = polynomial.as_atom(ring) {
            return Ok(self.of_atom(atom));
        }
        self.means.bits = true;
        Ok(self.intern(ty, Element::Bits(polynomial)))
    }

    pub(super) fn not(&mut self, id: Id) -> Result<Id, GaveUp> {
        self.bitwise(Opcode::Not, &[id])
    }

    /// Comparisons reduced to `eq`, `lt` and, for floats, `le`.
    pub(super) fn compare(&mut self, inst: &Inst, x: &[Id]) -> Result<Id, GaveUp> {
        let (a, b) = (x[0], x[1]);
        let ty = self.ty(a);
        let total = !ty.is_float() || !self.assume.nan;
        let with = |opcode| Inst::new(opcode, Type::Bool, &[], Payload::None);
        match inst.opcode {
            Opcode::Eq if a == b && total => Ok(self.constant(Constant::from(true))),
            Opcode::Lt if a == b => Ok(self.constant(Constant::from(false))),
            Opcode::Eq if ty == Type::Bool => {
                let different = self.bitwise(Opcode::Xor, x)?;
                self.not(different)
            }
            Opcode::Lt if ty == Type::Bool => {
                let unset = self.not(a)?;
                self.bitwise(Opcode::And, &[unset, b])
            }
            Opcode::Eq | Opcode::Lt => self.operation(&with(inst.opcode), x),
            Opcode::Ne => {
                let equal = self.compare(&with(Opcode::Eq), x)?;
                self.not(equal)
            }
            Opcode::Gt => self.compare(&with(Opcode::Lt), &[b, a]),
            Opcode::Ge => self.compare(&with(Opcode::Le), &[b, a]),
            _ if total => {
                let above = self.compare(&with(Opcode::Lt), &[b, a])?;
                self.not(above)
            }
            _ => self.operation(&with(Opcode::Le), x),
        }
    }

    pub(super) fn select(&mut self, x: &[Id]) -> Result<Id, GaveUp> {
        let (condition, yes, no) = (x[0], x[1], x[2]);
        if yes == no {
            return Ok(yes);
        }
        if let Some(known) = self.as_constant(condition) {
            return Ok(if known.bits() != 0 { yes } else { no });
        }
        let ty = self.ty(yes);
        if ty == Type::Bool {
            let unset = self.not(condition)?;
            let (a, b) = (self.bitwise(Opcode::And, &[condition, yes])?, self.bitwise(Opcode::And, &[unset, no])?);
            return self.bitwise(Opcode::Xor, &[a, b]);
        }
        if let Some(extreme) = self.select_extreme(condition, yes, no)? {
            return Ok(extreme);
        }
        let ring = Ring::Bits(1);
        let first = self.bits(condition, ring).terms.iter().find_map(|(monomial, _)| monomial.first().copied());
        self.undecided = self.undecided.or(first);
        let flag = |atom: Atom| matches!(self.names[atom as usize].1, Name::Variable(_));
        if first.is_some_and(flag) {
            // A flag of a state has to be told apart sooner or later; the rest of this run would be in vain.
            return Err(GaveUp::Undecided);
        }
        self.operation(&Inst::new(Opcode::Select, ty, &[], Payload::None), x)
    }

    /// `a < b ? a : b` is a minimum, where no NaN occurs.
    pub(super) fn select_extreme(&mut self, condition: Id, yes: Id, no: Id) -> Result<Option<Id>, GaveUp> {
        let ty = self.ty(yes);
        if ty.is_vector() || (ty.is_float() && self.assume.nan) {
            return Ok(None);
        }
        let less = |elements: &Elements<'_>, id: Id| match &elements.elements[id as usize].1 {
            Element::Atom(atom) => match &elements.names[*atom as usize].1 {
                Name::Operation(Opcode::Lt, _, x) => Some((x[0], x[1])),
                _ => None,
            },
            _ => None,
        };
        let (order, flipped) = match less(self, condition) {
            Some(order) => (Some(order), false),
            None => {
                let negated = self.not(condition)?;
                (less(self, negated), true)
            }
        };
        let (yes, no) = if flipped { (no, yes) } else { (yes, no) };
        match order {
            Some((a, b)) if (a, b) == (yes, no) => self.extreme(Opcode::Min, a, b).map(Some),
            Some((a, b)) if (a, b) == (no, yes) => self.extreme(Opcode::Max, a, b).map(Some),
            _ => Ok(None),
        }
    }
}
