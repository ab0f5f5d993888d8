//! Lists of chosen kinds, by every engine.

use monoscan_runtime::lexer::CpuLexer;
use scan_kit::Random;

use super::super::*;
use super::columns::usual;
use super::columns_of;
use super::engines::{NO_SCAN, by_stream, compile, in_blocks, side_by_side, text};
use super::sets::SETS;

/// No kind, each of a few, errors alone, errors with some, and half of the rules.
fn choices(lexer: &Lexer) -> Vec<Vec<Kind>> {
    let rules = || (0..lexer.rules().len() as u16).map(Kind::Rule);
    let some: Vec<Kind> = rules().step_by(3).collect();
    vec![
        vec![],
        vec![Kind::Error],
        vec![Kind::Rule(0)],
        rules().next_back().into_iter().collect(),
        [&some[..], &[Kind::Error]].concat(),
        rules().step_by(2).collect(),
    ]
}

#[test]
fn every_engine_lists_the_chosen_kinds_alone() {
    for set in SETS {
        let (all, reference) = compile(&set);
        for kinds in choices(&all) {
            let lexer = all.only(&kinds);
            let by_table = CpuLexer::by_table(lexer.on_cpu().automaton().clone());
            let mut random = Random(59);
            for most in [0, 20, 100, 300, 300] {
                let text = text(&mut random, &set, most);
                let chosen = reference.tokens(&text).into_iter().filter(|token| kinds.contains(&token.kind));
                let expected = columns_of(chosen);
                let name = format!("{}, {kinds:?}: {}", set.name, text.escape_ascii());
                assert_eq!(lexer.lex(&text).expect("it is short").columns, expected, "{name}");
                assert_eq!(lexer.lex_sequentially(&text).expect("it is short").columns, expected, "{name}");
                for (engine, threads, block) in [(lexer.on_cpu(), 3, 33), (lexer.on_cpu(), 2, 64), (&by_table, 2, 64)] {
                    assert_eq!(in_blocks(engine, &text, threads, block), expected, "{threads} threads: {name}");
                }
                let mut narrow = TokenColumnsOf::<u8, u64>::new();
                lexer.lex_into_columns(&text, &mut narrow).expect("it is short");
                assert_eq!(usual(&narrow), expected, "u8, u64: {name}");
                assert!(side_by_side(lexer.on_cpu(), &text).is_none_or(|found| found == expected), "{name}");
                let streamed = by_stream(&lexer, &text.chunks(7).collect::<Vec<_>>()).into_iter();
                let places = streamed.map(|t| Token { start: t.start as usize, end: t.end as usize, kind: t.kind });
                assert_eq!(columns_of(places), expected, "stream: {name}");
                if !NO_SCAN.contains(&set.name) {
                    let mut list = TokenList::new();
                    lexer.lex_by_scan(&text, &mut list.columns).expect("it is short");
                    assert_eq!(list.columns, expected, "scan: {name}");
                }
            }
        }
    }
}

#[test]
fn the_last_choice_counts_and_skipped_kinds_may_be_added_to_it() {
    let rules = "WORD [a-z]+\nDOT [.]\nskip SPACE [ ]+\nskip NOTE #[a-z]*";
    let lexer = Lexer::new(Rules::parse(rules).expect("they parse")).expect("any rules");
    let kinds = |lexer: &Lexer| lexer.lex(b"to be.#x ?").expect("it is short").kinds().to_vec();
    assert_eq!(kinds(&lexer), [0, 0, 1, ERROR_KIND]);
    assert_eq!(kinds(&lexer.with_skips()), [0, 2, 0, 1, 3, 2, ERROR_KIND]);
    let words = lexer.only(&[Kind::Rule(0)]);
    assert_eq!(kinds(&words.with_skips()), [0, 2, 0, 3, 2]);
    assert_eq!(kinds(&words.only(&[Kind::Rule(1), Kind::Rule(3)])), [1, 3]);
    assert_eq!(kinds(&lexer.with_skips().only(&[Kind::Error])), [ERROR_KIND]);
    assert_eq!(kinds(&lexer.only(&[]).with_skips()), [2, 3, 2]);
}

#[test]
#[should_panic = "Rule(4) is none of 1 rules"]
fn a_kind_of_other_rules_is_no_choice() {
    let lexer = Lexer::new(Rules::parse("WORD [a-z]+").expect("they parse")).expect("any rules");
    lexer.only(&[Kind::Rule(0), Kind::Rule(4)]);
}
