//! Kernels made ahead of time: loaded from PTX and a manifest, run with the driver alone.
//!
//! | file | what it is |
//! |---|---|
//! | `kernel` | [`AotKernel`]: PTX and manifest, not yet loaded |
//! | `calls` | what calls a kernel was made for |
//!
//! One kernel was made for one mode, checked or not, with or without flagged segments, for one kind
//! of start, by one schedule. A scan has any number of them, and refuses calls that none was made
//! for, before anything is launched. All else is as for kernels that are compiled: the same checks,
//! host columns piece by piece, streams.

mod calls;
mod kernel;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use monoscan_codegen::gpu::AotManifest;
use monoscan_ir::{Program, Verified};

use super::kernel::{GpuKernel, expect_arch, expect_driver};
use super::on_gpu::{Found, HelperKernels, OnGpu, Source};
use super::states::States;
use super::task::Task;
use crate::call::Call;
use crate::cuda::{CubinCache, Device};
use crate::error::Error;

pub use calls::{Asked, MadeFor};
pub use kernel::{AotError, AotKernel, Helper};

/// The kernels of a program that were made ahead of time, loaded on a GPU; at least one.
pub(super) struct Ahead(Vec<Loaded>);

struct Loaded {
    manifest: AotManifest,
    kernel: Arc<GpuKernel>,
    states: Arc<States>,
}

impl Ahead {
    /// Loads kernels; what the driver compiles is kept in the cache, if there is one.
    ///
    /// # Errors
    /// [`Error::Aot`] if there are none, if a text is damaged, or was made of another program. [`Error::Cuda`] if one was made
    /// for other devices, and if the driver is too old or refuses it.
    ///
    /// # Safety
    /// As for [`DynScan::on_kernels`](crate::DynScan::on_kernels).
    pub(super) unsafe fn load(
        program: &Verified<Program>,
        device: &Device,
        kernels: &[AotKernel],
        cache: Option<&CubinCache>,
    ) -> Result<Ahead, Error> {
        if kernels.is_empty() {
            return Err(AotError::NoKernels.into());
        }
        let load = |kernel: &AotKernel| {
            let manifest = kernel.manifest()?;
            if !manifest.program.computes_as(program) {
                let (kernel, scan) = (manifest.program.name.clone(), program.name.clone());
                return Err(AotError::OtherProgram { kernel, scan }.into());
            }
            expect_arch(device, manifest.arch)?;
            expect_driver(device, manifest.arch)?;
            // SAFETY: the caller says that text and manifest were made together.
            let loaded = unsafe { GpuKernel::from_ptx(device, kernel.ptx(), manifest.launch.clone(), cache) }?;
            let states = Arc::new(States::new(&manifest.lowered));
            Ok(Loaded { manifest, kernel: Arc::new(loaded), states })
        };
        kernels.iter().map(load).collect::<Result<_, Error>>().map(Ahead)
    }
}

impl Source for Ahead {
    fn find(&self, task: &Task<'_>) -> Result<Option<Found>, Error> {
        let place = calls::choose(self.0.iter().map(|loaded| &loaded.manifest), task)?;
        let Loaded { kernel, states, .. } = &self.0[place];
        let found = Found { kernel: kernel.clone(), states: states.clone() };
        Ok((!task.is_empty()).then_some(found))
    }

    fn first(&self) -> Result<Arc<GpuKernel>, Error> {
        Ok(self.0[0].kernel.clone())
    }

    fn block(&self) -> usize {
        self.0.iter().map(|loaded| loaded.manifest.launch.plan.tile()).max().unwrap_or(1)
    }

    fn explain(&self) -> String {
        let line = |Loaded { manifest, .. }: &Loaded| {
            let (arch, plan) = (manifest.arch, &manifest.launch.plan);
            format!("kernel made ahead of time for {arch}, for {}: {plan}\n", MadeFor::of(manifest))
        };
        self.0.iter().map(line).collect()
    }

    fn at_ends(&self, call: &Call<'_>) -> Result<OnGpu, Error> {
        let made_for = self.0.iter().map(|loaded| MadeFor::of(&loaded.manifest)).collect();
        Err(AotError::Call { made_for, asked: Asked::totals_of_segments(call) }.into())
    }

    fn helpers(&self, makes: Helper) -> Result<&dyn HelperKernels, Error> {
        Err(AotError::Helper { makes }.into())
    }
}
