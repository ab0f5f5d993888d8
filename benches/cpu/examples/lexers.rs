//! Lexers on texts made to hurt, each against the textbook's maximal munch: direct code on one
//! thread and on several, streams cut anywhere, a walk of the table, and labels by scans.
//!
//! ```text
//! cargo run --release -p cpu-bench --example lexers -- MEGABYTES [SEED]
//! cargo run --release -p cpu-bench --example lexers -- sizes [SET]
//! ```
//!
//! `sizes` prints what each set of rules became, and how long that took; of one set also the most
//! memory that the process had.
//!
//! For each set of rules tokens are made that its rules match, then texts of them: in disorder, cut
//! off, doubled, with bytes changed. The first difference ends it with the text; else it prints how
//! many bytes each engine was right about. Texts are short, as the textbook's way takes quadratic
//! time.

use std::collections::BTreeMap;
use std::time::Instant;

use monoscan::lexer::{Kind, KindNumber, Lexer, PlaceNumber, RULE_SETS, Role, Rules, TokenColumns, TokenColumnsOf};
use scan_kit::Random;
use scan_kit::munch::{self, Piece, Reference};

/// Tokens from which the texts of a rule set are made.
const TOKENS: usize = 4000;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == "sizes") {
        return sizes(arguments.get(1).map(|set| &set[..]));
    }
    let number = |place: usize| arguments.get(place).map(|text: &String| text.parse::<usize>().expect("a number"));
    let (megabytes, seed) = (number(0).expect("expected: MEGABYTES [SEED], or sizes [SET]"), number(1).unwrap_or(1));
    let most = megabytes * 1_000_000 / RULE_SETS.len();
    let start = Instant::now();
    let mut right = BTreeMap::new();
    for (name, rules) in RULE_SETS {
        let mut fuzz = Fuzz::new(name, rules, seed as u64);
        while fuzz.right["text"] < most {
            fuzz.round();
        }
        println!("{name}: {:?} bytes are right, {:.0?} so far", fuzz.right, start.elapsed());
        fuzz.right.into_iter().for_each(|(engine, bytes)| *right.entry(engine).or_insert(0) += bytes);
    }
    println!("all, from seed {seed}: {right:?} bytes are right");
}

/// The automaton, direct code and tables that rules become, and how long each takes.
fn sizes(set: Option<&str>) {
    for (name, rules) in RULE_SETS.into_iter().filter(|(name, _)| set.is_none_or(|set| set == *name)) {
        let start = Instant::now();
        let lexer = Lexer::new(Rules::parse(rules).expect("they parse")).expect("any rules");
        let analysed = start.elapsed();
        let states = lexer.on_cpu().automaton().states();
        let with_code = start.elapsed();
        let tables = lexer.tables().map_or_else(|error| format!("no labels: {error}"), |tables| tables.to_string());
        let with_tables = start.elapsed() - with_code;
        println!(
            "{name}: {states} states in {analysed:.1?}, with code in {with_code:.1?}, tables in {with_tables:.1?}"
        );
        println!("  {}", tables.replace('\n', "\n  "));
    }
    // Linux tells.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    if let Some(most) = status.lines().find(|line| set.is_some() && line.starts_with("VmHWM")) {
        println!("most memory of the process: {}", most.trim_start_matches("VmHWM:").trim());
    }
}

struct Fuzz {
    name: &'static str,
    lexer: Lexer,
    has_labels: bool,
    reference: Reference,
    tokens: Vec<Vec<u8>>,
    random: Random,
    /// For each engine the bytes that it lexed right.
    right: BTreeMap<&'static str, usize>,
}

impl Fuzz {
    fn new(name: &'static str, rules: &str, seed: u64) -> Fuzz {
        let rules = Rules::parse(rules).expect("they parse");
        let role = |role| match role {
            Role::Keyword => munch::Role::Keyword,
            Role::Incomplete { of } => munch::Role::Incomplete(of),
            _ => munch::Role::Token,
        };
        let texts: Vec<_> = rules.iter().map(|rule| (rule.pattern(), role(rule.role()))).collect();
        let reference = Reference::new(&texts);
        let lexer = Lexer::new(rules.clone()).expect("any rules").with_skips();
        let mut random = Random(seed);
        let tokens = (0..TOKENS).map(|_| reference.token(&mut random, 12)).collect();
        let has_labels = lexer.tables().is_ok();
        Fuzz { name, lexer, has_labels, reference, tokens, random, right: BTreeMap::from([("text", 0)]) }
    }

    /// A text by all engines.
    fn round(&mut self) {
        let most = [8, 60, 400, 2000][self.random.below(4)];
        let text = self.reference.text(&mut self.random, &self.tokens, most);
        let expected = self.reference.pieces(&text);
        let lexer = self.lexer.on_cpu();
        let in_blocks = |threads, block| {
            let mut tokens = TokenColumns::default();
            lexer.lex_in_blocks(&text, threads, block, &mut tokens).expect("it is short");
            pieces(&tokens)
        };
        let by_code = in_blocks(1, 1 << 20);
        let (threads, block) = (2 + self.random.below(3), 1 + self.random.below(300));
        let on_threads = in_blocks(threads, block);
        let sequential = self.lexer.lex_sequentially(&text).expect("it is short").into_columns();
        let mut others = TokenColumnsOf::<u8, u64>::new();
        lexer.lex_in_blocks(&text, threads, block, &mut others).expect("it is short");
        self.compare("direct code", &text, &by_code, &expected);
        self.compare("columns of u8 and u64", &text, &pieces(&others), &expected);
        self.compare("threads", &text, &on_threads, &expected);
        self.compare("table", &text, &pieces(&sequential), &expected);
        let streamed = self.stream(&text);
        self.compare("stream", &text, &streamed, &expected);
        if self.has_labels {
            let labels = self.lexer.labels(&text).expect("it is short");
            let tokens = self.lexer.with_skips().tokens(&labels);
            let by_labels: Vec<Piece> = tokens.map(|token| (kind(token.kind), token.start, token.end)).collect();
            self.compare("labels", &text, &by_labels, &expected);
        }
        *self.right.entry("text").or_default() += text.len();
    }

    fn stream(&mut self, text: &[u8]) -> Vec<Piece> {
        let mut stream = self.lexer.stream().expect("it is on the CPU");
        let (mut found, mut at) = (Vec::new(), 0);
        while at < text.len() {
            let most = [3, 100, 2000][self.random.below(3)];
            let end = (at + 1 + self.random.below(most)).min(text.len());
            found.extend(stream.push(&text[at..end]).expect("it is short"));
            at = end;
        }
        found.extend(stream.finish().expect("it is short"));
        found.into_iter().map(|token| (kind(token.kind), token.start as usize, token.end as usize)).collect()
    }

    fn compare(&mut self, engine: &'static str, text: &[u8], found: &[Piece], expected: &[Piece]) {
        assert!(found == expected, "{}, {engine}: {found:?} of {}", self.name, text.escape_ascii());
        *self.right.entry(engine).or_default() += text.len();
    }
}

fn kind(kind: Kind) -> Option<u16> {
    match kind {
        Kind::Rule(rule) => Some(rule),
        Kind::Error => None,
    }
}

fn pieces<K: KindNumber + Into<u16>, P: PlaceNumber>(tokens: &TokenColumnsOf<K, P>) -> Vec<Piece> {
    let places = tokens.starts().iter().zip(tokens.ends());
    let piece =
        |(&kind, (start, end)): (&K, (&P, &P))| ((kind != K::ERROR).then_some(kind.into()), start.index(), end.index());
    tokens.kinds().iter().zip(places).map(piece).collect()
}
