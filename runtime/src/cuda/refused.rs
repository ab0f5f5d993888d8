//! Why arguments, launches and directories are refused: what some of the variants of
//! [`CudaError`](super::CudaError) say in detail.

use std::io;
use std::time::Duration;

use super::Architecture;

/// An argument that cannot be: what it is, and what was expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArgumentError {
    /// A grid without blocks, or with more than there can be.
    #[error("the grid is {blocks}, expected 1 to 2147483647 blocks")]
    Grid {
        /// How many blocks.
        blocks: u32,
    },
    /// A block without threads, or with more than the kernel can have.
    #[error("the block is {threads}, expected 1 to {most} threads")]
    Block {
        /// How many threads.
        threads: u32,
        /// The most of this kernel.
        most: u32,
    },
    /// More shared memory than there is.
    #[error("the shared memory is {bytes}, expected at most {most} bytes, what the device has left for a block")]
    SharedMemory {
        /// How many bytes.
        bytes: u32,
        /// The most that are left.
        most: u32,
    },
    /// A number that a launch takes in 32 bits.
    #[error("{argument} is {got}, expected at most {}", u32::MAX)]
    TooLarge {
        /// Which number.
        argument: &'static str,
        /// The number found.
        got: usize,
    },
    /// A module has no such kernel.
    #[error("the kernel's name is `{name}`, expected that of a kernel of the module")]
    KernelName {
        /// The name.
        name: String,
    },
    /// PTX with a zero in it.
    #[error("the PTX has a zero as its byte {place}, expected text")]
    ZeroInPtx {
        /// Which byte, from 0.
        place: usize,
    },
    /// A range that is not one of a slice's.
    #[error("the range is {}..{}, expected one within 0..{len}", bound(*.start), bound(*.end))]
    Range {
        /// Where it begins; none beyond all numbers.
        start: Option<usize>,
        /// Where it ends, likewise.
        end: Option<usize>,
        /// The length of the slice.
        len: usize,
    },
    /// Two sides of a copy of different lengths.
    #[error("the number of records is {other}, expected {device}, as many as on the device")]
    Records {
        /// How many there are on the device.
        device: usize,
        /// How many there are on the other side.
        other: usize,
    },
    /// Memory, a kernel or a stream of another device.
    #[error("{argument} is of device {got}, expected of device {expected}, as the stream")]
    OtherDevice {
        /// Which argument.
        argument: &'static str,
        /// The device of the stream.
        expected: usize,
        /// The device of the argument.
        got: usize,
    },
    /// A stream of a context that somebody made beside the primary one.
    #[error("the stream is one of another context, expected a stream of the primary context of device {device}")]
    OtherContext {
        /// The device.
        device: usize,
    },
    /// A stream that is being captured, for what cannot be part of a graph.
    #[error("the stream is being captured, expected {expected}")]
    Capturing {
        /// The action that was asked for.
        expected: &'static str,
    },
    /// A stream that is not being captured any more.
    #[error("the stream is not being captured any more, expected one that is")]
    CaptureEnded,
    /// A stream whose capture became invalid.
    #[error("the stream is in an invalid capture, expected one without a capture, or with a valid one")]
    CaptureInvalid,
}

/// Where a range begins or ends, in words.
fn bound(place: Option<usize>) -> String {
    place.map_or("beyond all numbers".into(), |place| place.to_string())
}

/// Why a kernel did not do its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KernelFault {
    /// A block gave another one up.
    #[error("a block waited longer than {limit:?} for another one")]
    Stuck {
        /// The time limit.
        limit: Duration,
    },
    /// A launch in the same workspace was given up, so it is not known how this one went.
    #[error("this launch, or one beside it in the same workspace, was given up")]
    GivenUp,
    /// A fault that only another version knows.
    #[error("fault {code}, which this version does not know")]
    Unknown {
        /// The code that the kernel reports.
        code: u32,
    },
}

/// Which devices a module is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Target {
    /// Those of this and later architectures.
    Later(Architecture),
    /// Those of this architecture only (`sm_90a`).
    Same(Architecture),
    /// Those of this generation, not older (`sm_100f`).
    Family(Architecture),
    /// Others; the driver does not say which.
    Other,
}

impl Target {
    /// Whether a device runs it.
    pub(crate) fn includes(self, device: Architecture) -> bool {
        match self {
            Target::Later(least) => device >= least,
            Target::Same(only) => device == only,
            Target::Family(least) => device >= least && device.major == least.major,
            Target::Other => false,
        }
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Target::Later(least) => write!(f, "{least} or later"),
            Target::Same(only) => write!(f, "{only} and no other"),
            Target::Family(least) => write!(f, "{least} or later of its generation"),
            Target::Other => f.write_str("another architecture"),
        }
    }
}

/// Why a directory cannot hold a cache.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DirectoryError {
    /// It cannot be made or looked at.
    #[error("{}", io::Error::from(*.kind))]
    Io {
        /// The system's error.
        kind: io::ErrorKind,
    },
    /// Others may look into it, or write it.
    #[error("its mode is {mode:o}, expected 700: nobody else may have access")]
    Mode {
        /// Its rights, as in Unix.
        mode: u32,
    },
    /// It belongs to somebody else.
    #[error("it belongs to user {owner}, expected {user}")]
    Owner {
        /// The user that owns it.
        owner: u32,
        /// The user of this process.
        user: u32,
    },
}

impl From<io::Error> for DirectoryError {
    fn from(error: io::Error) -> DirectoryError {
        DirectoryError::Io { kind: error.kind() }
    }
}
