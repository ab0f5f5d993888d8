//! The device's memory: one piece that scans read, one that they write, and the way back to the
//! host.

use monoscan_runtime::cuda::{
    CudaError, Device, DeviceBuffer, DeviceRead, DeviceSlice, DeviceSliceMut, PinnedBuffer, Stream,
};

use crate::line::Written;

/// The most bytes that rows read, and that they read and write.
pub(crate) const MOST_READ: u64 = 4 << 30;
pub(crate) const MOST_MOVED: u64 = 12 << 30;

/// Each piece, if the device has the memory for it, and bytes behind it that nobody should write.
const PIECE: usize = 8 << 30;
const GUARD: usize = 256;

/// The byte that outputs hold before a scan writes them.
const POISON: u8 = 0xa5;

/// Bytes of an output that are compared at once: a period of the widest records.
const LANDING: usize = 64 << 20;

pub(crate) struct Arena {
    pub(crate) stream: Stream,
    input: DeviceBuffer<u8>,
    output: DeviceBuffer<u8>,
    landing: PinnedBuffer<u8>,
}

impl Arena {
    pub(crate) fn new(device: &Device) -> Result<Arena, CudaError> {
        let (free, _) = device.memory()?;
        let piece = PIECE.min(free / 5 * 2) + 2 * GUARD;
        Ok(Arena {
            stream: Stream::new(device)?,
            input: DeviceBuffer::uninitialized(device, piece)?,
            output: DeviceBuffer::uninitialized(device, piece)?,
            landing: PinnedBuffer::new(device, LANDING)?,
        })
    }

    /// The bytes that either piece has capacity for.
    pub(crate) fn capacity(&self) -> u64 {
        (self.input.len() - 2 * GUARD) as u64
    }

    /// Writes these bytes again and again to the input, from a place on.
    pub(crate) fn fill(&mut self, at: usize, period: &[u8], bytes: usize) -> Result<(), CudaError> {
        let mut all = self.input.slice_mut(at..at + bytes)?;
        let first = period.len().min(bytes);
        all.reborrow().slice(..first)?.copy_from(&self.stream, &period[..first])?;
        repeat(&self.stream, all, first)
    }

    /// Spoils so many bytes of the output and the guard behind them.
    pub(crate) fn poison(&mut self, bytes: usize) -> Result<(), CudaError> {
        let bytes = bytes + GUARD;
        let first = bytes.min(1 << 20);
        let mut all = self.output.slice_mut(..bytes)?;
        all.reborrow().slice(..first)?.copy_from(&self.stream, &vec![POISON; first])?;
        repeat(&self.stream, all, first)
    }

    /// The memory that scans read at a place, the memory they write, and the stream.
    pub(crate) fn parts(
        &mut self,
        inputs: &[(usize, usize)],
        (at, bytes): (usize, usize),
    ) -> Result<Parts<'_>, CudaError> {
        let inputs = inputs.iter().map(|&(at, bytes)| self.input.slice(at..at + bytes)).collect::<Result<_, _>>()?;
        Ok(Parts { inputs, output: self.output.slice_mut(at..at + bytes)?, stream: &self.stream })
    }

    /// Copies so many bytes from the one piece to the other.
    pub(crate) fn copy(&mut self, bytes: usize) -> Result<(), CudaError> {
        self.output.slice_mut(..bytes)?.copy_from_device(&self.stream, &self.input.slice(..bytes)?)
    }

    /// The bytes of the output.
    pub(crate) fn output(&mut self, at: usize) -> Output<'_> {
        Output { memory: &self.output, landing: &mut self.landing, stream: &self.stream, at }
    }
}

/// The needs of a call in the arena.
pub(crate) struct Parts<'a> {
    pub(crate) inputs: Vec<DeviceSlice<'a, u8>>,
    pub(crate) output: DeviceSliceMut<'a, u8>,
    pub(crate) stream: &'a Stream,
}

/// The output of a scan, at most [`LANDING`] bytes of it at once.
pub(crate) struct Output<'a> {
    memory: &'a DeviceBuffer<u8>,
    landing: &'a mut PinnedBuffer<u8>,
    stream: &'a Stream,
    at: usize,
}

impl Written for Output<'_> {
    fn read(&mut self, first: usize, bytes: usize) -> Result<&[u8], String> {
        let from = self.at + first;
        let landing = &mut self.landing[..bytes];
        let copied = self.memory.slice(from..from + bytes).and_then(|slice| slice.copy_to(self.stream, landing));
        copied.map_err(|error| error.to_string())?;
        Ok(landing)
    }
}

impl Output<'_> {
    /// Whether nothing was written from a place on, where [`Arena::poison`] left its guard.
    pub(crate) fn check_guard(&mut self, bytes: usize) -> Result<(), String> {
        let guard = GUARD - self.at;
        match self.read(bytes, guard)?.iter().position(|&byte| byte != POISON) {
            Some(place) => Err(format!("byte {place} behind the output was written")),
            None => Ok(()),
        }
    }
}

/// Fills memory with copies of what its first bytes are.
fn repeat(stream: &Stream, mut all: DeviceSliceMut<'_, u8>, mut filled: usize) -> Result<(), CudaError> {
    let bytes = all.len();
    while filled < bytes {
        let more = filled.min(bytes - filled);
        let (from, to) = all.reborrow().split_at(filled)?;
        to.slice(..more)?.copy_from_device(stream, &from.slice(..more)?)?;
        filled += more;
    }
    stream.synchronize()
}

/// Whatever went wrong: in a scan, a rung of the ladder or the driver.
pub(crate) type Failure = Box<dyn std::error::Error>;

/// An error in one line.
pub(crate) fn words(error: impl std::fmt::Display) -> String {
    error.to_string().replace('\n', " ")
}
