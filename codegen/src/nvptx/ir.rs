//! A kernel as LLVM IR, before LLVM has seen it. Writing it takes a small part of the time that
//! LLVM takes, and what it says is all that its machine code depends on: so it is the key by which
//! machine code is found again.

use super::{Kernel, KernelPlan, as_ptx_kernel};
use crate::gpu::{Arch, Manifest};
use crate::nvptx::emit::{Passes, assemble, key};
use crate::nvptx::error::NvptxError;

/// A kernel that LLVM may be asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelIr {
    /// The module, which calls intrinsics.
    text: String,
    passes: Passes,
    arch: Arch,
    /// How it is launched.
    pub manifest: Manifest,
}

impl KernelIr {
    /// Writes the kernel of a plan.
    pub fn new(plan: &KernelPlan) -> KernelIr {
        let (Kernel { text, manifest }, arch) = (plan.emulated(), plan.arch());
        let text = as_ptx_kernel(&text, "scan", manifest.arguments.bytes(), (manifest.threads, 1));
        KernelIr { text, passes: plan.passes(), arch, manifest }
    }

    /// The SHA-256 hash of all that decides its PTX: the module, the target, and the version of LLVM. It is the same in every
    /// process.
    pub fn key(&self) -> [u8; 32] {
        key(&self.text, self.passes, self.arch.name(), self.arch.feature())
    }

    /// Its PTX, by LLVM.
    ///
    /// # Errors
    /// [`NvptxError::Llvm`], which is a bug in monoscan.
    pub fn compile(&self) -> Result<String, NvptxError> {
        assemble(&self.text, self.passes, self.arch.name(), self.arch.feature())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::{AccessPattern, GpuPlan};
    use monoscan_ir::transform::{Form, Lowered, lower};
    use monoscan_ir::{Mode, Program, Verified, text, verify};
    use scan_kit::random;

    /// A program with this constant.
    fn program(constant: &str) -> Verified<Program> {
        let source = include_str!("../../../benches/gpu/src/latency/affine.scan").replace("123456", constant);
        verify(text::parse(&source).unwrap()).unwrap()
    }

    fn look_back(program: &Lowered) -> Option<GpuPlan> {
        KernelPlan::new(program, AccessPattern::Any, Arch::Sm90).ok().map(|plan| plan.plan().clone())
    }

    fn ir(program: &Verified<Program>, form: Form, plan: &GpuPlan, arch: Arch) -> KernelIr {
        KernelIr::new(&KernelPlan::with(&lower(program, form), plan, arch).unwrap())
    }

    #[test]
    fn whatever_makes_another_kernel_makes_another_key() {
        let (program, form) = (program("7"), Form::default());
        let plan = look_back(&lower(&program, form)).unwrap();
        let kernels = [
            ir(&program, form, &plan, Arch::Sm90),
            ir(&program, form, &GpuPlan::columnar(4), Arch::Sm90),
            ir(&program, form, &GpuPlan { warps: plan.warps / 2, ..plan.clone() }, Arch::Sm90),
            ir(&program, form, &GpuPlan { load_groups: plan.load_groups - 2, ..plan.clone() }, Arch::Sm90),
            ir(&program, form, &plan, Arch::Sm100),
            ir(&program, Form { mode: Mode::Exclusive, ..form }, &plan, Arch::Sm90),
            ir(&program, Form { heads: true, ..form }, &plan, Arch::Sm90),
        ];
        let mut keys = kernels.each_ref().map(KernelIr::key).to_vec();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), kernels.len());
    }

    /// A constant of the program, which no layout and no plan shows.
    #[test]
    fn constants_are_part_of_the_key() {
        let of = |constant| {
            let program = program(constant);
            let plan = look_back(&lower(&program, Form::default())).unwrap();
            ir(&program, Form::default(), &plan, Arch::Sm90)
        };
        assert_eq!(of("7").key(), of("7").key());
        assert_eq!(of("7").manifest, of("8").manifest);
        assert_ne!(of("7").key(), of("8").key());
    }

    /// The order of a hash map, if any came into the text, would differ from one writing to the next.
    #[test]
    fn a_kernel_is_written_the_same_way_every_time() {
        for seed in 0..20 {
            let program = verify(random::random_program(seed, &random::Options::default())).unwrap();
            let Some(plan) = look_back(&lower(&program, Form::default())) else { continue };
            let [one, other] = [(); 2].map(|()| ir(&program, Form::default(), &plan, Arch::Sm90));
            assert_eq!(one, other);
            assert_eq!(one.key(), other.key());
        }
    }
}
