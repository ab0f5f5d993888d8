//! Workspaces: memory by which the blocks of a kernel talk to each other, and one launch to the
//! next.
//!
//! A workspace starts with a [`Header`]; the states of tiles follow. Kernels leave it so that the
//! next launch can use it as it is, so two launches must never use one at the same time, and each
//! must find what a launch of the same kind left:
//!
//! - A workspace belongs to a stream, which orders its launches. Two streams never share one.
//! - It belongs to a key too, which stands for the layout of what kernels keep in it: read as
//!   another layout, a payload could imitate a tag.
//! - It is zeroed, in the stream, when it is new, when it has grown, and after a failure.
//! - What a graph captures gets memory of its own, which lives as long as the graph does.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytemuck::{Pod, Zeroable};
use rustc_hash::FxHashMap;

use super::capture::keep_with_graph;
use super::device::Device;
use super::driver::call;
use super::error::CudaError;
use super::memory::Block;
use super::slice::DeviceSlice;
use super::stream::Stream;

/// How many workspaces a device keeps for streams that may use them again.
const MOST_KEPT: usize = 256;

/// The header of a workspace.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct Header {
    /// The next tile that a block takes.
    pub ticket: u32,
    /// The launch, as tags of tile states name it.
    pub epoch: u32,
    /// The fault, 0 if there is none. It stays until the workspace is zeroed.
    pub error: u32,
    /// For more that is brought to the host with it: the totals of a launch, if they fit from byte 16 on.
    pub rest: [u32; 13],
}

/// A workspace that may be used by launches in its stream.
#[derive(Clone)]
pub struct Workspace {
    memory: Arc<Memory>,
    stream: Stream,
    captured: bool,
    /// How many failures there had been in the memory when it was leased.
    failures: u64,
}

/// The memory of a workspace, and what is in it once the stream has come to the end of what it was given.
pub(crate) struct Memory {
    block: Block,
    state: Mutex<State>,
}

struct State {
    /// Whether it must be zeroed before a kernel uses it.
    dirty: bool,
    /// How often it was leased since it was zeroed.
    leases: u64,
    /// How often it was quarantined.
    failures: u64,
}

impl Workspace {
    /// A workspace for launches in this stream: a header and `bytes` for tile states whose layout is `key`. It is ready when
    /// the stream has come to what it is given after this. Keep it until the launch that uses it was given to the stream.
    ///
    /// # Errors
    /// The device has too little memory, or the driver fails.
    pub fn lease(stream: &Stream, key: u64, bytes: usize) -> Result<Workspace, CudaError> {
        stream.device().clear_graves();
        if stream.is_capturing()? {
            Workspace::of_graph(stream, bytes)
        } else {
            Workspace::of_stream(stream, key, bytes)
        }
    }

    /// Another one in the stream of this one, or of the same graph, as [`lease`](Workspace::lease) gives it.
    ///
    /// # Errors
    /// The device has too little memory, or the driver fails.
    pub(crate) fn lease_beside(&self, key: u64, bytes: usize) -> Result<Workspace, CudaError> {
        if self.captured {
            Workspace::of_graph(&self.stream, bytes)
        } else {
            Workspace::of_stream(&self.stream, key, bytes)
        }
    }

    /// A workspace that stays with the stream, which is not being captured.
    fn of_stream(stream: &Stream, key: u64, bytes: usize) -> Result<Workspace, CudaError> {
        let bytes = bytes.saturating_add(size_of::<Header>());
        let memory = stream.device().pool().find(stream, key, bytes)?;
        // The lock is held until the zeros are given to the stream, so nobody finds the memory clean before.
        let mut state = memory.lock();
        if state.dirty {
            memory.give_zeros(stream)?;
            *state = State { dirty: false, leases: 0, ..*state };
        }
        state.leases += 1;
        let failures = state.failures;
        drop(state);
        Ok(Workspace { memory, stream: stream.clone(), captured: false, failures })
    }

    /// A workspace that the graph owns which the stream is being captured into. It is zeroed now and not by the graph, whose
    /// launches follow each other like those in a stream.
    fn of_graph(stream: &Stream, bytes: usize) -> Result<Workspace, CudaError> {
        let bytes = bytes.saturating_add(size_of::<Header>());
        let memory = Arc::new(Memory::new(stream.device(), bytes)?);
        memory.give_zeros(stream.device().aside()?)?;
        stream.device().aside()?.synchronize()?;
        *memory.lock() = State { dirty: false, leases: 1, failures: 0 };
        keep_with_graph(stream, memory.clone())?;
        Ok(Workspace { memory, stream: stream.clone(), captured: true, failures: 0 })
    }

    /// The device whose memory it is.
    pub fn device(&self) -> &Device {
        self.stream.device()
    }

    /// Where the header lies; aligned to 256 bytes.
    pub fn address(&self) -> u64 {
        self.memory.block.address()
    }

    /// Where the tile states start, right after the header.
    pub fn states(&self) -> u64 {
        self.address() + size_of::<Header>() as u64
    }

    /// The bytes that tile states may take, at least as many as were asked for.
    pub fn state_bytes(&self) -> usize {
        self.memory.block.bytes() - size_of::<Header>()
    }

    /// Whether it belongs to a graph.
    pub fn is_captured(&self) -> bool {
        self.captured
    }

    /// How often it was leased since it was last zeroed. Kernels count in 32 bits: zero it before they wrap.
    pub fn leases(&self) -> u64 {
        self.memory.lock().leases
    }

    /// Zeroes it in its stream; if that is being captured, every launch of the graph does.
    ///
    /// # Errors
    /// The driver fails.
    pub fn zero(&self) -> Result<(), CudaError> {
        let mut state = self.memory.lock();
        self.memory.give_zeros(&self.stream)?;
        *state = State { dirty: false, leases: 1, ..*state };
        Ok(())
    }

    /// Zeroes it before it is leased again. Launches that the stream was already given find it as it is.
    pub fn quarantine(&self) {
        self.memory.quarantine();
    }

    /// Whether it was quarantined since this lease: then it may have been zeroed, and its header no longer tells how the
    /// launch of this lease went.
    pub fn was_quarantined(&self) -> bool {
        self.memory.lock().failures != self.failures
    }

    /// The header as it is now, whatever the stream is doing: wait for the launch first.
    ///
    /// # Errors
    /// Something failed on the device.
    pub fn header(&self) -> Result<Header, CudaError> {
        let mut header = Header::default();
        let aside = self.stream.device().aside()?;
        self.memory.header().copy_to(aside, std::slice::from_mut(&mut header))?;
        Ok(header)
    }
}

impl fmt::Debug for Workspace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Workspace of {} bytes at {:#x} for {:?}", self.memory.block.bytes(), self.address(), self.stream)
    }
}

impl Memory {
    fn new(device: &Device, bytes: usize) -> Result<Memory, CudaError> {
        Ok(Memory {
            block: Block::new(device, bytes)?,
            state: Mutex::new(State { dirty: true, leases: 0, failures: 0 }),
        })
    }

    /// The header, in the device's memory.
    pub(crate) fn header(&self) -> DeviceSlice<'_, Header> {
        // SAFETY: every workspace has space for a header; the device writes it, but a copy of 64 bytes that it makes while
        // kernels run has some value of each word, and all values are headers.
        unsafe { DeviceSlice::from_raw(self.block.device(), self.block.address(), 1) }
    }

    pub(crate) fn quarantine(&self) {
        let mut state = self.lock();
        *state = State { dirty: true, failures: state.failures + 1, ..*state };
    }

    fn give_zeros(&self, stream: &Stream) -> Result<(), CudaError> {
        let driver = self.block.device().bind()?;
        // SAFETY: so many bytes are there, and they are freed after the device's work, or with the graph.
        unsafe { call!(driver, cuMemsetD8Async(self.block.address(), 0, self.block.bytes(), stream.raw())) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic while the lock was held left the state whole: it is written by single assignments.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The workspaces of a device, by stream and key.
#[derive(Default)]
pub(crate) struct Pool {
    entries: Mutex<Entries>,
}

#[derive(Default)]
struct Entries {
    by_use: FxHashMap<(u64, u64), Entry>,
    /// How often any was looked for: the time by which the longest unused is known.
    clock: u64,
}

struct Entry {
    memory: Arc<Memory>,
    used: u64,
}

impl Pool {
    /// The workspace of this stream and key, made or replaced by a larger one if need be.
    fn find(&self, stream: &Stream, key: u64, bytes: usize) -> Result<Arc<Memory>, CudaError> {
        let at = (stream.id()?, key);
        if let Some(memory) = self.lock().get(at, bytes) {
            return Ok(memory);
        }
        // Sizes grow by doubling, so that inputs that grow bit by bit do not allocate each time. Allocating and freeing wait
        // for the device and drop what graphs used, streams among it, so both are done without the lock.
        let bytes = bytes.checked_next_power_of_two().unwrap_or(bytes);
        let made = Arc::new(Memory::new(stream.device(), bytes)?);
        let mut entries = self.lock();
        if let Some(memory) = entries.get(at, bytes) {
            return Ok(memory);
        }
        let replaced = entries.insert(at, made.clone());
        let oldest = if entries.by_use.len() > MOST_KEPT { entries.take_oldest() } else { None };
        drop(entries);
        drop((replaced, oldest));
        Ok(made)
    }

    /// Frees what a stream used that is gone.
    pub(crate) fn forget(&self, stream: u64) {
        let dead: Vec<_> = self.lock().by_use.extract_if(|(of, _), _| *of == stream).collect();
        drop(dead);
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        // A panic while the lock was held left the map whole: every change to it is one call.
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    /// The workspace that is there, if it is large enough.
    fn get(&mut self, at: (u64, u64), bytes: usize) -> Option<Arc<Memory>> {
        self.clock += 1;
        let entry = self.by_use.get_mut(&at).filter(|entry| entry.memory.block.bytes() >= bytes)?;
        entry.used = self.clock;
        Some(entry.memory.clone())
    }

    fn insert(&mut self, at: (u64, u64), memory: Arc<Memory>) -> Option<Entry> {
        self.by_use.insert(at, Entry { memory, used: self.clock })
    }

    /// Removes the workspace that was not used for longest.
    fn take_oldest(&mut self) -> Option<Entry> {
        let (&at, _) = self.by_use.iter().min_by_key(|(_, entry)| entry.used)?;
        self.by_use.remove(&at)
    }
}
