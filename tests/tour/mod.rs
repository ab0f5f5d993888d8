//! The algorithms that the tour should have lines for: the public functions of `src/algo`, and
//! those of pattern sets that search a text.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Functions that make an argument of an algorithm, ask about one, or draw it.
const OF_ARGUMENTS: [&str; 21] = [
    "new", "by", "on", "scan", "programs", "len", "is_empty", "height", "starts", "ends", "rows", "raw", "unquoted",
    "of_byte", "kind", "width", "levels", "depth", "size", "fan_out", "svg",
];

/// Each as `module::function` or `module::Type::function`. One that writes into memory of its caller, with the suffix `_into`,
/// counts as its namesake.
pub(crate) fn algorithms() -> BTreeSet<String> {
    let (sources, mut found) = (Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), BTreeSet::new());
    collect(&sources.join("algo"), None, &mut found);
    let is_algorithm = |name: &String| {
        let function = name.rsplit("::").next().unwrap().trim_end_matches("_into");
        // A workspace has namesakes of functions.
        !OF_ARGUMENTS.contains(&function) && !name.contains("::Workspace::")
    };
    found.retain(is_algorithm);
    let mut of_patterns = BTreeSet::new();
    collect(&sources.join("lexer/patterns"), Some("lexer"), &mut of_patterns);
    // The loop of one thread is what the others are compared with.
    of_patterns.retain(|name| name.starts_with("lexer::PatternSet::ends") && !name.ends_with("_sequentially"));
    found.into_iter().chain(of_patterns).map(|name| name.trim_end_matches("_into").to_owned()).collect()
}

/// The public functions in the files of this folder, which are of this module, or else of modules that are named like them.
fn collect(folder: &Path, module: Option<&str>, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let module = module.unwrap_or(path.file_stem().unwrap().to_str().unwrap());
        if path.is_dir() {
            collect(&path, Some(module), found);
        } else {
            functions(&fs::read_to_string(&path).unwrap(), module, found);
        }
    }
}

fn functions(text: &str, module: &str, found: &mut BTreeSet<String>) {
    let mut path = module.to_owned();
    for line in text.lines() {
        if let Some(subject) = line.strip_prefix("impl") {
            // `<'a, T: Num> Csr<'a, T> {` and ` Tour {`
            let subject = subject.trim_end_matches(" {");
            let subject = subject.rsplit_once("> ").map_or(subject, |(_, subject)| subject).trim_start();
            path = format!("{module}::{}", identifier(subject));
        } else if line == "}" {
            module.clone_into(&mut path);
        } else if let Some(name) = line.trim_start().strip_prefix("pub fn ") {
            found.insert(format!("{path}::{}", identifier(name)));
        }
    }
}

fn identifier(text: &str) -> &str {
    text.split(|character: char| !character.is_alphanumeric() && character != '_').next().unwrap()
}
