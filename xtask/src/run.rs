//! Runs steps one after the other, announces and times each, and says at the end how many passed.

use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

/// Steps that were run, and those that failed.
#[derive(Default)]
pub(crate) struct Runner {
    passed: usize,
    failed: Vec<String>,
}

impl Runner {
    /// Runs one step; a failure is noted, and the next step runs all the same.
    pub(crate) fn step(&mut self, name: &str, step: impl FnOnce() -> Result<(), String>) {
        println!("\n── {name}");
        let start = Instant::now();
        let result = step();
        let seconds = start.elapsed().as_secs_f64();
        match result {
            Ok(()) => {
                println!("── {name}: ok, {seconds:.1} s");
                self.passed += 1;
            }
            Err(why) => {
                println!("── {name}: FAILED after {seconds:.1} s: {why}");
                self.failed.push(format!("{name}: {why}"));
            }
        }
    }

    /// Runs a command line as a step.
    pub(crate) fn command(&mut self, line: &str) {
        self.command_with(line, &[]);
    }

    /// Runs a command line with these environment variables as a step.
    pub(crate) fn command_with(&mut self, line: &str, environment: &[(&str, &str)]) {
        let settings = environment.iter().map(|(name, value)| format!("{name}=\"{value}\" ")).collect::<String>();
        self.step(&format!("{settings}{line}"), || execute(line, environment));
    }

    /// The closing line, and the exit status that goes with it.
    pub(crate) fn finish(self) -> ExitCode {
        println!();
        for failure in &self.failed {
            println!("failed: {failure}");
        }
        println!("xtask: {} passed, {} failed", self.passed, self.failed.len());
        if self.failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    let mut root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.pop();
    root
}

/// Runs a command line in the root of the workspace. Words are separated by blanks, and may be quoted.
pub(crate) fn execute(line: &str, environment: &[(&str, &str)]) -> Result<(), String> {
    execute_to(Stdio::inherit(), line, environment)
}

/// Like [`execute`], but what the command prints goes to the standard error, where the standard output is an answer.
pub(crate) fn execute_aside(line: &str, environment: &[(&str, &str)]) -> Result<(), String> {
    execute_to(std::io::stderr().into(), line, environment)
}

fn execute_to(stdout: Stdio, line: &str, environment: &[(&str, &str)]) -> Result<(), String> {
    let words = words(line);
    let (program, arguments) = words.split_first().ok_or("an empty command")?;
    let status = Command::new(program)
        .args(arguments)
        .envs(environment.iter().copied())
        .current_dir(root())
        .stdout(stdout)
        .status()
        .map_err(|error| format!("{program}: {error}"))?;
    if status.success() { Ok(()) } else { Err(status.to_string()) }
}

/// Splits a command line as a shell would, as far as blanks and double quotes go.
pub(crate) fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (place, piece) in line.split('"').enumerate() {
        match place % 2 {
            0 => words.extend(piece.split_whitespace().map(str::to_owned)),
            _ => words.push(piece.to_owned()),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_words_keep_their_blanks() {
        assert_eq!(words("a -- --b \"0.04 : 1.6, -0.64\" c"), ["a", "--", "--b", "0.04 : 1.6, -0.64", "c"]);
    }

    #[test]
    fn a_failed_step_is_noted_and_the_next_one_runs() {
        let mut runner = Runner::default();
        runner.step("one", || Err("why".into()));
        runner.step("two", || Ok(()));
        assert_eq!((runner.passed, runner.failed), (1, vec!["one: why".to_owned()]));
    }
}
