//! GPUs through the CUDA driver: devices, memory, streams, modules and launches. Nothing here knows
//! of scans.
//!
//! The driver's library is loaded when it is first needed, so a program that contains this runs on
//! machines without it, and gets an error there. A [`Device`] stands for the primary context, which
//! all libraries of a process share: it is never reset, and every call here leaves a thread's
//! current context as it was.
//!
//! - What a device does, it does in [`Stream`]s: its own, or the caller's.
//!   [`Event`]s mark places in them.
//! - Memory is a [`DeviceBuffer`] or, by [`DeviceRead`] and [`DeviceWrite`], anyone's. Copies that
//!   borrow host memory wait; those that do not wait are `unsafe`, and want [`PinnedBuffer`]s.
//! - A [`Module`] is linked from PTX, or comes as a cubin, from a [`CubinCache`] on disk if one is
//!   asked for. Its [`Kernel`]s take one struct by value.
//! - A [`Workspace`] is what the blocks of a kernel talk through; its [`Header`] says how it went.
//! - A [`Graph`] is work that was captured instead of done. Everything here may be done while some
//!   stream is captured, and what a graph uses can be [kept](keep_with_graph) with it.
//!
//! Launching is `unsafe`, since kernels get addresses. Here `unsafe` is in the files that call the
//! driver, a block for each call: nothing checks what the driver is given but the argument at that
//! block.

mod architecture;
mod capture;
mod cubins;
mod device;
mod driver;
mod error;
mod event;
#[cfg(test)]
pub(crate) mod fake;
mod graph;
mod kernel;
mod locks;
mod memory;
mod module;
mod pinned;
mod refused;
mod slice;
mod stream;
mod workspace;

pub use architecture::Architecture;
pub use capture::keep_with_graph;
pub use cubins::CubinCache;
pub use device::{Device, DeviceFacts};
pub use error::CudaError;
pub use event::Event;
pub use graph::Graph;
pub use kernel::{Kernel, KernelFacts};
pub(crate) use locks::StreamLocks;
pub use memory::{DeviceBuffer, DeviceRead, DeviceWrite};
pub use module::{CompileTimes, Cubin, Module};
pub use pinned::PinnedBuffer;
pub use refused::{ArgumentError, DirectoryError, KernelFault, Target};
pub use slice::{DeviceSlice, DeviceSliceMut};
pub use stream::Stream;
pub use workspace::{Header, Workspace};
