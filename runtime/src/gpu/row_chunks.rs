//! Rows side by side that are too few for a thread each: a thread takes a chunk of a row.
//!
//! Three launches. The first reduces each chunk. The second scans the aggregates along each row,
//! from the row's start: it is a call for rows too, and may be cut again. The third scans each
//! chunk from what came before it. A record is read twice and written once. Chunks depend on the
//! shape of the call alone, so floats have one association.

use std::sync::Arc;

use monoscan_ir::{FunctionBuilder, Layout, Mapping, Mode, Output, Program, Source, Stage, Verified, verify};
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

/// The program that scans states, packed in records of one column, into the first half of records of two, which kernels take for the start
/// and the initial state of a row.
pub(super) fn of_states(program: &Program) -> Result<Verified<Program>, Error> {
    let stage = &program.stages[0];
    let packed = Layout::packed(&stage.state);
    let as_it_is = |reads: fn(u32) -> Source| {
        let mut b = FunctionBuilder::new();
        let state = b.params(&stage.state);
        Mapping { reads: (0..state.len() as u32).map(reads).collect(), function: b.finish(&state) }
    };
    let lift = as_it_is(Source::Record);
    let project = as_it_is(Source::State);
    let program = Program {
        name: format!("{}.states", program.name),
        tables: program.tables.clone(),
        inputs: vec![packed.clone()],
        parameters: Vec::new(),
        stages: vec![Stage { lift, automaton: false, ..stage.clone() }],
        output: Output {
            filter: None,
            project,
            columns: vec![Layout { size: 2 * packed.size.next_multiple_of(16), ..packed }],
        },
        sequential: None,
    };
    Ok(verify(program)?)
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
        (program.stages.len() == 1 && !reads_init && !program.reads_previous()).then_some(chunk)
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
        let Some(states) = scan.source.of_states()? else { return Ok(None) };
        let reduction = Task { reduces: true, outputs: SmallVec::new(), ..self.again() };
        let Some(folds) = scan.source.find(&reduction)? else { return Ok(None) };
        let states = OnGpu { depth: scan.depth + 1, ..states };

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
        launch(&folds, &self.inputs, 0, Some(aggregates.states()))?;

        let (planes, together) = (rows.plane_count(), rows.step());
        let chunks = rows.len().div_ceil(chunk);
        let init = self.call.carry.map_or(self.call.init, Init::Each);
        let shape = Shape::Rows(Rows::planes(planes, chunks * together, chunks, together)?);
        let wants_totals = self.call.totals || self.call.carry.is_some() || self.reduces;
        let call = Call { mode: Mode::Exclusive, init, shape, totals: wants_totals, ..Call::default() };
        let settings = Settings { parameters: &Parameters::default(), checked: false };
        let (program, device) = (&*states.program, scan.device.into());
        // SAFETY: so many states are there, and have space there, for as long as the stream works on them in this order.
        let (from, to) = unsafe {
            let from = Column::on_device_raw(device, aggregates.states(), count, &program.inputs[0]);
            (from, ColumnMut::on_device_raw(device, starts.states(), count, &program.output.columns[0]))
        };
        let carried = match self.reduces {
            true => Task::reduction((program, device), (&call, settings), &[from]),
            false => Task::new((program, device), (&call, settings), &[from], &[to]),
        };
        let carried = carried?.submit(&states, stream)?;
        if self.reduces {
            return Ok(Some(Pending { outcome: Outcome { written: 0, ..carried.outcome.clone() }, ..carried }));
        }
        let columns: SmallVec<[u64; 8]> = self.inputs.iter().chain(&self.outputs).copied().collect();
        let launched = launch(&scans, &columns, starts.states(), None)?;
        Ok(Some(Pending {
            launched: launched.map(|launched| (launched, scans.states.clone())),
            outcome: Outcome { written: span.rows * span.records, totals: Vec::new() },
            capacity: None,
            wants_totals,
            components: scan.total_components(self.call.carry.is_some()),
            elements: Elements::Rows { rows, reversed: self.call.reversed },
            begun: None,
            helpers: Vec::new(),
            totals_of: Some(Arc::new(carried)),
            lines: None,
        }))
    }
}
