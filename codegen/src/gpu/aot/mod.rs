//! Kernels made ahead of time: what stands in the file beside the PTX.
//!
//! A process that compiles a kernel knows the program that it was made from. One that loads a
//! kernel from a file has this manifest instead: all that a call is checked against, and all that a
//! launch needs. It is text, one `key value` a line, so that people read it, differences show, and
//! a file that was cut or edited is refused at its line:
//!
//! ```text
//! monoscan-kernel 6
//! version 0.1.0
//! arch sm_90
//! ptx-sha256 8f4e…
//! lowered-sha256 03b1…
//! mode inclusive
//! heads false
//! start identity
//! checked false
//! any-states false
//! schedule ring buffers 5 ahead 3
//! warps 8
//! load-group 4
//! load-groups 9
//! threads 352
//! shared-bytes 204800
//! tile-state-bytes 8
//! program sum_i32
//!   input { size 4, align 4, i32 @ 0 }
//!   …
//! end
//! ```
//!
//! Lines stand in this order, the [text form](monoscan_ir::text) of the program as the last. Empty
//! lines, and lines before the program that begin with `#`, mean nothing. Columns, arguments and
//! states are those of the program as it is lowered for the form; a version of monoscan that lowers
//! it in another way refuses the kernel.

mod expected;
mod parse;
mod print;

use monoscan_ir::text::ParseErrors;
use monoscan_ir::transform::{Form, Lowered, lower};
use monoscan_ir::{Diagnostics, Program, Verified};
use sha2::{Digest, Sha256};

pub use expected::{ExpectedLine, ExpectedValue, FoundLine};

use super::{Arch, Arguments, GpuPlan, Manifest};

/// The version of the text form.
const FORMAT: u32 = 6;

/// The manifest of a kernel that was made ahead of time.
#[derive(Clone, PartialEq, Debug)]
pub struct AotManifest {
    /// The version of monoscan that made it.
    pub version: String,
    /// The architecture that it was made for.
    pub arch: Arch,
    /// The SHA-256 hash of the PTX, in hexadecimal.
    pub ptx_sha256: String,
    /// Its program.
    pub program: Verified<Program>,
    /// The program in the form of the calls that it was made for; for any states, if it was made for those.
    pub lowered: Lowered,
    /// How it is launched.
    pub launch: Manifest,
}

/// Why a text is no manifest.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ManifestError {
    /// A line is wrong.
    #[error("line {line}: expected {expected}, got {got}")]
    Line {
        /// The line, from 1; one behind the last if the text ends too early.
        line: usize,
        /// The word that was expected there.
        expected: ExpectedLine,
        /// The word that is there; nothing at the end of the text.
        got: FoundLine,
    },
    /// The text from the line of the program's name on is no program.
    #[error("the program from line {line} on: {errors}")]
    Program {
        /// The line of the program's name, from 1.
        line: usize,
        /// The fault; its lines are counted from that one.
        errors: ParseErrors,
    },
    /// The program breaks an invariant of the IR.
    #[error("the program is invalid:\n{0}")]
    Invalid(#[from] Diagnostics),
    /// Another version made it, whose lowered programs are others.
    #[error(
        "the kernel was made by monoscan {version}, which lowers its program in another way than this version, {}: make \
         it again",
        env!("CARGO_PKG_VERSION")
    )]
    Lowered {
        /// The version that made it.
        version: String,
    },
}

impl AotManifest {
    /// The manifest of a kernel of this program, which was lowered; `launch` is how it is launched. The version is this
    /// one.
    pub fn new(
        program: Verified<Program>,
        lowered: Lowered,
        arch: Arch,
        launch: Manifest,
        ptx_sha256: String,
    ) -> AotManifest {
        AotManifest { version: env!("CARGO_PKG_VERSION").into(), arch, ptx_sha256, program, lowered, launch }
    }

    /// The calls that the kernel was made for.
    pub fn form(&self) -> Form {
        self.lowered.form()
    }
}

/// The program in a form, for any states if that is asked for.
pub(crate) fn lowered_for(program: &Verified<Program>, (form, any_states): (Form, bool)) -> Lowered {
    let lowered = lower(program, form);
    if any_states { lowered.for_any_states() } else { lowered }
}

/// The hash of bytes, in hexadecimal.
pub fn sha256(bytes: impl AsRef<[u8]>) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The hash of all that a launch takes from the lowered program: the program, and the ranges that kernels rely on.
fn lowered_sha256(lowered: &Lowered) -> String {
    let ranges: Vec<_> = lowered.facts().iter().map(|stage| &stage.ranges).collect();
    sha256(format!("{}{ranges:?}", **lowered))
}

/// How a kernel of this lowered program is launched.
fn launch(lowered: &Lowered, plan: GpuPlan, [threads, shared_bytes, tile_state_bytes]: [usize; 3]) -> Manifest {
    let (inputs, outputs) = (lowered.inputs.clone(), lowered.output.columns.clone());
    Manifest { plan, threads, shared_bytes, tile_state_bytes, arguments: Arguments::of(lowered), inputs, outputs }
}

#[cfg(test)]
mod tests;
