//! The functions of an element, the library's and the user's: one takes the state past it, the
//! other makes of that what is written.

use std::ptr::NonNull;

use monoscan_ir::{Layout, Type};

use super::{Given, GivenAt, Itself, Own, Step, With, WithAt, WithRecord, Wrapped};
use crate::lang::{self, Monoid, ScanFn, ScanType};
use crate::scan::at::At;
use crate::scan::columns::{Parameterised, Record, value};
use crate::scan::element::Element;
use crate::scan::operator::Operator;

/// How a record changes the state.
pub trait Steps<S, In> {
    /// Whether it sees the records beside its own, or where that is.
    const SEES: bool = false;
    /// The values that are the same for all records.
    type Parameters: Copy;
    /// The types of their components, if the function and these are all that there is to know.
    fn known() -> Option<Vec<Type>>;
    /// They, from where the engine has them.
    ///
    /// # Safety
    /// There they are, one component behind the other at its natural alignment, if there are any.
    unsafe fn parameters(at: *const u8) -> Self::Parameters;
    /// The state that sequences start from, if the type says it.
    #[inline]
    fn identity() -> Option<S> {
        None
    }
    /// The state after an element.
    fn step(parameters: Self::Parameters, state: S, at: At) -> S;
}

/// Without parameters.
macro_rules! without_parameters {
    ($is_known:expr) => {
        type Parameters = ();

        fn known() -> Option<Vec<Type>> {
            $is_known.then(Vec::new)
        }

        unsafe fn parameters(_: *const u8) {}
    };
}

/// With parameters of this type, for this function.
macro_rules! with_parameters {
    ($parameters:ty, $function:ty) => {
        type Parameters = $parameters;

        fn known() -> Option<Vec<Type>> {
            packed_types::<$parameters>().filter(|_| is_constant::<$function>())
        }

        #[inline]
        unsafe fn parameters(at: *const u8) -> $parameters {
            // SAFETY: they lie as the engine has them, and are no longer, where they are known.
            unsafe { value::<$parameters>(at) }
        }
    };
}

/// Sequences of a monoid `M` start from its identity.
macro_rules! from_identity {
    () => {
        #[inline]
        fn identity() -> Option<M> {
            Some(M::identity())
        }
    };
}

/// The record that is written of a state.
pub trait Projects<S, In, Out> {
    /// Whether it sees the records beside its own, or where that is.
    const SEES: bool = false;
    /// Whether the function is all that there is to know.
    fn is_known() -> bool {
        true
    }
    /// The record that is written, of the states before and after an element, of which one is that of its own.
    fn project(states: (S, S), own: S, at: At) -> Out;
}

impl<M: Monoid, O: Operator<M>> Steps<M, (O,)> for Own {
    without_parameters!(true);

    from_identity!();

    #[inline]
    fn step((): (), state: M, at: At) -> M {
        let (value,) = at.record::<(O,)>();
        state.combine(value.into_state())
    }
}

impl<M: Monoid, V: ScanType> Steps<M, (V,)> for Wrapped {
    without_parameters!(lie_alike::<M, V>());

    from_identity!();

    #[inline]
    fn step((): (), state: M, at: At) -> M {
        let (value,) = at.record::<(V,)>();
        // SAFETY: both have the same components at the same places.
        state.combine(unsafe { std::mem::transmute_copy::<V, M>(&value) })
    }
}

impl<M: Monoid, In: Record, F: ScanFn<In, Out: Operator<M>>> Steps<M, In> for Given<F> {
    without_parameters!(is_constant::<F>());

    from_identity!();

    #[inline]
    fn step((): (), state: M, at: At) -> M {
        state.combine(function::<F>().call(at.record()).into_state())
    }
}

impl<M: Monoid, In: Record, F: ScanFn<(Element<In::Item>,), Out: Operator<M>>> Steps<M, In> for GivenAt<F> {
    const SEES: bool = true;

    without_parameters!(is_constant::<F>());

    from_identity!();

    #[inline]
    fn step((): (), state: M, at: At) -> M {
        state.combine(function::<F>().call((at.element::<In, ()>((), ()),)).into_state())
    }
}

impl<M: Monoid, A: Parameterised, F: ScanFn<A, Out: Operator<M>>> Steps<M, A::Record> for With<A, F> {
    with_parameters!(A::Parameters, F);

    from_identity!();

    #[inline]
    fn step(parameters: A::Parameters, state: M, at: At) -> M {
        state.combine(function::<F>().call(A::join(parameters, at.record())).into_state())
    }
}

impl<M: Monoid, In: Record, A: ScanType, F> Steps<M, In> for WithAt<A, F>
where
    F: ScanFn<(A, Element<In::Item>), Out: Operator<M>>,
{
    const SEES: bool = true;

    with_parameters!(A, F);

    from_identity!();

    #[inline]
    fn step(parameters: A, state: M, at: At) -> M {
        state.combine(function::<F>().call((parameters, at.element::<In, ()>((), ()))).into_state())
    }
}

impl<A: Parameterised, F: ScanFn<A, Out = A::Parameters>> Steps<A::Parameters, A::Record> for Step<A, F> {
    without_parameters!(is_constant::<F>());

    #[inline]
    fn step((): (), state: A::Parameters, at: At) -> A::Parameters {
        function::<F>().call(A::join(state, at.record()))
    }
}

impl<M: Monoid, In, O: Operator<M>> Projects<M, In, O> for Own {
    #[inline]
    fn project(_: (M, M), own: M, _: At) -> O {
        O::of_state(own)
    }
}

impl<M: Monoid, In, V: ScanType> Projects<M, In, V> for Wrapped {
    fn is_known() -> bool {
        lie_alike::<M, V>()
    }

    #[inline]
    fn project(_: (M, M), own: M, _: At) -> V {
        // SAFETY: both have the same components at the same places.
        unsafe { std::mem::transmute_copy::<M, V>(&own) }
    }
}

impl<S, In> Projects<S, In, S> for Itself {
    #[inline]
    fn project(_: (S, S), own: S, _: At) -> S {
        own
    }
}

impl<S: ScanType, In, Out: ScanType, F: ScanFn<(S,), Out = Out>> Projects<S, In, Out> for Given<F> {
    fn is_known() -> bool {
        is_constant::<F>()
    }

    #[inline]
    fn project(_: (S, S), own: S, _: At) -> Out {
        function::<F>().call((own,))
    }
}

impl<S: ScanType, In: Record, Out: ScanType, F: ScanFn<In::After<S>, Out = Out>> Projects<S, In, Out>
    for WithRecord<F>
{
    fn is_known() -> bool {
        is_constant::<F>()
    }

    #[inline]
    fn project(_: (S, S), own: S, at: At) -> Out {
        function::<F>().call(at.record::<In>().after(own))
    }
}

impl<S: ScanType, In: Record, Out: ScanType, F> Projects<S, In, Out> for GivenAt<F>
where
    F: ScanFn<(Element<In::Item, S>,), Out = Out>,
{
    const SEES: bool = true;

    fn is_known() -> bool {
        is_constant::<F>()
    }

    #[inline]
    fn project((before, after): (S, S), _: S, at: At) -> Out {
        function::<F>().call((at.element::<In, S>(before, after),))
    }
}

/// Whether two types have the same components at the same places, of which all values are some.
fn lie_alike<A: ScanType, B: ScanType>() -> bool {
    lang::layout_of::<A>() == lang::layout_of::<B>() && !lang::is_restricted::<A>() && !lang::is_restricted::<B>()
}

/// The types of the components of parameters, of which all values are some, if the engine has them as they lie in memory: as long as
/// its components, since a type that is longer cannot be read there.
fn packed_types<A: ScanType>() -> Option<Vec<Type>> {
    let own = lang::layout_of::<A>();
    let types: Vec<Type> = own.types().collect();
    let packed = Layout::packed(&types);
    ((own.size, own.fields) == (packed.size, packed.fields) && !lang::is_restricted::<A>()).then_some(types)
}

fn is_constant<F>() -> bool {
    size_of::<F>() == 0
}

/// The function, of which a builder was given a value, and which has no data.
#[inline]
fn function<F: 'static>() -> &'static F {
    assert!(size_of::<F>() == 0, "a function with data is no constant");
    // SAFETY: a value without bytes may be anywhere that is aligned for it.
    unsafe { NonNull::<F>::dangling().as_ref() }
}
