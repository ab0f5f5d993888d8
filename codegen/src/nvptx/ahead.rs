//! Kernels made ahead of time, with the manifests that stand beside them.

use monoscan_ir::transform::Form;
use monoscan_ir::{Program, Verified};

use super::{KernelIr, KernelPlan, NvptxError};
use crate::gpu::{AccessPattern, AotManifest, Arch, lowered_for, sha256};

/// A kernel made ahead of time: what its two files hold.
#[derive(Clone, PartialEq, Debug)]
pub struct AotFiles {
    /// The PTX.
    pub ptx: String,
    /// The facts that a call needs.
    pub manifest: AotManifest,
}

/// Makes the kernel of a program for calls of this form, gone through this access pattern. Seeds must lie in the ranges that hold
/// without them, unless `any_states` asks for a kernel that takes none for granted.
///
/// # Errors
/// No plan fits the program, or LLVM refuses the kernel.
pub fn compile_ahead(
    program: &Verified<Program>,
    (form, any_states): (Form, bool),
    pattern: AccessPattern,
    arch: Arch,
) -> Result<AotFiles, NvptxError> {
    // Calls may resume a stream, whose carry then has the record before; for others it says that there is none.
    let form = Form { previous: program.reads_previous(), ..form };
    let lowered = lowered_for(program, (form, any_states));
    let ir = KernelIr::new(&KernelPlan::new(&lowered, pattern, arch)?);
    let (ptx, launch) = (ir.compile()?, ir.manifest);
    let hash = sha256(&ptx);
    Ok(AotFiles { ptx, manifest: AotManifest::new(program.clone(), lowered, arch, launch, hash) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use monoscan_ir::{text, verify};

    #[test]
    fn the_manifest_is_that_of_the_kernel() {
        let source = include_str!("../../../ir/tests/files/facts/affine.scan");
        let program = verify(text::parse(source).unwrap()).unwrap();
        let made = compile_ahead(&program, (Form::default(), false), AccessPattern::Any, Arch::Sm90).unwrap();
        let manifest: AotManifest = made.manifest.to_string().parse().unwrap();
        assert_eq!(manifest, made.manifest);
        assert_eq!(manifest.launch.inputs, program.inputs);
        assert_eq!(manifest.launch.outputs, program.output.columns);
        assert!(made.ptx.contains(".target sm_90"));
        let other = compile_ahead(&program, (Form::default(), false), AccessPattern::Columnar, Arch::Sm90).unwrap();
        assert_ne!(other.manifest.ptx_sha256, manifest.ptx_sha256);
    }
}
