//! Architectures: what LLVM must be told for each, and what its processors have. One table.

use std::fmt;

/// A generation of NVIDIA GPUs that kernels are made for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Arch {
    /// Ampere: A100.
    Sm80,
    /// Hopper: H100, H200.
    Sm90,
    /// Blackwell in data centres: B200.
    Sm100,
    /// Blackwell in workstations: RTX 50, RTX PRO.
    Sm120,
}

/// A row of the table.
struct Row {
    arch: Arch,
    processor: &'static str,
    capability: (u32, u32),
    #[cfg_attr(not(feature = "ptx"), allow(dead_code, reason = "only LLVM is told"))]
    /// The PTX version as LLVM's feature. LLVM aborts on an instruction that its version lacks, so it is no choice.
    feature: &'static str,
    /// The oldest driver that takes this PTX.
    driver: (u32, u32),
    /// Bytes of shared memory that a block may ask for.
    shared_bytes: usize,
    bulk_copies: bool,
}

const TABLE: [Row; 4] = [
    Row {
        arch: Arch::Sm80,
        processor: "sm_80",
        capability: (8, 0),
        feature: "+ptx84",
        driver: (12, 4),
        shared_bytes: 163 << 10,
        bulk_copies: false,
    },
    Row {
        arch: Arch::Sm90,
        processor: "sm_90",
        capability: (9, 0),
        feature: "+ptx84",
        driver: (12, 4),
        shared_bytes: 227 << 10,
        bulk_copies: true,
    },
    Row {
        arch: Arch::Sm100,
        processor: "sm_100",
        capability: (10, 0),
        feature: "+ptx86",
        driver: (12, 7),
        shared_bytes: 227 << 10,
        bulk_copies: true,
    },
    Row {
        arch: Arch::Sm120,
        processor: "sm_120",
        capability: (12, 0),
        feature: "+ptx87",
        driver: (12, 8),
        shared_bytes: 99 << 10,
        bulk_copies: true,
    },
];

impl Arch {
    /// All of them, the oldest first.
    pub const ALL: [Arch; 4] = [Arch::Sm80, Arch::Sm90, Arch::Sm100, Arch::Sm120];

    fn row(self) -> &'static Row {
        let row = TABLE.iter().find(|row| row.arch == self);
        row.expect("every architecture has a row")
    }

    /// The one whose kernels run on a device of this compute capability: the newest that is not newer. None before 8.0.
    pub fn for_capability(major: u32, minor: u32) -> Option<Arch> {
        TABLE.iter().rev().find(|row| row.capability <= (major, minor)).map(|row| row.arch)
    }

    /// The one of this name, as in `sm_90`.
    pub fn from_name(name: &str) -> Option<Arch> {
        TABLE.iter().find(|row| row.processor == name).map(|row| row.arch)
    }

    /// Its name, as in `sm_90`.
    pub fn name(self) -> &'static str {
        self.row().processor
    }

    /// The lowest compute capability that runs its kernels.
    pub fn capability(self) -> (u32, u32) {
        self.row().capability
    }

    /// The lowest version of CUDA that a driver must support to take its kernels.
    pub fn driver(self) -> (u32, u32) {
        self.row().driver
    }

    /// LLVM's name for the version of PTX.
    #[cfg(feature = "ptx")]
    pub(crate) fn feature(self) -> &'static str {
        self.row().feature
    }

    /// Bytes of shared memory that a block may ask for.
    pub fn shared_bytes(self) -> usize {
        self.row().shared_bytes
    }

    /// Whether a thread can start copies of whole tiles.
    pub fn has_bulk_copies(self) -> bool {
        self.row().bulk_copies
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
