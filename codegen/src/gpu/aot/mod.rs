//! Kernels made ahead of time: what stands in the file beside the PTX.
//!
//! A process that compiles a kernel knows the program that it was made from. One that loads a kernel from a file has
//! this manifest instead: all that a call is checked against, and all that a launch needs. It is text, one `key value`
//! a line, so that people read it, differences show, and a file that was cut or edited is refused at its line:
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
//! Lines stand in this order; `component`, `input` and `column` stand as often as there are such. Empty lines, and
//! lines that begin with `#`, mean nothing.

mod parse;
mod print;

use monoscan_ir::facts::{Facts, Range};
use monoscan_ir::transform::{Form, rank_stage};
use monoscan_ir::{Constant, Program};

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

/// Where a component of a lowered program comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Role {
    /// The program has it.
    Own,
    /// Lowering added it.
    Added,
    /// It is of the record before the next one: carries have it, seeds do not.
    Previous,
    /// It counts the records that were kept.
    Rank,
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
    /// The manifest of a kernel of `lowered`, which is `program` in this form, with these facts about it. The version
    /// is this one.
    pub fn new(
        (program, lowered): (&Program, &Program),
        facts: &Facts,
        form: Form,
        arch: Arch,
        launch: Manifest,
        ptx_sha256: String,
    ) -> AotManifest {
        let rank = rank_stage(lowered).map(|stage| stage as usize);
        let previous = if form.previous { program.first_carry().len() - program.state_len() } else { 0 };
        let components = lowered.stages.iter().enumerate().flat_map(|(place, stage)| {
            let own = program.stages.get(place).map_or(0, |stage| stage.state.len());
            let previous = if place == program.stages.len() { previous } else { 0 };
            let ranges = &facts.stages[place].ranges;
            stage.identity.iter().zip(ranges).enumerate().map(move |(component, (&identity, &range))| {
                let role = match component {
                    0 if rank == Some(place) => Role::Rank,
                    _ if component < own => Role::Own,
                    _ if component < previous => Role::Previous,
                    _ => Role::Added,
                };
                Component { role, identity, range }
            })
        });
        AotManifest {
            version: env!("CARGO_PKG_VERSION").into(),
            program: program.name.escape_debug().to_string(),
            arch,
            ptx_sha256,
            form,
            keeps: program.output.keep.is_some(),
            components: components.collect(),
            launch,
        }
    }
}

#[cfg(test)]
mod tests;
