//! Errors between this process and a GPU, as one enum: none of them is a panic.

use std::path::PathBuf;

use super::{Architecture, ArgumentError, DirectoryError, KernelFault, Target};

/// Why something was not done on a GPU.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CudaError {
    /// The driver's library cannot be loaded.
    #[error("no CUDA driver: a library named like {name} cannot be loaded; it comes with the NVIDIA driver")]
    NoDriver {
        /// The library's name on this system.
        name: String,
    },

    /// The driver lacks something that is needed.
    #[error(
        "the CUDA driver is too old: it supports CUDA {}, expected {} or later{}",
        version(*.found), version(*.expected), lacking(.missing)
    )]
    DriverTooOld {
        /// The version that the driver supports, as 1000 × major + 10 × minor.
        found: u32,
        /// The least that it has to support, written likewise.
        expected: u32,
        /// The function that it lacks, if its version is not what tells.
        missing: Option<&'static str>,
    },

    /// There is no device of this number.
    #[error("there is no CUDA device {ordinal}: expected a number below {count}, as many as there are")]
    NoSuchDevice {
        /// The ordinal that was asked for.
        ordinal: usize,
        /// How many devices there are.
        count: usize,
    },

    /// A call of the driver failed.
    #[error("{call} failed with {code} ({name}): {text}")]
    Driver {
        /// The function.
        call: &'static str,
        /// The code that it returned.
        code: u32,
        /// The driver's name of that.
        name: String,
        /// The driver's description of that.
        text: String,
    },

    /// The driver refuses a module.
    #[error("the CUDA driver refuses the module with {name}:\n{log}")]
    Refused {
        /// The driver's name of the error.
        name: String,
        /// The driver's log, which names the lines of PTX.
        log: String,
    },

    /// A module is for other devices.
    #[error("the module needs {needs}, but the device is {device}")]
    WrongArchitecture {
        /// The target that the module was made for.
        needs: Target,
        /// The architecture of the device.
        device: Architecture,
    },

    /// There is no device memory left for this.
    #[error("no device memory for {bytes} bytes: {free} of {total} bytes are free")]
    OutOfMemory {
        /// How much was asked for.
        bytes: usize,
        /// How much of the device's memory was free then.
        free: usize,
        /// How much memory the device has.
        total: usize,
    },

    /// There is no page-locked host memory left for this.
    #[error("no page-locked host memory for {bytes} bytes")]
    OutOfHostMemory {
        /// How much was asked for.
        bytes: usize,
    },

    /// A kernel could not do its work.
    #[error("the kernel failed: {0}")]
    KernelFailed(#[from] KernelFault),

    /// An argument that cannot be.
    #[error(transparent)]
    Argument(#[from] ArgumentError),

    /// A directory that cannot hold a cache of cubins.
    #[error("{} cannot hold cubins: {why}", .path.display())]
    CacheDirectory {
        /// The directory.
        path: PathBuf,
        /// The fault.
        why: DirectoryError,
    },
}

fn version(number: u32) -> String {
    format!("{}.{}", number / 1000, number % 1000 / 10)
}

fn lacking(missing: &Option<&'static str>) -> String {
    missing.map(|name| format!(" (it has no {name})")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_say_what_was_expected_and_what_came() {
        let old = CudaError::DriverTooOld { found: 11080, expected: 12000, missing: None };
        assert_eq!(old.to_string(), "the CUDA driver is too old: it supports CUDA 11.8, expected 12.0 or later");
        let lacks = CudaError::DriverTooOld { found: 12000, expected: 12000, missing: Some("cuStreamGetId") };
        assert!(lacks.to_string().ends_with("(it has no cuStreamGetId)"));
        let argument = CudaError::from(ArgumentError::Grid { blocks: 0 });
        assert_eq!(argument.to_string(), "the grid is 0, expected 1 to 2147483647 blocks");
        let range = ArgumentError::Range { start: Some(3), end: None, len: 5 };
        assert_eq!(range.to_string(), "the range is 3..beyond all numbers, expected one within 0..5");
    }
}
