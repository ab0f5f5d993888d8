//! System packages that the full test set needs, beyond Rust: found, installed or named.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::OnceLock;

use crate::llvm;
use crate::run::{execute, execute_aside};

/// The treatment of a missing package.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Policy {
    /// Install it with apt-get.
    Install,
    /// Say that it is missing.
    OnlySay,
}

/// A program that must be there, and the Debian packages that bring it.
struct Tool {
    program: &'static str,
    packages: &'static str,
    purpose: &'static str,
}

const TOOLS: &[Tool] = &[
    Tool { program: "cc", packages: "gcc libc6-dev", purpose: "rustc links with it" },
    Tool { program: "c++", packages: "g++", purpose: "LLVM is linked with its standard library" },
    #[cfg(target_arch = "x86_64")]
    Tool { program: "valgrind", packages: "valgrind", purpose: "it counts the instructions of kernels" },
];

/// The packages that downloads need, beside coreutils.
const FETCHING: &[Tool] = &[
    Tool { program: "curl", packages: "curl ca-certificates", purpose: "it fetches ptxas" },
    Tool { program: "unzip", packages: "unzip", purpose: "it unpacks ptxas" },
];

/// The tools that rustup brings.
const CARGO_TOOLS: &[(&str, &str)] = &[("fmt", "rustfmt"), ("clippy", "clippy")];

/// Makes sure that all tools are there.
pub(crate) fn tools(policy: Policy) -> Result<(), String> {
    for (command, component) in CARGO_TOOLS {
        if !runs("cargo", &[command, "--version"]) {
            return Err(format!("`cargo {command}` is missing: rustup component add {component}"));
        }
    }
    programs(policy, TOOLS)?;
    llvm::install(policy)
}

/// Makes sure of the programs that fetch and unpack.
pub(crate) fn fetching_tools(policy: Policy) -> Result<(), String> {
    programs(policy, FETCHING)
}

fn programs(policy: Policy, tools: &[Tool]) -> Result<(), String> {
    for Tool { program, packages, purpose } in tools {
        packages_for(policy, packages, || starts(program))
            .map_err(|by_hand| format!("`{program}` is missing ({purpose}): {by_hand}"))?;
    }
    Ok(())
}

/// Makes sure of Debian packages, whose presence `there` tells.
pub(crate) fn packages_for(policy: Policy, packages: &str, there: impl Fn() -> bool) -> Result<(), String> {
    if there() {
        return Ok(());
    }
    let by_hand = format!("apt-get install {packages}");
    if policy == Policy::OnlySay || !runs("apt-get", &["--version"]) {
        return Err(by_hand);
    }
    eprintln!("missing: {by_hand}, done now");
    apt_lists()?;
    execute_aside(&format!("apt-get install --yes --no-install-recommends {packages}"), &QUIET)
        .map_err(|why| format!("{by_hand}: {why}"))
}

const QUIET: [(&str, &str); 1] = [("DEBIAN_FRONTEND", "noninteractive")];

/// Brings apt's lists up to date, once.
fn apt_lists() -> Result<(), String> {
    static DONE: OnceLock<Result<(), String>> = OnceLock::new();
    DONE.get_or_init(|| execute_aside("apt-get update", &QUIET).map_err(|why| format!("apt-get update: {why}"))).clone()
}

/// Makes sure that nightly Rust is there, with these components.
pub(crate) fn nightly(policy: Policy, components: &[&str]) -> Result<(), String> {
    let sysroot = Command::new("rustc").args(["+nightly", "--print", "sysroot"]).output();
    let manifest = sysroot.ok().filter(|output| output.status.success()).and_then(|output| {
        let components = Path::new(String::from_utf8_lossy(&output.stdout).trim()).join("lib/rustlib/components");
        fs::read_to_string(components).ok()
    });
    let has = |component: &&str| manifest.iter().flat_map(|text| text.lines()).any(|line| line.starts_with(component));
    if manifest.is_some() && components.iter().all(has) {
        return Ok(());
    }
    let line = format!("rustup toolchain install nightly --profile minimal --component {}", components.join(","));
    by_command(policy, "nightly Rust", &line)
}

/// Makes sure that `cargo fuzz` is there.
pub(crate) fn cargo_fuzz(policy: Policy) -> Result<(), String> {
    match runs("cargo", &["fuzz", "--version"]) {
        true => Ok(()),
        false => by_command(policy, "`cargo fuzz`", "cargo install cargo-fuzz"),
    }
}

fn by_command(policy: Policy, missing: &str, line: &str) -> Result<(), String> {
    let by_hand = format!("{missing} is missing: {line}");
    if policy == Policy::OnlySay {
        return Err(by_hand);
    }
    println!("{by_hand}, done now");
    execute(line, &[])
}

fn runs(program: &str, arguments: &[&str]) -> bool {
    silent(program, arguments).is_ok_and(|status| status.success())
}

/// Whether there is such a program at all; not every one knows `--version`.
fn starts(program: &str) -> bool {
    silent(program, &["--version"]).is_ok()
}

fn silent(program: &str, arguments: &[&str]) -> std::io::Result<ExitStatus> {
    Command::new(program).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status()
}
