//! Runs steps and keeps the score: each is announced with its command line, timed, and counted as passed or failed.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

/// Runs command lines in the root of the repository.
pub(crate) struct Shell {
    folder: PathBuf,
}

impl Shell {
    pub(crate) fn in_folder(folder: PathBuf) -> Shell {
        Shell { folder }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Runs a command line of POSIX sh, its output passed through, with nothing to read from.
    pub(crate) fn run(&self, line: &str) -> Result<(), String> {
        let status = self.command(line).status().map_err(|error| format!("cannot start sh: {error}"))?;
        if status.success() { Ok(()) } else { Err(format!("{status}")) }
    }

    /// Runs a command line and returns what it prints; its errors pass through.
    pub(crate) fn read(&self, line: &str) -> Result<String, String> {
        let output = self.command(line).stderr(Stdio::inherit()).output();
        let output = output.map_err(|error| format!("cannot start sh: {error}"))?;
        if !output.status.success() {
            return Err(format!("{line}: {}", output.status));
        }
        String::from_utf8(output.stdout).map_err(|_| format!("{line}: prints no UTF-8"))
    }

    /// Whether a command line succeeds, silently.
    pub(crate) fn succeeds(&self, line: &str) -> bool {
        let silent = self.command(line).stdout(Stdio::null()).stderr(Stdio::null()).status();
        silent.is_ok_and(|status| status.success())
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new("sh");
        command.arg("-c").arg(line).current_dir(&self.folder).stdin(Stdio::null());
        command
    }
}

/// What passed and what failed so far.
#[derive(Default)]
pub(crate) struct Report {
    passed: usize,
    failures: Vec<String>,
}

impl Report {
    /// A step that is a command line.
    pub(crate) fn command(&mut self, name: &str, shell: &Shell, line: &str) {
        self.check(name, line, || shell.run(line));
    }

    /// A step that is a function; true if it passed.
    pub(crate) fn check(&mut self, name: &str, what: &str, step: impl FnOnce() -> Result<(), String>) -> bool {
        self.value(name, what, step).is_some()
    }

    /// A step that finds something out.
    pub(crate) fn value<T>(&mut self, name: &str, what: &str, step: impl FnOnce() -> Result<T, String>) -> Option<T> {
        println!("\n==> {name}: {what}");
        let start = Instant::now();
        let result = step();
        let seconds = start.elapsed().as_secs_f64();
        match result {
            Ok(value) => {
                println!("<== {name}: passed in {seconds:.1} s");
                self.passed += 1;
                Some(value)
            }
            Err(reason) => {
                println!("<== {name}: FAILED after {seconds:.1} s: {reason}");
                self.failures.push(format!("{name}: {what}\n    {reason}"));
                None
            }
        }
    }

    /// A step that is left out, and why.
    pub(crate) fn skip(&mut self, what: &str, reason: &str) {
        println!("\n==> skipped: {what}: {reason}");
    }

    /// Lists what failed and prints the score, which ends the output.
    pub(crate) fn finish(self) -> ExitCode {
        println!();
        for failure in &self.failures {
            println!("failed: {failure}");
        }
        println!("xtask: {} passed, {} failed", self.passed, self.failures.len());
        if self.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_step_is_counted_and_does_not_stop_the_others() {
        let shell = Shell::in_folder(std::env::temp_dir());
        let mut report = Report::default();
        report.command("bad", &shell, "exit 3");
        report.command("good", &shell, "true");
        assert!(report.failures[0].starts_with("bad: exit 3"));
        assert_eq!((report.passed, report.failures.len()), (1, 1));
        assert_eq!(report.finish(), ExitCode::FAILURE);
    }

    #[test]
    fn commands_are_read_by_a_shell() {
        let shell = Shell::in_folder(std::env::temp_dir());
        assert_eq!(shell.read("WORD='a b'; printf '%s' \"$WORD\"").unwrap(), "a b");
        assert!(shell.read("false").is_err());
        assert!(shell.succeeds("true") && !shell.succeeds("false"));
    }
}
