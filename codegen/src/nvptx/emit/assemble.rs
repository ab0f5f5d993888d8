//! From LLVM IR as text to PTX as text.

use inkwell::OptimizationLevel;
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::{CodeModel, FileType, InitializationConfig, RelocMode, Target, TargetTriple};
use sha2::{Digest, Sha256};

use crate::nvptx::error::NvptxError;

/// The intrinsics in PTX.
const INTRINSICS: &str = include_str!("intrinsics.ll");

/// This file, which says what LLVM is asked for.
const THIS: &str = include_str!("assemble.rs");

/// LLVM's passes over a module before it selects instructions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Passes {
    /// Few, and of those for loops only the one that moves out of them what stays the same. Enough for a ring, whose work is in long
    /// stretches without branches: their machine code is the same but for some moves.
    Few,
    /// All of LLVM's second level: kernels that loop over records gain by it. None gains by the third.
    All,
}

impl Passes {
    fn names(self) -> &'static str {
        match self {
            // Reassociation keeps states of bits in registers, and vectors of two 16-bit lanes are what PTX adds at once.
            Passes::Few => {
                "always-inline,\
                 function(sroa,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,reassociate,loop-mssa(licm),gvn,\
                 slp-vectorizer,vector-combine,instcombine<no-verify-fixpoint>,simplifycfg,adce),\
                 globaldce"
            }
            Passes::All => "default<O2>",
        }
    }
}

/// A hash of all that decides what [`assemble`] makes of a module, LLVM's version included.
pub(crate) fn key(module: &str, passes: Passes, processor: &str, features: &str) -> [u8; 32] {
    let (major, minor, patch) = inkwell::support::get_llvm_version();
    let mut hash = Sha256::new();
    for part in [module, passes.names(), processor, features, INTRINSICS, THIS, &format!("{major}.{minor}.{patch}")] {
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

/// Optimises a module that calls intrinsics, and writes it as PTX for a processor (`sm_90`) in a version of PTX (`+ptx84`).
pub(crate) fn assemble(module: &str, passes: Passes, processor: &str, features: &str) -> Result<String, NvptxError> {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| Target::initialize_nvptx(&InitializationConfig::default()));
    // Intrinsics are defined here, so their declarations go.
    let lines = module.lines().filter(|line| !(line.starts_with("declare") && line.contains("@scan.")));
    let text = lines.chain(INTRINSICS.lines()).collect::<Vec<_>>().join("\n");
    let context = Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "kernel");
    let module = context.create_module_from_ir(buffer).map_err(refused)?;
    let triple = TargetTriple::create("nvptx64-nvidia-cuda");
    let target = Target::from_triple(&triple).map_err(refused)?;
    let machine = target
        .create_target_machine(
            &triple,
            processor,
            features,
            OptimizationLevel::Aggressive,
            RelocMode::Default,
            CodeModel::Default,
        )
        .ok_or_else(|| NvptxError::Processor { processor: processor.into() })?;
    module.set_triple(&triple);
    module.set_data_layout(&machine.get_target_data().get_data_layout());
    module.verify().map_err(refused)?;
    module.run_passes(passes.names(), &machine, PassBuilderOptions::create()).map_err(refused)?;
    let ptx = machine.write_to_memory_buffer(&module, FileType::Assembly).map_err(refused)?;
    Ok(String::from_utf8_lossy(ptx.as_slice()).trim_end_matches('\0').to_owned())
}

fn refused(message: impl ToString) -> NvptxError {
    NvptxError::Llvm { message: message.to_string() }
}
