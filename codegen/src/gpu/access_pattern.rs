//! What calls want of a kernel, and the plans that do it.

use monoscan_ir::transform::Lowered;

use super::{Arch, GpuPlan};

/// How the records of a call are gone through.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AccessPattern {
    /// One line, forwards, in columns at multiples of 16 bytes.
    Aligned,
    /// One line, forwards, in columns at [natural](super::natural) addresses.
    Shifted,
    /// One short line, at any address and in any direction.
    Short,
    /// Lines and rows, at any address and in any direction.
    Any,
    /// Rows side by side.
    Columnar,
}

impl AccessPattern {
    /// The plans of a lowered program for this pattern, the best first.
    pub fn plans(self, program: &Lowered, arch: Arch) -> Vec<GpuPlan> {
        match self {
            AccessPattern::Aligned => GpuPlan::candidates(program, arch),
            AccessPattern::Shifted => {
                let plans = [GpuPlan::ring(program, arch, true), GpuPlan::look_back(program, arch)];
                plans.into_iter().flatten().collect()
            }
            AccessPattern::Short => GpuPlan::small(program, arch).into_iter().collect(),
            AccessPattern::Any => GpuPlan::look_back(program, arch).into_iter().collect(),
            AccessPattern::Columnar => vec![GpuPlan::columnar()],
        }
    }
}
