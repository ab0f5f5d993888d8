//! The Cranelift IR of a kernel: which body it has, what it carries, and which loop runs it.

use std::borrow::Cow;

use cranelift_codegen::ir;
use cranelift_frontend::FunctionBuilderContext;
use monoscan_ir::facts::{Body, Level, Range};
use monoscan_ir::{Source, Type};

use super::own::OwnBodies;
use super::{Kernel, Recipe};
use crate::cpu::blocks::{self, Blocks};
use crate::cpu::combine::combine;
use crate::cpu::entries;
use crate::cpu::error::CodegenError;
use crate::cpu::kernel::{Carried, TileKernel};
use crate::cpu::lower::Env;
use crate::cpu::native::Native;
use crate::cpu::simd::{LaneForm, Work};
use crate::cpu::steady_state::steady_state;

impl Recipe {
    /// Writes the Cranelift IR of a kernel, whose elements this function takes, if it is some.
    pub(super) fn write(
        &self,
        kernel: Kernel,
        native: Option<&Native>,
        context: &mut FunctionBuilderContext,
        func: &mut ir::Function,
    ) -> Result<(), CodegenError> {
        let stages = |level: usize| self.levels[level].stages.iter().copied();
        let (level, interleave) = match kernel {
            Kernel::Scan => (None, self.interleave),
            Kernel::ScanOne | Kernel::ScanBlocks | Kernel::Rows(_) | Kernel::ShortRows(_) => (None, 1),
            Kernel::Short | Kernel::ShortBetween => (None, 1),
            Kernel::SideBySide { writes, .. } => (self.levels.first().filter(|_| !writes), 1),
            Kernel::Together { .. } | Kernel::Whole { .. } | Kernel::ShortWhole { .. } => (None, 1),
            Kernel::Reduce(level) => (Some(&self.levels[level]), self.interleave),
            Kernel::ReduceOne(level) => (Some(&self.levels[level]), 1),
            Kernel::CarryUpdate(level) => {
                let stages: Vec<_> = stages(level).map(|stage| (stage, self.program.carry_update(stage))).collect();
                return combine(func, context, &stages, &self.state, &self.ranges, &self.env());
            }
            Kernel::Combine(level) => {
                let stages: Vec<_> = stages(level).map(|stage| (stage, self.program.whole_combine(stage))).collect();
                return combine(func, context, &stages, &self.state, &self.ranges, &self.env());
            }
        };
        let in_lanes = match kernel {
            Kernel::ScanBlocks => true,
            Kernel::Scan => self.vector.scan,
            Kernel::ScanOne | Kernel::Rows(_) | Kernel::ShortRows(_) | Kernel::Short => self.vector.scan_one,
            Kernel::Whole { writes: true } | Kernel::ShortWhole { writes: true } => {
                self.vector.scan_one && self.folds_all()
            }
            Kernel::Whole { .. } | Kernel::ShortWhole { .. } => self.vector.reduce_one && self.folds_all(),
            Kernel::ShortBetween | Kernel::Together { .. } => false,
            // In a form of its own.
            Kernel::SideBySide { .. } => true,
            _ => self.vector.reduce,
        };
        let in_lanes = in_lanes && native.is_none();
        let whole = match kernel {
            Kernel::Whole { writes } | Kernel::ShortWhole { writes } => Some(writes),
            _ => None,
        };
        // Kernels in vectors carry the components of the stages, for what fills no vector too.
        let of_rows = matches!(kernel, Kernel::Rows(_) | Kernel::ShortRows(_));
        let fills_vectors = in_lanes || of_rows && self.vector.rows;
        let fills_vectors = fills_vectors && self.lanes.is_some() || matches!(kernel, Kernel::SideBySide { .. });
        let own = self.own.as_ref().filter(|_| !fills_vectors);
        let or_own = |body: &dyn Fn() -> Body, of: fn(&OwnBodies) -> &Body| match own {
            Some(own) => Cow::Borrowed(of(own)),
            None => Cow::Owned(body()),
        };
        let program = &self.program;
        let is_short_whole = matches!(kernel, Kernel::ShortWhole { .. });
        let together = match kernel {
            Kernel::Together { writes } => Some(self.together(writes)),
            _ => None,
        };
        let body = match (level, whole) {
            _ if let Some(together) = &together => Cow::Borrowed(&together.body),
            (Some(level), _) => Cow::Borrowed(&level.body),
            (None, Some(false)) if is_short_whole => or_own(&|| program.total_body(), |own| &own.total),
            (None, Some(false)) => or_own(&|| program.whole_body(false), |own| &own.folds),
            (None, Some(true)) => or_own(&|| program.whole_body(true), |own| &own.writes),
            (None, None) => Cow::Borrowed(own.map_or(program.replay(), |own| &own.replay)),
        };
        // What the loop's states in memory become before an element lies in the same ranges.
        let ranges = self.param_ranges(&body);
        let body = match is_short_whole && self.are_of_loop {
            true => Cow::Owned(program.in_loop_states(&body).expect("all bodies with whole states carry them all")),
            false => body,
        };
        let body = &*body;
        let writes = match kernel {
            Kernel::Together { writes } => writes,
            _ => whole.unwrap_or(level.is_none()),
        };
        let carried = match &together {
            Some(together) => Cow::Borrowed(&together.carried),
            None => Cow::Owned(self.carried(body, level, kernel)),
        };
        let work = match (writes, whole) {
            (false, _) => Work::Reduce,
            (true, None) => Work::Scan,
            (true, Some(_)) => Work::Both,
        };
        let steady_state = steady_state(body, &ranges, &self.program.tables);
        let tile = TileKernel {
            body,
            steady_state: steady_state.as_ref(),
            carried: &carried,
            inputs: &self.inputs,
            outputs: if writes { &self.outputs } else { &[] },
            rank: self.rank_in(body).filter(|_| writes),
            parameters: &self.parameters,
            state: &self.state,
            ranges: &ranges,
            access: self.access,
            interleave,
            lanes: self.lanes.as_ref().filter(|_| in_lanes).map(|form| (form, work)),
            native: native.filter(|native| native.fits(body) && (writes || native.reduce.is_some())),
        };
        let is_chain =
            interleave == 1 && matches!(kernel, Kernel::Scan | Kernel::ScanOne | Kernel::Short) && own.is_none();
        let env = Env { chain: if is_chain { body.state_len() } else { 0 }, ..self.env() };
        match (kernel, &self.lanes) {
            (Kernel::ScanBlocks, Some(form)) => {
                let (identity, ranges) = (&self.identities[0], &self.ranges[0]);
                let (carry_update, combine) = (&self.program.carry_update(0), &self.program.whole_combine(0));
                let blocks = Blocks { form, carry_update, combine, ranges, identity };
                blocks::blocks(func, context, &tile, &blocks, &self.env())
            }
            (Kernel::SideBySide { rows, writes }, _) => {
                let (form, _) = self.neighbours.as_ref().ok_or(CodegenError::NoKernel(kernel))?;
                let tile = TileKernel { native: None, ..tile };
                entries::side_by_side((func, context), &tile, (form, rows, writes), &env)
            }
            (_, form) => {
                let form = form.as_ref().filter(|_| self.vector.rows);
                entries::write((func, context), kernel, &tile, form, &env)
            }
        }
    }

    fn env(&self) -> Env<'_> {
        Env {
            tables: &self.program.tables,
            placed: &self.placed,
            x86: self.isa.x86,
            pshufb: self.isa.pshufb,
            lanes: self.isa.lanes && self.isa.fma,
            chain: 0,
            frontend: self.isa.isa.frontend_config(),
        }
    }

    /// The range of each parameter of a body.
    fn param_ranges(&self, body: &Body) -> Vec<Range> {
        let reads = body.mapping.reads.iter().zip(&body.mapping.function.params);
        let range = |(source, &ty): (&Source, &Type)| match *source {
            Source::Before { stage, component } if body.ends.is_none() => {
                self.ranges[stage as usize][component as usize]
            }
            _ => Range::full(ty),
        };
        reads.map(range).collect()
    }

    /// Where the carried components of a body start, and which of them are its results: at a level those of its own
    /// stages, in a replay all, and of a short line from the identities none.
    pub(super) fn carried(&self, body: &Body, level: Option<&Level>, kernel: Kernel) -> Vec<Carried> {
        let carried = body.carried.iter().enumerate().map(|(place, &(stage, component))| {
            if let Kernel::ShortWhole { .. } = kernel
                && self.rank != Some(stage)
            {
                // Every component is carried, in order.
                return Carried { field: self.whole_states.fields[place], start: None, is_result: true };
            }
            // A short line starts at rank 0, and its caller is told what it ends with.
            let is_short = matches!(
                kernel,
                Kernel::Short | Kernel::ShortRows(_) | Kernel::ShortBetween | Kernel::ShortWhole { .. }
            );
            let field = self.state.field(stage, component).expect("the stage has the component");
            let is_folded = level.is_some_and(|level| level.stages.contains(&stage));
            let states = if is_folded { &self.identities } else { &self.starts };
            let start = states[stage as usize][component as usize];
            let is_result = is_folded || level.is_none() && !is_short && !matches!(kernel, Kernel::Rows(_));
            Carried { field, start: (is_folded || is_short).then_some(start), is_result }
        });
        carried.collect()
    }

    /// Where a body carries the rank.
    fn rank_in(&self, body: &Body) -> Option<usize> {
        let rank = self.rank?;
        body.carried.iter().position(|&carried| carried == (rank, 0))
    }

    /// Whether reductions in lanes carry every component.
    pub(super) fn folds_all(&self) -> bool {
        self.lanes.as_ref().is_some_and(LaneForm::folds_all)
    }
}
