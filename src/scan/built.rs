//! The parts of a scan under construction, and the scan of them: what no type of the caller
//! decides, so that it is compiled once.

use monoscan_ir::Layout;
use monoscan_runtime::{DynScan, Error, Natives, PlanOptions};

use super::native;
use super::program::{Part, Parts};
use super::states;
use crate::words::RUST;

/// The parts that were given so far.
#[derive(Default)]
pub(super) struct Functions {
    pub(super) lifts: Vec<Part>,
    pub(super) filter: Option<Part>,
    /// None for the value of the last stage's operator.
    pub(super) project: Option<Part>,
    /// Whether that operator has no identity, so that a state may be no value.
    pub(super) is_semigroup: bool,
    /// Whether the first lift gives states of such an operator, which may be no values either.
    pub(super) lifts_states: bool,
}

#[derive(Default)]
pub(super) struct Options {
    pub(super) assume_associative: bool,
    pub(super) threads: Option<usize>,
    pub(super) plan: PlanOptions,
}

/// The facts that the types of a scan say. With them the rest is compiled once, for all of them.
pub(super) struct Types {
    pub(super) operators: Vec<states::Operator>,
    /// The value of the last operator, which may have an identity, that a state is.
    pub(super) value: fn(bool) -> Part,
    pub(super) inputs: Vec<Layout>,
    pub(super) columns: Vec<Layout>,
    pub(super) components: Vec<String>,
    pub(super) states: Layout,
    /// Elements as functions of Rust.
    pub(super) natives: fn() -> Option<Natives>,
}

/// Judges, plans and compiles the scan of these parts.
pub(super) fn built(functions: Functions, types: Types, options: Options) -> Result<DynScan, Error> {
    let Functions { lifts, filter, project, is_semigroup, lifts_states } = functions;
    let needs_start = is_semigroup && project.is_none();
    if needs_start && lifts_states {
        return Err(Error::LiftedStates);
    }
    let project = project.unwrap_or_else(|| (types.value)(!is_semigroup));
    let parts = Parts { lifts, filter, project, operators: types.operators };
    let parameters = parts.parameters();
    let is_native = native::is_wanted(&options.plan) && parts.are_exact();
    let natives = if is_native { (types.natives)() } else { None };
    let program = parts.program(types.inputs, types.columns)?;
    let Options { assume_associative, threads, plan } = options;
    let mut builder = DynScan::builder(program).component_names(types.components).words(RUST).plan(plan);
    builder = builder.states_in_memory(types.states);
    if let Some(natives) = natives {
        // SAFETY: they are loops over these functions, on columns and a state of their types.
        builder = unsafe { builder.natives(natives) };
    }
    if needs_start {
        builder = builder.needs_start();
    }
    if assume_associative {
        builder = builder.assume_associative();
    }
    if let Some(threads) = threads {
        builder = builder.threads(threads);
    }
    builder.build()?.with(&parameters)
}
