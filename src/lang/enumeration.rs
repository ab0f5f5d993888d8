//! Enums whose variants hold nothing: one integer in memory, the variant's number.

use monoscan_ir::{Constant, Opcode, Type, Value};

use super::ops::{apply, lift, or};
use super::scan_type::{Components, V};

/// An enum without data, described by `#[derive(ScanType)]` or `#[scan_monoid]`.
///
/// # Safety
/// `VARIANTS` has every variant, at least two, and none of them holds anything: so every byte of a value is part of its
/// number, and one of the numbers listed. One of them is 0.
#[doc(hidden)]
pub unsafe trait Enumeration: Copy + Send + Sync + 'static {
    /// Every variant, with its number.
    const VARIANTS: &'static [(Self, i64)];
}

/// The integer that a value is in memory; signed where a variant's number is negative.
pub fn number_type<E: Enumeration>() -> Type {
    let signed = E::VARIANTS.iter().any(|(_, number)| *number < 0);
    match (size_of::<E>(), signed) {
        (1, false) => Type::U8,
        (1, true) => Type::I8,
        (2, false) => Type::U16,
        (2, true) => Type::I16,
        (4, false) => Type::U32,
        (4, true) => Type::I32,
        (8, false) => Type::U64,
        (8, true) => Type::I64,
        (size, _) => unreachable!("an enum without data has a size of 1, 2, 4 or 8 bytes, not {size}"),
    }
}

/// Lists the one component.
///
/// # Panics
/// If the numbers in memory are not those that `as` gives, which scan code relies on, and which holds wherever Rust is
/// today.
pub fn describe<E: Enumeration>(components: &mut Components) {
    let ty = number_type::<E>();
    let is_plain = E::VARIANTS.iter().all(|&(variant, expected)| number(variant) == ty.of_i64(expected));
    assert!(is_plain, "an enum's numbers in memory are not those of `as`");
    components.scalar(ty);
}

/// The number of a value, as it lies in memory.
pub fn number<E: Enumeration>(value: E) -> Constant {
    let mut bytes = [0u8; 16];
    // SAFETY: an `Enumeration` has no byte that is not part of its number, so all of them are initialized; there are at
    // most eight (`number_type`), and the two places do not overlap.
    unsafe {
        let from = (&raw const value).cast::<u8>();
        std::ptr::copy_nonoverlapping(from, bytes.as_mut_ptr(), size_of::<E>().min(bytes.len()));
    }
    Constant::new(number_type::<E>(), u128::from_le_bytes(bytes))
}

/// The variant of this number; the one of number 0 if there is no such.
pub fn variant<E: Enumeration>(of: Option<Constant>) -> E {
    let find = |bits: u128| E::VARIANTS.iter().map(|(variant, _)| *variant).find(|v| number(*v).bits() == bits);
    let found = of.and_then(|of| find(of.bits())).or_else(|| find(0));
    found.unwrap_or(E::VARIANTS[0].0)
}

/// The condition under which a number is a variant's.
pub fn is_variant<E: Enumeration>(value: Value) -> V<bool> {
    let mut numbers: Vec<u128> = E::VARIANTS.iter().map(|(variant, _)| number(*variant).bits()).collect();
    numbers.sort_unstable();
    let constant = |bits: u128| super::trace::emit(|f| f.constant(Constant::new(number_type::<E>(), bits)));
    let is_dense = numbers.iter().enumerate().all(|(place, &bits)| place as u128 == bits);
    let signed = number_type::<E>().is_signed();
    if is_dense && !signed {
        return apply(Opcode::Le, &[value, constant(numbers.len() as u128 - 1)]);
    }
    let each = numbers.into_iter().map(|bits| apply::<bool>(Opcode::Eq, &[value, constant(bits)]));
    each.reduce(or).unwrap_or_else(|| lift(true))
}
