//! Schedules: how tiles come, go and get their carry. A folder or file for each
//! [`Schedule`](crate::gpu::Schedule).

mod columnar;
pub(super) mod look_back;
pub(super) mod ring;

use super::Kernel;
use super::kernel::recipe::Recipe;
use crate::gpu::GpuPlan;

/// Where a block's shared memory has all that a schedule keeps there. What a plan of the schedule lacks to be written.
#[expect(clippy::large_enum_variant, reason = "there is one for each plan of a kernel")]
pub(super) enum Layout {
    /// That of a ring of so many buffers, so many tiles ahead, of shifted columns or not.
    Ring((usize, usize, bool), ring::layout::Shared),
    LookBack(look_back::layout::Shared),
    /// It keeps nothing there.
    Columnar,
}

impl Layout {
    /// Bytes of shared memory of a block.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Layout::Ring(_, shared) => shared.bytes,
            Layout::LookBack(shared) => shared.bytes,
            Layout::Columnar => 0,
        }
    }
}

/// Writes the kernel of a plan.
pub(super) fn kernel(recipe: &Recipe, plan: &GpuPlan, layout: &Layout) -> Kernel {
    match layout {
        Layout::Ring(ring, shared) => ring::kernel(recipe, plan, *ring, shared),
        Layout::LookBack(shared) => look_back::kernel(recipe, plan, shared),
        Layout::Columnar => columnar::kernel(recipe, plan),
    }
}
