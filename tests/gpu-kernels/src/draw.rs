//! Schedules that kernels are tried by, and plans and forms drawn at random.

use monoscan_codegen::gpu::{GpuPlan, Schedule};
use monoscan_ir::interp::Mode;
use monoscan_ir::transform::{Form, SegmentStart, lower};

use crate::Case;
use scan_kit::Random;

/// A ring whose buffers small tiles go round often.
pub const RING: Schedule = Schedule::Ring { buffers: 4, ahead: 2, shifted: false };

/// The same of columns at any natural address.
pub const SHIFTED: Schedule = Schedule::Ring { buffers: 4, ahead: 2, shifted: true };

/// A ring that runs cascades too.
pub const CASCADES: Schedule = Schedule::Ring { buffers: 4, ahead: 1, shifted: false };

/// One of each schedule.
pub const SCHEDULES: [Schedule; 4] = [RING, SHIFTED, Schedule::LookBack, Schedule::Columnar];

/// A small plan.
pub fn small_plan(random: &mut Random, case: &Case, form: Form, schedule: Schedule) -> GpuPlan {
    let columns = case.program.inputs.iter().chain(&case.program.output.columns);
    let zeros = columns.map(|layout| layout.size.trailing_zeros()).max().unwrap_or(0);
    // One load group may be of any size.
    let (load_group, load_groups) = match random.chance(3) {
        true => (1 + random.below(5), 1),
        false => (1 << 4u32.saturating_sub(zeros), 1 + 2 * random.below(2)),
    };
    match schedule {
        Schedule::Ring { shifted, .. } => {
            // The first fold of a cascade is twice as far ahead.
            let is_cascade = lower(&case.program, form).levels().len() > 1;
            let (ahead, folds) = if is_cascade { (1 + random.below(2), 2) } else { (1 + random.below(3), 1) };
            let schedule = Schedule::Ring { buffers: folds * ahead + 2 + random.below(2), ahead, shifted };
            GpuPlan { schedule, warps: 1 + random.below(3), load_group, load_groups }
        }
        other => GpuPlan { schedule: other, warps: *random.pick(&[1, 2, 4]), load_group, load_groups },
    }
}

/// Any form, checked now and then.
pub fn form(random: &mut Random) -> Form {
    let mode = *random.pick(&[Mode::Inclusive, Mode::Exclusive]);
    let start = *random.pick(&[SegmentStart::Identity, SegmentStart::Init, SegmentStart::Each]);
    // Only segments have a start of their own.
    let heads = random.chance(3);
    let start = if heads || start != SegmentStart::Each { start } else { SegmentStart::Identity };
    let (checked, previous) = (random.chance(4), random.chance(2));
    Form { mode, heads, start, checked, previous }
}
