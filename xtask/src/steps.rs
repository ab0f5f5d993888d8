//! `cargo xtask test`: everything that must hold of this repository.
//!
//! The workspace is linted, documented and tested under one set of features, all of them: another
//! set would compile monoscan and what depends on it once more, and run the same tests. What a
//! smaller set must hold is shown by what is cheap: its crates are listed, monoscan is checked with
//! it, and the examples and the counted programs are built as users build them, without features.
//!
//! What is built with optimisation, in folders of its own, runs beside the rest: there is nearly
//! always some test or some crate that waits for one core.

use std::fs;
use std::process::ExitCode;

use crate::install::{self, Policy};
use crate::instructions::{self, Differing};
use crate::run::{Runner, root};
use crate::{packages, prose, ptxas, readme, tree};

/// Runs all steps; the exit status says whether all passed.
pub(crate) fn test(policy: Policy) -> ExitCode {
    let mut runner = Runner::default();
    runner.step("tools", || install::tools(policy));
    runner.step("ptxas", || ptxas::fetch(policy).map(|path| println!("{}", path.display())));
    runner.step("features bring in LLVM and CUDA, each its own, and no default build does", tree::dependencies);
    runner.step("file lengths", tree::long_files);
    runner.step("manifests", packages::manifests);
    runner.step("packages", || packages::package(packages::Build::No));
    runner.step("prose", prose::check);
    runner.command("cargo fmt --all --check");
    runner.side_by_side(optimised, workspace);
    runner.finish()
}

/// What is hardly optimised: lints, documents and tests of the workspace.
fn workspace(runner: &mut Runner) {
    runner.command(CLIPPY);
    runner.command_with("cargo doc --workspace --no-deps --all-features", &[("RUSTDOCFLAGS", "-D warnings")]);
    for features in ["", " --features ptx", " --features cuda", " --features gpu", " --features ndarray"] {
        runner.command(&format!("cargo check --package monoscan --no-default-features{features}"));
    }
    // A snapshot that differs fails here instead of leaving a file to review.
    runner.command_with("cargo test --workspace --all-features --no-fail-fast", &[("INSTA_UPDATE", "no")]);
}

/// The linter, whose warnings are errors.
pub(crate) const CLIPPY: &str = "cargo clippy --workspace --all-targets --all-features -- -D warnings";

/// What is optimised: tests are hardly, users are.
fn optimised(runner: &mut Runner) {
    // loom runs the protocol's own code through the interleavings of small cases, and shuttle through random ones of larger
    // cases; both must notice where a rule of it is broken. Each needs another build of it.
    runner.command_with(
        "cargo test --package monoscan-protocol --release --test loom --test mutations",
        &[("RUSTFLAGS", "--cfg loom"), ("CARGO_TARGET_DIR", "target/loom")],
    );
    runner.command_with(
        "cargo test --package monoscan-protocol --release --test shuttle --test mutations",
        &[("RUSTFLAGS", "--cfg shuttle"), ("CARGO_TARGET_DIR", "target/shuttle")],
    );
    runner.command("cargo run --release --package cpu-bench -- --rust-only --verify --sizes 6,12,17");
    runner.step("instructions", || instructions::count(Differing::Refuse));
    match promised_commands() {
        Ok(commands) => commands.iter().for_each(|command| runner.command(command)),
        Err(why) => runner.step("commands of the README", || Err(why)),
    }
}

/// The commands of the README, but for this one, and those examples that it does not mention.
fn promised_commands() -> Result<Vec<String>, String> {
    let markdown = fs::read_to_string(root().join("README.md")).map_err(|error| format!("README.md: {error}"))?;
    let (this, mut commands): (Vec<String>, Vec<String>) =
        readme::commands(&markdown).into_iter().partition(|command| command.starts_with("cargo xtask test"));
    if this.is_empty() || commands.is_empty() {
        return Err("the README should show `cargo xtask test` and how to run an example".into());
    }
    let manifest = fs::read_to_string(root().join("Cargo.toml")).map_err(|error| format!("Cargo.toml: {error}"))?;
    let mut examples: Vec<String> = fs::read_dir(root().join("examples"))
        .map_err(|error| format!("examples: {error}"))?
        .filter_map(|entry| Some(entry.ok()?.file_name().to_str()?.strip_suffix(".rs")?.to_owned()))
        .collect();
    examples.sort();
    for example in examples {
        let this = format!("--example {example}");
        let is_shown = |command: &String| format!("{command} ").contains(&format!("{this} "));
        if !commands.iter().any(is_shown) {
            commands.push(match needed_features(&manifest, &example)? {
                None => format!("cargo run --release {this}"),
                // What it needs besides, a device perhaps, is not here.
                Some(features) => format!("cargo build --features {features} {this}"),
            });
        }
    }
    Ok(commands)
}

/// The features that a manifest says an example needs.
fn needed_features(manifest: &str, example: &str) -> Result<Option<String>, String> {
    let manifest: toml::Table = manifest.parse().map_err(|error| format!("Cargo.toml: {error}"))?;
    let examples = manifest.get("example").and_then(|examples| examples.as_array()).into_iter().flatten();
    let mut named = examples.filter(|known| known.get("name").and_then(|name| name.as_str()) == Some(example));
    let needed = named.next().and_then(|known| known.get("required-features")?.as_array());
    Ok(needed.map(|features| {
        let names: Vec<&str> = features.iter().filter_map(|feature| feature.as_str()).collect();
        names.join(",")
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_need_the_features_that_the_manifest_says() {
        let manifest = "[[example]]\nname = \"a\"\nrequired-features = [\"x\", \"y\"]\n[[example]]\nname = \"b\"\n";
        assert_eq!(needed_features(manifest, "a"), Ok(Some("x,y".to_owned())));
        assert_eq!(needed_features(manifest, "b"), Ok(None));
        assert_eq!(needed_features("", "a"), Ok(None));
        assert!(needed_features("[", "a").is_err());
    }

    #[test]
    fn every_example_has_a_command() {
        let commands = promised_commands().unwrap();
        for command in ["--features ptx --example emit", "cargo build --features cuda --example run_kernel"] {
            assert!(commands.iter().any(|known| known.contains(command)), "{command}: {commands:?}");
        }
        assert!(commands.iter().any(|known| known.starts_with("cargo run --release --example lexer")));
    }
}
