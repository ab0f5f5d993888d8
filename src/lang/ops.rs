//! Operators on handles: what macro output calls for `+`, `<`, `as`, `if`, `[i]` and the like.
//!
//! They are plain generic functions and not operator overloads, because comparisons could not
//! return a handle that way, and because a function's bounds give rustc all it needs for inference.
//! Both arms of every `if` run, so operators must be total; those of the IR are.

use monoscan_ir::{Opcode, Value};

use super::monoid::Monoid;
use super::numbers::{BitLike, Int, Num, Remainder, Scalar};
use super::scan_type::{ScanType, V, to_constants};
use super::trace::{Stop, emit, stop};

pub use super::equality::{eq, ne, same};
pub use super::table::{at, chosen, constants, get, lift as table};
pub use super::trace::{enter, named, written_at};

/// The one value of a scalar.
pub(crate) fn value<T: ScanType<Traced = Value>>(handle: V<T>) -> Value {
    handle.__parts
}

/// Appends an instruction whose result is of type `R`.
pub(crate) fn apply<R: ScanType<Traced = Value>>(opcode: Opcode, operands: &[Value]) -> V<R> {
    V::of(emit(|f| f.op(opcode, operands)))
}

/// A constant.
pub fn lift<X: ScanType>(constant: X) -> V<X> {
    let mut constants = to_constants(&constant).into_iter();
    V::of(X::build(&mut |ty| emit(|f| f.constant(constants.next().unwrap_or(ty.zero())))))
}

/// A struct whose fields are all assigned next. The closure is never called: it names the type, by whatever path or
/// alias the user wrote, and makes rustc check that no field is missing.
pub fn unset<X: ScanType>(_witness: impl FnOnce() -> X) -> V<X> {
    V::of(X::build(&mut |_| Value::new(u32::MAX as usize)))
}

/// A value with its type written out.
pub fn typed<X: ScanType>(handle: V<X>) -> V<X> {
    handle
}

/// `[a, b, c]`
pub fn array<X: ScanType, const N: usize>(elements: [V<X>; N]) -> V<[X; N]> {
    V::of(elements)
}

/// The elements of an array, to iterate over.
pub fn elements<X: ScanType, const N: usize>(array: V<[X; N]>) -> [V<X>; N] {
    array.__parts
}

macro_rules! tuples {
    ($($function:ident $($name:ident)*;)*) => {$(
        /// A tuple of this length.
        #[allow(non_snake_case, clippy::too_many_arguments, reason = "one parameter for each member")]
        pub fn $function<$($name: ScanType),*>($($name: V<$name>),*) -> V<($($name,)*)> {
            V::of(($($name,)*))
        }
    )*};
}

tuples! {
    tuple1 A;
    tuple2 A B;
    tuple3 A B C;
    tuple4 A B C D;
    tuple5 A B C D E;
    tuple6 A B C D E F;
    tuple7 A B C D E F G;
    tuple8 A B C D E F G H;
    tuple9 A B C D E F G H I;
    tuple10 A B C D E F G H I J;
    tuple11 A B C D E F G H I J K;
    tuple12 A B C D E F G H I J K L;
}

/// `array[index]`, read. `place` is the expression as it was written, for the error message.
pub fn element<'a, X: ScanType, const N: usize>(array: &'a V<[X; N]>, index: usize, place: &'static str) -> &'a V<X> {
    match array.__parts.get(index) {
        Some(element) => element,
        None => stop(Stop::Index { place, index, length: N }),
    }
}

/// `array[index]`, written.
pub fn element_mut<'a, X: ScanType, const N: usize>(
    array: &'a mut V<[X; N]>,
    index: usize,
    place: &'static str,
) -> &'a mut V<X> {
    match array.__parts.get_mut(index) {
        Some(element) => element,
        None => stop(Stop::Index { place, index, length: N }),
    }
}

macro_rules! binary {
    ($($name:ident $opcode:ident $bound:ident -> $result:ident, $doc:literal;)*) => {$(
        #[doc = $doc]
        pub fn $name<T: $bound>(a: V<T>, b: V<T>) -> V<$result> {
            apply(Opcode::$opcode, &[value(a), value(b)])
        }
    )*};
}

binary! {
    add Add Num -> T, "`a + b`";
    sub Sub Num -> T, "`a - b`";
    mul Mul Num -> T, "`a * b`";
    div Div Num -> T, "`a / b`";
    rem Rem Remainder -> T, "`a % b`";
    bitand And BitLike -> T, "`a & b`";
    bitor Or BitLike -> T, "`a | b`";
    bitxor Xor BitLike -> T, "`a ^ b`";
    lt Lt Scalar -> bool, "`a < b`";
    le Le Scalar -> bool, "`a <= b`";
    gt Gt Scalar -> bool, "`a > b`";
    ge Ge Scalar -> bool, "`a >= b`";
}

/// `a && b`: both sides run.
pub fn and(a: V<bool>, b: V<bool>) -> V<bool> {
    bitand(a, b)
}

/// `a || b`: both sides run.
pub fn or(a: V<bool>, b: V<bool>) -> V<bool> {
    bitor(a, b)
}

/// `-a`
pub fn neg<T: Num>(a: V<T>) -> V<T> {
    apply(Opcode::Neg, &[value(a)])
}

/// `!a`
pub fn not<T: BitLike>(a: V<T>) -> V<T> {
    apply(Opcode::Not, &[value(a)])
}

/// `a << amount`
pub fn shl<T: Int, U: Int>(a: V<T>, amount: V<U>) -> V<T> {
    apply(Opcode::Shl, &[value(a), value(cast::<U, u32>(amount))])
}

/// `a >> amount`
pub fn shr<T: Int, U: Int>(a: V<T>, amount: V<U>) -> V<T> {
    apply(Opcode::Shr, &[value(a), value(cast::<U, u32>(amount))])
}

/// A shift amount known while tracing: any integer, `usize` among them, since loop variables are.
#[diagnostic::on_unimplemented(message = "a shift amount is an integer, not `{Self}`")]
pub trait Amount {
    /// The low bits, which are all that a shift looks at.
    fn low_bits(self) -> u32;
}

/// An index that is known while tracing.
#[diagnostic::on_unimplemented(message = "an index is a `usize`, not `{Self}`")]
pub trait Place {
    /// The number, as `as` has it.
    fn in_u64(self) -> u64;
}

macro_rules! amounts {
    ($($type:ident)*) => {$(
        impl Place for $type {
            fn in_u64(self) -> u64 {
                self as u64
            }
        }

        impl Amount for $type {
            fn low_bits(self) -> u32 {
                self as u32
            }
        }
    )*};
}

amounts!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize);

/// `a << amount`, the amount a constant.
pub fn shl_by<T: Int, U: Amount>(a: V<T>, amount: U) -> V<T> {
    shl(a, lift(amount.low_bits()))
}

/// `a >> amount`, the amount a constant.
pub fn shr_by<T: Int, U: Amount>(a: V<T>, amount: U) -> V<T> {
    shr(a, lift(amount.low_bits()))
}

/// `a as B`
pub fn cast<A: Castable, B: Scalar>(a: V<A>) -> V<B> {
    V::of(emit(|f| f.cast(B::TYPE, value(a))))
}

/// Types that `as` converts: scalars, and enums whose variants hold nothing.
#[diagnostic::on_unimplemented(
    message = "`as` in scan code converts scalars and enums, not `{Self}`",
    label = "not known to be a scalar",
    note = "a generic parameter needs `T: Real` (floats), `T: Int` (integers), `T: Num` (both) or `T: Scalar`"
)]
pub trait Castable: ScanType<Traced = Value> {}

/// A part of an index: `a as usize`.
pub fn wide<A: Castable>(a: V<A>) -> V<u64> {
    cast(a)
}

/// A part of an index that is known while tracing: any integer, `usize` among them, in the type that `usize` has here.
pub fn place<U: Place>(constant: U) -> V<u64> {
    lift(constant.in_u64())
}

/// `B::from(a)` and `a.into()` between scalars, where the standard library has them: without loss, so as `as`.
pub fn from<A: Scalar + Into<B>, B: Scalar>(a: V<A>) -> V<B> {
    cast(a)
}

/// A value of the type behind a handle: it has the methods of that type, which macro output looks for. Which value it
/// is does not matter.
pub fn witness<X: ScanType>(_: &V<X>) -> X {
    X::load(&mut std::iter::empty())
}

/// Values that `scan!` may capture: they are copied, and kept with the scan.
#[diagnostic::on_unimplemented(
    message = "`scan!` cannot capture a `{X}`: it copies numbers, arrays and scan types, which become constants",
    label = "captured here",
    note = "elements looked up by data are for a `#[scan_fn]` with a `Table<T>` parameter, and `.with_table(&elements)`"
)]
pub trait Captures<X> {}

/// A local, as `scan!` sees it.
pub struct Local<X>(std::marker::PhantomData<X>);

#[diagnostic::do_not_recommend]
impl<X: Copy + Send + Sync> Captures<X> for Local<X> {}

/// Checks that a local can be captured.
pub fn captured<X>(_: &X)
where
    Local<X>: Captures<X>,
{
}

/// `if condition { yes } else { no }`, component by component.
pub fn select<X: ScanType>(condition: V<bool>, yes: V<X>, no: V<X>) -> V<X> {
    let chosen = yes.values().into_iter().zip(no.values());
    let chosen: Vec<Value> = chosen.map(|(yes, no)| emit(|f| f.select(value(condition), yes, no))).collect();
    V::from_values(&mut chosen.into_iter())
}

/// Values of the arms of an `if` or `match`: a handle, or nothing. So the macro need not know which.
#[diagnostic::on_unimplemented(
    message = "an `if` on run-time data cannot give a `{Self}`",
    note = "both arms run and their values are selected, which works for scan types only"
)]
pub trait Merge {
    /// The value of the arm that was taken.
    fn merge(condition: V<bool>, yes: Self, no: Self) -> Self;
}

impl Merge for () {
    fn merge(_: V<bool>, (): (), (): ()) {}
}

impl<X: ScanType> Merge for V<X> {
    fn merge(condition: V<bool>, yes: V<X>, no: V<X>) -> V<X> {
        select(condition, yes, no)
    }
}

/// The value of an `if` or `match`.
pub fn merge<R: Merge>(condition: V<bool>, yes: R, no: R) -> R {
    R::merge(condition, yes, no)
}

/// `a.combine(b)`
pub fn combine<M: Monoid>(a: V<M>, b: V<M>) -> V<M> {
    M::trace_combine(a, b)
}

/// `a.valid()`
pub fn valid<M: Monoid>(a: V<M>) -> V<bool> {
    M::trace_valid(a).unwrap_or_else(|| lift(true))
}

/// `a.follows(b)`
pub fn follows<M: Monoid>(a: V<M>, b: V<M>) -> V<bool> {
    M::trace_follows(a, b).unwrap_or_else(|| lift(true))
}

/// The type of a name in a pattern that must bind: macro output matches a value of this type with it, in code that never
/// runs, so that a lower-case constant there is a type error and not a silent binding.
pub struct NewBinding;
