//! Integer methods that take more than an opcode.

use monoscan_ir::{Opcode, Primitive};

use super::{count_ones, leading_zeros, wrapping_abs, wrapping_add, wrapping_mul, wrapping_sub};
use crate::lang::numbers::Int;
use crate::lang::ops::{add, apply, cast, div, eq, ge, gt, lift, lt, ne, not, rem, select, sub, value};
use crate::lang::scan_type::V;
use crate::lang::trace::{differs, method};

/// `abs_diff`
pub fn abs_diff<T: Int>(a: V<T>, b: V<T>) -> V<T::Unsigned> {
    method("abs_diff", || cast(select(lt(a, b), wrapping_sub(b, a), wrapping_sub(a, b))))
}

/// `unsigned_abs`
pub fn unsigned_abs<T: Int>(a: V<T>) -> V<T::Unsigned> {
    cast(wrapping_abs(a))
}

/// `is_power_of_two`
pub fn is_power_of_two<T: Int>(a: V<T>) -> V<bool> {
    method("is_power_of_two", || eq(count_ones(a), lift(1)))
}

/// `rem_euclid`: never negative.
pub fn rem_euclid<T: Int>(a: V<T>, b: V<T>) -> V<T> {
    method("rem_euclid", || {
        let rest = rem(a, b);
        let zero = lift(T::ZERO);
        select(lt(rest, zero), select(lt(b, zero), sub(rest, b), add(rest, b)), rest)
    })
}

/// `div_euclid`
pub fn div_euclid<T: Int>(a: V<T>, b: V<T>) -> V<T> {
    method("div_euclid", || {
        let (quotient, zero) = (div(a, b), lift(T::ZERO));
        let one = lift(T::ONE);
        let corrected = select(gt(b, zero), sub(quotient, one), add(quotient, one));
        select(lt(rem(a, b), zero), corrected, quotient)
    })
}

/// `overflowing_add`
pub fn overflowing_add<T: Int>(a: V<T>, b: V<T>) -> V<(T, bool)> {
    method("overflowing_add", || {
        let sum = wrapping_add(a, b);
        // Adding a non-negative number must not make less of it, adding a negative one must.
        let grows = ge(b, lift(T::ZERO));
        V::of((sum, ne(lt(sum, a), not(grows))))
    })
}

/// `overflowing_sub`
pub fn overflowing_sub<T: Int>(a: V<T>, b: V<T>) -> V<(T, bool)> {
    method("overflowing_sub", || {
        let difference = wrapping_sub(a, b);
        let shrinks = ge(b, lift(T::ZERO));
        V::of((difference, ne(gt(difference, a), not(shrinks))))
    })
}

/// `overflowing_mul`
pub fn overflowing_mul<T: Int>(a: V<T>, b: V<T>) -> V<(T, bool)> {
    method("overflowing_mul", || {
        let (low, high): (V<T>, V<T>) = (wrapping_mul(a, b), apply(Opcode::MulHigh, &[value(a), value(b)]));
        // The product fits if the high half only repeats the sign of the low one.
        let sign = if <T as Primitive>::TYPE.is_signed() {
            apply(Opcode::Shr, &[value(low), value(lift(T::BITS - 1))])
        } else {
            lift(T::ZERO)
        };
        V::of((low, ne(high, sign)))
    })
}

/// `saturating_mul`
pub fn saturating_mul<T: Int>(a: V<T>, b: V<T>) -> V<T> {
    method("saturating_mul", || {
        let (low, overflows) = overflowing_mul(a, b).__parts;
        let zero = lift(T::ZERO);
        let negative = ne(lt(a, zero), lt(b, zero));
        select(overflows, select(negative, lift(T::MIN), lift(T::MAX)), low)
    })
}

/// `ilog2`; of 0 and of negative numbers, where Rust panics, the subtraction overflows.
pub fn ilog2<T: Int>(a: V<T>) -> V<u32> {
    method("ilog2", || {
        differs();
        let zeros = leading_zeros(a);
        let zeros = match <T as Primitive>::TYPE.is_signed() {
            true => select(lt(a, lift(T::ZERO)), lift(T::BITS), zeros),
            false => zeros,
        };
        sub(lift(T::BITS - 1), zeros)
    })
}

/// `ilog10`: how many powers of ten, from 10 on, are not above; of 0 and of negative numbers, where Rust panics, the
/// subtraction overflows.
pub fn ilog10<T: Int>(a: V<T>) -> V<u32> {
    method("ilog10", || {
        differs();
        let ten = (0..10).fold(T::ZERO, |ten, _| ten + T::ONE);
        let is_positive = cast::<bool, u32>(gt(a, lift(T::ZERO)));
        let (mut power, mut digits) = (ten, sub(is_positive, lift(1)));
        loop {
            digits = apply(Opcode::Add, &[value(digits), value(cast::<bool, u32>(ge(a, lift(power))))]);
            if power > T::MAX / ten {
                return digits;
            }
            power *= ten;
        }
    })
}

/// `is_multiple_of`
pub fn is_multiple_of<T: Int>(a: V<T>, b: V<T>) -> V<bool> {
    method("is_multiple_of", || {
        let zero = lift(T::ZERO);
        // Of 0 only 0 is a multiple. It is no divisor then, since Rust does not panic here.
        let is_of_zero = eq(b, zero);
        let divisor = select(is_of_zero, lift(T::ONE), b);
        select(is_of_zero, eq(a, zero), eq(rem(a, divisor), zero))
    })
}

/// `div_ceil`
pub fn div_ceil<T: Int>(a: V<T>, b: V<T>) -> V<T> {
    method("div_ceil", || {
        let (quotient, rest, zero) = (div(a, b), rem(a, b), lift(T::ZERO));
        select(eq(rest, zero), quotient, add(quotient, lift(T::ONE)))
    })
}
