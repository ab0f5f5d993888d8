//! The shared memory of a block while it is laid out.

use crate::gpu::{Arch, GpuPlan, LINE};
use crate::nvptx::error::NvptxError;
use crate::nvptx::kernel::bytes::width;
use crate::nvptx::kernel::recipe::Recipe;

/// What is taken so far, in bytes.
#[derive(Default)]
pub(crate) struct SharedAllocator(usize);

impl SharedAllocator {
    /// The place of so many bytes, a multiple of 16.
    pub(crate) fn take(&mut self, bytes: usize) -> usize {
        let start = self.0;
        self.0 += bytes.next_multiple_of(16);
        start
    }

    /// The place of so many bytes that bulk copies come to or go from: a multiple of [`LINE`].
    pub(crate) fn take_lines(&mut self, bytes: usize) -> usize {
        self.0 = self.0.next_multiple_of(LINE);
        self.take(bytes)
    }

    /// Makes all that was taken so far one of so many equal parts, and gives the bytes of a part: whole lines.
    pub(crate) fn repeat(&mut self, parts: usize) -> usize {
        let part = self.0.next_multiple_of(LINE);
        self.0 = parts * part;
        part
    }

    /// All bytes that were taken, if a block may have so many.
    pub(crate) fn finish(self, arch: Arch) -> Result<usize, NvptxError> {
        let (bytes, most) = (self.0, arch.shared_bytes());
        match bytes <= most {
            true => Ok(bytes),
            false => Err(NvptxError::Plan(format!("it takes {bytes} bytes of shared memory, {arch} has {most}"))),
        }
    }
}

/// Refuses a plan whose units are no whole accesses in some column.
pub(crate) fn expect_whole_accesses(recipe: &Recipe, plan: &GpuPlan) -> Result<(), NvptxError> {
    let mut sizes = recipe.inputs.iter().chain(&recipe.outputs).map(|column| column.size as usize);
    match sizes.find(|size| width(plan.load_group * size) < width(plan.items_per_thread() * size)) {
        None => Ok(()),
        Some(size) => {
            Err(NvptxError::Plan(format!("a unit of {} records of {size} bytes is no whole access", plan.load_group)))
        }
    }
}
