//! Kernels, which take one argument: a struct by value, given as bytes.

use std::ffi::{CString, c_int, c_void};
use std::fmt;
use std::ptr;

use cudarc::driver::sys::{self, CUfunction_attribute_enum as Attribute};

use super::device::Device;
use super::driver::call;
use super::error::CudaError;
use super::module::Module;
use super::refused::ArgumentError;
use super::stream::Stream;

/// A kernel, which keeps its module loaded.
#[derive(Clone)]
pub struct Kernel {
    module: Module,
    raw: sys::CUfunction,
    facts: KernelFacts,
}

// SAFETY: the driver takes calls for one function from any thread; the handle itself is only a name.
unsafe impl Send for Kernel {}
// SAFETY: as above.
unsafe impl Sync for Kernel {}

/// The registers and memory that a kernel uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelFacts {
    /// Registers of a thread.
    pub registers: u32,
    /// Local memory of a thread, in bytes: what is spilled, and arrays that are indexed.
    pub local_bytes: u32,
    /// Shared memory of a block beside what a launch asks for, in bytes.
    pub shared_bytes: u32,
    /// The most threads that a block may have.
    pub most_threads: u32,
}

impl Kernel {
    pub(crate) fn of(module: &Module, name: &str) -> Result<Kernel, CudaError> {
        let unknown = || CudaError::from(ArgumentError::KernelName { name: name.into() });
        let symbol = CString::new(name).map_err(|_| unknown())?;
        let driver = module.device().bind_aside()?;
        let mut raw = ptr::null_mut();
        // SAFETY: the module is loaded, the name ends with a zero, and `raw` is a place for the result.
        match unsafe { call!(driver, cuModuleGetFunction(&mut raw, module.raw(), symbol.as_ptr())) } {
            Err(CudaError::Driver { code, .. }) if code == sys::CUresult::CUDA_ERROR_NOT_FOUND as u32 => {
                return Err(unknown());
            }
            other => other?,
        }
        let ask = |attribute| {
            let mut value = 0;
            // SAFETY: the function's module is loaded, and `value` is a place for the result.
            unsafe { call!(driver, cuFuncGetAttribute(&mut value, attribute, raw)) }?;
            Ok::<_, CudaError>(u32::try_from(value).unwrap_or(0))
        };
        let facts = KernelFacts {
            registers: ask(Attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?,
            local_bytes: ask(Attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
            shared_bytes: ask(Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
            most_threads: ask(Attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
        };
        Ok(Kernel { module: module.clone(), raw, facts })
    }

    /// The registers and memory that it uses.
    pub fn facts(&self) -> &KernelFacts {
        &self.facts
    }

    /// The device on which it is loaded.
    pub fn device(&self) -> &Device {
        self.module.device()
    }

    /// Lets launches ask for so much shared memory; without that, 48 KiB are the most.
    ///
    /// # Errors
    /// The device has less for a block, or the driver fails.
    pub fn allow_shared(&self, bytes: u32) -> Result<(), CudaError> {
        self.expect_shared(bytes)?;
        let attribute = Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        let driver = self.device().bind_aside()?;
        // SAFETY: the function's module is loaded; the size is checked against the device's, which is below 2^31.
        unsafe { call!(driver, cuFuncSetAttribute(self.raw, attribute, bytes as c_int)) }
    }

    /// How many blocks of so many threads, each asking for so much shared memory, a multiprocessor runs at once.
    ///
    /// # Errors
    /// The driver fails.
    pub fn blocks_per_multiprocessor(&self, threads: u32, shared: u32) -> Result<u32, CudaError> {
        let mut blocks = 0;
        let driver = self.device().bind_aside()?;
        let (threads, shared) = (c_int::try_from(threads).unwrap_or(c_int::MAX), shared as usize);
        // SAFETY: the function's module is loaded, and `blocks` is a place for the result.
        unsafe { call!(driver, cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, self.raw, threads, shared)) }?;
        Ok(u32::try_from(blocks).unwrap_or(0))
    }

    /// Launches so many blocks of so many threads in the stream, each with so many bytes of shared memory beside what the
    /// kernel has itself. `argument` is the struct that the kernel takes, as bytes.
    ///
    /// # Errors
    /// The stream is of another device, there are no blocks, no threads, or more of them or of shared memory than can be,
    /// or the driver fails. What fails while the kernel runs is told by whatever waits for it.
    ///
    /// # Safety
    /// The argument is what the kernel expects, and what it points to may be used by the kernel until it is done. Until
    /// then this kernel, or a clone, is kept. If the stream is being captured, that is so for every launch of the graph:
    /// [`keep_with_graph`](super::keep_with_graph) does it.
    pub unsafe fn launch(
        &self,
        stream: &Stream,
        blocks: u32,
        threads: u32,
        shared: u32,
        argument: &[u8],
    ) -> Result<(), CudaError> {
        stream.expect_device("the kernel", self.device())?;
        if blocks == 0 || blocks > i32::MAX as u32 {
            return Err(ArgumentError::Grid { blocks }.into());
        }
        if threads == 0 || threads > self.facts.most_threads {
            return Err(ArgumentError::Block { threads, most: self.facts.most_threads }.into());
        }
        self.expect_shared(shared)?;
        let mut size = argument.len();
        // The driver compares the size that is given here with the kernel's; it has none to compare with a plain pointer.
        let mut extra = [
            ptr::without_provenance_mut::<c_void>(sys::CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT as usize),
            argument.as_ptr().cast_mut().cast(),
            ptr::without_provenance_mut(sys::CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT as usize),
            (&raw mut size).cast(),
            ptr::without_provenance_mut(sys::CU_LAUNCH_PARAM_END_AS_INT as usize),
        ];
        let driver = self.device().bind()?;
        // SAFETY: the driver copies the argument before it returns; the caller says that it is right.
        unsafe {
            let (raw, extra) = (stream.raw(), extra.as_mut_ptr());
            call!(driver, cuLaunchKernel(self.raw, blocks, 1, 1, threads, 1, 1, shared, raw, ptr::null_mut(), extra))
        }
    }

    fn expect_shared(&self, bytes: u32) -> Result<(), CudaError> {
        let most = self.device().facts().shared_per_block.saturating_sub(self.facts.shared_bytes);
        if bytes > most {
            return Err(ArgumentError::SharedMemory { bytes, most }.into());
        }
        Ok(())
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kernel on device {}: {:?}", self.device().ordinal(), self.facts)
    }
}
