//! Launches, drawn at random around the boundaries of a plan, and made simpler again when one
//! fails.

use monoscan_codegen::gpu::{GROUP, Schedule};

use crate::Subject;
use scan_kit::Random;

/// Many blocks that wait keep few that work from their turns.
const PATIENCE: u64 = 20_000_000;

/// The request of a launch. The records, and the states that they start from, follow from `data`.
#[derive(Clone, PartialEq, Debug)]
pub struct Call {
    /// The seed of the data.
    pub data: u64,
    /// The seed of the emulator's schedule.
    pub schedule: u64,
    /// How many blocks run at a time.
    pub resident: u32,
    /// Multiprocessors of the device.
    pub processors: usize,
    /// Records of a row.
    pub records: usize,
    /// Rows, of which each plane has `step` side by side.
    pub planes: usize,
    /// See `planes`; also the distance of the records of a row.
    pub step: usize,
    /// Records between a plane's last and the next one's first.
    pub gap: usize,
    /// From the last record to the first.
    pub reversed: bool,
    /// Whether the first record starts from another state than the identities.
    pub started: bool,
    /// Whether the initial states that the program reads are others than that.
    pub resumed: bool,
    /// Whether each row has such states of its own.
    pub each: bool,
    /// Whether totals are asked for.
    pub totals: bool,
    /// Whether outputs lie where inputs do.
    pub in_place: bool,
    /// By how much columns miss a multiple of 16, in turn.
    pub shifts: [usize; 3],
    /// Space for kept records: this many in a thousand of all.
    pub capacity: usize,
    /// How many records were kept before.
    pub kept: usize,
    /// The time limit for waits, in steps of the emulator.
    pub timeout: u64,
    /// The time limit for the launch, in steps of the emulator.
    pub patience: u64,
}

impl Call {
    /// An inclusive scan of a line of so many records.
    pub fn line(records: usize) -> Call {
        Call {
            data: 1,
            schedule: 0,
            resident: 3,
            processors: 3,
            records,
            planes: 1,
            step: 1,
            gap: 0,
            reversed: false,
            started: false,
            resumed: false,
            each: false,
            totals: false,
            in_place: false,
            shifts: [0; 3],
            capacity: 1000,
            kept: 0,
            timeout: 1 << 62,
            patience: PATIENCE,
        }
    }

    /// A random call that the kernel can do, of about `most` records at most.
    pub fn random(random: &mut Random, subject: &Subject<'_>, most: usize) -> Call {
        let schedule = subject.schedule();
        let (planes, step, records) = match schedule {
            Schedule::Columnar => {
                let records = *random.pick(&[0, 1, 2, 3, 7, 20]);
                let around = *random.pick(&[1, 2, 31, 32, 33, 70]);
                let (planes, step) = *random.pick(&[(1, around), (around, 1), (3, around), (around, 2)]);
                (planes, step, records)
            }
            Schedule::LookBack if !subject.keeps() && random.chance(3) => {
                (*random.pick(&[2, 3, 9]), 1, boundary(random, subject, most / 5))
            }
            _ => (1, 1, boundary(random, subject, most)),
        };
        let shift = |random: &mut Random| match random.below(4) {
            0 => 8 * random.below(2),
            1 => 4 * random.below(4),
            _ => random.below(16),
        };
        let layouts = || subject.manifest.inputs.iter().chain(&subject.manifest.outputs);
        let natural = layouts().map(|layout| schedule.alignment(layout)).max().unwrap_or(1);
        let shift = |random: &mut Random| shift(random) / natural * natural;
        let shifts = if random.chance(3) { [0; 3] } else { [0; 3].map(|_| shift(random)) };
        let data = random.bits();
        Call {
            data,
            schedule: random.bits(),
            resident: 1 + random.below(4) as u32,
            processors: 1 + random.below(4),
            records,
            planes,
            step,
            gap: if random.chance(2) { 0 } else { random.below(9) },
            reversed: schedule.takes(Some((planes * step, step)), true) && random.chance(3),
            started: random.chance(2),
            resumed: random.chance(2),
            each: subject.has_rows() && data % 2 == 1,
            totals: random.chance(2),
            in_place: subject.may_be_in_place() && random.chance(3),
            shifts,
            capacity: *random.pick(&[1000, 1000, 0, 100, 300]),
            kept: if random.chance(3) { random.below(5) } else { 0 },
            timeout: 1 << 62,
            patience: PATIENCE,
        }
    }

    /// Calls that ask for less, the least first.
    pub fn simpler(&self) -> Vec<Call> {
        let mut all = Vec::new();
        let mut with = |change: &dyn Fn(&mut Call)| {
            let mut call = self.clone();
            change(&mut call);
            if call != *self && !all.contains(&call) {
                all.push(call);
            }
        };
        with(&|call| (call.planes, call.gap) = (1, 0));
        with(&|call| (call.step, call.gap) = (1, 0));
        with(&|call| call.gap = 0);
        with(&|call| call.reversed = false);
        with(&|call| (call.started, call.resumed) = (false, false));
        with(&|call| call.resumed = false);
        with(&|call| call.each = false);
        with(&|call| call.totals = false);
        with(&|call| call.in_place = false);
        with(&|call| call.shifts = [0; 3]);
        with(&|call| call.capacity = 1000);
        with(&|call| call.kept = 0);
        with(&|call| (call.resident, call.processors) = (1, 1));
        with(&|call| call.records /= 2);
        with(&|call| call.records -= call.records / 4);
        with(&|call| call.records = call.records.saturating_sub(1));
        with(&|call| call.planes = call.planes.div_ceil(2));
        with(&|call| call.step = call.step.div_ceil(2));
        all
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.planes * self.step
    }

    pub(crate) fn pitch(&self) -> usize {
        self.records * self.step + self.gap
    }

    /// Records that columns have.
    pub(crate) fn extent(&self) -> usize {
        if self.records == 0 { 0 } else { (self.planes - 1) * self.pitch() + self.records * self.step }
    }

    /// Which records a row has, in the order of the scan.
    pub(crate) fn row(&self, row: usize) -> Vec<usize> {
        let first = row / self.step * self.pitch() + row % self.step;
        let mut places: Vec<usize> = (0..self.records).map(|i| first + i * self.step).collect();
        if self.reversed {
            places.reverse();
        }
        places
    }

    /// How many kept records there is space for, those kept before included.
    pub(crate) fn room_records(&self) -> usize {
        self.kept + self.records * self.capacity / 1000
    }
}

/// A number of records around which a kernel does something else.
fn boundary(random: &mut Random, subject: &Subject<'_>, most: usize) -> usize {
    let plan = subject.plan();
    let tile = plan.tile();
    let around = [
        1,
        plan.load_group,
        plan.items_per_thread(),
        32 * plan.items_per_thread(),
        tile,
        tile,
        (2 + random.below(9)) * tile,
        (2 + random.below(9)) * tile,
        GROUP * tile,
        2 * GROUP * tile,
    ];
    let small: Vec<usize> = around.into_iter().filter(|&records| records <= most).collect();
    let base = if small.is_empty() { 1 } else { *random.pick(&small) };
    match random.below(5) {
        0 => base,
        1 => base + 1,
        2 => base - 1,
        3 => base + random.below(tile),
        _ => random.below(base + 3),
    }
}
