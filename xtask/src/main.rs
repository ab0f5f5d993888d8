//! The chores of monoscan, as `cargo xtask COMMAND`. This file is the command line; [`steps`] is what `test` does.

mod install;
mod peers;
mod readme;
mod run;
mod steps;
mod tree;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  test [--no-install]   check format, lints, docs and the dependency tree; run all tests, the model checks of the
                        protocol, the examples and the commands of the README. Installs missing system packages with
                        apt-get, or with --no-install says which they are
  peers [--no-install]  build the rivals of the benchmark in C++ and Python into target/peers; those in Rust are part of it
  help                  print this";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["test"] => steps::test(install::Policy::Install),
        ["test", "--no-install"] => steps::test(install::Policy::OnlySay),
        ["peers"] => peers::build(install::Policy::Install),
        ["peers", "--no-install"] => peers::build(install::Policy::OnlySay),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            ExitCode::SUCCESS
        }
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}
