//! Timing of rivals side by side, and what the figures say.

use std::time::{Duration, Instant};

use super::progress::Progress;
use super::say;

/// The loop and the scan, as closures that each do the whole work once.
pub(crate) struct Race<'a> {
    pub(crate) sequential: &'a mut dyn FnMut(),
    pub(crate) scan: &'a mut dyn FnMut(),
    /// Bytes that the scan reads and writes. A copy on one thread that moves as many is the third rival.
    pub(crate) bytes: usize,
}

/// Rounds that are timed.
const ROUNDS: usize = 9;

impl Race<'_> {
    /// Times all, and prints a line for each, and what bounds the scan. `element` is what one is called.
    ///
    /// They take turns, so that what slows the machine down slows them all; a first round that warms up is not counted.
    pub(crate) fn run(self, elements: usize, element: &str) {
        let from = vec![1u8; self.bytes / 2];
        let mut to = from.clone();
        let mut copy = || copy(&from, &mut to);
        let names = ["plain loop", "monoscan", "memcpy"];
        let mut rivals: [&mut dyn FnMut(); 3] = [self.sequential, self.scan, &mut copy];
        let mut times: [Vec<Duration>; 3] = Default::default();
        let mut progress = Progress::new("timing", ROUNDS + 1);
        let before = (Instant::now(), time_waited());
        for round in 0..=ROUNDS {
            for (run, times) in rivals.iter_mut().zip(&mut times) {
                let start = Instant::now();
                run();
                if round > 0 {
                    times.push(start.elapsed());
                }
            }
            progress.at(round + 1);
        }
        drop(progress);
        let [sequential, scan, copy] = times.map(|mut times| {
            times.sort();
            times[times.len() / 2].as_secs_f64()
        });
        for (name, time) in names.into_iter().zip([sequential, scan, copy]) {
            let nanoseconds = time * 1e9 / elements as f64;
            let millions = elements as f64 / time / 1e6;
            let ratio = sequential / time;
            say!("  {name:<12} {nanoseconds:7.3} ns a {element} {millions:9.0} million {element}s/s {ratio:7.2}×");
        }
        match busy(before.1, before.0.elapsed()) {
            None => say!("\n{}", bound(scan, copy, element)),
            Some(waited) => say!(
                "\nThis machine is busy: in {:.1?} the threads of this program waited {waited:.1?} for a processor. Times are longer \
                 than on a quiet machine, and do not show what bounds the scan.",
                before.0.elapsed()
            ),
        }
    }
}

/// The bound of the scan.
fn bound(scan: f64, copy: f64, element: &str) -> String {
    match 100.0 * copy / scan {
        share @ 60.0.. => format!("Memory bounds the scan: a copy of as many bytes takes {share:.0} % of its time."),
        share => format!(
            "The instructions for each {element} bound the scan, not memory: a copy of as many bytes takes {share:.0} % of its time."
        ),
    }
}

/// How long threads waited for a processor within this time, given how long they had waited before; none if that is little.
fn busy(before: Option<Duration>, time: Duration) -> Option<Duration> {
    let waited = time_waited()?.saturating_sub(before?);
    (waited > time / 10).then_some(waited)
}

/// How long the threads of this process have been ready to run without running, in all; none where the system does not say.
fn time_waited() -> Option<Duration> {
    let threads = std::fs::read_dir("/proc/self/task").ok()?;
    let waited = |thread: std::io::Result<std::fs::DirEntry>| -> Option<u64> {
        let text = std::fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        text.split_whitespace().nth(1)?.parse().ok()
    };
    Some(Duration::from_nanos(threads.map(waited).sum::<Option<u64>>()?))
}

/// The physical limit: no scan is faster than memory.
fn copy(from: &[u8], to: &mut [u8]) {
    to.copy_from_slice(std::hint::black_box(from));
    std::hint::black_box(to);
}
