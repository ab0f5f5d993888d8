//! Automata: scans whose states are maps between the states of a finite automaton, and what look-
//! ups do for them.
//!
//! An input symbol of an automaton is a *transition map*: where it leads each state. Composition of
//! maps is associative, so the maps of a text can be scanned (Ladner and Fischer, *Parallel prefix
//! computation*, 1980). The maps that a text can have, the *transition monoid*, are finitely many.
//! So engines on which a look-up costs less than a permutation of bytes number maps and put the
//! number after each symbol in a table. A stage is an [`Automaton`] if it is
//! [declared](crate::Stage::automaton) to be one, or if its `combine` composes the maps that its
//! vectors hold; its lift gives the symbols.
//!
//! | file | what it finds |
//! |---|---|
//! | `declared` | the stage that a declaration builds, and whether a declaration is true |
//! | `alphabet` | the input symbols: which records do the same, by classes of bytes |
//! | `ranges` | the monoid, or its maps' ranges (range coalescing: Mytkowicz, Musuvathi and Schulte, *Data-parallel finite-state machines*, 2014) |
//! | `fold` | a fold that carries the number of its map, or of the map's range: [`MapFold`] |
//! | `tables` | the functions over tables that such a fold calls |
//! | `lanes` | a replay that carries the one state that outputs need, and not a map: [`LaneBody`] |
//! | `replay` | such a replay by one look-up of the symbol that the fold found: [`SymbolReplay`] |
//! | `steps` | the table by which a look-up takes a state past an element |
//! | `mealy` | a byte of each element from the fold of a rank, for the replay: [`MealyFold`] |
//! | `outputs` | the same of the fold of another second level: [`OutputFold`] |
//! | `look_ups` | all of these for a program, found once for each [`TableBudget`]: [`LookUps`] |
//!
//! All of it is found in the program, and only there, so nothing that is known of an automaton can
//! contradict its lift.

mod alphabet;
mod declared;
mod fold;
mod lanes;
mod look_ups;
mod mealy;
mod outputs;
mod ranges;
mod replay;
mod steps;
mod tables;

pub use alphabet::Neighbours;
pub use declared::{MAX_STATES, MapsError};
pub use fold::{Composition, FEW_STATES, MOST_MAP_BYTES, MapFold};
pub use lanes::{Carried, LaneBody};
pub use look_ups::{LookUps, TableBudget};
pub use mealy::MealyFold;
pub use outputs::OutputFold;
pub use ranges::SMALL_TABLE;
pub use replay::SymbolReplay;

pub(crate) use declared::contradiction;
pub(crate) use look_ups::Cache;

use crate::facts::drop_unused;
use crate::laws::construct;
use crate::program::{Mapping, Program, Stage, Table};
use crate::simplify::simplify;
use crate::types::Constant;

/// A stage whose state is a map between `states` states, cut into vectors of at most 16 lanes, and whose `combine` is
/// composition: the later map after the earlier one.
#[derive(Clone, PartialEq, Debug)]
pub struct Automaton {
    /// Which stage.
    pub stage: u32,
    /// How many states a map leads from.
    pub states: usize,
    /// From what is read of an element to its map: the stage's lift, simplified.
    pub lift: Mapping,
    /// Whether the program [declares](Stage::automaton) it, so that the lift looks up the map of the element's symbol.
    pub is_declared: bool,
}

impl Automaton {
    /// The automaton that a stage is, if it is one: of more than one state, and of at most 256.
    ///
    /// # Panics
    /// If the program has no such stage.
    pub fn of(program: &Program, stage: u32) -> Option<Automaton> {
        let declared = &program.stages[stage as usize];
        let states = match declared.automaton {
            true => declared.state.iter().map(|ty| ty.size()).sum(),
            false => recognised(declared, &program.tables)?,
        };
        if states < 2 {
            return None;
        }
        let function = simplify(&declared.lift.function, &program.tables);
        let lift = drop_unused(Mapping { reads: declared.lift.reads.clone(), function }, 0);
        Some(Automaton { stage, states, lift, is_declared: declared.automaton })
    }

    /// How many vectors a map is cut into.
    pub fn vectors(&self) -> usize {
        self.lift.function.results.len()
    }
}

/// Whether a stage's states are maps that `combine` composes, the later one after the earlier.
pub(crate) fn is_automaton(stage: &Stage, tables: &[Table]) -> bool {
    stage.automaton || recognised(stage, tables).is_some()
}

/// How many states an automaton has that a program does not declare: its `combine` composes maps.
fn recognised(stage: &Stage, tables: &[Table]) -> Option<usize> {
    let combine = simplify(&stage.combine, tables);
    let states = construct::composes_forwards(&stage.state, &combine)?;
    construct::is_identity_map(&stage.identity).then_some(states)
}

/// The bytes of a map that is cut into these vectors.
fn map_of(vectors: &[Constant]) -> Vec<u8> {
    vectors.iter().flat_map(|vector| vector.to_bytes()).collect()
}
