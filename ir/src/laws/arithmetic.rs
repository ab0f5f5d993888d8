//! Normal forms of arithmetic: polynomials, and minima and maxima of them.

use super::elements::{Element, Elements, GaveUp, Id};
use super::polynomial::{Polynomial, Ring};
use super::tropical::{Lattice, normal};
use crate::function::{Inst, Payload};
use crate::opcode::Opcode;
use crate::types::{Constant, Type};

impl Elements<'_> {
    pub(super) fn saturates(&self, ty: Type) -> bool {
        self.assume.saturating && ty.is_int() && !ty.is_signed()
    }

    /// The value as a polynomial of its type's arithmetic.
    pub(super) fn sum(&mut self, id: Id, ring: Ring) -> Polynomial {
        match &self.elements[id as usize].1 {
            Element::Constant(constant) if !constant.ty().is_float() => Polynomial::constant(constant.bits()),
            Element::Constant(constant) if constant.as_f64().is_finite() => {
                Polynomial::constant(constant.as_f64().to_bits() as u128)
            }
            Element::Sum(polynomial) => polynomial.clone(),
            _ => {
                let atom = self.as_atom(id);
                Polynomial::atom(atom, ring)
            }
        }
    }

    pub(super) fn of_sum(&mut self, ty: Type, polynomial: Polynomial, ring: Ring) -> Result<Id, GaveUp> {
        self.spend(1 + polynomial.terms.len())?;
        if let Some(coefficient) = polynomial.as_constant() {
            let constant = match ty {
                Type::F32 => Constant::from(f64::from_bits(coefficient as u64) as f32),
                _ => Constant::new(ty, coefficient),
            };
            if ty != Type::F32 || constant.as_f64() == f64::from_bits(coefficient as u64) {
                return Ok(self.constant(constant));
            }
        }
        if let Some(atom) = polynomial.as_atom(ring) {
            return Ok(self.of_atom(atom));
        }
        match ring {
            Ring::Integers(_) => drop(self.means.integers.insert(ty.bits())),
            _ => self.means.reals = true,
        }
        Ok(self.intern(ty, Element::Sum(polynomial)))
    }

    /// An infinity, or the end of a saturating type: added to anything, it stays.
    pub(super) fn absorbs(&self, id: Id) -> bool {
        self.as_constant(id).is_some_and(|constant| {
            let ty = constant.ty();
            let infinite = ty.is_float() && constant.as_f64().is_infinite() && !self.assume.both_infinities;
            infinite || (self.saturates(ty) && constant.bits() == ty.mask())
        })
    }

    pub(super) fn add(&mut self, a: Id, b: Id) -> Result<Id, GaveUp> {
        let ty = self.ty(a);
        if self.absorbs(a) || self.absorbs(b) {
            return Ok(if self.absorbs(a) { a } else { b });
        }
        if self.is_lattice(a) || self.is_lattice(b) {
            let (left, right) = (self.lattice(a), self.lattice(b));
            self.means.no_overflow |= ty.is_int() && !self.saturates(ty);
            let mut gave_up = false;
            let meets = left.map2(&right, &mut |x, y| match self.add_forms(ty, x, y) {
                Ok(id) => Some(id),
                Err(_) => {
                    gave_up = true;
                    None
                }
            });
            let meets = meets.filter(|_| !gave_up).ok_or(GaveUp::TooLarge)?;
            return self.of_meets(ty, meets);
        }
        self.add_forms(ty, a, b)
    }

    pub(super) fn add_forms(&mut self, ty: Type, a: Id, b: Id) -> Result<Id, GaveUp> {
        if self.absorbs(a) || self.absorbs(b) {
            return Ok(if self.absorbs(a) { a } else { b });
        }
        let ring = Ring::arithmetic(ty).ok_or(GaveUp::TooLarge)?;
        let (a, b) = (self.sum(a, ring), self.sum(b, ring));
        if self.saturates(ty) && [&a, &b].iter().any(|p| p.terms.iter().any(|term| term.1 > ty.mask() / 2)) {
            return Err(GaveUp::TooLarge);
        }
        let sum = a.add(&b, ring).ok_or(GaveUp::TooLarge)?;
        self.of_sum(ty, sum, ring)
    }

    pub(super) fn negate(&mut self, a: Id) -> Result<Id, GaveUp> {
        let ty = self.ty(a);
        let ring = Ring::arithmetic(ty).ok_or(GaveUp::TooLarge)?;
        if self.is_lattice(a) {
            return self.negate_lattice(ty, a);
        }
        if let Some(constant) = self.as_constant(a)
            && constant.ty().is_float()
        {
            let bits = constant.bits() ^ (1 << (ty.bits() - 1));
            return Ok(self.constant(Constant::new(ty, bits)));
        }
        let negated = self.sum(a, ring).negate(ring);
        self.of_sum(ty, negated, ring)
    }

    /// −max(min(a, b), …) = min(max(−a, −b), …).
    pub(super) fn negate_lattice(&mut self, ty: Type, a: Id) -> Result<Id, GaveUp> {
        self.means.no_overflow |= ty.is_int();
        let mut least = None;
        for meet in self.lattice(a).meets {
            let mut largest = None;
            for form in meet {
                let negated = self.negate(form)?;
                largest = Some(match largest {
                    None => negated,
                    Some(other) => self.extreme(Opcode::Max, other, negated)?,
                });
            }
            least = match (least, largest) {
                (Some(a), Some(b)) => Some(self.extreme(Opcode::Min, a, b)?),
                (one, other) => one.or(other),
            };
        }
        least.ok_or(GaveUp::TooLarge)
    }

    pub(super) fn multiply(&mut self, a: Id, b: Id) -> Result<Id, GaveUp> {
        let ty = self.ty(a);
        let Some(ring) = Ring::arithmetic(ty) else { return Err(GaveUp::TooLarge) };
        let (a, b) = (self.sum(a, ring), self.sum(b, ring));
        self.spend(a.terms.len() * b.terms.len())?;
        let product = a.multiply(&b, ring).ok_or(GaveUp::TooLarge)?;
        self.of_sum(ty, product, ring)
    }

    pub(super) fn divide(&mut self, a: Id, b: Id) -> Result<Id, GaveUp> {
        let ty = self.ty(a);
        let divisor = self.as_constant(b).map_or(0.0, Constant::as_f64);
        let power_of_two = divisor.is_normal() && divisor.to_bits() << 12 == 0;
        if power_of_two && (1.0 / divisor).is_normal() {
            let ring = Ring::Reals;
            let factor = Polynomial::constant((1.0 / divisor).to_bits() as u128);
            let quotient = self.sum(a, ring).multiply(&factor, ring).ok_or(GaveUp::TooLarge)?;
            return self.of_sum(ty, quotient, ring);
        }
        let inst = Inst::new(Opcode::Div, ty, &[], Payload::None);
        self.operation(&inst, &[a, b])
    }

    pub(super) fn is_lattice(&self, id: Id) -> bool {
        matches!(self.elements[id as usize].1, Element::Lattice(_))
    }

    pub(super) fn lattice(&self, id: Id) -> Lattice {
        match &self.elements[id as usize].1 {
            Element::Lattice(lattice) => lattice.clone(),
            _ => Lattice::form(id),
        }
    }

    pub(super) fn of_meets(&mut self, ty: Type, meets: Vec<Vec<Id>>) -> Result<Id, GaveUp> {
        let work: usize = meets.iter().map(Vec::len).sum();
        self.spend(4 * work * meets.len())?;
        let lattice = normal(meets, &|a, b| self.at_most(a, b)).ok_or(GaveUp::TooLarge)?;
        self.of_lattice(ty, lattice)
    }

    pub(super) fn of_lattice(&mut self, ty: Type, lattice: Lattice) -> Result<Id, GaveUp> {
        self.spend(1 + lattice.meets.len())?;
        self.means.maxima |= lattice.meets.len() > 1;
        self.means.minima |= lattice.meets.iter().any(|meet| meet.len() > 1);
        // With NaN, `min` and `max` of floats are each associative, but do not distribute.
        if self.assume.nan && ty.is_float() && lattice.meets.len() > 1 && lattice.meets.iter().any(|m| m.len() > 1) {
            return Err(GaveUp::TooLarge);
        }
        Ok(match lattice.as_form() {
            Some(form) => form,
            None => self.intern(ty, Element::Lattice(lattice)),
        })
    }

    pub(super) fn extreme(&mut self, opcode: Opcode, a: Id, b: Id) -> Result<Id, GaveUp> {
        let ty = self.ty(a);
        let (left, right) = (self.lattice(a), self.lattice(b));
        self.spend(4 * (left.meets.len() + 1) * (right.meets.len() + 1))?;
        let at_most = |a, b| self.at_most(a, b);
        let lattice = match opcode {
            Opcode::Max => left.join(&right, &at_most),
            _ => left.meet(&right, &at_most),
        };
        // Absorption may have hidden which of the two it was.
        self.means.maxima |= opcode == Opcode::Max;
        self.means.minima |= opcode == Opcode::Min;
        self.of_lattice(ty, lattice.ok_or(GaveUp::TooLarge)?)
    }

    /// Whether one form is never above another: a strict order, and a sound part of the true one.
    pub(super) fn at_most(&self, a: Id, b: Id) -> bool {
        let ty = self.ty(a);
        if a == b || ty.is_vector() || (ty.is_float() && self.assume.nan) {
            return false;
        }
        let value = |id: Id| self.as_constant(id).map(|c| if ty.is_float() { c.as_f64() } else { c.as_int() as f64 });
        let (lowest, highest) = bounds(ty);
        match (value(a), value(b)) {
            (Some(_), Some(_)) if !ty.is_float() => {
                self.as_constant(a).map(Constant::as_int) < self.as_constant(b).map(Constant::as_int)
            }
            (Some(x), Some(y)) => x < y,
            (Some(x), None) => x == lowest && self.is_end(a),
            (None, Some(y)) => y == highest && self.is_end(b),
            (None, None) => false,
        }
    }

    pub(super) fn is_end(&self, id: Id) -> bool {
        self.as_constant(id).is_some_and(|constant| {
            let (ty, bits) = (constant.ty(), constant.bits());
            let sign = 1 << (ty.bits() - 1);
            match ty {
                _ if ty.is_float() => constant.as_f64().is_infinite(),
                _ if ty.is_signed() => bits == sign || bits == sign - 1,
                _ => bits == 0 || bits == ty.mask(),
            }
        })
    }
}

/// The ends of a type, as far as `f64` tells them apart from what is near; see [`Elements::is_end`].
fn bounds(ty: Type) -> (f64, f64) {
    if ty.is_float() {
        return (f64::NEG_INFINITY, f64::INFINITY);
    }
    (ty.least().as_f64(), ty.greatest().as_f64())
}
