//! Input columns of a typed scan: one for each argument of its lift, a slice or a vector on a
//! device.
//!
//! `Scan<M, (A, B), _>` has a lift with two arguments, so it reads two columns, a slice of `A` and
//! one of `B`, given as a pair of slices. With one argument it reads one slice, given as it is; the
//! argument may be a struct or a tuple, and then the column is an array of records.

mod memory;

use monoscan_runtime::{DeviceMemory, Spacing};

pub(super) use memory::{Spaced, bases, len_of, read, spaced, value, write};

use super::device::DeviceVec;
use super::place::{Host, OnDevice, Place};
use crate::lang::{Inputs, ScanType};

/// The arguments of a lift: a tuple of one to twelve scan types, a column each.
pub trait Record: Inputs {
    /// The record of an [`Element`](crate::Element): the one argument, or the tuple of them all.
    type Item: ScanType;

    /// The same arguments after a state, for outputs that also read the record.
    type After<M: ScanType>: Inputs;

    /// Records that were collected, a column each.
    #[doc(hidden)]
    type Chunk: Default;

    /// How many arguments.
    #[doc(hidden)]
    const COLUMNS: usize;

    #[doc(hidden)]
    fn item(self) -> Self::Item;

    #[doc(hidden)]
    fn after<M: ScanType>(self, state: M) -> Self::After<M>;

    #[doc(hidden)]
    fn push(chunk: &mut Self::Chunk, record: Self::Item);

    #[doc(hidden)]
    fn clear(chunk: &mut Self::Chunk);

    #[doc(hidden)]
    fn chunk(chunk: &Self::Chunk) -> impl Columns<Self, Place = Host>;

    /// Record `place` of the columns, from where `column` says, of the number it is given: within a longer column perhaps one before.
    ///
    /// # Safety
    /// Each has such a record, at any address.
    #[doc(hidden)]
    unsafe fn read(column: impl Fn(usize) -> *const u8, place: isize) -> Self;
}

/// The arguments of a lift that has parameters: these, and then the arguments that are columns.
#[diagnostic::on_unimplemented(
    message = "`{Self}` are no arguments of a step, or of a lift with parameters",
    label = "expected the state or the parameters, and one column or more behind them"
)]
pub trait Parameterised: Inputs {
    /// The first argument.
    type Parameters: ScanType;

    /// The others.
    type Record: Record;

    /// All of them.
    #[doc(hidden)]
    fn join(parameters: Self::Parameters, record: Self::Record) -> Self;
}

impl<P: ScanType, A: ScanType> Parameterised for (P, A) {
    type Parameters = P;
    type Record = (A,);

    #[inline]
    fn join(parameters: P, (record,): (A,)) -> (P, A) {
        (parameters, record)
    }
}

/// Columns of equal length that can be read as a record's: slices, or [`DeviceVec`]s, but not both in one call.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read as the columns of `{R}`",
    label = "expected a slice for each argument of the lift",
    note = "one argument: `&[A]`, `&Vec<A>`, `&[A; N]`, `&DeviceVec<A>`, `Strided<A>` or `DeviceStrided<A>`; more: a tuple of them, like `(&a[..], &b[..])`"
)]
pub trait Columns<R>: sealed::Columns<R> {
    /// Where they lie.
    type Place: Place;
}

pub(super) mod sealed {
    use super::{DeviceMemory, Place, Spacing};

    /// A column: where record 0 is, how many there are, and how they lie if not one after the other. In the memory of a device the
    /// base is the bytes before record 0.
    #[derive(Clone, Copy)]
    pub struct Part<Base> {
        pub base: Base,
        pub len: usize,
        pub spacing: Option<Spacing>,
    }

    impl<Base> Part<Base> {
        /// Records one after the other.
        #[inline]
        pub fn dense(base: Base, len: usize) -> Self {
            Part { base, len, spacing: None }
        }
    }

    /// Where each column starts and how many records it has. Sealed: engines read this memory.
    // What a call returns depends on the columns, so rustc may name this trait rather than the public one.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` cannot be read as the columns of `{R}`",
        label = "expected a slice for each argument of the lift",
        note = "one argument: `&[A]`, `&Vec<A>`, `&[A; N]`, `&DeviceVec<A>`, `Strided<A>` or `DeviceStrided<A>`; more: a tuple of them, like `(&a[..], &b[..])`"
    )]
    pub trait Columns<R> {
        type At: Place;

        fn parts(&self, column: impl FnMut(Part<*const u8>));

        /// The memory of each column, if it is on a device.
        fn memories<'s>(&'s self, memory: impl FnMut(&'s DeviceMemory));
    }

    /// Something borrowed that is a column of `T`.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` is no column of `{T}`",
        label = "expected a borrowed slice for each argument of the lift",
        note = "a column of `T`: `&[T]`, `&Vec<T>`, `&[T; N]`, `&DeviceVec<T>`, `Strided<T>` or `DeviceStrided<T>`; of other containers, their slice, as in `&x[..]`",
        note = "columns of an operator that wraps numbers, like `ops::Sum<i32>`, are of `Sum<i32>` by `Scan::new`, and of `i32` by `Scan::plain`"
    )]
    pub trait AsColumn<T> {
        type At: Place;

        fn part(&self) -> Part<*const u8>;

        fn memory(&self) -> Option<&DeviceMemory> {
            None
        }
    }
}

use sealed::{AsColumn, Part};

impl<T> AsColumn<T> for &[T] {
    type At = Host;

    #[inline]
    fn part(&self) -> Part<*const u8> {
        Part::dense(self.as_ptr().cast(), self.len())
    }
}

impl<T, const N: usize> AsColumn<T> for &[T; N] {
    type At = Host;

    #[inline]
    fn part(&self) -> Part<*const u8> {
        Part::dense(self.as_ptr().cast(), N)
    }
}

impl<T> AsColumn<T> for &Vec<T> {
    type At = Host;

    #[inline]
    fn part(&self) -> Part<*const u8> {
        Part::dense(self.as_ptr().cast(), self.len())
    }
}

impl<T> AsColumn<T> for &DeviceVec<T> {
    type At = OnDevice;

    fn part(&self) -> Part<*const u8> {
        Part::dense(std::ptr::null(), self.len)
    }

    fn memory(&self) -> Option<&DeviceMemory> {
        Some(&self.memory)
    }
}

impl<R, C: sealed::Columns<R>> Columns<R> for C {
    type Place = C::At;
}

impl<A, X: AsColumn<A>> sealed::Columns<(A,)> for X {
    type At = X::At;

    #[inline]
    fn parts(&self, mut column: impl FnMut(Part<*const u8>)) {
        column(self.part());
    }

    fn memories<'s>(&'s self, memory: impl FnMut(&'s DeviceMemory)) {
        self.memory().into_iter().for_each(memory);
    }
}

impl<A: ScanType> Record for (A,) {
    type Item = A;
    type After<State: ScanType> = (State, A);
    type Chunk = Vec<A>;
    const COLUMNS: usize = 1;

    #[inline(always)]
    fn item(self) -> A {
        self.0
    }

    #[inline(always)]
    fn after<M: ScanType>(self, state: M) -> (M, A) {
        (state, self.0)
    }

    fn push(chunk: &mut Vec<A>, record: A) {
        chunk.push(record);
    }

    fn clear(chunk: &mut Vec<A>) {
        chunk.clear();
    }

    fn chunk(chunk: &Vec<A>) -> impl Columns<(A,), Place = Host> {
        chunk
    }

    #[inline]
    unsafe fn read(column: impl Fn(usize) -> *const u8, place: isize) -> (A,) {
        // SAFETY: the caller says so.
        (unsafe { value::<A>(column(0).cast::<A>().offset(place).cast()) },)
    }
}

macro_rules! records {
    ($(($($A:ident $i:tt),+);)*) => {$(
        impl<$($A: ScanType),+> Record for ($($A,)+) {
            type Item = Self;
            type After<State: ScanType> = (State, $($A,)+);
            type Chunk = ($(Vec<$A>,)+);
            const COLUMNS: usize = [$($i),+].len();

            #[inline(always)]
            fn item(self) -> Self {
                self
            }

            #[inline(always)]
            fn after<State: ScanType>(self, state: State) -> (State, $($A,)+) {
                (state, $(self.$i,)+)
            }

            fn push(chunk: &mut Self::Chunk, record: Self) {
                $(chunk.$i.push(record.$i);)+
            }

            fn clear(chunk: &mut Self::Chunk) {
                $(chunk.$i.clear();)+
            }

            fn chunk(chunk: &Self::Chunk) -> impl Columns<Self, Place = Host> {
                ($(&chunk.$i,)+)
            }

            #[inline]
            unsafe fn read(column: impl Fn(usize) -> *const u8, place: isize) -> Self {
                // SAFETY: the caller says so.
                ($(unsafe { value::<$A>(column($i).cast::<$A>().offset(place).cast()) },)+)
            }
        }

        impl<Parameters: ScanType, $($A: ScanType),+> Parameterised for (Parameters, $($A,)+) {
            type Parameters = Parameters;
            type Record = ($($A,)+);

            #[inline]
            fn join(parameters: Parameters, record: ($($A,)+)) -> Self {
                (parameters, $(record.$i,)+)
            }
        }
    )*};
}

for_prefixes! {
    records (A 0, B 1) (C 2) (D 3) (E 4) (F 5) (G 6) (H 7) (I 8) (J 9) (K 10) (L 11)
}

macro_rules! columns {
    ($(($($A:ident $X:ident $i:tt),+);)*) => {$(
        impl<P: Place, $($A,)+ $($X: AsColumn<$A, At = P>),+> sealed::Columns<($($A,)+)> for ($($X,)+) {
            type At = P;

            #[inline]
            fn parts(&self, mut column: impl FnMut(Part<*const u8>)) {
                $(column(self.$i.part());)+
            }

            fn memories<'s>(&'s self, mut memory: impl FnMut(&'s DeviceMemory)) {
                $(self.$i.memory().into_iter().for_each(&mut memory);)+
            }
        }
    )*};
}

for_prefixes! {
    columns (A X 0, B Y 1)
    (C Z 2) (D W 3) (E V 4) (F U 5) (G T 6) (H S 7) (I R 8) (J Q 9) (K XA 10) (L XB 11)
}
