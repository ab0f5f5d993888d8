//! Facts: what a program's own code proves about it, and what plans are made from.
//!
//! The monoid that makes a scan parallel carries more than the sequential loop needs. A linear
//! recurrence is written as the composition of maps `x ↦ a·x + b`. It multiplies the `a`s only so
//! that tiles can be put together: once a tile knows the state it starts from, one multiply-add per
//! element is enough. Facts find this and its relatives by walking the straight-line code of a
//! [lowered](crate::transform::lower) program, which keeps them. A file each:
//!
//! | file | fact |
//! |---|---|
//! | `step` | one element's effect on the state, `simplify(combine(state, lift(x)))` |
//! | `body` | what a fold and a replay of a tile run for one element |
//! | `sequential` | what one pass and a replay run of a program that was derived from a loop: the loop's step |
//! | `own_fold` | the fold of a stage in the loop's own numbers |
//! | `late` | a body in which carried values meet those of the element last |
//! | `chain` | a body in which what an element knows is computed beside the carried chain |
//! | `levels` | which stages are folded side by side, and which wait for others |
//! | `carry` | what a carry needs of `combine` to pass a block |
//! | `length` | the components that depend on how many elements there were, not on which |
//! | `change` | the components that hold the place of the last element of some kind |
//! | `restart` | what makes a state forget the states before it |
//! | `ranges`, `interval` | the interval each integer component stays in |
//! | `path` | the cycles that one element adds to the carried chain |
//!
//! Facts about automata, whose states are maps, are in [`automaton`](crate::automaton).

mod absorbing;
mod body;
mod carry;
mod chain;
mod change;
mod interval;
mod late;
mod length;
mod levels;
mod own_fold;
mod path;
mod ranges;
mod restart;
mod sequential;
mod step;

pub use absorbing::Absorbing;
pub use body::Body;
pub(crate) use body::Step;
pub(crate) use body::narrowed;
pub use carry::CarryUpdate;
pub use change::{Change, reads_no_state};
pub use length::LengthOnly;
pub use levels::Level;
pub use own_fold::OwnFold;
pub use path::{latency, work};
pub use ranges::{Range, value_ranges};
pub use restart::Restart;
pub use sequential::Ends;
pub(crate) use step::source_types;
pub use step::{drop_unused, step};

use crate::program::Program;

/// Facts about a stage. Vectors over components have one entry for each, in order.
#[derive(Clone, PartialEq, Debug)]
pub struct StageFacts {
    /// Which components depend on the number of elements alone, and their values.
    pub length_only: LengthOnly,
    /// By what the later of two states makes `combine` the same for every earlier one, if anything does.
    pub restart: Option<Restart>,
    /// The interval each component stays in, as long as states from outside lie in it too ([`Range::holds`]).
    pub ranges: Vec<Range>,
    /// Cycles that an element adds to the chain through this stage in the fold of its [level](Level).
    pub fold_latency: u32,
    /// The same in the replay; of a program that was derived from a loop, in the loop.
    pub replay_latency: u32,
    /// The longest path through an element, from a carried component to any, in both.
    pub longest_path: u32,
}

/// Facts about a program that reads no `State`.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Facts {
    pub(crate) stages: Vec<StageFacts>,
    pub(crate) levels: Vec<Level>,
    pub(crate) replay: Body,
    /// All that an element does, of which the other bodies are parts.
    pub(crate) whole: Body,
}

/// The facts about a program that reads no `State`; `rank` is the stage that counts kept records, and `steps` are those of stages
/// whose state after an element [costs less](Step) than a lift and a combine. Takes time about linear in the program's instructions, times the rounds that ranges take to
/// settle (a handful).
pub(crate) fn facts(program: &Program, rank: Option<u32>, steps: &[Step]) -> Facts {
    let whole = body::whole_element(program, steps);
    let length_only: Vec<LengthOnly> =
        program.stages.iter().map(|stage| LengthOnly::of(stage, &program.tables)).collect();
    let left_out = |stage: u32, component: u32| length_only[stage as usize].components()[component as usize];
    let levels = levels::levels(program, &whole, left_out);
    let replay = body::replay(&whole, rank);
    let own = sequential::in_place_of(&replay, program, true);
    let walked = own.as_ref().unwrap_or(&replay);
    let each = length_only.into_iter().zip(sequential::widened(ranges::state_ranges(program), program)).enumerate();
    let stages = each.map(|(stage, (length_only, ranges))| {
        let own = levels.iter().find(|level| level.stages.contains(&(stage as u32))).expect("each stage has a level");
        let path = |of: fn(&Body, u32) -> u32| [&own.body, walked].map(|body| of(body, stage as u32));
        let [fold_latency, replay_latency] = path(path::carried_latency);
        StageFacts {
            length_only,
            restart: restart::restart(&program.stages[stage], &program.tables),
            ranges,
            fold_latency,
            replay_latency,
            longest_path: path(path::longest_path).into_iter().max().unwrap_or(0),
        }
    });
    Facts { stages: stages.collect(), levels, replay, whole }
}
