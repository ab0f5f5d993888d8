//! Helper kernels, which are no scans: each compiled when a call first needs it.

use std::sync::{Arc, OnceLock};

use monoscan_codegen::nvptx::{HELPER_THREADS, HelperIr, HelperKernel};

use super::compiled::Compiled;
use super::kernel::to_u32;
use super::variant::Maker;
use crate::cuda::{DeviceBuffer, Kernel, Module, Stream, keep_with_graph};
use crate::error::Error;

/// Those that were needed.
#[derive(Default)]
pub(super) struct Helpers([OnceLock<Arc<Loaded>>; HelperKernel::ALL.len()]);

pub(super) struct Loaded {
    /// Is freed first, which waits for the device's work: no launch outlives the code.
    _last_launch: DeviceBuffer<u8>,
    kernel: Kernel,
}

impl Compiled {
    /// Gives a helper kernel to a stream, with a thread for each of so many; nothing if there are none.
    ///
    /// # Safety
    /// These are the kernel's arguments, and the memory that they name may be used until the kernel is done; if the stream is being
    /// captured, until every launch of the graph is.
    pub(super) unsafe fn launch_helper(
        &self,
        helper: HelperKernel,
        threads: usize,
        arguments: &[u8],
        stream: &Stream,
    ) -> Result<(), Error> {
        if threads == 0 {
            return Ok(());
        }
        let loaded = self.helper(helper)?;
        keep_with_graph(stream, loaded.clone() as _)?;
        let blocks = to_u32("the grid", threads.div_ceil(HELPER_THREADS))?;
        // SAFETY: the caller says so; the kernel is kept with this scan or with the graph.
        unsafe { loaded.kernel.launch(stream, blocks, HELPER_THREADS as u32, 0, arguments) }?;
        Ok(())
    }

    pub(super) fn helper(&self, helper: HelperKernel) -> Result<Arc<Loaded>, Error> {
        let made = &self.shared.helpers.0[helper as usize];
        if let Some(loaded) = made.get() {
            return Ok(loaded.clone());
        }
        let Maker { device, arch, cache, .. } = &self.shared.variants.maker;
        let ir = HelperIr::new(helper, *arch);
        let (module, _) = Module::made(device, &ir.key(), cache.as_ref(), || ir.compile().map_err(Error::from))?;
        let kernel = module.kernel("scan")?;
        let loaded = Loaded { _last_launch: DeviceBuffer::uninitialized(device, 1)?, kernel };
        Ok(made.get_or_init(|| Arc::new(loaded)).clone())
    }
}
