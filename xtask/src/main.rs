//! The chores of monoscan. `cargo xtask test` is what CI runs, and what to run before a commit.
//!
//! | file | what |
//! |---|---|
//! | `main` | the commands and the list of what is checked |
//! | `report` | runs one step after the other, announces and times each, counts |
//! | `tools` | the programs that the steps need, and how to get them |
//! | `readme` | the commands that the README promises |
//! | `tree` | what can be read off the tree: examples, dependencies, lengths of files |

mod readme;
mod report;
mod tools;
mod tree;

use std::path::PathBuf;
use std::process::ExitCode;

use report::{Report, Shell};

const HELP: &str = "\
The chores of monoscan.

  cargo xtask test [--no-install]   format, clippy, docs, tests, examples and the README's commands
  cargo xtask help                  this text

test goes through all steps, even after one fails, and lists at the end what failed. On Debian and its relatives it
installs the tools that are missing, unless --no-install is given; it says which and how in either case.
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["test"] => test(true),
        ["test", "--no-install"] => test(false),
        ["help" | "--help" | "-h"] => {
            print!("{HELP}");
            ExitCode::SUCCESS
        }
        _ => {
            eprint!("{HELP}");
            ExitCode::from(2)
        }
    }
}

/// Everything that must hold before a change is accepted.
fn test(install: bool) -> ExitCode {
    let shell = Shell::in_folder(root());
    let mut report = Report::default();

    let tools = report.check("tools", "cargo fmt, cargo clippy, a C linker", || tools::check(&shell, install));
    if !tools {
        return report.finish();
    }
    for step in STEPS {
        report.command(step.name, &shell, step.command);
    }
    report.check("dependencies", tree::DEPENDENCIES, || tree::check_dependencies(&shell));
    report.check("lengths of files", "at most about 400 lines a file", || tree::warn_of_long_files(&shell));

    let examples = report.value("list of examples", "examples/", || tree::examples(&shell)).unwrap_or_default();
    let examples: Vec<String> = examples.iter().map(|name| format!("cargo run --release --example {name}")).collect();
    for command in &examples {
        report.command("example", &shell, command);
    }
    let promised = report.value("list of README commands", "README.md", || readme::commands(&shell));
    for command in promised.unwrap_or_default().iter().filter(|command| !examples.contains(command)) {
        match readme::reason_to_skip(command) {
            Some(reason) => report.skip(command, reason),
            None => report.command("README", &shell, command),
        }
    }
    report.finish()
}

/// A command line that must succeed.
struct Step {
    name: &'static str,
    command: &'static str,
}

/// In an order that builds dependencies once for checking (clippy, docs), once for tests, once for examples.
const STEPS: &[Step] = &[
    Step { name: "format", command: "cargo fmt --all --check" },
    Step { name: "clippy", command: "cargo clippy --workspace --all-targets -- -D warnings" },
    Step { name: "no default features", command: "cargo check -p monoscan --no-default-features" },
    Step { name: "docs", command: "RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps" },
    // INSTA_UPDATE: a snapshot that differs fails, and nothing is written.
    Step { name: "tests", command: "INSTA_UPDATE=no cargo test --workspace" },
    Step {
        name: "protocol under loom",
        command: "RUSTFLAGS='--cfg loom' CARGO_TARGET_DIR=target/loom cargo test -p scan-protocol --release --test loom",
    },
    Step { name: "build of the examples", command: "cargo build --release --examples" },
];

/// The root of the repository, next to this crate.
fn root() -> PathBuf {
    let mut root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.pop();
    root
}
