//! On a device: tokens and labels by one scan and by two, and places where patterns match, beside
//! the same on the CPU.

use monoscan::DeviceVec;
use monoscan::lexer::{ERROR, ERROR_KIND, Lexer, PatternSet, RULE_SETS, Role, Rules};
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
    let cpu = PatternSet::new(["a+b", "[0-9]{3}", "b", "ab|ac", "(?s:x.{3})"]).unwrap();
    let set = cpu.on(gpu()).unwrap();
    let mut random = Random(5);
    for len in [0, 1, 1000, 70_001, 3_000_000] {
        let text: Vec<u8> = (0..len).map(|_| *random.pick(b"aabbc0123x ")).collect();
        assert!(set.ends(&text).unwrap() == cpu.ends_sequentially(&text), "{len} bytes");
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
