//! Checks of what pages say about the source: files that they name are there, and have the items
//! that a table's row says they have. So a how-to fails when the code has moved on.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::run::root;

/// Pages of which every row of a table that names a file is looked up there.
const HOW_TO: &str = "docs/how-to/";

/// Figures of the past name files of the past.
const PAST: [&str; 2] = ["docs/measurements/", "CHANGELOG.md"];

/// Finds files, and items of files, that pages name and the repository does not have.
pub(crate) fn check() -> Result<(), String> {
    let output = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .map_err(|error| error.to_string())?;
    let listed = String::from_utf8_lossy(&output.stdout).into_owned();
    // A file that was removed and not yet committed is listed too.
    let files: BTreeSet<&str> = listed.lines().filter(|file| root().join(file).is_file()).collect();
    let tree = Tree { files: &files, text: &|file| fs::read_to_string(root().join(file)).unwrap_or_default() };
    let pages = files.iter().filter(|file| file.ends_with(".md") && !PAST.iter().any(|past| file.starts_with(past)));
    let wrong: Vec<String> = pages
        .flat_map(|page| {
            let faults = tree.faults(&(tree.text)(page), page.starts_with(HOW_TO));
            faults.into_iter().map(move |(line, fault)| format!("{page}:{line}: {fault}"))
        })
        .collect();
    if wrong.is_empty() { Ok(()) } else { Err(format!("\n{}", wrong.join("\n"))) }
}

/// The files of the repository, and their texts.
struct Tree<'a> {
    files: &'a BTreeSet<&'a str>,
    text: &'a dyn Fn(&str) -> String,
}

impl Tree<'_> {
    /// The files that a name in a page means: all of its path, or the end of it; of a folder, those in it.
    fn named(&self, name: &str) -> Vec<&str> {
        let inside = format!("/{}/", name.trim_end_matches('/'));
        let is_it = |file: &&&str| format!("/{file}/").ends_with(&inside) || format!("/{file}").contains(&inside);
        self.files.iter().filter(is_it).copied().collect()
    }

    /// Where a page is wrong, by lines.
    fn faults(&self, page: &str, is_how_to: bool) -> Vec<(usize, String)> {
        let mut faults = Vec::new();
        let mut is_code = false;
        for (number, line) in (1..).zip(page.lines()) {
            if line.trim_start().starts_with("```") {
                is_code = !is_code;
            } else if is_code {
                let tests = line.split("--test ").skip(1).filter(|_| line.contains("cargo test"));
                let names = tests.filter_map(|rest| rest.split_whitespace().next()).filter(|name| *name != "NAME");
                let missing = names.filter(|name| !self.has_test(name));
                faults.extend(missing.map(|name| (number, format!("no test `{name}`"))));
            } else {
                faults.extend(self.faults_of_line(line, is_how_to).into_iter().map(|fault| (number, fault)));
            }
        }
        faults
    }

    fn has_test(&self, name: &str) -> bool {
        !self.named(&format!("tests/{name}.rs")).is_empty() || !self.named(&format!("tests/{name}/main.rs")).is_empty()
    }

    fn faults_of_line(&self, line: &str, is_how_to: bool) -> Vec<String> {
        let quoted = || line.split('`').skip(1).step_by(2);
        let paths: Vec<&str> = quoted().filter(|quoted| is_path(quoted)).collect();
        let missing = paths.iter().filter(|path| self.named(path).is_empty());
        let mut faults: Vec<String> = missing.map(|path| format!("no file `{path}`")).collect();
        let file = paths.first().filter(|path| is_how_to && line.starts_with(&format!("| `{path}`")));
        if let Some(file) = file {
            let texts: Vec<String> = self.named(file).into_iter().map(self.text).collect();
            let items = quoted().filter(|quoted| is_item(quoted));
            let is_there = |item: &&str| texts.iter().any(|text| has_word(text, item)) || self.has_test(item);
            let lacks = items.filter(|item| !is_there(item));
            faults.extend(lacks.map(|item| format!("no `{item}` in `{file}`")));
        }
        faults
    }
}

/// Whether this is a place in the repository: a file of source, or a page, without a name to be filled in.
fn is_path(quoted: &str) -> bool {
    let is_plain = quoted.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-./".contains(c));
    let is_file = Path::new(quoted).extension().is_some_and(|extension| extension == "rs" || extension == "md");
    is_plain && is_file && !quoted.starts_with("..")
}

/// Whether this is the name of something in a file.
fn is_item(quoted: &str) -> bool {
    quoted.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && quoted.len() > 2
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|other| other == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(page: &str, is_how_to: bool) -> Vec<(usize, String)> {
        let files = BTreeSet::from(["ir/src/opcode.rs", "ir/tests/text.rs", "runtime/tests/gpu/main.rs"]);
        let tree = Tree { files: &files, text: &|_| "fn is_commutative() {}".into() };
        tree.faults(page, is_how_to)
    }

    #[test]
    fn files_that_a_page_names_are_there() {
        assert_eq!(faults("`ir/src/opcode.rs`, `opcode.rs`, `src/NAME/mod.rs`, `gpu/main.rs` and `a / b`", false), []);
        assert_eq!(faults("\n`src/opcodes.rs`", false), [(2, "no file `src/opcodes.rs`".to_owned())]);
        assert_eq!(faults("`code.rs`", false).len(), 1, "the end of a name is not a name");
    }

    #[test]
    fn a_row_of_a_how_to_names_items_of_its_file() {
        let row = "| `ir/src/opcode.rs` | `is_commutative`, `can_overflow`: what it is |";
        assert_eq!(faults(row, true), [(1, "no `can_overflow` in `ir/src/opcode.rs`".to_owned())]);
        assert_eq!(faults(row, false), []);
    }

    #[test]
    fn tests_that_a_page_runs_are_there() {
        assert_eq!(faults("```\ncargo test -p a --test text --test gpu\n```", true), []);
        assert_eq!(faults("```\ncargo test --test texts\n```", true), [(2, "no test `texts`".to_owned())]);
    }
}
