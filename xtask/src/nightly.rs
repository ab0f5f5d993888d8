//! Chores that need nightly Rust: Miri and the fuzzers. Neither is part of `cargo xtask test`.

use std::process::ExitCode;

use crate::install::{Policy, cargo_fuzz, nightly};
use crate::run::Runner;

/// Tests of unsafe code that call no generated code, which Miri cannot run: all of monoscan-protocol, and of monoscan-runtime those
/// with these words in their names. The unsafe code of monoscan only passes memory to monoscan-runtime.
const UNDER_MIRI: [&str; 2] = [
    "cargo +nightly miri test --package monoscan-protocol",
    "cargo +nightly miri test --package monoscan-runtime --lib -- memory:: slots::",
];

/// Runs everything unsafe that is not generated code under Miri.
pub(crate) fn miri() -> ExitCode {
    let mut runner = Runner::default();
    runner.step("tools", || nightly(Policy::Install, &["miri", "rust-src"]));
    for line in UNDER_MIRI {
        runner.command_with(line, &[("CARGO_TARGET_DIR", "target/miri")]);
    }
    runner.finish()
}

/// The fuzz targets, as `scan-fuzz` names them.
const TARGETS: [&str; 3] = ["parser", "engine", "calls"];

/// Runs each fuzz target, or the one that is named, for so many seconds. New inputs stay in `fuzz/libfuzzer/corpus`.
pub(crate) fn fuzz(seconds: &str, target: Option<&str>) -> ExitCode {
    let mut runner = Runner::default();
    runner.step("tools", || nightly(Policy::Install, &["rust-src"]).and_then(|()| cargo_fuzz(Policy::Install)));
    for name in TARGETS.into_iter().filter(|&name| target.is_none_or(|target| target == name)) {
        let (own, kept) = (format!("fuzz/libfuzzer/corpus/{name}"), format!("fuzz/corpus/{name}"));
        let own_folder = std::fs::create_dir_all(crate::run::root().join(&own));
        runner.step(&own, || own_folder.map_err(|error| error.to_string()));
        // A few hundred bytes decide everything, and none takes half a minute. Sanitizers see nothing of generated code, which
        // the targets fence in by themselves, and Miri sees to the rest.
        let settings = format!("-max_total_time={seconds} -max_len=600 -len_control=0 -timeout=30 -rss_limit_mb=4096");
        let command = "cargo +nightly fuzz run --fuzz-dir fuzz/libfuzzer --sanitizer none --release --debug-assertions";
        runner.command_with(
            &format!("{command} {name} {own} {kept} -- {settings}"),
            &[("CARGO_TARGET_DIR", "target/fuzz")],
        );
    }
    runner.finish()
}
