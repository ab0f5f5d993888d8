//! Helper kernels: what they make, a scan launched after them reads, or they carry its results on.
//!
//! None scans more than a block has. In most of them a thread looks at one segment, one record or
//! one chunk of them, and no thread waits for another; a split and a partition move the records of
//! a block together.

mod chunks;
mod offsets;
mod partition;
mod row_flags;
mod spacing;
mod split;
mod starts;

pub use chunks::{ChunkKernel, ChunkPass, ChunkSymbols, ChunksArguments, TableIn};
pub use offsets::OffsetsArguments;
pub use partition::PartitionArguments;
pub use row_flags::{FLAGS_OF_THREAD, RowFlagsArguments};
pub use spacing::SpacingArguments;
pub use split::{MOST_OF_BLOCK, SplitArguments, Width};
pub use starts::StartsArguments;

use super::emit::{Builder, Passes, Ty, Value, assemble, key};
use super::error::NvptxError;
use super::{HEAD, as_ptx_kernel};
use crate::gpu::Arch;

/// Threads of a block of every helper kernel.
pub const HELPER_THREADS: usize = 256;

/// The kinds of helper kernels.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum HelperKernel {
    /// Makes head flags out of offsets: [`OffsetsArguments`].
    Offsets,
    /// Makes head flags of rows: [`RowFlagsArguments`].
    RowFlags,
    /// Puts the start of its segment beside each record: [`StartsArguments`].
    Starts,
    /// Copies records between columns of any spacing: [`SpacingArguments`].
    Spacing,
    /// Counts digits of keys, for a split: [`SplitArguments`].
    Count(Width),
    /// Moves keys, and values along with them, by a digit: [`SplitArguments`].
    Split(Width, Option<Width>),
    /// Counts flags, for a partition: [`PartitionArguments`].
    CountFlags,
    /// Moves records by their flags: [`PartitionArguments`].
    Partition(Width),
}

impl HelperKernel {
    /// All of them, with values as wide as a machine word or half of one; others move by their places.
    pub fn all() -> impl Iterator<Item = HelperKernel> {
        let values = [None, Some(Width::Four), Some(Width::Eight)];
        let splits = Width::ALL.into_iter().flat_map(move |key| values.map(|value| HelperKernel::Split(key, value)));
        let flags = [HelperKernel::Offsets, HelperKernel::RowFlags, HelperKernel::CountFlags];
        let others = flags.into_iter().chain([HelperKernel::Starts, HelperKernel::Spacing]);
        let counts = Width::ALL.map(HelperKernel::Count);
        others.chain(Width::ALL.map(HelperKernel::Partition)).chain(counts).chain(splits)
    }

    /// The kernel, named `scan`, as LLVM IR that takes its arguments by address: for the emulator.
    pub fn emulated(self) -> String {
        let k = Builder::new();
        k.function(HEAD, |k| match self {
            HelperKernel::Offsets => offsets::write(k),
            HelperKernel::RowFlags => row_flags::write(k),
            HelperKernel::Starts => starts::write(k),
            HelperKernel::Spacing => spacing::write(k),
            HelperKernel::Count(key) => split::count(k, key),
            HelperKernel::Split(key, value) => split::distribute(k, key, value),
            HelperKernel::CountFlags => partition::count(k),
            HelperKernel::Partition(value) => partition::distribute(k, value),
        });
        k.finish()
    }

    /// Bytes of shared memory that a block takes.
    pub fn shared(self) -> usize {
        match self {
            HelperKernel::Count(_) => split::COUNT_SHARED,
            HelperKernel::Split(key, value) => split::distribute_shared(key, value),
            HelperKernel::CountFlags => partition::COUNT_SHARED,
            HelperKernel::Partition(value) => partition::distribute_shared(value),
            _ => 0,
        }
    }

    /// Records of a tile; a thread for each where there are none.
    pub fn tile(self) -> usize {
        match self {
            HelperKernel::Split(key, value) => split::tile(key, value),
            HelperKernel::Partition(value) => partition::tile(value),
            _ => HELPER_THREADS,
        }
    }

    /// Blocks that a multiprocessor should have registers for, each of many.
    fn blocks(self) -> usize {
        match self {
            HelperKernel::Split(key, value) => split::blocks(key, value),
            HelperKernel::Partition(_) => partition::BLOCKS,
            _ => 1,
        }
    }

    /// Bytes of its arguments.
    fn bytes(self) -> usize {
        match self {
            HelperKernel::Offsets => size_of::<OffsetsArguments>(),
            HelperKernel::RowFlags => size_of::<RowFlagsArguments>(),
            HelperKernel::Starts => size_of::<StartsArguments>(),
            HelperKernel::Spacing => size_of::<SpacingArguments>(),
            HelperKernel::Count(_) | HelperKernel::Split(..) => size_of::<SplitArguments>(),
            HelperKernel::CountFlags | HelperKernel::Partition(_) => size_of::<PartitionArguments>(),
        }
    }
}

impl ChunkKernel {
    /// The kernel, named `scan`, as LLVM IR that takes its arguments by address: for the emulator.
    pub fn emulated(self) -> String {
        let k = Builder::new();
        k.function(HEAD, |k| self.write(k));
        k.finish()
    }
}

/// A helper kernel for an architecture, as LLVM IR.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HelperIr {
    text: String,
    arch: Arch,
}

impl HelperIr {
    /// Writes the kernel, named `scan`.
    pub fn new(kernel: HelperKernel, arch: Arch) -> HelperIr {
        let blocks = (HELPER_THREADS, kernel.blocks());
        HelperIr { text: as_ptx_kernel(&kernel.emulated(), "scan", kernel.bytes(), blocks), arch }
    }

    /// The kernel of this text, named `scan`.
    pub(super) fn of(text: String, arch: Arch) -> HelperIr {
        HelperIr { text, arch }
    }

    /// Writes one of the kernels over chunks, named `scan`.
    pub fn over_chunks(kernel: ChunkKernel, arch: Arch) -> HelperIr {
        let text =
            as_ptx_kernel(&kernel.emulated(), "scan", size_of::<ChunksArguments>(), (kernel.threads, kernel.blocks));
        HelperIr { text, arch }
    }

    /// A hash of all that decides its PTX.
    pub fn key(&self) -> [u8; 32] {
        key(&self.text, Passes::All, self.arch.name(), self.arch.feature())
    }

    /// Its PTX, by LLVM.
    ///
    /// # Errors
    /// [`NvptxError::Llvm`], which is a bug in monoscan.
    pub fn compile(&self) -> Result<String, NvptxError> {
        assemble(&self.text, Passes::All, self.arch.name(), self.arch.feature())
    }
}

/// An argument, by its field: words of 64 bits all of them.
macro_rules! argument {
    ($k:expr, $of:ident.$field:ident) => {
        $crate::nvptx::helpers::word($k, std::mem::offset_of!($of, $field))
    };
}
use argument;

/// The word at an offset of the arguments.
fn word(k: &Builder, offset: usize) -> Value<'_> {
    k.named(Ty::GENERIC, "%arguments").at(offset).load(Ty::I64, 8)
}

/// The number of this thread among all of the launch.
fn thread_of_launch(k: &Builder) -> Value<'_> {
    thread_of_blocks(k, HELPER_THREADS)
}

/// The same for blocks of so many threads.
fn thread_of_blocks(k: &Builder, threads: usize) -> Value<'_> {
    k.block().resize(Ty::I64) * threads + k.thread().resize(Ty::I64)
}
