//! Names: a fold of maps that looks up the name of the map it has.
//!
//! Composing two maps of an automaton's states is a permutation of bytes, and engines without an instruction for it take dozens.
//! But the states that are still told apart become few within a few elements: after a quotation mark an automaton is in one of two
//! states, wherever it began. So a map is kept in two parts, `map[j] = image[slot[j]]`: the *image*, which different states are
//! reached, in some order, and the *slots*, which of them each state is led to. An element sends each state of the image somewhere. As
//! long as they stay apart, only the image changes, and the slots do not. Where some meet, the slots change too.
//!
//! There are few images where there may be tens of thousands of maps: 723 and 29615 for an automaton of JSON with 16 states. They
//! are found here, numbered (their *names*), and what each letter does to each is put in a table: one look-up is the step.
//! What the slots go through is composed to a map of its own by permutations, rarely. In words of the monoid,
//! `fold = left · map(name)` always, and where `map(name) · x` is `f · map(other)`, a step makes `left` into `left · f`.
//!
//! In the first few elements states meet again and again. While room is left, maps of few letters have names of their own, and are
//! taken apart only when more letters follow.
//!
//! Letters under which no two states meet generate a group. If that alone is small, and such letters make up half of what is
//! read, the others give up the name: `f` is then `map(name) · x`, and the name is that of the identity again.

use std::collections::HashMap;

use super::drop_unused;
use super::letters::Letters;
use crate::builder::FunctionBuilder;
use crate::function::{Function, Payload, Value};
use crate::opcode::Opcode;
use crate::program::{Mapping, Program, Source, Stage, Table};
use crate::simplify::simplify;
use crate::types::{Constant, Type};

/// The fold of a stage in names. A name is a `u32` below [`count`](Names::count), that of the identity is 0.
#[derive(Clone, PartialEq, Debug)]
pub struct Names {
    /// How many there are.
    pub count: u32,
    /// How many letters there are.
    pub letters: u32,
    /// What the lift reads.
    pub reads: Vec<Source>,
    /// reads → the element's letter, a `u32`.
    pub letter: Function,
    /// (name, letter) → the name after an element; plus `count` if something is left behind.
    pub step: Function,
    /// (name, letter, reads) → the map that is left behind, to be composed after what was left before.
    pub left: Function,
    /// name → map.
    pub map: Function,
    /// The tables of these functions: those given, and more behind them.
    pub tables: Vec<Table>,
}

/// Most letters of a map that has a name of its own.
const MOST_LETTERS: usize = 3;

/// Most names: with what says that something is left behind they fit 16 bits.
const MOST_NAMES: usize = 1 << 15;

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

impl Names {
    /// Names for a stage, the step's table taking up to `most_bytes`; `tables` begin with those of the program. None
    /// if its states are not maps under composition, if the lift reads more than a few bytes, if a map leads to what is no state, or if
    /// there are too many images.
    ///
    /// # Panics
    /// If the program has no such stage.
    pub fn of(program: &Program, stage: u32, tables: &[Table], most_bytes: usize) -> Option<Names> {
        let stage = &program.stages[stage as usize];
        if !composes_maps(stage, tables) {
            return None;
        }
        let function = simplify(&stage.lift.function, tables);
        let lift = drop_unused(Mapping { reads: stage.lift.reads.clone(), function }, 0);
        let letters = Letters::of(&lift, tables)?;
        let maps: Vec<Vec<u8>> = letters.states.iter().map(|state| state[0].to_bytes()).collect();
        let states = stage.state[0].size();
        if maps.iter().flatten().any(|&state| usize::from(state) >= states) {
            return None;
        }
        let images = Images::reached(&maps, &letters.shares, most_bytes)?;
        Some(images.names(&maps, &letters, &lift, tables))
    }

    /// Bytes of the tables that a letter and a step look up.
    pub fn step_bytes(&self) -> usize {
        let insts = self.letter.insts.iter().chain(&self.step.insts);
        let looked_up = insts.filter_map(|inst| match inst.payload {
            Payload::Table(table) => Some(self.tables[table as usize].bytes.len()),
            _ => None,
        });
        looked_up.sum()
    }
}

/// What letters lead to from the identity: maps of a few letters, and the images of longer ones.
struct Images {
    /// Each as its states, in order, or as a map; the identity first.
    images: Vec<Vec<u8>>,
    numbers: HashMap<Vec<u8>, usize>,
    /// How many letters more each may be put before and still be a map, not an image.
    growth: Vec<usize>,
    /// The letters that lead from each of these images to another.
    inside: Vec<usize>,
}

impl Images {
    /// Those under all letters; or if there are too many, under those that keep all states apart, if their shares make up
    /// half of all.
    fn reached(maps: &[Vec<u8>], shares: &[usize], most_bytes: usize) -> Option<Images> {
        let all: Vec<usize> = (0..maps.len()).collect();
        let under_all = (0..=MOST_LETTERS).rev();
        let mut under_all = under_all.filter_map(|letters| Images::under(&all, maps, letters, most_bytes));
        under_all.next().or_else(|| {
            let keeping: Vec<usize> = all.iter().copied().filter(|&letter| is_permutation(&maps[letter])).collect();
            let share: usize = keeping.iter().map(|&letter| shares[letter]).sum();
            let is_half = 2 * share >= shares.iter().sum();
            is_half.then(|| Images::under(&keeping, maps, 0, most_bytes)).flatten()
        })
    }

    /// Those under some letters, if there is room for them.
    fn under(inside: &[usize], maps: &[Vec<u8>], letters: usize, most_bytes: usize) -> Option<Images> {
        // One more column is for letters outside.
        let columns = inside.len() + 1;
        let most = MOST_NAMES.min(most_bytes / (2 * row_length(columns)));
        let identity: Vec<u8> = (0..maps[0].len() as u8).collect();
        let numbers = HashMap::from([(identity.clone(), 0)]);
        let mut images = Images { numbers, images: vec![identity], growth: vec![letters], inside: inside.to_vec() };
        let mut place = 0;
        while place < images.images.len() && images.images.len() <= most && columns <= 256 {
            for &letter in inside {
                let (next, _) = images.led(place, &maps[letter]);
                if !images.numbers.contains_key(&next) {
                    images.numbers.insert(next.clone(), images.images.len());
                    images.images.push(next);
                    images.growth.push(images.growth[place].saturating_sub(1));
                }
            }
            place += 1;
        }
        (images.images.len() <= most && columns <= 256).then_some(images)
    }

    /// Where a map leads from an image, and which states of it each state is led to.
    fn led(&self, place: usize, map: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let led = self.images[place].iter().map(|&state| map[usize::from(state)]);
        if self.growth[place] > 0 {
            return (led.collect(), (0..map.len() as u8).collect());
        }
        let mut next = Vec::new();
        let slots = led.map(|to| {
            let slot = next.iter().position(|&known| known == to).unwrap_or_else(|| {
                next.push(to);
                next.len() - 1
            });
            slot as u8
        });
        let slots = slots.collect();
        (next, slots)
    }

    /// What each letter does to each of them; the last column is for letters outside.
    fn entries(&self, maps: &[Vec<u8>]) -> Entries {
        let (count, width) = (self.images.len(), row_length(self.inside.len() + 1));
        // What a letter outside leaves behind has number 0.
        let mut lefts = vec![Vec::new()];
        let mut numbers = HashMap::new();
        let (mut steps, mut left) = (Vec::new(), Vec::new());
        for place in 0..count {
            let mut row = vec![(count as u16, 0u16); width];
            for (entry, &letter) in row.iter_mut().zip(&self.inside) {
                let (next, slots) = self.led(place, &maps[letter]);
                let name = self.numbers[&next];
                let stays = slots.iter().enumerate().all(|(slot, &to)| slot == usize::from(to));
                *entry = match stays {
                    true => (name as u16, 0),
                    false => {
                        let left = *numbers.entry(slots).or_insert_with_key(|slots| {
                            lefts.push(slots.clone());
                            lefts.len() - 1
                        });
                        ((name + count) as u16, left as u16)
                    }
                };
            }
            steps.extend(row.iter().map(|&(name, _)| name));
            left.extend(row.iter().map(|&(_, left)| left));
        }
        Entries { width, steps, left, lefts }
    }

    /// The functions over these tables, and those of letters.
    fn names(&self, maps: &[Vec<u8>], letters: &Letters, lift: &Mapping, tables: &[Table]) -> Names {
        let (reads, outside) = (letters.reads.clone(), self.inside.len());
        let column = |letter| self.inside.iter().position(|&own| own == letter).unwrap_or(outside) as u8;
        let columns: Vec<u8> = (0..maps.len()).map(column).collect();
        let mut tables = tables.to_vec();
        let letter_tables = letters.tables(&columns, &mut tables);
        let entries = self.entries(maps);
        let mut place = |table: Table| {
            tables.push(table);
            tables.len() as u32 - 1
        };
        let numbers = |numbers: &[u16]| Table::new(Type::U16, numbers.iter().map(|&number| Constant::from(number)));
        let vector = Type::bytes(maps[0].len()).expect("a map is a vector");
        let vectors = |maps: &[Vec<u8>]| Table::new(vector, maps.iter().map(|map| padded(map, vector)));
        let (steps, left) = (place(numbers(&entries.steps)), place(numbers(&entries.left)));
        let (lefts, images) = (place(vectors(&entries.lefts)), place(vectors(&self.images)));

        let letter = |b: &mut FunctionBuilder| {
            let sources = b.params(letters.types());
            letters.look_up(b, &letter_tables, &sources)
        };
        // What a letter does to what has a name.
        let look_up = |b: &mut FunctionBuilder, table, name, letter| {
            let width = b.lit(entries.width as u32);
            let row = b.binary(Opcode::Mul, name, width);
            let place = b.binary(Opcode::Add, row, letter);
            let number = b.table(table, Type::U16, place);
            b.cast(Type::U32, number)
        };
        let step = |b: &mut FunctionBuilder| {
            let (name, letter) = (b.param(Type::U32), b.param(Type::U32));
            look_up(b, steps, name, letter)
        };
        let left = |b: &mut FunctionBuilder| {
            let (name, letter, sources) = (b.param(Type::U32), b.param(Type::U32), b.params(letters.types()));
            let number = look_up(b, left, name, letter);
            let known = b.table(lefts, vector, number);
            if outside == maps.len() {
                return known;
            }
            let (map, letter) = (b.table(images, vector, name), b.inline(&lift.function, &sources)[0]);
            let (both, zero) = (b.binary(Opcode::Permute, letter, map), b.lit(0u32));
            let is_outside = b.binary(Opcode::Eq, number, zero);
            b.select(is_outside, both, known)
        };
        let map = |b: &mut FunctionBuilder| {
            let name = b.param(Type::U32);
            b.table(images, vector, name)
        };
        let (letter, step) = (written(letter, &tables), written(step, &tables));
        let (left, map) = (written(left, &tables), written(map, &tables));
        let letters = outside as u32 + u32::from(outside < maps.len());
        Names { count: self.images.len() as u32, letters, reads, letter, step, left, map, tables }
    }
}

/// What letters do to images.
struct Entries {
    /// Elements of a row, which there is for each image, with an element for each letter.
    width: usize,
    /// The image it leads to; plus the number of all if something is left behind.
    steps: Vec<u16>,
    /// Which of these is left behind.
    left: Vec<u16>,
    lefts: Vec<Vec<u8>>,
}

/// A function of one result.
fn written(write: impl FnOnce(&mut FunctionBuilder) -> Value, tables: &[Table]) -> Function {
    let mut b = FunctionBuilder::new();
    let result = write(&mut b);
    simplify(&b.finish(&[result]), tables)
}

/// A map that nobody reads beyond these lanes.
fn padded(map: &[u8], vector: Type) -> Constant {
    Constant::from_bytes(vector, &[map, &[0; 16]].concat())
}

/// Whether no two states meet.
fn is_permutation(map: &[u8]) -> bool {
    map.iter().enumerate().all(|(state, to)| !map[..state].contains(to))
}

/// Elements of a row of the step's table: an odd number of words, so that rows begin in different banks.
fn row_length(columns: usize) -> usize {
    2 * (columns.div_ceil(2) | 1)
}
