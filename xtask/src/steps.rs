//! `cargo xtask test`: everything that must hold of this repository.
//!
//! The workspace is linted, documented and tested under one set of features, all of them: another
//! set would compile monoscan and what depends on it once more, and run the same tests. Smaller
//! sets are shown by cheap steps: their crates are listed, monoscan and the examples that need it
//! are checked with them. The other examples and the counted programs are built as users build
//! them, without features.
//!
//! Tests are built in the folder of optimised builds, as `.cargo/tests.toml` says, and lints,
//! documents and smaller sets of features are checked there too. So all of these and what users run
//! share the crates of others, or at least macros and build scripts. While one builds there no
//! other does. Tools are installed beside the checks that build nothing. What users run, counted
//! programs and commands of the README, comes next, then tests are built, then run beside the
//! checks. The protocol's models, which are built in folders of their own, are beside either. There
//! is nearly always some crate or some test that waits for one core.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use crate::install::{self, Policy};
use crate::instructions::{self, Differing};
use crate::run::{Runner, root};
use crate::{packages, pages, prose, ptxas, readme, tree};

/// Runs all steps; the exit status says whether all passed.
pub(crate) fn test(policy: Policy) -> ExitCode {
    let mut runner = Runner::default();
    let installed = |runner: &mut Runner| {
        runner.step("tools", || install::tools(policy));
        runner.step("ptxas", || ptxas::fetch(policy).map(|path| println!("{}", path.display())));
    };
    runner.side_by_side(installed, |runner| {
        runner.step("features bring in LLVM and CUDA, each its own, and no default build does", tree::dependencies);
        runner.step("file lengths", tree::long_files);
        runner.step("manifests", packages::manifests);
        runner.step("packages", || packages::package(packages::Build::No));
        runner.step("prose", prose::check);
        runner.step("pages", pages::check);
        runner.command("cargo fmt --all --check");
    });
    let beside = |runner: &mut Runner| {
        model(runner, "loom");
        // While valgrind counts, on one core.
        runner.command("cargo build --release --examples");
        // Builds with debug assertions try no function of Rust, so these races and contests are run here.
        runner.command("cargo test --release --test native");
    };
    runner.side_by_side(beside, users);
    runner.command(&format!("{TESTS} --all-features --no-run"));
    let beside = |runner: &mut Runner| {
        // First what does not wait for the folder of the tests, which start in the meantime.
        model(runner, "shuttle");
        runner.command(&format!("{CLIPPY} --all-features -- -D warnings"));
        documents_and_features(runner);
        // Most of their time is one compilation on one core.
        runner.command(&format!("{TESTS} --all-features --no-fail-fast --doc"));
    };
    runner.side_by_side(beside, workspace);
    runner.finish()
}

/// How tests are built, and what is checked beside them.
pub(crate) const AS_TESTS: &str = "--release --config .cargo/tests.toml";

/// How tests are built and run. After it come the features, and what else is asked for.
const TESTS: &str = "cargo test --release --config .cargo/tests.toml --workspace";

/// The linter of all code, tests among it. After it come the features, and that its warnings are errors.
const CLIPPY: &str = "cargo clippy --release --config .cargo/tests.toml --workspace --all-targets";

/// The tests of the workspace, but for those in documents.
fn workspace(runner: &mut Runner) {
    // A snapshot that differs fails here instead of leaving a file to review.
    let line = format!("{TESTS} --all-features --no-fail-fast --lib --bins --tests");
    runner.command_with(&line, &[("INSTA_UPDATE", "no")]);
    // The tests have built these; with fewer features all would be built once more.
    let promised = Promised::read();
    for Example { name, arguments, .. } in promised.map_or(Vec::new(), |promised| promised.with_features) {
        if let Some(arguments) = arguments {
            runner.command(&format!("target/release/examples/{name} {arguments}"));
        }
    }
}

/// Documents, and smaller sets of features: compiled and not run.
fn documents_and_features(runner: &mut Runner) {
    let document = format!("cargo doc {AS_TESTS} --workspace --no-deps --all-features");
    let linter = linter();
    let mut environment = vec![("RUSTDOCFLAGS", "-D warnings")];
    environment.extend(linter.iter().flatten().map(|(name, value)| (*name, value.as_str())));
    runner.command_with(&document, &environment);
    let promised = Promised::read();
    let with_features = promised.as_ref().map_or(&[][..], |promised| &promised.with_features);
    // What users choose of: nothing, kernels without devices, devices without LLVM; and what an example needs besides.
    // All of it is on above.
    let is_for = |features: &str, example: &Example| {
        features == example.features || features.split(',').any(|one| one == example.features)
    };
    let mut sets = vec!["", "ptx", "cuda,ndarray"];
    for example in with_features {
        if !sets.iter().any(|features| is_for(features, example)) {
            sets.push(&example.features);
        }
    }
    // Packages that are tested alone have no more of the kit than they ask for.
    runner.command(&format!("cargo clippy {AS_TESTS} --package scan-kit -- -D warnings"));
    for features in sets {
        let examples = with_features.iter().filter(|example| is_for(features, example));
        let targets: String = examples.map(|example| format!(" --example {}", example.name)).collect();
        let features = format!("--no-default-features --features \"{features}\"");
        // Not `cargo check`, which would check the crates below once more.
        runner.command(&format!("cargo clippy {AS_TESTS} --package monoscan {features} --lib{targets} -- -D warnings"));
    }
}

/// The environment in which [`CLIPPY`] with `-- -D warnings` calls its compiler. What it has checked need not be checked again
/// for a command that runs in it. If another version of clippy has another one, it is, and nothing else changes.
fn linter() -> Option<[(&'static str, String); 2]> {
    let printed = Command::new("rustc").args(["--print", "sysroot"]).current_dir(root()).output().ok()?;
    let driver = Path::new(str::from_utf8(&printed.stdout).ok()?.trim()).join("bin/clippy-driver");
    let arguments = "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__".to_owned();
    driver.is_file().then(|| [("RUSTC_WORKSPACE_WRAPPER", driver.display().to_string()), ("CLIPPY_ARGS", arguments)])
}

/// A model of the protocol: `loom` runs its own code through the interleavings of small cases, and `shuttle` through random
/// ones of larger cases; both must notice where a rule of it is broken. Each needs another build of it.
fn model(runner: &mut Runner, name: &str) {
    runner.command_with(
        &format!(
            "cargo test --release --config .cargo/models.toml --package monoscan-protocol --test {name} --test mutations"
        ),
        &[("RUSTFLAGS", &format!("--cfg {name}")), ("CARGO_TARGET_DIR", &format!("target/{name}"))],
    );
}

/// Commands of users, built as they build them.
fn users(runner: &mut Runner) {
    runner.step("instructions", || instructions::count(Differing::Refuse));
    match Promised::read() {
        Ok(promised) => promised.optimised.iter().for_each(|command| runner.command(command)),
        Err(why) => runner.step("commands of the README", || Err(why)),
    }
}

/// The commands of the README, but for `cargo xtask test`, and those examples that it does not mention.
#[derive(Debug, Default)]
struct Promised {
    /// Commands that build with `--release` and without features, as they are.
    optimised: Vec<String>,
    /// Examples that need features.
    with_features: Vec<Example>,
}

#[derive(Debug, PartialEq)]
struct Example {
    name: String,
    /// The features that it needs to be built, as the manifest says.
    features: String,
    /// How the README runs it, if it does. What it needs besides, a device perhaps, is not here.
    arguments: Option<String>,
}

impl Promised {
    fn read() -> Result<Promised, String> {
        let markdown = fs::read_to_string(root().join("README.md")).map_err(|error| format!("README.md: {error}"))?;
        let manifest = fs::read_to_string(root().join("Cargo.toml")).map_err(|error| format!("Cargo.toml: {error}"))?;
        let mut examples: Vec<String> = fs::read_dir(root().join("examples"))
            .map_err(|error| format!("examples: {error}"))?
            .filter_map(|entry| Some(entry.ok()?.file_name().to_str()?.strip_suffix(".rs")?.to_owned()))
            .collect();
        examples.sort();
        Promised::of(&readme::commands(&markdown), &manifest, &examples)
    }

    fn of(commands: &[String], manifest: &str, examples: &[String]) -> Result<Promised, String> {
        let is_this = |command: &&String| command.starts_with("cargo xtask test");
        if !commands.iter().any(|command| is_this(&command)) || commands.iter().all(|command| is_this(&command)) {
            return Err("the README should show `cargo xtask test` and how to run an example".into());
        }
        let mut promised = Promised::default();
        for name in examples {
            let this = format!("--example {name}");
            let shows_it = |command: &&&String| format!("{command} ").contains(&format!("{this} "));
            let shown = commands.iter().find(|command| shows_it(&command));
            match needed_features(manifest, name)? {
                None if shown.is_none() => promised.optimised.push(format!("cargo run --release {this}")),
                None => {}
                Some(features) => {
                    let expected = format!("cargo run --features {features} {this} -- ");
                    let arguments = shown.map(|shown| {
                        let arguments = shown.strip_prefix(&expected).map(str::to_owned);
                        arguments.ok_or_else(|| format!("`{shown}` should begin with `{expected}`"))
                    });
                    let arguments = arguments.transpose()?;
                    promised.with_features.push(Example { name: name.clone(), features, arguments });
                }
            }
        }
        for command in commands.iter().filter(|command| !is_this(command)) {
            match command.starts_with("cargo run --release ") {
                true => promised.optimised.push(command.clone()),
                false
                    if promised
                        .with_features
                        .iter()
                        .any(|example| command.contains(&format!("--example {} ", example.name))) => {}
                false => return Err(format!("no step runs `{command}`")),
            }
        }
        Ok(promised)
    }
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
    use crate::check;

    const MANIFEST: &str = "[[example]]\nname = \"a\"\nrequired-features = [\"x\", \"y\"]\n[[example]]\nname = \"b\"\n";

    fn promised(commands: &[&str]) -> Result<Promised, String> {
        let commands: Vec<String> = commands.iter().map(|&command| command.to_owned()).collect();
        Promised::of(&commands, MANIFEST, &["a".to_owned(), "b".to_owned()])
    }

    /// Mistakes that only show where assertions and overflow are checked are found by `cargo xtask test` as by `cargo test`.
    #[test]
    fn all_packages_are_tested_with_assertions_and_optimised_as_a_plain_test_has_them() {
        let read = |name: &str| fs::read_to_string(root().join(name)).unwrap().parse::<toml::Table>().unwrap();
        let (here, plain) = (read(".cargo/tests.toml"), read("Cargo.toml"));
        for member in check::members().unwrap() {
            let settings = &here["profile"]["release"]["package"][&member.name];
            let plain = plain["profile"]["dev"]["package"].get(&member.name);
            let level = plain.and_then(|plain| plain.get("opt-level")?.as_integer()).unwrap_or(0);
            assert_eq!(settings["opt-level"].as_integer(), Some(level), "{}", member.name);
            for checked in ["debug-assertions", "overflow-checks"] {
                assert_eq!(settings[checked].as_bool(), Some(true), "{}", member.name);
            }
        }
    }

    #[test]
    fn examples_need_the_features_that_the_manifest_says() {
        assert_eq!(needed_features(MANIFEST, "a"), Ok(Some("x,y".to_owned())));
        assert_eq!(needed_features(MANIFEST, "b"), Ok(None));
        assert_eq!(needed_features("", "a"), Ok(None));
        assert!(needed_features("[", "a").is_err());
    }

    #[test]
    fn every_example_is_run_as_the_readme_says_or_without_arguments() {
        let shown =
            ["cargo run --release --example b -- --c", "cargo run --features x,y --example a -- d", "cargo xtask test"];
        let found = promised(&shown).unwrap();
        let a = |arguments: Option<&str>| Example {
            name: "a".into(),
            features: "x,y".into(),
            arguments: arguments.map(str::to_owned),
        };
        assert_eq!((found.optimised, found.with_features), (vec![shown[0].to_owned()], vec![a(Some("d"))]));
        let found = promised(&["cargo run --release --example c", "cargo xtask test"]).unwrap();
        assert_eq!(found.optimised, ["cargo run --release --example b", "cargo run --release --example c"]);
        assert_eq!(found.with_features, [a(None)]);
    }

    #[test]
    fn a_command_that_no_step_runs_is_named() {
        for wrong in [&["cargo xtask test"][..], &["cargo run --release --example b"]] {
            assert!(promised(wrong).unwrap_err().contains("xtask test"));
        }
        for wrong in ["cargo fly", "cargo run --features x --example a -- d"] {
            assert!(promised(&["cargo xtask test", wrong]).unwrap_err().contains(wrong), "{wrong}");
        }
        assert!(Promised::read().is_ok_and(|promised| promised.with_features.len() >= 2), "{:?}", Promised::read());
    }
}
