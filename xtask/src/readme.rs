//! The commands that the README promises: each line of its `sh` blocks.

/// The command lines in the `sh` blocks of a Markdown text, in order.
pub(crate) fn commands(markdown: &str) -> Vec<String> {
    let mut commands = Vec::new();
    let mut inside = false;
    for line in markdown.lines() {
        let line = line.trim();
        match line.strip_prefix("```") {
            Some(language) => inside = !inside && matches!(language, "sh" | "bash"),
            None if inside && !line.is_empty() && !line.starts_with('#') => commands.push(line.to_owned()),
            None => {}
        }
    }
    commands
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_shell_blocks_hold_commands() {
        let markdown =
            "```sh\n# why\ncargo a\n\n  cargo b\n```\ntext\n```rust\nlet x;\n```\n```\nplain\n```\n```bash\nc\n```";
        assert_eq!(commands(markdown), ["cargo a", "cargo b", "c"]);
    }
}
