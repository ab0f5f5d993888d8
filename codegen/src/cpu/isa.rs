//! The machine that code is generated for: this one, with all it can do, or with the least that its
//! kind can.

use std::sync::{Arc, OnceLock};

use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};

use super::error::CodegenError;

/// The host as a target of code generation.
#[derive(Clone)]
pub struct HostIsa {
    pub(crate) isa: OwnedTargetIsa,
    pub(crate) x86: bool,
    pub(crate) pshufb: bool,
    /// All that forms in lanes need: byte shuffles, blends and minima of all widths, rounding.
    pub(crate) lanes: bool,
    /// A fused multiply-add is one instruction.
    pub(crate) fma: bool,
}

impl HostIsa {
    /// This machine with every extension it has. Found once, then shared.
    ///
    /// # Errors
    /// If it is neither x86-64 nor AArch64.
    pub fn native() -> Result<Arc<HostIsa>, CodegenError> {
        static NATIVE: OnceLock<Result<Arc<HostIsa>, CodegenError>> = OnceLock::new();
        NATIVE.get_or_init(|| HostIsa::make(true).map(Arc::new)).clone()
    }

    /// This machine as if it had no extensions: what the oldest of its kind runs, much slower.
    ///
    /// # Errors
    /// If it is neither x86-64 nor AArch64.
    pub fn baseline() -> Result<Arc<HostIsa>, CodegenError> {
        HostIsa::make(false).map(Arc::new)
    }

    fn make(extensions: bool) -> Result<HostIsa, CodegenError> {
        let x86 = cfg!(target_arch = "x86_64");
        if !x86 && !cfg!(all(target_arch = "aarch64", target_endian = "little")) {
            return Err(CodegenError::Machine);
        }
        let host = |error: &dyn ToString| CodegenError::Host { message: error.to_string() };
        let mut flags = settings::builder();
        let wanted = [
            ("opt_level", "speed"),
            // Cranelift would verify what each of its passes makes. What we write is verified once, in tests.
            ("enable_verifier", "false"),
            ("is_pic", "false"),
            // Generated code calls nothing that unwinds and is never unwound through.
            ("unwind_info", "false"),
            ("preserve_frame_pointers", "false"),
            ("enable_probestack", "false"),
            // Helpers may lie further away than a near call reaches.
            ("use_colocated_libcalls", "false"),
        ];
        for (name, value) in wanted {
            flags.set(name, value).map_err(|error| host(&format!("{name}: {error}")))?;
        }
        let builder = cranelift_native::builder_with_options(extensions).map_err(|error| host(&error))?;
        let isa = builder.finish(settings::Flags::new(flags)).map_err(|error| host(&error))?;
        let has = |name: &str| isa.isa_flags().iter().any(|flag| flag.name == name && flag.as_bool() == Some(true));
        let pshufb = x86 && has("has_ssse3");
        let lanes = !x86 || pshufb && has("has_sse41") && has("has_sse42");
        let fma = !x86 || has("has_fma");
        Ok(HostIsa { isa, x86, pshufb, lanes, fma })
    }
}

impl std::fmt::Debug for HostIsa {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "HostIsa({})", self.isa.triple())
    }
}
