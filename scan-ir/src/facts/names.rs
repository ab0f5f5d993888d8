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
//! Where all maps have room, each has a name of its own, and nothing is ever left behind. If there are few of them, a table also says what
//! two names make together, and nobody needs the maps themselves until the fold has ended.
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

/// Most letters of a map that has a name of its own.
const MOST_LETTERS: usize = 3;

/// Most names: with what says that something is left behind they fit 16 bits.
const MOST_NAMES: usize = 1 << 15;

/// Bytes of a table of which engines may keep a copy for each bank of their memory; no padding is then needed.
pub const SMALL_TABLE: usize = 2304;

/// Most bytes of the table that composes names.
const MOST_COMPOSING_BYTES: usize = 32 << 10;

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
        let insts = functions.flat_map(|function| &function.insts);
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
        let under_all = [usize::MAX].into_iter().chain((0..=MOST_LETTERS).rev());
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
        let most = MOST_NAMES.min(most_bytes / (2 * padded_row(columns, Type::U16)));
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

    /// Whether every map has a name of its own.
    fn is_whole(&self) -> bool {
        self.growth[0] == usize::MAX
    }

    /// What each letter does to each of them; the last column is for letters outside, if there may be such.
    fn entries(&self, maps: &[Vec<u8>]) -> Entries {
        let count = self.images.len();
        let is_whole = self.is_whole();
        let ty = if is_whole && count <= 256 { Type::U8 } else { Type::U16 };
        let width =
            if is_whole { small_row(count, self.inside.len(), ty) } else { padded_row(self.inside.len() + 1, ty) };
        let name = |place: usize| if is_whole { place as u16 } else { 2 * place as u16 };
        let (mut steps, mut lefts) = (Vec::new(), Vec::new());
        for place in 0..count {
            let mut row = vec![(1, Vec::new()); width];
            for (entry, &letter) in row.iter_mut().zip(&self.inside) {
                let (next, slots) = self.led(place, &maps[letter]);
                let stays = slots.iter().enumerate().all(|(slot, &to)| slot == usize::from(to));
                *entry = (name(self.numbers[&next]) + u16::from(!stays), slots);
            }
            let (own, left): (Vec<u16>, Vec<Vec<u8>>) = row.into_iter().unzip();
            steps.extend(own);
            lefts.extend(left);
        }
        Entries { width, steps: numbers_of(ty, &steps), lefts }
    }

    /// What any two of them make together, and the length of a row of that.
    fn composed(&self) -> Option<(Table, usize)> {
        let count = self.images.len();
        let width = padded_row(count, Type::U8);
        if !self.is_whole() || count > 256 || count * width > MOST_COMPOSING_BYTES {
            return None;
        }
        let mut composed = vec![0u16; count * width];
        for (earlier, row) in self.images.iter().zip(composed.chunks_exact_mut(width)) {
            for (later, entry) in self.images.iter().zip(row) {
                let both: Vec<u8> = earlier.iter().map(|&state| later[usize::from(state)]).collect();
                *entry = self.numbers[&both] as u16;
            }
        }
        Some((numbers_of(Type::U8, &composed), width))
    }

    /// The functions over these tables, and those of letters, each of which has one of these maps.
    fn names(
        &self,
        maps: &[Vec<u8>],
        (letters, map_of_letter, marked): (&Letters, &[usize], bool),
        lift: &Mapping,
        tables: &[Table],
    ) -> Names {
        let outside = self.inside.len();
        let column = |map: &usize| self.inside.iter().position(|own| own == map).unwrap_or(outside);
        let columns: Vec<usize> = map_of_letter.iter().map(column).collect();
        // Where letters are not their own columns, a mark has both.
        let has_both = marked && !columns.iter().copied().eq(0..letters.states.len());
        let mark = |(letter, &column): (usize, &usize)| if has_both { column << 8 | letter } else { column };
        let marks: Vec<u16> = columns.iter().enumerate().map(|pair| mark(pair) as u16).collect();
        let mut tables = tables.to_vec();
        let letter_tables = letters.tables(&marks, &mut tables);
        let entries = self.entries(maps);
        let mut place = |table: Table| {
            tables.push(table);
            tables.len() as u32 - 1
        };
        let vector = Type::bytes(maps[0].len()).expect("a map is a vector");
        let vectors = |maps: &[Vec<u8>]| Table::new(vector, maps.iter().map(|map| padded(map, vector)));
        let leaves = !self.is_whole();
        let steps = place(entries.steps.clone());
        let lefts = leaves.then(|| place(vectors(&entries.lefts)));
        let images = place(vectors(&self.images));
        let composed = self.composed().map(|(table, width)| {
            let states = Table { ty: Type::U8, bytes: self.images.concat() };
            (place(table), width, place(states))
        });

        let mark = |b: &mut FunctionBuilder| {
            let sources = b.params(letters.types());
            letters.look_up(b, &letter_tables, &sources)
        };
        let in_row = |b: &mut FunctionBuilder, width: usize, row, column| {
            let width = b.lit(width as u32);
            let row = b.binary(Opcode::Mul, row, width);
            b.binary(Opcode::Add, row, column)
        };
        let number = |b: &mut FunctionBuilder, table, ty, place| {
            let number = b.table(table, ty, place);
            b.cast(Type::U32, number)
        };
        let image = |b: &mut FunctionBuilder, name| {
            let one = b.lit(1u32);
            let place = if leaves { b.binary(Opcode::Shr, name, one) } else { name };
            b.table(images, vector, place)
        };
        let place_of = |b: &mut FunctionBuilder| {
            let (name, mark) = (b.param(Type::U32), b.param(Type::U32));
            let bits = b.lit(8u32);
            let column = if has_both { b.binary(Opcode::Shr, mark, bits) } else { mark };
            in_row(b, if leaves { entries.width / 2 } else { entries.width }, name, column)
        };
        let step = |b: &mut FunctionBuilder| {
            let place = b.param(Type::U32);
            number(b, steps, entries.steps.ty, place)
        };
        let left_at = |b: &mut FunctionBuilder, lefts| {
            let place = b.param(Type::U32);
            b.table(lefts, vector, place)
        };
        let left_of = |b: &mut FunctionBuilder, lefts| {
            let (place, name, sources) = (b.param(Type::U32), b.param(Type::U32), b.params(letters.types()));
            let known = b.table(lefts, vector, place);
            let read = &sources[..lift.reads.len()];
            let (map, letter) = (image(b, name), b.inline(&lift.function, read)[0]);
            let both = b.binary(Opcode::Permute, letter, map);
            let outside = b.lit(outside as u32);
            let outside = in_row(b, entries.width / 2, name, outside);
            let is_outside = b.binary(Opcode::Eq, place, outside);
            b.select(is_outside, both, known)
        };
        let map = |b: &mut FunctionBuilder| {
            let name = b.param(Type::U32);
            image(b, name)
        };
        let compose = |b: &mut FunctionBuilder, table, width| {
            let (earlier, later) = (b.param(Type::U32), b.param(Type::U32));
            let place = in_row(b, width, earlier, later);
            number(b, table, Type::U8, place)
        };
        let apply = |b: &mut FunctionBuilder, states| {
            let (name, state) = (b.param(Type::U32), b.param(Type::U8));
            let state = b.cast(Type::U32, state);
            let place = in_row(b, maps[0].len(), name, state);
            b.table(states, Type::U8, place)
        };
        let closed = |(table, width, states): (u32, usize, u32)| Closed {
            compose: written(|b| compose(b, table, width), &tables),
            apply: written(|b| apply(b, states), &tables),
        };
        let left = |lefts: u32| match outside == maps.len() {
            true => Left::At(written(|b| left_at(b, lefts), &tables)),
            false => Left::Of(written(|b| left_of(b, lefts), &tables)),
        };
        Names {
            count: self.images.len() as u32,
            reads: letters.reads.clone(),
            mark: written(mark, &tables),
            marks: marks.iter().max().map_or(0, |&mark| u32::from(mark) + 1),
            place: written(place_of, &tables),
            step: written(step, &tables),
            left: lefts.map(left),
            map: written(map, &tables),
            closed: composed.map(closed),
            tables,
        }
    }
}

/// What letters do to images.
struct Entries {
    /// Elements of a row, which there is for each image, with an element for each letter.
    width: usize,
    /// The image it leads to, and whether something is left behind.
    steps: Table,
    /// And what.
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

/// Elements of a row of so many columns: whole words, if the table is so small that there is room for it in each bank.
pub(super) fn small_row(rows: usize, columns: usize, ty: Type) -> usize {
    let words = (columns * ty.size()).div_ceil(4);
    if rows * 4 * words <= SMALL_TABLE { 4 * words / ty.size() } else { padded_row(columns, ty) }
}

/// Elements of a row of a table: an odd number of words, so that rows begin in different banks.
fn padded_row(columns: usize, ty: Type) -> usize {
    4 * ((columns * ty.size()).div_ceil(4) | 1) / ty.size()
}

fn numbers_of(ty: Type, numbers: &[u16]) -> Table {
    Table::new(ty, numbers.iter().map(|&number| Constant::from(number)))
}
