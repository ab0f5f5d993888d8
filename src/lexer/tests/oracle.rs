//! Two scans, the first from the end of the text: the plain loops, the engine and the interpreter,
//! each against the reference.

use monoscan_ir::interp;

use super::super::*;
use super::engines::{NO_SCAN, compile, text};
use super::sets::SETS;
use super::{Reference, columns_of};
use crate::Strided;
use scan_kit::Random;

/// By the interpreter: what a program makes of a column.
fn interpreted(program: &monoscan_ir::Verified<monoscan_ir::Program>, column: &[u8]) -> Vec<u8> {
    interp::run(program, &[column], &interp::Request::default()).expect("one column").outputs.remove(0)
}

/// By the interpreter: the labels.
fn labels_by_interpreter(tables: &LexerTables, text: &[u8]) -> Vec<u8> {
    let Some(oracle) = tables.oracle_program() else { return interpreted(&tables.program(), text) };
    let reversed: Vec<u8> = text.iter().rev().copied().collect();
    let symbol = oracle.output.columns[0].size as usize;
    let symbols = interpreted(&oracle, &reversed);
    let symbols: Vec<u8> = symbols.chunks(symbol).rev().flatten().copied().collect();
    interpreted(&tables.program(), &symbols)
}

#[test]
fn labels_of_any_rules_are_those_of_maximal_munch() {
    let mut two_passes = 0;
    for set in SETS {
        let (lexer, reference) = compile(&set);
        if NO_SCAN.contains(&set.name) {
            let error = lexer.tables().expect_err("it is too large");
            let is_known =
                matches!(error, LexerError::OracleTooLarge | LexerError::TooManyScanStates { states: 257.. });
            assert!(is_known, "{}: {error}", set.name);
            continue;
        }
        let tables = lexer.tables().unwrap_or_else(|error| panic!("{}: {error}", set.name));
        two_passes += usize::from(tables.ranks().is_none());
        let mut random = Random(61);
        for round in 0..60 {
            let text = text(&mut random, &set, [20, 100, 300][round % 3]);
            let labels = tables.label_sequentially(&text);
            let tokens: Vec<Token> = lexer.with_skips().tokens(&labels).collect();
            assert_eq!(tokens, reference.tokens(&text), "{}: {}", set.name, text.escape_ascii());
            assert_eq!(lexer.labels(&text).expect("it is short"), labels, "{}: {}", set.name, text.escape_ascii());
            // Spaced bytes are scanned; a slice is walked where there are two scans.
            let spaced: Vec<u8> = text.iter().flat_map(|&byte| [byte, b'?']).collect();
            if let Ok(spaced) = Strided::new(&spaced, 0, 2) {
                assert_eq!(lexer.labels(spaced).expect("it is short"), labels, "{}: {}", set.name, text.escape_ascii());
            }
            if round % 20 == 0 {
                assert_eq!(labels_by_interpreter(tables, &text), labels, "{}: {}", set.name, text.escape_ascii());
            }
        }
    }
    assert!(two_passes > 8, "{two_passes}");
}

#[test]
fn the_text_may_end_anywhere() {
    for set in SETS.into_iter().filter(|set| !NO_SCAN.contains(&set.name)) {
        let (lexer, reference) = compile(&set);
        let tables = lexer.tables().expect("they fit");
        let text = set.text.as_bytes();
        for end in 0..=text.len() {
            let labels = tables.label_sequentially(&text[..end]);
            let tokens: Vec<Token> = lexer.with_skips().tokens(&labels).collect();
            assert_eq!(tokens, reference.tokens(&text[..end]), "{} up to {end}", set.name);
        }
    }
}

/// A kind is two bytes then, and a list of tokens has it.
#[test]
fn more_kinds_than_labels_tell_apart_are_listed_by_scans() {
    for (name, of_kind, more) in [("one pass", "k{}|k|k[0-9]|k[0-9][0-9]", ""), ("two passes", "k{}", "MORE k(yy)*x")] {
        let rule = |i: usize| format!("K{i} {}\n", of_kind.replace("{}", &format!("{i:03}")));
        let rules: String = (0..300).map(rule).chain([more.to_owned()]).collect();
        let lexer = Lexer::new(Rules::parse(&rules).expect("they parse")).expect("any rules");
        let reference = Reference::new(lexer.rules());
        let mut random = Random(67);
        for _ in 0..20 {
            let pieces = ["k", "k1", "yy", "x", "y", "k299", "k120x", "?", "k300"];
            let some = |random: &mut Random| match random.below(2) {
                0 => format!("k{:03}", random.below(310)),
                _ => pieces[random.below(pieces.len())].to_owned(),
            };
            let text: String = (0..random.below(20)).map(|_| some(&mut random)).collect();
            let mut list = TokenList::new();
            lexer.lex_by_scan(text.as_bytes(), &mut list.columns).expect("it is short");
            assert_eq!(list.columns, columns_of(reference.tokens(text.as_bytes())), "{name}: {text}");
        }
    }
}

#[test]
fn long_texts_are_labelled_by_several_threads() {
    for set in SETS.into_iter().filter(|set| ["json without incomplete forms", "log"].contains(&set.name)) {
        let (lexer, _) = compile(&set);
        let tables = lexer.tables().expect("they fit");
        let mut random = Random(71);
        let mut long = Vec::new();
        while long.len() < 150_000 {
            long.extend(text(&mut random, &set, 300));
        }
        let expected = tables.label_sequentially(&long);
        assert!(lexer.labels(&long).expect("it is short") == expected, "{}", set.name);
        let mut written = vec![0; long.len()];
        assert_eq!(lexer.labels_into(&long, &mut written).expect("it is short"), long.len());
        assert!(written == expected, "{}, into a slice", set.name);
    }
}
