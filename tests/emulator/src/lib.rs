//! A GPU made of software: it runs the kernels of `monoscan-codegen` on the CPU, where their
//! mistakes can be found.
//!
//! A kernel is LLVM IR in which everything that only a GPU has is a call of an *intrinsic*, a
//! function of `nvptx/emit/intrinsics.ll`. For a GPU the intrinsics are a few lines of PTX each.
//! Here LLVM compiles the same text for this processor, and the intrinsics call the emulator.
//!
//! ```
//! use scan_emulator::{Device, Kernel, Launch};
//!
//! let kernel = Kernel::compile(
//!     "declare i32 @scan.thread()
//!      define void @squares(ptr %args) {
//!        %buffer = load ptr addrspace(1), ptr %args, align 8
//!        %thread = call i32 @scan.thread()
//!        %place = getelementptr i32, ptr addrspace(1) %buffer, i32 %thread
//!        %square = mul i32 %thread, %thread
//!        store i32 %square, ptr addrspace(1) %place, align 4
//!        ret void
//!      }",
//!     "squares",
//! )?;
//! let mut device = Device::new();
//! let buffer = device.buffer(&[0; 32 * 4]);
//! let args = device.address(buffer).to_le_bytes();
//! kernel.launch(&mut device, &Launch { args: &args, ..Launch::default() })?;
//! assert_eq!(device.read(buffer)[7 * 4], 49);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What it is unkind about
//!
//! A GPU lets many mistakes pass, most of the time. The emulator looks for the worst that the
//! contract of the intrinsics allows:
//!
//! - *Schedules.* One thread of this machine runs all threads of the kernel, as fibers, and at
//!   every intrinsic any of them may be next. A seed fixes the schedule, so a failure can be had
//!   again. Blocks begin in any order, and only so many at a time.
//! - *Shared memory* begins as random bytes. Each ordinary access must be ordered after those it
//!   conflicts with, by the barriers of the contract alone; what is not is a race, and an error,
//!   even if this schedule did no harm (see `order.rs`).
//! - *Bulk copies* poison their destination, then move pieces at random moments. They must not
//!   touch bytes that others still use, or whose ordinary writes no `bulk_fence` of the writer
//!   follows.
//! - *Words for other blocks* arrive late and in any order, unless they are for the same bytes.
//!   Bytes that a block wrote in any other way are for that block alone until the launch ends.
//! - *Lanes of a warp* must come to the same call of an intrinsic of the warp, in the text of the
//!   kernel.
//! - *Addresses* must be inside of buffers, shared memory or arguments, and aligned.
//! - *Barriers* are counted as PTX counts them, and what PTX leaves undefined is an error.
//! - A launch in which no thread tells another anything for long is *stuck*, and the error says
//!   which waits on what.
//!
//! It does not see conflicts of two threads of one block in device memory, loops without intrinsics
//! or accesses, or how long anything takes on a GPU.

mod barrier;
mod block;
mod bulk;
mod device;
mod error;
mod fiber;
mod intrinsic;
mod jit;
mod launch;
mod machine;
mod order;
mod perform;
mod pure;
mod region;
mod rewrite;
mod schedule;
mod shared;
mod site;
mod stores;
mod stuck;
mod warp;

pub use device::{Buffer, Device};
pub use error::{CompileError, LaunchError, Misuse, Who};
pub use intrinsic::Intrinsic;
pub use launch::{Fault, Kernel, Launch, Report};
