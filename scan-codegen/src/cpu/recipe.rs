//! All that the kernels of a program are built from, and how each is put together.

use std::sync::Arc;

use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::{Context, ir};
use cranelift_frontend::FunctionBuilderContext;
use cranelift_jit::JITModule;
use cranelift_module::Module;
use scan_ir::facts::{self, Advance, Body, Facts, Level, Range, fold_levels, replay_body};
use scan_ir::transform::rank_stage;
use scan_ir::{Constant, Layout, Mode, Program, Source, Table, Type, Verified};

use super::abi::{Access, SHORT_INPUTS, StateLayout};
use super::blocks::{self, Blocks};
use super::combine::combine;
use super::error::CodegenError;
use super::interior::interior;
use super::isa::HostIsa;
use super::kernel::{self, Carried, TileKernel};
use super::lower::Env;
use super::simd::LaneForm;
use super::tables::Tables;
use super::vector::Vector;

/// A kernel of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kernel {
    /// The replay of W blocks.
    Scan,
    /// The replay of one.
    ScanOne,
    /// The fold of W blocks, at a level.
    Reduce(usize),
    /// The fold of one.
    ReduceOne(usize),
    /// What takes a carry past a block, at a level.
    Advance(usize),
    /// All of ⊕, at a level.
    Combine(usize),
    /// Blocks in one pass.
    ScanBlocks,
    /// A line from the identities.
    Short,
}

/// All that kernels are built from.
pub(crate) struct Recipe {
    pub(crate) isa: Arc<HostIsa>,
    pub(crate) state: StateLayout,
    pub(crate) ways: u32,
    pub(crate) levels: Vec<Level>,
    tables: Vec<Table>,
    placed: Tables,
    inputs: Vec<Layout>,
    outputs: Vec<Layout>,
    identities: Vec<Vec<Constant>>,
    ranges: Vec<Vec<Range>>,
    replay: Body,
    rank: Option<usize>,
    /// For each stage what a carry needs of ⊕, and all of it.
    advances: Vec<Advance>,
    wholes: Vec<Advance>,
    access: Access,
    /// The form in lanes, and which kernels have it.
    lanes: Option<LaneForm>,
    vector: Vector,
}

impl Recipe {
    pub(crate) fn new(
        program: &Verified<Program>,
        facts: &Facts,
        access: Access,
        ways: u32,
        vector: Vector,
        isa: &Arc<HostIsa>,
    ) -> Result<Recipe, CodegenError> {
        if !matches!(ways, 1 | 2 | 4 | 8) {
            return Err(CodegenError::Ways(ways));
        }
        let outputs = [Some(&program.output.project), program.output.keep.as_ref()];
        if outputs.into_iter().flatten().any(|mapping| mapping.reads.iter().any(|s| matches!(s, Source::State(_)))) {
            return Err(CodegenError::NotLowered);
        }
        let stages = program.stages.iter().zip(&facts.stages);
        let mut fits = facts.stages.len() == program.stages.len();
        for (stage, known) in stages {
            fits &= known.ranges.len() == stage.state.len() && known.length_only.len() == stage.state.len();
        }
        if !fits {
            return Err(CodegenError::Facts);
        }
        let replay = replay_body(program, facts, Mode::Inclusive);
        let levels = fold_levels(program, facts);
        let last = program.stages.len() as u32 - 1;
        let rank = rank_stage(program).and_then(|rank| replay.carried.iter().position(|&carried| carried == (rank, 0)));
        if program.output.keep.is_some() && rank.is_none() {
            return Err(CodegenError::NotLowered);
        }
        let bodies: Vec<&Body> = [&replay].into_iter().chain(levels.iter().map(|level| &level.body)).collect();
        let advances = (0..=last).map(|stage| {
            // The folds of a stage's own level and of those before do not start from its carry.
            let level = levels.iter().position(|level| level.stages.contains(&stage)).unwrap_or(0);
            let users = [&bodies[..1], &bodies[level + 2..]].concat();
            facts::advance_over(program, &users, stage)
        });
        Ok(Recipe {
            isa: isa.clone(),
            state: StateLayout::of(program, levels.iter().flat_map(|level| level.stages.iter().copied())),
            ways,
            tables: program.tables.clone(),
            placed: Tables::new(&program.tables),
            inputs: program.inputs.clone(),
            outputs: program.output.columns.clone(),
            identities: program.stages.iter().map(|stage| stage.identity.clone()).collect(),
            ranges: facts.stages.iter().map(|stage| stage.ranges.clone()).collect(),
            rank,
            advances: advances.collect(),
            wholes: (0..=last).map(|stage| facts::whole_combine(program, stage)).collect(),
            levels,
            replay,
            access,
            vector,
            lanes: LaneForm::of(program, facts).filter(|form| {
                vector != Vector::NONE && access == Access::Line && isa.lanes && (isa.fma || !form.needs_fma())
            }),
        })
    }

    /// The components that replays carry.
    pub(crate) fn live(&self) -> &[(u32, u32)] {
        &self.replay.carried
    }

    /// Whether any kernel works in vectors.
    pub(crate) fn has_lanes(&self) -> bool {
        self.lanes.is_some()
    }

    pub(crate) fn sink_bytes(&self) -> usize {
        let widest = self.outputs.iter().map(|column| column.size as usize).max();
        self.rank.and(widest).unwrap_or(0)
    }

    /// The kernels, in the order in which they are compiled.
    pub(crate) fn kernels(&self) -> Vec<Kernel> {
        let mut all = vec![Kernel::Scan, Kernel::ScanOne];
        for level in 0..self.levels.len() {
            all.extend([Kernel::Reduce(level), Kernel::ReduceOne(level)]);
            all.extend([Kernel::Advance(level), Kernel::Combine(level)]);
        }
        if self.whole_blocks().is_some() {
            all.push(Kernel::ScanBlocks);
        }
        if self.has_short() {
            all.push(Kernel::Short);
        }
        all
    }

    /// Whether there is a kernel for short lines: a line's few columns are all that it needs.
    pub(crate) fn has_short(&self) -> bool {
        let reads_seed = self.replay.mapping.reads.iter().any(|source| matches!(source, Source::Seed { .. }));
        let is_small = self.inputs.len() <= SHORT_INPUTS && self.outputs.len() == 1;
        self.access == Access::Line && is_small && !reads_seed && self.rank.is_none()
    }

    /// Whether carries of a level's stages have all components.
    pub(crate) fn advances_all(&self, level: usize) -> bool {
        let mut stages = self.levels[level].stages.iter().map(|&stage| stage as usize);
        stages.all(|stage| self.advances[stage].components.len() == self.wholes[stage].components.len())
    }

    fn env(&self) -> Env<'_> {
        Env {
            tables: &self.tables,
            placed: &self.placed,
            x86: self.isa.x86,
            pshufb: self.isa.pshufb,
            frontend: self.isa.isa.frontend_config(),
        }
    }

    /// The range of each parameter of a body.
    fn param_ranges(&self, body: &Body) -> Vec<Range> {
        let reads = body.mapping.reads.iter().zip(&body.mapping.function.params);
        let range = |(source, &ty): (&Source, &Type)| match *source {
            Source::Before { stage, component } => {
                let known = self.ranges.get(stage as usize).and_then(|ranges| ranges.get(component as usize));
                known.copied().unwrap_or(Range::full(ty))
            }
            _ => Range::full(ty),
        };
        reads.map(range).collect()
    }

    /// Where the carried components of a body start, and which of them are its results: at a level those of its own
    /// stages, in a replay all, and of a short line none.
    fn carried(&self, body: &Body, level: Option<&Level>, is_short: bool) -> Option<Vec<Carried>> {
        let carried = body.carried.iter().map(|&(stage, component)| {
            let field = self.state.field(stage, component)?;
            let is_folded = level.is_some_and(|level| level.stages.contains(&stage));
            let identity = self.identities.get(stage as usize)?.get(component as usize)?;
            let is_result = is_folded || level.is_none() && !is_short;
            Some(Carried { field, start: (is_folded || is_short).then_some(*identity), is_result })
        });
        carried.collect()
    }

    /// Writes the Cranelift IR of a kernel.
    pub(crate) fn write(
        &self,
        kernel: Kernel,
        context: &mut FunctionBuilderContext,
        func: &mut ir::Function,
    ) -> Result<(), CodegenError> {
        let stages = |level: usize| self.levels[level].stages.iter().copied();
        let (level, ways) = match kernel {
            Kernel::Scan => (None, self.ways),
            Kernel::ScanOne | Kernel::ScanBlocks | Kernel::Short => (None, 1),
            Kernel::Reduce(level) => (Some(&self.levels[level]), self.ways),
            Kernel::ReduceOne(level) => (Some(&self.levels[level]), 1),
            Kernel::Advance(level) => {
                let stages: Vec<_> = stages(level).map(|stage| (stage, &self.advances[stage as usize])).collect();
                return combine(func, context, &stages, &self.state, &self.ranges, &self.env());
            }
            Kernel::Combine(level) => {
                let stages: Vec<_> = stages(level).map(|stage| (stage, &self.wholes[stage as usize])).collect();
                return combine(func, context, &stages, &self.state, &self.ranges, &self.env());
            }
        };
        let in_lanes = match kernel {
            Kernel::ScanBlocks => true,
            Kernel::Scan => self.vector.scan,
            Kernel::ScanOne | Kernel::Short => self.vector.scan_one,
            _ => self.vector.reduce,
        };
        let body = level.map_or(&self.replay, |level| &level.body);
        let ranges = self.param_ranges(body);
        let interior = interior(body, &ranges, &self.tables);
        let tile = TileKernel {
            body,
            interior: interior.as_ref(),
            carried: &self.carried(body, level, kernel == Kernel::Short).ok_or(CodegenError::Facts)?,
            inputs: &self.inputs,
            outputs: if level.is_some() { &[] } else { &self.outputs },
            rank: self.rank.filter(|_| level.is_none()),
            state: &self.state,
            ranges: &ranges,
            access: self.access,
            ways,
            lanes: self.lanes.as_ref().filter(|_| in_lanes),
        };
        match (kernel, &self.lanes) {
            (Kernel::ScanBlocks, Some(form)) => {
                let (identity, ranges) = (&self.identities[0], &self.ranges[0]);
                let blocks = Blocks { form, advance: &self.advances[0], ranges, identity };
                blocks::blocks(func, context, &tile, &blocks, &self.env())
            }
            (Kernel::Short, _) => kernel::short(func, context, &tile, &self.env()),
            _ => kernel::tile(func, context, &tile, &self.env()),
        }
    }

    /// Of how many elements a block that `scan_blocks` takes is a multiple; none if there is no such kernel.
    pub(crate) fn whole_blocks(&self) -> Option<usize> {
        let form = self.lanes.as_ref().filter(|_| self.vector.reduce && self.vector.scan)?;
        Some(form.group.records())
    }

    /// Defines all kernels in the module and gives their addresses, in the order of [`kernels`](Recipe::kernels).
    pub(crate) fn compile(&self, module: &mut JITModule) -> Result<Vec<(Kernel, *const u8)>, CodegenError> {
        let mut builder_context = FunctionBuilderContext::new();
        let mut context = module.make_context();
        let mut ids: Vec<(Kernel, _)> = Vec::new();
        for kernel in self.kernels() {
            let is_the_one_before = match kernel {
                Kernel::ScanOne => self.ways == 1 && self.vector.scan == self.vector.scan_one,
                Kernel::ReduceOne(_) => self.ways == 1,
                Kernel::Combine(level) => self.advances_all(level),
                _ => false,
            };
            if is_the_one_before {
                ids.push((kernel, ids[ids.len() - 1].1));
                continue;
            }
            self.write(kernel, &mut builder_context, &mut context.func)?;
            let id = module.declare_anonymous_function(&context.func.signature)?;
            module.define_function(id, &mut context)?;
            module.clear_context(&mut context);
            ids.push((kernel, id));
        }
        module.finalize_definitions()?;
        Ok(ids.into_iter().map(|(kernel, id)| (kernel, module.get_finalized_function(id))).collect())
    }

    /// The kernels as Cranelift IR, before optimisation.
    pub(crate) fn clif(&self) -> String {
        self.text(|_, context| Ok(context.func.display().to_string()))
    }

    /// The kernels as assembly. Compiles them anew.
    pub(crate) fn asm(&self) -> String {
        self.text(|isa, context| {
            context.set_disasm(true);
            let code = context.compile(&*isa.isa, &mut ControlPlane::default()).map_err(|error| error.inner)?;
            Ok(code.vcode.clone().unwrap_or_default())
        })
    }

    /// What `show` makes of each kernel, under its name.
    fn text(&self, show: impl Fn(&HostIsa, &mut Context) -> Result<String, cranelift_codegen::CodegenError>) -> String {
        let mut all = String::new();
        for kernel in self.kernels() {
            let mut context = Context::new();
            context.func.signature.call_conv = self.isa.isa.default_call_conv();
            let written = self.write(kernel, &mut FunctionBuilderContext::new(), &mut context.func);
            let text = match written {
                Ok(()) => show(&self.isa, &mut context).unwrap_or_else(|error| error.to_string()),
                Err(error) => error.to_string(),
            };
            all += &format!("; {}\n{}\n", self.name(kernel), text.trim_end());
        }
        all
    }

    fn name(&self, kernel: Kernel) -> String {
        let at = |level: usize| if self.levels.len() == 1 { String::new() } else { format!(" of level {level}") };
        match kernel {
            Kernel::Scan => "scan".into(),
            Kernel::ScanOne => "scan_one".into(),
            Kernel::Reduce(level) => format!("reduce{}", at(level)),
            Kernel::ReduceOne(level) => format!("reduce_one{}", at(level)),
            Kernel::Advance(level) => format!("advance{}", at(level)),
            Kernel::Combine(level) => format!("combine{}", at(level)),
            Kernel::ScanBlocks => "scan_blocks".into(),
            Kernel::Short => "short".into(),
        }
    }
}
