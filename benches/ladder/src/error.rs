//! Why a rung does not run.

use monoscan_codegen::gpu::Arch;
use monoscan_codegen::nvptx::NvptxError;
use monoscan_runtime::cuda::{Architecture, ArgumentError, CudaError};

use crate::Rung;

/// Why a rung does not run a program, or failed to.
#[derive(Debug, thiserror::Error)]
pub enum LadderError {
    /// The rung does not run this program, or not on this architecture.
    #[error(transparent)]
    Unfit(#[from] Unfit),
    /// Columns that are not those of the program.
    #[error(transparent)]
    Columns(#[from] ColumnsError),
    /// Its kernels could not be made.
    #[error(transparent)]
    Nvptx(#[from] NvptxError),
    /// The driver failed, or a kernel did.
    #[error(transparent)]
    Cuda(#[from] CudaError),
}

impl From<ArgumentError> for LadderError {
    fn from(error: ArgumentError) -> LadderError {
        LadderError::Cuda(error.into())
    }
}

/// Why a rung does not run a program, or not on an architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// The program has several levels, or filters.
    #[error("the ladder runs no programs that have several levels, or keep some records only")]
    SeveralLevels,
    /// The program reads the next record, or the one before.
    #[error("the ladder runs no programs that read a neighbour")]
    Neighbour,
    /// Records of an output column have padding.
    #[error("the ladder runs no programs that have padding in an output column")]
    Padding,
    /// The planner has no such plan.
    #[error("there is no {rung} of this program for {arch}")]
    NoPlan {
        /// The rung.
        rung: Rung,
        /// The architecture.
        arch: Arch,
    },
    /// A block needs more shared memory than there is.
    #[error("it takes {needs} bytes of shared memory, {arch} has {has}")]
    SharedMemory {
        /// Bytes that a block needs.
        needs: usize,
        /// Bytes that it can have.
        has: usize,
        /// The architecture.
        arch: Arch,
    },
    /// No kernels can be made for the device.
    #[error("there are no kernels for {device}")]
    Device {
        /// The architecture of the device.
        device: Architecture,
    },
}

/// Columns that are not those of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ColumnsError {
    /// There are too few, or too many.
    #[error("expected {expected} columns, got {got}")]
    Count {
        /// How many the program has.
        expected: usize,
        /// How many were given.
        got: usize,
    },
    /// One is in the memory of another device.
    #[error("column {column} is of another device than the scan")]
    Elsewhere {
        /// Which one, outputs behind inputs.
        column: usize,
    },
    /// One has another length than the first.
    #[error("column {column} has {bytes} bytes, expected {records} records of {size} bytes")]
    Length {
        /// Which one, outputs behind inputs.
        column: usize,
        /// Its length.
        bytes: usize,
        /// Records of the first column.
        records: usize,
        /// Bytes of its records.
        size: u32,
    },
    /// One begins at another address than kernels take.
    #[error("column {column} is at {address:#x}, expected a multiple of 16")]
    Unaligned {
        /// Which one, outputs behind inputs.
        column: usize,
        /// Where it begins.
        address: u64,
    },
}
