//! Values: operands with their types, and the instructions on them.

use std::fmt;
use std::ops::{Add, BitAnd, BitOr, BitXor, Mul, Not, Shl, Shr, Sub};

use super::{Builder, Ty};

/// An operand. Cheap to copy; operators append an instruction to the function that is being written.
#[derive(Clone, Copy)]
pub struct Value<'k> {
    k: &'k Builder,
    ty: Ty,
    operand: Operand,
}

#[derive(Clone, Copy)]
enum Operand {
    /// The result of an instruction: its number, and which byte of which word its low byte is, if that is known.
    Temporary(u32, Option<(u32, u8)>),
    Named(&'static str),
    Table(usize),
    Constant(i128),
    Poison,
}

impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.operand, self.ty) {
            (Operand::Temporary(number, _), _) => write!(f, "%v{number}"),
            (Operand::Named(name), _) => f.write_str(name),
            (Operand::Table(number), _) => write!(f, "@table{number}"),
            (Operand::Constant(value), Ty::Int(1)) => write!(f, "{}", value & 1 == 1),
            (Operand::Constant(value), Ty::Int(_)) => write!(f, "{value}"),
            (Operand::Constant(bits), Ty::F32) => write!(f, "bitcast (i32 {bits} to float)"),
            (Operand::Constant(bits), Ty::F64) => write!(f, "bitcast (i64 {bits} to double)"),
            (Operand::Constant(_), _) => f.write_str("zeroinitializer"),
            (Operand::Poison, _) => f.write_str("poison"),
        }
    }
}

impl<'k> Value<'k> {
    pub(super) fn temporary(k: &'k Builder, ty: Ty, number: u32) -> Value<'k> {
        let low_byte = (ty == Ty::I32).then_some((number, 0));
        Value { k, ty, operand: Operand::Temporary(number, low_byte) }
    }

    pub(super) fn named(k: &'k Builder, ty: Ty, name: &'static str) -> Value<'k> {
        Value { k, ty, operand: Operand::Named(name) }
    }

    pub(super) fn table(k: &'k Builder, number: usize) -> Value<'k> {
        Value { k, ty: Ty::GLOBAL, operand: Operand::Table(number) }
    }

    pub(super) fn constant(k: &'k Builder, ty: Ty, value: i128) -> Value<'k> {
        Value { k, ty, operand: Operand::Constant(value) }
    }

    pub(super) fn poison(k: &'k Builder, ty: Ty) -> Value<'k> {
        Value { k, ty, operand: Operand::Poison }
    }

    pub fn emit(self) -> &'k Builder {
        self.k
    }

    pub fn ty(self) -> Ty {
        self.ty
    }

    /// The constant it is, if it is an integer one.
    pub fn as_constant(self) -> Option<i128> {
        match (self.operand, self.ty) {
            (Operand::Constant(value), Ty::Int(_)) => Some(value),
            _ => None,
        }
    }

    /// The word that the low byte of this is a byte of, and which one, if that is known.
    pub fn low_byte(self) -> Option<(Value<'k>, usize)> {
        let Operand::Temporary(_, Some((word, byte))) = self.operand else { return None };
        Some((Value::temporary(self.k, Ty::I32, word), byte.into()))
    }

    /// The same value, whose low byte is this byte of a word.
    fn with_low_byte(self, byte: (u32, u8)) -> Value<'k> {
        match self.operand {
            Operand::Temporary(number, _) => Value { operand: Operand::Temporary(number, Some(byte)), ..self },
            _ => self,
        }
    }

    /// A constant of the same type.
    pub fn same(self, value: i128) -> Value<'k> {
        Value::constant(self.k, self.ty, value)
    }

    /// `operation type self, other`, with a result of the same type.
    pub fn binary(self, operation: &str, other: Value<'k>) -> Value<'k> {
        debug_assert_eq!(self.ty, other.ty, "{operation} of {self} and {other}");
        let result = self.k.define(self.ty, format_args!("{operation} {} {self}, {other}", self.ty));
        match (self.operand, other.as_constant()) {
            (Operand::Temporary(word, _), Some(bits @ (8 | 16 | 24))) if operation == "lshr" && self.ty == Ty::I32 => {
                result.with_low_byte((word, bits as u8 / 8))
            }
            _ => result,
        }
    }

    pub fn udiv(self, other: Value<'k>) -> Value<'k> {
        match other.as_constant() {
            Some(1) => self,
            _ => self.binary("udiv", other),
        }
    }

    pub fn umin(self, other: Value<'k>) -> Value<'k> {
        self.math("umin", &[other])
    }

    pub fn fneg(self) -> Value<'k> {
        self.k.define(self.ty, format_args!("fneg {} {self}", self.ty))
    }

    /// `llvm.name.type(self, others)`: one of LLVM's intrinsics that give a result of the type of their first operand.
    pub fn math(self, name: &str, others: &[Value<'k>]) -> Value<'k> {
        let operands = [&[self], others].concat();
        self.k.intrinsic(self.ty, &format!("llvm.{name}.{}", self.ty.suffix()), &operands)
    }

    /// `icmp condition`, a truth value.
    pub fn icmp(self, condition: &str, other: Value<'k>) -> Value<'k> {
        debug_assert_eq!(self.ty, other.ty, "{condition} of {self} and {other}");
        self.k.define(Ty::BOOL, format_args!("icmp {condition} {} {self}, {other}", self.ty))
    }

    /// `fcmp condition`, a truth value.
    pub fn fcmp(self, condition: &str, other: Value<'k>) -> Value<'k> {
        self.k.define(Ty::BOOL, format_args!("fcmp {condition} {} {self}, {other}", self.ty))
    }

    pub fn is(self, other: Value<'k>) -> Value<'k> {
        self.icmp("eq", other)
    }

    pub fn is_not(self, other: Value<'k>) -> Value<'k> {
        self.icmp("ne", other)
    }

    /// Unsigned.
    pub fn below(self, other: Value<'k>) -> Value<'k> {
        self.icmp("ult", other)
    }

    /// Unsigned.
    pub fn at_least(self, other: Value<'k>) -> Value<'k> {
        self.icmp("uge", other)
    }

    /// `yes` where this truth value is true, else `no`.
    pub fn select(self, yes: Value<'k>, no: Value<'k>) -> Value<'k> {
        match self.as_constant() {
            Some(value) if value & 1 == 1 => yes,
            Some(_) => no,
            None => self.k.define(yes.ty, format_args!("select i1 {self}, {0} {yes}, {0} {no}", yes.ty)),
        }
    }

    /// `operation self to type`.
    pub fn cast(self, operation: &str, to: Ty) -> Value<'k> {
        match self.ty == to {
            true => self,
            false => {
                let result = self.k.define(to, format_args!("{operation} {} {self} to {to}", self.ty));
                let stays = matches!(operation, "zext" | "trunc") && self.ty.bits() >= 8 && to.bits() >= 8;
                match self.operand {
                    Operand::Temporary(_, Some(byte)) if stays => result.with_low_byte(byte),
                    _ => result,
                }
            }
        }
    }

    /// An integer of another width: low bits kept, or zeros added.
    pub fn resize(self, to: Ty) -> Value<'k> {
        if let Some(value) = self.as_constant().filter(|&value| value >= 0 && self.ty.bits() > 1) {
            return Value::constant(self.k, to, value & (u128::MAX >> (128 - to.bits().min(127))) as i128);
        }
        match self.ty.bits().cmp(&to.bits()) {
            std::cmp::Ordering::Less => self.cast("zext", to),
            std::cmp::Ordering::Equal => self,
            std::cmp::Ordering::Greater => self.cast("trunc", to),
        }
    }

    pub fn sext(self, to: Ty) -> Value<'k> {
        self.cast("sext", to)
    }

    /// The same bits as another type of the same size.
    pub fn bits_as(self, to: Ty) -> Value<'k> {
        self.cast("bitcast", to)
    }

    /// The address in device memory that a 64-bit integer is.
    pub fn as_global(self) -> Value<'k> {
        self.cast("inttoptr", Ty::GLOBAL)
    }

    /// The address as a 64-bit integer.
    pub fn address(self) -> Value<'k> {
        self.cast("ptrtoint", Ty::I64)
    }

    /// The address so many bytes further on.
    pub fn byte(self, offset: Value<'k>) -> Value<'k> {
        debug_assert!(matches!(self.ty, Ty::Pointer(_)));
        match offset.as_constant() {
            Some(0) => self,
            _ => self.k.define(self.ty, format_args!("getelementptr i8, {} {self}, {} {offset}", self.ty, offset.ty)),
        }
    }

    /// The address so many bytes further on.
    pub fn at(self, offset: usize) -> Value<'k> {
        self.byte(self.k.i64(offset))
    }

    /// Loads from this address, a multiple of `align`.
    pub fn load(self, ty: Ty, align: usize) -> Value<'k> {
        self.k.define(ty, format_args!("load {ty}, {} {self}, align {align}", self.ty))
    }

    /// Loads from this address in device memory, a multiple of `align`, what nobody writes while the kernel runs.
    pub fn load_constant(self, ty: Ty, align: usize) -> Value<'k> {
        self.k.define(ty, format_args!("load {ty}, {} {self}, align {align}, !invariant.load !{{}}", self.ty))
    }

    /// Stores at this address, a multiple of `align`.
    pub fn store(self, value: Value<'k>, align: usize) {
        self.k.line(format_args!("store {} {value}, {} {self}, align {align}", value.ty, self.ty));
    }

    /// A lane of [`Ty::Words`].
    pub fn word(self, lane: usize) -> Value<'k> {
        self.k.define(Ty::I32, format_args!("extractelement {} {self}, i32 {lane}", self.ty))
    }

    /// [`Ty::Words`] with a lane replaced.
    pub fn with_word(self, lane: usize, word: Value<'k>) -> Value<'k> {
        self.k.define(self.ty, format_args!("insertelement {} {self}, i32 {word}, i32 {lane}", self.ty))
    }

    /// One half of a [`Ty::Pair`].
    pub fn half(self, place: usize) -> Value<'k> {
        self.k.define(Ty::I64, format_args!("extractvalue {} {self}, {place}", self.ty))
    }
}

macro_rules! operators {
    ($($operator:ident $method:ident $instruction:literal, neutral $neutral:literal;)*) => {$(
        impl<'k> $operator for Value<'k> {
            type Output = Value<'k>;
            fn $method(self, other: Value<'k>) -> Value<'k> {
                match other.as_constant() {
                    Some($neutral) => self,
                    _ => self.binary($instruction, other),
                }
            }
        }

        impl<'k> $operator<usize> for Value<'k> {
            type Output = Value<'k>;
            fn $method(self, other: usize) -> Value<'k> {
                $operator::$method(self, self.same(other as i128))
            }
        }
    )*};
}

operators! {
    Add add "add", neutral 0;
    Sub sub "sub", neutral 0;
    Mul mul "mul", neutral 1;
    BitAnd bitand "and", neutral -1;
    BitOr bitor "or", neutral 0;
    BitXor bitxor "xor", neutral 0;
    Shl shl "shl", neutral 0;
    Shr shr "lshr", neutral 0;
}

impl<'k> Not for Value<'k> {
    type Output = Value<'k>;

    fn not(self) -> Value<'k> {
        self.binary("xor", self.same(-1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_known_which_byte_of_a_word_a_low_byte_is() {
        Builder::new().function("define void @f()", |k| {
            let word = k.thread();
            let byte = |value: Value<'_>| value.low_byte().map(|(of, byte)| (of.to_string(), byte));
            let of_word = |byte: usize| Some((word.to_string(), byte));
            assert_eq!(byte(word), of_word(0));
            let third = (word >> 16usize).resize(Ty::I8);
            assert_eq!(byte(third.resize(Ty::I32)), of_word(2));
            assert_ne!(byte((word >> 4usize).resize(Ty::I8)), of_word(0));
            // Zeros, of which the word has none in that place.
            assert_ne!(byte(third.resize(Ty::I32) >> 8usize), of_word(3));
            assert_eq!(byte(k.i32(3)), None);
        });
    }
}
