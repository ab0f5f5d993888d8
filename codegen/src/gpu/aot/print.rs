//! A manifest as text.

use std::fmt::{self, Display, Formatter};

use monoscan_ir::Mode;

use monoscan_ir::transform::Role;

use super::{AotManifest, Component, FORMAT};
use crate::gpu::Schedule;

impl Display for AotManifest {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let AotManifest { form, launch, .. } = self;
        writeln!(f, "monoscan-kernel {FORMAT}")?;
        writeln!(f, "version {}", self.version)?;
        writeln!(f, "program {}", self.program)?;
        writeln!(f, "arch {}", self.arch)?;
        writeln!(f, "ptx-sha256 {}", self.ptx_sha256)?;
        let mode = match form.mode {
            Mode::Inclusive => "inclusive",
            Mode::Exclusive => "exclusive",
        };
        writeln!(f, "mode {mode}")?;
        writeln!(f, "heads {}", form.heads)?;
        writeln!(f, "init {}", form.init)?;
        writeln!(f, "output {}", if self.keeps { "emit" } else { "write" })?;
        match launch.plan.schedule {
            Schedule::Ring { buffers, ahead, shifted } => {
                let ring = if shifted { "shifted-ring" } else { "ring" };
                writeln!(f, "schedule {ring} buffers {buffers} ahead {ahead}")?;
            }
            Schedule::LookBack => writeln!(f, "schedule look-back")?,
            Schedule::Columnar => writeln!(f, "schedule columnar")?,
        }
        writeln!(f, "warps {}", launch.plan.warps)?;
        writeln!(f, "load-group {}", launch.plan.load_group)?;
        writeln!(f, "load-groups {}", launch.plan.load_groups)?;
        writeln!(f, "threads {}", launch.threads)?;
        writeln!(f, "shared-bytes {}", launch.shared_bytes)?;
        writeln!(f, "tile-state-bytes {}", launch.tile_state_bytes)?;
        writeln!(f, "states {}", launch.arguments.states)?;
        self.components.iter().try_for_each(|component| writeln!(f, "component {component}"))?;
        launch.arguments.parameters.types().try_for_each(|ty| writeln!(f, "parameter {ty}"))?;
        launch.inputs.iter().try_for_each(|layout| writeln!(f, "input {layout}"))?;
        launch.outputs.iter().try_for_each(|layout| writeln!(f, "column {layout}"))?;
        writeln!(f, "end")
    }
}

impl Display for Component {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let role = match self.role {
            Role::User => "own",
            Role::SegmentFlag => "flag",
            Role::Previous => "previous",
            Role::Check => "check",
            Role::Rank => "rank",
        };
        // An identity may be a list, so it stands between two words.
        write!(f, "{role} {} {}", self.identity, self.range)
    }
}
