//! How large a tile a block has room for.
//!
//! Units and runs are as the plans say; shifted columns are accessed field by field, so a unit of theirs is one record.

use monoscan_ir::transform::Lowered;
use monoscan_ir::{Layout, Program, Source};

use super::look_ups::LookUps;
use super::{Arch, GpuPlan, Schedule};

/// Bytes of a line of memory: bulk copies are fast where source and destination lie at the same place of such.
pub(crate) const LINE: usize = 128;
/// Tiles of results that a ring keeps apart from its stages while they are on their way to device memory.
pub(crate) const OUTPUT_BUFFERS: usize = 2;
/// Most bytes of tables that blocks copy to shared memory; beyond, all stay in device memory.
pub(crate) const MOST_TABLE_BYTES: usize = 16 << 10;
/// About the bytes of a tile where several blocks share a multiprocessor.
const LOOK_BACK_TILE_BYTES: usize = 24 << 10;
/// Most records of a run.
const MOST_ITEMS: usize = 256;
/// Barriers, tickets, and what is lost between parts that begin at whole lines.
const CONTROL_BYTES: usize = 1024;

/// What a schedule needs of a block, whatever its warps.
pub(super) struct Fit<'a> {
    program: &'a Program,
    schedule: Schedule,
    arch: Arch,
    load_group: usize,
    /// What is looked up where states are maps.
    look_ups: Option<LookUps>,
}

impl<'a> Fit<'a> {
    pub(super) fn new(program: &'a Lowered, schedule: Schedule, arch: Arch) -> Fit<'a> {
        let look_ups = LookUps::planned(program, schedule);
        let load_group = if matches!(schedule, Schedule::Ring { shifted: true, .. }) { 1 } else { load_group(program) };
        Fit { program, schedule, arch, load_group, look_ups }
    }

    /// Whether a fold looks each record up in a table.
    pub(super) fn folds_in_names(&self) -> bool {
        self.look_ups.as_ref().is_some_and(|look_ups| look_ups.names.iter().any(Option::is_some))
    }

    /// Bytes of a state, in whole words.
    pub(super) fn state_bytes(&self) -> usize {
        self.program.stages.iter().flat_map(|stage| &stage.state).map(|ty| ty.size().max(4)).sum()
    }

    /// The largest tile of so many warps that leaves shared memory for all that a block keeps.
    pub(super) fn plan(&self, warps: usize) -> Option<GpuPlan> {
        let Fit { program, schedule, load_group, .. } = *self;
        let state = self.state_bytes();
        let of_program = || (0, program.tables.iter().map(|table| 2 * table.bytes.len()).sum());
        let (names, tables) = self.look_ups.as_ref().map_or_else(of_program, LookUps::bytes);
        let deferred = self.look_ups.as_ref().map_or(0, LookUps::deferred_bytes);
        let letters = self.look_ups.as_ref().is_some_and(|look_ups| look_ups.letters.is_some());
        let kept = CONTROL_BYTES + tables.min(2 * MOST_TABLE_BYTES) + names;
        let room = |kept: usize| self.arch.shared_bytes().saturating_sub(kept);
        let (record, most) = match schedule {
            Schedule::Ring { buffers, ahead, shifted } => {
                let (input, results) = in_and_apart(program, shifted, letters);
                let pending = (ahead + 1) * (2 * warps + 1) * state;
                let beside = beside(program, buffers, shifted) + 32 * warps * deferred;
                (buffers * input + OUTPUT_BUFFERS * results, room(kept + pending + beside))
            }
            _ => {
                let (input, results) = in_and_apart(program, false, letters);
                // What is kept is written to its place at once.
                let results = if program.output.keep.is_some() { 0 } else { results };
                (input + results, room(kept + warps * state).min(LOOK_BACK_TILE_BYTES))
            }
        };
        let load_groups = (most / (32 * warps * load_group * record.max(1))).min(MOST_ITEMS / load_group);
        // An odd number of them.
        let load_groups = load_groups.checked_sub(1 - load_groups % 2)?;
        Some(GpuPlan { schedule, warps, load_group, load_groups })
    }
}

/// The unit whose accesses spread over all banks: the records of the column with the highest power of two in its size
/// make one access of 16 bytes.
fn load_group(program: &Program) -> usize {
    let columns = program.inputs.iter().chain(&program.output.columns);
    let zeros = columns.filter(|column| column.size > 0).map(|column| column.size.trailing_zeros());
    1 << 4u32.saturating_sub(zeros.max().unwrap_or(0))
}

/// For each output column the input column that it may lie over in shared memory: the first one of the same record size whose next
/// record nobody reads and that no other lies over. None for what is kept, which does not lie beside its own record. A replay by
/// letters reads no record but its own.
pub(crate) fn overlays(program: &Program, letters: bool) -> Vec<Option<usize>> {
    let columns = || program.inputs.iter().enumerate();
    let of_components: Vec<usize> =
        columns().flat_map(|(place, column)| column.fields.iter().map(move |_| place)).collect();
    let read_ahead: Vec<usize> = next_components(program).map(|component| of_components[component as usize]).collect();
    let may_be_under = |place: &usize| program.output.keep.is_none() && (letters || !read_ahead.contains(place));
    let mut free: Vec<(usize, u32)> =
        columns().map(|(place, column)| (place, column.size)).filter(|(place, _)| may_be_under(place)).collect();
    let over = |column: &Layout| {
        let place = free.iter().position(|&(_, size)| size == column.size)?;
        Some(free.remove(place).0)
    };
    program.output.columns.iter().map(over).collect()
}

/// The components whose next value is read.
fn next_components(program: &Program) -> impl Iterator<Item = u32> {
    let mappings = program.stages.iter().map(|stage| &stage.lift);
    let mappings = mappings.chain([&program.output.project]).chain(&program.output.keep);
    mappings.flat_map(|mapping| &mapping.reads).filter_map(|source| match *source {
        Source::Next(component) => Some(component),
        _ => None,
    })
}

/// Bytes of the input columns' records, and of those of output columns that lie over none, as those beside shifted columns.
fn in_and_apart(program: &Program, shifted: bool, letters: bool) -> (usize, usize) {
    let apart =
        program.output.columns.iter().zip(overlays(program, letters)).filter(|(_, over)| shifted || over.is_none());
    let sum = |columns: &mut dyn Iterator<Item = &Layout>| columns.map(|column| column.size as usize).sum();
    (sum(&mut program.inputs.iter()), sum(&mut apart.map(|(column, _)| column)))
}

/// Bytes that a ring has beside the tiles of columns, at most: for the next record, and for what comes before the first one in its line.
fn beside(program: &Program, buffers: usize, shifted: bool) -> usize {
    let reads_next = next_components(program).next().is_some();
    let next = |column: &Layout| if reads_next { (column.size as usize).next_multiple_of(LINE) } else { 0 };
    let line = if shifted { LINE } else { 0 };
    let inputs: usize = program.inputs.iter().map(|column| line + next(column)).sum();
    let is_apart = shifted || program.output.keep.is_some();
    let results = if is_apart { LINE * program.output.columns.len() } else { 0 };
    buffers * inputs + OUTPUT_BUFFERS * results
}
