//! The lexer as a command.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::{Scratch, examples, failure, run, stdout};

#[test]
fn the_lexer_prints_tokens_with_byte_offsets_and_errors_as_runs() {
    let scratch = Scratch::new("lexer-tokens");
    let text = scratch.file("text.json", b"{\"a\": [1, -2.5e3, tru] @#\xff \"open");
    let tokens = stdout(&run("lexer", &["--tokens", &text]));
    let expected = "0 1 LBRACE\n1 4 STRING\n4 5 COLON\n6 7 LBRACKET\n7 8 NUMBER\n8 9 COMMA\n10 16 NUMBER\n16 17 COMMA\n\
                    18 21 PART_WORD\n21 22 RBRACKET\n23 26 ERROR\n27 32 OPEN_STRING\n";
    assert_eq!(tokens, expected);
}

#[test]
fn the_lexer_takes_rules_from_a_file() {
    let scratch = Scratch::new("lexer-rules");
    let rules = scratch.file("rules", b"# words and numbers\nIF if\nWORD [a-z]+\nNUMBER [0-9]+\nskip BLANK [ \\n]+\n");
    let text = scratch.file("text", b"if ifs 42!!\n");
    let tokens = stdout(&run("lexer", &["--rules", &rules, "--tokens", &text]));
    assert_eq!(tokens, "0 2 IF\n3 6 WORD\n7 9 NUMBER\n9 11 ERROR\n");
}

#[test]
fn the_lexer_counts_kinds_and_lexes_nothing_at_all() {
    let scratch = Scratch::new("lexer-counts");
    let counts = stdout(&run("lexer", &[&scratch.file("text", b"[[], 1]")]));
    let lines: Vec<Vec<&str>> = counts.lines().map(|line| line.split_whitespace().collect()).collect();
    assert!(lines.contains(&vec!["LBRACKET", "2"]) && counts.contains("memcpy"), "{counts}");
    assert_eq!(stdout(&run("lexer", &["--tokens", &scratch.file("empty", b"")])), "");
}

#[test]
fn the_lexer_takes_a_long_text_in_chunks() {
    let scratch = Scratch::new("lexer-long");
    // Borders of chunks of 8 MB lie within numbers.
    let counts = stdout(&run("lexer", &[&scratch.file("text", &b"[1234567]\n\n".repeat(6_200_000))]));
    let lines: Vec<Vec<&str>> = counts.lines().map(|line| line.split_whitespace().collect()).collect();
    for kind in ["LBRACKET", "NUMBER", "RBRACKET"] {
        assert!(lines.contains(&vec![kind, "6200000"]), "{kind}: {counts}");
    }
    assert!(counts.contains("68200000 bytes") && counts.contains("was not compared"), "{counts}");
}

#[test]
fn the_lexer_shows_the_first_tokens_and_what_bounds_it_and_no_progress_where_nobody_watches() {
    let scratch = Scratch::new("lexer-shows");
    let text = format!("[\"a\\\"\u{7f}b\", \"{}\"]", "x".repeat(100));
    let output = run("lexer", &[&scratch.file("text", text.as_bytes())]);
    let said = stdout(&output);
    let lines: Vec<Vec<&str>> = said.lines().map(|line| line.split_whitespace().collect()).collect();
    let long = format!("\"{}…", "x".repeat(47));
    for line in [["0", "LBRACKET", "["], ["1", "STRING", "\"a\\\"·b\""], ["8", "COMMA", ","], ["10", "STRING", &long]]
    {
        assert!(lines.contains(&line.to_vec()), "{line:?}: {said}");
    }
    assert!(said.contains("bound"), "{said}");
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_lexer_takes_rules_that_look_further_ahead_and_refuses_wrong_ones() {
    let scratch = Scratch::new("lexer-ahead");
    let rules = scratch.file("rules", b"INT [0-9]+\nFLOAT [0-9]+e[0-9]+\nNAME [a-z]+\n");
    let text = scratch.file("text", b"1e5e");
    let tokens = stdout(&run("lexer", &["--rules", &rules, "--tokens", &text]));
    assert_eq!(tokens, "0 3 FLOAT\n3 4 NAME\n");
    let message = failure(&run("lexer", &["--rules", &scratch.file("bad", b"WORD [a-z\n"), &text]), 1);
    assert!(message.contains("line 1, column 6"), "{message}");
}

#[test]
fn the_lexer_has_rules_for_languages_and_prints_chosen_kinds_only() {
    let scratch = Scratch::new("lexer-only");
    let text = scratch.file("text", b"if (x) /* note */ return 1.5;");
    let tokens = stdout(&run("lexer", &["--rules", "c", "--tokens", "--only", "return,FLOAT", &text]));
    assert_eq!(tokens, "18 24 return\n25 28 FLOAT\n");
    let message = failure(&run("lexer", &["--rules", "csv", "--only", "COMA", &text]), 2);
    assert!(message.contains("COMA") && message.contains("COMMA"), "{message}");
}

#[test]
fn the_lexer_says_how_it_is_used_and_which_file_is_missing() {
    assert!(failure(&run("lexer", &["--nonsense"]), 2).contains("usage: lexer"));
    assert!(failure(&run("lexer", &["a", "b"]), 2).contains("one file"));
    assert!(failure(&run("lexer", &["/no/such/file"]), 1).contains("/no/such/file"));
}

#[test]
fn the_lexer_reads_rules_with_any_line_ends_and_a_hash_in_a_regex() {
    let scratch = Scratch::new("lexer-line-ends");
    let rules = scratch.file("rules", b"# tags\r\n\r\nTAG #[a-z]+\r\nHASH #\r\nskip BLANK [ ]");
    let tokens = stdout(&run("lexer", &["--rules", &rules, "--tokens", &scratch.file("text", b"#ab # \r#")]));
    assert_eq!(tokens, "0 3 TAG\n4 5 HASH\n6 7 ERROR\n7 8 HASH\n");
}

#[test]
fn the_lexer_names_the_file_that_it_cannot_use() {
    let scratch = Scratch::new("lexer-files");
    let text = scratch.file("text", b"a");
    let folder = scratch.0.to_str().unwrap();
    let latin = scratch.file("latin", b"A \xe9\n");
    let nothing = scratch.file("nothing", b"");
    for rules in [folder, &latin, &nothing] {
        let message = failure(&run("lexer", &["--rules", rules, &text]), 1);
        assert!(message.starts_with(&format!("{rules}: ")), "{message}");
    }
    assert!(failure(&run("lexer", &[folder]), 1).starts_with(&format!("{folder}: ")));
    assert!(failure(&run("lexer", &["--rules"]), 2).contains("--rules needs a file"));
}

#[test]
fn a_reader_may_close_the_pipe_of_tokens() {
    let scratch = Scratch::new("lexer-pipe");
    let text = scratch.file("text", "1 ".repeat(200_000).as_bytes());
    let mut lexer = Command::new(examples().join("lexer"));
    let mut lexer = lexer.args(["--tokens", &text]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    BufReader::new(lexer.stdout.take().unwrap()).read_line(&mut first).unwrap();
    let end = lexer.wait_with_output().unwrap();
    assert_eq!(first, "0 1 NUMBER\n");
    assert!(end.status.success() && end.stderr.is_empty(), "{}", String::from_utf8_lossy(&end.stderr));
}
