//! [`Type`]: what a value of the IR can be.
//!
//! Values are scalars or small byte vectors. A record in memory is a flat list of such components,
//! each at an offset (see [`Layout`](crate::Layout)); structs, arrays and tuples exist only in the
//! front ends. `f16` and `bf16` have no type here: they are `u16` in memory and in registers, and
//! opcodes convert them to `f32` and back.

use std::fmt;

pub use crate::constant::{Constant, Primitive};

/// The type of a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Type {
    /// Truth value; one byte in memory, read as `!= 0`, written as 0 or 1.
    Bool,
    /// Signed 8-bit integer.
    I8,
    /// Signed 16-bit integer.
    I16,
    /// Signed 32-bit integer.
    I32,
    /// Signed 64-bit integer.
    I64,
    /// Unsigned 8-bit integer.
    U8,
    /// Unsigned 16-bit integer.
    U16,
    /// Unsigned 32-bit integer.
    U32,
    /// Unsigned 64-bit integer.
    U64,
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    F64,
    /// A vector of 1 to 16 bytes, `u8xN`.
    Bytes(Lanes),
}

/// How many bytes a vector has: 1 to 16.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Lanes(u8);

impl Lanes {
    /// The widest vector.
    pub const MAX: Lanes = Lanes(16);

    /// `count` lanes, if that is 1 to 16.
    pub const fn new(count: usize) -> Option<Lanes> {
        if count >= 1 && count <= 16 { Some(Lanes(count as u8)) } else { None }
    }

    /// The number of lanes.
    pub const fn get(self) -> usize {
        self.0 as usize
    }
}

impl Type {
    /// Every scalar type, in the order of the enum.
    pub const SCALARS: [Type; 11] = [
        Type::Bool,
        Type::I8,
        Type::I16,
        Type::I32,
        Type::I64,
        Type::U8,
        Type::U16,
        Type::U32,
        Type::U64,
        Type::F32,
        Type::F64,
    ];

    /// The vector type of `lanes` bytes, if that is 1 to 16.
    pub const fn bytes(lanes: usize) -> Option<Type> {
        match Lanes::new(lanes) {
            Some(lanes) => Some(Type::Bytes(lanes)),
            None => None,
        }
    }

    /// The type that prints as `name`: `i32`, `u8x16`.
    pub fn from_name(name: &str) -> Option<Type> {
        const SCALARS: [&str; 11] = ["bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64"];
        if let Some(place) = SCALARS.iter().position(|&scalar| scalar == name) {
            return Some(Type::SCALARS[place]);
        }
        let lanes = name.strip_prefix("u8x").filter(|lanes| !lanes.starts_with(['0', '+']))?;
        Type::bytes(lanes.parse().ok()?)
    }

    /// Bytes a value takes in memory.
    #[inline]
    pub const fn size(self) -> usize {
        match self {
            Type::Bool | Type::I8 | Type::U8 => 1,
            Type::I16 | Type::U16 => 2,
            Type::I32 | Type::U32 | Type::F32 => 4,
            Type::I64 | Type::U64 | Type::F64 => 8,
            Type::Bytes(lanes) => lanes.get(),
        }
    }

    /// Bits that carry the value: 1 for `bool`, else eight a byte.
    pub const fn bits(self) -> u32 {
        match self {
            Type::Bool => 1,
            _ => self.size() as u32 * 8,
        }
    }

    /// An integer type, signed or not.
    pub const fn is_int(self) -> bool {
        self.is_signed() || matches!(self, Type::U8 | Type::U16 | Type::U32 | Type::U64)
    }

    /// A signed integer type.
    pub const fn is_signed(self) -> bool {
        matches!(self, Type::I8 | Type::I16 | Type::I32 | Type::I64)
    }

    /// `f32` or `f64`.
    pub const fn is_float(self) -> bool {
        matches!(self, Type::F32 | Type::F64)
    }

    /// A byte vector.
    pub const fn is_vector(self) -> bool {
        matches!(self, Type::Bytes(_))
    }

    /// The bits a value of this type may have set.
    #[inline]
    pub const fn mask(self) -> u128 {
        if self.bits() == 128 { u128::MAX } else { (1 << self.bits()) - 1 }
    }

    /// The least number of an integer type; of a vector type, in every lane.
    pub const fn least(self) -> Constant {
        Constant::new(self, if self.is_signed() { (self.mask() >> 1) + 1 } else { 0 })
    }

    /// The greatest number of an integer type, `true` of `bool`; of a vector type, in every lane.
    pub const fn greatest(self) -> Constant {
        Constant::new(self, if self.is_signed() { self.mask() >> 1 } else { self.mask() })
    }

    /// The constant whose bits are all zero: `false`, 0, +0.0.
    pub const fn zero(self) -> Constant {
        Constant::new(self, 0)
    }

    /// The integer or float `value`, converted as Rust's `as` would (`bool`: `value != 0`; vectors: every lane).
    pub fn of_i64(self, value: i64) -> Constant {
        let bits = match self {
            Type::F32 => (value as f32).to_bits() as u128,
            Type::F64 => (value as f64).to_bits() as u128,
            Type::Bool => (value != 0) as u128,
            Type::Bytes(lanes) => return Constant::vector(&vec![value as u8; lanes.get()]),
            _ => value as u64 as u128,
        };
        Constant::new(self, bits)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Type::Bool => "bool",
            Type::I8 => "i8",
            Type::I16 => "i16",
            Type::I32 => "i32",
            Type::I64 => "i64",
            Type::U8 => "u8",
            Type::U16 => "u16",
            Type::U32 => "u32",
            Type::U64 => "u64",
            Type::F32 => "f32",
            Type::F64 => "f64",
            Type::Bytes(lanes) => return write!(f, "u8x{}", lanes.get()),
        })
    }
}

impl fmt::Debug for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
