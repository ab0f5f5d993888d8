//! [`Device`]: where scans run and where columns lie.
//!
//! The type exists in every build. A device that cannot be used is an error value that says what to
//! do.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;

/// The CPU, or a GPU of this machine. Cheap to copy.
///
/// ```
/// use monoscan_runtime::{Device, Error};
///
/// assert!(Device::cpu().is_cpu());
/// match Device::cuda(0) {
///     Ok(gpu) => println!("{gpu}"),
///     Err(Error::Device(why)) => println!("{why}"), // this build has no `cuda`
///     Err(why) => println!("{why}"),                // no driver, or no such device
/// }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Device {
    #[cfg(feature = "cuda")]
    cuda: Option<crate::cuda::Device>,
}

impl Device {
    /// All cores of this machine, and the memory of this process.
    pub const fn cpu() -> Device {
        Device {
            #[cfg(feature = "cuda")]
            cuda: None,
        }
    }

    /// The CUDA device of this number. The first call for it initialises it, which takes a while.
    ///
    /// # Errors
    /// [`DeviceError::NoCuda`] in a build without the feature `cuda`. [`Error::Cuda`] if there is no driver or no such
    /// device, if the driver is too old, or if it fails.
    #[cfg(feature = "cuda")]
    pub fn cuda(ordinal: usize) -> Result<Device, Error> {
        Ok(crate::cuda::Device::cuda(ordinal)?.into())
    }

    /// The CUDA device of this number. This build has no feature `cuda`.
    ///
    /// # Errors
    /// [`DeviceError::NoCuda`].
    #[cfg(not(feature = "cuda"))]
    pub fn cuda(ordinal: usize) -> Result<Device, Error> {
        Err(DeviceError::NoCuda { ordinal }.into())
    }

    /// Whether it is the CPU.
    #[inline]
    pub const fn is_cpu(&self) -> bool {
        #[cfg(feature = "cuda")]
        return self.cuda.is_none();
        #[cfg(not(feature = "cuda"))]
        true
    }

    /// The number of a CUDA device; none for the CPU.
    pub fn ordinal(&self) -> Option<usize> {
        #[cfg(feature = "cuda")]
        return self.cuda.as_ref().map(crate::cuda::Device::ordinal);
        #[cfg(not(feature = "cuda"))]
        None
    }

    /// The CUDA device, for the layer below: memory, streams, graphs.
    #[cfg(feature = "cuda")]
    pub const fn as_cuda(&self) -> Option<&crate::cuda::Device> {
        self.cuda.as_ref()
    }
}

#[cfg(feature = "cuda")]
impl From<crate::cuda::Device> for Device {
    fn from(cuda: crate::cuda::Device) -> Device {
        Device { cuda: Some(cuda) }
    }
}

#[cfg(feature = "cuda")]
impl From<&crate::cuda::Device> for Device {
    fn from(cuda: &crate::cuda::Device) -> Device {
        Device { cuda: Some(*cuda) }
    }
}

impl From<&Device> for Device {
    fn from(device: &Device) -> Device {
        *device
    }
}

/// `cpu`, or `cuda:N` with the number of a device.
impl FromStr for Device {
    type Err = Error;

    fn from_str(name: &str) -> Result<Device, Error> {
        if name == "cpu" {
            return Ok(Device::cpu());
        }
        let number = name.strip_prefix("cuda:").and_then(|number| number.parse().ok());
        Device::cuda(number.ok_or_else(|| DeviceError::Unknown { name: name.into() })?)
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        #[cfg(feature = "cuda")]
        if let Some(cuda) = &self.cuda {
            return write!(f, "cuda:{}", cuda.ordinal());
        }
        f.write_str("cpu")
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({self})")
    }
}

/// Why a device does not do what it was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// No name of a device.
    #[error("unknown device `{name}`: expected `cpu` or `cuda:N`")]
    Unknown {
        /// The name that was given.
        name: String,
    },

    /// A build without the feature `cuda`.
    #[error("cuda:{ordinal} needs the feature `gpu`, which this build lacks: build with `--features gpu`")]
    NoCuda {
        /// The number of the device that was asked for.
        ordinal: usize,
    },

    /// A build without the feature `ptx`, which makes kernels.
    #[error(
        "this build makes no kernels for {device}: build with `--features gpu`, which needs LLVM, or load a kernel that was \
         made ahead of time"
    )]
    NoCompiler {
        /// The device that was asked for.
        device: Device,
    },

    /// A column in other memory than the call needs.
    #[error("the {side} is in the memory of {got}, expected that of {expected}")]
    Elsewhere {
        /// Which side of the call.
        side: &'static str,
        /// Where the call needs it.
        expected: Device,
        /// Where it is.
        got: Device,
    },

    /// Segments in other memory than the columns: head flags and offsets of host columns are slices, head flags, keys or
    /// offsets of device columns are a column beside them.
    #[error("segments of columns in the memory of {device}: expected {}", segments(.device))]
    Segments {
        /// Where the columns are.
        device: Device,
    },

    /// A call over device memory of a scan on the CPU.
    #[error("a scan on the CPU has no device memory: use `on(&device)` first")]
    NotOnGpu,
}

fn segments(device: &Device) -> &'static str {
    match device.is_cpu() {
        true => "head flags or offsets in a slice",
        false => "a column of head flags, keys or offsets there",
    }
}
