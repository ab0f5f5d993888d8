//! Calls that own what they are made of, drawn at random around the boundaries of a plan, and made
//! simpler again when one fails.

use monoscan_ir::{Constant, Mode};
use monoscan_runtime::{Bits, Call, Init, Plan, Rows, Shape};

use crate::Random;

/// A call with the number of records it is for, and all else that a test chooses.
#[derive(Clone, PartialEq, Debug)]
pub struct Asked {
    pub len: usize,
    pub mode: Mode,
    pub reversed: bool,
    pub init: Option<Vec<Constant>>,
    /// Instead of one initial state, one for each sequence that begins, one after the other.
    pub init_each: Option<Vec<Constant>>,
    pub over: Over,
    /// The state that a resumed stream goes on from, of rows one for each; none for a call that resumes nothing.
    pub carry: Option<Vec<Constant>>,
    pub in_place: bool,
    /// Most threads, up to 3; 0 for as many as rayon has.
    pub threads: usize,
    /// The spacing of the records of each column; none for all one after the other.
    pub spaced: Option<u64>,
}

/// A [`Shape`] that owns what it is made of.
#[derive(Clone, PartialEq, Debug)]
pub enum Over {
    Line,
    Heads(Vec<bool>),
    /// By keys, which differ from the one before where it is true, but for the first. Keys are for devices alone.
    Keys(Vec<bool>),
    Offsets(Vec<usize>),
    Rows {
        planes: usize,
        pitch: usize,
        len: usize,
        step: usize,
    },
}

impl Asked {
    /// An inclusive scan of a line of `len` records.
    pub fn line(len: usize) -> Asked {
        Asked {
            len,
            mode: Mode::Inclusive,
            reversed: false,
            init: None,
            init_each: None,
            over: Over::Line,
            carry: None,
            in_place: false,
            threads: 1,
            spaced: None,
        }
    }

    /// As the engine takes it, but for keys, which are in device memory.
    pub fn call(&self) -> Call<'_> {
        let shape = match &self.over {
            Over::Line | Over::Keys(_) => Shape::Line,
            Over::Heads(flags) => Shape::Heads(flags),
            Over::Offsets(offsets) => Shape::Offsets(offsets),
            &Over::Rows { planes, pitch, len, step } => {
                Shape::Rows(Rows::planes(planes, pitch, len, step).expect("rows that do not overlap"))
            }
        };
        let init = match &self.init_each {
            Some(all) => Init::Each(all),
            None => self.init.as_deref().into(),
        };
        Call { mode: self.mode, reversed: self.reversed, init, shape, ..Call::default() }
    }

    /// Head flags as bits, with the first of them, where columns are spaced and a bit of what says so asks for it.
    pub(super) fn head_bits(&self) -> Option<(Vec<u8>, usize)> {
        let (Over::Heads(flags), Some(seed)) = (&self.over, self.spaced.filter(|seed| seed % 2 == 1)) else {
            return None;
        };
        let first = (seed / 2 % 20) as usize;
        let mut bytes = vec![0x5a; (first + flags.len()).div_ceil(8)];
        for (bit, &flag) in (first..).zip(flags) {
            bytes[bit / 8] = bytes[bit / 8] & !(1 << (bit % 8)) | u8::from(flag) << (bit % 8);
        }
        Some((bytes, first))
    }

    /// As [`call`](Asked::call), with these bits in place of the flags.
    pub(super) fn call_with<'a>(&'a self, bits: Option<&'a (Vec<u8>, usize)>) -> Call<'a> {
        let bits = bits.map(|(bytes, first)| Bits::new(bytes, *first, self.len).expect("a bit for each record"));
        let call = self.call();
        Call { shape: bits.map_or(call.shape, Shape::HeadBits), ..call }
    }

    /// A random call; `state` gives random states.
    pub fn random(random: &mut Random, plan: &Plan, mut state: impl FnMut(&mut Random) -> Vec<Constant>) -> Asked {
        let (len, over) = match random.below(6) {
            0 | 1 => (boundary(random, plan), Over::Line),
            2 => {
                let len = boundary(random, plan);
                let times = *random.pick(&[1, 2, 5, 40, 1000]);
                (len, Over::Heads((0..len).map(|_| random.chance(times)).collect()))
            }
            3 => offsets(random, plan),
            _ => rows(random, plan),
        };
        let reversed = random.chance(2);
        let may_resume = match over {
            Over::Line | Over::Rows { .. } => true,
            Over::Heads(_) => !reversed,
            Over::Offsets(_) | Over::Keys(_) => false,
        };
        let mut asked = Asked {
            len,
            mode: *random.pick(&[Mode::Inclusive, Mode::Exclusive]),
            reversed,
            init: random.chance(2).then(|| state(random)),
            init_each: None,
            over,
            carry: None,
            in_place: random.chance(3),
            threads: random.below(4),
            spaced: random.chance(3).then(|| random.bits()),
        };
        let mut states = |random: &mut Random, count: usize| (0..count).flat_map(|_| state(random)).collect();
        if may_resume && random.chance(3) {
            asked.carry = Some(states(random, asked.carries()));
        }
        if asked.init.is_none() && random.chance(2) {
            asked.init_each = Some(states(random, asked.begun()));
        }
        asked
    }

    /// Calls that ask for less, the least first.
    pub fn simpler(&self) -> Vec<Asked> {
        let mut all = Vec::new();
        let mut with = |change: &dyn Fn(&mut Asked)| {
            let mut asked = self.clone();
            change(&mut asked);
            asked.fit_states(self);
            if asked != *self {
                all.push(asked);
            }
        };
        with(&|asked| asked.over = Over::Line);
        with(&|asked| asked.carry = None);
        with(&|asked| asked.init = None);
        with(&|asked| asked.init_each = None);
        with(&|asked| asked.in_place = false);
        with(&|asked| asked.reversed = false);
        with(&|asked| asked.mode = Mode::Inclusive);
        with(&|asked| asked.threads = 1);
        with(&|asked| asked.spaced = None);
        for len in [self.len / 2, self.len - self.len / 4, self.len.saturating_sub(1)] {
            with(&|asked| asked.shorten(len));
        }
        if let Over::Rows { planes, pitch, len, step } = self.over {
            for (planes, len, step) in
                [(1, len, step), (planes, len, 1), (planes, len / 2, step), (planes, len.max(1) - 1, step)]
            {
                with(&|asked| asked.over = Over::Rows { planes, pitch, len, step });
            }
        }
        if let Over::Heads(flags) | Over::Keys(flags) = &self.over {
            for place in (0..flags.len()).filter(|&place| flags[place]) {
                with(&|asked| {
                    if let Over::Heads(flags) | Over::Keys(flags) = &mut asked.over {
                        flags[place] = false;
                    }
                });
            }
        }
        if let Over::Offsets(offsets) = &self.over {
            for place in 1..offsets.len().max(1) - 1 {
                with(&|asked| {
                    if let Over::Offsets(offsets) = &mut asked.over {
                        offsets.remove(place);
                    }
                });
            }
        }
        all
    }

    /// As many states as are needed now, of those that another call had.
    fn fit_states(&mut self, before: &Asked) {
        let fit = |states: &mut Option<Vec<Constant>>, now: usize, then: usize| {
            let Some(all) = states.as_mut().filter(|_| now != then) else { return };
            let one = all.len().checked_div(then).unwrap_or(0);
            let fitting: Vec<Constant> = all.iter().copied().cycle().take(now * one).collect();
            *states = (one > 0).then_some(fitting);
        };
        let (carries, begun) = (self.carries(), self.begun());
        fit(&mut self.carry, carries, before.carries());
        fit(&mut self.init_each, begun, before.begun());
    }

    /// Cut down to at most `len` records.
    fn shorten(&mut self, len: usize) {
        self.len = len;
        match &mut self.over {
            Over::Line => {}
            Over::Heads(flags) | Over::Keys(flags) => flags.truncate(len),
            Over::Offsets(offsets) => offsets.iter_mut().for_each(|offset| *offset = (*offset).min(len)),
            &mut Over::Rows { planes, pitch, len: row, step } => self.len = extent(planes, pitch, row, step).max(len),
        }
    }
}

/// Most records of a call, or little more: larger boundaries are left to tests of their own.
const LARGEST: usize = 1500;

/// A number of elements around which a plan changes what it does.
pub fn boundary(random: &mut Random, plan: &Plan) -> usize {
    let (strip, tile) = (plan.interleave * plan.block, plan.tile());
    let several = tile * (1 + random.below(4));
    let around =
        [0, 1, plan.interleave, plan.block, strip, strip + plan.interleave, tile, several, several, plan.direct];
    let small: Vec<usize> = around.into_iter().filter(|&boundary| boundary <= LARGEST).collect();
    let base = *random.pick(&small);
    match random.below(4) {
        0 => base,
        1 => base + 1,
        2 => base.saturating_sub(1),
        _ => random.below(base + 3),
    }
}

fn offsets(random: &mut Random, plan: &Plan) -> (usize, Over) {
    let mut offsets = vec![0];
    let mut end = 0;
    for _ in 0..random.below(7) {
        end += match random.below(4) {
            0 => 0,
            1 => random.below(4),
            _ => boundary(random, plan),
        };
        offsets.push(end);
    }
    (end, Over::Offsets(offsets))
}

/// Few long rows or many short ones, side by side or one after the other, with gaps or none.
fn rows(random: &mut Random, plan: &Plan) -> (usize, Over) {
    let (many, few) = (boundary(random, plan).min(600), *random.pick(&[0, 1, 2, 3, 4, 5, 7, 8, 13, 16]));
    let (planes, len, step) =
        *random.pick(&[(few, many, 1), (many, few, 1), (1, many, few), (1, few, many), (few % 4, many / 4, few)]);
    let pitch = len * step + if random.chance(2) { 0 } else { random.below(9) };
    let beyond = random.below(2) * random.below(9);
    (extent(planes, pitch, len, step) + beyond, Over::Rows { planes, pitch, len, step })
}

/// How many records a column needs for these rows.
fn extent(planes: usize, pitch: usize, len: usize, step: usize) -> usize {
    if planes * step == 0 { 0 } else { (planes - 1) * pitch + len * step }
}
