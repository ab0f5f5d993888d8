//! The forms of a program that calls need, each lowered, planned and compiled when the first call
//! needs it.

use std::ops::Range;
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64};
use std::sync::{Arc, OnceLock};

use monoscan_codegen::cpu::{Access, CodegenError, Compiled, HostIsa, Kernel, Native};
use monoscan_codegen::plan::{Association, Plan, PlanOptions, plan};
use monoscan_codegen::target::CpuTarget;
use monoscan_ir::facts::Absorbing;
use monoscan_ir::transform::{Form, Lowered, SegmentStart, lower};
use monoscan_ir::{Constant, Field, Layout, Mode, Program, Verified};
use monoscan_protocol::state::State;
use smallvec::SmallVec;

use super::length_constants::LengthConstants;
use super::native::Natives;
use super::race::{self, Records};
use super::restarts::Restarts;
use super::short_kernels::ShortKernels;
use super::slots::Slots;
use super::trials::Trials;
use crate::cache::get_or_make;
use crate::interleaved::MOST;

/// Lines of at least so many records have kernels of their own if functions may take their elements: the first such line is what these are
/// [raced](super::race) over.
pub(crate) const LONG_ENOUGH: usize = 1024;

/// A program in one form.
pub(crate) struct Variant {
    pub(super) is_lawful: bool,
    /// As it was written.
    pub(super) written: Arc<Verified<Program>>,
    pub(crate) program: Lowered,
    pub(crate) plan: Plan,
    /// The carry that a stream starts from.
    pub(super) first_carry: SmallVec<[Constant; 4]>,
    /// How the caller's states lie, if they are those of this form.
    pub(super) states: Option<Layout>,
    /// The functions that may take its elements, and whether they must where they can.
    pub(super) native: Option<(Native, bool)>,
    line: OnceLock<Kernels>,
    long_line: OnceLock<Kernels>,
    /// Of short lines, by generated code and by functions.
    rivals: [OnceLock<Kernels>; 2],
    strided: OnceLock<Kernels>,
    spaced: OnceLock<Kernels>,
    /// How lines end early, if they do, that are reduced and that are written.
    pub(super) absorbing: [OnceLock<Option<Absorbing>>; 2],
}

/// Code, and what goes with it.
pub(crate) struct Kernels {
    pub(crate) code: Compiled,
    pub(crate) access: Access,
    /// Whether they are of lines that are [long enough](LONG_ENOUGH).
    are_of_long_lines: bool,
    /// A bit for each way of walking lines whose kernels were made and checked.
    pub(super) walked: AtomicU64,
    /// The bits of the walks that were checked.
    pub(super) checked: AtomicU16,
    /// A bit for each length of short rows whose kernel was checked, from the carry and from the identities; of the latter the first for
    /// segments between offsets. Of strided access, each number of rows side by side that are written, and that are folded.
    pub(super) checked_rows: AtomicU32,
    pub(super) checked_short_rows: AtomicU32,
    pub(crate) length_constants: LengthConstants,
    /// Where the components are in a slot that the program had before it was lowered.
    pub(super) carried: SmallVec<[Field; 4]>,
    /// The identities of all stages, as they lie in a slot.
    pub(crate) identity: State,
    pub(crate) sizes: Sizes,
    /// By what the states of each stage forget those before them, if the plan makes use of that.
    pub(crate) restarts: Option<Restarts>,
    /// Whether helpers pay, of reductions and of scans.
    pub(crate) trials: [Trials; 2],
    /// Whether one thread takes strips, or what gives the same in one pass.
    pub(crate) cuts: [Trials; 2],
}

impl Kernels {
    /// Puts what folds side by side of so many elements start from into these slots: the identities, and the components that they leave
    /// out.
    pub(super) fn start_folds(&self, elements: usize, slots: Range<usize>, states: &mut Slots<'_>) {
        let left_out = self.length_constants.left_out(&self.code, 0, elements);
        for slot in slots {
            states.put(slot, &self.identity, 0..self.identity.len());
            states.write(slot, left_out.iter().copied());
        }
    }
}

/// Bytes of the records of each column.
pub(crate) struct Sizes {
    pub(crate) inputs: Vec<usize>,
    pub(crate) outputs: Vec<usize>,
}

impl Sizes {
    pub(super) fn of(program: &Program) -> Sizes {
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
    fn new(of: &Variants, form: Form, any_states: bool) -> Variant {
        let program = lower(&of.program, form);
        let program = if any_states { program.for_any_states() } else { program };
        let plan = plan(&program, &CpuTarget::host(), &of.options);
        let is_own = !form.heads && !form.checked && !form.previous;
        let states = of.states.clone().filter(|_| is_own);
        // The function of a loop goes from its initial state, which segments do not start from.
        let is_segmented = form.heads
            && form.start == SegmentStart::Identity
            && !(form.checked || form.previous || any_states)
            && of.program.sequential.is_none();
        let natives = of.natives.as_ref().filter(|_| (is_own || is_segmented) && of.options.native != Some(false));
        let start = of.program.stages.first().map_or(&[][..], |stage| &stage.identity);
        let any_order = plan.association == Association::Any && of.is_lawful;
        // Options that ask for vectors, or for none, get what they ask for.
        let replaces_vectors = any_order && of.options.vector.is_none();
        let native = natives.and_then(|natives| natives.of(form, start, replaces_vectors));
        let native = native.map(|native| (native, of.options.native == Some(true)));
        Variant {
            is_lawful: of.is_lawful,
            written: of.program.clone(),
            first_carry: program.first_carry().collect(),
            program,
            plan,
            states,
            native,
            line: OnceLock::new(),
            long_line: OnceLock::new(),
            rivals: Default::default(),
            strided: OnceLock::new(),
            spaced: OnceLock::new(),
            absorbing: Default::default(),
        }
    }

    /// Settles whether a function takes the elements of a kernel, before that is made: over the records of a call, if there are any.
    pub(super) fn settle(
        &self,
        kernels: &Kernels,
        kernel: Kernel,
        records: Option<Records<'_>>,
    ) -> Result<(), CodegenError> {
        let records = records.filter(|_| kernels.are_of_long_lines);
        kernels
            .code
            .settle(kernel, kernels.are_of_long_lines, |native, rivals| race::wins(native, rivals, self, records))
    }

    /// Its kernels, each of which is compiled when a call first needs it.
    #[inline]
    pub(crate) fn kernels(&self, access: Access) -> Result<&Kernels, CodegenError> {
        let kernels = match access {
            Access::Line => &self.line,
            Access::Strided => &self.strided,
            Access::Spaced => &self.spaced,
        };
        self.kernels_in(kernels, access, false, self.native.clone())
    }

    /// Whether functions take elements wherever they can.
    pub(super) fn is_native_asked(&self) -> bool {
        self.native.as_ref().is_some_and(|(_, is_asked)| *is_asked)
    }

    /// Those of short lines by generated code, and by functions wherever these can; the same, where there are no functions.
    pub(super) fn rivals(&self) -> Result<[&Kernels; 2], CodegenError> {
        let Some((native, _)) = &self.native else { return Ok([self.kernels(Access::Line)?; 2]) };
        let of = |by_function: bool| {
            let native = by_function.then(|| (native.clone(), true));
            self.kernels_in(&self.rivals[usize::from(by_function)], Access::Line, false, native)
        };
        Ok([of(false)?, of(true)?])
    }

    /// Those of a line of so many records.
    #[inline]
    pub(crate) fn kernels_for_line(&self, len: usize) -> Result<&Kernels, CodegenError> {
        let are_raced = len >= LONG_ENOUGH && matches!(self.native, Some((_, false)));
        self.kernels_in(
            if are_raced { &self.long_line } else { &self.line },
            Access::Line,
            are_raced,
            self.native.clone(),
        )
    }

    /// Whether a function writes lines: long ones, if that was settled, and else short ones.
    pub(super) fn is_native(&self) -> Result<bool, CodegenError> {
        if let Some(is_native) = self.long_line.get().and_then(|kernels| kernels.code.settled(Kernel::Short)) {
            return Ok(is_native);
        }
        let kernels = self.kernels(Access::Line)?;
        self.settle(kernels, Kernel::Short, None)?;
        Ok(kernels.code.is_native(Kernel::Short))
    }

    #[inline]
    fn kernels_in<'a>(
        &self,
        kernels: &'a OnceLock<Kernels>,
        access: Access,
        are_of_long_lines: bool,
        native: Option<(Native, bool)>,
    ) -> Result<&'a Kernels, CodegenError> {
        get_or_make(kernels, || {
            let (interleave, isa) = (self.plan.interleave as u32, HostIsa::native()?);
            let code = Compiled::in_vectors(&self.program, access, interleave, self.plan.vector, &isa)?;
            let code = match &self.states {
                Some(states) if states.types().eq(code.whole_states().types()) => code.with_states(states.clone())?,
                _ => code,
            };
            let code = if access == Access::Line { code.with_native(native) } else { code };
            let length_constants = LengthConstants::new(&self.program, &code, self.plan.block);
            let restarts = if self.plan.restarts { Restarts::of(&self.program, &code) } else { None };
            let identities = code.state_layout().fields().zip(self.program.identities());
            let identity = Slots::one(code.state_layout(), identities).state(0);
            let components = (0..).zip(self.program.carried_components());
            let components = components.flat_map(|(stage, &own)| (0..own as u32).map(move |of| (stage, of)));
            let carried = components.filter_map(|(stage, of)| code.state_layout().field(stage, of)).collect();
            Ok(Kernels {
                code,
                access,
                are_of_long_lines,
                walked: AtomicU64::new(0),
                checked: AtomicU16::new(0),
                checked_rows: AtomicU32::new(0),
                checked_short_rows: AtomicU32::new(0),
                length_constants,
                carried,
                identity,
                sizes: Sizes::of(&self.program),
                restarts,
                trials: [const { Trials::new() }; 2],
                cuts: [const { Trials::new() }; 2],
            })
        })
    }
}

/// All forms of a program.
pub(crate) struct Variants {
    pub(crate) program: Arc<Verified<Program>>,
    options: PlanOptions,
    natives: Option<Natives>,
    /// How the states lie in a caller's memory that are the callers', if that was said.
    states: Option<Layout>,
    /// Whether the laws were judged to hold, and not only assumed.
    is_lawful: bool,
    /// Whether it reads the record before.
    pub(crate) reads_previous: bool,
    /// Few are ever made, and each is large.
    made: Box<[OnceLock<Box<Variant>>]>,
    /// Parts of these.
    pub(super) short: ShortKernels,
    /// Of programs of two [interleaved](super::interleaved) rows and more.
    pub(super) interleaved: [OnceLock<Option<Box<Variants>>>; MOST - 1],
}

impl Variants {
    pub(crate) fn new(
        program: Arc<Verified<Program>>,
        (options, natives): (PlanOptions, Option<Natives>),
        states: Option<Layout>,
        is_lawful: bool,
    ) -> Variants {
        let made = (0..FORMS).map(|_| OnceLock::new()).collect();
        let (short, interleaved) = Default::default();
        let reads_previous = program.reads_previous();
        Variants { program, reads_previous, options, natives, states, is_lawful, made, short, interleaved }
    }

    /// Those of another program, as options say; no function takes its elements.
    pub(super) fn of_program(&self, program: Verified<Program>) -> Variants {
        Variants::new(Arc::new(program), (self.options.clone(), None), None, self.is_lawful)
    }

    /// A form; with `any_states`, for initial states that lie outside of the ranges that hold without them.
    pub(crate) fn get(&self, form: Form, any_states: bool) -> &Variant {
        self.made[place(form, any_states)].get_or_init(|| Box::new(Variant::new(self, form, any_states)))
    }
}

/// How many forms there are.
const FORMS: usize = 64;

/// The place of a form among all forms.
fn place(form: Form, any_states: bool) -> usize {
    let kind = match form {
        Form { heads: false, .. } => 0,
        Form { start, .. } => 1 + start as usize,
    };
    let flags = [form.previous, form.checked, form.mode == Mode::Exclusive, any_states];
    flags.into_iter().fold(kind, |place, flag| 2 * place + usize::from(flag))
}
