//! What can be read off the tree without building anything: examples, dependencies, lengths of files.

use std::fs;
use std::path::{Path, PathBuf};

use crate::report::Shell;

/// What users get by default must build without any of these.
const NOT_BY_DEFAULT: [&str; 4] = ["llvm-sys", "inkwell", "cudarc", "cust"];

/// Lists the crates of a default build.
pub(crate) const DEPENDENCIES: &str = "cargo tree -p monoscan -e normal,build --prefix none";

/// A file holds one idea; from here on it probably holds two.
const LONG: usize = 400;

/// Folders at the root that hold sources.
const SOURCES: [&str; 9] =
    ["src", "examples", "benches", "tests", "runtime", "scan-codegen", "scan-ir", "scan-macros", "xtask"];

/// The examples by name: `examples/NAME.rs` and `examples/NAME/main.rs`. Each runs without arguments.
pub(crate) fn examples(shell: &Shell) -> Result<Vec<String>, String> {
    let entries = read_folder(&shell.folder().join("examples"))?;
    let is_example =
        |path: &PathBuf| path.extension().is_some_and(|kind| kind == "rs") || path.join("main.rs").exists();
    let name = |path: PathBuf| path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let names: Vec<String> = entries.into_iter().filter(is_example).filter_map(name).collect();
    println!("{}", names.join(", "));
    Ok(names)
}

/// Fails if a default build contains LLVM or CUDA.
pub(crate) fn check_dependencies(shell: &Shell) -> Result<(), String> {
    let tree = shell.read(DEPENDENCIES)?;
    let mut crates: Vec<&str> = tree.lines().filter_map(|line| line.split_whitespace().next()).collect();
    crates.sort_unstable();
    crates.dedup();
    println!("{} crates, itself included", crates.len());
    match crates.iter().find(|name| NOT_BY_DEFAULT.contains(name)) {
        Some(name) => Err(format!("a default build contains {name}")),
        None => Ok(()),
    }
}

/// Warns of files that are too long; that alone is no failure.
pub(crate) fn warn_of_long_files(shell: &Shell) -> Result<(), String> {
    let mut folders: Vec<PathBuf> = SOURCES.iter().map(|name| shell.folder().join(name)).collect();
    folders.retain(|folder| folder.is_dir());
    while let Some(folder) = folders.pop() {
        for path in read_folder(&folder)? {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|kind| kind == "rs") {
                let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
                let lines = text.lines().count();
                if lines > LONG {
                    println!("warning: {} has {lines} lines", path.display());
                }
            }
        }
    }
    Ok(())
}

fn read_folder(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let failed = |error| format!("{}: {error}", folder.display());
    let entries = fs::read_dir(folder).map_err(failed)?;
    let mut paths =
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>().map_err(failed)?;
    paths.sort();
    Ok(paths)
}
