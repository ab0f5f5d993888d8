//! The race of a function of Rust and generated code for the elements of a kernel.
//!
//! Which is faster depends on how the user's crate is optimised, on what either compiler makes of
//! the operator, and on the records. Where branches are predicted, a function that branches may be
//! twice as fast as code that selects. Where they are not, it is several times slower. Only a trial
//! shows that. So they race when a kernel of their kind is first made. Long lines are raced over
//! parts of the first one, each of which both see once, and others over samples.

use std::time::{Duration, Instant};

use monoscan_codegen::cpu::{Access, InputAddresses, Native, Rival, ShortInputs, TileArgs};
use monoscan_ir::random::SplitMix64;
use monoscan_ir::{Constant, Layout};
use smallvec::SmallVec;

use super::native::put;
use super::self_check::{Kind, Sample};
use super::slots::Slots;
use super::variant::{LONG_ENOUGH, Variant};

/// Records of one run, at most: fewer where an element takes long. Of samples, and of a line's own records.
const MOST: usize = 2048;
const MOST_OF_LINE: usize = 1 << 15;

/// How long one run should take, and how long it should at least, by being repeated: a clock tells no less.
const RUN: Duration = Duration::from_micros(10);
const SHORTEST: Duration = Duration::from_nanos(200);

/// How many different samples there are: many in no order, whose branches no processor learns by heart, and few again and again.
const DRAWN: usize = 64;
const PERIOD: usize = 4;

/// How often samples are scanned by either; the shortest time counts.
const ROUNDS: usize = 5;

/// Parts of a call's records that are scanned, each once by either; the median counts.
const PARTS: usize = 9;

/// The time, in hundredths of that of the planned code, below which another candidate is taken.
const MARGIN: u32 = 95;

/// The same of rows. A call of the function costs a few nanoseconds, which are a fifth of 64 elements: a race over more hardly sees them.
const MARGIN_OF_ROWS: u32 = 75;

/// The elements of a row, where rows of any number are raced.
const ROW: usize = 12;

/// The records of a line, from its first on, one after the other in each column.
#[derive(Clone, Copy)]
pub(crate) struct Records<'a> {
    inputs: &'a ShortInputs,
    len: usize,
}

impl<'a> Records<'a> {
    /// # Safety
    /// These are the input columns of the program, in order, with so many records, which nobody writes meanwhile, and behind them where its
    /// parameters are.
    pub(crate) unsafe fn new(inputs: &'a ShortInputs, len: usize) -> Records<'a> {
        Records { inputs, len }
    }

    /// Whether the first records, so many, are all the same, as where memory was only made ready.
    fn are_alike(self, len: usize, sizes: &[usize]) -> bool {
        (0..).zip(sizes).all(|(column, &size)| {
            // SAFETY: the column has these records.
            let bytes = unsafe { std::slice::from_raw_parts(self.inputs.at(column), len * size) };
            bytes[size..] == bytes[..(len - 1) * size]
        })
    }
}

/// Whether the second of two candidates is faster than the first, the planned one: over these records, or over samples of two kinds
/// together. One that does not take all records, since it panics, loses.
pub(super) fn wins(native: &Native, rivals: [Rival; 2], variant: &Variant, records: Option<Records<'_>>) -> bool {
    // Parts of fewer take no time that a clock tells.
    let records = records.filter(|records| records.len >= LONG_ENOUGH);
    let over_records = records.and_then(|records| over_records(native, rivals, variant, records));
    let [planned, function] = over_records.unwrap_or_else(|| over_samples(native, rivals, variant));
    let margin = if matches!(rivals[0], Rival::Rows(..)) { MARGIN_OF_ROWS } else { MARGIN };
    let planned = planned.unwrap_or(Duration::MAX).saturating_mul(margin);
    function.is_some_and(|function| function.saturating_mul(100) < planned)
}

type Times = [Option<Duration>; 2];

/// The median times over parts of a line, one behind the other; none if its first records are all the same, which say nothing of others.
/// A function goes on from its state, which many branches depend on. They take turns in who reads a part first.
fn over_records(native: &Native, rivals: [Rival; 2], variant: &Variant, records: Records<'_>) -> Option<Times> {
    let sizes: Vec<usize> = variant.program.inputs.iter().map(|column| column.size as usize).collect();
    let apart = records.len / PARTS;
    let first = apart.min(DRAWN);
    if records.are_alike(apart.min(MOST), &sizes) {
        return None;
    }
    let mut track = Track::new(native, variant, apart.min(MOST_OF_LINE));
    // Code and memory that were not touched before take longer.
    let warmed = rivals.map(|rival| track.time(rival, records.inputs.registers(), first));
    let Some(planned) = warmed[0] else { return Some([None, warmed[1]]) };
    let len = track.fitting(planned, first).min(apart);
    let expected = planned.as_nanos().max(1) * len as u128 / first as u128;
    track.runs = (SHORTEST.as_nanos() / expected.max(1)).clamp(1, 16) as usize;
    let mut times: Vec<Times> = Vec::with_capacity(PARTS);
    for part in 0..PARTS {
        track.goes_on = part > 0;
        let start = part * len;
        let mut table = ShortInputs::new(std::ptr::null());
        let inputs = records.inputs.moved(|column| start * sizes[column], &mut table);
        let mut own: Times = [None; 2];
        for rival in [part % 2, 1 - part % 2] {
            own[rival] = track.time(rivals[rival], inputs, len);
        }
        if own.contains(&None) {
            return Some(own);
        }
        times.push(own);
    }
    let ratio = |times: &Times| {
        let [planned, function] = times.map(|time| time.map_or(0.0, |time| time.as_secs_f64()));
        function / planned.max(1e-9)
    };
    times.sort_unstable_by(|a, b| ratio(a).total_cmp(&ratio(b)));
    Some(times[PARTS / 2])
}

/// The times over samples, of both kinds together.
fn over_samples(native: &Native, rivals: [Rival; 2], variant: &Variant) -> Times {
    let drawn = Sample::new(&variant.program, DRAWN, Kind::Broad);
    let mut random = SplitMix64(1);
    let mut in_no_order: Vec<usize> = (0..MOST).map(|_| (random.next() % DRAWN as u64) as usize).collect();
    let mut again: Vec<usize> = (0..MOST).map(|place| place % PERIOD).collect();
    let mut track = Track::new(native, variant, MOST);
    if let Some(planned) = track.time(rivals[0], drawn.short_inputs().registers(), DRAWN) {
        let len = track.fitting(planned, DRAWN);
        in_no_order.truncate(len);
        again.truncate(len);
    }
    let times = [in_no_order, again].map(|places| {
        let sample = drawn.taken(&places, &variant.program);
        let inputs = sample.short_inputs();
        let mut fastest = [Some(Duration::MAX); 2];
        for _ in 0..ROUNDS {
            for (fastest, rival) in fastest.iter_mut().zip(rivals) {
                let time = track.time(rival, inputs.registers(), sample.len);
                *fastest = fastest.and_then(|fastest| Some(fastest.min(time?)));
            }
        }
        fastest
    });
    [0, 1].map(|which| Some(times[0][which]? + times[1][which]?))
}

/// Memory for the results and states of rivals.
struct Track<'a> {
    native: &'a Native,
    start: &'a [Constant],
    /// The whole states of generated code, and what lines start from.
    whole: Layout,
    whole_start: Vec<Constant>,
    /// The same in a slot, and how many input columns there are.
    slot: Option<Slots<'a>>,
    columns: usize,
    output: Vec<u128>,
    /// Of generated code, and of a function, and whether the function goes on from where it was.
    states: Vec<u128>,
    own: Vec<u128>,
    goes_on: bool,
    /// The most records of a run, how often it is repeated, and what looking at the clock takes.
    most: usize,
    runs: usize,
    clock: Duration,
}

impl<'a> Track<'a> {
    /// For runs of so many records at most.
    fn new(native: &'a Native, variant: &'a Variant, most: usize) -> Track<'a> {
        let size = variant.program.output.columns[0].size as usize;
        let start = variant.program.sequential.as_ref().map_or(&variant.program.stages[0].identity, |of| &of.initial);
        let code = variant.kernels(Access::Line).ok().map(|kernels| &kernels.code);
        let whole = code.map_or_else(|| Layout::packed(&[]), |code| code.whole_states().clone());
        let slot = code.map(|code| {
            let layout = code.state_layout();
            Slots::one(layout, layout.fields().zip(variant.program.start().concat()))
        });
        // Of a function the state before the line, the one that sequences start from, and the place of the first element.
        let own = 2 * native.state.size + 16;
        Track {
            native,
            start,
            whole_start: code.map_or_else(Vec::new, |code| code.whole_start()),
            slot,
            columns: variant.program.inputs.len(),
            output: vec![0; (most * size).div_ceil(16)],
            states: vec![0; whole.size.div_ceil(16) as usize],
            own: vec![0; own.div_ceil(16) as usize],
            goes_on: false,
            most,
            runs: 1,
            clock: (0..PARTS).map(|_| Instant::now().elapsed()).min().unwrap_or_default(),
            whole,
        }
    }

    /// How many records take about as long as a run should, if so many took so long.
    fn fitting(&self, time: Duration, records: usize) -> usize {
        let fitting = records as u128 * RUN.as_nanos() / time.as_nanos().max(1);
        (fitting as usize).clamp(DRAWN.min(self.most), self.most)
    }

    /// The time that a rival takes for so many records; none if it does not take all.
    fn time(&mut self, rival: Rival, [a, b, c, d]: [*const u8; 4], len: usize) -> Option<Duration> {
        let row = match rival {
            Rival::Rows(0, _) | Rival::NativeRows(0, _) => ROW,
            Rival::Rows(row, _) | Rival::NativeRows(row, _) => row,
            _ => 1,
        };
        let rows = len / row;
        let len = rows * row;
        let own = &self.native.state;
        let is_native = matches!(rival, Rival::Native(_) | Rival::NativeRows(..));
        let states = if is_native { &mut self.own } else { &mut self.states };
        let memory: &mut [u8] = bytemuck::cast_slice_mut(states);
        if is_native {
            if !self.goes_on {
                [0, own.size as usize].into_iter().for_each(|place| put(own, &mut memory[place..], self.start));
            }
            let place: [u8; 16] = bytemuck::cast([0, len]);
            memory[2 * own.size as usize..][..16].copy_from_slice(&place);
        } else {
            put(&self.whole, memory, &self.whole_start);
        }
        let before: SmallVec<[u128; 8]> = states.as_slice().into();
        let output = self.output.as_mut_ptr().cast();
        // SAFETY: the registers are of the program's columns.
        let addresses = unsafe { InputAddresses::new(self.columns, [a, b, c, d]) };
        let inputs: SmallVec<[*const u8; 8]> = (0..self.columns).map(|column| addresses.at(column)).collect();
        let (outputs, mut slot) = ([output], self.slot.clone());
        let start = Instant::now();
        let mut taken = len;
        for _ in 0..self.runs {
            states.copy_from_slice(&before);
            let state = states.as_mut_ptr().cast();
            // SAFETY: the columns have the program's layouts and so many records, parameters are behind them, and states lie as each
            // has them: whole, in a function's own memory, or in a slot.
            taken = taken.min(unsafe {
                match rival {
                    Rival::Line(line) => line(len, output, a, b, c, d),
                    Rival::Tile(tile) => {
                        let (slot, from) = (slot.as_mut()?, self.slot.as_ref()?);
                        slot.take(0, from, 0);
                        let args = TileArgs::line(&inputs, &outputs, (0, len as u64, len as u64), slot.from(0));
                        tile(&TileArgs { parameters: addresses.at(self.columns), ..args });
                        len
                    }
                    Rival::Reduction(line) => {
                        line(len, output, a, b, c, d, state);
                        len
                    }
                    Rival::Rows(_, of_rows) => {
                        of_rows(rows, output, a, b, c, d, row, row);
                        len
                    }
                    Rival::Native(line) => line(len, output, a, b, c, d, state),
                    Rival::NativeRows(_, of_rows) => of_rows(rows, output, a, b, c, d, state, row, row),
                }
            });
        }
        let time = start.elapsed().saturating_sub(self.clock) / self.runs as u32;
        (taken == len).then_some(time)
    }
}
