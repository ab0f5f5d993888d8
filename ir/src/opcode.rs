//! The opcode table: every operation of the IR, declared once.
//!
//! **Every opcode is total.** Conditionals are [`Opcode::Select`], so both arms of every `if` of a
//! source program run. So nothing may trap: integers wrap, shifts mask their amount, division by
//! zero has a value, float → integer saturates, table indexes clamp, lanes outside a vector read as
//! 0. Floats are strict IEEE 754 in round-to-nearest: nothing is contracted or reassociated,
//! subnormals are kept. An operation that yields a NaN yields *a* NaN: its sign and payload are not
//! specified.
//!
//! [`evaluate`](crate::evaluate), beside the table in `eval.rs`, defines each opcode exactly: the
//! interpreter runs that function, the simplifier folds with it, and every engine is compared to
//! it.

use crate::types::Type;

/// A set of types that an opcode accepts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Class(u8);

impl Class {
    /// `bool`.
    pub const BOOL: Class = Class(1);
    /// Signed and unsigned integers.
    pub const INT: Class = Class(2);
    /// `f32`, `f64`.
    pub const FLOAT: Class = Class(4);
    /// Byte vectors.
    pub const BYTES: Class = Class(8);
    /// Integers and floats.
    pub const NUM: Class = Class(2 | 4);
    /// Integers, floats and, lane by lane, byte vectors.
    pub const NUM_OR_BYTES: Class = Class(2 | 4 | 8);
    /// Types with bits: `bool`, integers, byte vectors.
    pub const BITS: Class = Class(1 | 2 | 8);
    /// Every scalar.
    pub const SCALAR: Class = Class(1 | 2 | 4);
    /// Everything.
    pub const ANY: Class = Class(15);

    /// Whether `ty` belongs to the set.
    pub const fn contains(self, ty: Type) -> bool {
        let one = match ty {
            Type::Bool => 1,
            Type::F32 | Type::F64 => 4,
            Type::Bytes(_) => 8,
            _ => 2,
        };
        self.0 & one != 0
    }

    /// The set in words, for diagnostics.
    pub const fn describe(self) -> &'static str {
        match self.0 {
            1 => "bool",
            2 => "an integer",
            4 => "a float",
            8 => "a byte vector",
            6 => "an integer or float",
            14 => "an integer, float or byte vector",
            11 => "bool, an integer or a byte vector",
            7 => "a scalar",
            _ => "any type",
        }
    }
}

/// How an opcode's operands and result are typed. `T` is one type out of the class, the same wherever it stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// `() → T`, the constant carried by the instruction.
    Constant,
    /// `T → T`
    Unary(Class),
    /// `(T, T) → T`
    Binary(Class),
    /// `(T, T, T) → T`
    Ternary(Class),
    /// `(T, T) → bool`
    Compare(Class),
    /// `(T, u32) → T`, T an integer
    Shift,
    /// `T → u32`, T an integer
    Count,
    /// `(bool, T, T) → T`
    Select,
    /// scalar → scalar, the result type carried by the instruction; to `bool` only from `bool`
    Cast,
    /// scalar or vector → the same number of bytes, the result type carried by the instruction; no `bool`
    Bitcast,
    /// `from → to`, both fixed
    Convert(Type, Type),
    /// `u32 → T`, T the element type of the table carried by the instruction
    Table,
    /// `u8 → u8xN`, N carried by the instruction's type
    Splat,
    /// `u8xN → u8`, the lane carried by the instruction
    Lane,
    /// `(u8xN, u8) → u8xN`, the lane carried by the instruction
    WithLane,
    /// `(u8xN, u8xM) → u8xM`
    Permute,
}

impl Rule {
    /// How many operands the opcode takes.
    pub const fn arity(self) -> usize {
        match self {
            Rule::Constant => 0,
            Rule::Unary(_)
            | Rule::Count
            | Rule::Cast
            | Rule::Bitcast
            | Rule::Convert(..)
            | Rule::Table
            | Rule::Splat
            | Rule::Lane => 1,
            Rule::Binary(_) | Rule::Compare(_) | Rule::Shift | Rule::WithLane | Rule::Permute => 2,
            Rule::Ternary(_) | Rule::Select => 3,
        }
    }
}

macro_rules! opcodes {
    ($($(#[doc = $doc:literal])+ $name:ident $text:literal $rule:expr;)*) => {
        /// An operation; its doc comment is its meaning.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
        pub enum Opcode {
            $($(#[doc = $doc])+ $name,)*
        }

        impl Opcode {
            /// Every opcode, in the order of the table.
            pub const ALL: &'static [Opcode] = &[$(Opcode::$name,)*];

            /// The name in text form.
            pub const fn name(self) -> &'static str {
                match self { $(Opcode::$name => $text,)* }
            }

            /// How operands and result are typed.
            pub const fn rule(self) -> Rule {
                match self { $(Opcode::$name => $rule,)* }
            }

            /// Its value in words, from the table.
            pub const fn doc(self) -> &'static str {
                match self { $(Opcode::$name => concat!($($doc),+),)* }
            }
        }
    };
}

opcodes! {
    /// The constant carried by the instruction.
    Const "const" Rule::Constant;

    /// Sum; integers and lanes wrap.
    Add "add" Rule::Binary(Class::NUM_OR_BYTES);
    /// Difference; integers and lanes wrap.
    Sub "sub" Rule::Binary(Class::NUM_OR_BYTES);
    /// Product; integers wrap.
    Mul "mul" Rule::Binary(Class::NUM);
    /// Quotient; integers round toward zero, x / 0 = 0 and MIN / −1 = MIN.
    Div "div" Rule::Binary(Class::NUM);
    /// Remainder with the sign of the dividend: x − (x / y)·y, so x % 0 = x and MIN % −1 = 0.
    Rem "rem" Rule::Binary(Class::INT);
    /// Negation; integers wrap, floats flip the sign bit.
    Neg "neg" Rule::Unary(Class::NUM);
    /// Absolute value; |MIN| = MIN, floats clear the sign bit.
    Abs "abs" Rule::Unary(Class::NUM);
    /// The smaller; floats: if one is NaN the other, −0 < +0.
    Min "min" Rule::Binary(Class::NUM_OR_BYTES);
    /// The larger; floats: if one is NaN the other, −0 < +0.
    Max "max" Rule::Binary(Class::NUM_OR_BYTES);
    /// a·b + c with one rounding.
    MulAdd "mul_add" Rule::Ternary(Class::FLOAT);
    /// Sum, clamped to the type's range.
    AddSat "add_sat" Rule::Binary(Class::INT);
    /// Difference, clamped to the type's range.
    SubSat "sub_sat" Rule::Binary(Class::INT);
    /// The high half of the double-width product.
    MulHigh "mul_high" Rule::Binary(Class::INT);
    /// Square root; of a negative number NaN.
    Sqrt "sqrt" Rule::Unary(Class::FLOAT);
    /// Rounds toward −∞.
    Floor "floor" Rule::Unary(Class::FLOAT);
    /// Rounds toward +∞.
    Ceil "ceil" Rule::Unary(Class::FLOAT);
    /// Rounds toward zero.
    Trunc "trunc" Rule::Unary(Class::FLOAT);
    /// Rounds to the nearest integer, ties to even.
    RoundEven "round_even" Rule::Unary(Class::FLOAT);
    /// The magnitude of the first with the sign of the second.
    CopySign "copy_sign" Rule::Binary(Class::FLOAT);

    /// Bitwise and; of `bool` the logical one.
    And "and" Rule::Binary(Class::BITS);
    /// Bitwise or; of `bool` the logical one.
    Or "or" Rule::Binary(Class::BITS);
    /// Bitwise exclusive or; of `bool` `!=`.
    Xor "xor" Rule::Binary(Class::BITS);
    /// Every bit flipped; of `bool` the logical not.
    Not "not" Rule::Unary(Class::BITS);
    /// Shift left by the amount modulo the width.
    Shl "shl" Rule::Shift;
    /// Shift right by the amount modulo the width; signed types keep the sign.
    Shr "shr" Rule::Shift;
    /// Rotate left by the amount modulo the width.
    RotateLeft "rotate_left" Rule::Shift;
    /// Rotate right by the amount modulo the width.
    RotateRight "rotate_right" Rule::Shift;
    /// How many bits are 1.
    CountOnes "count_ones" Rule::Count;
    /// How many bits above the highest 1; of 0 the width.
    LeadingZeros "leading_zeros" Rule::Count;
    /// How many bits below the lowest 1; of 0 the width.
    TrailingZeros "trailing_zeros" Rule::Count;
    /// The bytes in reverse order.
    SwapBytes "swap_bytes" Rule::Unary(Class::INT);
    /// The bits in reverse order.
    ReverseBits "reverse_bits" Rule::Unary(Class::INT);

    /// a = b; false if one is NaN, −0 = +0. Vectors: all lanes equal.
    Eq "eq" Rule::Compare(Class::ANY);
    /// a ≠ b: the negation of `eq`.
    Ne "ne" Rule::Compare(Class::ANY);
    /// a < b; false if one is NaN; false < true.
    Lt "lt" Rule::Compare(Class::SCALAR);
    /// a ≤ b; false if one is NaN.
    Le "le" Rule::Compare(Class::SCALAR);
    /// a > b; false if one is NaN.
    Gt "gt" Rule::Compare(Class::SCALAR);
    /// a ≥ b; false if one is NaN.
    Ge "ge" Rule::Compare(Class::SCALAR);
    /// The second operand if the first is true, else the third; moves bits unchanged.
    Select "select" Rule::Select;

    /// Rust's `as`: integers truncate or extend by their own sign, float → integer truncates and saturates (NaN → 0), the rest rounds to nearest.
    Cast "cast" Rule::Cast;
    /// The same bits as another type of the same size.
    Bitcast "bitcast" Rule::Bitcast;
    /// The bits of an IEEE binary16 number, widened.
    FromF16 "from_f16" Rule::Convert(Type::U16, Type::F32);
    /// Rounds to IEEE binary16, ties to even, and gives its bits.
    ToF16 "to_f16" Rule::Convert(Type::F32, Type::U16);
    /// The bits of a bfloat16 number, widened.
    FromBf16 "from_bf16" Rule::Convert(Type::U16, Type::F32);
    /// Rounds to bfloat16, ties to even, and gives its bits.
    ToBf16 "to_bf16" Rule::Convert(Type::F32, Type::U16);

    /// The element of a table; an index past the end reads the last element.
    Table "table" Rule::Table;

    /// The byte in every lane.
    Splat "splat" Rule::Splat;
    /// One lane; a lane beyond the vector is refused by the verifier.
    Lane "lane" Rule::Lane;
    /// The vector with one lane replaced.
    WithLane "with_lane" Rule::WithLane;
    /// Lane i of the result is `a[b[i]]`, or 0 where `b[i]` is not a lane of `a`.
    Permute "permute" Rule::Permute;
}

impl Opcode {
    /// The opcode of this name in text form.
    pub fn from_name(name: &str) -> Option<Opcode> {
        Opcode::ALL.iter().copied().find(|op| op.name() == name)
    }

    /// Whether Rust, in a build with overflow checks, panics for some integers where this opcode wraps.
    pub const fn can_overflow(self) -> bool {
        matches!(self, Opcode::Add | Opcode::Sub | Opcode::Mul | Opcode::Neg | Opcode::Abs | Opcode::Shl | Opcode::Shr)
    }

    /// Whether the operands of a two-operand opcode may change places without any effect on the result.
    pub const fn is_commutative(self) -> bool {
        matches!(
            self,
            Opcode::Add
                | Opcode::Mul
                | Opcode::Min
                | Opcode::Max
                | Opcode::AddSat
                | Opcode::MulHigh
                | Opcode::And
                | Opcode::Or
                | Opcode::Xor
                | Opcode::Eq
                | Opcode::Ne
        )
    }
}
