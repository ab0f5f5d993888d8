//! Arrays, tuples of up to thirteen members, and unit as scan types.

use std::mem::offset_of;

use monoscan_ir::{Constant, Type, Value};

use super::scan_type::{Components, Constants, ScanType, V};

// SAFETY: the elements of an array lie `size_of::<X>()` bytes apart and are all listed.
unsafe impl<X: ScanType, const N: usize> ScanType for [X; N] {
    type Traced = [V<X>; N];

    fn describe(components: &mut Components) {
        for index in 0..N {
            components.element::<X>(index);
        }
    }

    fn build(next: &mut dyn FnMut(Type) -> Value) -> [V<X>; N] {
        std::array::from_fn(|_| V::of(X::build(next)))
    }

    fn flatten(parts: &[V<X>; N], values: &mut Vec<Value>) {
        for part in parts {
            X::flatten(part, values);
        }
    }

    fn store(value: &[X; N], constants: &mut Constants) {
        for element in value {
            X::store(element, constants);
        }
    }

    fn load(constants: &mut dyn Iterator<Item = Constant>) -> [X; N] {
        std::array::from_fn(|_| X::load(constants))
    }

    fn restrict(parts: &[V<X>; N], conditions: &mut Vec<V<bool>>) {
        for part in parts {
            X::restrict(part, conditions);
        }
    }
}

macro_rules! tuples {
    ($(($($name:ident $index:tt),*);)*) => {$(
        // SAFETY: every member is listed at the offset that `offset_of!` gives.
        unsafe impl<$($name: ScanType),*> ScanType for ($($name,)*) {
            type Traced = ($(V<$name>,)*);

            fn describe(_components: &mut Components) {
                $(_components.field::<$name>($index, offset_of!(Self, $index));)*
            }

            #[allow(clippy::unused_unit, reason = "the empty tuple has no parts")]
            fn build(_next: &mut dyn FnMut(Type) -> Value) -> Self::Traced {
                ($(V::of($name::build(_next)),)*)
            }

            fn flatten(_parts: &Self::Traced, _values: &mut Vec<Value>) {
                $($name::flatten(&_parts.$index, _values);)*
            }

            fn store(_value: &Self, _constants: &mut Constants) {
                $($name::store(&_value.$index, _constants);)*
            }

            #[allow(clippy::unused_unit, reason = "the empty tuple has no parts")]
            fn load(_constants: &mut dyn Iterator<Item = Constant>) -> Self {
                ($($name::load(_constants),)*)
            }

            fn restrict(_parts: &Self::Traced, _conditions: &mut Vec<V<bool>>) {
                $($name::restrict(&_parts.$index, _conditions);)*
            }
        }
    )*};
}

for_prefixes! {
    tuples () (A 0) (B 1) (C 2) (D 3) (E 4) (F 5) (G 6) (H 7) (I 8) (J 9) (K 10) (L 11) (M 12)
}
