//! Programs that cargo builds of this package beside a test.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The features that bring dependencies of their own, and whether these tests were built with them.
pub(crate) const FEATURES: [(&str, bool); 4] = [
    ("ptx", cfg!(feature = "ptx")),
    ("cuda", cfg!(feature = "cuda")),
    ("gpu", cfg!(feature = "gpu")),
    ("ndarray", cfg!(feature = "ndarray")),
];

/// Builds `targets`, examples among them, with the profile and the features of this test. Gives the folder where they are.
///
/// Cargo unites the features that what it builds asks of a dependency. Without examples it would leave out the dependencies of
/// tests, and build everything once more for what these have asked.
pub(crate) fn build(targets: &[&str]) -> PathBuf {
    assert!(targets.contains(&"--examples"), "{targets:?}");
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().and_then(Path::parent).unwrap();
    let mut build = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    build
        .args(["build", "--quiet", "--manifest-path", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")])
        .args(targets);
    // Nor is it another choice of packages: with all features it is the workspace, as in `cargo xtask test`.
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
        // As `cargo xtask test` builds tests.
        if cfg!(debug_assertions) {
            build.args(["--config", concat!(env!("CARGO_MANIFEST_DIR"), "/.cargo/tests.toml")]);
        }
    }
    assert!(build.status().unwrap().success());
    profile.to_owned()
}
