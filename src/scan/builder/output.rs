//! The output of a [`ScanBuilder`]: which elements are written, and what is written for them.

use monoscan_runtime::Error;

use super::ScanBuilder;
use crate::lang::{ScanFn, ScanType};
use crate::scan::columns::Record;
use crate::scan::element::{Element, View};
use crate::scan::native::{self, Unknown};
use crate::scan::outputs::{Outputs, Unzipped};
use crate::scan::program::Part;
use crate::scan::states::Stages;

impl<S: Stages, In: Record, Out, N: native::Functions> ScanBuilder<S, In, Out, N> {
    /// The result of an element: a function of the state of the last stage, which is that after the element in an
    /// inclusive scan and that before it in an exclusive one.
    ///
    /// ```
    /// use monoscan::{ops::Moments, prelude::*};
    ///
    /// let means = Scan::<Moments<f64>>::builder()
    ///     .lift(scan!(|x: f64| -> Moments<f64> { Moments::of(x) }))
    ///     .project(scan!(|moments: Moments<f64>| -> f64 { moments.mean }))
    ///     .build()?;
    /// assert_eq!(means.inclusive(&[1.0, 3.0, 5.0])?, [1.0, 2.0, 3.0]);
    /// assert_eq!(means.reduce(&[1.0, 3.0, 5.0])?.count, 3.0); // the whole state, as ever
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    pub fn project<O: ScanType, F: ScanFn<(S::Last,), Out = O>>(self, f: F) -> ScanBuilder<S, In, O, N::Project<F>> {
        self.project_part(|| Part::new::<F, (S::Last,)>(&f, View::State))
    }

    /// The result of an element: a function of parameters, as for [`lift_with`](ScanBuilder::lift_with), and of the
    /// state, as for [`project`](ScanBuilder::project).
    ///
    /// If several functions have parameters, the scan [gets](crate::Scan::with) them as a tuple: those of the lift, of later stages,
    /// of the filter, and of the output, in this order.
    ///
    /// ```
    /// use monoscan::{ops::Sum, prelude::*};
    ///
    /// let scaled = Scan::<Sum<f64>>::builder()
    ///     .lift(scan!(|x: f64| -> Sum<f64> { Sum(x) }))
    ///     .project_with(2.0, scan!(|gain: f64, sum: Sum<f64>| -> f64 { gain * sum.0 }))
    ///     .build()?;
    /// assert_eq!(scaled.inclusive(&[1.0, 2.0])?, [2.0, 6.0]);
    /// assert_eq!(scaled.with(10.0)?.inclusive(&[1.0, 2.0])?, [10.0, 30.0]);
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    pub fn project_with<P: ScanType, O: ScanType, F>(self, parameters: P, f: F) -> ScanBuilder<S, In, O, Unknown>
    where
        F: ScanFn<(P, S::Last), Out = O>,
    {
        self.project_part(|| Ok(Part::new::<F, (P, S::Last)>(&f, View::State)?.with(&parameters)))
    }

    /// The result of an element: a function of the state, as for [`project`](ScanBuilder::project), and the record's columns.
    ///
    /// ```
    /// use monoscan::{ops::Sum, prelude::*};
    ///
    /// // The part of all so far that this record is.
    /// let parts = Scan::<Sum<f64>>::builder()
    ///     .lift(scan!(|x: f64| -> Sum<f64> { Sum(x) }))
    ///     .project_with_record(scan!(|sum: Sum<f64>, x: f64| -> f64 { x / sum.0 }))
    ///     .build()?;
    /// assert_eq!(parts.inclusive(&[3.0, 1.0, 4.0])?, [1.0, 0.25, 0.5]);
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    pub fn project_with_record<O: ScanType, F>(self, f: F) -> ScanBuilder<S, In, O, N::ProjectWithRecord<F>>
    where
        F: ScanFn<In::After<S::Last>, Out = O>,
    {
        self.project_part(|| Part::new::<F, In::After<S::Last>>(&f, View::StateAndRecord))
    }

    /// The result of an element: a function of the [`Element`] with the states of all stages. It sees those before and
    /// those after the element, so inclusive and exclusive scans give the same.
    ///
    /// ```
    /// use monoscan::{ops::Max, prelude::*};
    ///
    /// // By how much each record raises the highest so far.
    /// let raises = Scan::<Max<i32>>::builder()
    ///     .lift(scan!(|x: i32| -> Max<i32> { Max(x) }))
    ///     .project_at(scan!(|e: Element<i32, Max<i32>>| -> i32 { if e.first { 0 } else { e.after.0 - e.before.0 } }))
    ///     .build()?;
    /// assert_eq!(raises.inclusive(&[3, 5, 4, 9])?, [0, 2, 0, 4]);
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    pub fn project_at<O: ScanType, F>(self, f: F) -> ScanBuilder<S, In, O, N::ProjectAt<F>>
    where
        F: ScanFn<(Element<In::Item, S>,), Out = O>,
    {
        self.project_part(|| Part::new::<F, (Element<In::Item, S>,)>(&f, View::Element))
    }

    /// The tuple that is written for an element becomes a column for each of its members: new ones come as a tuple of vectors,
    /// those that are there as a tuple of slices. Everything else that a scan may be asked for stays the same.
    ///
    /// Without this the results are one column of tuples.
    ///
    /// ```
    /// use monoscan::{ops::Moments, prelude::*};
    ///
    /// #[scan_fn]
    /// fn statistics(sample: Moments<f64>) -> (f64, f64) { (sample.mean, Moments::variance(sample)) }
    ///
    /// let running = Scan::<Moments<f64>>::builder()
    ///     .lift(scan!(|x: f64| -> Moments<f64> { Moments::of(x) }))
    ///     .project(statistics {})
    ///     .unzip()
    ///     .build()?;
    /// let (mean, variance) = running.inclusive(&[1.0, 3.0, 5.0])?;
    /// assert_eq!((mean[2], variance[1]), (3.0, 1.0));
    ///
    /// let (mut mean, mut variance) = ([0.0; 3], vec![0.0; 3]);
    /// running.reversed().inclusive_into(&[1.0, 3.0, 5.0], (&mut mean, &mut variance))?;
    /// assert_eq!((mean, variance[1]), ([3.0, 4.0, 5.0], 1.0));
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    pub fn unzip(self) -> ScanBuilder<S, In, Unzipped<Out>, Unknown>
    where
        Unzipped<Out>: Outputs,
    {
        self.change(|_| Ok(()))
    }

    /// Which elements are written: those for which `f` is true, densely and in the order of the scan: with
    /// [`reversed`](crate::Request::reversed) the last comes first. What is written for them, `project` says. Up to
    /// four records of the output behind the last that is kept may be overwritten too.
    ///
    /// ```
    /// use monoscan::{ops::Sum, prelude::*};
    ///
    /// // A filter needs no state; this one also says how many there were so far.
    /// #[scan_fn]
    /// fn is_even(e: Element<u32, Sum<u32>>) -> bool { e.record % 2 == 0 }
    ///
    /// let evens = Scan::<Sum<u32>>::builder()
    ///     .lift(scan!(|x: u32| -> Sum<u32> { Sum(x % 2 ^ 1) }))
    ///     .filter(is_even {})
    ///     .project_with_record(scan!(|count: Sum<u32>, x: u32| -> (u32, u32) { (count.0, x) }))
    ///     .build()?;
    /// assert_eq!(evens.inclusive(&[1, 2, 3, 4, 6])?, [(1, 2), (2, 4), (3, 6)]);
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    pub fn filter<F: ScanFn<(Element<In::Item, S>,), Out = bool>>(self, f: F) -> ScanBuilder<S, In, Out, Unknown> {
        self.change(|functions| {
            functions.filter = Some(Part::new::<F, (Element<In::Item, S>,)>(&f, View::Element)?);
            Ok(())
        })
    }

    /// As [`filter`](ScanBuilder::filter), by a function of parameters, as for [`lift_with`](ScanBuilder::lift_with), and of the
    /// [`Element`].
    ///
    /// ```
    /// use monoscan::{ops::Sum, prelude::*};
    ///
    /// #[scan_fn]
    /// fn is_above(limit: u32, e: Element<u32, Sum<u32>>) -> bool { e.record > limit }
    ///
    /// let counts = Scan::<Sum<u32>>::builder().lift(scan!(|_x: u32| -> Sum<u32> { Sum(1) }));
    /// let above = counts.filter_with(2, is_above {}).build()?;
    /// assert_eq!(above.inclusive(&[1, 5, 2, 7])?, [Sum(2), Sum(4)]);
    /// assert_eq!(above.with(6u32)?.inclusive(&[1, 5, 2, 7])?, [Sum(4)]);
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    pub fn filter_with<P: ScanType, F>(self, parameters: P, f: F) -> ScanBuilder<S, In, Out, Unknown>
    where
        F: ScanFn<(P, Element<In::Item, S>), Out = bool>,
    {
        self.change(|functions| {
            let filter = Part::new::<F, (P, Element<In::Item, S>)>(&f, View::Element)?;
            functions.filter = Some(filter.with(&parameters));
            Ok(())
        })
    }

    fn project_part<O, P>(self, project: impl FnOnce() -> Result<Part, Error>) -> ScanBuilder<S, In, O, P> {
        self.change(|functions| {
            functions.project = Some(project()?);
            Ok(())
        })
    }
}
