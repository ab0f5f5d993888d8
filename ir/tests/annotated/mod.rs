//! File tests whose expected errors sit at the end of the offending lines, as `; error: substring`.

use std::path::{Path, PathBuf};

/// The `.scan` files of a folder below `files`, by name, with their texts.
pub(crate) fn scan_files(folder: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(folder);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|extension| extension == "scan")).collect();
    paths.sort();
    assert!(!paths.is_empty(), "no files in {}", folder.display());
    let read = |path: PathBuf| (path.display().to_string(), std::fs::read_to_string(&path).unwrap());
    paths.into_iter().map(read).collect()
}

/// Each annotation of the text is matched by one message on its line, and no message is left over. A line may have
/// several annotations.
#[track_caller]
pub(crate) fn assert_annotated(path: &str, text: &str, mut found: Vec<(usize, String)>) {
    for (line, text) in (1..).zip(text.lines()) {
        for expected in text.split("; error: ").skip(1).map(str::trim) {
            match found.iter().position(|(at, message)| *at == line && message.contains(expected)) {
                Some(place) => drop(found.remove(place)),
                None => panic!("{path}:{line}: expected an error with {expected:?}, left are {found:#?}"),
            }
        }
    }
    assert!(found.is_empty(), "{path}: not annotated: {found:#?}");
}
