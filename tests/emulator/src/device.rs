//! Device memory: buffers that kernels reach by address.
//!
//! Memory that one block writes in a launch, ordinarily or by bulk copies, no other block may read
//! or write in the same launch: no intrinsic orders such accesses. Words that are written for
//! others (`store_word` and its kin) are free to be read by their loads.

use crate::error::Misuse;
use crate::region::Region;

/// The memory of an emulated GPU.
#[derive(Default)]
pub struct Device {
    buffers: Vec<Owned>,
    recent: usize,
}

struct Owned {
    memory: Region,
    /// For each byte, one more than the number of the block that wrote it in this launch, or 0; with bits of how.
    writers: Vec<u32>,
    /// Whether it is a constant of the kernel.
    constant: bool,
}

/// The bit of what was written as a word for others.
const FOR_OTHERS: u32 = 1 << 31;

/// The bit of what several blocks wrote so.
const SEVERAL: u32 = 1 << 30;
/// All bits beside the block.
const BITS: u32 = FOR_OTHERS | SEVERAL;

/// How an access takes part in what blocks tell each other.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Ordinary, or a bulk copy.
    Ordinary,
    /// An intrinsic that reads or writes what other blocks write meanwhile.
    ForOthers,
}

/// A buffer of a [`Device`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Buffer(usize);

/// A range of a buffer.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    buffer: usize,
    offset: usize,
    bytes: usize,
}

impl Device {
    /// No memory yet.
    pub fn new() -> Device {
        Device::default()
    }

    /// A buffer with these bytes, at a multiple of 256.
    pub fn buffer(&mut self, bytes: &[u8]) -> Buffer {
        self.buffer_shifted(bytes, 0)
    }

    /// A buffer with these bytes, at `shift` (below 256) beyond a multiple of 256.
    pub fn buffer_shifted(&mut self, bytes: &[u8], shift: usize) -> Buffer {
        let mut memory = Region::new(bytes.len(), shift);
        memory.write(0, bytes);
        self.buffers.push(Owned { memory, writers: vec![0; bytes.len()], constant: false });
        Buffer(self.buffers.len() - 1)
    }

    /// The address of the buffer's first byte, for a kernel.
    pub fn address(&self, buffer: Buffer) -> u64 {
        self.buffers[buffer.0].memory.address() as u64
    }

    /// The buffer's bytes.
    pub fn read(&self, buffer: Buffer) -> Vec<u8> {
        let memory = &self.buffers[buffer.0].memory;
        let mut bytes = vec![0; memory.len()];
        memory.read(0, &mut bytes);
        bytes
    }

    /// Overwrites the buffer's first bytes.
    pub fn write(&mut self, buffer: Buffer, bytes: &[u8]) {
        self.buffers[buffer.0].memory.write(0, bytes);
    }

    /// A launch begins: nothing of it is written yet. Constants of its kernel are buffers until it ends.
    pub(crate) fn begin(&mut self, constants: impl Iterator<Item = Region>) {
        self.buffers.iter_mut().for_each(|buffer| buffer.writers.fill(0));
        self.buffers.extend(constants.map(|memory| Owned { writers: vec![0; memory.len()], memory, constant: true }));
    }

    /// A launch ends.
    pub(crate) fn end(&mut self) {
        self.buffers.retain(|buffer| !buffer.constant);
    }

    /// The range that begins at an address.
    pub(crate) fn place(&mut self, address: u64, bytes: usize) -> Result<Place, Misuse> {
        let found = |buffer: usize, owned: &Owned| {
            let offset = owned.memory.offset(address as usize, bytes)?;
            Some(Place { buffer, offset, bytes })
        };
        if let Some(place) = self.buffers.get(self.recent).and_then(|owned| found(self.recent, owned)) {
            return Ok(place);
        }
        match self.buffers.iter().enumerate().find_map(|(buffer, owned)| found(buffer, owned)) {
            Some(place) => {
                self.recent = place.buffer;
                Ok(place)
            }
            None => Err(Misuse::Outside { bytes, place: self.describe(address), memory: "the buffers" }),
        }
    }

    /// An address, told by the buffer that it is nearest to.
    fn describe(&self, address: u64) -> String {
        let address = address as i128;
        let nearest = self.buffers.iter().enumerate().min_by_key(|(_, owned)| {
            let start = owned.memory.address() as i128;
            (start - address).max(address - (start + owned.memory.len() as i128)).max(0)
        });
        match nearest {
            Some((buffer, owned)) => {
                let offset = address - owned.memory.address() as i128;
                format!("byte {offset} of buffer {buffer}, which has {} bytes,", owned.memory.len())
            }
            None => format!("{address:#x}"),
        }
    }

    /// Refuses a place of which another block has written a part, unless both sides mean it for others.
    pub(crate) fn check(&self, place: Place, block: u32, access: Access) -> Result<(), Misuse> {
        let writers = &self.buffers[place.buffer].writers[place.range()];
        let bad = |writer: u32| match access {
            Access::Ordinary => writer != 0 && (writer & SEVERAL != 0 || writer & !BITS != block + 1),
            Access::ForOthers => writer != 0 && writer & FOR_OTHERS == 0 && writer != block + 1,
        };
        match writers.iter().position(|&writer| bad(writer)) {
            None => Ok(()),
            Some(at) => {
                let other = (writers[at] & !BITS) - 1;
                Err(Misuse::OtherBlock { other, buffer: place.buffer, byte: place.offset + at })
            }
        }
    }

    /// A block is about to write a place.
    pub(crate) fn claim(&mut self, place: Place, block: u32, access: Access) -> Result<(), Misuse> {
        if self.buffers[place.buffer].constant {
            return Err(Misuse::WritesConstant);
        }
        self.check(place, block, access)?;
        let writers = &mut self.buffers[place.buffer].writers[place.range()];
        match access {
            Access::Ordinary => writers.fill(block + 1),
            // Other threads that write so may have written before.
            Access::ForOthers => writers.iter_mut().for_each(|writer| {
                let several = *writer != 0 && *writer & !BITS != block + 1;
                *writer = (*writer & SEVERAL) | if several { SEVERAL } else { 0 } | FOR_OTHERS | (block + 1);
            }),
        }
        Ok(())
    }

    pub(crate) fn load(&self, place: Place, to: &mut [u8]) {
        self.buffers[place.buffer].memory.read(place.offset, to);
    }

    pub(crate) fn store(&mut self, place: Place, from: &[u8]) {
        self.buffers[place.buffer].memory.write(place.offset, from);
    }
}

impl Place {
    fn range(self) -> std::ops::Range<usize> {
        self.offset..self.offset + self.bytes
    }

    /// A part of it.
    pub(crate) fn part(self, offset: usize, bytes: usize) -> Place {
        assert!(offset + bytes <= self.bytes);
        Place { offset: self.offset + offset, bytes, ..self }
    }

    /// Whether they have bytes in common.
    pub(crate) fn overlaps(self, other: Place) -> bool {
        self.buffer == other.buffer
            && self.offset < other.offset + other.bytes
            && other.offset < self.offset + self.bytes
    }

    pub(crate) fn offset(self) -> usize {
        self.offset
    }

    pub(crate) fn bytes(self) -> usize {
        self.bytes
    }
}
