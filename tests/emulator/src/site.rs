//! Sites: the instructions of a kernel that the emulator hears of, by number.

use crate::intrinsic::Intrinsic;

/// An instruction that was given a callback.
#[derive(Debug)]
pub(crate) struct Site {
    /// The instruction as LLVM prints it, for messages.
    pub(crate) text: String,
    pub(crate) kind: Kind,
}

/// The action.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Intrinsic(Intrinsic),
    Access(Access),
}

/// An ordinary load or store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub(crate) space: Space,
    pub(crate) write: bool,
    pub(crate) bytes: usize,
    pub(crate) align: usize,
}

/// The memory that an address is in, as its type says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Space {
    Generic,
    Device,
    Shared,
}
