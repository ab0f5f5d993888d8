//! The methods that run a [`Request`]: the same for host memory and device memory.

use std::mem::{ManuallyDrop, MaybeUninit};

use monoscan_ir::Mode;
use monoscan_runtime::{Combination, Error};

use super::{Request, WithTotals};
use crate::lang::ScanType;
use crate::scan::columns::{Columns, Record};
use crate::scan::outputs::{ColumnsMut, Outputs};
use crate::scan::place::sealed::Place as _;
use crate::scan::place::{Host, Place};
use crate::scan::states::States;
use crate::scan::totals::{Borrowed, Totals};

impl<S: States, In: Record, Out: Outputs> Request<'_, S, In, Out> {
    /// `y[i] = project(after[i])`, or of these what the scan keeps.
    ///
    /// ```
    /// use monoscan::{Error, ops::Sum, prelude::*};
    ///
    /// let sums = Scan::<Sum<i32>>::plain()?;
    /// assert_eq!(sums.reversed().inclusive(&[1, 2, 3])?, [6, 5, 3]);
    /// let both = sums.axis(&[2, 2], 1).segmented(&[true; 4]).inclusive(&[1, 2, 3, 4]);
    /// assert!(matches!(both, Err(Error::Combination(_))));
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Length`] if columns or flags differ in length, [`Error::Offsets`], [`Error::Rows`] if the columns are
    /// shorter than the rows; [`Error::OutOfMemory`]; [`Error::Combination`] where a combination has no good meaning: segments of
    /// rows; kept records of rows; resuming offsets, keys or, in a reversed scan, flagged segments; and if records lie
    /// beside rows, for which a new vector has no values: [`inclusive_into`](Request::inclusive_into) leaves these untouched.
    pub fn inclusive<C: Columns<In>>(self, input: C) -> Result<Out::Vec<C::Place>, Error> {
        C::Place::collect(self, Mode::Inclusive, &input)
    }

    /// `y[i] = project(before[i])`, or of these what the scan keeps.
    ///
    /// ```
    /// use monoscan::{ops::Sum, prelude::*};
    ///
    /// let sums = Scan::<Sum<i32>>::plain()?;
    /// assert_eq!(sums.segmented(&[true, false, true]).exclusive(&[1, 2, 3])?, [0, 1, 0]);
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`inclusive`](Request::inclusive).
    pub fn exclusive<C: Columns<In>>(self, input: C) -> Result<Out::Vec<C::Place>, Error> {
        C::Place::collect(self, Mode::Exclusive, &input)
    }

    /// [`inclusive`](Request::inclusive) into a slice, or a [`DeviceVec`](crate::DeviceVec) for columns on a device; gives how many records were written: all, or those kept, which come first.
    /// A scan that keeps may overwrite up to four records behind the last that is kept.
    ///
    /// Allocates nothing but for an initial state or carry, and for the engine's own needs where the input is large.
    ///
    /// ```
    /// use monoscan::{Error, ops::Sum, prelude::*};
    ///
    /// let sums = Scan::<Sum<i32>>::plain()?;
    /// let (x, mut y) = ([1, 2, 3, 4], vec![0; 4]);
    /// assert_eq!(sums.init(Sum(10)).inclusive_into(&x, &mut y)?, 4);
    /// assert_eq!(y, [11, 13, 16, 20]);
    /// assert!(matches!(sums.reversed().inclusive_into(&x, &mut y[..3]), Err(Error::Length { .. })));
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::Offsets`], [`Error::Rows`] as [`inclusive`](Request::inclusive), also if the output has another
    /// length than the columns. A scan that keeps needs space for what it keeps: [`Error::OutputTooShort`] says how much that is; with
    /// space for all records the input is read once, with less once more. Nothing is written after an error
    /// here; of columns on a device, what [`Pending::wait`](crate::Pending::wait) tells later may leave anything in the outputs.
    #[inline(always)]
    pub fn inclusive_into<C: Columns<In>>(
        self,
        input: C,
        output: impl ColumnsMut<Out, Place = C::Place>,
    ) -> Result<<C::Place as Place>::Written, Error> {
        C::Place::fill(self, Mode::Inclusive, &input, output)
    }

    /// [`exclusive`](Request::exclusive) into a slice. A scan that keeps may overwrite up to four records behind the last that is kept.
    ///
    /// ```
    /// use monoscan::{ops::Sum, prelude::*};
    ///
    /// let sums = Scan::<Sum<i32>>::plain()?;
    /// let mut y = [0; 3];
    /// sums.reversed().exclusive_into(&[1, 2, 3], &mut y)?;
    /// assert_eq!(y, [5, 3, 0]);
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`inclusive_into`](Request::inclusive_into).
    #[inline(always)]
    pub fn exclusive_into<C: Columns<In>>(
        self,
        input: C,
        output: impl ColumnsMut<Out, Place = C::Place>,
    ) -> Result<<C::Place as Place>::Written, Error> {
        C::Place::fill(self, Mode::Exclusive, &input, output)
    }

    /// [`inclusive`](Request::inclusive), and the [totals](Request::totals) of all sequences, out of one read of the input; of
    /// segments between offsets or of equal keys, and of slices on a GPU, out of two. The totals of rows are what the next batch starts from, by
    /// [`init_each`](Request::init_each). Of floats a total may be rounded otherwise than the last output, and the outputs of rows
    /// otherwise than those of [`inclusive`](Request::inclusive).
    ///
    /// ```
    /// use monoscan::{ops::Sum, prelude::*};
    ///
    /// let sums = Scan::<Sum<i32>>::plain()?;
    /// let (y, totals) = sums.axis(&[2, 2], 1).inclusive_with_totals(&[1, 2, 3, 4])?;
    /// assert_eq!((y, totals), (vec![1, 3, 3, 7], vec![Sum(3), Sum(7)]));
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`inclusive`](Request::inclusive).
    pub fn inclusive_with_totals<C: Columns<In>>(self, input: C) -> Result<WithTotals<Out, C::Place, S>, Error> {
        C::Place::collect_with_totals(self, Mode::Inclusive, &input)
    }

    /// [`exclusive`](Request::exclusive), and the totals of all sequences, as
    /// [`inclusive_with_totals`](Request::inclusive_with_totals).
    ///
    /// ```
    /// use monoscan::{ops::Sum, prelude::*};
    ///
    /// let sums = Scan::<Sum<i32>>::plain()?;
    /// // Where each group begins, and how long all of them are.
    /// let (starts, totals) = sums.request().exclusive_with_totals(&[2, 0, 3])?;
    /// assert_eq!((starts, totals), (vec![0, 2, 2], vec![Sum(5)]));
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`inclusive`](Request::inclusive).
    pub fn exclusive_with_totals<C: Columns<In>>(self, input: C) -> Result<WithTotals<Out, C::Place, S>, Error> {
        C::Place::collect_with_totals(self, Mode::Exclusive, &input)
    }

    /// The total of the line, `start ⊕ x[0] ⊕ … ⊕ x[n-1]`; with flags for heads, that of the segment that ends the scan: the first
    /// of a reversed one. Writes nothing, and reads the input once.
    ///
    /// ```
    /// use monoscan::{Error, ops::Sum, prelude::*};
    ///
    /// let sums = Scan::<Sum<i32>>::plain()?;
    /// let x = [1, 2, 3];
    /// assert_eq!(sums.init(Sum(10)).reduce(&x)?, Sum(16));
    /// assert_eq!(sums.segmented(&[true, false, true]).reduce(&x)?, Sum(3)); // of flags, the last segment's
    /// assert_eq!(sums.segmented(&[0usize, 3]).reduce(&x)?, Sum(6));
    /// assert!(matches!(sums.segmented(&[0usize, 1, 3]).reduce(&x), Err(Error::Combination(_))));
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`inclusive`](Request::inclusive); [`Error::Combination`] unless there is one total: rows, and segments between
    /// offsets or of equal keys, have one each, which [`totals`](Request::totals) gives; and of a scan that is resumed, whose carry is the
    /// total. Without results, go on by [`init`](Request::init): `total = scan.init(total).reduce(chunk)?`.
    #[inline(always)]
    pub fn reduce(self, input: impl Columns<In>) -> Result<S, Error> {
        let mut request = ManuallyDrop::new(self);
        match request.short_total(&input) {
            Some(total) => {
                // SAFETY: it is left here.
                unsafe { Request::end(&mut request) };
                Ok(total)
            }
            None => ManuallyDrop::into_inner(request).one_total(&input),
        }
    }

    #[inline(never)]
    fn one_total<C: Columns<In>>(self, input: &C) -> Result<S, Error> {
        let mut totals = Vec::new();
        self.put_all(input, &mut totals)?;
        match totals[..] {
            [total] => Ok(total),
            _ => Err(Combination::OneTotal { sequences: totals.len() }.into()),
        }
    }

    /// The totals of all sequences, in order: one for each segment between offsets or of equal keys, or each row. With flags it is one,
    /// that of the last segment: [`totals_by_flags`](crate::algo::groups::totals_by_flags) gives those of all. Keys in device memory are
    /// read once more, to count segments, and offsets there are copied to the host.
    ///
    /// ```
    /// use monoscan::{by_key, ops::Sum, prelude::*};
    ///
    /// let sums = Scan::<Sum<i32>>::plain()?;
    /// let x = [1, 2, 3];
    /// assert_eq!(sums.segmented(&[0usize, 1, 1, 3]).totals(&x)?, [1, 0, 5].map(Sum));
    /// assert_eq!(sums.segmented(by_key(&["a", "b", "b"])).totals(&x)?, [1, 5].map(Sum));
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`inclusive`](Request::inclusive); [`Error::Combination`] of a scan that is resumed, whose carries are the totals.
    #[inline(always)]
    pub fn totals<C: Columns<In>>(self, input: C) -> Result<Vec<S>, Error> {
        let mut totals = Vec::new();
        self.put_totals(&input, &mut totals)?;
        Ok(totals)
    }

    /// [`totals`](Request::totals) into a slice, from its first state on. Gives how many there are; the rest of the slice stays as it
    /// was. Contiguous rows and segments on the CPU, forwards and from the identity, take no new memory.
    ///
    /// ```
    /// use monoscan::{Error, by_key, ops::Sum, prelude::*};
    ///
    /// let sums = Scan::<Sum<i32>>::plain()?;
    /// let mut totals = [Sum(7); 3];
    /// assert_eq!(sums.segmented(by_key(&["a", "b", "b"])).totals_into(&[1, 2, 3], &mut totals)?, 2);
    /// assert_eq!(totals, [1, 5, 7].map(Sum));
    /// let too_short = sums.segmented(&[0usize, 1, 1, 3]).totals_into(&[1, 2, 3], &mut totals[..2]);
    /// assert!(matches!(too_short, Err(Error::TotalsTooShort { expected: 3, got: 2 })));
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`totals`](Request::totals), after which the slice may hold some of them; [`Error::TotalsTooShort`] if there are more, and
    /// then nothing is written.
    #[inline(always)]
    pub fn totals_into<C: Columns<In>>(self, input: C, totals: &mut [S]) -> Result<usize, Error> {
        let mut totals = Borrowed::new(totals);
        self.put_totals(&input, &mut totals)?;
        Ok(totals.count)
    }

    #[inline(always)]
    fn put_totals<C: Columns<In>>(self, input: &C, to: &mut impl Totals<S>) -> Result<(), Error> {
        let mut request = ManuallyDrop::new(self);
        if request.totals_short(input, to) {
            // SAFETY: it is left here.
            unsafe { Request::end(&mut request) };
            return Ok(());
        }
        ManuallyDrop::into_inner(request).put_all(input, to)
    }

    /// The same of any call.
    #[inline(never)]
    fn put_all<C: Columns<In>>(mut self, input: &C, to: &mut impl Totals<S>) -> Result<(), Error> {
        match C::Place::ON_HOST.then(|| self.made_totals_short(input, to)).flatten() {
            Some(()) => Ok(()),
            None => C::Place::totals(self, input, to),
        }
    }
}

/// Into memory that need not hold anything yet: of a scan that writes one column.
impl<S: States, In: Record, Out: ScanType> Request<'_, S, In, Out> {
    /// [`inclusive`](Request::inclusive) into memory that need not hold anything yet; gives the records that were written.
    ///
    /// # Errors
    /// As [`inclusive_into`](Request::inclusive_into), and [`Error::Rows`] if records lie beside rows.
    #[inline(always)]
    pub fn inclusive_into_uninit(
        self,
        input: impl Columns<In, Place = Host>,
        output: &mut [MaybeUninit<Out>],
    ) -> Result<&mut [Out], Error> {
        self.write_new(Mode::Inclusive, &input, output)
    }

    /// [`exclusive`](Request::exclusive) into memory that need not hold anything yet; gives the records that were written.
    ///
    /// # Errors
    /// As [`inclusive_into_uninit`](Request::inclusive_into_uninit).
    #[inline(always)]
    pub fn exclusive_into_uninit(
        self,
        input: impl Columns<In, Place = Host>,
        output: &mut [MaybeUninit<Out>],
    ) -> Result<&mut [Out], Error> {
        self.write_new(Mode::Exclusive, &input, output)
    }
}

/// Over the input, of a scan that writes what it reads.
impl<S: States, Out: Outputs> Request<'_, S, Out::Record, Out> {
    /// [`inclusive`](Request::inclusive), written over the input: a slice or a [`DeviceVec`](crate::DeviceVec), or a tuple of
    /// these for several columns.
    ///
    /// ```
    /// use monoscan::{ops::Sum, prelude::*};
    ///
    /// let sums = Scan::<Sum<i32>>::plain()?;
    /// let mut x = [1, 2, 3, 4];
    /// sums.axis(&[2, 2], 0).inclusive_in_place(&mut x)?;
    /// assert_eq!(x, [1, 2, 4, 6]);
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`inclusive_into`](Request::inclusive_into), and [`Error::InPlace`] if the scan reads a neighbouring record or keeps records.
    #[inline(always)]
    pub fn inclusive_in_place<X: ColumnsMut<Out>>(self, records: X) -> Result<<X::Place as Place>::Replaced, Error> {
        X::Place::replace(self, Mode::Inclusive, records)
    }

    /// [`exclusive`](Request::exclusive), written over the input.
    ///
    /// # Errors
    /// As [`inclusive_in_place`](Request::inclusive_in_place).
    #[inline(always)]
    pub fn exclusive_in_place<X: ColumnsMut<Out>>(self, records: X) -> Result<<X::Place as Place>::Replaced, Error> {
        X::Place::replace(self, Mode::Exclusive, records)
    }
}
