//! How long a thread was off its core: what other programs took from it, and what it slept.

use std::time::{Duration, Instant};

/// A moment of the clock, and of this thread's own time.
pub(crate) struct OffCore {
    start: Instant,
    ran: Option<Duration>,
}

impl OffCore {
    /// Begins now. Costs a fifth of a microsecond.
    pub(crate) fn since_now() -> OffCore {
        OffCore { start: Instant::now(), ran: time_on_core() }
    }

    /// How long the thread was off its core since then; zero where the system does not tell.
    pub(crate) fn time(&self) -> Duration {
        let ran = time_on_core().zip(self.ran).map(|(now, then)| now.saturating_sub(then));
        ran.map_or(Duration::ZERO, |ran| self.start.elapsed().saturating_sub(ran))
    }
}

/// The time that this thread has had on a core, all in all.
#[cfg(unix)]
fn time_on_core() -> Option<Duration> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes to `time`, which lives longer.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    let (seconds, nanos) = (u64::try_from(time.tv_sec).ok()?, u32::try_from(time.tv_nsec).ok()?);
    (failed == 0).then(|| Duration::new(seconds, nanos))
}

#[cfg(not(unix))]
fn time_on_core() -> Option<Duration> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn sleep_is_told_from_work() {
        let off = OffCore::since_now();
        std::thread::sleep(Duration::from_millis(20));
        assert!(off.time() >= Duration::from_millis(19), "{:?}", off.time());
        // However busy the machine is, some of this is work.
        let (off, start) = (OffCore::since_now(), Instant::now());
        while start.elapsed() < Duration::from_millis(20) {}
        assert!(off.time() < start.elapsed(), "{:?}", off.time());
    }
}
