//! On a device: tokens and labels by one scan and by two, and places where patterns match, beside
//! the same on the CPU.

use monoscan::lexer::{
    DeviceMatchEnds, ERROR, ERROR_KIND, Lexer, MAX_LABELLED_RULES, MatchEnds, PatternSet, PatternSetError, RULE_SETS,
    Role, Rules, TokenColumnsOf, TokenList,
};
use monoscan::{DeviceError, DeviceVec, Error};
use scan_kit::Random;
use scan_kit::munch::{self, Reference};

use super::on_gpu::gpu;

/// One scan, and two, by chunks: with symbols of a byte and of two, with words.
const SETS: [&str; 8] = ["json", "csv", "ini", "url", "log", "sql", "c", "c-preprocessor"];

#[test]
#[ignore = "needs a CUDA device"]
fn any_rules_are_lexed_on_a_device() {
    for (name, rules) in RULE_SETS.into_iter().filter(|(name, _)| SETS.contains(name)) {
        let rules = Rules::parse(rules).unwrap();
        let mut texts = Texts::new(&rules);
        let cpu = Lexer::new(rules).unwrap();
        let lexer = cpu.on(gpu()).unwrap();
        let explained = lexer.explain();
        assert!(explained.contains("\ntokens: by the labels below, and this scan"), "{explained}");
        for len in [0, 1, 2, 1000, 70_001, 3_000_000] {
            let text = texts.text(len);
            assert!(lexer.lex(&text).unwrap() == cpu.lex(&text).unwrap(), "{name}: {len} bytes");
            let expected = cpu.tables().unwrap().label_sequentially(&text);
            let on_device = DeviceVec::upload(&gpu(), &text).unwrap();
            assert!(lexer.labels(&on_device).unwrap().to_vec().unwrap() == expected, "{name}: {len} bytes");
            let mut written = DeviceVec::upload(&gpu(), &vec![0u8; len]).unwrap();
            lexer.labels_into(&on_device, &mut written).unwrap().wait().unwrap();
            assert!(written.to_vec().unwrap() == expected, "{name}: {len} bytes into a column");
            assert!(lexer.labels(&text).unwrap() == expected, "{name}: {len} bytes of the host");
            let (tokens, list) = (lexer.lex_on_device(&on_device).unwrap(), cpu.lex(&text).unwrap());
            let kinds: Vec<u16> = tokens.kinds().to_vec().unwrap().into_iter().map(kind).collect();
            assert!(kinds == list.kinds(), "{name}: kinds of {len} bytes");
            assert!(tokens.starts().to_vec().unwrap() == list.starts(), "{name}: starts of {len} bytes");
            assert!(tokens.ends().to_vec().unwrap() == list.ends(), "{name}: ends of {len} bytes");
        }
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn rules_of_more_kinds_than_labels_have_are_lexed_by_ends() {
    let words: String = (0..MAX_LABELLED_RULES).map(|i| format!("keyword k{i}\n")).collect();
    for number in ["NUMBER [0-9]+", "NUMBER [0-9]+([.][0-9]+)?"] {
        let rules = Rules::parse(&format!("{words}{number}\nWORD [a-z][a-z0-9]*\nskip SPACE [ \\n]+\n")).unwrap();
        let cpu = Lexer::new(rules).unwrap();
        let lexer = cpu.on(gpu()).unwrap();
        let mut random = Random(9);
        for len in [0, 1, 1000, 300_000] {
            let text: Vec<u8> = (0..len).map(|_| *random.pick(b"kk01234. \n?")).collect();
            assert!(lexer.lex(&text).unwrap() == cpu.lex(&text).unwrap(), "{number}: {len} bytes");
        }
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn memory_of_a_longer_text_leaves_nothing_in_the_tokens_of_a_shorter_one() {
    for (name, rules) in RULE_SETS.into_iter().filter(|(name, _)| ["json", "c"].contains(name)) {
        let rules = Rules::parse(rules).unwrap();
        let mut texts = Texts::new(&rules);
        let cpu = Lexer::new(rules).unwrap();
        let lexer = cpu.on(gpu()).unwrap();
        let (mut list, mut columns) = (TokenList::new(), TokenColumnsOf::<u8, u64>::new());
        let mut on_device = DeviceVec::upload(&gpu(), &[b' '; 4_000_000]).unwrap();
        let mut tokens = lexer.lex_on_device(&on_device).unwrap();
        for len in [3_000_000, 70_001, 2_900_000, 1, 0, 1000] {
            let text = [&texts.text(len)[..], b"\xff\xfe"].concat();
            let expected = cpu.lex(&text).unwrap();
            lexer.lex_into(&text, &mut list).unwrap();
            assert!(list == expected, "{name}: {len} bytes");
            lexer.lex_into_columns(&text, &mut columns).unwrap();
            let kinds = expected.kinds().iter().map(|&kind| if kind == ERROR_KIND { u8::MAX } else { kind as u8 });
            assert!(kinds.eq(columns.kinds().iter().copied()), "{name}: kinds of {len} bytes");
            let ends = expected.ends().iter().map(|&end| u64::from(end));
            assert!(ends.eq(columns.ends().iter().copied()), "{name}: ends of {len} bytes");
            on_device.write(&text).unwrap();
            lexer.lex_on_device_into(&on_device, &mut tokens).unwrap();
            assert!(
                tokens.starts().to_vec().unwrap() == expected.starts(),
                "{name}: starts of {len} bytes, left there"
            );
        }
    }
}

/// So many bytes that a thread of any device has several chunks, and these more symbols than they have at least.
const LONG: usize = 150_000_001;

#[test]
#[ignore = "needs a CUDA device"]
fn long_texts_go_by_long_chunks_and_several_of_a_thread() {
    for (name, rules) in RULE_SETS.into_iter().filter(|(name, _)| ["log", "c"].contains(name)) {
        let rules = Rules::parse(rules).unwrap();
        let period = Texts::new(&rules).text(1_000_003);
        let text: Vec<u8> = period.iter().copied().cycle().take(LONG).collect();
        let cpu = Lexer::new(rules).unwrap();
        let lexer = cpu.on(gpu()).unwrap();
        let expected = cpu.tables().unwrap().label_sequentially(&text);
        let on_device = DeviceVec::upload(&gpu(), &text).unwrap();
        assert!(lexer.labels(&on_device).unwrap().to_vec().unwrap() == expected, "{name}");
        assert!(lexer.lex(&text).unwrap() == cpu.lex(&text).unwrap(), "{name}");
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn calls_of_one_stream_from_several_threads_keep_their_symbols() {
    let rules = Rules::parse(RULE_SETS.iter().find(|(name, _)| *name == "log").unwrap().1).unwrap();
    let mut texts = Texts::new(&rules);
    let cpu = Lexer::new(rules).unwrap();
    let lexer = cpu.on(gpu()).unwrap();
    let texts: Vec<Vec<u8>> = (0..8).map(|each| texts.text(20_000 + 7000 * each)).collect();
    std::thread::scope(|scope| {
        for text in &texts {
            let (cpu, lexer) = (&cpu, &lexer);
            scope.spawn(move || {
                for _ in 0..10 {
                    assert!(lexer.lex(text).unwrap() == cpu.lex(text).unwrap(), "{} bytes", text.len());
                }
            });
        }
    });
}

#[test]
#[ignore = "needs a CUDA device"]
fn patterns_are_found_on_a_device() {
    let mut random = Random(5);
    for patterns in [
        &["a+b", "[0-9]{3}", "b", "ab|ac", "(?s:x.{3})"][..],
        &["(?m)^a+", r"\b[0-9]{3}", r"\Aa"],
        &["(?m)b$", r"\b[a-c]+\b", "[0-9]$"],
        // Empty matches, at the start of a text too.
        &["(?m)^$", r"\b", "0$"],
        &[r"\A", "x"],
        // Of more states than a vector has.
        &[r"a[ab]{4}\b", "x{3}$"],
    ] {
        let cpu = PatternSet::new(patterns).unwrap();
        let set = cpu.on(gpu()).unwrap();
        let mut found = set.ends_on_device(&DeviceVec::upload(&gpu(), b"a b").unwrap()).unwrap();
        for len in [0, 1, 1000, 70_001, 3_000_000, 2_000_000] {
            let text: Vec<u8> = (0..len).map(|_| *random.pick(b"aabbc0123x \n")).collect();
            let expected = cpu.ends_sequentially(&text);
            assert!(set.ends(&text).unwrap() == expected, "{patterns:?}: {len} bytes of the host");
            let on_device = DeviceVec::upload(&gpu(), &text).unwrap();
            assert_places(&set, &set.ends_on_device(&on_device).unwrap(), &expected);
            set.ends_on_device_into(&on_device, &mut found).unwrap();
            assert_places(&set, &found, &expected);
        }
    }
}

/// Places on a device are these.
fn assert_places(set: &PatternSet, found: &DeviceMatchEnds, expected: &MatchEnds<'_>) {
    assert_eq!((found.len(), found.is_empty()), (expected.len(), expected.is_empty()), "{set:?}");
    let (ends, sets) = (found.ends().to_vec().unwrap(), found.sets().to_vec().unwrap());
    for ((end, number), expected) in ends.into_iter().zip(sets).zip(expected.iter()) {
        assert_eq!((u64::from(end), set.patterns_of(number)), (expected.end, expected.patterns), "{set:?}");
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn patterns_of_too_many_states_and_texts_elsewhere_are_refused_on_a_device() {
    let large = PatternSet::new(["(?s:a.{7}b)"]).unwrap();
    let error = large.on(gpu()).unwrap_err();
    let PatternSetError::TooManyScannedStates { states } = error else { panic!("{error}") };
    assert_eq!(states, large.states());
    let text = DeviceVec::upload(&gpu(), b"ab").unwrap();
    for patterns in [&["a$"][..], &["(?s:a.{7}b)"]] {
        let error = PatternSet::new(patterns).unwrap().ends_on_device(&text).unwrap_err();
        let PatternSetError::Scan(Error::Device(DeviceError::Elsewhere { expected, got, .. })) = error else {
            panic!("{error}")
        };
        assert!(expected.is_cpu() && got == gpu(), "{expected} and {got}");
    }
}

fn kind(code: u8) -> u16 {
    if code == ERROR { ERROR_KIND } else { code.into() }
}

/// Texts that are made for rules.
struct Texts {
    reference: Reference,
    tokens: Vec<Vec<u8>>,
    random: Random,
}

impl Texts {
    fn new(rules: &Rules) -> Texts {
        let role = |role| match role {
            Role::Keyword => munch::Role::Keyword,
            Role::Incomplete { of } => munch::Role::Incomplete(of),
            _ => munch::Role::Token,
        };
        let rules: Vec<_> = rules.iter().map(|rule| (rule.pattern(), role(rule.role()))).collect();
        let (reference, mut random) = (Reference::new(&rules), Random(3));
        let tokens = (0..1000).map(|_| reference.token(&mut random, 12)).collect();
        Texts { reference, tokens, random }
    }

    fn text(&mut self, len: usize) -> Vec<u8> {
        self.reference.text(&mut self.random, &self.tokens, len)
    }
}
