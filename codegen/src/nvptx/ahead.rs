//! Kernels made ahead of time, with the manifests that stand beside them.

use monoscan_ir::transform::{Form, Lowered, lower};
use monoscan_ir::{Program, Verified};
use sha2::{Digest, Sha256};

use super::{Kernel, NvptxError, compile};
use crate::gpu::{AccessPattern, AotManifest, Arch, GpuPlan};

/// A kernel made ahead of time: what its two files hold.
#[derive(Clone, PartialEq, Debug)]
pub struct AotFiles {
    /// The PTX.
    pub ptx: String,
    /// What must be known to call it.
    pub manifest: AotManifest,
}

/// Makes the kernel of a program for calls of this form, gone through this access pattern. Seeds must lie in the ranges that hold
/// without them, which the manifest names, unless `any_states` asks for a kernel that takes none for granted.
///
/// # Errors
/// No plan fits the program, or LLVM refuses the kernel.
pub fn compile_ahead(
    program: &Verified<Program>,
    (form, any_states): (Form, bool),
    pattern: AccessPattern,
    arch: Arch,
) -> Result<AotFiles, NvptxError> {
    if !program.parameters.is_empty() {
        return Err(NvptxError::Plan("kernels made ahead of time have no parameters: bind them as constants".into()));
    }
    // Kernels for GPUs read no record before an element's own.
    let form = Form { previous: program.reads_previous(), ..form };
    let lowered = lower(program, form);
    let lowered = if any_states { lowered.for_any_states() } else { lowered };
    let Kernel { text, manifest } = compile_first(&lowered, pattern.plans(&lowered, arch), arch)?;
    let hash: String = Sha256::digest(&text).iter().map(|byte| format!("{byte:02x}")).collect();
    let manifest = AotManifest::new(&lowered, arch, manifest, hash);
    Ok(AotFiles { ptx: text, manifest })
}

/// The kernel of the first plan that the program has one for.
fn compile_first(
    program: &Lowered,
    plans: impl IntoIterator<Item = GpuPlan>,
    arch: Arch,
) -> Result<Kernel, NvptxError> {
    let mut refused = NvptxError::Plan("no tile of the program fits a block".into());
    for plan in plans {
        match compile(program, &plan, arch) {
            Err(NvptxError::Plan(why)) => refused = NvptxError::Plan(why),
            made => return made,
        }
    }
    Err(refused)
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
