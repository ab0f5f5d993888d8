//! All that the kernels of a program are built from, and how each is put together.

mod candidates;
mod kernels;
mod listing;
mod own;
mod together;
mod write;

use std::sync::Arc;

use monoscan_ir::facts::{Body, Level, Range, work};
use monoscan_ir::transform::Lowered;
use monoscan_ir::{Constant, Layout, Source, Type};

use crate::cpu::abi::{Access, StateLayout};
use crate::cpu::code::Code;
use crate::cpu::error::CodegenError;
use crate::cpu::isa::HostIsa;
use crate::cpu::native::Native;
use crate::cpu::rows;
use crate::cpu::simd::{self, LaneForm};
use crate::cpu::tables::Tables;
use crate::cpu::vector::Vector;
use candidates::Candidates;
use own::OwnBodies;

/// A kernel of a program; [`abi`](crate::cpu::abi) says what each does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kernel {
    /// The replay of W blocks.
    Scan,
    /// The replay of one.
    ScanOne,
    /// The fold of W blocks, at a level.
    Reduce(usize),
    /// The fold of one.
    ReduceOne(usize),
    /// The function that takes a carry past a block, at a level.
    CarryUpdate(usize),
    /// All of ⊕, at a level.
    Combine(usize),
    /// Blocks in one pass, in vectors.
    ScanBlocks,
    /// A block in one pass: its folds at all levels and its replay.
    Together {
        /// Whether outputs are written: else it is folds alone.
        writes: bool,
    },
    /// Rows, one after the other, each from the same state: of so many elements, if they are few, or, by 0, of any number.
    Rows(usize),
    /// The same from the identities, with columns in registers.
    ShortRows(usize),
    /// A piece of each of so many neighbouring rows or, by 0, of any number of vectors of them, with a row in each lane, from the states or
    /// aggregates in slots.
    SideBySide {
        /// How many rows.
        rows: usize,
        /// Whether outputs are written: else it is a fold.
        writes: bool,
    },
    /// The segments between offsets of a line, one after the other, each from the identities.
    ShortBetween,
    /// A line from the identities, whose columns are in registers; with strided or spaced access, of any columns.
    Short,
    /// One block with whole states: the replay, or without outputs the fold of all levels.
    Whole {
        /// Whether outputs are written.
        writes: bool,
    },
    /// The same for a line as `Short` has it.
    ShortWhole {
        /// Whether outputs are written.
        writes: bool,
    },
}

/// All that kernels are built from.
pub(crate) struct Recipe {
    pub(crate) isa: Arc<HostIsa>,
    pub(crate) state: StateLayout,
    /// How the states of `ShortWhole` lie: those of all stages, or of the loop that the program was derived from.
    pub(crate) whole_states: Layout,
    /// Whether they are the loop's.
    pub(crate) are_of_loop: bool,
    pub(crate) interleave: u32,
    pub(crate) levels: Vec<Level>,
    /// The program and the tables that bodies are written from, when a kernel is compiled.
    program: Lowered,
    placed: Tables,
    inputs: Vec<Layout>,
    parameters: Layout,
    outputs: Vec<Layout>,
    identities: Vec<Vec<Constant>>,
    /// The states that lines start from.
    starts: Vec<Vec<Constant>>,
    ranges: Vec<Vec<Range>>,
    /// In place of the program's bodies, of a program that was derived from a loop, its own: what is not in vectors runs them.
    own: Option<OwnBodies>,
    /// Whether a pass with whole states is no more work than folds and a replay.
    pub(crate) whole_pays: bool,
    rank: Option<u32>,
    /// Whether bodies read the state that sequences start from.
    reads_init: bool,
    /// The longest row that has a kernel of its own.
    longest_row: usize,
    access: Access,
    /// The form in lanes, and which kernels have it.
    lanes: Option<LaneForm>,
    /// The form of neighbouring rows, and the numbers of them that have a kernel, the most first.
    neighbours: Option<(LaneForm, Vec<usize>)>,
    vector: Vector,
    /// A function that may take elements.
    candidates: Candidates,
}

impl Recipe {
    pub(crate) fn new(
        program: &Lowered,
        access: Access,
        interleave: u32,
        vector: Vector,
        isa: &Arc<HostIsa>,
    ) -> Result<Recipe, CodegenError> {
        if !matches!(interleave, 1 | 2 | 4 | 8) {
            return Err(CodegenError::Interleave(interleave));
        }
        let (replay, levels, rank) = (program.replay(), program.levels().to_vec(), program.rank());
        let operations = |body: &Body| work(&body.mapping.function);
        let apart: u32 = levels.iter().map(|level| operations(&level.body)).sum::<u32>() + operations(replay);
        let (whole, own) = (program.whole_body(true), OwnBodies::of(program));
        let own_bodies = own.iter().flat_map(OwnBodies::all);
        let bodies: Vec<&Body> = [&whole].into_iter().chain(own_bodies).collect();
        let mut reads = bodies.into_iter().flat_map(|body| &body.mapping.reads);
        let reads_init = reads.any(|source| matches!(source, Source::Init { .. }));
        let form = LaneForm::of(program).filter(|form| isa.lanes && (isa.fma || !form.needs_fma()));
        let neighbours =
            form.as_ref().filter(|_| access == Access::Strided && vector.rows).and_then(simd::of_neighbours);
        let neighbours = neighbours.map(|form| {
            let rows = simd::takes(&form).collect();
            (form, rows)
        });
        let lanes = form.filter(|_| vector != Vector::NONE && access == Access::Line);
        let is_alone = lanes.as_ref().is_some_and(LaneForm::is_alone);
        let columns = program.inputs.len() + program.output.columns.len();
        let longest_row = rows::longest_straight(rows::work(replay, columns));
        let of_loop = program.sequential.as_ref().filter(|_| program.in_loop_states(&whole).is_some());
        let whole_states: Vec<Type> = match of_loop {
            Some(of) => of.initial.iter().map(|constant| constant.ty()).collect(),
            None => {
                let stages = (0..).zip(&program.stages).filter(|&(stage, _)| rank != Some(stage));
                stages.flat_map(|(_, stage)| stage.state.clone()).collect()
            }
        };
        Ok(Recipe {
            isa: isa.clone(),
            state: StateLayout::of(program, levels.iter().flat_map(|level| level.stages.iter().copied())),
            interleave,
            placed: Tables::new(&program.tables),
            inputs: program.inputs.clone(),
            parameters: Layout::packed(&program.parameters),
            outputs: program.output.columns.clone(),
            identities: program.stages.iter().map(|stage| stage.identity.clone()).collect(),
            starts: program.start(),
            ranges: program.facts().iter().map(|stage| stage.ranges.clone()).collect(),
            rank,
            reads_init,
            longest_row,
            whole_states: Layout::packed(&whole_states),
            are_of_loop: of_loop.is_some(),
            whole_pays: own.is_some() || operations(&whole) <= apart,
            own,
            levels,
            program: program.clone(),
            access,
            vector: if is_alone { Vector { scan_one: vector.scan_one, ..Vector::NONE } } else { vector },
            lanes,
            neighbours,
            candidates: Candidates::default(),
        })
    }

    /// The components that replays carry.
    pub(crate) fn live(&self) -> &[(u32, u32)] {
        &self.program.replay().carried
    }

    /// The states of `ShortWhole` that sequences start from.
    pub(crate) fn whole_start(&self) -> Vec<Constant> {
        match self.program.sequential.as_ref().filter(|_| self.are_of_loop) {
            Some(of) => of.initial.clone(),
            None => self.starts[..self.rank.map_or(self.starts.len(), |rank| rank as usize)].concat(),
        }
    }

    /// Whether the program was derived from a loop, whose bodies take what is taken in order.
    pub(crate) fn runs_loop(&self) -> bool {
        self.own.is_some()
    }

    /// How many neighbouring rows a vector has.
    pub(crate) fn lanes_of_neighbours(&self) -> usize {
        self.neighbours.as_ref().map_or(1, |(form, _)| form.group.shape.lanes())
    }

    /// Whether any kernel works in vectors along elements.
    pub(crate) fn has_lanes(&self) -> bool {
        self.lanes.is_some() && self.vector.is_along()
    }

    /// Whether rows of so many elements are combined in order, as short ones are. Vectors run the stages and not the loop's step, and round
    /// differently.
    pub(crate) fn keeps_rows_in_order(&self, len: usize) -> bool {
        let in_lanes = self.lanes.is_some() && (self.vector.rows || self.vector.scan_one);
        !in_lanes || len <= self.longest_row && self.own.is_none()
    }

    #[inline]
    pub(crate) fn sink_bytes(&self) -> usize {
        let widest = self.outputs.iter().map(|column| column.size as usize).max();
        self.rank.and(widest).unwrap_or(0)
    }

    /// Of how many elements a block that `scan_blocks` takes is a multiple; none if there is no such kernel.
    #[inline]
    pub(crate) fn whole_blocks(&self) -> Option<usize> {
        let form = self.lanes.as_ref().filter(|_| self.vector.reduce && self.vector.scan)?;
        Some(form.group.records())
    }

    /// Compiles a kernel, whose elements this function takes, if it is some.
    ///
    /// # Errors
    /// [`CodegenError::NoKernel`] if the program has no such kernel; what the code generator refuses.
    pub(crate) fn compile(&self, kernel: Kernel, native: Option<&Native>) -> Result<Code, CodegenError> {
        if !self.kernels().contains(&kernel) {
            return Err(CodegenError::NoKernel(kernel));
        }
        Code::new(&self.isa, |context, func| self.write(kernel, native, context, func))
    }
}
