//! The primitives that the protocol stands on: the standard library's, or those of loom and of
//! shuttle under `cfg(loom)` and `cfg(shuttle)`.
//!
//! Everything else in this crate takes its atomics, cells and waits from here, so that loom and
//! shuttle explore exactly the code that runs. A wait must tell the scheduler that it cannot go on
//! alone: both treat the spin hint as a yield, and so no schedule polls for ever.
//!
//! No wait yields its core. On a busy machine a yield gives a stranger a whole time slice,
//! milliseconds for what takes microseconds; a [`nap`] ends by a timer, and a thread that it wakes
//! comes first.

#[cfg(loom)]
pub(crate) use loom::{
    cell::UnsafeCell,
    hint,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
};
#[cfg(shuttle)]
pub(crate) use shuttle::{
    hint,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
};
use std::time::Duration;
#[cfg(not(any(loom, shuttle)))]
pub(crate) use std::{
    hint,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
};

/// Polls with a spin hint before a wait naps. With x86's pause this is some fifty microseconds, longer than most steps.
const SPINS: usize = if cfg!(any(loom, shuttle)) { 1 } else { 1000 };

/// Waits until `is_over`. Says how long that took.
pub(crate) fn wait_until(is_over: impl Fn() -> bool) -> Duration {
    let start = Moment::now();
    let mut polls = 0;
    while !is_over() {
        polls += 1;
        if polls <= SPINS { hint::spin_loop() } else { nap() }
    }
    start.elapsed()
}

/// A moment of the clock. Loom and shuttle have none: there no time passes.
#[derive(Clone, Copy)]
pub(crate) struct Moment(#[cfg(not(any(loom, shuttle)))] std::time::Instant);

impl Moment {
    pub(crate) fn now() -> Moment {
        Moment(
            #[cfg(not(any(loom, shuttle)))]
            std::time::Instant::now(),
        )
    }

    pub(crate) fn elapsed(self) -> Duration {
        #[cfg(not(any(loom, shuttle)))]
        return self.0.elapsed();
        #[cfg(any(loom, shuttle))]
        Duration::ZERO
    }
}

/// Leaves the core for a moment, to be woken by a timer.
pub(crate) fn nap() {
    #[cfg(not(any(loom, shuttle)))]
    std::thread::sleep(Duration::from_micros(20));
    #[cfg(any(loom, shuttle))]
    hint::spin_loop();
}

/// Gives its content cache lines of its own: two of 64 bytes, since x86 prefetches them in pairs and other processors
/// have lines of 128.
#[derive(Debug, Default)]
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

    pub(crate) fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        write(self.0.get())
    }
}
