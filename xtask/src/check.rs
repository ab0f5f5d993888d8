//! `cargo xtask check`: what can be said of a change within two minutes of a built tree. Format and
//! lints of everything, so that whatever uses the change still builds, and the tests of the
//! packages that were changed, then of those that use them, as far as the time goes.
//!
//! Tests are chosen by their targets' names, among those of the whole workspace: to choose packages
//! would unite other features, and so build most of the tree once more.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use crate::run::{Outcome, Runner, execute, root};
use crate::{llvm, prose, steps};

/// After this no more tests begin, and those that run are stopped.
const TIME: Duration = Duration::from_secs(115);

/// A package of the workspace.
pub(crate) struct Member {
    pub(crate) name: String,
    /// Its place in the repository; empty for the root.
    folder: String,
    /// Members that it builds or tests with.
    uses: BTreeSet<String>,
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
    runner.command("cargo fmt --all --check");
    runner.command(&format!("{}{} -- -D warnings", steps::CLIPPY, features()));
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

/// The tests to run, as command lines.
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

/// So many targets of `tests/` are built at once, then run: on two cores this keeps both at work.
const AT_ONCE: usize = 4;

/// The commands that run what is asked for: targets that were changed, the other targets of changed
/// packages, unit tests, targets of packages that use changed ones, examples in documents. Unit
/// tests come in one command for all packages, so they wait for what was changed itself.
fn lines(members: &[Member], changed: &BTreeMap<String, BTreeSet<Tests>>) -> Vec<String> {
    let all = |name: &String| changed.get(name).is_some_and(|tests| tests.contains(&Tests::All));
    let (whole, rest): (Vec<&Member>, Vec<&Member>) = members.iter().partition(|member| all(&member.name));
    let users = rest.into_iter().filter(|member| member.uses.iter().any(all));
    let named = changed.values().flatten().filter_map(|tests| match tests {
        Tests::Target(name) => Some(name.clone()),
        Tests::All | Tests::Documents => None,
    });
    let of = |member: &Member| targets_of(&root().join(&member.folder));
    let mut known = BTreeSet::new();
    let mut is_new = |target: &String| known.insert(target.clone());
    let own: Vec<String> = named.chain(whole.iter().flat_map(|member| of(member))).filter(&mut is_new).collect();
    let others: Vec<String> = users.flat_map(of).filter(is_new).collect();

    let cargo = format!("{}{}", steps::TESTS, features());
    let units = (!whole.is_empty()).then(|| format!("{cargo} --lib --bins"));
    let batches = |targets: &[String]| -> Vec<String> {
        let names = |batch: &[String]| batch.iter().map(|name| format!(" --test {name}")).collect::<String>();
        targets.chunks(AT_ONCE).map(|batch| format!("{cargo}{}", names(batch))).collect()
    };
    let documents = changed.values().flatten().any(|tests| matches!(tests, Tests::Documents | Tests::All));
    let documents = documents.then(|| format!("{cargo} --doc"));
    batches(&own).into_iter().chain(units).chain(batches(&others)).chain(documents).collect()
}

/// The names of the targets in a package's `tests/`.
fn targets_of(package: &Path) -> Vec<String> {
    let entries = fs::read_dir(package.join("tests")).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| target(package, entry.file_name().to_str()?)).collect();
    names.sort();
    names
}

/// The target of `tests/` that a file or folder there is, if it is one.
fn target(package: &Path, entry: &str) -> Option<String> {
    let name = entry.strip_suffix(".rs").unwrap_or(entry);
    let path = package.join("tests").join(name);
    (path.with_extension("rs").exists() || path.join("main.rs").exists()).then(|| name.to_owned())
}

/// The packages of the workspace, each after those that it uses without its tests.
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
        let tables = ["dependencies", "dev-dependencies"].map(|table| manifest.get(table).and_then(|t| t.as_table()));
        let uses = tables.into_iter().flatten().flatten().map(|(key, value)| {
            let renamed = value.get("package").and_then(|name| name.as_str());
            renamed.unwrap_or(key).to_owned()
        });
        members.push(Member { uses: uses.collect(), name, folder: folder.to_owned() });
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
        let lines = lines(&members, &changed(&members, files.iter().copied()));
        let start = format!("{}{} ", steps::TESTS, features());
        lines.iter().map(|line| line.strip_prefix(&start).unwrap().to_owned()).collect()
    }

    #[test]
    fn a_changed_source_asks_for_its_package_and_for_those_that_use_it() {
        let asked = asked(&["runtime/protocol/src/lib.rs", "runtime/protocol/tests/loom.rs"]);
        assert!(asked[0].starts_with("--test loom ") && asked[0].contains("--test mutations"), "{asked:?}");
        let place = |text: &str| asked.iter().position(|line| line.contains(text)).unwrap();
        assert!(place("--test loom") < place("--lib --bins"), "{asked:?}");
        assert!(place("--lib --bins") < place("--test calls"), "the runtime's come last: {asked:?}");
        assert_eq!(asked.last().unwrap(), "--doc");
    }

    #[test]
    fn a_source_asks_for_no_tests_of_packages_that_do_not_use_it() {
        assert_eq!(asked(&["xtask/src/main.rs"]), ["--lib --bins", "--doc"]);
        assert_eq!(asked(&["CHANGELOG.md", "Cargo.lock"]), [""; 0]);
        assert!(!asked(&["ir/src/lib.rs"]).iter().any(|line| line.contains("--test loom")));
    }

    #[test]
    fn a_changed_test_asks_for_itself_alone_and_a_document_for_its_examples() {
        let both = ["--test examples --test scan", "--doc"];
        assert_eq!(asked(&["docs/tour.md", "tests/scan.rs", "examples/lexer.rs"]), both);
        assert_eq!(asked(&["ir/tests/math/main.rs"]), ["--test math"]);
    }

    #[test]
    fn what_takes_too_long_is_stopped() {
        assert_eq!(execute_within(Duration::from_millis(10), "sleep 600"), Outcome::Stopped);
        assert_eq!(execute_within(Duration::ZERO, "true"), Outcome::Stopped);
        assert_eq!(execute_within(Duration::from_secs(600), "true"), Outcome::Passed);
        assert!(matches!(execute_within(Duration::from_secs(600), "false"), Outcome::Failed(_)));
    }

    #[test]
    fn what_a_package_uses_is_known() {
        let members = members().unwrap();
        let runtime = members.iter().find(|member| member.name == "monoscan-runtime").unwrap();
        assert!(runtime.uses.contains("monoscan-ir") && runtime.uses.contains("scan-kit"), "{:?}", runtime.uses);
        let renamed = members.iter().find(|member| member.name == "renamed").unwrap();
        assert!(renamed.uses.contains("monoscan"), "{:?}", renamed.uses);
    }
}
