//! Functions of Rust for the elements of one pass, and the race that decides whether they are used.
//!
//! The typed front end has the operator as its author wrote it, and rustc has compiled it. Both the
//! function and the generated loop give the same bits, so speed alone decides. It hangs on how the
//! user's crate is optimised, and on what either compiler makes of this operator. Only a trial
//! shows that. So they race when a form is first compiled, over sample records.

use std::hash::{Hash, Hasher};
use std::time::{Duration, Instant};

use monoscan_codegen::cpu::{Compiled, Native, NativeFn, SHORT_INPUTS, ShortFn};
use monoscan_ir::random::SplitMix64;
use monoscan_ir::{Layout, Mode};

use super::self_check::{Kind, Sample};
use super::variant::Variant;

/// The functions that take the elements of a program, one for each mode, and how their states lie in memory.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Natives {
    /// As [`Mode`] numbers them.
    pub passes: [NativeFn; 2],
    pub state: Layout,
}

impl Natives {
    /// The addresses by which functions are the same.
    fn addresses(&self) -> [usize; 2] {
        self.passes.map(|pass| (pass as *const u8).addr())
    }

    pub(super) fn of(&self, mode: Mode) -> Native {
        Native { pass: self.passes[mode as usize], state: self.state.clone() }
    }
}

impl PartialEq for Natives {
    fn eq(&self, other: &Natives) -> bool {
        self.addresses() == other.addresses() && self.state == other.state
    }
}

impl Eq for Natives {}

impl Hash for Natives {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.addresses().hash(hasher);
        self.state.hash(hasher);
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

/// The function's time, in hundredths of the generated loop's, below which it is used.
const MARGIN: u32 = 95;

/// Whether the function is faster than the generated loop, which has a kernel of short lines: over both kinds of records together.
/// Where branches are predicted, a function that branches may be three times as fast as code that selects, and where they are not,
/// somewhat slower. One that does not take all records, since it panics, loses.
pub(super) fn is_faster(native: &Native, variant: &Variant, code: &Compiled) -> bool {
    let Some(short) = code.short() else { return false };
    let drawn = Sample::new(&variant.program, DRAWN, Kind::Broad);
    let mut random = SplitMix64(1);
    let mut in_no_order: Vec<usize> = (0..RECORDS).map(|_| (random.next() % DRAWN as u64) as usize).collect();
    let mut again: Vec<usize> = (0..RECORDS).map(|place| place % PERIOD).collect();
    let mut len = RECORDS;
    if let Some([_, generated]) = race(native, short, variant, &drawn, 1) {
        let records = DRAWN as u128 * RUN.as_nanos() / generated.as_nanos().max(1);
        len = (records as usize).clamp(DRAWN, RECORDS);
    }
    in_no_order.truncate(len);
    again.truncate(len);
    let mut sums = [Duration::ZERO; 2];
    for places in [in_no_order, again] {
        let sample = drawn.taken(&places, &variant.program);
        let Some(times) = race(native, short, variant, &sample, ROUNDS) else { return false };
        sums.iter_mut().zip(times).for_each(|(sum, time)| *sum += time);
    }
    sums[0] * 100 < sums[1] * MARGIN
}

/// The time that the function takes for these records, and that of the generated loop; none if the function does not take all.
fn race(native: &Native, short: ShortFn, variant: &Variant, sample: &Sample, rounds: usize) -> Option<[Duration; 2]> {
    let len = sample.len;
    let inputs: [*const u8; SHORT_INPUTS] =
        std::array::from_fn(|at| sample.columns.get(at).map_or(std::ptr::null(), |column| column.as_ptr()));
    let [a, b, c, d] = inputs;
    let size = variant.program.output.columns[0].size as usize;
    let mut output = vec![0u128; (len * size).div_ceil(16)];
    let output = output.as_mut_ptr().cast();
    let start = variant.program.sequential.as_ref().map_or(&variant.program.stages[0].identity, |of| &of.initial);
    let mut state = vec![0u128; (native.state.size as usize).div_ceil(16)];
    let time = |run: &mut dyn FnMut()| {
        let start = Instant::now();
        run();
        start.elapsed()
    };
    let mut fastest = [Duration::MAX; 2];
    for _ in 0..rounds {
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut state);
        for (field, component) in native.state.fields.iter().zip(start) {
            component.write_to(&mut bytes[field.offset as usize..]);
        }
        let state = state.as_mut_ptr().cast();
        let mut taken = 0;
        // SAFETY: the columns have the program's layouts and so many records, and the state lies as the function has it.
        let own = time(&mut || taken = unsafe { (native.pass)(len, output, a, b, c, d, state) });
        if taken < len {
            return None;
        }
        // SAFETY: as above.
        let generated = time(&mut || _ = unsafe { short(len, output, a, b, c, d) });
        fastest = [fastest[0].min(own), fastest[1].min(generated)];
    }
    Some(fastest)
}
