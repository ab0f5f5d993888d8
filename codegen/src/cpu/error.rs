//! Why a program was not compiled.

use monoscan_ir::Opcode;
use thiserror::Error;

/// Why a program was not compiled.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum CodegenError {
    /// The program still reads `State`, or keeps records without counting them.
    #[error("the program was not lowered for a call")]
    NotLowered,
    /// The machine is not one that code can be generated for.
    #[error("code cannot be generated for this machine: {0}")]
    Host(String),
    /// The number of interleaved blocks is not 1, 2, 4 or 8.
    #[error("a kernel interleaves 1, 2, 4 or 8 blocks, not {0}")]
    Ways(u32),
    /// An instruction is typed wrongly: the facts belong to another program.
    #[error("an instruction `{}` does not fit its operands; do the facts belong to this program?", .0.name())]
    Malformed(Opcode),
    /// Facts and program do not belong together.
    #[error("the facts belong to another program")]
    Facts,
    /// The code generator gave up, in its own words.
    #[error("Cranelift: {0}")]
    Cranelift(String),
}

impl From<cranelift_module::ModuleError> for CodegenError {
    fn from(error: cranelift_module::ModuleError) -> CodegenError {
        CodegenError::Cranelift(format!("{error:?}"))
    }
}
