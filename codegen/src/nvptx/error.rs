//! Why a kernel could not be made.

/// Why a kernel could not be made.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NvptxError {
    /// The plan asks for what this program or this architecture does not have.
    #[error("the plan does not fit: {0}")]
    Plan(String),
    /// LLVM refused the module: a bug in monoscan.
    #[error("LLVM refused a generated module, which is a bug in monoscan: {0}")]
    Llvm(String),
}
