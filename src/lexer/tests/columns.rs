//! Columns of all numbers that there is code for.

use monoscan_runtime::lexer::{CpuLexer, KindNumber, PlaceNumber, TokenColumnsOf};
use scan_kit::Random;

use super::super::*;
use super::engines::{compile, text};
use super::sets::SETS;

/// The tokens in columns, as they are in columns of the usual numbers.
pub(super) fn usual<K: KindNumber + Into<u16>, P: PlaceNumber>(columns: &TokenColumnsOf<K, P>) -> TokenColumns {
    let mut usual = TokenColumns::new();
    for ((&kind, start), end) in columns.kinds().iter().zip(columns.starts()).zip(columns.ends()) {
        let kind = if kind == K::ERROR { ERROR_KIND } else { kind.into() };
        usual.push_found(kind, start.index(), end.index());
    }
    usual
}

fn compare<K: KindNumber + Into<u16>, P: PlaceNumber>() {
    for set in SETS {
        let (lexer, reference) = compile(&set);
        let lexer = lexer.with_skips();
        let by_table = CpuLexer::by_table(lexer.on_cpu().automaton().clone());
        let mut random = Random(43);
        let mut columns = TokenColumnsOf::<K, P>::new();
        for round in 0..30 {
            let text = text(&mut random, &set, [20, 100, 300][round % 3]);
            let expected = super::columns_of(reference.tokens(&text));
            let name = format!("{}: {}", set.name, text.escape_ascii());
            lexer.lex_into_columns(&text, &mut columns).expect("it is short");
            assert_eq!(usual(&columns), expected, "{name}");
            for (engine, threads, block) in [(lexer.on_cpu(), 1, 7), (lexer.on_cpu(), 3, 33), (&by_table, 2, 64)] {
                engine.lex_in_blocks(&text, threads, block, &mut columns).expect("it is short");
                assert_eq!(usual(&columns), expected, "{threads} threads, blocks of {block}: {name}");
            }
        }
    }
}

#[test]
fn kinds_of_a_byte_and_places_of_eight_tell_the_same_tokens() {
    compare::<u8, u32>();
    compare::<u8, u64>();
    compare::<u16, u64>();
}

#[test]
fn a_byte_has_255_kinds_and_errors() {
    let rules = |count: usize| (0..count).map(|i| format!("K{i} k{i}_\n")).collect::<String>();
    let lexer = |count| Lexer::new(Rules::parse(&rules(count)).expect("they parse")).expect("any rules");
    let mut columns = TokenColumnsOf::<u8, u32>::new();
    lexer(255).lex_into_columns(b"k254_?k0_", &mut columns).expect("it is short");
    assert_eq!(columns.kinds(), [254, u8::MAX, 0]);
    let refused = lexer(256).lex_into_columns(b"", &mut columns);
    assert!(matches!(refused, Err(LexerError::KindsOfBytes { kinds: 256 })), "{refused:?}");
    assert_eq!(columns.len(), 3, "nothing is changed");
}

#[test]
fn old_columns_are_written_again_where_they_are() {
    let lexer = Lexer::new(Rules::json()).expect("any rules");
    let text = b"[1, 2, \"abc\"]\n".repeat(100_000);
    let mut list = TokenList::new();
    let mut columns = TokenColumnsOf::<u8, u64>::new();
    lexer.lex_into(&text, &mut list).expect("it is short");
    lexer.lex_into_columns(&text, &mut columns).expect("it is short");
    let of_list = |list: &TokenList| (list.kinds().as_ptr(), list.starts().as_ptr(), list.ends().as_ptr());
    let of_columns = |columns: &TokenColumnsOf<u8, u64>| {
        (columns.kinds().as_ptr(), columns.starts().as_ptr(), columns.ends().as_ptr())
    };
    let before = (of_list(&list), of_columns(&columns));
    for len in [text.len() - 3, 0, 100, text.len()] {
        lexer.lex_into(&text[..len], &mut list).expect("it is short");
        lexer.lex_into_columns(&text[..len], &mut columns).expect("it is short");
        assert_eq!((of_list(&list), of_columns(&columns)), before, "{len} bytes");
        assert_eq!(list.len(), columns.len());
    }
}

#[test]
fn columns_give_texts() {
    let mut columns = TokenColumnsOf::<u8, u64>::new();
    let text = b"[12, ?]";
    Lexer::new(Rules::json()).expect("any rules").lex_into_columns(text, &mut columns).expect("it is short");
    let texts: Vec<(u8, &[u8])> = columns.texts(text).collect();
    assert_eq!(texts, [(2, &b"["[..]), (7, b"12"), (5, b","), (u8::MAX, b"?"), (3, b"]")]);
}

/// Its pages are never written, but for the last, so they take no memory.
#[test]
#[cfg(target_pointer_width = "64")]
fn places_of_eight_bytes_take_texts_beyond_4_gb() {
    let mut text = vec![0; MAX_TEXT + 4096];
    let number = text.len() - 3;
    text[number..].copy_from_slice(b"123");
    let lexer = Lexer::new(Rules::json()).expect("any rules");
    let mut long = TokenColumnsOf::<u8, u64>::new();
    lexer.lex_into_columns(&text, &mut long).expect("there is memory for two tokens");
    let kind = lexer.rules().kind("NUMBER").expect("JSON has numbers");
    let Kind::Rule(kind) = kind else { panic!("{kind:?} is a rule") };
    assert_eq!((long.kinds(), long.starts()), (&[u8::MAX, kind as u8][..], &[0, number as u64][..]));
    assert_eq!(long.ends(), [number as u64, text.len() as u64]);
    let refused = lexer.lex(&text);
    assert!(matches!(refused, Err(LexerError::Scan(crate::Error::TextTooLong { .. }))));
}
