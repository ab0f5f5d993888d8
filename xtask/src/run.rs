//! Runs steps, announces and times each, and says at the end how many passed. Steps of which none
//! needs both cores run [side by side](Runner::side_by_side).

use std::io::{IsTerminal, Read, stdout};
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::thread;
use std::time::Instant;

/// How a step ended.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    Passed,
    /// With the reason.
    Failed(String),
    /// For want of time, before it had passed or failed.
    Stopped,
}

impl From<Result<(), String>> for Outcome {
    fn from(result: Result<(), String>) -> Outcome {
        result.map_or_else(Outcome::Failed, |()| Outcome::Passed)
    }
}

/// Steps that were run, and those that failed or were stopped.
pub(crate) struct Runner {
    start: Instant,
    passed: usize,
    failed: Vec<String>,
    stopped: Vec<String>,
    /// Another runner prints at the same time: what a command prints is kept until it ends.
    aside: bool,
}

impl Default for Runner {
    fn default() -> Runner {
        Runner { start: Instant::now(), passed: 0, failed: Vec::new(), stopped: Vec::new(), aside: false }
    }
}

impl Runner {
    /// Runs one step; a failure is noted, and the next step runs all the same.
    pub(crate) fn step(&mut self, name: &str, step: impl FnOnce() -> Result<(), String>) {
        self.step_that_may_stop(name, || step().into());
    }

    /// As [`step`](Runner::step), of a step that may be stopped before it ends.
    pub(crate) fn step_that_may_stop(&mut self, name: &str, step: impl FnOnce() -> Outcome) {
        if !self.aside {
            println!("\n── {name}{}", self.so_far());
        }
        let start = Instant::now();
        let outcome = step();
        let seconds = start.elapsed().as_secs_f64();
        match outcome {
            Outcome::Passed => {
                println!("── {name}: ok, {seconds:.1} s");
                self.passed += 1;
            }
            Outcome::Failed(why) => {
                println!("── {name}: FAILED after {seconds:.1} s: {why}");
                self.failed.push(format!("{name}: {why}"));
            }
            Outcome::Stopped => {
                println!("── {name}: stopped after {seconds:.1} s");
                self.stopped.push(name.to_owned());
            }
        }
    }

    /// How far all is, for a terminal.
    fn so_far(&self) -> String {
        if !stdout().is_terminal() {
            return String::new();
        }
        let seconds = self.start.elapsed().as_secs();
        format!(" (after {}:{:02}, {} passed, {} failed)", seconds / 60, seconds % 60, self.passed, self.failed.len())
    }

    /// Runs a command line as a step.
    pub(crate) fn command(&mut self, line: &str) {
        self.command_with(line, &[]);
    }

    /// Runs a command line with these environment variables as a step.
    pub(crate) fn command_with(&mut self, line: &str, environment: &[(&str, &str)]) {
        let settings = environment.iter().map(|(name, value)| format!("{name}=\"{value}\" ")).collect::<String>();
        let run = if self.aside { execute_kept } else { execute };
        self.step(&format!("{settings}{line}"), || run(line, environment));
    }

    /// Runs the steps of `here` and of `aside` at the same time. What commands of `aside` print comes in one piece, when they end.
    pub(crate) fn side_by_side(&mut self, aside: impl FnOnce(&mut Runner) + Send, here: impl FnOnce(&mut Runner)) {
        let mut other = Runner { aside: true, ..Runner::default() };
        thread::scope(|scope| {
            let other = scope.spawn(|| {
                aside(&mut other);
                other
            });
            here(self);
            if !other.is_finished() {
                println!("\n── the steps beside these go on");
            }
            match other.join() {
                Ok(other) => {
                    self.passed += other.passed;
                    self.failed.extend(other.failed);
                    self.stopped.extend(other.stopped);
                }
                Err(_) => self.failed.push("the steps beside these panicked".into()),
            }
        });
    }

    /// The closing line, and the exit status that goes with it: a failure if a step failed.
    pub(crate) fn finish(self) -> ExitCode {
        println!();
        for failure in &self.failed {
            println!("failed: {failure}");
        }
        for step in &self.stopped {
            println!("not finished, for want of time: {step}");
        }
        let stopped =
            if self.stopped.is_empty() { String::new() } else { format!(", {} not finished", self.stopped.len()) };
        println!("xtask: {} passed, {} failed{stopped}", self.passed, self.failed.len());
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

/// Like [`execute`], but what the command prints is printed when it ends.
fn execute_kept(line: &str, environment: &[(&str, &str)]) -> Result<(), String> {
    let words = words(line);
    let (program, arguments) = words.split_first().ok_or("an empty command")?;
    let (mut reader, writer) = std::io::pipe().map_err(|error| error.to_string())?;
    let mut command = Command::new(program);
    command.args(arguments).envs(environment.iter().copied()).current_dir(root());
    command.stderr(writer.try_clone().map_err(|error| error.to_string())?).stdout(writer);
    let mut child = command.spawn().map_err(|error| format!("{program}: {error}"))?;
    // The command holds the ends that are written to; without this one, reading ends when it does.
    drop(command);
    let mut printed = Vec::new();
    reader.read_to_end(&mut printed).map_err(|error| error.to_string())?;
    let status = child.wait().map_err(|error| error.to_string())?;
    println!("\n── {line}\n{}", String::from_utf8_lossy(&printed).trim_end());
    if status.success() { Ok(()) } else { Err(status.to_string()) }
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
    fn steps_side_by_side_are_counted_together() {
        let mut runner = Runner::default();
        let (tell, told) = std::sync::mpsc::channel();
        runner.side_by_side(
            move |aside| {
                aside.step("aside", || told.recv().map_err(|_| "not told".into()));
                aside.command("cargo --version");
                aside.command("cargo no-such-command");
            },
            |here| here.step("here", || tell.send(()).map_err(|_| "nobody listens".into())),
        );
        assert_eq!((runner.passed, runner.failed.len()), (3, 1));
        assert!(runner.failed[0].starts_with("cargo no-such-command: exit status"), "{:?}", runner.failed);
    }

    #[test]
    fn a_step_that_was_stopped_has_neither_passed_nor_failed() {
        let mut runner = Runner::default();
        runner.step_that_may_stop("one", || Outcome::Stopped);
        runner.step_that_may_stop("two", || Outcome::Passed);
        assert_eq!((runner.passed, runner.failed.len(), runner.stopped), (1, 0, vec!["one".to_owned()]));
    }

    #[test]
    fn a_failed_step_is_noted_and_the_next_one_runs() {
        let mut runner = Runner::default();
        runner.step("one", || Err("why".into()));
        runner.step("two", || Ok(()));
        assert_eq!((runner.passed, runner.failed), (1, vec!["one: why".to_owned()]));
    }
}
