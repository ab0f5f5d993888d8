//! The totals of segments between offsets, in one pass over the records.
//!
//! A block takes a tile of consecutive records, whatever segments they are of: so it has as much to
//! do however these differ in length. It marks the last record of each segment that ends in its
//! tile. Each warp goes over consecutive records of the tile, a load group for each lane at a time,
//! folds what follows the last end of a group, and scans that over the lanes. So the state before
//! each group is known, and where a segment ends, that is its total.
//!
//! A segment may have begun further back: before the lane's group, before the warp's records, or
//! before the tile. The first is settled by the scan over the lanes, the second by one over the
//! warps. For the third a block leaves the state at the end of its tile in a slot, and the state at
//! the first end in its tile, if that segment began before. A second kernel, with a warp for each
//! tile, puts the states of the tiles before in front of that.
//!
//! Tiles do not depend on the device, and states are combined in order: so neither do roundings.
//!
//! A column of the records may be *gathered*: another column has, for each record, its place there.

mod passes;
mod records;

use monoscan_ir::transform::Lowered;
use monoscan_ir::{Layout, Source};

use super::emit::Builder;
use super::helpers::{HELPER_THREADS, HelperIr};
use super::kernel::arguments::KernelArguments;
use super::kernel::recipe::Recipe;
use super::lower::Tables;
use super::{HEAD, PlanError, as_ptx_kernel};
use crate::gpu::{Arch, Arguments};
use passes::Block;

const LANES: usize = 32;
const WARPS: usize = HELPER_THREADS / LANES;
/// Words of records, or of states, that a thread has under way at once, about.
const WORDS: usize = 32;
/// The same of records of which none are gathered: they wait less.
const WORDS_IN_ORDER: usize = 24;
/// Most load groups of a thread.
const MOST_GROUPS: usize = 8;
/// Blocks that a multiprocessor has registers for: so many were the fastest on an H200, for sums and for sparse products of `f32`.
const BLOCKS: usize = 5;

/// The kernels, in the order in which they run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TotalsPass {
    /// Over the records: a block for each tile, one at least.
    Tiles,
    /// Over the slots: a warp for each tile.
    Carry,
}

/// The two kernels of a program.
pub struct TotalsKernel {
    recipe: Recipe,
    /// The input column that is gathered, if one is.
    gathered: Option<usize>,
    /// A total in memory: its fields are the components of a state.
    total: Layout,
    /// Records of a lane at a time, and how many times that a thread has.
    group: usize,
    groups: usize,
    arguments: Arguments,
}

impl TotalsKernel {
    /// Those of a lowered program, whose outputs do not matter, with totals of this layout.
    ///
    /// # Errors
    /// [`PlanError::Totals`] if the program has several levels or parameters, keeps some records, or reads more than these; or if totals
    /// are no states.
    pub fn new(program: Lowered, gathered: Option<usize>, total: &Layout) -> Result<TotalsKernel, PlanError> {
        let program = program.without_outputs().by_stages();
        let recipe = Recipe::new(&program, None);
        let states = program.stages.iter().flat_map(|stage| stage.state.iter());
        let are_states = states.eq(total.fields.iter().map(|field| &field.ty));
        let is_plain = recipe.levels.len() == 1 && recipe.map_ids(0).is_none() && program.parameters.is_empty();
        let is_local = !recipe.reads(|source| !matches!(source, Source::Record(_) | Source::Before { .. }));
        if !is_plain || !is_local || !are_states || recipe.rank.is_some() {
            return Err(PlanError::Totals);
        }
        let in_order = recipe.inputs.iter().enumerate().filter(|(place, _)| Some(*place) != gathered);
        let places = gathered.map(|_| size_of::<u32>());
        let sizes: Vec<usize> = in_order.map(|(_, column)| column.size as usize).chain(places).collect();
        // Whole accesses in every column, and whole words.
        let whole = sizes.iter().filter(|size| **size > 0).map(|size| size.trailing_zeros()).max().unwrap_or(4);
        let words = sizes.iter().filter(|size| **size > 0).map(|size| size.trailing_zeros()).min().unwrap_or(4);
        let group = 1 << 4u32.saturating_sub(whole).max(2u32.saturating_sub(words));
        let of_record: usize = recipe.inputs.iter().map(|column| column.size as usize).sum();
        let under_way = 4 * if gathered.is_some() { WORDS } else { WORDS_IN_ORDER };
        let groups = (under_way / (group * of_record).max(1)).clamp(1, MOST_GROUPS);
        let arguments = Arguments { inputs: recipe.inputs.len() + 3, outputs: 0, ..recipe.arguments.clone() };
        Ok(TotalsKernel { gathered, total: total.clone(), group, groups, arguments, recipe })
    }

    /// Records of a tile.
    pub fn tile(&self) -> usize {
        WARPS * self.of_warp()
    }

    fn of_warp(&self) -> usize {
        LANES * self.group * self.groups
    }

    /// How the arguments are laid out. `RECORDS` and `ROWS` are the records and the segments; the workspace is that of the slots.
    /// The columns are those of the program, then the places of the gathered one (any address if none is), the offsets, which are
    /// `u32`s, and the totals.
    pub fn arguments(&self) -> &Arguments {
        &self.arguments
    }

    /// Bytes of the slot of a tile: 1 more than the number of the segment that ends first in it, if it began before, else 0; the state
    /// at the end of the tile; and the total of that segment as far as it is in the tile.
    pub fn slot(&self) -> usize {
        4 + 2 * self.state()
    }

    fn state(&self) -> usize {
        self.recipe.levels[0].1.shared_bytes()
    }

    /// Bytes of shared memory of a block.
    pub fn shared(&self, pass: TotalsPass) -> usize {
        match pass {
            TotalsPass::Tiles => self.warps() + WARPS * self.slot(),
            TotalsPass::Carry => 0,
        }
    }

    /// Where a block has the first segment that ends in its tile; the marks are before.
    fn bounds(&self) -> usize {
        4 * self.tile()
    }

    /// Where each warp has a slot.
    fn warps(&self) -> usize {
        self.bounds() + 16
    }

    /// A kernel, named `scan`, as LLVM IR that takes its arguments by address: for the emulator.
    pub fn emulated(&self, pass: TotalsPass) -> String {
        let k = Builder::new();
        k.function(HEAD, |k| {
            let tables = Tables::in_module(k, &self.recipe.tables);
            let args = KernelArguments { k, layout: &self.arguments, tables: &tables, row: None };
            let block = Block::new(self, args);
            match pass {
                TotalsPass::Tiles => block.tiles(),
                TotalsPass::Carry => block.carry(),
            }
        });
        k.finish()
    }

    /// A kernel for an architecture, named `scan`.
    pub fn ir(&self, pass: TotalsPass, arch: Arch) -> HelperIr {
        let text = as_ptx_kernel(&self.emulated(pass), "scan", self.arguments.bytes(), (HELPER_THREADS, BLOCKS));
        HelperIr::of(text, arch)
    }
}
