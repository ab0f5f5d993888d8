//! A line on the terminal that says how far long work is. There is none where the standard error
//! is not a terminal.

use std::io::{IsTerminal, Write, stderr};
use std::time::{Duration, Instant};

/// Work in steps. Its line goes when it is dropped.
pub(crate) struct Progress {
    what: &'static str,
    steps: usize,
    is_shown: bool,
    next: Instant,
}

impl Progress {
    /// Work that is called `what`, of so many steps.
    pub(crate) fn new(what: &'static str, steps: usize) -> Progress {
        // Short work shows nothing.
        let next = Instant::now() + Duration::from_millis(300);
        Progress { what, steps, is_shown: stderr().is_terminal(), next }
    }

    /// Work that shows no progress.
    pub(crate) fn none() -> Progress {
        Progress { is_shown: false, ..Progress::new("", 0) }
    }

    /// So many steps are done.
    pub(crate) fn at(&mut self, done: usize) {
        if self.is_shown && Instant::now() >= self.next {
            let percent = 100 * done / self.steps.max(1);
            // A line that cannot be shown is no reason to stop.
            _ = write!(stderr(), "\r\x1b[K{}: {percent} %", self.what);
            self.next = Instant::now() + Duration::from_millis(100);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.is_shown {
            _ = write!(stderr(), "\r\x1b[K");
        }
    }
}
