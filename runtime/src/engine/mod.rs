//! The CPU engine: from a checked call to lines and rows, and from those to kernels.
//!
//! | file | what it is |
//! |---|---|
//! | `on_cpu` | the engine as a backend: a call over host memory, and short lines |
//! | `variant` | the forms of a program that calls need, each compiled once |
//! | `needs` | the kernels that a call needs, and their compilation |
//! | `native` | functions of Rust for the elements of one pass, and whether they are used |
//! | `short` | lines of few records, and the call that does them |
//! | `short_whole` | such lines from given states, which become those after the line |
//! | `short_rows` | rows of few records, all of them in one call |
//! | `short_totals` | totals of few rows or segments, straight from the caller's slices |
//! | `absorbing` | lines that may end early, in pieces |
//! | `contest` | which implementation short lines take, by the time calls took |
//! | `race` | which implementation a long line takes, by races over its own records or samples |
//! | `whole` | states in callers' memory, from which they start and where they end |
//! | `spaced` | short lines whose records lie at any distances |
//! | `short_kernels` | the kernels of short calls, once they were made |
//! | `between` | the segments between offsets of such a line |
//! | `line` | one sequence of records, and the calls of generated code |
//! | `worker` | a thread that walks a line, and its strips of blocks |
//! | `walk` | how a line is walked: in one pass, or strip by strip |
//! | `together` | blocks in order, each in one pass |
//! | `tiles` | the tiles of a line, on many threads |
//! | `restarts` | tiles of which only the last elements are reduced |
//! | `helpers` | how many threads work is worth |
//! | `off_core` | whether threads were off their cores |
//! | `trials` | which of several ways a call takes, by the time they took |
//! | `interrupt` | calls that the caller cancels while they run |
//! | `ahead` | memory asked for before it is used |
//! | `streaming` | results past the caches |
//! | `rows` | rows of arrays, and segments that are reduced |
//! | `folds` | folds of rows side by side, for their totals |
//! | `groups` | how threads share rows side by side |
//! | `interleaved` | a few interleaved rows, as one line |
//! | `totals` | totals of rows and segments, straight into the caller's memory |
//! | `segments` | segments as columns of flags and starts |
//! | `after` | the states after sequences: totals, and what a checked scan found |
//! | `slots`, `length_constants` | states in memory; their components that follow from the length |
//! | `self_check` | compiled kernels against the interpreter, before they may run |

mod absorbing;
mod after;
pub(crate) mod ahead;
mod between;
mod contest;
mod folds;
mod groups;
pub(crate) mod helpers;
mod interleaved;
mod interrupt;
mod length_constants;
mod line;
mod native;
mod needs;
pub(crate) mod off_core;
mod on_cpu;
mod race;
mod restarts;
mod rows;
mod segments;
mod self_check;
mod short;
mod short_kernels;
mod short_rows;
mod short_totals;
mod short_whole;
mod slots;
mod spaced;
mod streaming;
mod tiles;
mod together;
mod totals;
pub(crate) mod trials;
mod variant;
mod walk;
mod whole;
mod worker;

use std::cell::LazyCell;

use monoscan_codegen::cpu::{Access, Kernel};
use monoscan_ir::transform::{Form, Lowered};
use monoscan_ir::{Constant, Layout, Source};
use smallvec::SmallVec;

pub(crate) use absorbing::repeat;
pub(crate) use between::MOST_FLAGS;
pub use between::{ShortBetween, with_flags};
pub(crate) use line::Bases;
pub use native::{FromIdentity, Natives};
pub(crate) use on_cpu::OnCpu;
pub use short::Short;
pub use short_rows::ShortRows;
pub use short_totals::ShortTotals;
pub use short_whole::{ShortWhole, Whole};
pub use spaced::{ShortSpaced, SpacedColumn};
pub(crate) use totals::{Columns, Sequences};
pub(crate) use variant::{Variant, Variants};
pub(crate) use whole::StatesAfter;

use crate::backend::Settings;
use crate::call::{Call, Init, Shape};
use crate::error::Error;
use crate::spacing::Spacings;
use after::After;
use interrupt::Interrupt;
use line::{Each, Line};
use rows::RowWalk;
pub(crate) use segments::Heads;
use segments::{Segments, Starts};
use slots::{Slots, Start};
use variant::Kernels;

/// Lines of more bytes, read and written, come from memory rather than from a second-level cache.
const LONG_BYTES: usize = 4 << 20;

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

/// The states that the sequences of a call start from, in memory.
struct Begin<'a> {
    /// That of segments, and of a line that resumes nothing.
    init: Slots<'a>,
    /// That of element 0 of a line, if it is another.
    carry: Option<Slots<'a>>,
    /// One for each row or segment, and whether they are initial states.
    each: Option<(Slots<'a>, bool)>,
}

impl Engine<'_> {
    /// Runs a task. Gives how many records were written or would be; and the totals of its sequences, one after the other, in
    /// `totals` if it is some, which must have space for them.
    ///
    /// # Errors
    /// [`Error::Overflowed`] or [`Error::Regrouped`] if that is checked; no code for the form.
    pub(crate) fn run(&self, mut task: Task<'_>, totals: Option<&mut [Constant]>) -> Result<usize, Error> {
        let Task { call, len, purpose, .. } = task;
        let checked = self.settings.checked && purpose != Purpose::Count;
        let form = call.form(purpose == Purpose::Reduce, self.variants.reads_previous, checked);
        if let Some((lines, variants)) = self.lines(&task, form) {
            return self.run_lines((&lines, variants), task, totals);
        }
        let variant = self.variant(call, form);
        let has_totals = totals.is_some() || checked;
        let walk = row_walk(&task, variant, has_totals);
        let is_spaced = task.spacings.is_some();
        let steps = matches!(&call.shape, Shape::Rows(rows) if rows.step() > 1);
        let is_dense = walk != Some(RowWalk::SideBySide) && !steps && !is_spaced;
        let access = match is_dense && !call.reversed {
            true => Access::Line,
            false if is_spaced => Access::Spaced,
            false => Access::Strided,
        };
        let kernels = match (call.shape, access) {
            (Shape::Line, Access::Line) => variant.kernels_for_line(len)?,
            _ => variant.kernels(access)?,
        };
        // What segments add to the columns that are read lies one after the other.
        let added = &variant.program.inputs[task.inputs.len()..];
        let spacings = task.spacings.map_or_else(SmallVec::new, |spacings| spacings.in_order(added));
        let starts = variant.program.starts().map(|column| self.starts(&task, &variant.program.inputs[column]));
        let Begin { init, carry, each } = self.begin(&task, variant, kernels, starts.as_ref());
        let each = each.as_ref().map(|(states, are_initial)| Each { states, are_initial: *are_initial });
        let interrupt = call.interrupt.map(Interrupt::new);
        let segments = |heads| Segments { heads, starts: starts.as_ref(), reversed: call.reversed, len };
        let segments = heads(call.shape).filter(|_| form.heads).map(segments);
        if let Some(segments) = segments {
            task.inputs.extend(segments.in_memory());
        }
        let line = Line {
            kernels,
            plan: &variant.plan,
            inputs: task.inputs,
            outputs: task.outputs,
            spacings: &spacings,
            len,
            first: 0,
            place: if call.reversed { len.wrapping_sub(1) } else { 0 },
            step: if call.reversed { -1 } else { 1 },
            segments,
            init: Start::only(&init),
            carry: Start::only(carry.as_ref().unwrap_or(&init)),
            each,
            interrupt: interrupt.as_ref(),
            parameters: self.settings.parameters.as_ptr(),
            writes: purpose == Purpose::Write,
            is_long: is_dense && len.saturating_mul(kernels.sizes.all()) > LONG_BYTES,
            capacity: task.capacity,
            streams: false,
            totals: has_totals,
        };
        let components = if call.carry.is_some() { variant.first_carry.len() } else { self.state_len() };
        let after = After::of(call, variant, kernels, totals, components)?;
        let _caller = helpers::Caller::of(variant.plan.alone, len);
        let done = self.walk(line, (call, purpose), variant, walk, &after)?;
        if interrupt.is_some_and(|interrupt| interrupt.was_seen()) {
            return Err(Error::Interrupted);
        }
        match after.error(call, (purpose, len), self.variants.program.stages.len()) {
            Some(error) => Err(error),
            None => Ok(done),
        }
    }

    /// The form for a call, whose states may lie outside of the usual ranges.
    fn variant(&self, call: &Call<'_>, form: Form) -> &Variant {
        let usual = self.variants.get(form, false);
        let lengths = (self.state_len(), usual.first_carry.len());
        match usual.program.holds_any() || call.given(lengths).all(|(_, state)| usual.program.holds(state)) {
            true => usual,
            false => self.variants.get(form, true),
        }
    }

    fn state_len(&self) -> usize {
        self.variants.program.state_len()
    }

    /// The states that the sequences of a task start from.
    fn begin<'k>(
        &self,
        task: &Task<'_>,
        variant: &Variant,
        kernels: &'k Kernels,
        starts: Option<&Starts>,
    ) -> Begin<'k> {
        let (call, layout) = (task.call, kernels.code.state_layout());
        let inits = || call.init.states(self.state_len());
        let start = |state| kernels.carried.iter().copied().zip(completed(state, &variant.first_carry));
        let one = |state| Slots::one(layout, start(state));
        let is_segmented = variant.program.form().heads;
        let are_lines = matches!(call.shape, Shape::Rows(_)) || !is_segmented && heads(call.shape).is_some();
        let carry = match (call.carry, call.init) {
            _ if are_lines => None,
            (Some(carry), _) => Some(carry),
            (None, Init::Each(_)) => {
                let first = if call.reversed { task.len.saturating_sub(1) } else { 0 };
                let segment = |starts: &Starts| Some(starts.segment_of(heads(call.shape)?, first));
                inits().nth(starts.and_then(segment).unwrap_or(0))
            }
            (None, _) => None,
        };
        let each = match (call.carry, call.init) {
            (Some(carries), _) if matches!(call.shape, Shape::Rows(_)) => {
                let carries = carries.chunks_exact(variant.first_carry.len());
                Some((Slots::each(layout, carries.map(start)), false))
            }
            (_, Init::Each(_)) if are_lines => Some((Slots::each(layout, inits().map(start)), true)),
            _ => None,
        };
        // A line is one sequence, whose own state is that of all.
        let same = if matches!(call.shape, Shape::Line) { call.init.of_line() } else { call.init.same() };
        Begin { init: one(same.unwrap_or_default()), carry: carry.map(one), each }
    }

    /// Makes the kernels for a line, or for what it is the template of, and walks it. Gives how many records were written.
    fn walk(
        &self,
        line: Line<'_>,
        (call, purpose): (&Call<'_>, Purpose),
        variant: &Variant,
        walk: Option<RowWalk>,
        after: &After<'_>,
    ) -> Result<usize, Error> {
        let threads = LazyCell::new(|| self.threads.unwrap_or_else(helpers::threads));
        let threads = || *threads;
        let (kernels, len) = (line.kernels, line.len);
        let keep = |first: usize, states: &Slots<'_>, slots: std::ops::Range<usize>| after.keep(first, states, slots);
        match (call.shape, walk) {
            (Shape::Rows(rows), Some(walk)) => {
                let step = if call.reversed { -(rows.step() as isize) } else { rows.step() as isize };
                let line = Line { len: rows.len(), step, ..line };
                if rows.is_empty() && !after.has_totals() {
                    return Ok(0);
                }
                let is_small = rows.count().saturating_mul(rows.len()) <= variant.plan.direct;
                let threads = if is_small { 1 } else { threads() };
                match walk {
                    RowWalk::InTurn => {
                        variant.make(kernels, &[Kernel::Rows(line.len)].into(), 1)?;
                        line.in_turn(&rows, threads);
                    }
                    RowWalk::SideBySide => {
                        let groups = line.groups(&rows, threads);
                        line.make_side_by_side(variant, &groups, threads)?;
                        line.side_by_side(&rows, &groups, threads, &keep);
                    }
                    RowWalk::RowByRow => {
                        line.make_kernels(variant, rows.len(), threads)?;
                        line.row_by_row(&rows, threads, &keep);
                    }
                }
                Ok(rows.count() * rows.len())
            }
            (Shape::Offsets(offsets), _) if purpose == Purpose::Reduce => {
                let longest = offsets.windows(2).map(|ends| ends[1] - ends[0]).max().unwrap_or(0);
                line.make_kernels(variant, longest, threads())?;
                line.segment_by_segment(offsets, threads(), &keep);
                Ok(len)
            }
            _ => {
                let helped = if len <= variant.plan.direct { 1 } else { threads() };
                line.make_kernels(variant, len, helped)?;
                let states = line.run(threads);
                keep(0, &states, 0..1);
                Ok(kept(kernels, &variant.program, &states).unwrap_or(len))
            }
        }
    }
}

/// How the rows of a task are walked, if it has rows.
fn row_walk(task: &Task<'_>, variant: &Variant, has_totals: bool) -> Option<RowWalk> {
    let Task { call, .. } = task;
    let Shape::Rows(rows) = &call.shape else { return None };
    let is_of_each = matches!(call.init, Init::Each(_));
    let is_plain = !call.reversed && !has_totals && !is_of_each && call.carry.is_none() && task.spacings.is_none();
    // Rows side by side have one initial state, if the program reads that.
    let can_be_beside = !is_of_each || !reads_init(&variant.program);
    Some(match () {
        () if is_plain && Line::prefers_in_turn(&variant.plan, rows) => RowWalk::InTurn,
        () if can_be_beside && Line::prefers_side_by_side(&variant.plan, rows) => RowWalk::SideBySide,
        () => RowWalk::RowByRow,
    })
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
