//! Powers of floats, and the functions that look up the digits of 1/2π.

use monoscan_ir::{FunctionBuilder, Value, math};

use crate::lang::numbers::Real;
use crate::lang::ops::{div, mul, value};
use crate::lang::scan_type::V;
use crate::lang::trace::{add_tables, differs, emit, emit_rounding, method};

macro_rules! circular {
    ($($name:ident)*) => {$(
        #[doc = concat!("`", stringify!($name), "`, of an angle in radians")]
        pub fn $name<T: Real>(a: V<T>) -> V<T> {
            let turns = add_tables(vec![math::turns()]);
            let expand: fn(&mut FunctionBuilder, Value, u32) -> Value = math::$name;
            V::of(emit_rounding(stringify!($name), |f| expand(f, value(a), turns)))
        }
    )*};
}

circular!(sin cos tan);

/// `sin_cos`
pub fn sin_cos<T: Real>(a: V<T>) -> V<(T, T)> {
    V::of((sin(a), cos(a)))
}

/// `powf`
pub fn powf<T: Real>(a: V<T>, exponent: V<T>) -> V<T> {
    V::of(emit_rounding("powf", |f| math::powf(f, value(a), value(exponent))))
}

/// `powi` with a constant exponent, by squaring; each product is rounded.
pub fn powi<T: Real>(a: V<T>, exponent: i32) -> V<T> {
    method("powi", || {
        let (mut result, mut square, mut rest) = (None, a, exponent.unsigned_abs());
        while rest != 0 {
            if rest & 1 == 1 {
                result = Some(result.map_or(square, |product| mul(product, square)));
            }
            rest >>= 1;
            if rest != 0 {
                square = mul(square, square);
            }
        }
        differs();
        let one = V::of(emit(|f| f.constant(T::ONE.into())));
        let power = result.unwrap_or(one);
        if exponent < 0 { div(one, power) } else { power }
    })
}
