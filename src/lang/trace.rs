//! Tracing: running the second body of a scan function once, and keeping the IR it builds.
//!
//! Operators have no place to pass a builder along, so the functions under construction are on a
//! stack of this thread; a trace inside a trace (a constant computed by another scan) has its own
//! entry. Code that cannot be traced *stops*: it unwinds to the entry point, which gives a
//! [`TraceError`].

use std::any::{Any, type_name};
use std::cell::RefCell;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use monoscan_ir::derive::SourcePlace;
use monoscan_ir::{Constant, Function, FunctionBuilder, MAX_INSTS, Table, Type, Value};
use monoscan_runtime::{MAX_CALL_DEPTH, TraceError};

use super::function::{Inputs, ScanFn};
use super::monoid::Monoid;
use super::scan_type::{ScanType, V, to_constants};

/// A traced function, and the tables it looks up, by their place.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Traced {
    /// The function.
    pub function: Function,
    /// The tables that [`Opcode::Table`](monoscan_ir::Opcode::Table) instructions name.
    pub tables: Vec<Table>,
    /// Where each of the first instructions was written, if that is known.
    pub places: Vec<Option<SourcePlace>>,
    /// Whether it calls a function of the standard library that rounds otherwise than the IR, or panics where the IR does not.
    pub differs: bool,
    /// The name of the function; empty of a closure and of an operator.
    pub name: &'static str,
    /// The names of its arguments, those that are bound to tables among them; empty where an argument is a pattern.
    pub arguments: &'static [&'static str],
}

/// Traces the operator of `M`: parameters are the components of the earlier state, then of the later one.
///
/// # Errors
/// See [`TraceError`].
pub fn trace_combine<M: Monoid>() -> Result<Traced, TraceError> {
    trace(&format!("{}::combine", type_name::<M>()), &mut || {
        let (earlier, later) = (parameter::<M>(), parameter::<M>());
        M::trace_combine(earlier, later).values()
    })
}

/// Traces the `valid` of `M`, and that its enums are variants: parameters are the state's components, the result is one
/// `bool`. None if `M` has neither, or a `valid` that is always true, as a wrapper's is around a monoid without.
///
/// # Errors
/// See [`TraceError`].
pub fn trace_valid<M: Monoid>() -> Result<Option<Traced>, TraceError> {
    trace_condition(&format!("{}::valid", type_name::<M>()), &mut || {
        let state = parameter::<M>();
        let mut conditions: Vec<V<bool>> = M::trace_valid(state).into_iter().collect();
        M::restrict(&state, &mut conditions);
        conditions.into_iter().reduce(super::ops::and)
    })
}

/// Traces the `follows` of `M`: parameters are the components of the earlier state, then of the later one, the result is
/// one `bool`. None if `M` has none, or one that is always true, as a wrapper's is around a monoid without.
///
/// # Errors
/// See [`TraceError`].
pub fn trace_follows<M: Monoid>() -> Result<Option<Traced>, TraceError> {
    trace_condition(&format!("{}::follows", type_name::<M>()), &mut || {
        let (earlier, later) = (parameter::<M>(), parameter::<M>());
        M::trace_follows(earlier, later)
    })
}

/// Traces a condition, if there is one and it is not always true.
fn trace_condition(name: &str, condition: &mut dyn FnMut() -> Option<V<bool>>) -> Result<Option<Traced>, TraceError> {
    let mut is_there = false;
    let traced = trace(name, &mut || {
        let condition = condition();
        is_there = condition.is_some();
        condition.map_or_else(Vec::new, |condition| condition.values())
    })?;
    Ok((is_there && !is_always_true(&traced)).then_some(traced))
}

fn is_always_true(traced: &Traced) -> bool {
    let simple = monoscan_ir::simplify(&traced.function, &traced.tables);
    let is_true = |&result| simple.as_constant(result).is_some_and(|constant| constant.bits() != 0);
    simple.results.first().is_some_and(is_true)
}

/// Whether not all bits are a value of the type's components: whether it has an enum.
pub fn is_restricted<X: ScanType>() -> bool {
    let mut conditions = Vec::new();
    let traced = trace(type_name::<X>(), &mut || {
        X::restrict(&parameter::<X>().__parts, &mut conditions);
        Vec::new()
    });
    traced.is_err() || !conditions.is_empty()
}

/// Traces a scan function: parameters are the components of all arguments, in order.
///
/// # Errors
/// See [`TraceError`].
pub fn trace_fn<F: ScanFn<Args>, Args: Inputs>(function: &F) -> Result<Traced, TraceError> {
    trace(type_name::<F>(), &mut || function.trace(Args::handles(parameter::<Args>())).values())
}

/// The components of the identity of `M`, which is evaluated natively.
///
/// # Errors
/// [`TraceError::Panicked`] if `M::identity` panics.
pub fn identity_constants<M: Monoid>() -> Result<Vec<Constant>, TraceError> {
    catch_unwind(|| to_constants(&M::identity()))
        .map_err(|payload| error(&format!("{}::identity", type_name::<M>()), payload))
}

struct Tracer {
    builder: FunctionBuilder,
    tables: Vec<Table>,
    places: Vec<Option<SourcePlace>>,
    /// Methods that are no opcode, and their instructions.
    methods: Vec<(&'static str, Range<usize>)>,
    differs: bool,
    name: &'static str,
    arguments: &'static [&'static str],
    depth: usize,
}

thread_local! {
    static TRACERS: RefCell<Vec<Tracer>> = const { RefCell::new(Vec::new()) };
}

/// A reason to stop tracing; the entry point adds the function's name.
pub(crate) enum Stop {
    Index { place: &'static str, index: usize, length: usize },
    Recursion { callee: &'static str },
    TooLarge,
    EmptyTable,
    OwnEquality { of: &'static str },
}

/// Leaves the trace. Unwinds without calling the panic hook: nothing is printed.
pub(crate) fn stop(why: Stop) -> ! {
    resume_unwind(Box::new(why))
}

/// Traces `body`, which is called once. It is compiled once, for all types that a program scans.
fn trace(name: &str, body: &mut dyn FnMut() -> Vec<Value>) -> Result<Traced, TraceError> {
    let tracer = Tracer {
        builder: FunctionBuilder::new(),
        tables: Vec::new(),
        places: Vec::new(),
        methods: Vec::new(),
        differs: false,
        name: "",
        arguments: &[],
        depth: 0,
    };
    let begin = |tracers: &RefCell<Vec<Tracer>>| {
        let mut tracers = tracers.borrow_mut();
        tracers.push(tracer);
        tracers.len() - 1
    };
    let outer = TRACERS.try_with(begin).map_err(|_| TraceError::ThreadEnds { function: name.to_owned() })?;
    // An unwinding body leaves its tracer, which is dropped here.
    let results = catch_unwind(AssertUnwindSafe(body));
    let tracer = TRACERS.with_borrow_mut(|tracers| tracers.drain(outer..).next());
    match (results, tracer) {
        (Ok(results), Some(tracer)) => {
            let Tracer { builder, tables, places, differs, name, arguments, .. } = tracer;
            Ok(Traced { function: builder.finish(&results), tables, places, differs, name, arguments })
        }
        (Ok(_), None) => unreachable!("a trace removes only its own entry"),
        (Err(payload), _) => Err(error(name, payload)),
    }
}

fn error(name: &str, payload: Box<dyn Any + Send>) -> TraceError {
    let function = name.to_owned();
    let payload = match payload.downcast::<Stop>() {
        Ok(stop) => {
            return match *stop {
                Stop::Index { place, index, length } => {
                    TraceError::Index { function, place: place.to_owned(), index, length }
                }
                Stop::Recursion { callee } => TraceError::Recursion { function, callee: callee.to_owned() },
                Stop::TooLarge => TraceError::TooLarge { function },
                Stop::EmptyTable => TraceError::EmptyTable { function },
                Stop::OwnEquality { of } => TraceError::OwnEquality { function, of: of.to_owned() },
            };
        }
        Err(payload) => payload,
    };
    let message = match payload.downcast::<String>() {
        Ok(message) => *message,
        Err(payload) => payload.downcast::<&'static str>().map_or("no message".to_owned(), |text| text.to_string()),
    };
    TraceError::Panicked { function, message }
}

fn current<R>(f: impl FnOnce(&mut Tracer) -> R) -> R {
    TRACERS.with_borrow_mut(|tracers| f(tracers.last_mut().expect("handles exist only while a function is traced")))
}

/// Runs `f` on the function under construction.
pub(crate) fn emit<R>(f: impl FnOnce(&mut FunctionBuilder) -> R) -> R {
    let (result, length) = current(|tracer| (f(&mut tracer.builder), tracer.builder.function().insts.len()));
    if length > MAX_INSTS {
        stop(Stop::TooLarge);
    }
    result
}

/// Records that the function calls one of the standard library that rounds otherwise, or panics in every build where the IR does not.
pub(crate) fn differs() {
    current(|tracer| tracer.differs = true);
}

/// As [`emit`], of a method of this name that the standard library rounds otherwise.
pub(crate) fn emit_rounding<R>(name: &'static str, f: impl FnOnce(&mut FunctionBuilder) -> R) -> R {
    differs();
    method(name, || emit(f))
}

/// Runs `body`, which is the method of this name and no opcode: refusals of loops name the method. Of a method within another the
/// outer one is named.
pub(crate) fn method<R>(name: &'static str, body: impl FnOnce() -> R) -> R {
    let len = || current(|tracer| tracer.builder.function().insts.len());
    let first = len();
    let result = body();
    let own = first..len();
    current(|tracer| tracer.methods.push((name, own)));
    result
}

/// Runs `body`, whose arithmetic overflows on purpose: it is no panic natively.
pub(crate) fn wrapping<R>(body: impl FnOnce() -> R) -> R {
    let outer = current(|tracer| tracer.builder.set_wrapping(true));
    let result = body();
    current(|tracer| tracer.builder.set_wrapping(outer));
    result
}

fn parameter<X: ScanType>() -> V<X> {
    V::of(X::build(&mut |ty: Type| emit(|f| f.param(ty))))
}

/// Adds tables that belong together, or finds them; gives the number of the first.
pub(crate) fn add_tables(tables: Vec<Table>) -> u32 {
    current(|tracer| {
        let known = tracer.tables.windows(tables.len().max(1)).position(|window| window == tables);
        known.unwrap_or_else(|| {
            let first = tracer.tables.len();
            tracer.tables.extend(tables);
            first
        }) as u32
    })
}

/// A scan function's body is inside while this lives.
#[doc(hidden)]
pub struct Call(());

/// Enters the scan function of this name.
#[doc(hidden)]
pub fn enter(callee: &'static str) -> Call {
    let depth = current(|tracer| {
        tracer.depth += 1;
        tracer.depth
    });
    if depth > MAX_CALL_DEPTH {
        stop(Stop::Recursion { callee });
    }
    Call(())
}

/// Records the name of the function that was entered and those of its arguments, if no other one calls it.
#[doc(hidden)]
pub fn named(name: &'static str, arguments: &'static [&'static str]) {
    current(|tracer| {
        if tracer.depth == 1 {
            (tracer.name, tracer.arguments) = (name, arguments);
        }
    });
}

impl Drop for Call {
    fn drop(&mut self) {
        TRACERS.with_borrow_mut(|tracers| {
            if let Some(tracer) = tracers.last_mut() {
                tracer.depth = tracer.depth.saturating_sub(1);
            }
        });
    }
}

/// Values that are emitted while this lives, and have no place yet when it ends, were written at its place.
#[doc(hidden)]
pub struct Written(SourcePlace);

/// Records where the expression that follows was written.
#[doc(hidden)]
pub fn written_at(file: &'static str, line: u32, column: u32) -> Written {
    Written(SourcePlace { file: file.into(), line, column, method: None })
}

impl Drop for Written {
    fn drop(&mut self) {
        TRACERS.with_borrow_mut(|tracers| {
            if let Some(tracer) = tracers.last_mut() {
                let known = tracer.builder.function().insts.len();
                tracer.places.resize(known.max(tracer.places.len()), Some(self.0.clone()));
                for (method, own) in tracer.methods.drain(..) {
                    tracer.places[own].iter_mut().flatten().for_each(|place| place.method = Some(method));
                }
            }
        });
    }
}
