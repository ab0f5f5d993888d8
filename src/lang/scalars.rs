//! The scalar scan types: `bool`, the integers of 8 to 64 bits, `f32`, `f64`, and the half-width
//! floats of the crate `half`, which are bits in memory and have no arithmetic of their own.

use monoscan_ir::{Constant, Primitive, Type, Value};

use super::scan_type::{Components, Constants, ScanType};

macro_rules! scalars {
    ($($rust:ident)*) => {$(
        // SAFETY: the one component is the whole value, and `Primitive::TYPE` is its type.
        unsafe impl ScanType for $rust {
            type Traced = Value;

            fn describe(components: &mut Components) {
                components.scalar(<$rust as Primitive>::TYPE);
            }

            fn build(next: &mut dyn FnMut(Type) -> Value) -> Value {
                next(<$rust as Primitive>::TYPE)
            }

            fn flatten(parts: &Value, values: &mut Vec<Value>) {
                values.push(*parts);
            }

            fn store(value: &$rust, constants: &mut Constants) {
                constants.push(Constant::from(*value));
            }

            fn load(constants: &mut dyn Iterator<Item = Constant>) -> $rust {
                let zero = <$rust as Primitive>::TYPE.zero();
                <$rust as Primitive>::from_constant(constants.next().unwrap_or(zero))
            }
        }
    )*};
}

scalars!(bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);

macro_rules! halves {
    ($($rust:ty)*) => {$(
        // SAFETY: the type is a transparent `u16`, any bits of which are a value.
        unsafe impl ScanType for $rust {
            type Traced = Value;

            fn describe(components: &mut Components) {
                components.scalar(Type::U16);
            }

            fn build(next: &mut dyn FnMut(Type) -> Value) -> Value {
                next(Type::U16)
            }

            fn flatten(parts: &Value, values: &mut Vec<Value>) {
                values.push(*parts);
            }

            fn store(value: &$rust, constants: &mut Constants) {
                constants.push(Constant::from(value.to_bits()));
            }

            fn load(constants: &mut dyn Iterator<Item = Constant>) -> $rust {
                <$rust>::from_bits(u16::load(constants))
            }
        }
    )*};
}

halves!(half::f16 half::bf16);
