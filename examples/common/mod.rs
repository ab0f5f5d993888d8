//! Parts of all examples: timing of rivals side by side, progress, and how a command ends.
#![allow(dead_code, unused_imports, reason = "an example uses what it needs")]

mod progress;
mod race;

use std::fmt::{Arguments, Display};
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::{ExitCode, exit};

use monoscan::{Device, DeviceError, Error};
pub(crate) use progress::Progress;
pub(crate) use race::Race;

/// The device of this name, for `--device`.
pub(crate) fn device(name: &str) -> Result<Device, Failure> {
    name.parse().map_err(|error| match error {
        Error::Device(DeviceError::Unknown { .. }) => Failure::Usage(error.to_string()),
        _ => Failure::Run(error.to_string()),
    })
}

/// The device that the arguments choose, where `--device` is all that an example takes.
pub(crate) fn chosen_device() -> Result<Device, Failure> {
    let arguments: Vec<String> =
        std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned()).collect();
    match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => Ok(Device::cpu()),
        ["--device", name] => device(name),
        ["--device"] => Err(Failure::Usage("--device needs a value".into())),
        ["--device", _, unknown, ..] | [unknown, ..] => Err(Failure::Usage(format!("unknown argument `{unknown}`"))),
    }
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

/// The fault of a file.
pub(crate) fn failure_of(file: &Path, error: impl Display) -> Failure {
    Failure::Run(format!("{}: {error}", file.display()))
}

/// Prints a line. A reader that has seen enough may close the pipe: that ends the example, quietly.
macro_rules! say {
    ($($text:tt)*) => {
        $crate::common::print(format_args!($($text)*))
    };
}
pub(crate) use say;

pub(crate) fn print(line: Arguments<'_>) {
    or_end(writeln!(std::io::stdout(), "{line}"));
}

/// Ends the process where the standard output cannot be written.
pub(crate) fn or_end(written: std::io::Result<()>) {
    if let Err(error) = written {
        if error.kind() == ErrorKind::BrokenPipe {
            exit(0);
        }
        eprintln!("standard output: {error}");
        exit(1);
    }
}

/// Ends the process: 0 if all went well or `--help` asked for the usage, 2 with the usage if it was called wrongly, 1 otherwise.
pub(crate) fn finish(result: Result<(), Failure>, usage: &str) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Usage(_)) if std::env::args_os().any(|argument| argument == "--help" || argument == "-h") => {
            say!("usage: {usage}");
            ExitCode::SUCCESS
        }
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

/// A text with every line moved to the right.
pub(crate) fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}
