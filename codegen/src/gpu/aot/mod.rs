//! Kernels made ahead of time: what stands in the file beside the PTX.
//!
//! A process that compiles a kernel knows the program that it was made from. One that loads a
//! kernel from a file has this manifest instead: all that a call is checked against, and all that a
//! launch needs. It is text, one `key value` a line, so that people read it, differences show, and
//! a file that was cut or edited is refused at its line:
//!
//! ```text
//! monoscan-kernel 2
//! version 0.1.0
//! program sum_i32
//! arch sm_90
//! ptx-sha256 8f4e…
//! mode inclusive
//! heads false
//! init false
//! output write
//! schedule ring buffers 5 ahead 3
//! warps 8
//! load-group 4
//! load-groups 9
//! threads 352
//! shared-bytes 204800
//! tile-state-bytes 8
//! states { size 4, align 4, i32 @ 0 }
//! component own 0 -2147483648..=2147483647
//! input { size 4, align 4, i32 @ 0 }
//! column { size 4, align 4, i32 @ 0 }
//! end
//! ```
//!
//! Lines stand in this order; `component`, `parameter` (behind the components, with its type),
//! `input` and `column` stand as often as there are such. Empty lines, and lines that begin with
//! `#`, mean nothing.

mod parse;
mod print;

use monoscan_ir::Constant;
use monoscan_ir::facts::Range;
use monoscan_ir::transform::{Form, Lowered, Role};

use super::{Arch, Manifest};

/// The version of the text form.
const FORMAT: u32 = 2;

/// What is known of a kernel that was made ahead of time.
#[derive(Clone, PartialEq, Debug)]
pub struct AotManifest {
    /// The version of monoscan that made it.
    pub version: String,
    /// The program's name, as one line of text.
    pub program: String,
    /// The architecture that it was made for.
    pub arch: Arch,
    /// The SHA-256 hash of the PTX, in hexadecimal.
    pub ptx_sha256: String,
    /// The calls that it was made for.
    pub form: Form,
    /// Whether the program keeps some records only.
    pub keeps: bool,
    /// The components of the lowered program's states, all stages in order.
    pub components: Vec<Component>,
    /// How it is launched.
    pub launch: Manifest,
}

/// A component of the lowered program's states.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Component {
    /// Where it comes from.
    pub role: Role,
    /// Its value in the identity.
    pub identity: Constant,
    /// What the kernel takes for granted of it, so what initial states must lie in.
    pub range: Range,
}

/// Why a text is no manifest.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: expected {expected}, got {got}")]
pub struct ManifestError {
    /// The line, from 1; one behind the last if the text ends too early.
    pub line: usize,
    /// What was expected there.
    pub expected: String,
    /// What is there.
    pub got: String,
}

impl AotManifest {
    /// The manifest of a kernel of this program. The version is this one.
    pub fn new(program: &Lowered, arch: Arch, launch: Manifest, ptx_sha256: String) -> AotManifest {
        let components =
            (0..).zip(program.stages.iter().zip(program.facts())).flat_map(|(stage, (declared, facts))| {
                let components = (0..).zip(declared.identity.iter().zip(&facts.ranges));
                components.map(move |(component, (&identity, &range))| Component {
                    role: program.role(stage, component),
                    identity,
                    range,
                })
            });
        AotManifest {
            version: env!("CARGO_PKG_VERSION").into(),
            program: program.name.escape_debug().to_string(),
            arch,
            ptx_sha256,
            form: program.form(),
            keeps: program.output.filter.is_some(),
            components: components.collect(),
            launch,
        }
    }
}

#[cfg(test)]
mod tests;
