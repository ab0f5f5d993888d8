//! Rows side by side that are too few for a thread each: a thread takes a chunk of a row.
//!
//! A launch reduces each chunk. A scan of the aggregates along each row, from the row's start,
//! gives what comes before each chunk: it is a call for rows too, and may be cut again. Another
//! launch scans the chunks from there. The later levels of a cascade are lifted from the states of
//! the earlier ones, so there is a reduction and a scan of aggregates for each level, in their
//! order. A record is read once for each level and once more, and written once. Chunks depend on
//! the shape of the call alone, so floats have one association.

use std::ops::Range;
use std::sync::Arc;

use monoscan_ir::{
    Constant, FunctionBuilder, Layout, Mapping, Mode, Output, Program, Source, Stage, Type, Verified, verify,
};
use smallvec::SmallVec;

use super::kernel::{Launch, Span};
use super::on_gpu::{Found, OnGpu};
use super::pending::Pending;
use super::task::Task;
use crate::backend::{Outcome, Settings};
use crate::call::{Call, Init, Rows, Shape};
use crate::checked::Elements;
use crate::column::{Column, ColumnMut};
use crate::cuda::{Stream, StreamLocks, Workspace};
use crate::error::Error;
use crate::parameters::Parameters;

/// About so many threads fill a device. So many rows are not cut.
const THREADS: usize = 1 << 17;
const MANY_ROWS: usize = THREADS / 4;
/// A chunk is a multiple of what a thread loads at once.
const LOADED: usize = 16;
/// Fewest records of a chunk, and fewest chunks.
const LEAST: usize = 32;
const FEWEST: usize = 4;
/// How often the aggregates are cut again.
const MOST_DEEP: usize = 3;

/// The keys of the workspaces of aggregates and of starts, of the calls at each depth.
const AGGREGATES: u64 = 1 << 32;

/// Held for the launches of one call: another thread that uses the same stream must not get between them. Calls for aggregates hold
/// the next.
static IN_ORDER: [StreamLocks; MOST_DEEP] = [const { StreamLocks::new() }; MOST_DEEP];

/// The program that scans the states of a level, among those of all levels, packed in records of one column, into the first half of
/// records of two, which kernels take for the start and the initial state of a row. That of the first level writes the identities of the
/// other levels, too.
pub(super) fn of_states(program: &Program, level: usize) -> Result<Verified<Program>, Error> {
    let stage = &program.stages[level];
    let own = components(program, level);
    let types: Vec<Type> = program.stages.iter().flat_map(|stage| stage.state.iter().copied()).collect();
    let packed = Layout::packed(&types);
    let mut lift = FunctionBuilder::new();
    let record = lift.params(&stage.state);
    let reads = |of: fn(u32) -> Source| (0..record.len() as u32).map(of).collect();
    let lift = Mapping { reads: reads(Source::Record), function: lift.finish(&record) };
    let mut project = FunctionBuilder::new();
    let mut written = project.params(&stage.state);
    let fields = packed.fields[own.start..if level == 0 { types.len() } else { own.end }].to_vec();
    let later = program.stages[level + 1..].iter().flat_map(|stage| &stage.identity);
    written.extend(later.take(fields.len() - own.len()).map(|&identity| project.constant(identity)));
    let project = Mapping { reads: reads(Source::State), function: project.finish(&written) };
    let program = Program {
        name: format!("{}.states{level}", program.name),
        tables: program.tables.clone(),
        inputs: vec![Layout { fields: packed.fields[own].to_vec(), ..packed }],
        parameters: Vec::new(),
        stages: vec![Stage { lift, automaton: false, ..stage.clone() }],
        output: Output {
            filter: None,
            project,
            columns: vec![Layout { size: 2 * packed.size.next_multiple_of(16), fields, ..packed }],
        },
        sequential: None,
    };
    Ok(verify(program)?)
}

/// The components of a level's states among those of all levels.
fn components(program: &Program, level: usize) -> Range<usize> {
    let first = program.stages[..level].iter().map(|stage| stage.state.len()).sum();
    first..first + program.stages[level].state.len()
}

impl Task<'_> {
    /// How many records of its rows a thread takes, if they are cut.
    pub(super) fn chunk(&self, scan: &OnGpu, rows: &Rows) -> Option<usize> {
        let program = &*scan.program;
        let chunk = rows.elements().div_ceil(THREADS).max(LEAST).next_multiple_of(LOADED);
        let are_few = rows.count() < MANY_ROWS && rows.len() >= FEWEST * chunk;
        if !are_few || scan.depth >= MOST_DEEP {
            return None;
        }
        let mut reads = program.mappings().flat_map(|mapping| &mapping.reads);
        let reads_init = reads.any(|source| matches!(source, Source::Init { .. }));
        // The record before the first one of a resumed row is a state of one level more.
        let has_previous = program.reads_previous() && self.call.carry.is_some();
        (!reads_init && !has_previous).then_some(chunk)
    }

    /// Gives it to a stream, in chunks of so many records. None if its kernels are not such.
    pub(super) fn submit_chunks(
        &self,
        scan: &OnGpu,
        (&rows, chunk): (&Rows, usize),
        stream: &Stream,
    ) -> Result<Option<Pending>, Error> {
        let span = Span { chunk, ..Span::of(rows) };
        let Some(scans) = scan.source.find(self)? else { return Ok(None) };
        let arguments = &scans.kernel.manifest().arguments;
        let (bytes, row_bytes) = (arguments.states.size as usize, arguments.row_bytes());
        let levels = 0..scan.program.stages.len();
        let states: Option<Vec<OnGpu>> = levels.map(|level| scan.source.of_states(level)).collect::<Result<_, _>>()?;
        let Some(states) = states else { return Ok(None) };
        let reduction = Task { reduces: true, outputs: SmallVec::new(), ..self.again() };
        let Some(folds) = scan.source.find(&reduction)? else { return Ok(None) };

        let _in_order = IN_ORDER[scan.depth].hold(stream);
        let count = span.threads();
        let lease = |key: u64, bytes: usize| Workspace::lease(stream, AGGREGATES + 2 * scan.depth as u64 + key, bytes);
        let (aggregates, starts) = (lease(0, count * bytes)?, lease(1, count * row_bytes)?);
        let identities = folds.states.lowered(None);
        let launch = |Found { kernel, .. }: &Found, columns: &[u64], states_of_rows: u64, totals_to: Option<u64>| {
            let launch = Launch {
                span,
                reversed: self.call.reversed,
                start: &identities,
                init: &identities,
                states_of_rows,
                parameters: self.settings.parameters.values(),
                columns,
                capacity: 0,
                totals: false,
                totals_to,
            };
            // SAFETY: the columns were checked against the program, and the caller that made them promised that they may be used until
            // the stream is done with them. Starts and aggregates have space for all chunks.
            unsafe { kernel.launch(stream, &launch, scan.limit) }
        };

        let (planes, together) = (rows.plane_count(), rows.step());
        let chunks = rows.len().div_ceil(chunk);
        let shape = Shape::Rows(Rows::planes(planes, chunks * together, chunks, together)?);
        let wants_totals = self.call.totals || self.call.carry.is_some() || self.reduces;
        let settings = Settings { parameters: &Parameters::default(), checked: false };
        let last = states.len() - 1;
        let mut totals_of = SmallVec::new();
        for (level, states) in states.into_iter().enumerate() {
            let states = OnGpu { depth: scan.depth + 1, ..states };
            launch(&folds, &self.inputs, if level > 0 { starts.states() } else { 0 }, Some(aggregates.states()))?;
            let own = self.starts_of(components(&scan.program, level));
            let init = match (self.call.carry, self.call.init) {
                (None, Init::Identity) => Init::Identity,
                (None, Init::Same(_)) => Init::Same(&own),
                _ => Init::Each(&own),
            };
            let call = Call { mode: Mode::Exclusive, init, shape, totals: wants_totals, ..Call::default() };
            let (program, device) = (&*states.program, scan.device.into());
            // SAFETY: so many states are there, and have space there, for as long as the stream works on them in this order.
            let (from, to) = unsafe {
                let from = Column::on_device_raw(device, aggregates.states(), count, &program.inputs[0]);
                (from, ColumnMut::on_device_raw(device, starts.states(), count, &program.output.columns[0]))
            };
            // Nothing follows the last level of a reduction.
            let carried = match self.reduces && level == last {
                true => Task::reduction((program, device), (&call, settings), &[from]),
                false => Task::new((program, device), (&call, settings), &[from], &[to]),
            };
            totals_of.push(Arc::new(carried?.submit(&states, stream)?));
        }
        let launched = match self.reduces {
            true => None,
            false => {
                let columns: SmallVec<[u64; 8]> = self.inputs.iter().chain(&self.outputs).copied().collect();
                launch(&scans, &columns, starts.states(), None)?
            }
        };
        let written = if self.reduces { 0 } else { span.rows * span.records };
        Ok(Some(Pending {
            launched: launched.map(|launched| (launched, scans.states.clone())),
            outcome: Outcome { written, totals: Vec::new() },
            capacity: None,
            wants_totals,
            components: scan.total_components(self.call.carry.is_some()),
            elements: Elements::Rows { rows, reversed: self.call.reversed },
            begun: None,
            helpers: Vec::new(),
            totals_of,
            lines: None,
        }))
    }

    /// The states that rows start from, of each these components.
    fn starts_of(&self, components: Range<usize>) -> Vec<Constant> {
        let (own, carried) = self.lengths;
        let of = |states: &[Constant], each: usize| {
            states.chunks_exact(each).flat_map(|state| &state[components.clone()]).copied().collect()
        };
        match (self.call.carry, self.call.init) {
            (Some(carry), _) => of(carry, carried),
            (None, Init::Each(states)) => of(states, own),
            (None, Init::Same(state)) => state[components].to_vec(),
            (None, Init::Identity) => Vec::new(),
        }
    }
}
