//! `cargo xtask check`: what can be said of a change within two minutes of a built tree. Format of
//! everything, and lints and tests of the packages that were changed. Packages that use them are
//! for `cargo xtask test`.
//!
//! Packages are chosen with the features that they alone ask for, as by `cargo test --package`:
//! with those of the whole workspace the tests of `monoscan-ir` would build all crates above it
//! first. So the first check of a package builds some crates of others that the next one finds.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use crate::run::{Outcome, Runner, execute, root};
use crate::steps::AS_TESTS;
use crate::{llvm, pages, prose};

/// After this no more tests begin, and those that run are stopped.
const TIME: Duration = Duration::from_secs(115);

/// A package of the workspace.
pub(crate) struct Member {
    pub(crate) name: String,
    /// Its place in the repository; empty for the root.
    folder: String,
}

/// The tests that a file asks for. More comes after less.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Tests {
    /// The examples in documents.
    Documents,
    /// A file of `tests/`.
    Target(String),
    /// All of its package.
    All,
}

impl Tests {
    /// The option that asks cargo for a target.
    fn target(&self) -> Option<String> {
        match self {
            Tests::Target(name) => Some(format!(" --test {name}")),
            Tests::Documents | Tests::All => None,
        }
    }
}

/// Checks what was changed since the branch left `base`, committed or not.
pub(crate) fn check(base: Option<&str>) -> ExitCode {
    let start = Instant::now();
    let mut runner = Runner::default();
    let mut plan = Ok(Vec::new());
    runner.step("what was changed", || {
        plan = commands(base);
        plan.as_ref().map(|_| ()).map_err(String::clone)
    });
    runner.step("prose", prose::check);
    runner.step("pages", pages::check);
    runner.command("cargo fmt --all --check");
    for command in plan.unwrap_or_default() {
        runner.step_that_may_stop(&command, || execute_within(TIME.saturating_sub(start.elapsed()), &command));
    }
    println!("\n`cargo xtask test` runs everything.");
    runner.finish()
}

/// Runs a command line for as long as this at most.
fn execute_within(left: Duration, line: &str) -> Outcome {
    if left.is_zero() {
        return Outcome::Stopped;
    }
    match execute(&format!("timeout {} {line}", left.as_secs_f64()), &[]) {
        Err(status) if status.ends_with(" 124") => Outcome::Stopped,
        result => result.into(),
    }
}

/// All features, where they can be built.
fn features() -> &'static str {
    if llvm::is_there() { " --all-features" } else { "" }
}

/// The lints and tests to run, as command lines.
fn commands(base: Option<&str>) -> Result<Vec<String>, String> {
    let base = match base {
        Some(base) => base.to_owned(),
        None => ["origin/main", "main"]
            .iter()
            .find(|name| git(&["rev-parse", "--verify", "--quiet", name]).is_ok())
            .map_or("HEAD", |v| v)
            .to_owned(),
    };
    let from = git(&["merge-base", "HEAD", &base])?;
    let mut files = git(&["diff", "--name-only", from.trim()])?;
    files += &git(&["ls-files", "--others", "--exclude-standard"])?;
    let members = members()?;
    let changed = changed(&members, files.lines());
    println!("{} files differ from {base}, of {} packages", files.lines().count(), changed.len());
    Ok(lines(&members, &changed))
}

/// The tests that these files ask for, by package.
fn changed<'a>(members: &[Member], files: impl Iterator<Item = &'a str>) -> BTreeMap<String, BTreeSet<Tests>> {
    let mut changed: BTreeMap<String, BTreeSet<Tests>> = BTreeMap::new();
    for file in files {
        let inside = |member: &&Member| member.folder.is_empty() || Path::new(file).starts_with(&member.folder);
        let Some(member) = members.iter().filter(inside).max_by_key(|member| member.folder.len()) else { continue };
        let path = file[member.folder.len()..].trim_start_matches('/');
        if let Some(tests) = tests(&root().join(&member.folder), path) {
            changed.entry(member.name.clone()).or_default().insert(tests);
        }
    }
    changed
}

/// The tests that a file of a package asks for.
fn tests(package: &Path, path: &str) -> Option<Tests> {
    let mut parts = path.split('/');
    match (parts.next()?, parts.next()) {
        ("tests", Some(name)) => Some(target(package, name).map_or(Tests::All, Tests::Target)),
        ("examples", _) => Some(Tests::Target("examples".into())),
        ("docs" | "README.md", _) => Some(Tests::Documents),
        ("src" | "build.rs" | "Cargo.toml", _) => Some(Tests::All),
        _ => None,
    }
}

/// The commands that lint changed packages and run what is asked for: targets that were changed, all
/// tests of changed packages, examples in documents.
fn lines(members: &[Member], changed: &BTreeMap<String, BTreeSet<Tests>>) -> Vec<String> {
    let is_whole = |name: &String| changed[name].contains(&Tests::All);
    let (whole, parts): (Vec<&String>, Vec<&String>) = changed.keys().partition(|name| is_whole(name));
    let packages = |names: &[&String]| names.iter().map(|name| format!(" --package {name}")).collect::<String>();
    let options = format!("{AS_TESTS}{}", features());
    let lint = |names: &[&String]| format!("cargo clippy {options}{} --all-targets -- -D warnings", packages(names));
    let test = |names: &[&String], targets: &str| format!("cargo test {options}{}{targets}", packages(names));

    let mut lines = Vec::new();
    for name in parts {
        let targets: String = changed[name].iter().filter_map(Tests::target).collect();
        if !targets.is_empty() {
            lines.extend([lint(&[name]), test(&[name], &targets)]);
        }
        if changed[name].contains(&Tests::Documents) {
            lines.push(test(&[name], " --doc"));
        }
    }
    if !whole.is_empty() {
        lines.extend([lint(&whole), test(&whole, " --tests")]);
    }
    let has_library = |name: &&String| {
        let folder = members.iter().find(|member| member.name == **name).map(|member| &member.folder);
        folder.is_some_and(|folder| root().join(folder).join("src/lib.rs").exists())
    };
    let libraries: Vec<&String> = whole.into_iter().filter(has_library).collect();
    if !libraries.is_empty() {
        lines.push(test(&libraries, " --doc"));
    }
    lines
}

/// The target of `tests/` that a file or folder there is, if it is one.
fn target(package: &Path, entry: &str) -> Option<String> {
    let name = entry.strip_suffix(".rs").unwrap_or(entry);
    let path = package.join("tests").join(name);
    (path.with_extension("rs").exists() || path.join("main.rs").exists()).then(|| name.to_owned())
}

/// The packages of the workspace.
pub(crate) fn members() -> Result<Vec<Member>, String> {
    let workspace = manifest("")?;
    let folders = workspace.get("workspace").and_then(|workspace| workspace.get("members")?.as_array());
    let folders: Vec<&str> = folders.into_iter().flatten().filter_map(toml::Value::as_str).collect();
    let mut members = Vec::new();
    for folder in folders {
        let folder = if folder == "." { "" } else { folder };
        let manifest = manifest(folder)?;
        let name = manifest.get("package").and_then(|package| package.get("name")?.as_str());
        let name = name.ok_or_else(|| format!("{folder}: the package has no name"))?.to_owned();
        members.push(Member { name, folder: folder.to_owned() });
    }
    Ok(members)
}

fn manifest(folder: &str) -> Result<toml::Table, String> {
    let path = root().join(folder).join("Cargo.toml");
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    text.parse().map_err(|error| format!("{}: {error}", path.display()))
}

fn git(arguments: &[&str]) -> Result<String, String> {
    let output =
        Command::new("git").args(arguments).current_dir(root()).output().map_err(|error| format!("git: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!("git {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr).trim())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(files: &[&str]) -> Vec<String> {
        let members = members().unwrap();
        let options = format!(" {}{} --package ", AS_TESTS, features());
        let short = |line: &String| line.strip_prefix("cargo ").unwrap().replacen(&options, " ", 1);
        lines(&members, &changed(&members, files.iter().copied())).iter().map(short).collect()
    }

    const LINTS: &str = "--all-targets -- -D warnings";

    #[test]
    fn changed_packages_are_linted_and_tested_and_no_others() {
        let of_both = asked(&["ir/src/lib.rs", "ir/tests/text.rs", "codegen/build.rs"]);
        let both = "monoscan-codegen --package monoscan-ir";
        assert_eq!(
            of_both,
            [format!("clippy {both} {LINTS}"), format!("test {both} --tests"), format!("test {both} --doc")]
        );
        assert_eq!(asked(&["xtask/src/main.rs"]), [format!("clippy xtask {LINTS}"), "test xtask --tests".to_owned()]);
        assert_eq!(asked(&["CHANGELOG.md", "Cargo.lock"]), [""; 0]);
    }

    #[test]
    fn a_changed_test_asks_for_itself_alone_and_a_document_for_its_examples() {
        let both = "test monoscan --test examples --test scan";
        let lint = format!("clippy monoscan {LINTS}");
        assert_eq!(
            asked(&["docs/tour.md", "tests/scan/main.rs", "examples/lexer.rs"]),
            [&lint, both, "test monoscan --doc"]
        );
        assert_eq!(asked(&["docs/tour.md"]), ["test monoscan --doc"]);
        assert_eq!(asked(&["ir/tests/math/main.rs"])[1..], ["test monoscan-ir --test math"]);
    }

    #[test]
    fn what_takes_too_long_is_stopped() {
        assert_eq!(execute_within(Duration::from_millis(10), "sleep 600"), Outcome::Stopped);
        assert_eq!(execute_within(Duration::ZERO, "true"), Outcome::Stopped);
        assert_eq!(execute_within(Duration::from_secs(600), "true"), Outcome::Passed);
        assert!(matches!(execute_within(Duration::from_secs(600), "false"), Outcome::Failed(_)));
    }
}
