//! Random rule sets: all of them are lexed and labelled exactly; and where one pass does not do,
//! the examples that say why hold. `MONOSCAN_ROUNDS` says how many, `MONOSCAN_FIRST` which first.

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

/// The tokens of some words, by code every other time, by table, and by scans now and then.
fn check_tokens(lexer: &Lexer, reference: &Reference, random: &mut Random) {
    let rules = lexer.rules();
    let by_scan = random.below(20) == 0;
    let automaton = lexer.automaton();
    let ahead = lexer.look_ahead();
    let is_bounded = [ahead.tokens(), ahead.errors()].iter().all(|&distance| distance != Distance::Unbounded);
    assert_eq!(automaton.most_in_vain().is_some(), is_bounded, "{rules:?}: {ahead}");
    let compiled = (random.below(2) == 0).then(|| CpuLexer::new(automaton.clone()));
    let by_table = CpuLexer::by_table(automaton);
    for length in [1, 7, 60, 200] {
        let text = word(random, length);
        let expected = columns_of(reference.tokens(&text));
        for engine in compiled.iter().chain([&by_table]) {
            for threads in [1, 2, 5] {
                let mut tokens = TokenColumns::default();
                engine.lex_in_blocks(&text, threads, 16, &mut tokens).expect("texts are short");
                assert_eq!(tokens, expected, "{rules:?}: {}", text.escape_ascii());
            }
            let found = engines::side_by_side(engine, &text);
            assert!(found.is_none_or(|found| found == expected), "{rules:?}, side by side: {}", text.escape_ascii());
        }
        if by_scan {
            let mut tokens = TokenList::new();
            lexer.lex_by_scan(&text, &mut tokens.columns).expect("texts are short");
            assert_eq!(tokens.columns, expected, "{rules:?}, by scans: {}", text.escape_ascii());
        }
    }
}

#[test]
fn random_rules_are_lexed_exactly_and_conflicts_have_true_examples() {
    let number = |name: &str, or: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(or);
    let (mut random, rounds) = (Random(number("MONOSCAN_FIRST", 23)), number("MONOSCAN_ROUNDS", 1500));
    let (mut one_pass, mut two_passes) = (0, 0);
    for _ in 0..rounds {
        // Some regexes match the empty string: another test is about those.
        let Ok(rules) = Rules::parse(&rule_set(&mut random)) else { continue };
        let reference = Reference::new(&rules);
        let lexer = Lexer::new(rules).expect("any rules can be lexed").with_skips();
        check_tokens(&lexer, &reference, &mut random);
        let tables = lexer.tables().expect("any small rules can be labelled");
        for length in [0, 1, 7, 60] {
            let text = word(&mut random, length);
            let labels = tables.label_sequentially(&text);
            let tokens: Vec<Token> = lexer.with_skips().tokens(&labels).collect();
            assert_eq!(tokens, reference.tokens(&text), "{:?}: {}", lexer.rules(), text.escape_ascii());
            if let Some(ranks) = tables.ranks() {
                assert_eq!(labels, labels_by_maps(ranks, &text, &mut random), "{:?}", lexer.rules());
            }
        }
        match tables.ranks() {
            Some(_) => one_pass += 1,
            None => two_passes += 1,
        }
        let dfa = dfa::TokenDfa::new(lexer.rules()).expect("it is small");
        for conflict in lookahead::find(&dfa, lexer.rules()) {
            check_conflict(lexer.rules(), &reference, &conflict);
        }
    }
    assert!(one_pass > rounds / 3 && two_passes > rounds / 30, "{one_pass} in one pass, {two_passes} in two");
}
