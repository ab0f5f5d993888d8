//! A manifest as text.

use std::fmt::{self, Display, Formatter};

use monoscan_ir::Mode;
use monoscan_ir::transform::SegmentStart;

use super::{AotManifest, FORMAT, lowered_sha256};

impl Display for AotManifest {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let AotManifest { lowered, launch, .. } = self;
        let form = lowered.form();
        writeln!(f, "monoscan-kernel {FORMAT}")?;
        writeln!(f, "version {}", self.version)?;
        writeln!(f, "arch {}", self.arch)?;
        writeln!(f, "ptx-sha256 {}", self.ptx_sha256)?;
        writeln!(f, "lowered-sha256 {}", lowered_sha256(lowered))?;
        let mode = match form.mode {
            Mode::Inclusive => "inclusive",
            Mode::Exclusive => "exclusive",
        };
        writeln!(f, "mode {mode}")?;
        writeln!(f, "heads {}", form.heads)?;
        let start = match form.start {
            SegmentStart::Identity => "identity",
            SegmentStart::Init => "init",
            SegmentStart::Each => "each",
        };
        writeln!(f, "start {start}")?;
        writeln!(f, "checked {}", form.checked)?;
        writeln!(f, "any-states {}", lowered.holds_any())?;
        writeln!(f, "schedule {}", launch.plan.schedule.words())?;
        writeln!(f, "warps {}", launch.plan.warps)?;
        writeln!(f, "load-group {}", launch.plan.load_group)?;
        writeln!(f, "load-groups {}", launch.plan.load_groups)?;
        writeln!(f, "threads {}", launch.threads)?;
        writeln!(f, "shared-bytes {}", launch.shared_bytes)?;
        writeln!(f, "tile-state-bytes {}", launch.tile_state_bytes)?;
        write!(f, "{}", *self.program)?;
        writeln!(f, "end")
    }
}
