//! Helper kernels, which are no scans: each compiled when a call first needs it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use monoscan_codegen::nvptx::{HELPER_THREADS, HelperIr, HelperKernel};

use super::compiled::Compiled;
use super::kernel::to_u32;
use super::variant::Maker;
use crate::cuda::{DeviceBuffer, Kernel, Module, Stream, keep_with_graph};
use crate::error::Error;

/// Those that were needed, on one device.
#[derive(Default)]
pub(super) struct Helpers(Mutex<HashMap<HelperKernel, Arc<Loaded>>>);

pub(super) struct Loaded {
    /// Is freed first, which waits for the device's work: no launch outlives the code.
    _last_launch: DeviceBuffer<u8>,
    kernel: Kernel,
    /// Bytes of a block.
    shared: u32,
}

impl Helpers {
    pub(super) fn get(&self, helper: HelperKernel, maker: &Maker) -> Result<Arc<Loaded>, Error> {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(loaded) = lock().get(&helper) {
            return Ok(loaded.clone());
        }
        let loaded = Loaded::new((&HelperIr::new(helper, maker.arch), helper.shared()), maker)?;
        Ok(lock().entry(helper).or_insert(Arc::new(loaded)).clone())
    }
}

impl Loaded {
    /// The kernel of this text, with so many bytes of shared memory for a block.
    pub(super) fn new((ir, shared): (&HelperIr, usize), maker: &Maker) -> Result<Loaded, Error> {
        let Maker { device, cache, .. } = maker;
        let (module, _) = Module::made(device, &ir.key(), cache.as_ref(), || ir.compile().map_err(Error::from))?;
        let (kernel, shared) = (module.kernel("scan")?, to_u32("shared memory", shared)?);
        kernel.allow_shared(shared)?;
        Ok(Loaded { _last_launch: DeviceBuffer::uninitialized(device, 1)?, kernel, shared })
    }

    /// Gives it to a stream, in so many blocks.
    ///
    /// # Safety
    /// These are the kernel's arguments, and the memory that they name may be used until the kernel is done; if the stream is being
    /// captured, until every launch of the graph is.
    pub(super) unsafe fn launch(
        self: &Arc<Loaded>,
        blocks: usize,
        arguments: &[u8],
        stream: &Stream,
    ) -> Result<(), Error> {
        if blocks == 0 {
            return Ok(());
        }
        keep_with_graph(stream, self.clone() as _)?;
        let blocks = to_u32("the grid", blocks)?;
        // SAFETY: the caller says so; the kernel is kept by its owner, or with the graph.
        Ok(unsafe { self.kernel.launch(stream, blocks, HELPER_THREADS as u32, self.shared, arguments) }?)
    }
}

impl Compiled {
    /// Gives a helper kernel to a stream, with a thread for each of so many; nothing if there are none.
    ///
    /// # Safety
    /// As [`Loaded::launch`].
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
        // SAFETY: the caller says so.
        unsafe { self.helper(helper)?.launch(threads.div_ceil(HELPER_THREADS), arguments, stream) }
    }

    pub(super) fn helper(&self, helper: HelperKernel) -> Result<Arc<Loaded>, Error> {
        self.shared.helpers.get(helper, &self.shared.variants.maker)
    }
}
