//! Locks that keep what belongs together in a stream together.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::stream::Stream;

/// A lock for each stream: its holder may give several things to the stream without those of another holder between them.
/// There are so many for all streams, so two may have the same one, and then one waits in vain.
pub(crate) struct StreamLocks([Mutex<()>; LOCKS]);

const LOCKS: usize = 64;

impl StreamLocks {
    pub(crate) const fn new() -> StreamLocks {
        StreamLocks([const { Mutex::new(()) }; LOCKS])
    }

    /// Waits for the lock of a stream. One that is held already is not taken again.
    pub(crate) fn hold(&'static self, stream: &Stream) -> MutexGuard<'static, ()> {
        let place = place(stream.raw().addr(), stream.device().ordinal());
        // A panic leaves nothing half done that the lock protects.
        self.0[place].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The lock of a handle. The low handles are names of a device's legacy stream, or of another stream in every thread.
fn place(handle: usize, ordinal: usize) -> usize {
    (handle >> 4).wrapping_add(ordinal) % LOCKS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_has_one_lock_under_all_its_names() {
        let [null, legacy] = [0, 1].map(|handle| place(handle, 3));
        assert_eq!(null, legacy);
        assert_ne!(place(0, 3), place(0, 4));
        assert_ne!(place(0x55_5500, 0), place(0x55_5510, 0));
    }
}
