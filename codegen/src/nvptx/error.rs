//! Why a kernel could not be made.

use crate::gpu::{Arch, MOST_BUFFERS};

/// Why a kernel could not be made.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NvptxError {
    /// There is no plan for the program, or the one that was asked for does not fit it.
    #[error(transparent)]
    Unplanned(#[from] PlanError),
    /// LLVM refused the module: a bug in monoscan.
    #[error("LLVM refused a generated module, which is a bug in monoscan: {message}")]
    Llvm {
        /// LLVM's message.
        message: String,
    },
    /// LLVM was built without the processor.
    #[error("this LLVM does not know the processor {processor}")]
    Processor {
        /// Its name, as in `sm_90`.
        processor: String,
    },
}

/// Why a plan does not fit a program, or an architecture.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// A ring is filled by bulk copies.
    #[error("{0} has no bulk copies, which a ring is filled by")]
    NoBulkCopies(Arch),
    /// A ring writes whole records, but for those that are kept.
    #[error("a ring writes whole records, and an output column has padding")]
    Padding,
    /// Rows side by side have no order of records.
    #[error("rows of programs that filter have no order of records")]
    Keeps,
    /// So many warps are too few or too many.
    #[error("blocks of {warps} warps that compute, where 1 to {most} can be")]
    Warps {
        /// Warps of a block that compute.
        warps: usize,
        /// The most that can be, beside those that help.
        most: usize,
    },
    /// So many buffers of a ring are too few or too many, or its folds are not ahead.
    #[error(
        "a ring of {buffers} buffers, {ahead} ahead: {ahead} must be at least 1, and for this program {needs} to {MOST_BUFFERS} buffers"
    )]
    Buffers {
        /// Buffers of the ring.
        buffers: usize,
        /// Tiles by which its last fold is ahead.
        ahead: usize,
        /// The fewest buffers for so many: two more than the first fold is ahead.
        needs: usize,
    },
    /// A load group is no whole access.
    #[error("a load group of {load_group} records of {size} bytes is no whole access")]
    PartialAccess {
        /// Records of a load group.
        load_group: usize,
        /// Bytes of a record.
        size: usize,
    },
    /// A block has too little shared memory.
    #[error("it takes {needs} bytes of shared memory, {arch} has {}", arch.shared_bytes())]
    SharedMemory {
        /// Bytes of shared memory that the plan takes.
        needs: usize,
        /// The architecture.
        arch: Arch,
    },
    /// Totals of segments are made of records alone, one by one.
    #[error("totals are states of a program of one level that reads nothing but its records")]
    Totals,
    /// No tile of the program fits a block.
    #[error("no tile of the program fits a block")]
    NoTile,
}
