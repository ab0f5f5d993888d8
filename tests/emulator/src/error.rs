//! Errors of a kernel's text, of a launch, and of a kernel's doings.

use std::fmt;

/// A kernel that cannot be emulated.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompileError {
    /// LLVM does not read the text.
    #[error("LLVM does not accept the kernel's text: {0}")]
    Parse(String),
    /// The module is malformed.
    #[error("LLVM finds the kernel malformed: {0}")]
    Invalid(String),
    /// No function of this name has a body.
    #[error("the module defines no kernel `{0}`")]
    NoKernel(String),
    /// The kernel has other parameters.
    #[error("the kernel `{name}` should be `void (ptr)`, and is `{found}`")]
    Entry {
        /// The kernel.
        name: String,
        /// Its type.
        found: String,
    },
    /// An intrinsic is declared with another type than the contract's.
    #[error("`{name}` should be `{expected}`, and is declared `{found}`")]
    Signature {
        /// The intrinsic.
        name: String,
        /// Its type in `intrinsics.ll`.
        expected: String,
        /// Its type in the kernel.
        found: String,
    },
    /// A function that is neither an intrinsic nor LLVM's.
    #[error("the kernel calls `{0}`, which is no intrinsic")]
    UnknownFunction(String),
    /// A global that kernels could write.
    #[error("the module's `{0}` is no constant")]
    Variable(String),
    /// An instruction whose effects the emulator could not see.
    #[error("`{instruction}` cannot be emulated: {why}")]
    Refused {
        /// The instruction.
        instruction: String,
        /// The reason.
        why: String,
    },
}

/// A thread of a launch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Who {
    /// The number of its block.
    pub block: u32,
    /// Its number in the block.
    pub thread: u32,
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "block {}, thread {} (warp {}, lane {})", self.block, self.thread, self.thread / 32, self.thread % 32)
    }
}

/// A launch that did not end well.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// The launch itself makes no sense.
    #[error("a launch needs {expected}, not {found}")]
    Shape {
        /// The rule that the number breaks.
        expected: &'static str,
        /// The number.
        found: u64,
    },
    /// No memory for stacks.
    #[error("no stack for a thread: {0}")]
    Stack(String),
    /// A thread did what it must not.
    #[error("{who}, at `{instruction}`: {misuse}")]
    Misuse {
        /// The thread.
        who: Who,
        /// Its instruction.
        instruction: String,
        /// The misuse.
        misuse: Misuse,
    },
    /// Nothing happens any more, or nothing that matters.
    #[error("stuck after {steps} steps:\n{waiting}")]
    Stuck {
        /// Intrinsics that ran before.
        steps: u64,
        /// Which threads wait on what, a line each.
        waiting: String,
    },
}

/// The rule that a thread broke.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Misuse {
    /// An address outside of what the kernel may touch.
    #[error("{bytes} bytes at {place} are outside of {memory}")]
    Outside {
        /// How many bytes.
        bytes: usize,
        /// Where.
        place: String,
        /// Of what memory.
        memory: &'static str,
    },
    /// An address or length that is not a multiple of what it should be.
    #[error("{found:#x} is not a multiple of {align}")]
    Misaligned {
        /// The address or length.
        found: usize,
        /// The number that it should be a multiple of.
        align: usize,
    },
    /// Lanes of a warp are not together.
    #[error("lanes of the warp diverged: {0}")]
    Diverged(String),
    /// A barrier of the block that not all threads can reach.
    #[error("a barrier of the block, where thread {0} has ended")]
    EndedBeforeBarrier(u32),
    /// An argument that an intrinsic does not take.
    #[error("{what} is {found}, and should be {expected}")]
    Argument {
        /// Its value.
        what: &'static str,
        /// Its value.
        found: u64,
        /// Its allowed values.
        expected: &'static str,
    },
    /// A barrier that was not set up.
    #[error("there is no barrier at shared byte {0}")]
    NoBarrier(usize),
    /// A barrier that was set up where one is already.
    #[error("there is a barrier at shared byte {0} already")]
    BarrierAgain(usize),
    /// A bulk copy for a barrier whose set-up may not be visible to it.
    #[error("no barrier_init_fence has followed the set-up of the barrier at shared byte {0}")]
    BarrierUnfenced(usize),
    /// More arrivals than a phase takes.
    #[error("phase {phase} of the barrier at shared byte {barrier} has had all its {count} arrivals")]
    OverArrival {
        /// The barrier.
        barrier: usize,
        /// The phase, from 0.
        phase: u64,
        /// How many arrivals it takes.
        count: u32,
    },
    /// An ordinary access to the bytes of a barrier.
    #[error("shared byte {0} belongs to a barrier")]
    TouchesBarrier(usize),
    /// A bulk copy of bytes whose last ordinary write may come after it.
    #[error("thread {writer} wrote shared byte {byte} and has had no bulk_fence since")]
    Unfenced {
        /// The thread that wrote.
        writer: u32,
        /// Where.
        byte: usize,
    },
    /// A write to a constant of the kernel.
    #[error("a constant of the kernel is written")]
    WritesConstant,
    /// A bulk copy of nothing.
    #[error("a bulk copy of no bytes")]
    EmptyCopy,
    /// Bytes that another block, perhaps besides this one, wrote, and that not both use as words for others.
    #[error("block {other} wrote byte {byte} of buffer {buffer} in this launch, and nothing orders that")]
    OtherBlock {
        /// The thread that wrote.
        other: u32,
        /// Which buffer.
        buffer: usize,
        /// Which byte of it.
        byte: usize,
    },
    /// Two threads of a block touch a byte, one of them writes, and nothing orders them.
    #[error("a race: {other} {access} shared byte {byte}, and nothing orders that before this")]
    Race {
        /// A thread of the block, or a bulk copy.
        other: String,
        /// "wrote" or "read".
        access: &'static str,
        /// Where.
        byte: usize,
    },
    /// A block that is gone while bulk copies still use its shared memory.
    #[error("the block ended while a {0} was under way in its shared memory")]
    CopyOutlivesBlock(&'static str),
}
