//! The chores of monoscan, as `cargo xtask COMMAND`. This file is the command line; [`steps`] is
//! what `test` does.

mod check;
mod install;
mod instructions;
mod llvm;
mod nightly;
mod packages;
mod pages;
mod peers;
mod prose;
mod ptxas;
mod readme;
mod run;
mod steps;
mod tree;

use std::process::ExitCode;

use instructions::Differing;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  test [--no-install]   check format, lints, docs and the dependency tree; run all tests with all features, the model checks
                        of the protocol, the examples and the commands of the README; count instructions. Needs no GPU.
                        Installs missing system packages with apt-get (among them LLVM 22) and fetches ptxas, or with
                        --no-install says what is missing
  check [BASE]          in two minutes of a built tree: format, and lints and tests of the packages that differ from BASE, or from
                        where the branch left main; says what it did not finish
  ptxas [--no-install]  fetch NVIDIA's assembler into target/tools, if it is not there, and print its path
  instructions [--bless]
                        count the instructions of small scans, and compare with benches/instructions.txt or write it
  miri                  run the tests of unsafe code under Miri, on nightly Rust
  soak SECONDS [SEED]   scan by random associative operators for so long, on the CPU and then in the emulator of a GPU, by every
                        kind of plan and call, from a seed on
  fuzz SECONDS [TARGET] run the fuzz targets, each for so long, on nightly Rust
  packages              package the published crates, and build each from its package; for a release
  prose                 check the lines and words of pages and module heads, and that what pages name is there
  peers [--no-install]  build the rivals of the benchmark in C++ and Python into target/peers; those in Rust are part of it
  help                  print this";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["test"] => steps::test(install::Policy::Install),
        ["test", "--no-install"] => steps::test(install::Policy::OnlySay),
        ["check"] => check::check(None),
        ["check", base] => check::check(Some(base)),
        ["instructions"] => alone("instructions", || instructions::count(Differing::Refuse)),
        ["instructions", "--bless"] => alone("instructions", || instructions::count(Differing::Bless)),
        ["ptxas"] => ptxas::print(install::Policy::Install),
        ["ptxas", "--no-install"] => ptxas::print(install::Policy::OnlySay),
        ["miri"] => nightly::miri(),
        ["soak", seconds] => soak(seconds, "0"),
        ["soak", seconds, seed] => soak(seconds, seed),
        ["fuzz", seconds] => nightly::fuzz(seconds, None),
        ["fuzz", seconds, target] => nightly::fuzz(seconds, Some(target)),
        ["peers"] => peers::build(install::Policy::Install),
        ["peers", "--no-install"] => peers::build(install::Policy::OnlySay),
        ["packages"] => alone("packages", || packages::package(packages::Build::Yes)),
        ["prose"] => {
            let mut runner = run::Runner::default();
            runner.step("prose", prose::check);
            runner.step("pages", pages::check);
            runner.finish()
        }
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

/// Both engines under random operators.
fn soak(seconds: &str, seed: &str) -> ExitCode {
    let mut runner = run::Runner::default();
    for tests in ["monoscan-runtime --test calls", "scan-gpu-kernels --test emulated"] {
        let line = format!("cargo test --release --package {tests} -- --ignored --exact --nocapture");
        let name = if tests.ends_with("calls") { "every_length::soak" } else { "soak" };
        runner.command_with(&format!("{line} {name}"), &[("MONOSCAN_SOAK", seconds), ("MONOSCAN_SEED", seed)]);
    }
    runner.finish()
}

/// A command of one step.
fn alone(name: &str, step: impl FnOnce() -> Result<(), String>) -> ExitCode {
    let mut runner = run::Runner::default();
    runner.step(name, step);
    runner.finish()
}
