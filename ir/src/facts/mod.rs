//! Facts: what a program's own code proves about it, and what plans are made from.
//!
//! The monoid that makes a scan parallel carries more than the sequential loop needs. A linear recurrence, written as
//! the composition of maps `x ↦ a·x + b`, multiplies the `a`s only so that tiles can be put together; once a tile knows
//! the state it starts from, one multiply-add per element is enough. Facts find this and its relatives by walking the
//! straight-line code, a file each:
//!
//! | file | fact |
//! |---|---|
//! | `step` | one element's effect on the state, `simplify(combine(state, lift(x)))` |
//! | `body` | what a reduction and a rewrite of a tile run for one element |
//! | `late` | a body in which carried values meet those of the element last |
//! | `levels` | which stages are reduced side by side, and which wait for others |
//! | `advance` | what a carry needs of `combine` to pass a block |
//! | `live` | the components that outputs need once the state before is known |
//! | `length` | the components that depend on how many elements there were, not on which |
//! | `restart` | the flag that makes a state forget what was before it |
//! | `ranges` | the interval each integer component stays in |
//! | `path` | the cycles that one element adds to the carried chain |
//! | `lanes` | a replay that carries bytes, where outputs need few lanes of a vector |
//! | `letters` | the different things that an element can do, where it reads a few bytes alone |
//! | `names` | a fold of maps by look-ups, where few images are reached |
//! | `tabulated` | a replay by one look-up of a letter, beside such a fold |

mod advance;
mod body;
mod interval;
mod lanes;
mod late;
mod length;
mod letters;
mod levels;
mod live;
mod names;
mod path;
mod ranges;
mod restart;
mod step;
mod tabulated;

pub use advance::{Advance, advance, advance_over, whole_combine};
pub use body::{Body, fold_body, replay_body, total_body, whole_body};
pub use lanes::{Carried, LaneBody, by_lanes};
pub use length::LengthOnly;
pub use levels::{Level, fold_levels};
pub use names::{Closed, Left, Names, SMALL_TABLE, composes_maps};
pub use path::{latency, work};
pub use ranges::{Range, value_ranges};
pub use step::step;
pub(crate) use step::{drop_unused, source_types};
pub use tabulated::Tabulated;

use crate::program::{Mapping, Program, Verified};

/// What is known about a program.
#[derive(Clone, PartialEq, Debug)]
pub struct Facts {
    /// What is known about each of its stages, in order.
    pub stages: Vec<StageFacts>,
    /// What [`fold_levels`] and [`replay_body`] give: plans and kernels ask again and again.
    levels: Vec<Level>,
    replay: Body,
}

/// What is known about a stage. Where it speaks of components, there is one entry for each, in order.
#[derive(Clone, PartialEq, Debug)]
pub struct StageFacts {
    /// Whether an output needs the component, at this or a later element, once the state before is known.
    pub live: Vec<bool>,
    /// Whether the component depends on the number of elements alone; [`LengthOnly`] says its value.
    pub length_only: Vec<bool>,
    /// The `bool` component that, where it is true in the later of two states, makes `combine` the same for every earlier one.
    pub restart: Option<u32>,
    /// The interval each component stays in, as long as initial states lie in it too ([`Range::holds`]).
    pub ranges: Vec<Range>,
    /// From the state before and what the lift reads to the state after: simplified, one result for each component.
    pub step: Mapping,
    /// Cycles that an element adds to the chain through this stage in the fold of its [level](fold_levels).
    pub fold_latency: u32,
    /// The same in a [`replay_body`].
    pub replay_latency: u32,
    /// The longest path through an element, from a carried component to any, in both.
    pub longest_path: u32,
}

impl Facts {
    /// Finds everything. Takes time about linear in the program's instructions, times the rounds that ranges take to
    /// settle (a handful).
    pub fn of(program: &Verified<Program>) -> Facts {
        let live = live::live_components(program);
        let length_only: Vec<Vec<bool>> =
            program.stages.iter().map(|stage| LengthOnly::of(stage, &program.tables).components().to_vec()).collect();
        let ranges = ranges::state_ranges(program);
        let levels = levels::levels(program, &length_only.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let replay = body::replay(program, Default::default());
        let each = live.into_iter().zip(length_only).zip(ranges).enumerate();
        let stages = each.map(|(stage, ((live, length_only), ranges))| StageFacts {
            live,
            length_only,
            restart: restart::restart(&program.stages[stage], &program.tables),
            ranges,
            step: step(program, stage),
            fold_latency: of_own_level(&levels, stage as u32, path::carried_latency),
            replay_latency: path::carried_latency(&replay, stage as u32),
            longest_path: path::longest_path(&replay, stage as u32).max(of_own_level(
                &levels,
                stage as u32,
                path::longest_path,
            )),
        });
        Facts { stages: stages.collect(), levels, replay }
    }

    /// The same for an engine that combines runs of many lengths, and so carries the components that depend on the length like all
    /// others.
    pub fn carrying_all(mut self, program: &Verified<Program>) -> Facts {
        self.stages.iter_mut().for_each(|stage| stage.length_only.fill(false));
        self.levels =
            levels::levels(program, &self.stages.iter().map(|stage| &stage.length_only[..]).collect::<Vec<_>>());
        self
    }

    /// The same, with [full](Range::full) ranges: for calls with an initial state outside of the ranges that the program keeps to
    /// by itself.
    pub fn for_any_states(program: &Verified<Program>) -> Facts {
        let mut facts = Facts::of(program);
        for (known, declared) in facts.stages.iter_mut().zip(&program.stages) {
            known.ranges = declared.state.iter().map(|&ty| Range::full(ty)).collect();
        }
        facts
    }
}

/// A figure of a stage in the fold of the level that it belongs to.
fn of_own_level(levels: &[Level], stage: u32, figure: impl FnOnce(&Body, u32) -> u32) -> u32 {
    let own = levels.iter().find(|level| level.stages.contains(&stage));
    own.map_or(0, |level| figure(&level.body, stage))
}
