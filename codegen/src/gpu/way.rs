//! What calls want of a kernel, and the plans that do it.

use monoscan_ir::{Program, Verified};

use super::{Arch, GpuPlan};

/// How the records of a call are gone through.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Way {
    /// One line, forwards, in columns at multiples of 16 bytes.
    Plain,
    /// One line, forwards, in columns at [natural](super::natural) addresses.
    Shifted,
    /// One short line, at any address and in any direction.
    Short,
    /// Lines and rows, at any address and in any direction.
    Any,
    /// Rows side by side.
    Columnar,
}

impl Way {
    /// The plans of a lowered program for this way, the best first.
    pub fn plans(self, program: &Verified<Program>, arch: Arch) -> Vec<GpuPlan> {
        match self {
            Way::Plain => GpuPlan::candidates(program, arch),
            Way::Shifted => {
                let plans = [GpuPlan::ring(program, arch, true), GpuPlan::look_back(program, arch)];
                plans.into_iter().flatten().collect()
            }
            Way::Short => GpuPlan::small(program, arch).into_iter().collect(),
            Way::Any => GpuPlan::look_back(program, arch).into_iter().collect(),
            Way::Columnar => vec![GpuPlan::columnar()],
        }
    }
}
