//! A line on the terminal that says how far a run is. There is none where the standard error is not
//! a terminal.

use std::io::{IsTerminal, Write, stderr};
use std::time::Instant;

use bench_shared::report::power;

/// How far a run is.
pub(crate) struct Progress {
    races: usize,
    begun: usize,
    start: Instant,
    is_shown: bool,
}

impl Progress {
    /// At the start of a run of so many races.
    pub(crate) fn new(races: usize) -> Progress {
        Progress { races, begun: 0, start: Instant::now(), is_shown: stderr().is_terminal() }
    }

    /// The next race begins.
    pub(crate) fn next(&mut self, title: &str, elements: usize) {
        self.begun += 1;
        let (seconds, size) = (self.start.elapsed().as_secs(), power(elements as u64));
        let place = format!("{} of {} after {}:{:02}", self.begun, self.races, seconds / 60, seconds % 60);
        self.show(&format!("{place}: {title}, {size} elements"));
    }

    /// Takes the line away, for results to be printed.
    pub(crate) fn clear(&self) {
        self.show("");
    }

    fn show(&self, line: &str) {
        if self.is_shown {
            // A line that cannot be shown is no reason to stop.
            _ = write!(stderr(), "\r\x1b[K{line}");
        }
    }
}
