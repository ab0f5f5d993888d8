//! [`States`]: the monoids of a cascade's stages, as a type.

use std::any::type_name;

use monoscan_ir::{Constant, Layout, MAX_STATE_BYTES, Stage, Table, Type};
use monoscan_runtime::{Error, TraceError};

use super::translation;
use crate::lang::{self, Monoid, ScanType, Traced};

/// The state of a scan: a monoid `M`, or for a cascade of two or three stages the tuple `(A, B)` or `(A, B, C)` of theirs.
///
/// It is what initial states, carries and totals are.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the state of a scan",
    label = "neither a monoid nor a tuple of them",
    note = "a scan's state is a type with `#[scan_monoid]`, or for a cascade the tuple of its stages' monoids, two or three"
)]
pub trait States: ScanType {
    /// Whether it is the state of a loop, whose scan knows the start.
    #[doc(hidden)]
    const IS_OF_LOOP: bool = false;

    /// The start of every sequence unless an initial state is given: the identities. Of a loop any state.
    #[doc(hidden)]
    fn identities() -> Self;
}

/// States that are monoids: what a [`ScanBuilder`](crate::ScanBuilder) builds a scan of.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the monoid of a scan, nor a tuple of them",
    label = "no monoid",
    note = "write `#[scan_monoid]`; or, if all you have is a loop, `Scan::from_loop`",
    note = "monoids side by side, of the same records, are `ops::Pair` and `ops::Triple`"
)]
pub trait Stages: States {
    /// The monoid of the last stage: what [`project`](crate::ScanBuilder::project) takes.
    type Last: Monoid;

    /// The operators, in order.
    #[doc(hidden)]
    fn operators() -> Result<Vec<Operator>, Error>;
}

/// States that one more stage may follow.
#[diagnostic::on_unimplemented(
    message = "no stage can follow `{Self}`",
    label = "not a monoid, and not two of them",
    note = "a cascade has one to three stages"
)]
pub trait Cascade: Stages {
    /// The states with those of one more stage.
    type Then<M: Monoid>: Stages<Last = M>;
}

impl<M: Monoid> States for M {
    fn identities() -> M {
        M::identity()
    }
}

impl<M: Monoid> Stages for M {
    type Last = M;

    fn operators() -> Result<Vec<Operator>, Error> {
        Ok(vec![Operator::of::<M>()?])
    }
}

impl<M: Monoid> Cascade for M {
    type Then<N: Monoid> = (M, N);
}

impl<A: Monoid, B: Monoid> States for (A, B) {
    fn identities() -> (A, B) {
        (A::identity(), B::identity())
    }
}

impl<A: Monoid, B: Monoid> Stages for (A, B) {
    type Last = B;

    fn operators() -> Result<Vec<Operator>, Error> {
        Ok(vec![Operator::of::<A>()?, Operator::of::<B>()?])
    }
}

impl<A: Monoid, B: Monoid> Cascade for (A, B) {
    type Then<N: Monoid> = (A, B, N);
}

impl<A: Monoid, B: Monoid, C: Monoid> States for (A, B, C) {
    fn identities() -> (A, B, C) {
        (A::identity(), B::identity(), C::identity())
    }
}

impl<A: Monoid, B: Monoid, C: Monoid> Stages for (A, B, C) {
    type Last = C;

    fn operators() -> Result<Vec<Operator>, Error> {
        Ok(vec![Operator::of::<A>()?, Operator::of::<B>()?, Operator::of::<C>()?])
    }
}

/// The states among components as engines carry them: each group of so many begins with a state.
pub(super) fn states_of<S: States>(components: &[Constant], each: usize) -> impl ExactSizeIterator<Item = S> {
    components.chunks_exact(each).map(|state| lang::from_constants(state.iter().copied()))
}

/// A monoid as IR.
#[doc(hidden)]
pub struct Operator {
    pub(super) name: &'static str,
    pub(super) identity: Vec<Constant>,
    pub(super) combine: Traced,
    pub(super) valid: Option<Traced>,
    pub(super) follows: Option<Traced>,
    check: fn(&Stage, &[Table]) -> Result<(), Error>,
}

/// The functions that make an [`Operator`] of a monoid. With them the rest is compiled once, for all of them.
struct Source {
    name: &'static str,
    layout: fn() -> Layout,
    identity: fn() -> Result<Vec<Constant>, TraceError>,
    combine: fn() -> Result<Traced, TraceError>,
    valid: fn() -> Result<Option<Traced>, TraceError>,
    follows: fn() -> Result<Option<Traced>, TraceError>,
    check: fn(&Stage, &[Table]) -> Result<(), Error>,
}

impl Operator {
    fn of<M: Monoid>() -> Result<Operator, Error> {
        Operator::from(Source {
            name: type_name::<M>(),
            layout: lang::layout_of::<M>,
            identity: lang::identity_constants::<M>,
            combine: lang::trace_combine::<M>,
            valid: lang::trace_valid::<M>,
            follows: lang::trace_follows::<M>,
            check: translation::check_monoid::<M>,
        })
    }

    fn from(source: Source) -> Result<Operator, Error> {
        let identity = (source.identity)()?;
        let types: Vec<Type> = identity.iter().map(|constant| constant.ty()).collect();
        check_size(source.name, (source.layout)().size as usize, &types)?;
        Ok(Operator {
            name: source.name,
            identity,
            combine: (source.combine)()?,
            valid: (source.valid)()?,
            follows: (source.follows)()?,
            check: source.check,
        })
    }

    /// The types of the state's components.
    pub(super) fn state(&self) -> Vec<Type> {
        self.identity.iter().map(|constant| constant.ty()).collect()
    }

    /// Compares the stage that was made of it with the Rust code.
    pub(super) fn check(&self, stage: &Stage, tables: &[Table]) -> Result<(), Error> {
        (self.check)(stage, tables)
    }
}

/// Refuses states that no engine carries, in the words of their author.
fn check_size(name: &str, bytes: usize, state: &[Type]) -> Result<(), Error> {
    if state.is_empty() {
        return Err(Error::EmptyState { state: name.into() });
    }
    if bytes > MAX_STATE_BYTES && Layout::packed(state).size as usize > MAX_STATE_BYTES {
        return Err(Error::StateSize { state: name.into(), expected: MAX_STATE_BYTES, got: bytes });
    }
    Ok(())
}
