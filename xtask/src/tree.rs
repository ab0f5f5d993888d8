//! Checks of the source tree itself: what builds depend on, and how long files are.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::run::root;

/// Crates that are bindings of LLVM.
const LLVM: &[&str] = &["llvm-sys", "inkwell"];

/// Crates that are bindings of the CUDA driver.
const CUDA: &[&str] = &["cudarc", "cust"];

/// A way to build monoscan, and which of these it has in it.
struct Build {
    features: &'static str,
    has_llvm: bool,
    has_cuda: bool,
}

/// Packages that a default build may have, those of this workspace among them. Each costs every user time.
const MOST_PACKAGES: usize = 60;

const BUILDS: [Build; 4] = [
    Build { features: "default", has_llvm: false, has_cuda: false },
    Build { features: "ptx", has_llvm: true, has_cuda: false },
    Build { features: "cuda", has_llvm: false, has_cuda: true },
    Build { features: "gpu", has_llvm: true, has_cuda: true },
];

/// Lines a source file may have before a reader loses the thread.
const MOST_LINES: usize = 400;

/// Each build has in it what its features promise, and nothing more.
pub(crate) fn dependencies() -> Result<(), String> {
    BUILDS.iter().try_for_each(|build| {
        let packages = build.packages()?;
        println!("{}: {} packages", build.features, packages.len());
        build.judge(&packages)
    })
}

impl Build {
    /// All packages that are compiled for it, as `name v1.2.3`.
    fn packages(&self) -> Result<BTreeSet<String>, String> {
        let output = Command::new("cargo")
            .args(["tree", "--package", "monoscan", "--edges", "normal,build", "--prefix", "none", "--format", "{p}"])
            .args(["--features", self.features])
            .current_dir(root())
            .output()
            .map_err(|error| error.to_string())?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        let package = |line: &str| line.split(' ').take(2).collect::<Vec<_>>().join(" ");
        Ok(String::from_utf8_lossy(&output.stdout).lines().filter(|line| !line.is_empty()).map(package).collect())
    }

    fn judge(&self, packages: &BTreeSet<String>) -> Result<(), String> {
        if self.features == "default" && packages.len() > MOST_PACKAGES {
            return Err(format!("a default build has {} packages, of at most {MOST_PACKAGES}", packages.len()));
        }
        let names: BTreeSet<&str> = packages.iter().filter_map(|package| package.split(' ').next()).collect();
        for (what, bindings, promised) in [("LLVM", LLVM, self.has_llvm), ("CUDA", CUDA, self.has_cuda)] {
            match bindings.iter().find(|name| names.contains(**name)) {
                Some(name) if !promised => return Err(format!("`{}` brings in {what}: {name}", self.features)),
                None if promised => {
                    return Err(format!("`{}` brings in none of {}", self.features, bindings.join(", ")));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// Names source files that have grown too long to be one idea; tests and tables may.
pub(crate) fn long_files() -> Result<(), String> {
    let mut files = Vec::new();
    for folder in
        ["src", "macros/src", "ir/src", "codegen/src", "runtime", "fuzz/src", "tests/emulator/src", "xtask", "examples"]
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

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(build: &Build, packages: &[&str]) -> Result<(), String> {
        build.judge(&packages.iter().map(|name| name.to_string()).collect())
    }

    #[test]
    fn a_build_has_what_it_promises_and_no_more() {
        for packages in [&["monoscan"][..], &["monoscan", "llvm-sys"], &["monoscan", "cudarc"], &["cudarc", "inkwell"]]
        {
            let has = |bindings: &[&str]| packages.iter().any(|name| bindings.contains(name));
            for build in &BUILDS {
                let right = has(LLVM) == build.has_llvm && has(CUDA) == build.has_cuda;
                assert_eq!(judge(build, packages).is_ok(), right, "{}: {packages:?}", build.features);
            }
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert_eq!(judge(&BUILDS[2], &["cudarc", "llvm-sys"]), Err("`cuda` brings in LLVM: llvm-sys".to_owned()));
        let many: Vec<String> = (0..61).map(|n| format!("half v{n}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(judge(&BUILDS[0], &many[1..]), Ok(()));
        assert_eq!(judge(&BUILDS[0], &many), Err("a default build has 61 packages, of at most 60".to_owned()));
        assert_eq!(judge(&BUILDS[2], &["half"]), Err("`cuda` brings in none of cudarc, cust".to_owned()));
    }
}
