//! Names: a fold of maps that looks up the name of the map it has.
//!
//! Composing two maps of an automaton's states is a permutation of bytes, and engines without an instruction for it take dozens.
//! But the states that are still told apart become few within a few elements: after a quotation mark an automaton is in one of two
//! states, wherever it began. So a map is kept in two parts, `map[j] = image[slot[j]]`: the *image*, which different states are
//! reached, in some order, and the *slots*, which of them each state is led to. An element sends each state of the image somewhere. As
//! long as they stay apart, only the image changes, and the slots do not. Where some meet, the slots change too.
//!
//! There are few images where there may be tens of thousands of maps: 700 and 29523 for an automaton of JSON with 16 states. They
//! are found here, numbered (their *names*), and what each letter does to each is put in a table: one look-up is the step.
//! What the slots go through is composed to a map of its own by permutations, rarely. In words of the monoid,
//! `fold = left · map(name)` always, and where `map(name) · x` is `f · map(other)`, a step makes `left` into `left · f`.
//!
//! In the first few elements states meet again and again. While room is left, maps of few letters have names of their own, and are
//! taken apart only when more letters follow.
//!
//! Where all maps have room, each has a name of its own, and nothing is ever left behind. If there are few of them, a table also says what
//! two names make together, and nobody needs the maps themselves until the fold has ended.
//!
//! Letters under which no two states meet generate a group. If that alone is small, and such letters make up half of what is
//! read, the others give up the name: `f` is then `map(name) · x`, and the name is that of the identity again.

mod functions;
mod images;

use self::images::Images;
use super::drop_unused;
use super::letters::Letters;
use crate::function::{Function, Value};
use crate::opcode::Opcode;
use crate::program::{Mapping, Program, Source, Stage, Table};
use crate::simplify::simplify;
use crate::types::{Constant, Type};

pub use images::SMALL_TABLE;
pub(super) use images::small_row;

/// The fold of a stage in names. A name is a `u32`, that of the identity is 0. Where things are left behind, names are even.
#[derive(Clone, PartialEq, Debug)]
pub struct Names {
    /// How many there are.
    pub count: u32,
    /// What the letter of an element follows from.
    pub reads: Vec<Source>,
    /// reads → the element's mark, a `u32` that says what its letter does.
    pub mark: Function,
    /// Marks are below this.
    pub marks: u32,
    /// (name, mark) → the *place* in a table where it says what becomes of the name: below 2¹⁶.
    pub place: Function,
    /// place → the name after an element, plus 1 if something is left behind.
    pub step: Function,
    /// The map that is left behind, to be composed after what was left before. None if nothing ever is.
    pub left: Option<Left>,
    /// name → map.
    pub map: Function,
    /// How names are composed and applied without their maps, where all maps have names and these are few.
    pub closed: Option<Closed>,
    /// The tables of these functions: those given, and more behind them.
    pub tables: Vec<Table>,
}

/// A monoid of few names.
#[derive(Clone, PartialEq, Debug)]
pub struct Closed {
    /// (earlier name, later name) → the name of both maps composed.
    pub compose: Function,
    /// (name, state) → the state that the name's map leads it to, a `u8`.
    pub apply: Function,
}

/// What is left behind.
#[derive(Clone, PartialEq, Debug)]
pub enum Left {
    /// place → map.
    At(Function),
    /// (place, name, reads) → map, where letters give up the name.
    Of(Function),
}
/// Whether a stage's states are maps, as one vector, and its operator their composition.
pub fn composes_maps(stage: &Stage, tables: &[Table]) -> bool {
    let [ty @ Type::Bytes(lanes)] = stage.state[..] else { return false };
    let combine = simplify(&stage.combine, tables);
    let composes = match (&combine.insts[..], &combine.results[..]) {
        ([inst], &[result]) => {
            let later_of_earlier = [Value::new(1), Value::new(0)];
            inst.opcode == Opcode::Permute && *inst.operands() == later_of_earlier && result == Value::new(2)
        }
        _ => false,
    };
    let identity: Vec<u8> = (0..lanes.get() as u8).collect();
    composes && ty.size() > 1 && stage.identity == [Constant::vector(&identity)]
}

/// The lift of a stage that [composes maps](composes_maps), simplified.
pub(super) fn maps_lift(program: &Program, stage: u32, tables: &[Table]) -> Option<Mapping> {
    let stage = &program.stages[stage as usize];
    let lift = || Mapping { reads: stage.lift.reads.clone(), function: simplify(&stage.lift.function, tables) };
    composes_maps(stage, tables).then(|| drop_unused(lift(), 0))
}

impl Names {
    /// Names are below this.
    pub fn end(&self) -> u32 {
        self.count << u32::from(self.left.is_some())
    }

    /// Names for a stage, the step's table taking up to `most_bytes`; `tables` begin with those of the program. None
    /// if its states are not maps under composition, if the lift reads more than a few bytes, if a map leads to what is no state, or if
    /// there are too many images.
    ///
    /// # Panics
    /// If the program has no such stage.
    pub fn of(program: &Program, stage: u32, tables: &[Table], most_bytes: usize) -> Option<Names> {
        let lift = maps_lift(program, stage, tables)?;
        let letters = Letters::of(&lift, tables)?;
        Names::new(&letters, &lift, tables, most_bytes, false)
    }

    /// The same for letters of which the lift's map is the first state; the low byte of a mark is the letter, of which there
    /// are at most 256.
    pub(super) fn marked(letters: &Letters, lift: &Mapping, tables: &[Table], most_bytes: usize) -> Option<Names> {
        Names::new(letters, lift, tables, most_bytes, true)
    }

    fn new(letters: &Letters, lift: &Mapping, tables: &[Table], most: usize, marked: bool) -> Option<Names> {
        let mut maps: Vec<Vec<u8>> = Vec::new();
        let mut shares = Vec::new();
        let mut map_of_letter = Vec::new();
        for (state, share) in letters.states.iter().zip(&letters.shares) {
            let map = state[0].to_bytes();
            let known = maps.iter().position(|known| *known == map).unwrap_or_else(|| {
                maps.push(map);
                shares.push(0);
                maps.len() - 1
            });
            shares[known] += share;
            map_of_letter.push(known);
        }
        let states = maps.first()?.len();
        if maps.iter().flatten().any(|&state| usize::from(state) >= states) {
            return None;
        }
        let images = Images::reached(&maps, &shares, most)?;
        Some(images.names(&maps, (letters, &map_of_letter, marked), lift, tables))
    }

    /// Bytes of the tables that marks, steps and compositions look up.
    pub fn step_bytes(&self) -> usize {
        let closed = self.closed.iter().flat_map(|closed| [&closed.compose, &closed.apply]);
        let functions = [&self.mark, &self.step].into_iter().chain(closed);
        functions.flat_map(Function::looked_up).map(|table| self.tables[table as usize].bytes.len()).sum()
    }
}
