//! The commands that the README promises: every `cargo …` line of its shell blocks.

use std::fs;

use crate::report::Shell;

/// The cargo commands of the README, in order, each once.
///
/// # Errors
/// If the README cannot be read or promises no command at all, which means that it is not understood.
pub(crate) fn commands(shell: &Shell) -> Result<Vec<String>, String> {
    let text = fs::read_to_string(shell.folder().join("README.md")).map_err(|error| format!("README.md: {error}"))?;
    let mut commands = Vec::new();
    for command in cargo_commands(&text) {
        if !commands.contains(&command) {
            commands.push(command);
        }
    }
    if commands.is_empty() { Err("no cargo command in any sh block".into()) } else { Ok(commands) }
}

/// Why a command is not run, if it is not.
pub(crate) fn reason_to_skip(command: &str) -> Option<&'static str> {
    let mut words = command.split_whitespace().skip_while(|word| *word != "cargo").skip(1);
    match words.next() {
        Some("xtask") => Some("this is cargo xtask"),
        Some("add" | "install" | "new" | "init") => Some("it would change the tree or the machine"),
        _ => None,
    }
}

/// The lines of `sh`, `bash` and `shell` blocks whose command is cargo, prompts and comments taken off, continued lines
/// joined.
fn cargo_commands(markdown: &str) -> Vec<String> {
    let mut commands = Vec::new();
    let mut in_shell = None;
    let mut line = String::new();
    for text in markdown.lines().map(str::trim) {
        match (text.strip_prefix("```"), in_shell) {
            (Some(language), None) => in_shell = Some(matches!(language.trim(), "sh" | "bash" | "shell")),
            (Some(_), Some(_)) => in_shell = None,
            (None, Some(true)) => {
                line.push_str(text.strip_prefix("$ ").unwrap_or(text));
                if line.ends_with('\\') {
                    line.pop();
                } else {
                    let command = without_comment(&line).trim();
                    commands.extend(runs_cargo(command).then(|| command.to_string()));
                    line.clear();
                }
            }
            _ => {}
        }
    }
    commands
}

fn without_comment(line: &str) -> &str {
    line.split(" # ").next().unwrap_or(line)
}

/// Whether the first word that sets no variable is `cargo`.
fn runs_cargo(command: &str) -> bool {
    command.split_whitespace().find(|word| !word.contains('=')) == Some("cargo")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_cargo_lines_of_shell_blocks_are_commands() {
        let markdown = "\
`cargo inline` is prose.
```sh
git clone somewhere
$ cargo run --example a   # says so
RUSTFLAGS=-g cargo test \\
    -p b
cargo run -- --signature \"0.04 : 1.6, -0.64\"
# cargo comment
```
```rust
cargo.run();
```
```
cargo output
```
";
        let expected =
            ["cargo run --example a", "RUSTFLAGS=-g cargo test -p b", "cargo run -- --signature \"0.04 : 1.6, -0.64\""];
        assert_eq!(cargo_commands(markdown), expected);
    }

    #[test]
    fn what_would_recurse_or_change_the_machine_is_skipped() {
        assert!(reason_to_skip("cargo xtask test --no-install").is_some());
        assert!(reason_to_skip("A=1 cargo add monoscan").is_some());
        assert!(reason_to_skip("cargo run --release --example affine").is_none());
    }
}
