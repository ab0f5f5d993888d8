//! The shared memory of a block, and which thread touched what of it.
//!
//! Each byte remembers its last writer and two readers since. An access that is not
//! ordered after those it conflicts with is an error, whatever the schedule was; reads that were
//! forgotten for others are what other seeds are for.

use fastrand::Rng;

use crate::error::Misuse;
use crate::order::{Order, Stamp};
use crate::region::Region;

/// Shared memory.
pub(crate) struct Shared {
    memory: Region,
    writers: Vec<Stamp>,
    readers: Vec<[Stamp; 2]>,
}

impl Shared {
    pub(crate) fn new(bytes: usize) -> Shared {
        Shared {
            memory: Region::new(bytes, 0),
            writers: vec![Stamp::default(); bytes],
            readers: vec![Default::default(); bytes],
        }
    }

    /// A new block gets it: with anything in it, and touched by nobody.
    pub(crate) fn begin(&mut self, random: &mut Rng) {
        self.poison(0, self.memory.len(), random);
        self.writers.fill(Stamp::default());
        self.readers.fill(Default::default());
    }

    pub(crate) fn address(&self) -> usize {
        self.memory.address()
    }

    /// How far inside an access is.
    pub(crate) fn offset(&self, address: usize, bytes: usize) -> Result<usize, Misuse> {
        self.memory.offset(address, bytes).ok_or_else(|| {
            let place = format!("byte {}", address as i128 - self.memory.address() as i128);
            Misuse::Outside { bytes, place, memory: "shared memory" }
        })
    }

    /// A thread reads, ordinarily.
    pub(crate) fn read(
        &mut self,
        thread: usize,
        offset: usize,
        bytes: usize,
        order: &Order,
        random: &mut Rng,
    ) -> Result<(), Misuse> {
        self.written_before(thread, offset, bytes, order)?;
        let stamp = order.stamp(thread);
        for readers in &mut self.readers[offset..offset + bytes] {
            remember(readers, stamp, random, |old| order.after(thread, old));
        }
        Ok(())
    }

    /// A thread writes, ordinarily.
    pub(crate) fn write(&mut self, thread: usize, offset: usize, bytes: usize, order: &Order) -> Result<(), Misuse> {
        self.written_before(thread, offset, bytes, order)?;
        self.read_before(thread, offset, bytes, order)?;
        self.take(offset, bytes, order.stamp(thread));
        Ok(())
    }

    /// A thread starts a bulk copy that will write: into bytes that nobody uses any more, and that stay anything until it lands.
    pub(crate) fn copy_in(
        &mut self,
        thread: usize,
        (offset, bytes): (usize, usize),
        stamp: Stamp,
        order: &Order,
        random: &mut Rng,
    ) -> Result<(), Misuse> {
        self.written_before(thread, offset, bytes, order)?;
        self.read_before(thread, offset, bytes, order)?;
        self.fenced(offset, bytes, order)?;
        self.take(offset, bytes, stamp);
        self.poison(offset, bytes, random);
        Ok(())
    }

    /// A thread starts a bulk copy that will read: what was written before, and fenced.
    pub(crate) fn copy_out(
        &mut self,
        thread: usize,
        (offset, bytes): (usize, usize),
        stamp: Stamp,
        order: &Order,
        random: &mut Rng,
    ) -> Result<(), Misuse> {
        self.written_before(thread, offset, bytes, order)?;
        self.fenced(offset, bytes, order)?;
        for readers in &mut self.readers[offset..offset + bytes] {
            remember(readers, stamp, random, |old| order.after(thread, old));
        }
        Ok(())
    }

    /// Bytes become a barrier's.
    pub(crate) fn make_barrier(&mut self, thread: usize, offset: usize, order: &Order) -> Result<(), Misuse> {
        self.write(thread, offset, 8, order)?;
        self.take(offset, 8, Stamp::BARRIER);
        Ok(())
    }

    /// A piece of a bulk copy lands.
    pub(crate) fn land(&mut self, offset: usize, bytes: &[u8]) {
        self.memory.write(offset, bytes);
    }

    /// A bulk copy reads a piece.
    pub(crate) fn fetch(&self, offset: usize, to: &mut [u8]) {
        self.memory.read(offset, to);
    }

    fn poison(&mut self, offset: usize, bytes: usize, random: &mut Rng) {
        let mut poison = vec![0; bytes];
        random.fill(&mut poison);
        self.memory.write(offset, &poison);
    }

    fn take(&mut self, offset: usize, bytes: usize, stamp: Stamp) {
        self.writers[offset..offset + bytes].fill(stamp);
        self.readers[offset..offset + bytes].fill(Default::default());
    }

    fn written_before(&self, thread: usize, offset: usize, bytes: usize, order: &Order) -> Result<(), Misuse> {
        let mut good = Stamp::default();
        for (at, &writer) in self.writers[offset..offset + bytes].iter().enumerate() {
            if writer != good {
                if writer == Stamp::BARRIER {
                    return Err(Misuse::TouchesBarrier(offset + at));
                }
                if !order.after(thread, writer) {
                    return Err(race(order, writer, "wrote", offset + at));
                }
                good = writer;
            }
        }
        Ok(())
    }

    fn read_before(&self, thread: usize, offset: usize, bytes: usize, order: &Order) -> Result<(), Misuse> {
        let mut good = [Stamp::default(); 2];
        for (at, &readers) in self.readers[offset..offset + bytes].iter().enumerate() {
            if readers != good {
                if let Some(&reader) = readers.iter().find(|&&reader| !order.after(thread, reader)) {
                    return Err(race(order, reader, "read", offset + at));
                }
                good = readers;
            }
        }
        Ok(())
    }

    fn fenced(&self, offset: usize, bytes: usize, order: &Order) -> Result<(), Misuse> {
        let mut good = Stamp::default();
        for (at, &writer) in self.writers[offset..offset + bytes].iter().enumerate() {
            if writer != good {
                if let Some(writer) = order.unfenced(writer) {
                    return Err(Misuse::Unfenced { writer, byte: offset + at });
                }
                good = writer;
            }
        }
        Ok(())
    }
}

/// Keeps a reader: in place of one that it is ordered after, or else of any.
fn remember(readers: &mut [Stamp; 2], stamp: Stamp, random: &mut Rng, after: impl Fn(Stamp) -> bool) {
    let place = match readers.iter().position(|&old| old == stamp || after(old)) {
        Some(place) => place,
        None => random.usize(..readers.len()),
    };
    readers[place] = stamp;
}

fn race(order: &Order, stamp: Stamp, access: &'static str, byte: usize) -> Misuse {
    let other = order.describe(stamp);
    Misuse::Race { other, access, byte }
}
