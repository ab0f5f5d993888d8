//! What the examples share: timing of rivals side by side, and how a command ends.
#![allow(dead_code, reason = "an example uses what it needs")]

use std::fmt::Arguments;
use std::io::{ErrorKind, Write};
use std::process::{ExitCode, exit};
use std::time::{Duration, Instant};

use monoscan::{Device, DeviceError, Error};

/// The device of this name, for `--device`.
pub(crate) fn device(name: &str) -> Result<Device, Failure> {
    name.parse().map_err(|error| match error {
        Error::Device(DeviceError::Unknown { .. }) => Failure::Usage(error.to_string()),
        _ => Failure::Run(error.to_string()),
    })
}

/// Why an example stops.
pub(crate) enum Failure {
    /// It was called wrongly.
    Usage(String),
    /// Something went wrong on the way.
    Run(String),
}

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure::Run(error.to_string())
    }
}

/// Prints a line. A reader that has seen enough may close the pipe: that ends the example, quietly.
macro_rules! say {
    ($($text:tt)*) => {
        $crate::common::print(format_args!($($text)*))
    };
}
pub(crate) use say;

pub(crate) fn print(line: Arguments<'_>) {
    if let Err(error) = writeln!(std::io::stdout(), "{line}") {
        if error.kind() == ErrorKind::BrokenPipe {
            exit(0);
        }
        eprintln!("standard output: {error}");
        exit(1);
    }
}

/// Ends the process: 0 if all went well, 2 with the usage if it was called wrongly, 1 otherwise.
pub(crate) fn finish(result: Result<(), Failure>, usage: &str) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Usage(message)) => {
            eprintln!("{message}\nusage: {usage}");
            ExitCode::from(2)
        }
        Err(Failure::Run(message)) => {
            eprintln!("{message}");
            ExitCode::from(1)
        }
    }
}

/// The median time of each rival. They take turns, so that what slows the machine down slows them all; a first round
/// that warms up is not counted.
pub(crate) fn time<const N: usize>(rounds: usize, mut rivals: [&mut dyn FnMut(); N]) -> [Duration; N] {
    let mut times: [Vec<Duration>; N] = std::array::from_fn(|_| Vec::new());
    for round in 0..=rounds {
        for (run, times) in rivals.iter_mut().zip(&mut times) {
            let start = Instant::now();
            run();
            if round > 0 {
                times.push(start.elapsed());
            }
        }
    }
    times.map(|mut times| {
        times.sort();
        times[times.len() / 2]
    })
}

/// The physical limit: everything read once and written once.
pub(crate) fn copy<T: Copy>(from: &[T], to: &mut [T]) {
    to.copy_from_slice(std::hint::black_box(from));
    std::hint::black_box(to);
}

/// A line for each rival: nanoseconds an element, millions of elements a second, and how many times as fast as the first.
pub(crate) fn table(elements: usize, element: &str, rivals: &[(&str, Duration)]) {
    let first = rivals.first().map_or(0.0, |rival| rival.1.as_secs_f64());
    for (name, time) in rivals {
        let seconds = time.as_secs_f64();
        let nanoseconds = seconds * 1e9 / elements as f64;
        let millions = elements as f64 / seconds / 1e6;
        say!("{name:>14} {nanoseconds:7.3} ns/{element} {millions:8.0} M/s {:6.2}x", first / seconds);
    }
}
