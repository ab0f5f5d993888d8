//! Builds a [`Scan`]: traces the functions that the user gives, and makes them the parts of a
//! program.

mod output;

use std::marker::PhantomData;

use monoscan_runtime::{Error, PlanOptions};

use super::Scan;
use super::built::{Functions, Options, Types, built};
use super::columns::{Parameterised, Record};
use super::element::{Element, View};
use super::native::{self, Elements, Known, Own, Unknown, Wrapped};
use super::operator::{self, Operator};
use super::outputs::Outputs;
use super::program::Part;
use super::states::{Cascade, Stages};
use crate::lang::{self, Inputs, Monoid, ScanFn, ScanType};
use crate::ops::Plain;

/// A scan with the states `S` under construction; see [`Scan::builder`].
///
/// The calls follow the data: a lift, the stages after it with [`then`](ScanBuilder::then), and the output at last. Errors
/// of the parts are kept until [`build`](ScanBuilder::build).
///
/// ```
/// use monoscan::{ops::{Max, Sum}, prelude::*};
///
/// // A cascade: how often a running maximum was exceeded.
/// #[scan_fn]
/// fn exceeded(e: Element<i32, Max<i32>>) -> Sum<u32> { Sum(if e.after.0 > e.before.0 { 1 } else { 0 }) }
///
/// let records = Scan::<Max<i32>>::builder()
///     .lift(scan!(|x: i32| -> Max<i32> { Max(x) }))
///     .then(exceeded {})
///     .project(scan!(|broken: Sum<u32>| -> u32 { broken.0 }))
///     .build()?;
/// assert_eq!(records.inclusive(&[3, 1, 4, 1, 5, 9, 2, 6])?, [1, 1, 2, 2, 3, 4, 4, 4]);
/// # Ok::<(), monoscan::Error>(())
/// ```
#[must_use]
pub struct ScanBuilder<S, In, Out, F = Known<Own, Own>> {
    functions: Result<Functions, Error>,
    options: Options,
    types: PhantomData<fn(In, S, F) -> Out>,
}

impl<M: Monoid, O: Operator<M>> ScanBuilder<M, (O,), O> {
    pub(super) fn new() -> Self {
        let lifts = vec![operator::state_of::<O, M>()];
        let functions = Functions { lifts, is_semigroup: !O::HAS_IDENTITY, ..Functions::default() };
        ScanBuilder { functions: Ok(functions), options: Options::default(), types: PhantomData }
    }
}

impl<M: Plain> ScanBuilder<M, (M,), M> {
    /// Reads and writes plain values, as [`Scan::plain`].
    ///
    /// ```
    /// use monoscan::{ops::Max, prelude::*};
    ///
    /// let highs = Scan::<Max<u8>>::builder().plain().threads(1).build()?;
    /// assert_eq!(highs.inclusive(b"acbd")?, b"accd"); // bytes, not `Max<u8>`
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    pub fn plain(self) -> ScanBuilder<M, (M::Value,), M::Value, Known<Wrapped, Wrapped>> {
        // The components are the same, so the functions are.
        self.change(|_| Ok(()))
    }
}

impl<M: Monoid, In: Record, Out, N: native::Functions> ScanBuilder<M, In, Out, N> {
    /// The lift of an element: a function from the record to a state, or to a value of an operator without an identity. Each of
    /// its arguments is a column. Where the lift of such an operator gives a state, `project` says what is written.
    ///
    /// ```
    /// use monoscan::{ops::Sum, prelude::*};
    ///
    /// // One argument is one column, also where it is a pair: a slice of pairs.
    /// let of_pairs = Scan::<Sum<i32>>::builder().lift(scan!(|p: (i32, i32)| -> Sum<i32> { Sum(p.0 * p.1) })).build()?;
    /// assert_eq!(of_pairs.reduce(&[(1, 3), (2, 4)])?, Sum(11));
    /// let of_columns = Scan::<Sum<i32>>::builder().lift(scan!(|a: i32, b: i32| -> Sum<i32> { Sum(a * b) })).build()?;
    /// assert_eq!(of_columns.reduce((&[1, 2], &[3, 4]))?, Sum(11));
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    pub fn lift<R: Record, F: ScanFn<R, Out: Operator<M>>>(self, f: F) -> ScanBuilder<M, R, Out, N::Lift<F>> {
        self.lift_part::<F::Out, R, _>(|| Part::new::<F, R>(&f, View::Record))
    }

    /// The lift of an element: a function from parameters and the record to a state. The parameters are the first argument;
    /// a scan has the values given here until it [gets others](Scan::with), for which nothing is compiled again.
    ///
    /// ```
    /// use monoscan::{ops::Affine, prelude::*};
    ///
    /// // An exponential average, whose rate is known when it is run.
    /// #[scan_fn]
    /// fn step(rate: f64, x: f64) -> Affine<f64> { Affine { a: 1.0 - rate, b: rate * x } }
    ///
    /// let value = scan!(|map: Affine<f64>| -> f64 { map.b });
    /// let average = Scan::<Affine<f64>>::builder().lift_with(0.5, step {}).project(value).build()?;
    /// assert_eq!(average.inclusive(&[8.0, 8.0])?, [4.0, 6.0]);
    /// assert_eq!(average.with(0.25)?.inclusive(&[8.0, 8.0])?, [2.0, 3.5]);
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    pub fn lift_with<A, F>(self, parameters: A::Parameters, f: F) -> ScanBuilder<M, A::Record, Out, N::LiftWith<A, F>>
    where
        A: Parameterised,
        F: ScanFn<A, Out: Operator<M>>,
    {
        self.lift_part::<F::Out, A::Record, _>(|| Ok(Part::new::<F, A>(&f, View::Record)?.with(&parameters)))
    }

    /// The lift of an element: a function from the [`Element`], which has also the next record and the place.
    ///
    /// An element whose record is a pair is read from a slice of pairs, or from a pair of slices: what the scan is called with decides.
    ///
    /// ```
    /// use monoscan::{ops::Sum, prelude::*};
    ///
    /// // How often the sign changes. The first record has none before it: `prev` is all zeros there.
    /// #[scan_fn]
    /// fn changes(e: Element<i32>) -> Sum<u32> { Sum((!e.first && (e.prev < 0) != (e.record < 0)) as u32) }
    ///
    /// let changes = Scan::<Sum<u32>>::builder().lift_at(changes {}).build()?;
    /// assert_eq!(changes.reduce(&[-1, 2, 3, -4])?, Sum(2));
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    pub fn lift_at<R: Record, F: ScanFn<(Element<R::Item>,), Out: Operator<M>>>(
        self,
        f: F,
    ) -> ScanBuilder<M, R, Out, N::LiftAt<F>> {
        self.lift_part::<F::Out, R, _>(|| Part::new::<F, (Element<R::Item>,)>(&f, View::Element))
    }

    /// As [`lift_at`](ScanBuilder::lift_at), by a function of parameters, as for [`lift_with`](ScanBuilder::lift_with), and of the
    /// [`Element`].
    ///
    /// ```
    /// use monoscan::{ops::Sum, prelude::*};
    ///
    /// #[scan_fn]
    /// fn jumps(most: i32, e: Element<i32>) -> Sum<u32> { Sum((!e.first && e.record - e.prev > most) as u32) }
    ///
    /// let jumps = Scan::<Sum<u32>>::builder().lift_at_with(10, jumps {}).build()?;
    /// assert_eq!(jumps.reduce(&[1, 20, 25])?, Sum(1));
    /// assert_eq!(jumps.with(3)?.reduce(&[1, 20, 25])?, Sum(2));
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    pub fn lift_at_with<P: ScanType, R: Record, F>(
        self,
        parameters: P,
        f: F,
    ) -> ScanBuilder<M, R, Out, N::LiftAtWith<P, F>>
    where
        F: ScanFn<(P, Element<R::Item>), Out: Operator<M>>,
    {
        self.lift_part::<F::Out, R, _>(|| {
            Ok(Part::new::<F, (P, Element<R::Item>)>(&f, View::Element)?.with(&parameters))
        })
    }

    fn lift_part<O: Operator<M>, R, L>(self, lift: impl FnOnce() -> Result<Part, Error>) -> ScanBuilder<M, R, Out, L> {
        self.change(|functions| {
            let reads_state_alone = |part: &Part| part.view == View::State;
            if functions.filter.is_some() || !functions.project.as_ref().is_none_or(reads_state_alone) {
                return Err(Error::Order { function: "lift", after: "a filter, or a function that reads the record" });
            }
            functions.lifts = vec![operator::lifted::<O, M>(lift()?)];
            functions.lifts_states = O::HAS_IDENTITY;
            Ok(())
        })
    }
}

impl<S: Stages, In: Record, Out, N: native::Functions> ScanBuilder<S, In, Out, N> {
    /// One more stage, a scan in its own right, in the same pass over memory: `f` lifts an [`Element`], with the states of the
    /// stages so far, to a state of the next monoid, or to a value of an operator without an identity.
    ///
    /// ```
    /// use monoscan::{ops::{Semigroup, Sum}, prelude::*};
    ///
    /// /// The first of all; there is no first of nothing.
    /// #[derive(Clone, Copy, Debug, PartialEq, ScanType)]
    /// struct First(u32);
    ///
    /// impl Semigroup for First {
    ///     #[scan_fn]
    ///     fn append(self, _next: Self) -> Self { self }
    /// }
    ///
    /// // The first sum.
    /// #[scan_fn]
    /// fn sum(e: Element<u32, Sum<u32>>) -> First { First(e.after.0) }
    ///
    /// let sums = Scan::<Sum<u32>>::builder().lift(scan!(|x: u32| -> Sum<u32> { Sum(x) }));
    /// assert_eq!(sums.then(sum {}).build()?.inclusive(&[5, 1, 2])?, [5, 5, 5].map(First));
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    pub fn then<M: Monoid, O: Operator<M>, F>(self, f: F) -> ScanBuilder<S::Then<M>, In, O, Unknown>
    where
        S: Cascade,
        F: ScanFn<(Element<In::Item, S>,), Out = O>,
    {
        self.then_part(|| Part::new::<F, (Element<In::Item, S>,)>(&f, View::Element))
    }

    /// As [`then`](ScanBuilder::then), by a function of parameters, as for [`lift_with`](ScanBuilder::lift_with), and of the
    /// [`Element`].
    ///
    /// ```
    /// use monoscan::{ops::Sum, prelude::*};
    ///
    /// // How many of the running sums exceed a limit.
    /// #[scan_fn]
    /// fn exceeds(limit: i32, e: Element<i32, Sum<i32>>) -> Sum<u32> { Sum((e.after.0 > limit) as u32) }
    ///
    /// let sums = Scan::<Sum<i32>>::builder().lift(scan!(|x: i32| -> Sum<i32> { Sum(x) }));
    /// let counts = sums.then_with(4, exceeds {}).build()?;
    /// assert_eq!(counts.inclusive(&[3, 3, -3, 5])?, [0, 1, 1, 2].map(Sum));
    /// assert_eq!(counts.with(7)?.reduce(&[3, 3, -3, 5])?, (Sum(8), Sum(1))); // the states of both stages
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    pub fn then_with<P: ScanType, M: Monoid, O: Operator<M>, F>(
        self,
        parameters: P,
        f: F,
    ) -> ScanBuilder<S::Then<M>, In, O, Unknown>
    where
        S: Cascade,
        F: ScanFn<(P, Element<In::Item, S>), Out = O>,
    {
        self.then_part(|| Ok(Part::new::<F, (P, Element<In::Item, S>)>(&f, View::Element)?.with(&parameters)))
    }

    fn then_part<M: Monoid, O: Operator<M>>(
        self,
        lift: impl FnOnce() -> Result<Part, Error>,
    ) -> ScanBuilder<S::Then<M>, In, O, Unknown>
    where
        S: Cascade,
    {
        self.change(|functions| {
            if functions.filter.is_some() || functions.project.is_some() {
                return Err(Error::Order { function: "then", after: "`filter` or a `project`" });
            }
            functions.lifts.push(operator::lifted::<O, M>(lift()?));
            (functions.is_semigroup, functions.lifts_states) = (!O::HAS_IDENTITY, false);
            Ok(())
        })
    }
}

impl<S, In, Out, N> ScanBuilder<S, In, Out, N> {
    /// The builder with other functions and types, unless something is wrong already.
    fn change<T, R, O, F>(self, with: impl FnOnce(&mut Functions) -> Result<(), Error>) -> ScanBuilder<T, R, O, F> {
        let functions = self.functions.and_then(|mut functions| with(&mut functions).map(|()| functions));
        ScanBuilder { functions, options: self.options, types: PhantomData }
    }

    /// Accepts the operators whatever their laws: for those that are associative for a reason the compiler cannot see.
    /// [`Scan::explain`] shows that this was asked for.
    ///
    /// ```
    /// use monoscan::prelude::*;
    ///
    /// /// The first of two, unless it is 0: a choice that the compiler could prove, taken on trust.
    /// #[scan_monoid]
    /// #[derive(Clone, Copy)]
    /// struct First { x: i32 }
    /// #[scan_monoid]
    /// impl Monoid for First {
    ///     fn identity() -> Self { First { x: 0 } }
    ///     fn combine(self, next: Self) -> Self { if self.x == 0 { next } else { self } }
    /// }
    ///
    /// let scan = Scan::<First>::builder().assume_associative().build()?;
    /// assert!(scan.explain().contains("assumed"));
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    pub fn assume_associative(mut self) -> Self {
        self.options.assume_associative = true;
        self
    }

    /// Uses at most this many threads. Results do not depend on it.
    ///
    /// ```
    /// use monoscan::{ops::Sum, prelude::*};
    ///
    /// let x = vec![0.1f32; 100_000];
    /// let build = |threads| Scan::<Sum<f32>>::builder().plain().threads(threads).build();
    /// assert_eq!(build(1)?.inclusive(&x)?, build(3)?.inclusive(&x)?); // to the last bit
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    pub fn threads(mut self, threads: usize) -> Self {
        self.options.threads = Some(threads);
        self
    }

    /// Overrides choices of the plan: for study, and for tests of its boundaries.
    pub fn plan(mut self, options: PlanOptions) -> Self {
        self.options.plan = options;
        self
    }
}

impl<S: Stages, In: Record, Out: Outputs, N: Elements<S, In, Out>> ScanBuilder<S, In, Out, N> {
    /// Judges the laws, checks the translation, plans and compiles.
    ///
    /// ```
    /// use monoscan::{Error, ops::Sum, prelude::*};
    ///
    /// // The filter reads the state, so a lift that comes after it would change what it reads.
    /// let late = Scan::<Sum<i32>>::builder()
    ///     .filter(scan!(|e: Element<Sum<i32>, Sum<i32>>| -> bool { e.after.0 > 0 }))
    ///     .lift(scan!(|x: i32| -> Sum<i32> { Sum(x) }));
    /// assert!(matches!(late.build(), Err(Error::Order { function: "lift", .. })));
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Scan::new`]. [`Error::Order`] if functions were given in an order in which one changes what another reads.
    /// [`Error::LiftedStates`] if results are values of an operator without an identity and the lift gives states of it.
    pub fn build(self) -> Result<Scan<S, In, Out>, Error> {
        let functions = self.functions?;
        let types = Types {
            operators: S::operators()?,
            value: operator::value_of::<S::Last>,
            inputs: In::layouts(),
            columns: <Out::Record as Inputs>::layouts(),
            components: lang::component_names::<S>(),
            states: lang::layout_of::<S>(),
            natives: N::natives,
        };
        Ok(Scan::of(built(functions, types, self.options)?))
    }
}
