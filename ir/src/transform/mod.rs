//! Transforms: the program that an engine runs for a call of some form, made from the program that
//! the user wrote.
//!
//! Which state the output sees, where segments begin and where a kept record goes are all things
//! that the IR can say. So an engine needs no kernel for any of them: [`lower`] writes them into
//! the program, a file each, and what is left is a cascade of plain scans whose mappings read no
//! [`Source::State`](crate::Source::State). [`Lowered`] is that program with all that is known
//! about it.
//!
//! | file | what becomes part of the program |
//! |---|---|
//! | `resolve` | inclusive or exclusive: `State` is the last stage's `After` or `Before` |
//! | `segmented` | segments: one more input column flags the first record of each, each state tells whether it has seen one; one more may have their starts |
//! | `previous` | the record before: one more stage has the last record so far |
//! | `checked`, `checked_loop`, `overflow` | checked scans: one more stage finds where the sequential loop overflows |
//! | `ranked` | `emit`: one more stage counts the kept records, so that each knows its place in the output |
//!
//! [`interleaved`] makes a program of several rows before any of that: their records are one, and
//! their states.

mod checked;
mod checked_loop;
mod interleaved;
mod lowered;
mod overflow;
mod previous;
mod ranked;
mod resolve;
mod segmented;

pub use checked::{Check, Event, Finding};
pub use interleaved::interleaved;
pub use lowered::{Lowered, Role};

use crate::function::Function;
use crate::interp::Mode;
use crate::program::{Program, Verified};

/// The state that segments begin with.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum SegmentStart {
    /// The identities.
    #[default]
    Identity,
    /// The initial state of the call, the same for all.
    Init,
    /// A state of its own for each: a record of one more column has it, beside every record of the segment.
    Each,
}

/// Which calls a program is lowered for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Form {
    /// Inclusive or exclusive.
    pub mode: Mode,
    /// Whether a column of flags says where segments begin.
    pub heads: bool,
    /// The start of segments. Without `heads` it changes nothing: the first record's state before is where the engine
    /// starts.
    pub start: SegmentStart,
    /// Whether the first integer overflow of the sequential loop is found.
    pub checked: bool,
    /// Whether the record before an element is the state of one more stage, so that carries have it: for chunks of a
    /// stream. Else mappings read it as it is, and the first element has none before it.
    pub previous: bool,
}

/// The program that an engine runs for calls of this form. It is what the user wrote (and not a lowered program), with
/// all that the form asks for said in the program itself:
///
/// - No mapping reads [`Source::State`](crate::Source::State).
/// - With `heads` there is one more input column of one `bool`: true where a record begins a segment. With
///   [`SegmentStart::Each`] one more follows, the [last](Lowered::starts): the components of the user's stages, as
///   [`Layout::packed`](crate::Layout::packed) lays them out.
///   The state of every stage has one more component, its last: a `bool` whose identity is false. At a flagged record
///   the state before, wherever it is read, is the start of a segment; the record before it has no next one and is a
///   last one. The index counts on. A first record that is not flagged goes on from the state that the sequence starts with.
/// - With `previous`, a program that [reads the record before](Program::reads_previous) has one more stage behind those
///   of the user, whose state is the last record: the components that are read, and whether there is none.
///   [`first_carry`](Program::first_carry) has them in this order, behind the states of the user's stages.
/// - The [loop](crate::Sequential) that the program was derived from stays, but with `checked` and `previous`, which add to its
///   states what it does not have, and where segments start from identities, which it may never reach.
/// - Parameters stay as they are: mappings read them, and calls have their values.
/// - With `checked` there is one more stage behind those, whose state [`Check`] reads. It goes through all
///   segments, and its identity is all zeros.
/// - With `filter` there is one more stage, the last, whose state is one `u64`: how many records were kept. It counts
///   through all segments. [`Lowered::rank`] is its number.
///
/// So a lowered program has up to four stages, two columns and, for each stage, one component more than the verifier
/// accepts of a user, and the lifts of its stages are longer by a combine at most. Takes time about linear in the
/// program's size, most of it for the [facts](crate::facts).
///
/// ```
/// use monoscan_ir::{interp, text, transform::{lower, Form}, verify};
/// let sum = text::parse("program sum
///   input { size 1, align 1, u8 @ 0 }
///   stage (u8)
///     identity (0)
///     lift (%0 = record.0: u8) { return %0 }
///     combine (%0: u8, %1: u8) {
///       %2 = add.u8 %0, %1
///       return %2
///     }
///   output write
///     column { size 1, align 1, u8 @ 0 }
///     project (%0 = state.0: u8) { return %0 }").unwrap();
/// let lowered = lower(&verify(sum).unwrap(), Form { heads: true, ..Form::default() });
/// let run = interp::run(&lowered, &[&[1, 2, 3, 4], &[1, 0, 1, 0]], &interp::Request::default()).unwrap();
/// assert_eq!(run.outputs, [[1, 3, 3, 7]]);
/// ```
pub fn lower(program: &Verified<Program>, form: Form) -> Lowered {
    // Without heads nothing begins but the line, and its start is the engine's.
    let start = if form.heads { form.start } else { SegmentStart::Identity };
    let form = Form { start, ..form };
    let mut lowered = Program::clone(program);
    resolve::resolve(&mut lowered, form.mode);
    let check = form.checked.then(|| Check::of(program));
    let mut check_stage = check.as_ref().map(|check| check.stage(&lowered));
    lowered = lowered.map_functions(Function::unmarked);
    if form.checked || form.previous || (form.heads && start == SegmentStart::Identity) {
        lowered.sequential = None;
    }
    if form.previous {
        previous::staged(&mut lowered, check_stage.as_mut());
    }
    let mut steps = Vec::new();
    if form.heads {
        (lowered, steps) = segmented::segmented(lowered, (form.start, program.stages.len()), check_stage.as_mut());
    }
    lowered.stages.extend(check_stage);
    ranked::rank(&mut lowered);
    Lowered::new(lowered, (form, program), check, steps)
}
