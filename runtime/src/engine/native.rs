//! Functions of Rust for the elements of one pass, and the race that decides whether they are used.
//!
//! The typed front end has the operator as its author wrote it, and rustc has compiled it. Both the
//! function and the generated loop give the same bits, so speed alone decides. It hangs on how the
//! user's crate is optimised, and on what either compiler makes of this operator. Only a trial
//! shows that. So they race when a kernel of their kind is first made, over sample records.

use std::hash::{Hash, Hasher};
use std::time::{Duration, Instant};

use monoscan_codegen::cpu::{Access, Native, NativeFn, NativeRowsFn, NativeTotalsFn, Rival, ShortFn};
use monoscan_ir::random::SplitMix64;
use monoscan_ir::transform::Form;
use monoscan_ir::{Constant, Layout, Type};

use super::self_check::{Kind, Sample};
use super::variant::Variant;

/// The functions that take the elements of a program, one for each mode, and how their states lie in memory.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Natives {
    /// As [`Mode`](monoscan_ir::Mode) numbers them.
    pub lines: [NativeFn; 2],
    /// The same over segments, whose flags are a column behind the others.
    pub flagged: [NativeFn; 2],
    pub rows: [NativeRowsFn; 2],
    /// Writes nothing.
    pub reduce: NativeFn,
    /// Lines from these components, into memory that is no column's; each gives how many elements it took.
    pub short: Option<(Vec<Constant>, [ShortFn; 2])>,
    /// Many sequences from these components.
    pub totals: NativeTotalsFn,
    /// Whether they see the records beside each, and where it is: then only those of lines are used.
    pub sees: bool,
    pub state: Layout,
    pub parameters: Vec<Type>,
}

impl Natives {
    /// The addresses by which functions are the same.
    fn addresses(&self) -> impl Iterator<Item = usize> {
        let lines = self.lines.into_iter().chain(self.flagged).chain([self.reduce]).map(|pass| pass as *const u8);
        let lines = lines.chain([self.totals as *const u8]);
        let short = self.short.iter().flat_map(|(_, passes)| passes.map(|pass| pass as *const u8));
        lines.chain(self.rows.map(|rows| rows as *const u8)).chain(short).map(|address| address.addr())
    }

    /// Those of a form, in which segments start from this state; none for segments if they see neighbours.
    pub(super) fn of(&self, form: Form, start: &[Constant], replaces_vectors: bool) -> Option<Native> {
        let Natives { lines, flagged, rows, reduce, short, totals, sees, state, parameters } = self;
        let (mode, state, parameters, sees) = (form.mode as usize, state.clone(), parameters.clone(), *sees);
        match form.heads {
            true if sees => None,
            true => {
                let (pass, start) = (flagged[mode], Some(start.to_vec()));
                let (reduce, rows, short, totals) = (None, None, None, None);
                Some(Native { pass, reduce, rows, short, totals, sees, state, start, parameters, replaces_vectors })
            }
            false => {
                // The kernel's own loop over rows, which goes on where a function panics, counts no elements in them.
                let (reduce, rows) = (Some(*reduce), (!sees).then_some(rows[mode]));
                let short = short.as_ref().filter(|(identity, _)| identity == start);
                let totals = short.filter(|_| !sees).map(|_| *totals);
                let short = short.map(|(_, passes)| passes[mode]);
                let (pass, start) = (lines[mode], None);
                Some(Native { pass, reduce, rows, short, totals, sees, state, start, parameters, replaces_vectors })
            }
        }
    }
}

impl PartialEq for Natives {
    fn eq(&self, other: &Natives) -> bool {
        self.addresses().eq(other.addresses()) && self.state == other.state && self.parameters == other.parameters
    }
}

impl Eq for Natives {}

impl Hash for Natives {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.addresses().for_each(|address| address.hash(hasher));
        self.state.hash(hasher);
        self.parameters.hash(hasher);
    }
}

/// Records of a race, at most: fewer where an element takes long.
const RECORDS: usize = 2048;

/// How long one run of a race should take.
const RUN: Duration = Duration::from_micros(10);

/// How many different records there are: many in no order, whose branches no processor learns by heart, and few again and again.
const DRAWN: usize = 64;
const PERIOD: usize = 4;

/// How often they are scanned by either; the shortest time counts.
const ROUNDS: usize = 5;

/// The time, in hundredths of that of the planned code, below which another candidate is taken.
const MARGIN: u32 = 95;

/// The same of rows. A call of the function costs a few nanoseconds, which are a fifth of 64 elements: a race over more hardly sees them.
const MARGIN_OF_ROWS: u32 = 75;

/// The elements of a row, where rows of any number are raced.
const ROW: usize = 12;

/// Whether the second of two candidates is faster than the first, the planned one: over both kinds of records together. Where branches are
/// predicted, a function that branches may be three times as fast as code that selects, and where they are not, somewhat slower. One
/// that does not take all records, since it panics, loses.
pub(super) fn wins(native: &Native, rivals: [Rival; 2], variant: &Variant) -> bool {
    let drawn = Sample::new(&variant.program, DRAWN, Kind::Broad);
    let mut random = SplitMix64(1);
    let mut in_no_order: Vec<usize> = (0..RECORDS).map(|_| (random.next() % DRAWN as u64) as usize).collect();
    let mut again: Vec<usize> = (0..RECORDS).map(|place| place % PERIOD).collect();
    let mut len = RECORDS;
    if let [Some(planned)] = race(native, [rivals[0]], variant, &drawn, 1) {
        let records = DRAWN as u128 * RUN.as_nanos() / planned.as_nanos().max(1);
        len = (records as usize).clamp(DRAWN, RECORDS);
    }
    in_no_order.truncate(len);
    again.truncate(len);
    let times = [in_no_order, again].map(|places| {
        let sample = drawn.taken(&places, &variant.program);
        race(native, rivals, variant, &sample, ROUNDS)
    });
    let [planned, function] = [0, 1].map(|which| Some(times[0][which]? + times[1][which]?));
    let margin = if matches!(rivals[0], Rival::Rows(..)) { MARGIN_OF_ROWS } else { MARGIN };
    let planned = planned.unwrap_or(Duration::MAX).saturating_mul(margin);
    function.is_some_and(|function| function.saturating_mul(100) < planned)
}

/// Whether the function of short lines is used: where the one of lines won the race with generated code, if it is about as fast as
/// that, and elsewhere if it wins against generated code. rustc compiles the two differently: one may branch where the other
/// selects, and the state of only one is never in memory.
pub(super) fn is_used_for_short_lines(
    (short, native): (ShortFn, &Native),
    (generated, has_won): (ShortFn, bool),
    variant: &Variant,
) -> bool {
    let is_asked_for = variant.native.as_ref().is_some_and(|(_, is_asked_for)| *is_asked_for);
    is_asked_for
        || match has_won {
            true => !wins(native, [Rival::Line(short), Rival::Native(native.pass)], variant),
            false => wins(native, [Rival::Line(generated), Rival::Line(short)], variant),
        }
}

/// The times that they take for these records, of so many rounds the shortest; none of one that does not take all.
fn race<const RIVALS: usize>(
    native: &Native,
    rivals: [Rival; RIVALS],
    variant: &Variant,
    sample: &Sample,
    rounds: usize,
) -> [Option<Duration>; RIVALS] {
    let row = match rivals[0] {
        Rival::Rows(0, _) => ROW,
        Rival::Rows(row, _) => row,
        _ => 1,
    };
    let rows = sample.len / row;
    let len = rows * row;
    let inputs = sample.short_inputs();
    let [a, b, c, d] = inputs.registers();
    let size = variant.program.output.columns[0].size as usize;
    let mut output = vec![0u128; (len * size).div_ceil(16)];
    let output = output.as_mut_ptr().cast();
    let start = variant.program.sequential.as_ref().map_or(&variant.program.stages[0].identity, |of| &of.initial);
    let own = &native.state;
    let nothing = Layout::packed(&[]);
    let code = variant.kernels(Access::Line).ok().map(|kernels| &kernels.code);
    let (whole, whole_start) = code.map_or((&nothing, Vec::new()), |code| (code.whole_states(), code.whole_start()));
    // Of a function the state before the line, the one that sequences start from, and the place of the first element.
    let mut states = vec![0u128; (2 * own.size + 16).max(whole.size).div_ceil(16) as usize];
    let mut fastest = [Some(Duration::MAX); RIVALS];
    for _ in 0..rounds {
        for (fastest, rival) in fastest.iter_mut().zip(rivals) {
            let memory: &mut [u8] = bytemuck::cast_slice_mut(&mut states);
            match rival {
                Rival::Native(_) | Rival::NativeRows(..) => {
                    [0, own.size as usize].into_iter().for_each(|place| put(own, &mut memory[place..], start));
                    let place: [u8; 16] = bytemuck::cast([0, len]);
                    memory[2 * own.size as usize..][..16].copy_from_slice(&place);
                }
                _ => put(whole, memory, &whole_start),
            }
            let (state, mut taken) = (states.as_mut_ptr().cast(), len);
            // SAFETY: the columns have the program's layouts and so many records, parameters are behind them, and states lie as each
            // has them.
            let time = time(|| unsafe {
                match rival {
                    Rival::Line(line) => taken = line(len, output, a, b, c, d),
                    Rival::Reduction(line) => _ = line(len, output, a, b, c, d, state),
                    Rival::Rows(_, of_rows) => of_rows(rows, output, a, b, c, d, row, row),
                    Rival::Native(line) => taken = line(len, output, a, b, c, d, state),
                    Rival::NativeRows(_, of_rows) => taken = of_rows(rows, output, a, b, c, d, state, row, row),
                }
            });
            *fastest = fastest.filter(|_| taken == len).map(|fastest| fastest.min(time));
        }
    }
    fastest
}

fn time(run: impl FnOnce()) -> Duration {
    let start = Instant::now();
    run();
    start.elapsed()
}

/// Puts components where they lie.
pub(super) fn put(layout: &Layout, memory: &mut [u8], components: &[Constant]) {
    let fields = layout.fields.iter().zip(components);
    fields.for_each(|(field, component)| component.write_to(&mut memory[field.offset as usize..]));
}
