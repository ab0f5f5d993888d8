//! Exact sparse polynomials over atoms, in the two rings that functions compute in.
//!
//! Arithmetic: coefficients modulo 2^k for an integer type (which is what the machine does), or
//! exact `f64` for floats, which are judged over the reals. Boolean: coefficients are bit masks,
//! addition is exclusive or, multiplication is and, and every atom is its own square; that normal
//! form decides any expression of `and`, `or`, `xor` and `not`, bit by bit. In both rings equal
//! polynomials are equal functions.

use crate::types::Type;

/// The number of an atom: something that a polynomial does not look into.
pub(crate) type Atom = u32;

/// Most terms a polynomial may grow to before a proof gives up.
const MAX_TERMS: usize = 512;

/// A sum of monomials: each a sorted list of atoms with a coefficient that is not 0. Sorted by monomial.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Polynomial {
    /// The terms. A coefficient holds the bits of an integer, mask or `f64`.
    pub(crate) terms: Vec<(Vec<Atom>, u128)>,
}

/// Which ring a polynomial lives in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ring {
    /// Integers modulo 2^k; the mask of k ones.
    Integers(u128),
    /// The reals, as far as `f64` holds them exactly.
    Reals,
    /// Bits modulo 2; the mask of all bits of the type.
    Bits(u128),
}

impl Ring {
    /// The ring in which values of type `ty` are added and multiplied; none for `bool` and vectors.
    pub(crate) fn arithmetic(ty: Type) -> Option<Ring> {
        match ty {
            Type::F32 | Type::F64 => Some(Ring::Reals),
            _ if ty.is_int() => Some(Ring::Integers(ty.mask())),
            _ => None,
        }
    }

    /// The ring in which bits of type `ty` are combined; none for floats.
    pub(crate) fn bits(ty: Type) -> Option<Ring> {
        (!ty.is_float()).then(|| Ring::Bits(ty.mask()))
    }

    pub(crate) fn one(self) -> u128 {
        match self {
            Ring::Integers(_) => 1,
            Ring::Reals => 1f64.to_bits() as u128,
            Ring::Bits(mask) => mask,
        }
    }

    fn plus(self, a: u128, b: u128) -> Option<u128> {
        match self {
            Ring::Integers(mask) => Some((a + b) & mask),
            Ring::Bits(_) => Some(a ^ b),
            Ring::Reals => {
                let (a, b) = (f64::from_bits(a as u64), f64::from_bits(b as u64));
                let sum = a + b;
                let exact = sum - a == b && sum - b == a;
                // +0, so that a coefficient of zero has one spelling.
                exact.then(|| (sum + 0.0).to_bits() as u128)
            }
        }
    }

    fn times(self, a: u128, b: u128) -> Option<u128> {
        match self {
            Ring::Integers(mask) => Some(a.wrapping_mul(b) & mask),
            Ring::Bits(_) => Some(a & b),
            Ring::Reals => {
                let (a, b) = (f64::from_bits(a as u64), f64::from_bits(b as u64));
                let product = a * b;
                let in_range = product.abs() > 1e-200 && product.abs() < 1e200;
                (in_range && (a.abs() == 1.0 || b.abs() == 1.0 || a.mul_add(b, -product) == 0.0))
                    .then_some(product.to_bits() as u128)
            }
        }
    }
}

impl Polynomial {
    /// The constant with these bits.
    pub(crate) fn constant(coefficient: u128) -> Polynomial {
        Polynomial { terms: if coefficient == 0 { Vec::new() } else { vec![(Vec::new(), coefficient)] } }
    }

    /// One atom.
    pub(crate) fn atom(atom: Atom, ring: Ring) -> Polynomial {
        Polynomial { terms: vec![(vec![atom], ring.one())] }
    }

    /// The coefficient, if the polynomial is a constant.
    pub(crate) fn as_constant(&self) -> Option<u128> {
        match &self.terms[..] {
            [] => Some(0),
            [(monomial, coefficient)] if monomial.is_empty() => Some(*coefficient),
            _ => None,
        }
    }

    /// The atom, if the polynomial is nothing else.
    pub(crate) fn as_atom(&self, ring: Ring) -> Option<Atom> {
        match &self.terms[..] {
            [(monomial, coefficient)] if monomial.len() == 1 && *coefficient == ring.one() => Some(monomial[0]),
            _ => None,
        }
    }

    /// The sum, if it stays small and exact.
    pub(crate) fn add(&self, other: &Polynomial, ring: Ring) -> Option<Polynomial> {
        use std::cmp::Ordering::{Equal, Greater, Less};
        let (a, b) = (&self.terms, &other.terms);
        let mut terms = Vec::with_capacity(a.len() + b.len());
        let (mut i, mut j) = (0, 0);
        while i < a.len() && j < b.len() {
            match a[i].0.cmp(&b[j].0) {
                Less => terms.push(a[i].clone()),
                Greater => terms.push(b[j].clone()),
                Equal => {
                    let coefficient = ring.plus(a[i].1, b[j].1)?;
                    if coefficient != 0 {
                        terms.push((a[i].0.clone(), coefficient));
                    }
                }
            }
            let order = a[i].0.cmp(&b[j].0);
            i += (order != Greater) as usize;
            j += (order != Less) as usize;
        }
        terms.extend_from_slice(&a[i..]);
        terms.extend_from_slice(&b[j..]);
        (terms.len() <= MAX_TERMS).then_some(Polynomial { terms })
    }

    /// The product, if it stays small and exact.
    pub(crate) fn multiply(&self, other: &Polynomial, ring: Ring) -> Option<Polynomial> {
        if self.terms.len() * other.terms.len() > MAX_TERMS {
            return None;
        }
        let mut products = Vec::with_capacity(self.terms.len() * other.terms.len());
        for (left, a) in &self.terms {
            for (right, b) in &other.terms {
                let coefficient = ring.times(*a, *b)?;
                let mut monomial = [left.as_slice(), right].concat();
                monomial.sort_unstable();
                if matches!(ring, Ring::Bits(_)) {
                    monomial.dedup();
                }
                if monomial.len() > 64 {
                    return None;
                }
                products.push((monomial, coefficient));
            }
        }
        products.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        let mut terms: Vec<(Vec<Atom>, u128)> = Vec::with_capacity(products.len());
        for (monomial, coefficient) in products {
            match terms.last_mut() {
                Some(last) if last.0 == monomial => last.1 = ring.plus(last.1, coefficient)?,
                _ => terms.push((monomial, coefficient)),
            }
        }
        terms.retain(|term| term.1 != 0);
        Some(Polynomial { terms })
    }

    /// Minus the polynomial.
    pub(crate) fn negate(&self, ring: Ring) -> Polynomial {
        let negated = |coefficient: u128| match ring {
            Ring::Integers(mask) => coefficient.wrapping_neg() & mask,
            Ring::Reals => (-f64::from_bits(coefficient as u64)).to_bits() as u128,
            Ring::Bits(_) => coefficient,
        };
        Polynomial { terms: self.terms.iter().map(|(monomial, c)| (monomial.clone(), negated(*c))).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_expand_and_collect() {
        let ring = Ring::Integers(0xff);
        let (x, y) = (Polynomial::atom(0, ring), Polynomial::atom(1, ring));
        let sum = x.add(&y, ring).unwrap();
        let difference = x.add(&y.negate(ring), ring).unwrap();
        let product = sum.multiply(&difference, ring).unwrap();
        assert_eq!(product.terms, [(vec![0, 0], 1), (vec![1, 1], 0xff)]);
    }

    #[test]
    fn a_bit_is_its_own_square_and_its_own_negative() {
        let ring = Ring::Bits(1);
        let x = Polynomial::atom(0, ring);
        assert_eq!(x.multiply(&x, ring).unwrap(), x);
        assert_eq!(x.add(&x, ring).unwrap(), Polynomial::default());
    }

    #[test]
    fn a_coefficient_that_would_be_rounded_ends_the_proof() {
        let real = |x: f64| Polynomial::constant(x.to_bits() as u128);
        assert!(real(0.1).multiply(&real(0.3), Ring::Reals).is_none());
        assert_eq!(real(0.5).multiply(&real(3.0), Ring::Reals), Some(real(1.5)));
    }
}
