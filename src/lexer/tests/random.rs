//! Random rule sets: all of them are lexed exactly; and what one pass lexes is labelled exactly,
//! the rest refused with examples that hold.

use monoscan_runtime::lexer::CpuLexer;

use super::*;

const ALPHABET: &[u8] = b"abcd";

/// A regex over the first three letters, at most `depth` operators deep.
fn regex(random: &mut Random, depth: usize) -> String {
    let operator = if depth == 0 { 0 } else { random.below(9) };
    let mut part = || regex(random, depth.saturating_sub(1));
    match operator {
        1 | 2 => part() + &part(),
        3 | 4 => format!("({}|{})", part(), part()),
        5 => format!("({})+", part()),
        6 => format!("({})*", part()),
        7 => format!("({})?", part()),
        8 => format!("({})*{}", part(), part()),
        _ => ["a", "b", "c", "[ab]", "[bc]", "[^a]", "."][random.below(7)].to_owned(),
    }
}

fn rule_set(random: &mut Random) -> String {
    // Rules on their own are many, and may be deep: some lead back to where a token begins.
    let (first, last) = (random.below(3), [0, 0, 1, 2, 3][random.below(5)]);
    let rules: String = (0..=last).map(|i| format!("R{i} {}\n", regex(random, (first + i) % 3))).collect();
    let words = ["keyword ab\n", "keyword abc cab\n", "keyword a b\n", "W ab\n", "", "", "", ""];
    let incomplete = ["incomplete E_\n", "incomplete E_ R0\n", "", "", ""];
    rules + words[random.below(words.len())] + incomplete[random.below(incomplete.len())]
}

fn word(random: &mut Random, length: usize) -> Vec<u8> {
    (0..length).map(|_| ALPHABET[random.below(ALPHABET.len())]).collect()
}

/// The rule that matches all of `word`, if one does.
fn winner(rules: &Rules, reference: &Reference, word: &[u8]) -> Option<String> {
    let token = reference.tokens(word)[0];
    (token.end == word.len() && token.kind != Kind::Error).then(|| rules.name(token.kind).to_owned())
}

/// The conflict is one, and its example shows it.
fn check_conflict(rules: &Rules, reference: &Reference, conflict: &Conflict) {
    let Conflict { after, rule, incomplete, complete } = conflict;
    let winner = |word: &[u8]| winner(rules, reference, word);
    assert_eq!(winner(incomplete), None, "{conflict}");
    assert!(complete.len() > incomplete.len() && complete.starts_with(incomplete), "{conflict}");
    assert_eq!(winner(complete).as_ref(), Some(rule), "{conflict}");
    match after {
        Some(_) => assert_eq!(winner(&incomplete[..incomplete.len() - 1]), *after, "{conflict}"),
        None => assert!((1..incomplete.len()).all(|end| winner(&incomplete[..end]).is_none()), "{conflict}"),
    }
}

/// The tokens of some words, by code every other time, and by table.
fn check_tokens(rules: &Rules, reference: &Reference, random: &mut Random) {
    let lexer = Lexer::new(rules.clone()).expect("any rules can be lexed").with_skips();
    let automaton = lexer.automaton();
    let compiled = (random.below(2) == 0).then(|| CpuLexer::new(automaton.clone()));
    let by_table = CpuLexer::by_table(automaton);
    for length in [1, 7, 60] {
        let text = word(random, length);
        let expected = columns_of(reference.tokens(&text));
        for engine in compiled.iter().chain([&by_table]) {
            for threads in [1, 2] {
                let mut tokens = TokenColumns::default();
                engine.lex_in_blocks(&text, threads, 16, &mut tokens).expect("texts are short");
                assert_eq!(tokens, expected, "{rules:?}: {}", text.escape_ascii());
            }
        }
    }
}

#[test]
fn random_rules_are_lexed_exactly_or_refused_with_true_examples() {
    let mut random = Random(23);
    let (mut exact, mut refused) = (0, 0);
    for _ in 0..1500 {
        // Some regexes match the empty string: another test is about those.
        let Ok(rules) = Rules::parse(&rule_set(&mut random)) else { continue };
        let reference = Reference::new(&rules);
        check_tokens(&rules, &reference, &mut random);
        match LexerTables::new(&rules) {
            Ok(tables) => {
                exact += 1;
                for length in [0, 1, 7, 60] {
                    let text = word(&mut random, length);
                    let labels = tables.label_sequentially(&text);
                    let tokens: Vec<Token> = Tokens::new(&labels, &rules, Skips::Keep).collect();
                    assert_eq!(tokens, reference.tokens(&text), "{rules:?}: {}", text.escape_ascii());
                    assert_eq!(labels, labels_by_maps(tables.ranks(), &text, &mut random), "{rules:?}");
                }
            }
            Err(LexerError::Lookahead(refusal)) => {
                refused += 1;
                refusal.conflicts().iter().for_each(|conflict| check_conflict(&rules, &reference, conflict));
            }
            Err(error) => panic!("{rules:?}: {error}"),
        }
    }
    assert!(exact > 500 && refused > 50, "{exact} exact, {refused} refused");
}
