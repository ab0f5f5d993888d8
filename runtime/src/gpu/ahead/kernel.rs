//! [`AotKernel`]: PTX and manifest, as texts.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

use monoscan_codegen::gpu::{AotManifest, ManifestError, sha256};
use monoscan_ir::Constant;
use monoscan_ir::facts::Range;

use super::calls::{self, Asked, MadeFor};

/// Why kernels that were made ahead of time are not used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AotError {
    /// A file cannot be read.
    #[error("{}: {}", .path.display(), std::io::Error::from(*.why))]
    Read {
        /// Which file.
        path: PathBuf,
        /// The system's error.
        why: std::io::ErrorKind,
    },
    /// The manifest is none.
    #[error("the kernel's manifest: {0}")]
    Manifest(#[from] ManifestError),
    /// The PTX is not the one that the manifest was made for.
    #[error("the PTX has the SHA-256 hash {got}, expected {expected}, as the kernel's manifest says")]
    Hash {
        /// The hash of the manifest.
        expected: String,
        /// That of the PTX.
        got: String,
    },
    /// An empty list of kernels.
    #[error("no kernels: expected at least one")]
    NoKernels,
    /// The kernel was made of another program than the scan's.
    #[error(
        "the kernel was made of {}: make it of `{scan}` as it is now",
        if kernel == scan { format!("another program `{scan}`") } else { format!("the program `{kernel}`") }
    )]
    OtherProgram {
        /// The name of the kernel's program.
        kernel: String,
        /// That of the scan's.
        scan: String,
    },
    /// The kernels were made for other calls.
    #[error("the call asks for {asked}, and kernels were made ahead of time for {}", calls::list(made_for))]
    Call {
        /// The calls that they were made for, in order.
        made_for: Vec<MadeFor>,
        /// The call that was asked for.
        asked: Asked,
    },
    /// The call needs kernels that are not those of the program.
    #[error("kernels made ahead of time cannot make {makes}, or compile the scan with the feature `gpu`")]
    Helper {
        /// The columns that these would make.
        makes: Helper,
    },
    /// An initial state or carry that the kernel takes for impossible.
    #[error(
        "component {component} of the {argument} is {got}, expected one in {expected}: make the kernel for any states"
    )]
    State {
        /// Initial state or carry.
        argument: &'static str,
        /// Which of its components.
        component: usize,
        /// The range that the kernel relies on.
        expected: Range,
        /// The value found.
        got: Constant,
    },
}

/// The kinds of helper kernels that a call may need besides those of its program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Helper {
    /// Head flags out of keys or offsets.
    Flags,
    /// The start of each record's segment.
    Starts,
    /// Copies of columns in device memory whose records are not one after the other.
    Copies,
}

impl std::fmt::Display for Helper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Helper::Flags => "head flags out of keys or offsets: give head flags as a column of the device",
            Helper::Starts => "a start for each segment: give one initial state",
            Helper::Copies => "copies of strided columns: give columns whose records are one after the other",
        })
    }
}

/// A kernel that was made ahead of time, not yet loaded: PTX, and the text that says how it is called.
#[derive(Clone, PartialEq, Eq)]
pub struct AotKernel {
    pub(super) ptx: Cow<'static, str>,
    pub(super) manifest: Cow<'static, str>,
}

/// An [`AotKernel`] out of `NAME.ptx` and `NAME.manifest`, which become part of this program: the path of both without
/// their ends, from the file that says this.
///
/// ```ignore
/// static SUMS: AotKernel = include_kernel!("kernels/sum_i32");
/// ```
#[macro_export]
macro_rules! include_kernel {
    ($path:literal) => {
        $crate::gpu::AotKernel::from_texts(
            include_str!(concat!($path, ".ptx")),
            include_str!(concat!($path, ".manifest")),
        )
    };
}

impl AotKernel {
    /// Out of these texts. They are read when the kernel is loaded.
    pub const fn from_texts(ptx: &'static str, manifest: &'static str) -> AotKernel {
        AotKernel { ptx: Cow::Borrowed(ptx), manifest: Cow::Borrowed(manifest) }
    }

    /// Out of the files `path.ptx` and `path.manifest`.
    ///
    /// # Errors
    /// [`AotError::Read`].
    pub fn from_files(path: impl AsRef<Path>) -> Result<AotKernel, AotError> {
        let read = |end: &str| {
            let mut path = path.as_ref().as_os_str().to_owned();
            path.push(end);
            let path = PathBuf::from(path);
            let text = std::fs::read_to_string(&path);
            text.map(Cow::Owned).map_err(|error| AotError::Read { path, why: error.kind() })
        };
        Ok(AotKernel { manifest: read(".manifest")?, ptx: read(".ptx")? })
    }

    /// Its manifest, with its program, if both texts are whole and belong together.
    ///
    /// # Errors
    /// [`AotError::Manifest`] and [`AotError::Hash`].
    pub fn manifest(&self) -> Result<AotManifest, AotError> {
        let manifest: AotManifest = self.manifest.parse()?;
        let got = sha256(&*self.ptx);
        if got != manifest.ptx_sha256 {
            return Err(AotError::Hash { expected: manifest.ptx_sha256, got });
        }
        Ok(manifest)
    }

    pub(super) fn ptx(&self) -> &str {
        &self.ptx
    }
}

impl fmt::Debug for AotKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.manifest.lines().find_map(|line| line.strip_prefix("program ")).unwrap_or("of no name");
        write!(f, "AotKernel {name}, {} bytes of PTX", self.ptx.len())
    }
}
