//! Output columns of a typed scan: one of records, or one for each member of a tuple.
//!
//! `Scan<M, _, T>` writes a column of `T`. `Scan<M, _, Unzipped<(A, B)>>` writes a column of `A`
//! and one of `B`, which come as a pair: new ones as a pair of vectors, those that are there as a
//! pair of slices. One column is the case of one in every respect.

use std::marker::PhantomData;

use monoscan_runtime::Error;

use super::columns::Record;
use super::columns::sealed::Part;
use super::device::DeviceVec;
use super::place::{Host, OnDevice, Place};
use crate::lang::ScanType;

/// The results of a scan: `T` for one column of records, [`Unzipped<(A, B)>`](Unzipped) for a column of `A` and one of `B`.
pub trait Outputs: sealed::Outputs {
    /// The columns as the arguments of a lift: `(T,)`, or the tuple.
    type Record: Record;

    /// One result: `T`, or the tuple.
    type Item;

    /// New columns in this place: `Vec<T>` or [`DeviceVec<T>`], or a tuple of these.
    type Vec<P: Place>;

    #[doc(hidden)]
    type Rows: Iterator<Item = Self::Item> + Default;

    /// The results in these columns, one after the other.
    #[doc(hidden)]
    fn rows(columns: Self::Vec<Host>) -> Self::Rows;

    /// How many columns.
    #[doc(hidden)]
    const COUNT: usize;

    /// Space for so many records in each column.
    #[doc(hidden)]
    fn space<P: Place>(maker: &P::Maker, len: usize) -> Result<Self::Vec<P>, Error>;

    /// Space as columns of so many records.
    #[doc(hidden)]
    fn parts<'v, P: Place>(space: &'v mut Self::Vec<P>, len: usize, part: impl FnMut(P::Part<'v>));

    /// # Safety
    /// So many records of each column were written, or are going to be, and there is space for them.
    #[doc(hidden)]
    unsafe fn set_len<P: Place>(space: &mut Self::Vec<P>, len: usize);
}

/// A column for each member of the tuple `T`, two to twelve: what [`ScanBuilder::unzip`](crate::ScanBuilder::unzip) makes of
/// results `T`. A type without values.
#[derive(Debug)]
pub struct Unzipped<T>(PhantomData<T>);

/// Columns of equal length that the results of a scan can be written to: slices, or [`DeviceVec`]s, but not both in one call.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be written as the columns of `{Out}`",
    label = "expected a mutable slice for each column of the results",
    note = "results `T`: `&mut [T]`, `&mut Vec<T>`, `&mut [T; N]`, `&mut DeviceVec<T>`, `StridedMut<T>` or `DeviceStridedMut<T>`; results `Unzipped<(A, B)>`: a tuple of them, like `(&mut a, &mut b)`"
)]
pub trait ColumnsMut<Out>: sealed::ColumnsMut<Out, At = Self::Place> {
    /// Where they lie.
    type Place: Place;
}

pub(super) mod sealed {
    use super::Place;

    /// Engines write this memory.
    pub trait Outputs {}

    /// Each column, in order. Sealed: engines write this memory.
    // What a call returns depends on the columns, so rustc may name this trait rather than the public one.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` cannot be written as the columns of `{Out}`",
        label = "expected a mutable slice for each column of the results",
        note = "results `T`: `&mut [T]`, `&mut Vec<T>`, `&mut [T; N]`, `&mut DeviceVec<T>`, `StridedMut<T>` or `DeviceStridedMut<T>`; results `Unzipped<(A, B)>`: a tuple of them, like `(&mut a, &mut b)`"
    )]
    pub trait ColumnsMut<Out> {
        type At: Place;

        fn parts<'s>(&'s mut self, part: impl FnMut(<Self::At as crate::scan::place::sealed::Place>::Part<'s>));
    }

    /// Something borrowed mutably that is a column of `T`.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` cannot be written as a column of `{T}`",
        label = "expected a mutable slice for each column of the results",
        note = "a column of `T`: `&mut [T]`, `&mut Vec<T>`, `&mut [T; N]`, `&mut DeviceVec<T>`, `StridedMut<T>` or `DeviceStridedMut<T>`; of other containers, their slice, as in `&mut y[..]`"
    )]
    pub trait AsColumnMut<T> {
        type At: Place;

        fn part(&mut self) -> <Self::At as crate::scan::place::sealed::Place>::Part<'_>;
    }
}

use sealed::AsColumnMut;

impl<T> AsColumnMut<T> for &mut [T] {
    type At = Host;

    #[inline]
    fn part(&mut self) -> Part<*mut u8> {
        Part::dense(self.as_mut_ptr().cast(), self.len())
    }
}

impl<T> AsColumnMut<T> for &mut Vec<T> {
    type At = Host;

    #[inline]
    fn part(&mut self) -> Part<*mut u8> {
        Part::dense(self.as_mut_ptr().cast(), self.len())
    }
}

impl<T, const N: usize> AsColumnMut<T> for &mut [T; N] {
    type At = Host;

    #[inline]
    fn part(&mut self) -> Part<*mut u8> {
        Part::dense(self.as_mut_ptr().cast(), N)
    }
}

impl<T> AsColumnMut<T> for &mut DeviceVec<T> {
    type At = OnDevice;

    fn part(&mut self) -> (&mut monoscan_runtime::DeviceMemory, Part<usize>) {
        (&mut self.memory, Part::dense(0, self.len))
    }
}

impl<Out, Y: sealed::ColumnsMut<Out>> ColumnsMut<Out> for Y {
    type Place = Y::At;
}

impl<T: ScanType> sealed::Outputs for T {}

impl<T: ScanType> Outputs for T {
    type Record = (T,);
    type Item = T;
    type Vec<P: Place> = P::Vec<T>;
    type Rows = std::vec::IntoIter<T>;

    const COUNT: usize = 1;

    fn rows(column: Vec<T>) -> Self::Rows {
        column.into_iter()
    }

    fn space<P: Place>(maker: &P::Maker, len: usize) -> Result<P::Vec<T>, Error> {
        P::space(maker, len)
    }

    fn parts<'v, P: Place>(space: &'v mut P::Vec<T>, len: usize, mut part: impl FnMut(P::Part<'v>)) {
        part(P::part::<T>(space, len));
    }

    unsafe fn set_len<P: Place>(space: &mut P::Vec<T>, len: usize) {
        // SAFETY: the caller says so.
        unsafe { P::set_len::<T>(space, len) }
    }
}

impl<T: ScanType, Y: AsColumnMut<T>> sealed::ColumnsMut<T> for Y {
    type At = Y::At;

    #[inline]
    fn parts<'s>(&'s mut self, mut part: impl FnMut(<Y::At as super::place::sealed::Place>::Part<'s>)) {
        part(self.part());
    }
}

/// The members of several columns, side by side.
#[derive(Debug, Default)]
pub struct Zipped<Columns>(Columns);

macro_rules! unzipped {
    ($(($($A:ident $Y:ident $i:tt),+);)*) => {$(
        impl<$($A: ScanType),+> sealed::Outputs for Unzipped<($($A,)+)> {}

        impl<$($A: ScanType),+> Outputs for Unzipped<($($A,)+)> {
            type Record = ($($A,)+);
            type Item = ($($A,)+);
            type Vec<P: Place> = ($(P::Vec<$A>,)+);
            type Rows = Zipped<($(std::vec::IntoIter<$A>,)+)>;

            const COUNT: usize = [$($i),+].len();

            fn rows(columns: ($(Vec<$A>,)+)) -> Self::Rows {
                Zipped(($(columns.$i.into_iter(),)+))
            }

            fn space<P: Place>(maker: &P::Maker, len: usize) -> Result<($(P::Vec<$A>,)+), Error> {
                Ok(($(P::space::<$A>(maker, len)?,)+))
            }

            fn parts<'v, P: Place>(space: &'v mut ($(P::Vec<$A>,)+), len: usize, mut part: impl FnMut(P::Part<'v>)) {
                $(part(P::part::<$A>(&mut space.$i, len));)+
            }

            unsafe fn set_len<P: Place>(space: &mut ($(P::Vec<$A>,)+), len: usize) {
                // SAFETY: the caller says so.
                unsafe { $(P::set_len::<$A>(&mut space.$i, len);)+ }
            }
        }

        impl<$($A),+> Iterator for Zipped<($(std::vec::IntoIter<$A>,)+)> {
            type Item = ($($A,)+);

            #[inline]
            fn next(&mut self) -> Option<Self::Item> {
                Some(($(self.0.$i.next()?,)+))
            }
        }

        impl<P: Place, $($A: ScanType,)+ $($Y: AsColumnMut<$A, At = P>),+> sealed::ColumnsMut<Unzipped<($($A,)+)>>
            for ($($Y,)+)
        {
            type At = P;

            fn parts<'s>(&'s mut self, mut part: impl FnMut(P::Part<'s>)) {
                $(part(self.$i.part());)+
            }
        }
    )*};
}

for_prefixes! {
    unzipped (A X 0, B Y 1)
    (C Z 2) (D W 3) (E V 4) (F U 5) (G T 6) (H S 7) (I R 8) (J Q 9) (K XA 10) (L XB 11)
}
