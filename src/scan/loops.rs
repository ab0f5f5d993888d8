//! Scans of loops: [`Scan::from_loop`], whose monoid is derived from a step.

mod parts;

use std::marker::PhantomData;

use monoscan_ir::derive::LoopProgram;
use monoscan_runtime::{DynScan, Error, PlanOptions};

use super::Scan;
use super::columns::{Parameterised, Record};
use super::element::{Element, View};
use super::native::{self, Elements, Itself, Known, Step, Unknown};
use super::outputs::{Outputs, Unzipped};
use super::program::Part;
use super::states::States;
use super::witness::Witness;
use crate::lang::{self, ScanFn};
use crate::prelude::*;
use crate::words::RUST;
use parts::{Parts, traced};

/// The state of a loop that became a scan: what [initial states](Scan::init), carries and totals are.
#[derive(Clone, Copy, Debug, PartialEq, ScanType)]
pub struct State<U>(pub U);

impl<U: ScanType> States for State<U> {
    const IS_OF_LOOP: bool = true;

    fn identities() -> Self {
        lang::from_constants([])
    }
}

impl Scan<()> {
    /// The scan of a sequential loop, `state = step(state, x)`. The monoid is derived; the operator is never written.
    ///
    /// `step` is a function from the state and a record to the next state. Its first argument is the state: a number, a tuple or
    /// a struct; each of the others is a column. An inclusive scan gives the state after each record, an exclusive one that
    /// before; sequences start from `initial` unless a call [gives another state](Scan::init).
    ///
    /// ```
    /// use monoscan::{State, prelude::*};
    ///
    /// #[scan_fn]
    /// fn step(balance: f64, rate: f64, deposit: f64) -> f64 { balance * rate + deposit }
    ///
    /// let balances = Scan::from_loop(step {}, 100.0)?;
    /// let (rates, deposits) = ([1.5, 1.0, 0.5], [0.0, 50.0, 25.0]);
    /// assert_eq!(balances.inclusive((&rates, &deposits))?, [150.0, 200.0, 125.0]);
    /// assert_eq!(balances.reduce((&rates, &deposits))?, State(125.0));
    /// assert_eq!(balances.init(State(10.0)).exclusive((&rates, &deposits))?, [10.0, 15.0, 65.0]);
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    ///
    /// The effect of n records on a state that is not known must be a function of a closed family: sums, maxima, recurrences, clamps,
    /// latches, tables of a few states, and cascades of these. [`explain`](Scan::explain) says what
    /// was found. Each derivation is compared with the step: proved where it can be, and on
    /// samples.
    ///
    /// # Where it differs from the loop
    /// - Sums and products of floats are regrouped between blocks, so last places differ. A block itself runs the step, to the bit
    ///   of the loop, unless a kernel in vectors is faster, as [`explain`](Scan::explain) says. Such a kernel regroups short
    ///   lines too, and takes the compensation from a compensated sum; so do columns of an array; `PlanOptions { vector: Some(false), .. }` does without.
    /// - Infinities: a step is regrouped, `s + r * (x - s)` to `(1 - r) * s + r * x`, which an infinite state or record leads
    ///   elsewhere: the loop to NaN, as ∞ − ∞, and the scan to infinity. Between blocks a state is multiplied by a power of its factor.
    ///   Where that is infinite and the state 0, or 0 and the state infinite, the scan has NaN from there on.
    /// - NaN: a comparison such as `if s > x { s } else { x }` becomes a maximum, and bounds of a
    ///   sum may change places, which is the loop only where nothing is NaN; `explain` then says
    ///   *proved where nothing is NaN*. Where some but not all components of a recurrence are reset,
    ///   their old values are multiplied by 0, so NaN and infinities stay.
    /// - Integers under bounds, minima or maxima must not overflow in the loop. What stretches of
    ///   records add up to may: at 64 bits always, and at 32 bits where a sum has both bounds; else
    ///   within `i64`, which 2²⁹ records of the largest numbers of 32 bits do not fill. A step with
    ///   `wrapping_add` and its kind is refused where it would be a bounded family, or one modulo what is no power of two.
    /// - Initial states and carries of calls: any state of sums, bounds, recurrences and latches.
    ///   In a table of states or a counter modulo m, those that the loop reaches from `initial`;
    ///   another is an [`Error::LoopState`].
    ///
    /// # Errors
    /// [`Error::NotAScan`] names the component of the state, the operation, its place in the source, the reason and what would do. Else as [`Scan::new`].
    #[expect(clippy::type_complexity, reason = "a name for it would hide what columns the scan takes and gives")]
    pub fn from_loop<A, F>(
        step: F,
        initial: A::Parameters,
    ) -> Result<Scan<State<A::Parameters>, A::Record, A::Parameters>, Error>
    where
        A: Parameterised,
        F: ScanFn<A, Out = A::Parameters>,
        A::Parameters: Outputs,
    {
        Scan::loop_builder(step, initial).build()
    }

    /// The same, for an output that is not the state, for fewer records than are read, or for options.
    ///
    /// ```
    /// use monoscan::{State, prelude::*};
    ///
    /// // An account from which no more can be taken than there is: whether it is empty.
    /// let left = Scan::loop_builder(scan!(|y: i64, x: i64| -> i64 { (y - x).max(0) }), 10)
    ///     .output(scan!(|y: i64| -> bool { y == 0 }))
    ///     .threads(1)
    ///     .build()?;
    /// assert_eq!(left.inclusive(&[4, 5, 6, 1])?, [false, false, true, true]);
    /// assert_eq!(left.reduce(&[4, 5])?, State(1));
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    #[expect(clippy::type_complexity, reason = "a name for it would hide what columns the scan takes and gives")]
    pub fn loop_builder<A, F>(
        step: F,
        initial: A::Parameters,
    ) -> LoopBuilder<A::Parameters, A::Record, A::Parameters, Known<Step<A, F>, Itself>>
    where
        A: Parameterised,
        F: ScanFn<A, Out = A::Parameters>,
    {
        LoopBuilder::new(traced::<F, A>(step, View::Record, Vec::new()), initial)
    }

    /// A loop whose step has parameters: they are its first argument, the state is the second. The scan has the values given here
    /// until it [gets others](Scan::with), for which nothing is derived or compiled again.
    ///
    /// ```
    /// use monoscan::prelude::*;
    ///
    /// // A bucket that holds so many tokens.
    /// #[scan_fn]
    /// fn step(most: i32, tokens: i32, fill: i32, take: i32) -> i32 { ((tokens + fill).min(most) - take).max(0) }
    ///
    /// let bucket = Scan::loop_builder_with(10, step {}, 5).build()?;
    /// assert_eq!(bucket.inclusive((&[9, 0], &[0, 4]))?, [10, 6]);
    /// assert_eq!(bucket.with(7)?.inclusive((&[9, 0], &[0, 4]))?, [7, 3]);
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    #[expect(clippy::type_complexity, reason = "a name for it would hide what columns the scan takes and gives")]
    pub fn loop_builder_with<A, F>(
        parameters: A::Parameters,
        step: F,
        initial: <A::Record as Parameterised>::Parameters,
    ) -> LoopBuilder<
        <A::Record as Parameterised>::Parameters,
        <A::Record as Parameterised>::Record,
        <A::Record as Parameterised>::Parameters,
    >
    where
        A: Parameterised<Record: Parameterised>,
        F: ScanFn<A, Out = <A::Record as Parameterised>::Parameters>,
    {
        LoopBuilder::new(traced::<F, A>(step, View::Record, lang::to_constants(&parameters)), initial)
    }

    /// A loop whose step takes the [`Element`]: the record with its neighbours and its place.
    ///
    /// ```
    /// use monoscan::prelude::*;
    ///
    /// // How often the value changed.
    /// #[scan_fn]
    /// fn step(changes: u32, e: Element<u8>) -> u32 { if !e.first && e.prev != e.record { changes + 1 } else { changes } }
    ///
    /// let changes = Scan::loop_builder_at(step {}, 0).build()?;
    /// assert_eq!(changes.inclusive(b"aabca")?, [0, 0, 1, 2, 3]);
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    pub fn loop_builder_at<U, R, F>(step: F, initial: U) -> LoopBuilder<U, R, U>
    where
        U: ScanType,
        R: Record,
        F: ScanFn<(U, Element<R::Item>), Out = U>,
    {
        LoopBuilder::new(traced::<F, (U, Element<R::Item>)>(step, View::Element, Vec::new()), initial)
    }
}

/// A scan of a loop under construction; see [`Scan::loop_builder`].
///
/// ```
/// use monoscan::prelude::*;
///
/// /// The highest price so far, and the largest fall from it.
/// #[derive(Clone, Copy, ScanType)]
/// struct Fall { peak: f64, worst: f64 }
///
/// #[scan_fn]
/// fn step(s: Fall, price: f64) -> Fall {
///     let peak = s.peak.max(price);
///     Fall { peak, worst: s.worst.max(peak - price) }
/// }
///
/// let start = Fall { peak: f64::NEG_INFINITY, worst: 0.0 };
/// let drawdown = Scan::loop_builder(step {}, start).output(scan!(|s: Fall| -> f64 { s.worst })).build()?;
/// assert_eq!(drawdown.inclusive(&[3.0, 5.0, 4.0, 1.0, 6.0])?, [0.0, 0.0, 1.0, 4.0, 4.0]);
/// # Ok::<(), monoscan::Error>(())
/// ```
#[must_use]
pub struct LoopBuilder<U, In, Out, F = Unknown> {
    parts: Result<Parts, Error>,
    initial: U,
    threads: Option<usize>,
    plan: PlanOptions,
    types: PhantomData<fn(In, U, F) -> Out>,
}

impl<U: ScanType, In: Record, Out, N: native::Functions> LoopBuilder<U, In, Out, N> {
    fn new(step: Result<(Part, Witness), Error>, initial: U) -> LoopBuilder<U, In, Out, N> {
        let parts = step.map(|(step, witness)| Parts { step, witness, filter: None, output: None });
        LoopBuilder { parts, initial, threads: None, plan: PlanOptions::default(), types: PhantomData }
    }

    /// The result of a record: a function of the state, which is that after the record in an inclusive scan and that before
    /// it in an exclusive one.
    pub fn output<O: ScanType, F: ScanFn<(U,), Out = O>>(self, f: F) -> LoopBuilder<U, In, O, N::Project<F>> {
        self.change(|parts| {
            parts.output = Some(Part::new::<F, (U,)>(&f, View::State)?);
            Ok(())
        })
    }

    /// The result of a record: a function of the [`Element`], whose `before` and `after` are states of the loop.
    pub fn output_at<O: ScanType, F: ScanFn<(Element<In::Item, U>,), Out = O>>(
        self,
        f: F,
    ) -> LoopBuilder<U, In, O, N::ProjectAt<F>> {
        self.change(|parts| {
            parts.output = Some(Part::new::<F, (Element<In::Item, U>,)>(&f, View::Element)?);
            Ok(())
        })
    }

    /// Which records are written: those for which `f` is true, densely and in the order of the scan: with
    /// [`reversed`](crate::Request::reversed) the last comes first.
    ///
    /// ```
    /// use monoscan::prelude::*;
    ///
    /// // The first byte of each word.
    /// #[scan_fn]
    /// fn step(in_word: bool, byte: u8) -> bool { byte != b' ' }
    /// #[scan_fn]
    /// fn begins(e: Element<u8, bool>) -> bool { e.after && !e.before }
    ///
    /// let initials = Scan::loop_builder(step {}, false)
    ///     .filter(begins {})
    ///     .output_at(scan!(|e: Element<u8, bool>| -> u8 { e.record }))
    ///     .build()?;
    /// assert_eq!(initials.inclusive(b"to  be or not")?, b"tbon");
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    pub fn filter<F: ScanFn<(Element<In::Item, U>,), Out = bool>>(self, f: F) -> LoopBuilder<U, In, Out, Unknown> {
        self.change(|parts| {
            parts.filter = Some(Part::new::<F, (Element<In::Item, U>,)>(&f, View::Element)?);
            Ok(())
        })
    }

    /// The tuple that is written becomes a column for each of its members; see [`ScanBuilder::unzip`](crate::ScanBuilder::unzip).
    pub fn unzip(self) -> LoopBuilder<U, In, Unzipped<Out>, Unknown>
    where
        Unzipped<Out>: Outputs,
    {
        self.change(|_| Ok(()))
    }

    /// Uses at most this many threads. Results do not depend on it.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Overrides choices of the plan: for study, and for tests of its boundaries.
    pub fn plan(mut self, options: PlanOptions) -> Self {
        self.plan = options;
        self
    }

    fn change<O, F>(self, with: impl FnOnce(&mut Parts) -> Result<(), Error>) -> LoopBuilder<U, In, O, F> {
        let parts = self.parts.and_then(|mut parts| with(&mut parts).map(|()| parts));
        let LoopBuilder { initial, threads, plan, .. } = self;
        LoopBuilder { parts, initial, threads, plan, types: PhantomData }
    }
}

impl<U: ScanType, In: Record, Out: Outputs, N: Elements<U, In, Out>> LoopBuilder<U, In, Out, N> {
    /// Derives the scan, compares it with the step, judges its laws, plans and compiles.
    ///
    /// # Errors
    /// As [`Scan::from_loop`].
    pub fn build(self) -> Result<Scan<State<U>, In, Out>, Error> {
        let (threads, plan) = (self.threads, self.plan.clone());
        let parameters = self.parts.as_ref().map_or(Vec::new(), |parts| parts.step.parameters.clone());
        let natives = if native::is_wanted(&plan) && self.is_exact() { N::natives() } else { None };
        let (program, witness) = self.parts?.program::<U, In, Out>(&self.initial)?;
        let builder = DynScan::loop_builder_beside(&program, &witness);
        if let Some(difference) = witness.into_difference() {
            return Err(difference);
        }
        let mut builder = builder?.words(RUST).plan(plan);
        builder = builder.states_in_memory(lang::layout_of::<State<U>>());
        if let Some(natives) = natives {
            // SAFETY: they are loops over these functions, on columns and a state of their types.
            builder = unsafe { builder.natives(natives) };
        }
        if let Some(threads) = threads {
            builder = builder.threads(threads);
        }
        Ok(Scan::of(builder.build()?.with(&parameters)?))
    }

    /// Whether the functions give the same bits as their Rust.
    fn is_exact(&self) -> bool {
        let own =
            |parts: &Parts| native::are_exact([&parts.step].into_iter().chain(&parts.output).map(|part| &part.traced));
        self.parts.as_ref().is_ok_and(own)
    }

    /// The loop as data: for [`derive`](monoscan_ir::derive::derive()), and for looking at it.
    ///
    /// # Errors
    /// [`Error::Trace`] if a function is no finite straight-line program.
    pub fn program(self) -> Result<LoopProgram, Error> {
        Ok(self.parts?.program::<U, In, Out>(&self.initial)?.0)
    }
}
