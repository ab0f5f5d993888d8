//! Code that the macros accept and refuse, message by message. After a change of a message run with
//! `UI=overwrite`.
//!
//! rustc checks each file as a crate of its own beside the library that was built with the tests,
//! so nothing is built again. What is compared of its messages is what does not depend on the
//! machine, or on the lines of other files.

mod built;

/// Accepted files that assert something.
#[allow(unreachable_pub, reason = "visibilities are among what is tested")]
mod ui {
    pub(crate) mod ok {
        pub(crate) mod affine;
        pub(crate) mod local_items;
        pub(crate) mod macro_rules;
        pub(crate) mod requests;
        pub(crate) mod visibility;
        pub(crate) mod without_prelude;
    }
}

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use rayon::prelude::*;

#[test]
fn scan_code_is_accepted_as_documented() {
    let library = Library::build();
    let refused = files("tests/ui/ok").into_par_iter().filter_map(|file| {
        let output = library.check(&file);
        (!output.status.success()).then(|| String::from_utf8_lossy(&output.stderr).into_owned())
    });
    let refused: Vec<String> = refused.collect();
    assert!(refused.is_empty(), "{}", refused.concat());
}

#[test]
fn accepted_files_compute_what_they_say() {
    use ui::ok::{affine, local_items, macro_rules, requests, visibility, without_prelude};
    affine::main();
    local_items::main();
    macro_rules::main();
    requests::main().unwrap();
    visibility::main();
    without_prelude::main();
}

#[test]
fn scan_code_is_refused_as_documented() {
    let library = Library::build();
    let overwrite = std::env::var_os("UI").is_some_and(|what| what == "overwrite");
    let differing = files("tests/ui/err").into_par_iter().filter_map(|file| {
        let output = library.check(&file);
        let name = file.display();
        if output.status.success() {
            return Some(format!("{name} is accepted\n"));
        }
        let (found, kept) = (lasting(&String::from_utf8_lossy(&output.stderr)), file.with_extension("stderr"));
        if overwrite {
            fs::write(&kept, &found).unwrap();
        }
        let expected = fs::read_to_string(&kept).unwrap_or_default();
        (found != expected).then(|| format!("{name}: rustc says\n\n{found}\ninstead of\n\n{expected}\n"))
    });
    let differing: Vec<String> = differing.collect();
    assert!(differing.is_empty(), "{}", differing.concat());
}

/// The Rust files of a folder of this package.
fn files(folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| Path::new(folder).join(entry.unwrap().file_name())).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "rs"));
    assert!(!files.is_empty());
    files
}

/// Where monoscan was built.
struct Library {
    profile: PathBuf,
}

impl Library {
    fn build() -> Library {
        Library { profile: built::build(&["--lib", "--examples"]) }
    }

    /// The messages of rustc on a file, for which it makes no code.
    fn check(&self, file: &Path) -> Output {
        let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ui");
        let mut rustc = Command::new("rustc");
        rustc.args([
            "--edition=2024",
            "--crate-type=bin",
            "--emit=metadata",
            "--color=never",
            "--diagnostic-width=140",
        ]);
        rustc.args(["-Adead_code", "--out-dir"]).arg(out);
        rustc.arg("--extern").arg(format!("monoscan={}", self.profile.join("libmonoscan.rlib").display()));
        rustc.arg("-L").arg(format!("dependency={}", self.profile.join("deps").display()));
        rustc.arg(file).current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap()
    }
}

/// Messages without the summary at their end, and without what changes with the machine, with dependencies, or with other files.
fn lasting(messages: &str) -> String {
    let summary = ["error: aborting due to ", "Some errors have ", "For more information about "];
    let diagnostics =
        messages.trim_end().split("\n\n").filter(|text| !summary.iter().any(|start| text.starts_with(start)));
    let diagnostics: Vec<String> = diagnostics.map(lasting_diagnostic).collect();
    diagnostics.join("\n\n") + "\n"
}

/// A diagnostic in which other files have no line numbers, so the margin is as wide as those of this file need.
fn lasting_diagnostic(text: &str) -> String {
    let mut is_elsewhere = false;
    let (mut margin, mut needed) = (0, 0);
    let mut lines = Vec::new();
    // Where a shortened type is written out.
    let is_long_type = |line: &&str| {
        ["the full name for the type ", "consider using `--verbose` "].iter().any(|note| line.contains(note))
    };
    for line in without_lists(text).filter(|line| !is_long_type(line)) {
        let (number, rest) = line.split_at(line.find(|c: char| c != ' ' && !c.is_ascii_digit()).unwrap_or(line.len()));
        if let Some(place) = rest.strip_prefix("--> ") {
            is_elsewhere = !place.starts_with("tests/ui/");
            margin = number.len();
            lines.push(if is_elsewhere { format!("{number}--> {}", file_of(place)) } else { line.to_owned() });
        } else if is_elsewhere && rest.starts_with('|') {
            lines.push(" ".repeat(number.len()) + rest);
        } else {
            // A heading, whose lines are of this file unless it says otherwise.
            is_elsewhere &= !number.is_empty() || rest.starts_with("...");
            let digits = number.trim();
            needed = needed.max(if rest.starts_with(['|', '+', '-', '~']) { digits.len() } else { 0 });
            lines.push(line.to_owned());
        }
    }
    let surplus = margin.saturating_sub(needed);
    let narrowed = lines.iter().map(|line| {
        let (dots, rest) = line.split_at(if line.starts_with("...") { 3 } else { 0 });
        let spaces = rest.len() - rest.trim_start_matches(' ').len();
        format!("{dots}{}", &rest[spaces.min(surplus)..])
    });
    narrowed.collect::<Vec<_>>().join("\n")
}

/// The lines but those that list which other types implement a trait: these depend on features and on other files.
fn without_lists(text: &str) -> impl Iterator<Item = &str> {
    let mut is_list = false;
    text.lines().filter(move |line| {
        let is_item = is_list && line.starts_with("          ");
        is_list = is_item || line.contains("= help: the following other types implement trait ");
        !is_item
    })
}

/// The file of a place, without line and column; of the standard library from its folder on.
fn file_of(place: &str) -> String {
    let file = place.rsplitn(3, ':').last().unwrap_or(place);
    match file.split_once("/library/") {
        Some((_, file)) => format!("$RUST/{file}"),
        None => file.to_owned(),
    }
}
