//! The CPU engine: from a checked call to lines and rows, and from those to kernels.
//!
//! | file | what it is |
//! |---|---|
//! | `on_cpu` | the engine as a backend: a call over host memory, and short lines |
//! | `variant` | the forms of a program that calls need, each compiled once |
//! | `needs` | the kernels that a call needs, and their compilation |
//! | `native` | functions of Rust for the elements of one pass, and whether they are used |
//! | `short` | lines of few records, and the call that does them |
//! | `between` | the segments between offsets of such a line |
//! | `line` | one sequence of records, and the calls of generated code |
//! | `walk` | how a line is walked: in one pass, or strip by strip |
//! | `tiles` | its tiles, on many threads |
//! | `restarts` | tiles of which only the last elements are reduced |
//! | `helpers` | how many threads work is worth |
//! | `interrupt` | calls that are given up |
//! | `ahead` | memory asked for before it is used |
//! | `streaming` | results past the caches |
//! | `rows` | rows of arrays, and segments that are reduced |
//! | `totals` | totals of rows and segments, straight into the caller's memory |
//! | `segments` | segments as columns of flags and starts |
//! | `slots`, `length_constants` | states in memory; their components that follow from the length |
//! | `self_check` | compiled kernels against the interpreter, before they may run |

pub(crate) mod ahead;
mod between;
pub(crate) mod helpers;
mod interrupt;
mod length_constants;
mod line;
mod native;
mod needs;
pub(crate) mod off_core;
mod on_cpu;
mod restarts;
mod rows;
mod segments;
mod self_check;
mod short;
mod slots;
mod streaming;
mod tiles;
mod totals;
pub(crate) mod trials;
mod variant;
mod walk;

use std::cell::LazyCell;
use std::sync::{Mutex, PoisonError};

use monoscan_codegen::cpu::{Access, Kernel};
use monoscan_ir::transform::{Check, Lowered};
use monoscan_ir::{Constant, Layout, Source};
use smallvec::SmallVec;

pub(crate) use between::MOST_FLAGS;
pub use between::{ShortBetween, with_flags};
pub(crate) use line::Bases;
pub use native::Natives;
pub(crate) use on_cpu::OnCpu;
pub(crate) use short::After;
pub use short::{Short, ShortRows, ShortWhole, Whole};
pub(crate) use totals::{Columns, Sequences};
pub(crate) use variant::{Variant, Variants};

use crate::backend::Settings;
use crate::call::{Call, Init, Shape};
use crate::checked::{self, Elements};
use crate::error::Error;
use crate::spacing::Spacings;
use interrupt::Interrupt;
use line::{Each, Line};
pub(crate) use segments::Heads;
use segments::{Segments, Starts};
use slots::{Slots, Start};
use variant::Kernels;

/// Lines of more bytes, read and written, come from memory rather than from a second-level cache.
const LONG_BYTES: usize = 4 << 20;

/// Bytes of states that a checked scan compares with the loop's: twice as many, and some more, go from tile to tile.
const MAX_COMPARED_BYTES: usize = 480;

/// A call whose parts were checked against the program and each other.
pub(crate) struct Task<'a> {
    pub(crate) call: &'a Call<'a>,
    pub(crate) inputs: Bases<*const u8>,
    pub(crate) outputs: Bases<*mut u8>,
    /// How far apart records are, unless all columns are contiguous.
    pub(crate) spacings: Option<&'a Spacings>,
    /// Records of the columns.
    pub(crate) len: usize,
    /// Records that every output has space for.
    pub(crate) capacity: usize,
    pub(crate) purpose: Purpose,
}

/// The purpose of a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    /// Outputs.
    Write,
    /// How many records would be kept.
    Count,
    /// Totals, sequence by sequence.
    Reduce,
}

/// The engine of one program's calls.
pub(crate) struct Engine<'a> {
    pub(crate) variants: &'a Variants,
    pub(crate) threads: Option<usize>,
    pub(crate) settings: Settings<'a>,
}

impl Engine<'_> {
    /// Runs a task. Gives how many records were written or would be; and the totals of its sequences, one after the other, in
    /// `totals` if it is some, which must have space for them.
    ///
    /// # Errors
    /// [`Error::Overflowed`] or [`Error::Regrouped`] if that is checked; no code for the form.
    pub(crate) fn run(&self, mut task: Task<'_>, totals: Option<&mut [Constant]>) -> Result<usize, Error> {
        let Task { call, .. } = task;
        let (program, Settings { parameters, checked }) = (&self.variants.program, self.settings);
        let checked = checked && task.purpose != Purpose::Count;
        let form = call.form(task.purpose == Purpose::Reduce, self.variants.reads_previous, checked);
        let is_segmented = form.heads;
        let usual = self.variants.get(form, false);
        let first_carry = &*usual.first_carry;
        let mut variant = usual;
        let inits = || call.init.states(program.state_len());
        let carries = || call.carry.unwrap_or_default().chunks_exact(first_carry.len());
        let lengths = (program.state_len(), first_carry.len());
        if call.given(lengths).any(|(_, state)| !usual.program.holds(state)) {
            variant = self.variants.get(form, true);
        }
        let wants_totals = totals.is_some();
        let is_of_each = matches!(call.init, Init::Each(_));
        let resumes_rows = call.carry.is_some() && matches!(call.shape, Shape::Rows(_));
        let has_starts = is_of_each || resumes_rows;
        let is_spaced = task.spacings.is_some();
        let in_turn = match &call.shape {
            Shape::Rows(rows) if !is_spaced => {
                !call.reversed && !wants_totals && !checked && !has_starts && Line::prefers_in_turn(&variant.plan, rows)
            }
            _ => false,
        };
        let side_by_side = match &call.shape {
            // Rows side by side have one initial state, if the program reads that.
            Shape::Rows(_) if is_of_each && reads_init(&variant.program) => None,
            Shape::Rows(rows) => (!in_turn && Line::prefers_side_by_side(&variant.plan, rows)).then_some(rows),
            _ => None,
        };
        let steps = matches!(&call.shape, Shape::Rows(rows) if rows.step() > 1);
        let is_dense = side_by_side.is_none() && !steps && !is_spaced;
        let is_line = is_dense && !call.reversed;
        let access = match is_line {
            true => Access::Line,
            false if is_spaced => Access::Spaced,
            false => Access::Strided,
        };
        let kernels = variant.kernels(access)?;
        // What segments add to the columns that are read lies one after the other.
        let added = &variant.program.inputs[task.inputs.len()..];
        let spacings = task.spacings.map_or_else(SmallVec::new, |spacings| spacings.in_order(added));
        let layout = kernels.code.state_layout();
        let fields = || kernels.carried.iter().copied();
        let start = |state| fields().zip(completed(state, first_carry));
        let init = Slots::one(layout, start(call.init.same().unwrap_or_default()));
        let starts = variant.program.starts().map(|column| self.starts(&task, &variant.program.inputs[column]));
        let are_lines = matches!(call.shape, Shape::Rows(_)) || !is_segmented && heads(call.shape).is_some();
        let carry = match (call.carry, call.init) {
            _ if are_lines => None,
            (Some(carry), _) => Some(carry),
            (None, Init::Each(_)) => {
                let first = if call.reversed { task.len.saturating_sub(1) } else { 0 };
                let segment = |starts: &Starts| Some(starts.segment_of(heads(call.shape)?, first));
                inits().nth(starts.as_ref().and_then(segment).unwrap_or(0))
            }
            (None, _) => None,
        };
        let carry = carry.map(|carry| Slots::one(layout, start(carry)));
        let each = match call.init {
            _ if resumes_rows => Some((Slots::each(layout, carries().map(start)), false)),
            Init::Each(_) if are_lines => Some((Slots::each(layout, inits().map(start)), true)),
            _ => None,
        };
        let each = each.as_ref().map(|(states, are_initial)| Each { states, are_initial: *are_initial });
        let check = variant.program.check();
        let check_stage = variant.program.carried_components().len() as u32;
        if let Some(bytes) = check.map(Check::compared_bytes).filter(|&bytes| bytes > MAX_COMPARED_BYTES) {
            return Err(Error::CheckedState { expected: MAX_COMPARED_BYTES, got: bytes });
        }
        let interrupt = call.interrupt.map(Interrupt::new);
        let segments = |heads| Segments { heads, starts: starts.as_ref(), reversed: call.reversed, len: task.len };
        let segments = heads(call.shape).filter(|_| is_segmented).map(segments);
        if let Some(segments) = segments {
            task.inputs.extend(segments.in_memory());
        }
        let line = Line {
            kernels,
            plan: &variant.plan,
            inputs: task.inputs,
            outputs: task.outputs,
            spacings: &spacings,
            len: task.len,
            first: 0,
            place: if call.reversed { task.len.wrapping_sub(1) } else { 0 },
            step: if call.reversed { -1 } else { 1 },
            segments,
            init: Start::only(&init),
            carry: Start::only(carry.as_ref().unwrap_or(&init)),
            each,
            interrupt: interrupt.as_ref(),
            parameters: parameters.as_ptr(),
            writes: task.purpose == Purpose::Write,
            is_long: is_dense && task.len.saturating_mul(kernels.sizes.all()) > LONG_BYTES,
            capacity: task.capacity,
            streams: false,
            totals: wants_totals || checked,
        };
        let totals = totals.map(Mutex::new);
        let count = if call.carry.is_some() { first_carry.len() } else { program.state_len() };
        let found = Mutex::new(None);
        // Of segments of one line the scan reaches the last one first, if it is reversed; rows come one after the other.
        let is_backwards = call.reversed && matches!(call.shape, Shape::Offsets(_));
        let keep = |first: usize, states: &Slots<'_>, slots: std::ops::Range<usize>| {
            if let Some(check) = check {
                let of_sequence = |(sequence, slot): (usize, usize)| {
                    let after = |stage: u32, component: u32| states.of(slot, stage, component);
                    let own = (0..check.components() as u32).map(|part| states.of(slot, check_stage, part));
                    let own: SmallVec<[Constant; 8]> = own.collect();
                    Some((sequence, check.finding(&own, wants_totals.then_some(&after))?))
                };
                let findings = (first..).zip(slots.clone()).filter_map(of_sequence);
                let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                *found = checked::first(findings.chain(*found), is_backwards);
            }
            let Some(totals) = &totals else { return };
            let mut totals = totals.lock().unwrap_or_else(PoisonError::into_inner);
            states.read_each(slots, &kernels.carried, totals[first * count..].chunks_exact_mut(count));
        };
        let _caller = helpers::Caller::of(variant.plan.alone, task.len);
        let threads = LazyCell::new(|| self.threads.unwrap_or_else(helpers::threads));
        let threads = || *threads;
        let done = match call.shape {
            Shape::Rows(rows) => {
                let step = if call.reversed { -(rows.step() as isize) } else { rows.step() as isize };
                let line = Line { len: rows.len(), step, ..line };
                if rows.is_empty() && !wants_totals {
                    return Ok(0);
                }
                let is_small = rows.count().saturating_mul(rows.len()) <= variant.plan.direct;
                let threads = if is_small { 1 } else { threads() };
                match side_by_side {
                    None if in_turn => {
                        variant.make(kernels, &[Kernel::Rows(line.len)].into(), 1)?;
                        line.in_turn(&rows, threads);
                    }
                    Some(rows) => {
                        line.make_side_by_side(variant, threads)?;
                        line.side_by_side(rows, threads, &keep);
                    }
                    None => {
                        line.make_kernels(variant, rows.len(), threads)?;
                        line.row_by_row(&rows, threads, &keep);
                    }
                }
                rows.count() * rows.len()
            }
            Shape::Offsets(offsets) if task.purpose == Purpose::Reduce => {
                let longest = offsets.windows(2).map(|ends| ends[1] - ends[0]).max().unwrap_or(0);
                line.make_kernels(variant, longest, threads())?;
                line.segment_by_segment(offsets, threads(), &keep);
                task.len
            }
            _ => {
                let helped = if line.len <= variant.plan.direct { 1 } else { threads() };
                line.make_kernels(variant, line.len, helped)?;
                let after = line.run(threads);
                keep(0, &after, 0..1);
                kept(kernels, &variant.program, &after).unwrap_or(task.len)
            }
        };
        if interrupt.is_some_and(|interrupt| interrupt.was_seen()) {
            return Err(Error::Interrupted);
        }
        let reversed = call.reversed;
        let elements = match call.shape {
            Shape::Rows(rows) => Elements::Rows { rows, reversed },
            Shape::Offsets(offsets) if task.purpose == Purpose::Reduce => Elements::Offsets { offsets, reversed },
            _ => Elements::Line { len: task.len, reversed },
        };
        match found.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some((run, finding)) => Err(elements.error(program.stages.len(), run, finding)),
            None => Ok(done),
        }
    }
}

impl Engine<'_> {
    /// The state that each segment starts from, for a column of this layout. A segment that goes on from a carry has none
    /// of its own, and has the identities there.
    fn starts(&self, task: &Task<'_>, layout: &Layout) -> Starts {
        let heads = heads(task.call.shape).expect("only segments have such a column");
        let are_flags = !matches!(heads, Heads::Offsets(_));
        let goes_on = are_flags && task.call.carry.is_some() && heads.is_flagged(0) != Some(true);
        let identities = self.variants.program.identities();
        let first = goes_on.then_some(&identities[..]);
        Starts::new(layout, first.into_iter().chain(task.call.init.states(identities.len())), heads)
    }
}

/// Where segments begin, if there are any.
fn heads(shape: Shape<'_>) -> Option<Heads<'_>> {
    match shape {
        Shape::Heads(flags) => Some(Heads::Flags(flags)),
        Shape::HeadBits(bits) => Some(Heads::Bits(bits)),
        Shape::Offsets(offsets) => Some(Heads::Offsets(offsets)),
        _ => None,
    }
}

/// Whether mappings read the initial states of the user's stages.
fn reads_init(program: &Lowered) -> bool {
    let mut reads = program.mappings().flat_map(|mapping| &mapping.reads);
    reads.any(|source| matches!(source, Source::Init { stage, .. } if (*stage as usize) < program.user_stages()))
}

/// How many records were kept, if the program filters: the rank after the last element.
fn kept(kernels: &Kernels, program: &Lowered, after: &Slots<'_>) -> Option<usize> {
    let rank = kernels.code.state_layout().field(program.rank()?, 0)?;
    Some(after.read(0, rank).bits() as usize)
}

/// The components of a state that a caller gave, and behind them those of a first carry that it lacks.
fn completed<'s>(state: &'s [Constant], first_carry: &'s [Constant]) -> impl Iterator<Item = Constant> + 's {
    first_carry.iter().enumerate().map(|(place, first)| *state.get(place).unwrap_or(first))
}
