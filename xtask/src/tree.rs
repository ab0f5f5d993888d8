//! Checks of the source tree itself: what a default build depends on, and how long files are.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::run::root;

/// Crates that a default build must not contain: LLVM and CUDA belong to features.
const NOT_BY_DEFAULT: [&str; 4] = ["llvm-sys", "inkwell", "cudarc", "cust"];

/// Lines a source file may have before a reader loses the thread.
const MOST_LINES: usize = 400;

/// A default build of the crate has neither LLVM nor CUDA in it.
pub(crate) fn default_dependencies() -> Result<(), String> {
    let output = Command::new("cargo")
        .args(["tree", "--package", "monoscan", "--edges", "normal,build", "--prefix", "none", "--format", "{p}"])
        .current_dir(root())
        .output()
        .map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let tree = String::from_utf8_lossy(&output.stdout);
    let unwanted = tree.lines().filter_map(|line| line.split(' ').next()).find(|name| NOT_BY_DEFAULT.contains(name));
    match unwanted {
        Some(name) => Err(format!("a default build depends on {name}")),
        None => {
            println!("{} packages, none of {}", tree.lines().count(), NOT_BY_DEFAULT.join(", "));
            Ok(())
        }
    }
}

/// Names source files that have grown too long to be one idea; tests and tables may.
pub(crate) fn long_files() -> Result<(), String> {
    let mut files = Vec::new();
    for folder in
        ["src", "scan-macros/src", "scan-ir/src", "scan-codegen/src", "runtime", "fuzz/src", "xtask", "examples"]
    {
        collect(&root().join(folder), &mut files).map_err(|error| format!("{folder}: {error}"))?;
    }
    files.sort();
    for file in files {
        let lines = fs::read_to_string(&file).map_err(|error| error.to_string())?.lines().count();
        if lines > MOST_LINES {
            println!("note: {} has {lines} lines", file.strip_prefix(root()).unwrap_or(&file).display());
        }
    }
    Ok(())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}
