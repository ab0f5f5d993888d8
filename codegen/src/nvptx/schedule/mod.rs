//! Schedules: how tiles come, go and get their carry. One room for each [`Schedule`].

mod columnar;
mod look_back;
mod ring;

use super::Kernel;
use super::error::NvptxError;
use super::kernel::recipe::Recipe;
use crate::gpu::{Arch, GpuPlan, Schedule};

/// Writes the kernel of a plan.
pub(super) fn kernel(recipe: &Recipe, plan: &GpuPlan, arch: Arch) -> Result<Kernel, NvptxError> {
    match plan.schedule {
        Schedule::Ring { buffers, ahead, shifted } => ring::kernel(recipe, plan, (buffers, ahead, shifted), arch),
        Schedule::LookBack => look_back::kernel(recipe, plan, arch),
        Schedule::Columnar => columnar::kernel(recipe, plan),
    }
}
