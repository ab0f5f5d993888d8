//! The user's own functions as the elements of one sequential pass.
//!
//! A scan on one thread that takes one pass is the loop `state = state.combine(lift(record));
//! write(project(state))`. Where all these functions are known to the builder's type, here is that
//! loop, for rustc to compile. The engine may run it in place of its own
//! ([`Natives`]), since both give the same bits:
//!
//! - Functions whose Rust may round otherwise than the IR, give another of two zeros, or show which
//!   NaN there is have none; nor have those that divide by numbers which may be 0, or look up at
//!   any index. `is_exact` says which.
//! - Arithmetic that overflows wraps, unless the user's crate is built with overflow checks. Where
//!   it panics, the pass stops before the element and says how many it took.
//! - Functions with captured values or tables have none: these are constants of the IR.
//! - What is read are values of their types. So bytes that are checked at run time are not scanned
//!   so ([`Scan::as_dyn`](super::Scan::as_dyn)), nor are enums, of which not every number is one.

use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

use monoscan_ir::{Function, Inst, Opcode};
use monoscan_runtime::{Natives, PlanOptions, SHORT_INPUTS};

use super::columns::{Parameterised, Record};
use super::operator::Operator;
use crate::lang::{self, Monoid, ScanFn, ScanType, Traced};

/// The functions of a builder, as far as its type has them.
pub trait Functions {
    /// With this lift.
    type Lift<F>;
    /// With this output.
    type Project<F>;
}

/// Functions that make up an element of a scan.
pub trait Elements<S, In, Out> {
    /// The loops over them, if there are any.
    #[doc(hidden)]
    fn natives() -> Option<Natives>;
}

/// Functions that the type of a builder does not have, or that need more than the record and the state.
pub struct Unknown;

/// The function that takes the state past a record, and the one that makes of it what is written.
pub struct Known<L, P>(PhantomData<fn() -> (L, P)>);

/// A value of the operator, as it is.
pub struct Own;

/// The state, as it is.
pub struct Itself;

/// This function.
pub struct Given<F>(PhantomData<fn() -> F>);

/// The step of a loop, with the state as its first argument.
pub struct Step<A, F>(PhantomData<fn() -> (A, F)>);

impl Functions for Unknown {
    type Lift<F> = Unknown;
    type Project<F> = Unknown;
}

impl<L, P> Functions for Known<L, P> {
    type Lift<F> = Known<Given<F>, P>;
    type Project<F> = Known<L, Given<F>>;
}

/// How a record changes the state.
pub trait Steps<S, In> {
    /// Whether the function is all that there is to know.
    const IS_CONSTANT: bool = true;
    /// The state after a record.
    fn step(state: S, record: In) -> S;
}

/// The record that is written of a state.
pub trait Projects<S, Out> {
    /// Whether the function is all that there is to know.
    const IS_CONSTANT: bool = true;
    /// The record that is written.
    fn project(state: S) -> Out;
}

impl<M: Monoid, O: Operator<M>> Steps<M, (O,)> for Own {
    #[inline]
    fn step(state: M, (value,): (O,)) -> M {
        state.combine(value.into_state())
    }
}

impl<M: Monoid, In: Record, F: ScanFn<In, Out: Operator<M>>> Steps<M, In> for Given<F> {
    const IS_CONSTANT: bool = size_of::<F>() == 0;

    #[inline]
    fn step(state: M, record: In) -> M {
        state.combine(function::<F>().call(record).into_state())
    }
}

impl<A: Parameterised, F: ScanFn<A, Out = A::Parameters>> Steps<A::Parameters, A::Record> for Step<A, F> {
    const IS_CONSTANT: bool = size_of::<F>() == 0;

    #[inline]
    fn step(state: A::Parameters, record: A::Record) -> A::Parameters {
        function::<F>().call(A::join(state, record))
    }
}

impl<M: Monoid, O: Operator<M>> Projects<M, O> for Own {
    #[inline]
    fn project(state: M) -> O {
        O::of_state(state)
    }
}

impl<S> Projects<S, S> for Itself {
    #[inline]
    fn project(state: S) -> S {
        state
    }
}

impl<S: ScanType, Out: ScanType, F: ScanFn<(S,), Out = Out>> Projects<S, Out> for Given<F> {
    const IS_CONSTANT: bool = size_of::<F>() == 0;

    #[inline]
    fn project(state: S) -> Out {
        function::<F>().call((state,))
    }
}

/// The function, of which a builder was given a value, and which has no data.
#[inline]
fn function<F: 'static>() -> &'static F {
    assert!(size_of::<F>() == 0, "a function with data is no constant");
    // SAFETY: a value without bytes may be anywhere that is aligned for it.
    unsafe { NonNull::<F>::dangling().as_ref() }
}

impl<S, In, Out> Elements<S, In, Out> for Unknown {
    fn natives() -> Option<Natives> {
        None
    }
}

impl<S, In, Out, L, P> Elements<S, In, Out> for Known<L, P>
where
    S: ScanType,
    In: Record,
    Out: ScanType,
    L: Steps<S, In>,
    P: Projects<S, Out>,
{
    fn natives() -> Option<Natives> {
        let passes = [pass::<S, In, Out, L, P, true>, pass::<S, In, Out, L, P, false>];
        // Of an enum not every number is a value, and what engines try a kernel with may be any.
        let is_any = || !lang::is_restricted::<S>() && !lang::is_restricted::<In>();
        (L::IS_CONSTANT && P::IS_CONSTANT && is_any()).then(|| Natives { passes, state: lang::layout_of::<S>() })
    }
}

/// The loop, up to an element that panics: what it prints is all that is seen of that.
///
/// # Safety
/// That of [`NativeFn`](monoscan_codegen::cpu::NativeFn): columns and a state of these types, with so many records.
unsafe extern "C" fn pass<S, In, Out, L, P, const INCLUSIVE: bool>(
    len: usize,
    output: *mut u8,
    a: *const u8,
    b: *const u8,
    c: *const u8,
    d: *const u8,
    after: *mut u8,
) -> usize
where
    S: ScanType,
    In: Record,
    L: Steps<S, In>,
    P: Projects<S, Out>,
{
    let columns: [*const u8; SHORT_INPUTS] = [a, b, c, d];
    // SAFETY: the state is there.
    let (mut state, mut taken) = (unsafe { after.cast::<S>().read_unaligned() }, 0);
    let elements = || {
        while taken < len {
            // SAFETY: there are so many records, in at most so many columns.
            let next = L::step(state, unsafe { In::read(|column| columns[column % SHORT_INPUTS], taken) });
            let written = P::project(if INCLUSIVE { next } else { state });
            // SAFETY: there is space for a record of each element.
            unsafe { output.cast::<Out>().add(taken).write_unaligned(written) };
            (state, taken) = (next, taken + 1);
        }
    };
    // Nothing but the state and the number is used afterwards, and both are those before an element.
    let _ = catch_unwind(AssertUnwindSafe(elements));
    // SAFETY: there is space for the state.
    unsafe { after.cast::<S>().write_unaligned(state) };
    taken
}

/// Whether functions of Rust should be tried: they are optimised, what overflows there wraps, and a panic ends nothing but the pass.
pub(super) fn is_wanted(options: &PlanOptions) -> bool {
    !cfg!(panic = "abort") && options.native.unwrap_or(!cfg!(debug_assertions))
}

/// Whether the Rust that was traced gives the bits that the IR does, wherever it does not panic, and panics nowhere but
/// where numbers overflow, in a build that checks it.
pub(super) fn is_exact(traced: &Traced) -> bool {
    !traced.differs && traced.function.insts.iter().all(|inst| is_same(&traced.function, inst))
}

fn is_same(function: &Function, inst: &Inst) -> bool {
    let is_of_floats = || inst.operands().iter().any(|&of| function.type_of(of).is_some_and(|ty| ty.is_float()));
    match inst.opcode {
        // Which of two zeros `max` gives is open in Rust.
        Opcode::Min | Opcode::Max => !is_of_floats(),
        Opcode::Div | Opcode::Rem if !is_of_floats() => {
            let divisor = inst.operands().last().and_then(|&divisor| function.as_constant(divisor));
            divisor.is_some_and(|divisor| divisor.bits() != 0 && divisor != inst.ty.of_i64(-1))
        }
        // The sign and the bits of a NaN are open.
        Opcode::CopySign | Opcode::Table => false,
        Opcode::Bitcast => !is_of_floats(),
        _ => !inst.ty.is_vector(),
    }
}
