//! The forms of a program that calls need, each lowered, planned and compiled when the first call needs it.

use std::sync::OnceLock;

use scan_codegen::cpu::{Access, Compiled, HostIsa};
use scan_codegen::plan::{Plan, PlanOptions, plan};
use scan_codegen::target::CpuTarget;
use scan_ir::facts::{Facts, StageFacts};
use scan_ir::transform::{Form, lower};
use scan_ir::{Constant, Field, Layout, Mode, Program, Stage, Verified, laws};
use smallvec::SmallVec;

use super::known::Known;
use super::self_check::Check;
use super::short::Short;
use crate::error::Error;

/// A program in one form.
pub(crate) struct Variant {
    form: Form,
    pub(crate) program: Verified<Program>,
    pub(crate) facts: Facts,
    pub(crate) plan: Plan,
    line: OnceLock<Kernels>,
    strided: OnceLock<Kernels>,
}

/// Code, and what goes with it.
pub(crate) struct Kernels {
    pub(crate) code: Compiled,
    pub(crate) known: Known,
    pub(crate) sizes: Sizes,
    /// Where the states of each stage say that they forget what was before them, if the plan makes use of that.
    pub(crate) restarts: Option<SmallVec<[Field; 2]>>,
}

/// Bytes of the records of each column.
pub(crate) struct Sizes {
    pub(crate) inputs: Vec<usize>,
    pub(crate) outputs: Vec<usize>,
}

impl Sizes {
    pub(crate) fn of(program: &Program) -> Sizes {
        let sizes = |columns: &[Layout]| columns.iter().map(|column| column.size as usize).collect();
        Sizes { inputs: sizes(&program.inputs), outputs: sizes(&program.output.columns) }
    }

    /// Of the widest column.
    pub(crate) fn widest(&self) -> usize {
        self.inputs.iter().chain(&self.outputs).copied().max().unwrap_or(1)
    }

    /// Of all columns together.
    pub(crate) fn all(&self) -> usize {
        self.inputs.iter().chain(&self.outputs).sum()
    }
}

impl Variant {
    fn new(program: &Verified<Program>, form: Form, any_states: bool, options: &PlanOptions) -> Variant {
        let program = lower(program, form);
        let facts = if any_states { Facts::for_any_states(&program) } else { Facts::of(&program) };
        let plan = plan(&program, &facts, &CpuTarget::host(), options);
        Variant { form, program, facts, plan, line: OnceLock::new(), strided: OnceLock::new() }
    }

    /// Its kernels, compiled and [checked](super::self_check) if this is the first call for them.
    pub(crate) fn kernels(&self, access: Access) -> Result<&Kernels, Error> {
        let kernels = match access {
            Access::Line => &self.line,
            Access::Strided => &self.strided,
        };
        get_or_make(kernels, || {
            let (ways, isa) = (self.plan.ways as u32, HostIsa::native()?);
            let code = Compiled::in_vectors(&self.program, &self.facts, access, ways, self.plan.vector, &isa)?;
            let known = Known::new(&self.program, &code, self.plan.block);
            let restart = |(stage, facts): (u32, &StageFacts)| code.state_layout().field(stage, facts.restart?);
            let restarts = || (0..).zip(&self.facts.stages).map(restart).collect();
            let restarts = if self.plan.restarts { restarts() } else { None };
            let kernels = Kernels { code, known, sizes: Sizes::of(&self.program), restarts };
            let (program, plan, seeds) = (&self.program, &self.plan, &self.seeds());
            Check { program, plan, kernels: &kernels, access, seeds }.run()?;
            Ok(kernels)
        })
    }

    /// For each stage a state that runs may start from: the identity, or another one if the program reads where segments start.
    fn seeds(&self) -> Vec<Vec<Constant>> {
        let identities = || self.program.stages.iter().map(|stage| stage.identity.clone()).collect::<Vec<_>>();
        if !self.form.seeded || self.program.output.keep.is_some() {
            return identities();
        }
        let stages = self.program.stages.iter().zip(&self.facts.stages);
        let seed = |(stage, facts): (&Stage, &StageFacts)| {
            let states = laws::sample_states(stage, &self.program.tables, 4, 0);
            let holds =
                |state: &Vec<Constant>| facts.ranges.iter().zip(state).all(|(range, &value)| range.holds(value));
            states.into_iter().rev().find(holds).unwrap_or_else(|| stage.identity.clone())
        };
        stages.map(seed).collect()
    }

    /// Whether these components, those of all stages of the program before it was lowered, lie in the ranges that the
    /// kernels rely on.
    pub(crate) fn holds(&self, components: &[usize], state: &[Constant]) -> bool {
        let stages = self.facts.stages.iter().zip(components);
        let ranges = stages.flat_map(|(stage, &components)| &stage.ranges[..components]);
        ranges.zip(state).all(|(range, &component)| range.holds(component))
    }
}

/// All forms of a program.
pub(crate) struct Variants {
    program: Verified<Program>,
    options: PlanOptions,
    made: [OnceLock<Variant>; 12],
    /// For each [`Mode`], parts of these.
    short: [OnceLock<Option<Short>>; 2],
}

impl Variants {
    pub(crate) fn new(program: Verified<Program>, options: PlanOptions) -> Variants {
        Variants { program, options, made: Default::default(), short: Default::default() }
    }

    /// What scans short lines from the identities, if it was made and the program has such a kernel.
    #[inline]
    pub(crate) fn short(&self, mode: Mode) -> Option<&Short> {
        self.short[mode as usize].get()?.as_ref()
    }

    /// The same, made if this is the first call for it.
    pub(crate) fn make_short(&self, mode: Mode) -> Option<&Short> {
        let form = Form { mode, ..Form::default() };
        self.short[mode as usize].get_or_init(|| Short::of(self.get(form, false))).as_ref()
    }

    /// A form; with `any_states`, for seeds that lie outside of the ranges that hold without them.
    pub(crate) fn get(&self, form: Form, any_states: bool) -> &Variant {
        self.made[place(form, any_states)].get_or_init(|| Variant::new(&self.program, form, any_states, &self.options))
    }
}

/// The place of a form among all forms.
fn place(form: Form, any_states: bool) -> usize {
    let kind = match form {
        Form { heads: false, .. } => 0,
        Form { seeded: false, .. } => 1,
        Form { .. } => 2,
    };
    6 * usize::from(form.mode == Mode::Exclusive) + 2 * kind + usize::from(any_states)
}

/// The value of a cell, made if it is empty. Two threads may both make one; the first to finish wins.
fn get_or_make<T, E>(cell: &OnceLock<T>, make: impl FnOnce() -> Result<T, E>) -> Result<&T, E> {
    if let Some(value) = cell.get() {
        return Ok(value);
    }
    let made = make()?;
    Ok(cell.get_or_init(|| made))
}
