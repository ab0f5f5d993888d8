//! The primitives that the protocol stands on: the standard library's, or those of loom and of shuttle under `cfg(loom)`
//! and `cfg(shuttle)`.
//!
//! Everything else in this crate takes its atomics, cells and waits from here, so that loom and shuttle explore exactly
//! the code that runs. A wait must tell the scheduler that it cannot go on alone: both treat the spin hint as a yield,
//! and so no schedule polls for ever.

#[cfg(loom)]
pub(crate) use loom::{
    cell::UnsafeCell,
    hint,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};
#[cfg(shuttle)]
pub(crate) use shuttle::{
    hint,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};
#[cfg(not(any(loom, shuttle)))]
pub(crate) use std::{
    hint,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};

/// Polls with a spin hint before a wait starts to give its core away. With x86's pause this is one to three
/// microseconds: longer than handing a carry over, much shorter than reducing a tile.
const SPINS: usize = 64;

/// Waits until `poll` has an answer. Uses no kernel object: it spins a little, then yields between polls, so that
/// more threads than cores still make progress.
pub(crate) fn wait_for<T>(mut poll: impl FnMut() -> Option<T>) -> T {
    for _ in 0..SPINS {
        if let Some(answer) = poll() {
            return answer;
        }
        hint::spin_loop();
    }
    loop {
        if let Some(answer) = poll() {
            return answer;
        }
        thread::yield_now();
    }
}

/// Gives its content cache lines of its own: two of 64 bytes, since x86 prefetches them in pairs and other processors
/// have lines of 128.
#[repr(align(128))]
pub(crate) struct CacheLine<T>(pub(crate) T);

/// [`std::cell::UnsafeCell`] with the interface of loom's, which sees when an access begins and ends.
#[cfg(not(loom))]
pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

#[cfg(not(loom))]
impl<T> UnsafeCell<T> {
    pub(crate) fn new(content: T) -> Self {
        Self(std::cell::UnsafeCell::new(content))
    }

    pub(crate) fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        read(self.0.get())
    }

    pub(crate) fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        write(self.0.get())
    }
}
