//! The parts of kernels, for studies of schedules beside the product (`benches/ladder`). No stable
//! interface.

pub use super::emit::{Builder, Ty, Value, Var};
pub use super::kernel::arguments::KernelArguments;
pub use super::kernel::bytes::Bytes;
pub use super::kernel::columns::{access, group_bytes, is_packed, load_field, store_fields};
pub use super::kernel::element::Element;
pub use super::kernel::items::Pass;
pub use super::kernel::recipe::Recipe;
pub use super::kernel::state::{Packing, State, select};
pub use super::kernel::ticket;
pub use super::kernel::tile_states::TileStates;
pub use super::kernel::warp::{Lanes, get, set, variables};
pub use super::lower::{Tables, ty as register_type};
pub use super::strategy::fold::{Fold, FoldToReplay};
pub use super::strategy::replay::Replay;

use super::NvptxError;
use super::emit::{Passes, assemble};
use crate::gpu::Arch;

/// The head of the kernel of this name, for [`Builder::function`].
pub fn head(entry: &str) -> String {
    super::head(entry)
}

/// The PTX of a module of kernels, each a name and the threads of its blocks, which all take so many bytes of arguments.
///
/// # Errors
/// LLVM refuses the module or lacks the architecture.
pub fn compile<'e>(
    module: &str,
    kernels: impl IntoIterator<Item = (&'e str, usize)>,
    bytes: usize,
    arch: Arch,
) -> Result<String, NvptxError> {
    let by_value =
        |text: String, (entry, threads): (&str, usize)| super::as_ptx_kernel(&text, entry, bytes, (threads, 1));
    let text = kernels.into_iter().fold(module.to_owned(), by_value);
    assemble(&text, Passes::All, arch.name(), arch.feature())
}
