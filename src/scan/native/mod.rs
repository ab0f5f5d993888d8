//! The user's own functions as the elements of one sequential pass.
//!
//! A scan on one thread that takes one pass is the loop `state = state.combine(lift(record));
//! write(project(state))`, in which `state` is set back wherever a sequence begins. Where all these
//! functions are known to the builder's type, here is that loop, for rustc to compile: one
//! function, whose instances are lines, flagged segments, rows, and reductions. The engine may run
//! it in place of its own ([`Natives`]), since both give the same bits, but for the sign
//! of a zero:
//!
//! - Functions whose Rust may round otherwise than the IR, or show which NaN there is, have none;
//!   nor have those that divide integers by numbers which may be 0, or look up at any index.
//!   `are_exact` says which.
//! - Rust leaves open which of two zeros `max` and `min` of floats give, so a scan may give either.
//!   A scan that also divides floats has none: 1 / 0 and 1 / -0 are different.
//! - Arithmetic that overflows wraps, unless the user's crate is built with overflow checks. Where
//!   it panics, the pass stops before the element and says how many it took.
//! - Functions with captured values or tables have none: these are constants of the IR.
//! - What is read are values of their types. So bytes that are checked at run time are not scanned
//!   so ([`Scan::as_dyn`](super::Scan::as_dyn)), nor are enums, of which not every number is one.

mod functions;

use std::marker::PhantomData;

use monoscan_ir::{Function, Inst, Opcode};
use monoscan_runtime::{FromIdentity, Natives, PlanOptions};

pub use functions::{Projects, Steps};

pub use super::at::At;
use super::columns::Record;
use super::passes::{Exclusive, Inclusive, flagged, line, reduce, rows, sequences, short, short_flagged, totals};
use crate::lang::{self, ScanType, Traced};

/// The functions of a builder, as far as its type has them.
pub trait Functions {
    /// With this lift.
    type Lift<F>;
    /// With this lift, of parameters and the record.
    type LiftWith<A, F>;
    /// With this lift, of an [`Element`](crate::Element).
    type LiftAt<F>;
    /// With this lift, of parameters and an [`Element`](crate::Element).
    type LiftAtWith<A, F>;
    /// With this output.
    type Project<F>;
    /// With this output, of the state and the record.
    type ProjectWithRecord<F>;
    /// With this output, of an [`Element`](crate::Element).
    type ProjectAt<F>;
}

/// Functions that make up an element of a scan.
pub trait Elements<S, In, Out> {
    /// The loops over them, if there are any.
    #[doc(hidden)]
    fn natives() -> Option<Natives>;
}

/// Functions that the type of a builder does not have.
pub struct Unknown;

/// The function that takes the state past a record, and the one that makes of it what is written.
pub struct Known<L, P>(PhantomData<fn() -> (L, P)>);

/// A value of the operator, as it is.
pub struct Own;

/// The value that a monoid [wraps](crate::ops::Plain), as it lies in memory.
pub struct Wrapped;

/// The state, as it is.
pub struct Itself;

/// This function.
pub struct Given<F>(PhantomData<fn() -> F>);

/// This function of an [`Element`](crate::Element).
pub struct GivenAt<F>(PhantomData<fn() -> F>);

/// This output, of the state and the record.
pub struct WithRecord<F>(PhantomData<fn() -> F>);

/// This lift, whose first argument is parameters.
pub struct With<A, F>(PhantomData<fn() -> (A, F)>);

/// This lift, of parameters and an [`Element`](crate::Element).
pub struct WithAt<A, F>(PhantomData<fn() -> (A, F)>);

/// The step of a loop, with the state as its first argument.
pub struct Step<A, F>(PhantomData<fn() -> (A, F)>);

impl Functions for Unknown {
    type Lift<F> = Unknown;
    type LiftWith<A, F> = Unknown;
    type LiftAt<F> = Unknown;
    type LiftAtWith<A, F> = Unknown;
    type Project<F> = Unknown;
    type ProjectWithRecord<F> = Unknown;
    type ProjectAt<F> = Unknown;
}

impl<L, P: Output> Functions for Known<L, P> {
    type Lift<F> = P::Beside<Given<F>>;
    type LiftWith<A, F> = P::Beside<With<A, F>>;
    type LiftAt<F> = P::Beside<GivenAt<F>>;
    type LiftAtWith<A, F> = P::Beside<WithAt<A, F>>;
    type Project<F> = Known<L, Given<F>>;
    type ProjectWithRecord<F> = Known<L, WithRecord<F>>;
    type ProjectAt<F> = Known<L, GivenAt<F>>;
}

/// An output, beside which there may be another lift: not if it reads the record, of which that would be another one.
pub trait Output {
    /// With this lift.
    type Beside<L>;
}

impl Output for Own {
    type Beside<L> = Known<L, Own>;
}

impl Output for Wrapped {
    type Beside<L> = Known<L, Wrapped>;
}

impl Output for Itself {
    type Beside<L> = Known<L, Itself>;
}

impl<F> Output for Given<F> {
    type Beside<L> = Known<L, Given<F>>;
}

impl<F> Output for WithRecord<F> {
    type Beside<L> = Unknown;
}

impl<F> Output for GivenAt<F> {
    type Beside<L> = Unknown;
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
    P: Projects<S, In, Out>,
{
    fn natives() -> Option<Natives> {
        // Of an enum not every number is a value, and what engines try a kernel with may be any.
        let is_any = || !lang::is_restricted::<S>() && !lang::is_restricted::<In>();
        let parameters = L::known().filter(|_| P::is_known() && is_any())?;
        Some(Natives {
            lines: [line::<S, In, Out, L, P, Inclusive>, line::<S, In, Out, L, P, Exclusive>],
            flagged: [flagged::<S, In, Out, L, P, Inclusive>, flagged::<S, In, Out, L, P, Exclusive>],
            rows: [rows::<S, In, Out, L, P, Inclusive>, rows::<S, In, Out, L, P, Exclusive>],
            reduce: reduce::<S, In, L>,
            from_identity: L::identity().map(|identity| FromIdentity {
                identity: lang::to_constants(&identity),
                lines: [short::<S, In, Out, L, P, Inclusive>, short::<S, In, Out, L, P, Exclusive>],
                flagged: [short_flagged::<S, In, Out, L, P, Inclusive>, short_flagged::<S, In, Out, L, P, Exclusive>],
                sequences: [sequences::<S, In, Out, L, P, Inclusive>, sequences::<S, In, Out, L, P, Exclusive>],
            }),
            totals: totals::<S, In, L>,
            sees: L::SEES || P::SEES,
            state: lang::layout_of::<S>(),
            parameters,
        })
    }
}

/// Whether functions of Rust should be tried: they are optimised, what overflows there wraps, and a panic ends nothing but the pass.
pub(super) fn is_wanted(options: &PlanOptions) -> bool {
    !cfg!(panic = "abort") && options.native.unwrap_or(!cfg!(debug_assertions))
}

/// Whether the Rust of all functions of a scan gives the bits that the IR does, but for the sign of a zero, wherever it does
/// not panic, and panics nowhere but where numbers overflow, in a build that checks it.
pub(super) fn are_exact<'t>(functions: impl Iterator<Item = &'t Traced>) -> bool {
    let (mut choose_a_zero, mut divide) = (false, false);
    for Traced { function, differs, .. } in functions {
        if *differs || !function.insts.iter().all(|inst| is_same(function, inst)) {
            return false;
        }
        let has = |opcodes: &[Opcode]| {
            function.insts.iter().any(|inst| opcodes.contains(&inst.opcode) && is_of_floats(function, inst))
        };
        choose_a_zero |= has(&[Opcode::Min, Opcode::Max]);
        divide |= has(&[Opcode::Div]);
    }
    // 1 / 0 and 1 / -0 differ by more than a sign of zero.
    !(choose_a_zero && divide)
}

fn is_of_floats(function: &Function, inst: &Inst) -> bool {
    inst.operands().iter().any(|&of| function.type_of(of).is_some_and(|ty| ty.is_float()))
}

fn is_same(function: &Function, inst: &Inst) -> bool {
    let is_of_floats = || is_of_floats(function, inst);
    match inst.opcode {
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
