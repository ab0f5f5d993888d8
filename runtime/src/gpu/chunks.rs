//! Lines of a transducer of many states, by a thread for each chunk: `monoscan_codegen::gpu` says
//! how.
//!
//! Three kernels and a scan follow each other in the stream of the call. The scan is one like any
//! other, over the maps of chunks.

use std::sync::{Arc, OnceLock};

use monoscan_codegen::gpu::{ChunkTables, StateTable, Transducer};
use monoscan_codegen::nvptx::{CHUNK_THREADS, ChunkKernel, ChunkPass, ChunkSymbols, ChunksArguments, HelperIr};
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

/// Symbols of a chunk: a multiple of 32, enough that few are read twice, and as few as make threads for the whole device.
const SHORTEST_CHUNK: usize = 64;
const LONGEST_CHUNK: usize = 512;

/// A transducer on one GPU.
pub(super) struct Chunks {
    tables: ChunkTables,
    /// Whether it reads from the last record on.
    from_end: bool,
    /// Bytes of a record.
    bytes: u32,
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
    shared: u32,
    blocks: usize,
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
        let output = if output.size == 1 { ChunkPass::ToBytes } else { ChunkPass::ToWords };
        let source = composing(tables.lanes);
        let program = verify(text::parse(&source).expect("the text of a program")).expect("a valid one");
        let composing = shared(program.into(), Maker { plan: None, ..maker.clone() })?.on_gpu(limit);
        Ok(Some(Chunks { tables, from_end, bytes, output, maker, composing, loaded: OnceLock::new() }))
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
        let threads = loaded.maps.blocks * CHUNK_THREADS;
        let rounds = task.len.div_ceil(threads * LONGEST_CHUNK);
        let chunk = task.len.div_ceil(threads * rounds).next_multiple_of(32).max(SHORTEST_CHUNK);
        let chunks = task.len.div_ceil(chunk);
        // Held until all are in the stream.
        let mut added = Added::default();
        let ChunkTables { symbols, lanes, depth, next, walk, .. } = &self.tables;
        let ranges = added.lease_copy(stream, 0, (3 * lanes + 1) * chunks)?;
        let maps = ranges + (2 * lanes * chunks) as u64;
        let begins = maps + (lanes * chunks) as u64;
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
            lanes: *lanes as u64,
            depth: *depth as u64,
            ranges,
            maps,
            begins,
            output: task.outputs[0],
        };
        let launch = |pass: &Pass, arguments: ChunksArguments| {
            let blocks = to_u32("the grid", chunks.div_ceil(CHUNK_THREADS).min(pass.blocks))?;
            // SAFETY: columns were checked against the program, the workspace has space for all chunks, tables are those of the
            // kernel, and what is not the caller's is kept with this scan or with the graph.
            unsafe {
                pass.kernel.launch(stream, blocks, CHUNK_THREADS as u32, pass.shared, bytemuck::bytes_of(&arguments))
            }
        };
        launch(&loaded.ranges, by(next, &loaded.next))?;
        launch(&loaded.maps, by(next, &loaded.next))?;
        let device = self.maker.device.into();
        let map = vec![Type::bytes(VECTOR).expect("a vector's lanes"); lanes / VECTOR];
        let layouts = [Layout::packed(&map), Layout::of(Type::U8)];
        // SAFETY: they are in the workspace, which nothing but this stream uses.
        let (maps, begins) = unsafe {
            (
                Column::on_device_raw(device, maps, chunks, &layouts[0]),
                ColumnMut::on_device_raw(device, begins, chunks, &layouts[1]),
            )
        };
        let settings = Settings { parameters: &Parameters::default(), checked: false };
        let call = Call { mode: Mode::Exclusive, ..Call::default() };
        let mut pending = self.composing.submit_call((&call, settings), &[maps], &[begins], stream)?;
        launch(&loaded.outputs, by(walk, &loaded.walk))?;
        if let Some((launched, _)) = &mut pending.launched {
            launched.then(stream)?;
        }
        let outcome = Outcome { written: task.len, totals: Vec::new() };
        let elements = Elements::Line { len: task.len, reversed: task.call.reversed };
        Ok(Pending { outcome, components, elements, wants_totals: false, ..pending })
    }

    fn loaded(&self) -> Result<Arc<Loaded>, Error> {
        if let Some(loaded) = self.loaded.get() {
            return Ok(loaded.clone());
        }
        let Maker { device, arch, cache, .. } = &self.maker;
        let ChunkTables { images, members, next, walk, .. } = &self.tables;
        let pass = |pass: ChunkPass, table: &StateTable| {
            let is_shared = table.bytes.len() <= arch.shared_bytes();
            let symbols = match (self.from_end, table.by_byte, self.bytes) {
                (true, true, _) => ChunkSymbols::BytesFromEnd,
                (true, false, _) => ChunkSymbols::ClassesFromEnd,
                (false, _, 1) => ChunkSymbols::Bytes,
                (false, ..) => ChunkSymbols::Words,
            };
            let kernel = ChunkKernel { pass, symbols, wide: table.wide, shared: is_shared };
            let ir = HelperIr::over_chunks(kernel, *arch);
            let (module, _) = Module::made(device, &ir.key(), cache.as_ref(), || ir.compile().map_err(Error::from))?;
            let kernel = module.kernel("scan")?;
            let shared = to_u32("the shared memory", if is_shared { table.bytes.len() } else { 0 })?;
            kernel.allow_shared(shared)?;
            let each = kernel.blocks_per_multiprocessor(CHUNK_THREADS as u32, shared)?.max(1);
            let blocks = each as usize * device.facts().multiprocessors as usize;
            Ok::<_, Error>(Pass { kernel, shared, blocks })
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
        let ChunkTables { lanes, depth, next, walk, .. } = &self.tables;
        format!(
            "a whole line: a thread for each chunk of {SHORTEST_CHUNK} to {LONGEST_CHUNK} symbols, tables of {} and {} bytes, at most {lanes} states behind {} symbols\n",
            next.bytes.len(),
            walk.bytes.len(),
            depth + 1
        )
    }
}

/// Lanes of a vector of a map.
const VECTOR: usize = 16;

/// The program that composes maps of so many numbers; the output is where those before lead the first one.
fn composing(lanes: usize) -> String {
    if lanes == VECTOR { ONE_VECTOR.to_owned() } else { TWO_VECTORS.to_owned() }
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
        for lanes in monoscan_codegen::gpu::RANGES {
            let map = |chunk: usize| (0..lanes).map(move |lane| ((7 * lane + 5 * chunk + lane * lane) % lanes) as u8);
            let maps: Vec<u8> = (0..50).flat_map(map).collect();
            let program = verify(text::parse(&composing(lanes)).unwrap()).unwrap();
            let request = Request { mode: Mode::Exclusive, ..Request::default() };
            let found = interp::run(&program, &[&maps], &request).unwrap().outputs.remove(0);
            let mut begins = 0;
            for (chunk, &found) in found.iter().enumerate() {
                assert_eq!(found, begins, "{lanes} lanes, chunk {chunk}");
                begins = maps[chunk * lanes + usize::from(begins)];
            }
        }
    }
}
