//! The rules that soundness and progress rest on.
//!
//! Each memory ordering and each check that the protocol cannot do without is named here and used
//! by its name. Under loom and shuttle one of them can be broken: the ordering is relaxed, the
//! check says yes. `tests/mutations.rs` breaks them all, one at a time, and expects to be told. In
//! any other build a rule is its ordering or its check, and nothing else.

use crate::sync::Ordering;

/// A rule of the protocol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(usize)]
pub enum Rule {
    /// Release: a flag of a tile is set after the state that it announces is written, and, in place, after the tile is read.
    AnnounceAfterWriting = 1,
    /// Acquire: a state is read after its flag was seen.
    ReadAfterAnnounced,
    /// Acquire: a tile is claimed after, in place, everybody has read it, and after the aggregates were written that are known.
    ClaimAfterReading,
    /// Check: a tile is claimed once.
    ClaimOnce,
    /// Check: in place, a tile that somebody reads is not claimed.
    ClaimUnread,
    /// Check: in place, a tile that is claimed is not read.
    ReadUnclaimed,
    /// Check: a tile that holds up others is reduced by the thread that needs it.
    Rescue,
    /// Check: what helpers took and did not claim is finished by the caller.
    Sweep,
    /// Release: a helper leaves the crew after its step.
    LeaveAfterStep,
    /// Acquire: the caller returns after the steps of all helpers.
    ReturnAfterSteps,
    /// Check: the caller waits for helpers that are in a step.
    WaitForSteps,
    /// Check: a helper begins no step once the crew is closed.
    EnterWhileOpen,
    /// Check: after a panic nobody begins another step.
    StopAfterPanic,
}

impl Rule {
    /// All of them.
    pub const ALL: [Rule; 13] = [
        Rule::AnnounceAfterWriting,
        Rule::ReadAfterAnnounced,
        Rule::ClaimAfterReading,
        Rule::ClaimOnce,
        Rule::ClaimUnread,
        Rule::ReadUnclaimed,
        Rule::Rescue,
        Rule::Sweep,
        Rule::LeaveAfterStep,
        Rule::ReturnAfterSteps,
        Rule::WaitForSteps,
        Rule::EnterWhileOpen,
        Rule::StopAfterPanic,
    ];

    /// The ordering of a rule that is a release.
    pub(crate) fn release(self) -> Ordering {
        if self.is_broken() { Ordering::Relaxed } else { Ordering::Release }
    }

    /// The ordering of a rule that is an acquire.
    pub(crate) fn acquire(self) -> Ordering {
        if self.is_broken() { Ordering::Relaxed } else { Ordering::Acquire }
    }

    /// Whether a check of this rule says that something must not be, given that it would.
    pub(crate) fn forbids(self, case: bool) -> bool {
        case && !self.is_broken()
    }

    #[cfg(not(any(loom, shuttle)))]
    const fn is_broken(self) -> bool {
        false
    }

    #[cfg(any(loom, shuttle))]
    fn is_broken(self) -> bool {
        BROKEN.load(std::sync::atomic::Ordering::Relaxed) == self as usize
    }

    /// Breaks this rule, and mends all others, for all threads of the process.
    #[cfg(any(loom, shuttle))]
    pub fn break_alone(self) {
        BROKEN.store(self as usize, std::sync::atomic::Ordering::Relaxed);
    }
}

/// The rule that is broken; 0 for none. The standard library's, since it is no part of what loom and shuttle explore.
#[cfg(any(loom, shuttle))]
static BROKEN: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
