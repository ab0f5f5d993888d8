//! Blocks of texts, with helpers that stop.

use monoscan_codegen::cpu::lexer::LexAutomaton;
use scan_kit::Random;

use super::super::{ERROR_KIND, TokenColumns};
use super::*;

/// Runs of `a` and `b`, at most one of them at the end: `a*b?`, and `(…)` whatever is in between.
fn automaton() -> LexAutomaton {
    let mut class_of = [0; 256];
    for (byte, class) in [(b'a', 1), (b'b', 2), (b'(', 3), (b')', 4)] {
        class_of[usize::from(byte)] = class;
    }
    // States: dead, start, `a…`, `…b`, `(…`, `(…)`.
    let next = [[0; 5], [0, 2, 3, 4, 0], [0, 2, 3, 0, 0], [0; 5], [4, 4, 4, 4, 5], [0; 5]];
    let accept = vec![None, None, Some(0), Some(1), None, Some(2)];
    LexAutomaton {
        class_of,
        classes: 5,
        next: next.concat(),
        back: vec![0; 6],
        at_end: accept.clone(),
        accept,
        kept: vec![true; 3],
        keeps_errors: true,
        words: Vec::new(),
    }
}

/// Some tokens are longer than what a guess sees, so that it takes the inside for the outside, if there are to be such.
fn text(len: usize, has_long: bool) -> Vec<u8> {
    let mut random = Random(3);
    let mut text = Vec::new();
    while text.len() < len {
        match random.below(9) {
            _ if has_long && random.chance(100) => {
                text.extend([b"(", &b"aab".repeat(100 + random.below(900))[..], b")"].concat())
            }
            0 => text.push(b'?'),
            1 => text.push(b'('),
            2 => text.extend([b"(", &b"a? b".repeat(random.below(9))[..], b")"].concat()),
            _ => text.extend([&b"a".repeat(random.below(6))[..], b"b"].concat()),
        }
    }
    text
}

/// A block that is taken and never gone on with is lexed by the thread that needs it.
#[test]
fn helpers_that_stop_after_any_step_hold_up_nobody() {
    let text = text(3000, false);
    for lexer in [CpuLexer::new(automaton()), CpuLexer::by_table(automaton())] {
        let mut expected = TokenColumns::default();
        lexer.lex_in_blocks(&text, 1, 1 << 20, &mut expected).unwrap();
        assert!(expected.len() > 300);
        for block in [1, 7, 64, 1000] {
            for steps in 0..12 {
                let mut stopped = Vec::new();
                let spawn = |mut task: HelperTask| {
                    (0..steps).for_each(|_| _ = task.step());
                    stopped.push(task);
                };
                let mut tokens = TokenColumns::default();
                lex((&lexer, &text), block, &mut tokens, 3, spawn).unwrap();
                assert_eq!(tokens, expected, "blocks of {block} bytes, {steps} steps");
                // However late they come.
                stopped.into_iter().for_each(|task| task.run());
            }
        }
    }
}

/// Of a wrong guess those tokens are right behind which both know a place between tokens.
#[test]
fn a_wrong_guess_is_right_from_a_token_that_both_find() {
    let mut tokens = TokenColumns::default();
    // Nothing is kept between 7 and 9, and an error is at 12.
    for (kind, start, end) in [(0, 3, 5), (1, 5, 7), (0, 9, 12), (ERROR_KIND, 12, 14), (0, 14, 15)] {
        tokens.push_found(kind, start, end);
    }
    let behind = Part { from: 15, error: None };
    let guess = Guess { from: 3, until: 15, behind, tokens };
    let from = |from| guess.tokens_from(Part { from, error: None });
    assert_eq!([3, 5, 7, 9, 12, 14, 15].map(from), [0, 1, 2, 2, 3, 4, 5].map(Some));
    assert!([0, 2, 4, 6, 8, 10, 13].map(from).iter().all(Option::is_none));
    assert!((0..16).all(|from| guess.tokens_from(Part { from, error: Some(0) }).is_none()));
    let undecided = Guess { until: 16, ..guess };
    assert!((0..16).all(|from| undecided.tokens_from(Part { from, error: None }).is_none()));
    let mut tokens = TokenColumns::default();
    tokens.push_found(ERROR_KIND, 3, 5);
    let guess = Guess { from: 3, until: 5, behind, tokens };
    assert_eq!(guess.tokens_from(Part { from: 3, error: None }), None, "the error may have begun before");
}

/// Threads that start, stop and lose their cores at any moment.
#[test]
fn any_number_of_threads_find_the_same_tokens() {
    let text = text(40_000, true);
    let lexer = CpuLexer::new(automaton());
    let mut expected = TokenColumns::default();
    lexer.lex_in_blocks(&text, 1, 1 << 20, &mut expected).unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
    // Short blocks see so little that they leave their ends to the thread that places them.
    for (round, block) in (0..600).flat_map(|round| [(round, 1500 + 7 * round), (round, 100 + round)]) {
        // Old memory has other tokens.
        let mut tokens = TokenColumns::default();
        (0..text.len()).for_each(|_| tokens.push_found(7, 7, 7));
        tokens.clear();
        let spawn = |task: HelperTask| pool.spawn(|| task.run());
        lex((&lexer, &text), block, &mut tokens, 3, spawn).unwrap();
        assert_eq!(tokens, expected, "round {round}, blocks of {block} bytes");
    }
}

/// Nobody waits for guesses of blocks that lie within a token, but for those that were made before it was known.
#[test]
fn blocks_within_a_token_are_passed_over() {
    let text = [&b"ab".repeat(1000)[..], b"(", &b"aab".repeat(50_000), b")", &b"ab".repeat(1000)].concat();
    let (lexer, block) = (CpuLexer::new(automaton()), 500);
    let mut expected = TokenColumns::default();
    lexer.lex_in_blocks(&text, 1, 1 << 20, &mut expected).unwrap();
    assert_eq!(expected.len(), 2001);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
    let mut tokens = TokenColumns::default();
    let done = lex((&lexer, &text), block, &mut tokens, 3, |task| pool.spawn(|| task.run())).unwrap();
    assert_eq!(tokens, expected);
    // As many as four threads have waiting, and a few at both ends of the token.
    assert!(done.again <= 4 * WAITING + 20, "{done:?} of {} blocks", text.len() / block);
}
