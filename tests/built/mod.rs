//! What cargo builds of this package beside a test.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The features that bring dependencies of their own, and whether these tests were built with them.
pub(crate) const FEATURES: [(&str, bool); 4] = [
    ("ptx", cfg!(feature = "ptx")),
    ("cuda", cfg!(feature = "cuda")),
    ("gpu", cfg!(feature = "gpu")),
    ("ndarray", cfg!(feature = "ndarray")),
];

/// Builds `targets`, such as `--lib`, with the profile and the features of this test. Gives the folder where they are.
pub(crate) fn build(targets: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().and_then(Path::parent).unwrap();
    let mut build = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    build.args(["build", "--quiet", targets, "--manifest-path", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")]);
    // Cargo unites the features that the chosen packages ask of a dependency: another choice than that of the tests would build
    // dependencies once more. With all features it is the workspace, as in `cargo xtask test`.
    if FEATURES.iter().all(|(_, has)| *has) {
        build.args(["--workspace", "--all-features"]);
    } else {
        for (feature, _) in FEATURES.into_iter().filter(|(_, has)| *has) {
            build.args(["--features", feature]);
        }
    }
    build.arg("--target-dir").arg(profile.parent().unwrap());
    if profile.ends_with("release") {
        build.arg("--release");
    }
    assert!(build.status().unwrap().success());
    profile.to_owned()
}
