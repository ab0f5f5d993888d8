//! Why a rung does not run.

use monoscan_codegen::nvptx::NvptxError;
use monoscan_runtime::cuda::CudaError;

/// Why a rung does not run a program, or failed to.
#[derive(Debug, thiserror::Error)]
pub enum LadderError {
    /// The rung does not run this program, or not on this architecture.
    #[error("{0}")]
    Unfit(String),
    /// Its kernels could not be made.
    #[error(transparent)]
    Nvptx(#[from] NvptxError),
    /// The driver failed, or a kernel did.
    #[error(transparent)]
    Cuda(#[from] CudaError),
}
