//! Machines that kernels are launched on: the emulator, or a device.

use monoscan_codegen::gpu::Arch;
use monoscan_codegen::nvptx::{KernelIr, KernelPlan};
use monoscan_runtime::cuda::{self, CudaError, DeviceBuffer, Kernel, Module, Stream};
use scan_emulator::{Buffer, Device, Fault, Launch, LaunchError};

use crate::{Call, Subject};

/// Memory, and kernels that use it.
pub(crate) trait Machine {
    /// Some of its memory.
    type Buffer: Copy;

    /// Memory with these bytes that begins so many bytes behind a multiple of 16.
    fn buffer(&mut self, bytes: &[u8], shift: usize) -> Self::Buffer;

    /// Where it begins.
    fn address(&self, buffer: Self::Buffer) -> u64;

    /// The memory's content.
    fn read(&self, buffer: Self::Buffer) -> Vec<u8>;

    /// Its multiprocessors.
    fn processors(&self, call: &Call) -> usize;

    /// Launches so many blocks, and waits for their end.
    fn launch(&mut self, subject: &Subject<'_>, call: &Call, blocks: u32, arguments: &[u8]) -> Result<(), LaunchError>;
}

/// The emulator, with mistakes put into the kernel.
pub(crate) struct Emulated<'f> {
    device: Device,
    faults: &'f [Fault],
}

impl<'f> Emulated<'f> {
    pub(crate) fn new(faults: &'f [Fault]) -> Emulated<'f> {
        Emulated { device: Device::new(), faults }
    }
}

impl Machine for Emulated<'_> {
    type Buffer = Buffer;

    fn buffer(&mut self, bytes: &[u8], shift: usize) -> Buffer {
        self.device.buffer_shifted(bytes, shift)
    }

    fn address(&self, buffer: Buffer) -> u64 {
        self.device.address(buffer)
    }

    fn read(&self, buffer: Buffer) -> Vec<u8> {
        self.device.read(buffer)
    }

    fn processors(&self, call: &Call) -> usize {
        call.processors
    }

    fn launch(&mut self, subject: &Subject<'_>, call: &Call, blocks: u32, arguments: &[u8]) -> Result<(), LaunchError> {
        let launch = Launch {
            blocks,
            threads: subject.manifest.threads as u32,
            shared_bytes: subject.manifest.shared_bytes,
            args: arguments,
            resident: call.resident,
            seed: call.schedule,
            faults: self.faults,
            patience: call.patience,
            ..Launch::default()
        };
        subject.kernel.launch(&mut self.device, &launch).map(drop)
    }
}

/// The first device of this machine, with a subject's kernel on it.
pub struct OnDevice {
    kernel: Kernel,
    stream: Stream,
    buffers: Vec<Guarded>,
}

/// A buffer between bytes that nobody may touch.
struct Guarded {
    memory: DeviceBuffer<u8>,
    start: usize,
    end: usize,
}

/// Bytes before and behind a buffer.
const GUARD: usize = 64;
const UNTOUCHED: u8 = 0x6d;

impl OnDevice {
    /// Makes PTX of the subject's kernel, and loads it.
    ///
    /// # Errors
    /// If there is no device, or its driver takes no such kernel.
    pub fn new(subject: &Subject<'_>) -> Result<OnDevice, CudaError> {
        let device = cuda::Device::cuda(0)?;
        let program = &subject.program;
        let plan = KernelPlan::with(program, subject.plan(), Arch::Sm90).expect("the subject has a kernel");
        let ptx = KernelIr::new(&plan).compile().unwrap_or_else(|error| panic!("{}: {error}", subject.name()));
        let kernel = Module::from_ptx(&device, &ptx, None)?.kernel("scan")?;
        kernel.allow_shared(subject.manifest.shared_bytes as u32)?;
        Ok(OnDevice { kernel, stream: Stream::new(&device)?, buffers: Vec::new() })
    }

    /// Gives the memory of earlier launches back.
    pub(crate) fn clear(&mut self) {
        self.buffers.clear();
    }
}

impl Machine for OnDevice {
    type Buffer = usize;

    fn buffer(&mut self, bytes: &[u8], shift: usize) -> usize {
        let guard = vec![UNTOUCHED; GUARD];
        let all = [&guard[..], &guard[..shift], bytes, &guard].concat();
        let memory = DeviceBuffer::from_slice(&self.stream, &all).expect("memory of the device");
        let start = GUARD + shift;
        self.buffers.push(Guarded { memory, start, end: start + bytes.len() });
        self.buffers.len() - 1
    }

    fn address(&self, buffer: usize) -> u64 {
        self.buffers[buffer].memory.address() + self.buffers[buffer].start as u64
    }

    fn read(&self, buffer: usize) -> Vec<u8> {
        let Guarded { memory, start, end } = &self.buffers[buffer];
        let all = memory.to_vec(&self.stream).expect("what the device holds");
        let mut guards = all[..*start].iter().chain(&all[*end..]);
        assert!(guards.all(|&byte| byte == UNTOUCHED), "bytes beside a buffer were written");
        all[*start..*end].to_vec()
    }

    fn processors(&self, _: &Call) -> usize {
        self.kernel.device().facts().multiprocessors as usize
    }

    fn launch(&mut self, subject: &Subject<'_>, _: &Call, blocks: u32, arguments: &[u8]) -> Result<(), LaunchError> {
        let (threads, shared) = (subject.manifest.threads as u32, subject.manifest.shared_bytes as u32);
        // SAFETY: the arguments are laid out as the kernel's manifest says, their addresses are those of buffers that are large
        // enough, and the stream is waited for.
        let launched = unsafe { self.kernel.launch(&self.stream, blocks, threads, shared, arguments) };
        launched.and_then(|()| self.stream.synchronize()).unwrap_or_else(|error| panic!("{}: {error}", subject.name()));
        Ok(())
    }
}
