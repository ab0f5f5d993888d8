//! [`Constant`]: a value of the IR that is known, and the Rust scalars that are such values.

use std::fmt;

use crate::types::Type;

/// A value known when the IR is built: a type and the bits, zero above the type's width.
/// Lane 0 of a vector is its lowest byte.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Constant {
    ty: Type,
    bits: u128,
}

impl Constant {
    /// The value of type `ty` with these bits; bits beyond the type's width are cut off.
    pub const fn new(ty: Type, bits: u128) -> Constant {
        Constant { ty, bits: bits & ty.mask() }
    }

    /// The vector of these bytes.
    ///
    /// # Panics
    /// If there are no bytes or more than 16.
    pub fn vector(bytes: &[u8]) -> Constant {
        let ty = Type::bytes(bytes.len()).expect("a vector has 1 to 16 lanes");
        let mut all = [0; 16];
        all[..bytes.len()].copy_from_slice(bytes);
        Constant { ty, bits: u128::from_le_bytes(all) }
    }

    /// The type.
    pub const fn ty(self) -> Type {
        self.ty
    }

    /// The bits, zero above the type's width.
    pub const fn bits(self) -> u128 {
        self.bits
    }

    /// The value of an integer or `bool`, sign-extended where the type is signed; the bits of anything else.
    pub const fn as_int(self) -> i128 {
        if self.ty.is_signed() {
            let unused = 128 - self.ty.bits();
            ((self.bits as i128) << unused) >> unused
        } else {
            self.bits as i128
        }
    }

    /// The value of a float, widened to `f64` without loss; of an integer, rounded.
    pub fn as_f64(self) -> f64 {
        match self.ty {
            Type::F32 => f32::from_bits(self.bits as u32) as f64,
            Type::F64 => f64::from_bits(self.bits as u64),
            _ => self.as_int() as f64,
        }
    }

    /// The lanes of a vector, or the little-endian bytes of a scalar.
    pub fn to_bytes(self) -> Vec<u8> {
        self.bits.to_le_bytes()[..self.ty.size()].to_vec()
    }

    /// Writes the value to the first bytes of memory, as many as its type has, in little-endian order.
    ///
    /// # Panics
    /// If there are fewer bytes.
    #[inline]
    pub fn write_to(self, memory: &mut [u8]) {
        copy_first(self.ty.size(), &self.bits.to_le_bytes(), memory);
    }

    /// Reads a value from the first `ty.size()` bytes of memory; a `bool` is any non-zero byte.
    ///
    /// # Panics
    /// If there are fewer bytes than the type needs.
    #[inline]
    pub fn from_bytes(ty: Type, memory: &[u8]) -> Constant {
        // A number of 16 bytes that was just written as a shorter one would be waited for.
        let bits = match *memory {
            [byte, ..] if ty.size() == 1 => byte.into(),
            [a, b, ..] if ty.size() == 2 => u16::from_le_bytes([a, b]).into(),
            [a, b, c, d, ..] if ty.size() == 4 => u32::from_le_bytes([a, b, c, d]).into(),
            [a, b, c, d, e, f, g, h, ..] if ty.size() == 8 => u64::from_le_bytes([a, b, c, d, e, f, g, h]).into(),
            _ => {
                let mut all = [0; 16];
                all[..ty.size()].copy_from_slice(&memory[..ty.size()]);
                u128::from_le_bytes(all)
            }
        };
        match ty {
            Type::Bool => Constant::from(bits != 0),
            _ => Constant::new(ty, bits),
        }
    }

    /// True for a float that is not a number.
    pub fn is_nan(self) -> bool {
        self.ty.is_float() && self.as_f64().is_nan()
    }

    /// Same type and same bits, or both NaN: which NaN an operation makes is not specified.
    pub fn same(self, other: Constant) -> bool {
        self == other || (self.ty == other.ty && self.is_nan() && other.is_nan())
    }
}

/// Copies so many bytes. Of a usual number without a call, which takes longer than the copy.
#[inline]
fn copy_first(bytes: usize, from: &[u8], to: &mut [u8]) {
    match bytes {
        4 => to[..4].copy_from_slice(&from[..4]),
        8 => to[..8].copy_from_slice(&from[..8]),
        bytes => to[..bytes].copy_from_slice(&from[..bytes]),
    }
}

/// Prints the value alone, so that text form can read it back: `-3`, `true`, `0.1`, `inf`, `nan:7fc00000`, `[0 1 2]`.
impl fmt::Display for Constant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ty {
            Type::Bool => write!(f, "{}", self.bits != 0),
            Type::F32 | Type::F64 if self.is_nan() => write!(f, "nan:{:x}", self.bits),
            Type::F32 => write!(f, "{:?}", f32::from_bits(self.bits as u32)),
            Type::F64 => write!(f, "{:?}", f64::from_bits(self.bits as u64)),
            Type::Bytes(_) => {
                let lanes: Vec<String> = self.to_bytes().iter().map(u8::to_string).collect();
                write!(f, "[{}]", lanes.join(" "))
            }
            _ => write!(f, "{}", self.as_int()),
        }
    }
}

impl fmt::Debug for Constant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}: {}", self.ty)
    }
}

mod sealed {
    /// Keeps [`Primitive`](super::Primitive) to the types of this file: memory is read and written through it.
    pub trait Sealed {}
}

/// A Rust scalar that is also a scalar of the IR: the same size, and every value that the IR writes is valid.
/// Sealed: engines rely on it to read and write memory.
pub trait Primitive: Copy + Send + Sync + Into<Constant> + sealed::Sealed + 'static {
    /// Its IR type.
    const TYPE: Type;
    /// The value with the constant's low bits.
    fn from_constant(constant: Constant) -> Self;
}

macro_rules! primitives {
    ($($rust:ident $ty:ident |$x:ident| $to:expr, |$c:ident| $from:expr;)*) => {$(
        impl From<$rust> for Constant {
            fn from($x: $rust) -> Constant {
                Constant::new(Type::$ty, $to)
            }
        }
        impl sealed::Sealed for $rust {}
        impl Primitive for $rust {
            const TYPE: Type = Type::$ty;
            fn from_constant($c: Constant) -> $rust {
                $from
            }
        }
    )*};
}

primitives! {
    bool Bool |x| x as u128, |c| c.bits != 0;
    i8 I8 |x| x as u8 as u128, |c| c.bits as i8;
    i16 I16 |x| x as u16 as u128, |c| c.bits as i16;
    i32 I32 |x| x as u32 as u128, |c| c.bits as i32;
    i64 I64 |x| x as u64 as u128, |c| c.bits as i64;
    u8 U8 |x| x as u128, |c| c.bits as u8;
    u16 U16 |x| x as u128, |c| c.bits as u16;
    u32 U32 |x| x as u128, |c| c.bits as u32;
    u64 U64 |x| x as u128, |c| c.bits as u64;
    f32 F32 |x| x.to_bits() as u128, |c| f32::from_bits(c.bits as u32);
    f64 F64 |x| x.to_bits() as u128, |c| f64::from_bits(c.bits as u64);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_go_to_memory_and_back_and_touch_nothing_else() {
        let vectors = (1..=16).filter_map(Type::bytes);
        let scalars = [Type::Bool, Type::I8, Type::U16, Type::I32, Type::F32, Type::U64, Type::F64];
        for ty in scalars.into_iter().chain(vectors) {
            let value = Constant::new(ty, u128::from_le_bytes([0xa5; 16]));
            let mut memory = [7; 17];
            value.write_to(&mut memory);
            assert_eq!(Constant::from_bytes(ty, &memory), value);
            assert_eq!(
                (&memory[..ty.size()], &memory[ty.size()..]),
                (&*value.to_bytes(), &vec![7; 17 - ty.size()][..])
            );
        }
    }

    #[test]
    fn constants_keep_only_the_bits_of_their_type() {
        assert_eq!(Constant::new(Type::I8, 0x1ff), Constant::from(-1i8));
        assert_eq!(Constant::from(-1i8).as_int(), -1);
        assert_eq!(Constant::new(Type::Bool, 3), Constant::from(true));
        assert_eq!(Constant::from_bytes(Type::Bool, &[7]), Constant::from(true));
        assert_eq!(Type::F32.of_i64(-2), Constant::from(-2.0f32));
    }

    #[test]
    fn any_nan_is_the_same_as_any_other() {
        let quiet = Constant::from(f32::NAN);
        let negative = Constant::new(Type::F32, 0xffc0_0001);
        assert!(quiet.same(negative) && quiet != negative);
        assert!(!Constant::from(0.0f32).same(Constant::from(-0.0f32)));
    }
}
