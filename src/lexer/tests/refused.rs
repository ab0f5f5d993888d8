//! Rules and texts that are refused, and the words of their errors.

use super::super::*;
use super::compile;

fn refusal(rules: &str) -> String {
    let labelled = |lexer: Lexer| lexer.tables().map(|tables| format!("{tables:?}"));
    match Rules::parse(rules).map_err(LexerError::from).and_then(Lexer::new).and_then(labelled) {
        Ok(tables) => panic!("accepted: {tables}"),
        Err(error) => error.to_string(),
    }
}

/// Why one pass does not do.
fn conflicts(rules: &str) -> Vec<String> {
    let lexer = Lexer::new(Rules::parse(rules).expect("they parse")).expect("any rules");
    let tables = lexer.tables().expect("any small rules can be labelled");
    let conflicts = lexer.look_ahead().conflicts();
    assert_eq!(tables.ranks().is_some(), conflicts.is_empty());
    conflicts.iter().map(ToString::to_string).collect()
}

#[test]
fn rules_that_one_pass_does_not_lex_are_told_which_of_them_force_it() {
    for (rules, conflicts) in [
        (
            "NUMBER [1-9][0-9]*(e[1-9]+)?",
            &[
                r#"after NUMBER "1", rule NUMBER may continue with "e" only if more bytes follow ("1e1"): give the incomplete form "1e" a rule of its own"#,
            ][..],
        ),
        (
            "STRING \"[^\"]*\"",
            &[
                r#"no rule matches "\"a", but rule STRING may if more bytes follow ("\"a\""): give the incomplete form "\"a" a rule of its own"#,
            ],
        ),
        (
            "INT [1-9]+\nRANGE [1-9]+[.][.][1-9]+",
            &[
                r#"after INT "1", rule RANGE may continue with "." only if more bytes follow ("1..1"): give the incomplete form "1." a rule of its own"#,
            ],
        ),
        (
            "DIVIDE /\nCOMMENT /[*]([^*]|[*]+[^*/])*[*]+/",
            &[
                r#"after DIVIDE "/", rule COMMENT may continue with "*" only if more bytes follow ("/**/"): give the incomplete form "/*" a rule of its own"#,
            ],
        ),
        (
            "TRUE true\nTHIS this\nX x",
            &[
                r#"no rule matches "tr", but rule TRUE may if more bytes follow ("true"): give the incomplete form "tr" a rule of its own"#,
                r#"no rule matches "th", but rule THIS may if more bytes follow ("this"): give the incomplete form "th" a rule of its own"#,
            ],
        ),
        // The start is entered again: one byte may pend, and then two.
        (
            "AB a*b",
            &[
                r#"no rule matches "aa", but rule AB may if more bytes follow ("aab"): give the incomplete form "aa" a rule of its own"#,
            ],
        ),
        (
            r"BYTES [\xfe]([\x00][\x00])*[\xff]",
            &[
                r#"no rule matches "\xfe\x00", but rule BYTES may if more bytes follow ("\xfe\x00\x00\xff"): give the incomplete form "\xfe\x00" a rule of its own"#,
            ],
        ),
    ] {
        assert_eq!(self::conflicts(rules), conflicts);
    }
}

#[test]
fn long_examples_are_shortened() {
    let message = conflicts("A x{60}y").remove(0);
    assert!(message.contains(r#"("xxxxxxxxxxxxxxxx" … (61 bytes) … "xxxxxxxxxxxxxxxy")"#), "{message}");
}

#[test]
fn a_rule_for_the_incomplete_form_spares_the_oracle() {
    for rules in [
        "NUMBER [1-9][0-9]*(e[1-9]+)?\nPART [1-9][0-9]*e",
        "STRING \"[^\"]*\"\nOPEN \"[^\"]*",
        "DIVIDE /\nCOMMENT /[*]([^*]|[*]+[^*/])*[*]+/\nOPEN /[*]([^*]|[*]+[^*/])*[*]*",
        "AB a*b\nA a+",
    ] {
        assert!(conflicts(rules).is_empty(), "{rules}");
    }
}

#[test]
fn rules_that_are_too_large_are_refused() {
    let hint = "bounded repetitions such as `{1,1000}` and Unicode classes cost most";
    let states = |needs: &str| format!("the automaton has more than 4096 states{needs}; {hint}");
    let memory = |needs: &str| format!("the automaton needs too much memory to build{needs}; {hint}");
    assert_eq!(refusal("B b\nA a{20000}"), states(", and rule A needs most"));
    // The last has few states of large sets, which took seconds to find.
    for rule in ["[ab]*a[ab]{20}", "(a{1000}){1000}", "a{1000}{1000}", "([ab]?){4000}c"] {
        assert_eq!(refusal(&format!("A {rule}\nB b")), memory(", and rule A needs most"), "{rule}");
    }
    // None of them is larger than all others together.
    let many: String = (0..2000).map(|i| format!("R{i} r{i:04}abc\n")).collect();
    assert_eq!(refusal(&many), states(""));
    // More than 128 ranks take two passes, as maps of all states have at most 256.
    for (most, scans) in [(127, "one scan"), (255, "oracle")] {
        let tables = compile(&format!("A [1-9]{{1,{most}}}"));
        assert!(tables.tables().expect("they fit").to_string().starts_with(scans), "{most}");
    }
    assert_eq!(
        refusal("A [1-9]{1,300}"),
        "as a scan the rules need 300 states: expected at most 256 for labels, and on a GPU; bounded repetitions and Unicode \
         classes cost most"
    );
    assert_eq!(
        refusal("A (?u:[\\p{L}\\p{N}]+-[\\p{L}\\p{N}]+)"),
        "what may follow a token has too many cases: expected an oracle of at most 8388608 entries for labels, and on a GPU; \
         `incomplete` kinds spare cases, and bounded repetitions and Unicode classes cost most"
    );
    // Within the bound of entries: minimised in moments, though each round of Moore's would tell one state apart.
    let refused = refusal("A [1-9]{1,900}\nB xa{600}y");
    assert!(refused.starts_with("as a scan the rules need "), "{refused}");
    let kinds = |count| (0..count).map(|i| format!("K{i} k{i:03}|k|k[0-9]|k[0-9][0-9]\n")).collect::<String>();
    compile(&kinds(MAX_LABELLED_RULES)).tables().expect("a kind fits a byte");
    assert_eq!(
        refusal(&kinds(MAX_LABELLED_RULES + 1)),
        "the rules have 121 kinds of tokens: expected at most 120 for labels, which are bytes"
    );
    let words = |count| (0..count).map(|i| format!("keyword k{i}\n")).collect::<String>();
    assert!(Rules::parse(&words(MAX_RULES)).is_ok());
    assert!(Rules::parse("A (?-U:a+)").is_ok(), "nothing is lazy there");
    // It is said once.
    let error = Rules::parse(&words(MAX_RULES + 100)).unwrap_err();
    assert_eq!(error.to_string(), "line 2049, column 9: expected at most 2048 rules");
}

#[test]
fn faults_of_a_rules_text_come_all_at_once_with_line_and_column() {
    let name = "expected a name (a letter or `_`, then letters, digits, `_` or `-`), found";
    let look = "`^`, `$`, `\\b` and the like look outside the token and have no meaning in a token rule";
    let lazy = "the longest match always wins, so a lazy repetition has no meaning: remove the `?` (or the flag `U`), and say in the \
                regex where the token ends";
    for (text, message) in [
        ("", "line 1, column 1: expected at least one rule, a line `NAME regex` or `skip NAME regex`".to_owned()),
        ("  # only a comment\n\n", "line 1, column 1: expected at least one rule, a line `NAME regex` or `skip NAME regex`".to_owned()),
        ("A", "line 1, column 2: expected a regex after the rule name A, found nothing".to_owned()),
        ("skip A  ", "line 1, column 7: expected a regex after the rule name A, found nothing".to_owned()),
        ("skip", format!("line 1, column 5: {name} nothing")),
        ("skip [a]+ b", format!("line 1, column 6: {name} `[a]+`")),
        ("é x\n  9a x", format!("line 2, column 3: {name} `9a`")),
        ("ERROR x", "line 1, column 1: `ERROR` names the bytes that no rule matches: choose another name".to_owned()),
        (
            "A x\n\nA y\nskip A z",
            "line 3, column 1: line 1 has a rule A already: write one rule whose regex joins the two with `|`, or choose another name\n\
             line 4, column 6: line 1 has a rule A already: write one rule whose regex joins the two with `|`, or choose another name"
                .to_owned(),
        ),
        ("ß  (x", "line 1, column 4: rule ß: regex parse error:\n    (x\n    ^\nerror: unclosed group".to_owned()),
        (
            "A x*|y",
            "line 1, column 3: rule A matches the empty string, but a token has at least one byte: use `+` in place of \
             `*`, or remove a `?`"
                .to_owned(),
        ),
        (
            "A ^x\nB x$\nC x\\b",
            format!("line 1, column 3: rule A: {look}\nline 2, column 3: rule B: {look}\nline 3, column 3: rule C: {look}"),
        ),
        (
            "A a+?b\nB (x|y*?)z\nC (?U)a*",
            ["line 1, column 4: rule A", "line 2, column 7: rule B", "line 3, column 5: rule C"]
                .map(|place| format!("{place}: {lazy}"))
                .join("\n"),
        ),
        (
            "A (?:a+)+\nB x|a{1,3}+\nC (é*+b)\nD a{2}{3}+",
            ["line 2, column 11: rule B", "line 3, column 6: rule C", "line 4, column 10: rule D"]
                .map(|place| {
                    format!(
                        "{place}: the longest match always wins, so a possessive repetition has no meaning: remove the second of the two \
                         repetitions, or write a group around the first"
                    )
                })
                .join("\n"),
        ),
        (
            "strict_ties\n strict_ties  [a-z]+\nA [",
            "line 2, column 15: expected `strict_ties` on a line of its own, found `[a-z]+` behind it; a rule has another name\n\
             line 3, column 3: rule A: regex parse error:\n    [\n    ^\nerror: unclosed character class"
                .to_owned(),
        ),
        ("strict_ties", "line 1, column 1: expected at least one rule, a line `NAME regex` or `skip NAME regex`".to_owned()),
        ("keyword", "line 1, column 8: expected the text of a keyword, found none".to_owned()),
        ("A a\nkeyword A", "line 2, column 9: line 1 has a rule A already: a keyword is written once, and is no rule's name".to_owned()),
        ("keyword if if", "line 1, column 12: line 1 has a rule if already: a keyword is written once, and is no rule's name".to_owned()),
        (
            "A ab\nE_A x\nincomplete E_",
            "line 3, column 12: line 2 has a rule E_A already: choose another prefix for incomplete tokens".to_owned(),
        ),
        (
            "keyword ERROR",
            "line 1, column 9: `ERROR` names the bytes that no rule matches: write it as a rule, such as `ERROR_WORD ERROR`, \
             before the others"
                .to_owned(),
        ),
        (
            "A a|b\nB ab\nincomplete E_ A",
            "line 3, column 15: rule A matches single bytes only, so nothing begins its tokens: remove the kind for incomplete ones"
                .to_owned(),
        ),
        (
            "A \\p{L}+",
            "line 1, column 3: rule A: regex parse error:\n    \\p{L}+\n    ^^^^^\nerror: Unicode not allowed here\n\
             rules are about bytes: write `(?u:…)` around what is about Unicode"
                .to_owned(),
        ),
        ("A ab\nincomplete E_\nincomplete F_", "line 3, column 12: expected one prefix for incomplete tokens, found a second".to_owned()),
        (
            "A ab\nincomplete E_ B A  C\nD (",
            "line 2, column 15: there is no rule B whose incomplete tokens could have a kind\n\
             line 2, column 20: there is no rule C whose incomplete tokens could have a kind\n\
             line 3, column 3: rule D: regex parse error:\n    (\n    ^\nerror: unclosed group"
                .to_owned(),
        ),
        // What other lexers' rules look like.
        (
            "A = a\nskip B := [ ]+\ntoken C c|d e\nSkip D d e\nKeywords if else\nToken [ ] x\nF =\nG ==|!= ?",
            [
                ("1, column 1: this would be a rule A whose regex is `= a`", "A a"),
                ("2, column 6: this would be a rule B whose regex is `:= [ ]+`", "skip B [ ]+"),
                ("3, column 1: this would be a rule token whose regex is `C c|d e`", "C c|d e"),
                ("4, column 1: this would be a rule Skip whose regex is `D d e`", "skip D d e"),
                ("5, column 1: this would be a rule Keywords whose regex is `if else`", "keyword if else"),
            ]
            .map(|(begin, instead)| {
                format!("line {begin}: write `{instead}`, or if it is meant, write the regex's first word as `(?:…)`")
            })
            .join("\n"),
        ),
        (
            "A ab\nonly A B\nOnly A\nincomplete A",
            "line 2, column 1: `only` is no line of rules: call `Lexer::only` with the kinds of the tokens that are wanted\n\
             line 3, column 1: `Only` is no line of rules: call `Lexer::only` with the kinds of the tokens that are wanted\n\
             line 4, column 12: A is a rule, and a prefix is expected before the names of rules: write `incomplete OPEN_ A`"
                .to_owned(),
        ),
        (
            "A ([^\\x00-\\xff]x)?\nB (b|[^\\x00-\\xff])*",
            ["line 1, column 3: rule A", "line 2, column 3: rule B"]
                .map(|rule| {
                    let why = "but a token has at least one byte: use `+` in place of `*`, or remove a `?`";
                    format!("{rule} matches the empty string, {why}")
                })
                .join("\n"),
        ),
        // A rule that is wrong is a rule all the same.
        ("A (\nincomplete E_ A", "line 1, column 3: rule A: regex parse error:\n    (\n    ^\nerror: unclosed group".to_owned()),
        (
            "A (\nA x",
            "line 1, column 3: rule A: regex parse error:\n    (\n    ^\nerror: unclosed group\n\
             line 2, column 1: line 1 has a rule A already: write one rule whose regex joins the two with `|`, or choose another name"
                .to_owned(),
        ),
        // What is wrong with the names of incomplete tokens is seen last, and stands where they are asked for.
        (
            "incomplete ERR\nOR ab\nB $",
            format!("line 1, column 12: `ERROR` names the bytes that no rule matches: choose another prefix for incomplete tokens\nline 3, column 3: rule B: {look}"),
        ),
        (
            "A a|([a&&b])*",
            "line 1, column 3: rule A matches the empty string, but a token has at least one byte: use `+` in place of `*`, or remove a `?`"
                .to_owned(),
        ),
    ] {
        assert_eq!(refusal(text), message, "{text:?}");
    }
}

#[test]
fn faults_of_a_builder_speak_of_its_calls() {
    let refusal = |builder: LexerBuilder| builder.build().unwrap_err().to_string();
    let none = "rule number 1, column 1: expected at least one rule, by `token`, `skip` or `keyword`";
    assert_eq!(refusal(Lexer::builder()), none);
    assert_eq!(refusal(Lexer::builder().incomplete("E_")), none);
    assert_eq!(
        refusal(Lexer::builder().incomplete_of("E_", &["B", "A", "C"]).token("A", "ab").skip("A", "c")),
        "rule number 1, column 1: there is no rule B whose incomplete tokens could have a kind\n\
         rule number 1, column 1: there is no rule C whose incomplete tokens could have a kind\n\
         rule number 3, column 1: rule number 2 has a rule A already: write one rule whose regex joins the two with `|`, or choose another name"
    );
}

#[test]
fn comments_end_lines_of_words_and_regexes_may_have_their_sign() {
    let rules = "N [a-z]+ # [a-z]\nkeyword if else # the words\nincomplete OPEN_ N #\nstrict_ties # all\n# if\nH #+";
    let rules = Rules::parse(rules).expect("they parse");
    let names: Vec<_> = rules.iter().map(|rule| (rule.name(), rule.pattern())).collect();
    let expected = [("N", "[a-z]+ # [a-z]"), ("if", "if"), ("else", "else"), ("H", "#+"), ("OPEN_N", "")];
    assert_eq!(names, expected);
    assert!(rules.strict_ties());
    let comment = |found| {
        format!(
            "expected a keyword, found `{found}`: a comment behind keywords begins with `#` and a blank, and a keyword that \
             begins with `#` is written as a rule, such as `HASH \\x23`, before the others"
        )
    };
    for (text, message) in [
        ("keyword if #the words", format!("line 1, column 12: {}", comment("#the"))),
        ("keyword #include", format!("line 1, column 9: {}", comment("#include"))),
        ("keyword # if", "line 1, column 9: expected the text of a keyword, found none".to_owned()),
        (
            "strict_ties on # x",
            "line 1, column 13: expected `strict_ties` on a line of its own, found `on # x` behind it; a rule \
          has another name"
                .to_owned(),
        ),
    ] {
        assert_eq!(refusal(text), message, "{text:?}");
    }
}

#[test]
fn blanks_around_a_rule_do_not_matter_and_blanks_within_do() {
    let rules = Rules::parse("# first\n  \r\n\t skip  A-1 \t a b \r\n_é (?u)é#\n").expect("the rules parse");
    let seen: Vec<_> = rules.iter().map(|rule| (rule.name(), rule.pattern(), rule.is_skip())).collect();
    assert_eq!(seen, [("A-1", "a b", true), ("_é", "(?u)é#", false)]);
}
