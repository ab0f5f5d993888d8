//! `==`, `!=` and constant patterns: values are equal if all their components are, as
//! `#[derive(PartialEq)]` has it.
//!
//! A `PartialEq` that was written by hand may mean something else. The macro cannot see which one a
//! type has, so while `==` is traced, the type's own `==` is asked about some values that differ in
//! one component.

use std::any::type_name;
use std::panic::{AssertUnwindSafe, catch_unwind};

use monoscan_ir::{Constant, Inst, Opcode, Payload, Type, Value, evaluate};

use super::ops::{and, apply, lift, or};
use super::scan_type::{Components, ScanType, V, from_constants, to_constants};
use super::trace::{Stop, stop};

/// `a == b`
pub fn eq<X: ScanType + PartialEq>(a: V<X>, b: V<X>) -> V<bool> {
    check::<X>();
    same(a, b)
}

/// `a != b`
pub fn ne<X: ScanType + PartialEq>(a: V<X>, b: V<X>) -> V<bool> {
    check::<X>();
    let differ = a.values().into_iter().zip(b.values()).map(|(a, b)| apply(Opcode::Ne, &[a, b]));
    differ.reduce(or).unwrap_or_else(|| lift(false))
}

/// Whether all components are equal: what a constant in a pattern asks for.
pub fn same<X: ScanType>(a: V<X>, b: V<X>) -> V<bool> {
    let equal = a.values().into_iter().zip(b.values()).map(|(a, b)| apply(Opcode::Eq, &[a, b]));
    equal.reduce(and).unwrap_or_else(|| lift(true))
}

fn check<X: ScanType + PartialEq>() {
    if !compares_components::<X>() {
        stop(Stop::OwnEquality { of: type_name::<X>() });
    }
}

/// Letters in each byte, and what makes small ones of large ones, which some think equal.
const LETTERS: u128 = 0x61616161_61616161_61616161_61616161;
const CASE: u128 = 0x20;

/// Whether the type's own `==` looks at every component and at nothing else, as far as some values tell.
fn compares_components<X: ScanType + PartialEq>() -> bool {
    let types: Vec<Type> = Components::of::<X>().into_iter().map(|component| component.ty).collect();
    let asked = |a: &[Constant], b: &[Constant]| {
        let (a, b): (X, X) = (from_constants(a.iter().copied()), from_constants(b.iter().copied()));
        // Some components have no value for every constant, as those of an enum.
        let (known_a, known_b) = (to_constants(&a), to_constants(&b));
        let expected = known_a.iter().zip(&known_b).all(|(a, b)| is_equal(*a, *b));
        catch_unwind(AssertUnwindSafe(|| a == b)).is_ok_and(|equal| equal == expected)
    };
    let base = |bits: u128| types.iter().map(|&ty| Constant::new(ty, bits & ty.mask())).collect::<Vec<_>>();
    let bases = [0, 1, LETTERS].map(base);
    bases.iter().all(|base| {
        let differing = (0..types.len()).flat_map(|place| {
            let top = 1u128 << (types[place].bits() - 1);
            [1, 2, CASE, top].map(|flipped| {
                let mut other = base.clone();
                other[place] = Constant::new(types[place], base[place].bits() ^ (flipped & types[place].mask()));
                other
            })
        });
        asked(base, base) && differing.into_iter().all(|other| asked(base, &other) && asked(&other, base))
    })
}

fn is_equal(a: Constant, b: Constant) -> bool {
    let inst = Inst::new(Opcode::Eq, Type::Bool, &[Value::new(0), Value::new(1)], Payload::None);
    evaluate(&inst, &[a, b], &[]).is_some_and(|equal| equal.bits() != 0)
}
