//! A kernel of a program, by a plan.

use monoscan_codegen::gpu::{Arch, GpuPlan, Manifest, Schedule};
use monoscan_codegen::nvptx::{self, KernelPlan, PlanError};
use monoscan_ir::transform::{Form, Lowered, lower};
use monoscan_ir::{Constant, Source, Stage};
use scan_emulator::Kernel;

use crate::Case;
use crate::expected::Reference;
use scan_kit::Random;

/// A kernel, with the program that it is of.
pub struct Subject<'c> {
    pub(crate) case: &'c Case,
    pub(crate) form: Form,
    /// The program that is compiled.
    pub(crate) program: Lowered,
    pub(crate) reference: Reference,
    /// How it is launched.
    pub manifest: Manifest,
    /// In the emulator.
    pub kernel: Kernel,
    /// As LLVM IR.
    pub text: String,
}

impl<'c> Subject<'c> {
    /// Makes the kernel, or says why this plan does not fit.
    pub fn new(case: &'c Case, form: Form, plan: &GpuPlan) -> Result<Subject<'c>, PlanError> {
        let program = lower(&case.program, form);
        let nvptx::Kernel { text, manifest } = KernelPlan::with(&program, plan, Arch::Sm90)?.emulated();
        let kernel = Kernel::compile(&text, "scan").unwrap_or_else(|error| panic!("{error}\n{}\n{plan}", *program));
        Ok(Subject { case, form, reference: Reference::new(&program), program, manifest, kernel, text })
    }

    /// The same with another text of the kernel.
    pub fn with_text(&self, text: &str) -> Subject<'c> {
        let kernel = Kernel::compile(text, "scan").unwrap_or_else(|error| panic!("{error}"));
        Subject {
            case: self.case,
            form: self.form,
            program: self.program.clone(),
            reference: Reference::new(&self.program),
            manifest: self.manifest.clone(),
            kernel,
            text: text.into(),
        }
    }

    /// How the kernel goes about it.
    pub fn plan(&self) -> &GpuPlan {
        &self.manifest.plan
    }

    pub(crate) fn schedule(&self) -> Schedule {
        self.manifest.plan.schedule
    }

    /// Whether it writes some records only.
    pub fn keeps(&self) -> bool {
        self.program.output.filter.is_some()
    }

    /// Whether the kernel takes rows, and so states for each.
    pub(crate) fn has_rows(&self) -> bool {
        !matches!(self.schedule(), Schedule::Ring { .. }) && !self.form.heads && !self.keeps()
    }

    /// Whether outputs may lie where inputs do.
    pub(crate) fn may_be_in_place(&self) -> bool {
        let sizes = |layouts: &[monoscan_ir::Layout]| layouts.iter().map(|layout| layout.size).collect::<Vec<_>>();
        let lifts = self.program.stages.iter().map(|stage| &stage.lift);
        let mut reads = lifts.chain([&self.program.output.project]).flat_map(|mapping| &mapping.reads);
        let same = sizes(&self.program.inputs)[..] == sizes(&self.program.output.columns)[..];
        same && !self.keeps() && !reads.any(|source| matches!(source, Source::Next(_) | Source::Prev(_)))
    }

    /// Whether some stage follows another.
    pub fn is_cascade(&self) -> bool {
        self.program.full_levels().len() > 1
    }

    /// Whether each segment has a start of its own.
    pub fn has_starts(&self) -> bool {
        self.form.heads && self.program.starts().is_some()
    }

    /// So many records for the lowered program.
    pub(crate) fn records(&self, random: &mut Random, count: usize) -> Vec<Vec<u8>> {
        let mut columns = self.case.records(random, count);
        if self.form.heads {
            let times = *random.pick(&[1, 2, 7, 40, 1000]);
            columns.push((0..count).map(|_| random.chance(times) as u8).collect());
        }
        if self.has_starts() {
            let starts: Vec<Vec<u8>> = (0..3).map(|_| self.any_start(random)).collect();
            columns.push((0..count).flat_map(|_| random.pick(&starts).clone()).collect());
        }
        columns
    }

    /// A start of a segment, as its column has it: the states after some records.
    fn any_start(&self, random: &mut Random) -> Vec<u8> {
        let layout = self.program.inputs.last().expect("the column of starts");
        let count = random.below(5);
        let mut columns = self.case.records(random, count);
        columns.extend([vec![0; count], vec![0; count * layout.size as usize]]);
        let parameters: Vec<Constant> = self.program.parameters.iter().map(|ty| ty.zero()).collect();
        let mut states = self.reference.states(&columns, &parameters).into_iter();
        // The last component of a stage says whether a segment has begun, which is no part of a start.
        let of_stage = |stage: &Stage| {
            let mut components: Vec<Constant> = states.by_ref().take(stage.state.len()).collect();
            components.pop();
            components
        };
        let users = &self.program.stages[..self.program.user_stages()];
        layout.to_bytes(&users.iter().flat_map(of_stage).collect::<Vec<_>>())
    }

    /// Its description, in words.
    pub fn name(&self) -> String {
        format!("{}, {:?}, {}", self.program.name, self.form, self.plan())
    }
}
