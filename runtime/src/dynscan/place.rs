//! Where a [`DynScan`] runs: on which device, by which kernels.

use std::sync::Arc;

use super::DynScan;
use crate::backend::Backend;
use crate::device::Device;
#[cfg(feature = "cuda")]
use crate::device::DeviceError;
use crate::engine::OnCpu;
use crate::error::Error;
#[cfg(feature = "cuda")]
use crate::gpu;

impl DynScan {
    /// The same scan on another device: judged once, whatever the devices, and with the same options.
    ///
    /// ```
    /// # use monoscan_runtime::{Device, DynScan, Error};
    /// # fn on_gpu(scan: &DynScan) -> Result<DynScan, Error> {
    /// scan.on(Device::cuda(0)?)
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Device`] in a build that makes no kernels for it. [`Error::Cuda`] if its driver is too old for them.
    /// [`Error::Codegen`] if no code could be generated for the CPU.
    pub fn on(&self, device: impl Into<Device>) -> Result<DynScan, Error> {
        let device = device.into();
        let backend = self.backend_for(&device)?;
        backend.prepare()?;
        Ok(DynScan { backend, device, ..self.clone() }.settled())
    }

    /// The same scan on a GPU, by kernels that were made ahead of time: no compiler is needed. Calls that no kernel was made
    /// for are refused with [`AotError::Call`](gpu::AotError::Call), which says what they were made for.
    ///
    /// # Errors
    /// [`Error::Aot`] if a text is damaged, or was made of another program or by another version of monoscan. [`Error::Cuda`]
    /// if a kernel was made for other devices, and if the driver is too old or refuses it. [`Error::Device`] on the CPU.
    ///
    /// # Safety
    /// PTX and manifest of each kernel are what monoscan made of one program. Hash and checks find damage and mistakes, but not
    /// malice: this is code that will run, with addresses of the device's memory.
    #[cfg(feature = "cuda")]
    pub unsafe fn on_kernels(&self, device: impl Into<Device>, kernels: &[gpu::AotKernel]) -> Result<DynScan, Error> {
        let device = device.into();
        if device.is_cpu() {
            return Err(DeviceError::NotOnGpu.into());
        }
        let gpu = gpu::Options { ahead: Some(kernels.into()), ..self.gpu.clone() };
        DynScan { gpu, ..self.clone() }.on(device)
    }

    /// The scan of the program that these kernels were made of, on a GPU. Its laws are judged.
    ///
    /// ```no_run
    /// # use monoscan_runtime::{Device, DynScan, Error, gpu::AotKernel};
    /// # fn main() -> Result<(), Error> {
    /// let kernels = [AotKernel::from_files("kernels/sum_i32")?];
    /// // SAFETY: the files are as `emit` wrote them.
    /// let scan = unsafe { DynScan::from_kernels(Device::cuda(0)?, &kernels) }?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`on_kernels`](DynScan::on_kernels) and [`new`](DynScan::new). A program whose laws are to be assumed is built from
    /// [`AotKernel::manifest`](gpu::AotKernel::manifest) by hand.
    ///
    /// # Safety
    /// As for [`on_kernels`](DynScan::on_kernels).
    #[cfg(feature = "cuda")]
    pub unsafe fn from_kernels(device: impl Into<Device>, kernels: &[gpu::AotKernel]) -> Result<DynScan, Error> {
        let first = kernels.first().ok_or(gpu::AotError::NoKernels)?;
        let scan = DynScan::builder(first.manifest()?.program).judged()?;
        // SAFETY: the caller says so.
        unsafe { scan.on_kernels(device, kernels) }
    }

    /// The same with what follows from the rest: whether the kernels of short lines may run.
    pub(super) fn settled(mut self) -> DynScan {
        let is_bound = self.parameters.values().len() == self.program().parameters.len();
        let plain = self.device.is_cpu() && !self.checked && is_bound;
        // Kernels of short lines have in their code where sequences of a program start; of a loop, if the program knows it.
        let plain = plain && (self.looped.is_none() || self.program().sequential.is_some());
        self.plain = [plain, plain && !self.needs_start];
        self
    }

    fn backend_for(&self, device: &Device) -> Result<Arc<dyn Backend>, Error> {
        #[cfg(feature = "cuda")]
        if let Some(cuda) = device.as_cuda() {
            return gpu::backend(self.shared.key.program.clone(), cuda, &self.gpu);
        }
        debug_assert!(device.is_cpu());
        Ok(Arc::new(OnCpu { variants: self.variants.clone(), threads: self.threads }))
    }

    /// Where it runs.
    pub fn device(&self) -> &Device {
        &self.device
    }
}
