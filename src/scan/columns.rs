//! What a typed scan reads: one slice for each argument of its lift.
//!
//! `Scan<M, (A, B), _>` has a lift with two arguments, so it reads two columns, a slice of `A` and one of `B`, given as
//! a pair of slices. With one argument it reads one slice, given as it is; the argument may be a struct or a tuple, and
//! then the column is an array of records.

use monoscan_ir::Layout;
use monoscan_runtime::{Column, SHORT_INPUTS};
use smallvec::SmallVec;

use crate::lang::{Inputs, ScanType};

/// The arguments of a lift: a tuple of one to six scan types, a column each.
pub trait Record: Inputs {
    /// The record of an [`Element`](crate::Element): the one argument, or the tuple of them all.
    type Item: ScanType;

    /// The same arguments after a state, for outputs that also read the record.
    type After<M: ScanType>: Inputs;
}

/// Slices of equal length that can be read as the columns of a record.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read as the columns of `{R}`",
    label = "expected a slice for each argument of the lift",
    note = "one argument: `&[A]`, `&Vec<A>` or `&[A; N]`; more: a tuple of them, like `(&a[..], &b[..])`"
)]
pub trait Columns<R>: sealed::Columns<R> {}

mod sealed {
    /// Where each column starts and how many records it has. Sealed: engines read this memory.
    pub trait Columns<R> {
        fn parts(&self, column: impl FnMut(*const u8, usize));
    }

    /// Something borrowed that is a slice of `T`.
    pub trait AsColumn<T> {
        fn as_column(&self) -> &[T];
    }
}

use sealed::AsColumn;

impl<T> AsColumn<T> for &[T] {
    #[inline]
    fn as_column(&self) -> &[T] {
        self
    }
}

impl<T, const N: usize> AsColumn<T> for &[T; N] {
    #[inline]
    fn as_column(&self) -> &[T] {
        *self
    }
}

impl<T> AsColumn<T> for &Vec<T> {
    #[inline]
    fn as_column(&self) -> &[T] {
        self
    }
}

impl<R, C: sealed::Columns<R>> Columns<R> for C {}

impl<A, X: AsColumn<A>> sealed::Columns<(A,)> for X {
    #[inline]
    fn parts(&self, mut column: impl FnMut(*const u8, usize)) {
        let slice = self.as_column();
        column(slice.as_ptr().cast(), slice.len());
    }
}

impl<A: ScanType> Record for (A,) {
    type Item = A;
    type After<State: ScanType> = (State, A);
}

macro_rules! records {
    ($(($($A:ident),+);)*) => {$(
        impl<$($A: ScanType),+> Record for ($($A,)+) {
            type Item = Self;
            type After<State: ScanType> = (State, $($A,)+);
        }
    )*};
}

records! {
    (A, B);
    (A, B, C);
    (A, B, C, D);
    (A, B, C, D, E);
    (A, B, C, D, E, F);
}

macro_rules! columns {
    ($(($($A:ident $X:ident $i:tt),+);)*) => {$(
        impl<$($A,)+ $($X: AsColumn<$A>),+> sealed::Columns<($($A,)+)> for ($($X,)+) {
            #[inline]
            fn parts(&self, mut column: impl FnMut(*const u8, usize)) {
                $(
                    let slice = self.$i.as_column();
                    column(slice.as_ptr().cast(), slice.len());
                )+
            }
        }
    )*};
}

columns! {
    (A X 0, B Y 1);
    (A X 0, B Y 1, C Z 2);
    (A X 0, B Y 1, C Z 2, D W 3);
    (A X 0, B Y 1, C Z 2, D W 3, E V 4);
    (A X 0, B Y 1, C Z 2, D W 3, E V 4, F U 5);
}

/// The columns of a record, without an allocation.
pub(super) type Read<'a> = SmallVec<[Column<'a>; 6]>;

/// Where the first slices start, if all of them are of this length.
#[inline]
pub(super) fn bases<R: Record>(slices: &impl Columns<R>, len: usize) -> Option<[*const u8; SHORT_INPUTS]> {
    let mut bases = [std::ptr::null(); SHORT_INPUTS];
    let mut free = bases.iter_mut();
    let mut fits = true;
    slices.parts(|base, records| {
        if let Some(place) = free.next() {
            *place = base;
        }
        fits &= records == len;
    });
    fits.then_some(bases)
}

/// Where the first slices start, and how long all of them are, if they are of one length.
#[inline]
pub(super) fn equal<R: Record>(slices: &impl Columns<R>) -> Option<([*const u8; SHORT_INPUTS], usize)> {
    let mut len = 0;
    slices.parts(|_, records| len = records);
    Some((bases(slices, len)?, len))
}

/// The slices as columns of these layouts, which must be those of `R`.
pub(super) fn read<'a, R: Record>(slices: &'a impl Columns<R>, layouts: &'a [Layout]) -> Read<'a> {
    let mut columns = Read::new();
    let mut layouts = layouts.iter();
    slices.parts(|base, len| {
        if let Some(layout) = layouts.next() {
            // SAFETY: the memory is a slice that `slices` borrows, of a type whose fields the macro laid out.
            columns.push(unsafe { Column::from_raw(base, len, layout) });
        }
    });
    columns
}
