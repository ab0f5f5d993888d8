//! Checks of prose: how long its lines and sentences are, that documentation begins with its
//! subject, and that no word is used that another one has replaced.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::run::root;

/// Characters of a line of prose.
const LONGEST: usize = 100;

/// Words of a sentence.
const MOST_WORDS: usize = 40;

/// Pages whose sentences list figures.
const FIGURES: &str = "docs/measurements";

/// Words of earlier versions, and those that mean the same in this field; see `docs/terms.md`.
const REPLACED: &[(&str, &str)] = &[
    ("Scan::seeded", "init"),
    ("GpuScan", "DynScan"),
    ("in names", "by ranges, or by ids of the transition monoid"),
    ("letters of", "input symbols"),
    ("for banks", "bank replication"),
    ("a pen", "IR builder"),
    ("the pen", "IR builder"),
    ("room", "space, or the capacity of an output"),
    ("hand on", "carry, pass or leave"),
    ("hands on", "carries, passes or leaves"),
    ("hands it on", "carries, passes or leaves"),
    ("hands them on", "carries, passes or leaves"),
    ("handed on", "carried, passed or left"),
    ("handing on", "carrying, passing or leaving"),
    ("hands over", "gives or passes"),
    ("handed over", "given or passed"),
    ("leave behind", "by what it is: a deferred composition, fold-to-replay data, the rest"),
    ("leaves behind", "by what it is: a deferred composition, fold-to-replay data, the rest"),
    ("left behind", "by what it is: a deferred composition, fold-to-replay data, the rest"),
    ("take note", "record, write or count"),
    ("takes note", "records, writes or counts"),
    ("takes notes", "records, writes or counts"),
    ("program that keeps", "a program that filters"),
    ("programs that keep", "programs that filter"),
    ("way by way", "block by block"),
    ("interior of", "steady state"),
    ("run of records", "sequence"),
    ("leaves a note", "an output symbol of a Mealy fold"),
    ("leave notes", "output symbols of a Mealy fold"),
    ("whoever", "by the name of the thing that does it"),
    ("those who", "by the name of the things that do it"),
    ("for who", "by the name of the thing that it is for"),
    ("and who", "by the name of the thing that does it"),
];

/// Files that are no prose of today: the terms, what is refused in the tests of messages.
const EXEMPT: [&str; 2] = ["docs/terms.md", "tests/ui/"];

/// Finds long lines and long sentences in pages and module heads, replaced words in these and in all
/// other comments, and documentation that begins with "What".
pub(crate) fn check() -> Result<(), String> {
    let output = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard", "*.md", "*.rs"])
        .current_dir(root())
        .output()
        .map_err(|error| error.to_string())?;
    let files = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut wrong = Vec::new();
    for file in files.lines().filter(|file| !EXEMPT.iter().any(|exempt| file.starts_with(exempt))) {
        // A file that was removed and not yet committed is listed too.
        let Ok(text) = fs::read_to_string(root().join(file)) else { continue };
        let is_page = Path::new(file).extension().is_some_and(|extension| extension == "md");
        let mut found = faults(&text, is_page);
        if !file.starts_with(FIGURES) {
            found.extend(long_sentences(&text, is_page));
        }
        wrong.extend(found.into_iter().map(|(line, what)| format!("{file}:{line}: {what}")));
    }
    if wrong.is_empty() { Ok(()) } else { Err(format!("\n{}", wrong.join("\n"))) }
}

/// The lines of a page, or of a module's head, that are no code: with their numbers, whole and as prose.
fn prose(text: &str, is_page: bool) -> impl Iterator<Item = (usize, &str, &str)> {
    let mut is_code = false;
    (1..).zip(text.lines()).filter_map(move |(number, line)| {
        let prose = if is_page { line } else { line.strip_prefix("//!")? };
        let prose = prose.strip_prefix(' ').unwrap_or(prose);
        is_code ^= prose.trim_start().starts_with("```");
        (!is_code).then_some((number, line, prose))
    })
}

/// The lines of a page, or of a file of code, in which something is wrong; code and tables may be wide.
fn faults(text: &str, is_page: bool) -> Vec<(usize, String)> {
    let mut faults = Vec::new();
    for (number, line, prose) in prose(text, is_page) {
        let length = line.chars().count();
        if length > LONGEST && !prose.starts_with('|') {
            faults.push((number, format!("{length} characters, of at most {LONGEST}")));
        }
        if is_page {
            faults.extend(replaced(number, prose));
        }
    }
    // Of code every comment that has a line of its own.
    let comments = (1..).zip(text.lines()).filter(|(_, line)| !is_page && line.trim_start().starts_with("//"));
    faults.extend(comments.flat_map(|(number, comment)| replaced(number, comment)));
    let is_what = |line: &str| ["/// What ", "//! What "].iter().any(|what| line.trim_start().starts_with(what));
    let documented = (1..).zip(text.lines()).filter(|(_, line)| !is_page && is_what(line));
    faults.extend(
        documented.map(|(number, _)| (number, "documentation begins with its subject, not with `What`".into())),
    );
    faults
}

/// The replaced words of a line.
fn replaced(number: usize, line: &str) -> impl Iterator<Item = (usize, String)> {
    let found = REPLACED.iter().filter(move |(old, _)| has_words(line, old));
    found.map(move |(old, new)| (number, format!("`{old}` is called {new} now")))
}

/// Where sentences of a page, or of a module's head, grow too long. A heading, a row of a table, an item of a list and an
/// empty line begin a new one.
fn long_sentences(text: &str, is_page: bool) -> Vec<(usize, String)> {
    let mut faults = Vec::new();
    let (mut words, mut last) = (0, 0);
    for (number, _, prose) in prose(text, is_page) {
        let prose = prose.trim_start();
        if number != last + 1 || prose.is_empty() || ["|", "#", "- ", "* "].iter().any(|start| prose.starts_with(start))
        {
            words = 0;
        }
        last = number;
        for word in prose.split_whitespace().filter(|_| !prose.starts_with('|')) {
            // Marks of lists, and dashes, are no words.
            words += usize::from(word.contains(char::is_alphanumeric));
            if words > MOST_WORDS {
                faults.push((number, format!("a sentence of more than {MOST_WORDS} words")));
                words = 0;
            }
            if word.trim_end_matches([')', '*', '`', '"']).ends_with(['.', '?', '!']) {
                words = 0;
            }
        }
    }
    faults
}

/// Whether these words are in the text as words, in capitals or not.
fn has_words(text: &str, words: &str) -> bool {
    let (text, words) = (text.to_lowercase(), words.to_lowercase());
    text.match_indices(&words).any(|(start, _)| {
        let before = text[..start].chars().next_back();
        let after = text[start + words.len()..].chars().next();
        ![before, after].into_iter().flatten().any(char::is_alphanumeric)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_of_prose_are_found_and_code_may_be_wide() {
        let long = "x".repeat(101);
        let page = format!("{long}\n```\n{long}\n```\n|{long}\n{}", "ü".repeat(100));
        assert_eq!(faults(&page, true), [(1, "101 characters, of at most 100".to_owned())]);
        assert_eq!(faults(&format!("//! {}\nlet x = {long};", "x".repeat(97)), false).len(), 1);
    }

    #[test]
    fn documentation_begins_with_its_subject() {
        assert_eq!(faults("//! Sums.\n    /// What is summed.\nfn what() {}", false).len(), 1);
        assert_eq!(faults("/// The sum.\n/// Says what is summed. What else?", false), []);
        assert_eq!(faults("What is summed", true), []);
    }

    #[test]
    fn long_sentences_are_found_where_they_grow_too_long() {
        let forty = ["word"; 40].join(" ");
        assert_eq!(long_sentences(&format!("{forty}\n{forty}."), true).len(), 1);
        assert_eq!(
            long_sentences(&format!("//! {forty}\n//! more."), false),
            [(2, "a sentence of more than 40 words".into())]
        );
        assert_eq!(long_sentences(&format!("{forty}.\n{forty}\n\n{forty}\n- {forty}\n| {forty} {forty} |"), true), []);
    }

    #[test]
    fn replaced_words_are_found_in_pages_and_comments() {
        assert_eq!(faults("For Banks.", true), [(1, "`for banks` is called bank replication now".to_owned())]);
        assert_eq!(faults("the pending one", true), []);
        assert_eq!(faults("//! the pen\nlet the = pen;\n    /// the pen\n// the pen", false).len(), 3);
    }
}
