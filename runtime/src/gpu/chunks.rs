//! Lines of a transducer of many states, by a thread for each chunk: `monoscan_codegen::gpu` says
//! how.
//!
//! Three kernels and a scan follow each other in the stream of the call. The scan is one like any
//! other, over the maps of chunks.

use std::sync::{Arc, OnceLock};

use monoscan_codegen::gpu::{CHUNK_STEP, ChunkTables, StateTable, Transducer};
use monoscan_codegen::nvptx::{ChunkKernel, ChunkPass, ChunkSymbols, ChunksArguments, HelperIr};
use monoscan_ir::{Layout, Mode, Type, text, verify};

use super::added::Added;
use super::compiled::shared;
use super::kernel::to_u32;
use super::on_gpu::OnGpu;
use super::pending::Pending;
use super::task::Task;
use super::variant::Maker;
use crate::backend::{Outcome, Settings};
use crate::call::{Call, Init, Shape};
use crate::checked::Elements;
use crate::column::{Column, ColumnMut};
use crate::cuda::{DeviceBuffer, Kernel, Module, Stream, keep_with_graph};
use crate::error::Error;
use crate::parameters::Parameters;

/// Symbols of a chunk: enough that few are read twice, and as few as make threads for the whole device.
const SHORTEST_CHUNK: usize = CHUNK_STEP;
const LONGEST_CHUNK: usize = 1024;

/// An address as aligned as those of columns in a workspace, for kernels that are made ahead.
const ALIGNED: u64 = 256;

/// A transducer on one GPU.
pub(super) struct Chunks {
    tables: ChunkTables,
    /// Whether it reads from the last record on.
    from_end: bool,
    /// Bytes of a record that is read.
    bytes: u32,
    /// The same with those that are written for it.
    record_bytes: usize,
    output: ChunkPass,
    maker: Maker,
    /// The scan that composes maps.
    composing: OnGpu,
    /// Made when a call first needs it.
    loaded: OnceLock<Arc<Loaded>>,
}

/// The content of the device's memory.
struct Loaded {
    /// Are freed first, which waits for the device's work: no launch outlives the code.
    next: DeviceBuffer<u8>,
    walk: DeviceBuffer<u8>,
    images: DeviceBuffer<u8>,
    members: DeviceBuffer<u8>,
    ranges: Pass,
    maps: Pass,
    outputs: Pass,
}

/// A kernel, and how many blocks of it the device runs at once.
struct Pass {
    kernel: Kernel,
    threads: u32,
    shared: u32,
    blocks: usize,
}

impl Pass {
    /// Threads that run at once.
    fn threads(&self) -> usize {
        self.blocks * self.threads as usize
    }
}

impl Chunks {
    /// For the program of this transducer, whose columns are of these; none if it has no tables.
    pub(super) fn new(
        transducer: &Transducer,
        (input, output): (&Layout, &Layout),
        maker: Maker,
        limit: std::time::Duration,
    ) -> Result<Option<Chunks>, Error> {
        let Some(tables) = ChunkTables::of(transducer) else { return Ok(None) };
        let (from_end, bytes) = (transducer.class_of.is_some(), input.size);
        let record_bytes = (input.size + output.size) as usize;
        let output = if output.size == 1 { ChunkPass::ToBytes } else { ChunkPass::ToWords };
        let source = composing(tables.most_states);
        let program = verify(text::parse(&source).expect("the text of a program")).expect("a valid one");
        let composing = shared(program.into(), Maker { plan: None, ..maker.clone() })?.on_gpu(limit);
        Ok(Some(Chunks { tables, from_end, bytes, record_bytes, output, maker, composing, loaded: OnceLock::new() }))
    }

    /// Whether it does a task: a call that it [takes](Chunks::takes), of records one after the other, to other ones.
    pub(super) fn does(&self, task: &Task<'_>) -> bool {
        let is_plain = !task.reduces && !task.settings.checked && task.spaced.is_empty();
        is_plain && task.len > 0 && task.inputs[0] != task.outputs[0] && self.takes(task.call)
    }

    /// Whether it takes a call: an inclusive scan of a line from its first record, for its outputs alone.
    pub(super) fn takes(&self, call: &Call<'_>) -> bool {
        let Call { mode, reversed, init, carry, shape, totals, .. } = *call;
        let is_plain = mode == Mode::Inclusive && init == Init::Identity && carry.is_none() && !totals;
        let is_line = matches!(shape, Shape::Line) && reversed == self.from_end;
        is_plain && is_line
    }

    /// Whether the device has space for so many records of the host now: their columns, and what is kept of chunks.
    pub(super) fn has_space(&self, len: usize) -> bool {
        let chunks = self.kept_bytes(len.div_ceil(SHORTEST_CHUNK)).checked_next_power_of_two();
        let columns = len.saturating_mul(self.record_bytes);
        let bytes = chunks.and_then(|chunks| chunks.checked_add(columns));
        // If the driver does not say, the call will.
        let free = self.maker.device.memory().map_or(usize::MAX, |(free, _)| free);
        bytes.is_some_and(|bytes| bytes <= free)
    }

    /// Bytes that are kept of chunks: a list of them, and of each its range, its map, and where it begins.
    fn kept_bytes(&self, chunks: usize) -> usize {
        chunks.saturating_mul(3 * self.tables.most_states + 1).saturating_add(list_bytes(chunks))
    }

    /// Gives a task that it does to a stream.
    pub(super) fn submit(
        self: &Arc<Chunks>,
        task: &Task<'_>,
        components: usize,
        stream: &Stream,
    ) -> Result<Pending, Error> {
        let loaded = self.loaded()?;
        keep_with_graph(stream, loaded.clone() as _)?;
        // Threads all have the same number of chunks, or one more.
        let threads = loaded.outputs.threads();
        let rounds = task.len.div_ceil(threads * LONGEST_CHUNK);
        let chunk = task.len.div_ceil(threads * rounds).next_multiple_of(CHUNK_STEP);
        let chunks = task.len.div_ceil(chunk);
        // Nothing but the driver can fail once something was launched, and nobody waits for the compiler.
        self.compose(chunks, (ALIGNED, ALIGNED), |scan, task| scan.source.find(&task).map(drop))?;
        // Held until all are in the stream.
        let mut added = Added::default();
        let ChunkTables { symbols, most_states, depth, next, walk, .. } = &self.tables;
        let list = added.lease_chunks(stream, self.kept_bytes(chunks))?;
        let ranges = list + list_bytes(chunks) as u64;
        let maps = ranges + (2 * most_states * chunks) as u64;
        let begins = maps + (most_states * chunks) as u64;
        let by = |table: &StateTable, at: &DeviceBuffer<u8>| ChunksArguments {
            records: task.len as u64,
            chunk: chunk as u64,
            input: task.inputs[0],
            table: at.address(),
            table_bytes: table.bytes.len() as u64,
            row: table.row as u64,
            images: loaded.images.address(),
            members: loaded.members.address(),
            symbols: *symbols as u64,
            depth: *depth as u64,
            ranges,
            maps,
            begins,
            output: task.outputs[0],
            list,
        };
        let launch = |pass: &Pass, arguments: ChunksArguments| {
            let blocks = to_u32("the grid", chunks.div_ceil(pass.threads as usize).min(pass.blocks))?;
            // SAFETY: columns were checked against the program, and are not the same; the workspace has space for all chunks, tables
            // are those of the kernel, and what is not the caller's is kept with this scan or with the graph. Symbols, states
            // and numbers of ranges are bounded where a kernel reads what another one wrote, whatever failed.
            unsafe { pass.kernel.launch(stream, blocks, pass.threads, pass.shared, bytemuck::bytes_of(&arguments)) }
        };
        let all = || {
            launch(&loaded.ranges, by(next, &loaded.next))?;
            launch(&loaded.maps, by(next, &loaded.next))?;
            let pending = self.compose(chunks, (maps, begins), |scan, task| task.submit(scan, stream))?;
            launch(&loaded.outputs, by(walk, &loaded.walk))?;
            Ok::<_, Error>(pending)
        };
        // The last pass has not emptied the list then.
        let mut pending = all().inspect_err(|_| added.quarantine())?;
        if let Some((launched, _)) = &mut pending.launched {
            launched.then(stream)?;
        }
        let outcome = Outcome { written: task.len, totals: Vec::new() };
        let elements = Elements::Line { len: task.len, reversed: task.call.reversed };
        Ok(Pending { outcome, components, elements, wants_totals: false, ..pending })
    }

    /// Does something with the task that composes so many maps at one address to numbers at the other.
    fn compose<R>(
        &self,
        chunks: usize,
        (maps, begins): (u64, u64),
        act: impl FnOnce(&OnGpu, Task<'_>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let device = self.maker.device.into();
        let map = vec![Type::bytes(VECTOR).expect("a vector's lanes"); self.tables.most_states / VECTOR];
        let layouts = [Layout::packed(&map), Layout::of(Type::U8)];
        // SAFETY: where they are submitted, they are in the workspace, which nothing but this stream uses.
        let (maps, begins) = unsafe {
            (
                Column::on_device_raw(device, maps, chunks, &layouts[0]),
                ColumnMut::on_device_raw(device, begins, chunks, &layouts[1]),
            )
        };
        let settings = Settings { parameters: &Parameters::default(), checked: false };
        let call = Call { mode: Mode::Exclusive, ..Call::default() };
        let program = (&**self.composing.program, device);
        act(&self.composing, Task::new(program, (&call, settings), &[maps], &[begins])?)
    }

    fn loaded(&self) -> Result<Arc<Loaded>, Error> {
        if let Some(loaded) = self.loaded.get() {
            return Ok(loaded.clone());
        }
        let Maker { device, arch, cache, .. } = &self.maker;
        let ChunkTables { most_states, images, members, next, walk, .. } = &self.tables;
        let pass = |pass: ChunkPass, table: &StateTable| {
            let symbols = match (self.from_end, self.bytes) {
                (true, _) => ChunkSymbols::ClassesFromEnd,
                (false, 1) => ChunkSymbols::Bytes,
                (false, _) => ChunkSymbols::Words,
            };
            let kernel = ChunkKernel::planned(pass, symbols, *most_states, (table, *arch));
            let threads = to_u32("the block", kernel.threads)?;
            let shared = to_u32("the shared memory", kernel.shared_bytes(table.bytes.len()))?;
            let ir = HelperIr::over_chunks(kernel, *arch);
            let (module, _) = Module::made(device, &ir.key(), cache.as_ref(), || ir.compile().map_err(Error::from))?;
            let kernel = module.kernel("scan")?;
            kernel.allow_shared(shared)?;
            let each = kernel.blocks_per_multiprocessor(threads, shared)?.max(1);
            let blocks = each as usize * device.facts().multiprocessors as usize;
            Ok::<_, Error>(Pass { kernel, threads, shared, blocks })
        };
        let stream = device.aside()?;
        let upload = |bytes: &[u8]| DeviceBuffer::from_slice(stream, bytes);
        let loaded = Loaded {
            next: upload(&next.bytes)?,
            walk: upload(&walk.bytes)?,
            images: upload(bytemuck::cast_slice(images))?,
            members: upload(bytemuck::cast_slice(members))?,
            ranges: pass(ChunkPass::Ranges, next)?,
            maps: pass(ChunkPass::Maps, next)?,
            outputs: pass(self.output, walk)?,
        };
        stream.synchronize()?;
        Ok(self.loaded.get_or_init(|| Arc::new(loaded)).clone())
    }

    /// The kernels that run.
    pub(super) fn explain(&self) -> String {
        let ChunkTables { most_states, depth, next, walk, .. } = &self.tables;
        format!(
            "a whole line: a thread for each chunk of {SHORTEST_CHUNK} to {LONGEST_CHUNK} symbols, tables of {} and {} bytes, at most {most_states} states behind {} symbols\n",
            next.bytes.len(),
            walk.bytes.len(),
            depth + 1
        )
    }
}

/// Bytes of a list of so many chunks, a multiple of 16.
fn list_bytes(chunks: usize) -> usize {
    ChunksArguments::LISTED.saturating_add(chunks.saturating_mul(4)).saturating_add(15) & !15
}

/// Lanes of a vector of a map.
const VECTOR: usize = 16;

/// The program that composes maps of so many numbers; the output is where those before lead the first one.
fn composing(states: usize) -> String {
    if states == VECTOR { ONE_VECTOR.to_owned() } else { TWO_VECTORS.to_owned() }
}

const ONE_VECTOR: &str = "
program chunks
  input { size 16, align 1, u8x16 @ 0 }
  stage (u8x16)
    identity ([0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15])
    lift (%0 = record.0: u8x16) { return %0 }
    combine (%0: u8x16, %1: u8x16) {
      %2 = permute.u8x16 %1, %0
      return %2
    }
  output write
    column { size 1, align 1, u8 @ 0 }
    project (%0 = state.0: u8x16) {
      %1 = lane.u8 %0, #0
      return %1
    }
";

/// A permutation gives 0 where its index is no lane: so that of each half is asked for, with an index in it or behind it.
const TWO_VECTORS: &str = "
program chunks
  input { size 32, align 1, u8x16 @ 0, u8x16 @ 16 }
  stage (u8x16, u8x16)
    identity ([0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15], [16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31])
    lift (%0 = record.0: u8x16, %1 = record.1: u8x16) { return %0, %1 }
    combine (%0: u8x16, %1: u8x16, %2: u8x16, %3: u8x16) {
      %4 = const.u8x16 [16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16]
      %5 = permute.u8x16 %2, %0
      %6 = sub.u8x16 %0, %4
      %7 = permute.u8x16 %3, %6
      %8 = or.u8x16 %5, %7
      %9 = permute.u8x16 %2, %1
      %10 = sub.u8x16 %1, %4
      %11 = permute.u8x16 %3, %10
      %12 = or.u8x16 %9, %11
      return %8, %12
    }
  output write
    column { size 1, align 1, u8 @ 0 }
    project (%0 = state.0: u8x16) {
      %1 = lane.u8 %0, #0
      return %1
    }
";

#[cfg(test)]
mod tests {
    use super::*;
    use monoscan_ir::interp::{self, Request};

    #[test]
    fn maps_of_chunks_are_composed() {
        for states in monoscan_codegen::gpu::RANGES {
            let map =
                |chunk: usize| (0..states).map(move |state| ((7 * state + 5 * chunk + state * state) % states) as u8);
            let maps: Vec<u8> = (0..50).flat_map(map).collect();
            let program = verify(text::parse(&composing(states)).unwrap()).unwrap();
            let request = Request { mode: Mode::Exclusive, ..Request::default() };
            let found = interp::run(&program, &[&maps], &request).unwrap().outputs.remove(0);
            let mut begins = 0;
            for (chunk, &found) in found.iter().enumerate() {
                assert_eq!(found, begins, "{states} states, chunk {chunk}");
                begins = maps[chunk * states + usize::from(begins)];
            }
        }
    }
}
