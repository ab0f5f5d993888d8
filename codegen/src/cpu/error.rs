//! Why a program was not compiled.

use monoscan_ir::{Opcode, Type};
use thiserror::Error;

use super::recipe::Kernel;

/// Why a program was not compiled.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum CodegenError {
    /// The machine is not one that code can be generated for.
    #[error(
        "code cannot be generated for this machine, a {}: it is neither x86-64 nor AArch64",
        std::env::consts::ARCH
    )]
    Machine,
    /// The code generator does not know the machine, or not with these settings.
    #[error("code cannot be generated for this machine: Cranelift says {message}")]
    Host {
        /// Cranelift's message.
        message: String,
    },
    /// The number of interleaved blocks is not 1, 2, 4 or 8.
    #[error("a kernel interleaves 1, 2, 4 or 8 blocks, not {0}")]
    Interleave(u32),
    /// The program has no such kernel.
    #[error("the program has no kernel {0:?}")]
    NoKernel(Kernel),
    /// States were laid out that are not the program's.
    #[error("the states are of {expected:?}, not of {got:?}")]
    States {
        /// The types of the program's components.
        expected: Vec<Type>,
        /// Those of the layout.
        got: Vec<Type>,
    },
    /// An instruction is typed wrongly: a bug in monoscan.
    #[error("an instruction `{}` does not fit its operands, which is a bug in monoscan", .0.name())]
    Malformed(Opcode),
    /// A lexer has more states that accept, or lead to themselves, than are compiled.
    #[error("a lexer of {states} states that accept or lead to themselves is not compiled: expected at most {most}")]
    LexerTooLarge {
        /// How many it has.
        states: usize,
        /// How many it may have.
        most: usize,
    },
    /// The code generator gave up: a bug in monoscan.
    #[error("Cranelift refused a generated function, which is a bug in monoscan: {message}")]
    Cranelift {
        /// Cranelift's message.
        message: String,
    },
    /// Code refers to a function that nobody gave: a bug in monoscan.
    #[error("generated code refers to {relocation}, where nothing is, which is a bug in monoscan")]
    Unresolved {
        /// Cranelift's name of the place.
        relocation: String,
    },
    /// The system gave no memory for code, or did not let it be executed.
    #[error("the system gave no executable memory: {0}")]
    Memory(std::io::ErrorKind),
}

impl From<std::io::Error> for CodegenError {
    fn from(error: std::io::Error) -> CodegenError {
        CodegenError::Memory(error.kind())
    }
}
