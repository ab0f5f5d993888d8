//! Pre-tokenisers on real and made texts: `verify` compares pieces with those that `fancy-regex`
//! finds. `race` times them beside other splitters on one thread, in turns: `fancy-regex`, what
//! `pretokie` has by hand for each pattern, and its splitter by regex-automata. Patterns are
//! `gpt2`, `cl100k`, `cl100k-tiktoken` and `o200k`; the third is to `pretokie` as the second.
//!
//! ```text
//! cargo run --release -p cpu-bench --example split -- verify|race PATTERN MADE_MB [FILE|FOLDER]…
//! ```

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use fancy_regex::Regex;
use monoscan::lexer::{CL100K, CL100K_TIKTOKEN, GPT2, O200K, Pretokeniser, TokenColumns};
use scan_kit::scripts;

/// Texts that are read or made at once.
const CHUNK: usize = 1 << 20;

/// Each text is split so often; the fastest counts.
const ROUNDS: usize = 5;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [what, pattern, made, files @ ..] = &arguments[..] else {
        panic!("expected: verify|race PATTERN MADE_MB [FILE|FOLDER]…");
    };
    let source = match &pattern[..] {
        "gpt2" => GPT2,
        "cl100k" => CL100K,
        "cl100k-tiktoken" => CL100K_TIKTOKEN,
        "o200k" => O200K,
        other => panic!("expected gpt2, cl100k, cl100k-tiktoken or o200k, found {other}"),
    };
    let start = Instant::now();
    let split = Pretokeniser::new(source).expect("it compiles");
    let compiled = start.elapsed();
    let automaton = split.on_cpu().automaton();
    println!("{pattern}: {} states, {} classes, compiled in {compiled:.0?}", automaton.states(), automaton.classes);
    let made = made.parse().expect("a number of megabytes");
    let regex = Regex::new(source).expect("it parses");
    match &what[..] {
        "verify" => verify(&split, &regex, made, files),
        "race" => race(pattern, &split, &regex, made, files),
        other => panic!("expected verify or race, found {other}"),
    }
}

fn verify(split: &Pretokeniser, regex: &Regex, made: usize, files: &[String]) {
    let (mut bytes, mut pieces, mut wrong, mut columns) = (0, 0, 0, TokenColumns::default());
    each(made, files, &mut |text| {
        split.on_cpu().lex_in_blocks(text.as_bytes(), 1, CHUNK, &mut columns).expect("it is short");
        let found = regex.find_iter(text).map(|found| found.expect("it is within its limits").end() as u32);
        let count = columns.len();
        let same = found.eq(columns.ends().iter().copied());
        if !same {
            wrong += 1;
            println!("differs: {:?}", &text.chars().take(80).collect::<String>());
        }
        (bytes, pieces) = (bytes + text.len(), pieces + count);
    });
    println!("{bytes} bytes, {pieces} pieces, {wrong} texts with a difference");
}

fn race(pattern: &str, split: &Pretokeniser, regex: &Regex, made: usize, files: &[String]) {
    let mut texts = String::new();
    each(made, files, &mut |text| texts.push_str(text));
    let mut columns = TokenColumns::default();
    let mut best = [Duration::MAX; 4];
    let mut agree = [true; 4];
    for round in 0..ROUNDS {
        let start = Instant::now();
        split.on_cpu().lex_in_blocks(texts.as_bytes(), 1, CHUNK, &mut columns).expect("it is short");
        best[0] = best[0].min(start.elapsed());
        type Splitter<'a> = &'a mut dyn FnMut(&mut Vec<u32>);
        let others: [Splitter; 3] = [
            &mut |ends| by_hand(pattern, &texts, ends),
            &mut |ends| by_regex_automata(pattern, &texts, ends),
            &mut |ends| {
                ends.extend(regex.find_iter(&texts).map(|found| found.expect("within its limits").end() as u32))
            },
        ];
        // The last takes ten times as long as the others.
        let entrants = if round == 0 { 3 } else { 2 };
        for (other, run) in others.into_iter().enumerate().take(entrants) {
            let mut ends = Vec::with_capacity(columns.len());
            let start = Instant::now();
            run(&mut ends);
            best[other + 1] = best[other + 1].min(start.elapsed());
            agree[other + 1] = black_box(&ends) == columns.ends();
        }
    }
    println!("{} bytes, {} pieces, one thread", texts.len(), columns.len());
    let names = ["monoscan", "pretokie, by hand", "pretokie, by regex-automata", "fancy-regex"];
    for ((name, time), agrees) in names.iter().zip(best).zip(agree) {
        let speed = texts.len() as f64 / time.as_secs_f64() / 1e6;
        let part = time.as_secs_f64() / best[0].as_secs_f64();
        let exact = if agrees { "" } else { ", other pieces" };
        println!("{name:<28} {speed:8.1} MB/s  {part:6.2} of monoscan's time{exact}");
    }
}

/// The pieces of the splitter that was written by hand.
fn by_hand(pattern: &str, text: &str, ends: &mut Vec<u32>) {
    let mut at = 0;
    let end = |piece: &str| {
        at += piece.len() as u32;
        at
    };
    match pattern {
        "gpt2" => ends.extend(pretokie::Gpt2::new(text).map(end)),
        "cl100k" | "cl100k-tiktoken" => ends.extend(pretokie::Cl100k::new(text).map(end)),
        _ => ends.extend(pretokie::O200k::new(text).map(end)),
    }
}

fn by_regex_automata(pattern: &str, text: &str, ends: &mut Vec<u32>) {
    let split = match pattern {
        "gpt2" => pretokie::Regex::gpt2(),
        "cl100k" | "cl100k-tiktoken" => pretokie::Regex::cl100k(),
        _ => pretokie::Regex::o200k(),
    };
    let mut at = 0;
    ends.extend(split.split(text).map(|piece| {
        at += piece.len() as u32;
        at
    }));
}

/// Made texts, then those of files that are UTF-8.
fn each(made: usize, files: &[String], of: &mut impl FnMut(&str)) {
    (0..made as u64).for_each(|seed| of(&scripts::text(seed + 1, CHUNK)));
    files.iter().for_each(|file| walk(Path::new(file), of));
}

fn walk(path: &Path, of: &mut impl FnMut(&str)) {
    if path.is_symlink() {
        return;
    }
    if let Ok(entries) = std::fs::read_dir(path) {
        let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        return paths.iter().for_each(|path| walk(path, of));
    }
    if let Ok(text) = std::fs::read(path).map_err(drop).and_then(|bytes| String::from_utf8(bytes).map_err(drop)) {
        of(&text);
    }
}
