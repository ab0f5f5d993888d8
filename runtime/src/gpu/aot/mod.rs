//! Kernels made ahead of time: loaded from PTX and a manifest, run with the driver alone.
//!
//! One such kernel does what it was made for: one mode, with or without flagged segments, gone
//! through in one way. What it does not do is refused before anything is launched, with what it was
//! made for. All else is as for a [`DynScan`](crate::DynScan) on a GPU: the same columns, the same
//! checks, the same [`Pending`].

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use monoscan_codegen::gpu::{AotManifest, Manifest, ManifestError, Schedule};
use monoscan_ir::transform::Role;
use monoscan_ir::{Constant, Layout, Mode, Type};
use sha2::{Digest, Sha256};

use super::kernel::{GpuKernel, Span, TIME_LIMIT, expect_driver};
use super::pending::Pending;
use super::states::States;
use super::task::Sides;
use crate::call::{Call, Shape};
use crate::checks::{self, Signature};
use crate::column::{Column, ColumnMut};
use crate::cuda::{CubinCache, CudaError, Device, Stream};
use crate::error::Error;
use crate::parameters::Parameters;

/// Why a kernel that was made ahead of time is not used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AotError {
    /// A file cannot be read.
    #[error("{}: {why}", .path.display())]
    Read {
        /// Which file.
        path: PathBuf,
        /// What the system says.
        why: String,
    },
    /// The manifest is none.
    #[error("the kernel's manifest: {0}")]
    Manifest(#[from] ManifestError),
    /// The PTX is not the one that the manifest was made for.
    #[error("the PTX has the SHA-256 hash {got}, expected {expected}, as the kernel's manifest says")]
    Hash {
        /// What the manifest says.
        expected: String,
        /// That of the PTX.
        got: String,
    },
    /// The kernel was made for other calls.
    #[error("the kernel was made for {expected}, and the call asks for {got}")]
    Call {
        /// What it was made for.
        expected: &'static str,
        /// What was asked for.
        got: &'static str,
    },
    /// An initial state or carry that the kernel takes for impossible.
    #[error(
        "component {component} of the {argument} is {got}, expected one in {expected}: make the kernel for any states"
    )]
    State {
        /// Seed or carry.
        argument: &'static str,
        /// Which of its components.
        component: usize,
        /// What the kernel takes for granted.
        expected: String,
        /// What it is.
        got: String,
    },
}

/// A kernel that was made ahead of time, not yet loaded: PTX, and the text that says how it is called.
#[derive(Clone, PartialEq, Eq)]
pub struct AotKernel {
    ptx: Cow<'static, str>,
    manifest: Cow<'static, str>,
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
            text.map(Cow::Owned).map_err(|error| AotError::Read { path, why: error.to_string() })
        };
        Ok(AotKernel { manifest: read(".manifest")?, ptx: read(".ptx")? })
    }

    /// What is known of it, if both texts are whole and belong together.
    ///
    /// # Errors
    /// [`AotError::Manifest`] and [`AotError::Hash`].
    pub fn manifest(&self) -> Result<AotManifest, AotError> {
        let manifest: AotManifest = self.manifest.parse()?;
        let got: String = Sha256::digest(&*self.ptx).iter().map(|byte| format!("{byte:02x}")).collect();
        if got != manifest.ptx_sha256 {
            return Err(AotError::Hash { expected: manifest.ptx_sha256, got });
        }
        Ok(manifest)
    }

    /// Loads it on a device; what the driver compiles is kept in the cache, if there is one.
    ///
    /// # Errors
    /// [`Error::Aot`] as [`manifest`](AotKernel::manifest). [`Error::Cuda`] with [`CudaError::WrongArchitecture`] if it
    /// was made for other devices, and if the driver is too old or refuses it.
    ///
    /// # Safety
    /// PTX and manifest are what monoscan made of one program. Hash and checks find damage and mistakes, but not
    /// malice: this is code that will run, with addresses of the device's memory.
    pub unsafe fn load(&self, device: &Device, cache: Option<&CubinCache>) -> Result<AotScan, Error> {
        let manifest = self.manifest()?;
        let architecture = device.facts().architecture;
        if (architecture.major, architecture.minor) < manifest.arch.capability() {
            let needs = format!("{} or later", manifest.arch);
            return Err(CudaError::WrongArchitecture { needs, device: architecture.to_string() }.into());
        }
        expect_driver(device, manifest.arch)?;
        // SAFETY: the caller says that text and manifest were made together.
        let kernel = unsafe { GpuKernel::from_ptx(device, &self.ptx, manifest.launch.clone(), cache) }?;
        let states = Arc::new(States::listed(&manifest.components));
        let parameters = Parameters::default();
        Ok(AotScan { kernel: Arc::new(kernel), states, parameters, manifest, limit: TIME_LIMIT })
    }
}

impl fmt::Debug for AotKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.manifest.lines().find_map(|line| line.strip_prefix("program ")).unwrap_or("of no name");
        write!(f, "AotKernel {name}, {} bytes of PTX", self.ptx.len())
    }
}

/// A kernel that was made ahead of time, on a device. Cheap to clone.
#[derive(Clone, Debug)]
pub struct AotScan {
    kernel: Arc<GpuKernel>,
    manifest: AotManifest,
    states: Arc<States>,
    parameters: Parameters,
    limit: Duration,
}

impl AotScan {
    /// The same, with another time after which a wait of a block for another one is given up; at first 10 seconds.
    #[must_use]
    pub fn with_time_limit(self, limit: Duration) -> AotScan {
        AotScan { limit, ..self }
    }

    /// The same with these values of the program's parameters, as [`DynScan::with`](crate::DynScan::with).
    ///
    /// # Errors
    /// [`Error::State`] if these are not of the parameters' types. A call as long as they have no values is that error too.
    pub fn with(&self, parameters: &[Constant]) -> Result<AotScan, Error> {
        self.check_parameters(parameters)?;
        Ok(AotScan { parameters: Parameters::new(parameters.to_vec()), ..self.clone() })
    }

    fn check_parameters(&self, values: &[Constant]) -> Result<(), Error> {
        checks::parameters(|| self.manifest.launch.arguments.parameters.types(), values)
    }

    /// What is known of the kernel.
    pub fn manifest(&self) -> &AotManifest {
        &self.manifest
    }

    /// The loaded kernel.
    pub fn kernel(&self) -> &Arc<GpuKernel> {
        &self.kernel
    }

    /// The layouts of the columns that it reads, without that of flags.
    pub fn inputs(&self) -> &[Layout] {
        inputs(&self.manifest)
    }

    /// The layouts of the columns that it writes.
    pub fn outputs(&self) -> &[Layout] {
        &self.manifest.launch.outputs
    }

    /// Gives a call to a stream, as [`DynScan::submit`](crate::DynScan::submit) does. What it reads and writes is used when the stream gets there.
    ///
    /// # Errors
    /// [`Error::Aot`] if the kernel was made for other calls. If a column, the initial state or the shape does not fit the
    /// kernel, the device or the other columns. [`Error::Cuda`] if there is too little memory for a workspace, or the
    /// driver fails. Nothing was given to the stream then.
    pub fn submit(
        &self,
        call: &Call<'_>,
        inputs: &[Column<'_>],
        outputs: &mut [ColumnMut<'_>],
        stream: &Stream,
    ) -> Result<Pending, Error> {
        let (manifest, device) = (&self.manifest, self.kernel.device());
        let sides = Sides { device, inputs: self.inputs(), outputs: self.outputs(), keeps: manifest.keeps };
        self.check_parameters(self.parameters.values())?;
        let mut task = sides.task(call, inputs, outputs)?;
        task.check(manifest, device, stream)?;
        expect_form(manifest, call)?;
        expect_states(manifest, call)?;
        let span = match call.shape {
            Shape::Rows(rows) => Span::of(rows),
            _ => task.line(),
        };
        expect_way(manifest, call, span)?;
        // Held until the launch is in the stream.
        let _flags = task.add_flags(stream)?;
        let (Manifest { inputs, outputs, .. }, schedule) = (&manifest.launch, &manifest.launch.plan.schedule);
        if !task.is_aligned(inputs, outputs, |column| schedule.alignment(column)) {
            let expected = match schedule {
                Schedule::Ring { shifted: false, .. } => "columns at multiples of 16 bytes",
                _ => "columns at multiples of their fields' sizes",
            };
            return Err(refuse(expected, "one at another address").into());
        }
        let kernel = || Ok(self.kernel.clone());
        // SAFETY: whoever loaded the kernel says that it is the manifest's, against which columns, form and way were
        // checked.
        unsafe { task.launch((&self.states, self.parameters.values()), span, kernel, stream, self.limit) }
    }
}

impl Signature for AotManifest {
    fn state(&self) -> impl Iterator<Item = Type> {
        let own = self.components.iter().filter(|component| component.role == Role::User);
        own.map(|component| component.identity.ty())
    }

    fn carry(&self) -> impl Iterator<Item = Type> {
        let previous = self.components.iter().filter(|component| component.role == Role::Previous);
        self.state().chain(previous.map(|component| component.identity.ty()))
    }

    fn keeps(&self) -> bool {
        self.keeps
    }
}

/// The input columns that are the program's own.
fn inputs(manifest: &AotManifest) -> &[Layout] {
    let inputs = &manifest.launch.inputs;
    match inputs.split_last() {
        Some((_flags, own)) if manifest.form.heads => own,
        _ => inputs,
    }
}

fn refuse(expected: &'static str, got: &'static str) -> AotError {
    AotError::Call { expected, got }
}

/// The kernel's program has the call's form.
fn expect_form(manifest: &AotManifest, call: &Call<'_>) -> Result<(), AotError> {
    let form = manifest.form;
    let mode = |mode| match mode {
        Mode::Inclusive => "inclusive scans",
        Mode::Exclusive => "exclusive scans",
    };
    if form.mode != call.mode {
        return Err(refuse(mode(form.mode), mode(call.mode)));
    }
    match (form.heads, matches!(call.shape, Shape::FlagColumn(_))) {
        (true, false) => return Err(refuse("flagged segments", "none")),
        (false, true) => return Err(refuse("scans without segments", "flagged segments")),
        _ => {}
    }
    if form.heads && call.init.is_some() && !form.init {
        return Err(refuse("segments that start from identities", "segments that start from a given state"));
    }
    Ok(())
}

/// The call's states lie in the ranges that the kernel relies on.
fn expect_states(manifest: &AotManifest, call: &Call<'_>) -> Result<(), AotError> {
    for (argument, state) in [("init", call.init), ("carry", call.carry)] {
        let own = manifest.components.iter().filter(|component| component.role == Role::User);
        for (component, (known, &got)) in own.zip(state.into_iter().flatten()).enumerate() {
            if !known.range.holds(got) {
                let (expected, got) = (known.range.to_string(), got.to_string());
                return Err(AotError::State { argument, component, expected, got });
            }
        }
    }
    Ok(())
}

/// The kernel's schedule goes through such records.
fn expect_way(manifest: &AotManifest, call: &Call<'_>, span: Span) -> Result<(), AotError> {
    let has_rows = matches!(call.shape, Shape::Rows(_));
    match manifest.launch.plan.schedule {
        Schedule::Ring { .. } if span.rows > 1 || span.step > 1 => Err(refuse("lines", "rows")),
        Schedule::Ring { .. } if call.reversed => Err(refuse("scans from the first record on", "a reversed scan")),
        Schedule::LookBack if span.step != 1 => Err(refuse("rows one after the other", "rows side by side")),
        Schedule::Columnar if !has_rows => Err(refuse("rows", "a line")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
