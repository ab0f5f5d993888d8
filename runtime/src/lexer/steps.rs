//! Steps are counted: a few hundred for each byte of hostile texts, as long as an oracle pays.

use std::cell::Cell;

use monoscan_codegen::cpu::lexer::LexAutomaton;
use monoscan_protocol::crew::HelperTask;
use scan_kit::Random;

use super::{CpuLexer, StreamToken, TokenColumns};

thread_local! {
    static STEPS: Cell<usize> = const { Cell::new(0) };
}

/// So many steps more: bytes that code reads in vain, bytes that are walked, and states that an oracle looks at.
pub(super) fn count(steps: usize) {
    STEPS.set(STEPS.get() + steps);
}

/// How many steps that took, for each of so many bytes.
fn steps_a_byte<T>(bytes: usize, call: impl FnOnce() -> T) -> (T, usize) {
    STEPS.set(0);
    let result = call();
    (result, STEPS.get() / bytes)
}

/// `a`, and `a{1,most}b`, or `a+b` without a bound.
fn automaton(most: Option<u16>) -> LexAutomaton {
    let mut class_of = [0; 256];
    (class_of[usize::from(b'a')], class_of[usize::from(b'b')]) = (1, 2);
    // States: dead, start, one for each `a` of so many, `a…b`.
    let counted = most.unwrap_or(2);
    let last = counted + 2;
    let on = |state| if state <= counted { state + 1 } else { most.map_or(state, |_| 0) };
    let mut next = vec![[0; 3], [0, 2, 0]];
    next.extend((2..last).map(|state| [0, on(state), last]));
    next.push([0; 3]);
    let states = next.len();
    let mut accept = vec![None; states];
    (accept[2], accept[usize::from(last)]) = (Some(0), Some(1));
    LexAutomaton {
        class_of,
        classes: 3,
        next: next.concat(),
        back: vec![0; states],
        at_end: accept.clone(),
        accept,
        kept: vec![true; 2],
        keeps_errors: true,
        words: Vec::new(),
    }
}

/// By code, where it can be made, and by the table.
fn lexers(most: Option<u16>) -> [CpuLexer; 2] {
    [CpuLexer::new(automaton(most)), CpuLexer::by_table(automaton(most))]
}

fn lexed(lexer: &CpuLexer, text: &[u8]) -> TokenColumns {
    let mut tokens = TokenColumns::default();
    lexer.lex_in_blocks(text, 1, 1 << 18, &mut tokens).unwrap();
    tokens
}

fn streamed(lexer: &CpuLexer, text: &[u8], chunk: usize) -> Vec<StreamToken> {
    let mut stream = lexer.stream();
    let mut tokens: Vec<StreamToken> = text.chunks(chunk).flat_map(|chunk| stream.push(chunk).unwrap()).collect();
    tokens.extend(stream.finish().unwrap());
    tokens
}

#[test]
fn no_look_ahead_takes_many_steps_for_each_byte() {
    let text = vec![b'a'; 1 << 20];
    for (most, bound) in [(None, 80), (Some(60), 70), (Some(100), 20), (Some(1000), 20), (Some(4000), 50)] {
        for lexer in lexers(most) {
            let (tokens, steps) = steps_a_byte(text.len(), || lexed(&lexer, &text));
            assert_eq!(tokens.len(), text.len());
            assert!(steps <= bound, "{most:?}: {steps} steps a byte");
        }
    }
}

/// A block is lexed by one thread, though the others have nothing to do. On a busy machine a thread that is off its core leaves a piece
/// that another one lexes too, and begins by reading far ahead.
#[test]
fn threads_take_no_more_steps_than_one() {
    let text = vec![b'a'; 1 << 22];
    let lexer = CpuLexer::new(automaton(None));
    let (alone, steps) = steps_a_byte(text.len(), || lexed(&lexer, &text));
    let by_two = || {
        let mut helpers = Vec::new();
        let spawn = |task: HelperTask| {
            let work = move || {
                task.run();
                STEPS.get()
            };
            helpers.push(std::thread::spawn(work));
        };
        let mut tokens = TokenColumns::default();
        STEPS.set(0);
        super::blocks::lex((&lexer, &text), 1 << 18, &mut tokens, 2, spawn).unwrap();
        assert_eq!(tokens, alone);
        let all = STEPS.get() + helpers.into_iter().map(|helper| helper.join().unwrap()).sum::<usize>();
        all / text.len()
    };
    for _ in 0..3 {
        let by_two = by_two();
        assert!(by_two <= steps + steps / 2, "{by_two} steps a byte, and {steps} on one thread");
    }
}

#[test]
fn no_stream_takes_many_steps_for_each_byte() {
    let text = vec![b'a'; 1 << 19];
    for (most, bound) in [(None, 100), (Some(60), 150), (Some(1000), 100)] {
        for lexer in lexers(most) {
            // Of what is pending, as many bytes as it looks ahead are read again with each chunk.
            let chunk = usize::from(most.unwrap_or(1)) * 16;
            let (tokens, steps) = steps_a_byte(text.len(), || streamed(&lexer, &text, chunk));
            assert_eq!(tokens.len(), text.len());
            assert!(steps <= bound, "{most:?}: {steps} steps a byte");
        }
    }
}

/// Whatever the oracle says at the borders of its windows, of parts and of chunks.
#[test]
fn tokens_are_the_longest_ones_where_they_look_far_ahead() {
    let mut random = Random(17);
    let mut text = Vec::new();
    while text.len() < 1 << 19 {
        text.extend(vec![b'a'; [3, 99, 100, 101, 1500, 5000][random.below(6)]]);
        text.extend([b"b", &b"bb"[..], b"?"][random.below(3)]);
    }
    let (mut expected, mut at) = (Vec::new(), 0);
    while at < text.len() {
        let run = text[at..].iter().take_while(|&&byte| byte == b'a').count();
        let is_long = (1..=100).contains(&run) && text.get(at + run) == Some(&b'b');
        let (kind, end) = match run {
            0 => (super::ERROR_KIND, at + text[at..].iter().take_while(|&&byte| byte != b'a').count()),
            _ if is_long => (1, at + run + 1),
            _ => (0, at + 1),
        };
        expected.push(StreamToken { kind, start: at as u64, end: end as u64 });
        at = end;
    }
    for lexer in lexers(Some(100)) {
        for threads in [1, 2] {
            let mut tokens = TokenColumns::default();
            lexer.lex_in_blocks(&text, threads, 50_000, &mut tokens).unwrap();
            let found = (0..tokens.len()).map(|place| StreamToken {
                kind: tokens.kinds()[place],
                start: tokens.starts()[place].into(),
                end: tokens.ends()[place].into(),
            });
            assert!(found.eq(expected.iter().copied()), "{threads} threads");
        }
        assert_eq!(streamed(&lexer, &text, 3001), expected);
    }
}
