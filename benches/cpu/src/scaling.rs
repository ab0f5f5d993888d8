//! The same operators on 1, 2, 4, … threads up to all cores: how much of what memory allows they
//! reach. A copy of as many bytes on as many threads stands beside them, and TBB's `parallel_scan`,
//! where it was built. Last, JSON to tokens beside a copy of the text.

use std::time::{Duration, Instant};

use monoscan::lexer::{JSON, Lexer, Rules, TokenColumns};
use rayon::prelude::*;

use crate::busy::operators::{NAMES, Pair, Visitor, visit};
use crate::busy::quantile;
use crate::machine;
use crate::options::Options;
use crate::workloads::json_text;
use bench_shared::report::{power, read};

/// The fewest rounds.
const ROUNDS: usize = 5;

/// The lexer, by its name on the command line.
const LEXER: &str = "json";

/// Bytes that a task of the copy takes.
const PIECE: usize = 128 << 10;

/// Prints the table: gigabytes that are read and written a second, and in brackets which part of the copy's that is.
pub(crate) fn run(options: &Options) -> Result<(), String> {
    println!("{}", machine::describe());
    println!(
        "{:<14} {:>5} {:>8} {:>9} {:>9} {:>7} {:>12} {:>9} {:>9}",
        "operator", "size", "threads", "GB/s", "copy", "part", "to 1 thread", "loop GB/s", "TBB GB/s"
    );
    let budget = Duration::from_millis(options.budget);
    let file = options.json.as_deref().map(read).transpose()?;
    for elements in options.sizes_or(&[18, 20, 22, 24, 26]) {
        for name in NAMES.into_iter().filter(|name| options.wants_workload(name)) {
            visit(name, elements, &mut Scaling { elements, budget });
        }
        if options.wants_workload(LEXER) {
            tokens(&json_text(file.as_deref(), elements), budget);
        }
    }
    println!("{}", machine::describe());
    Ok(())
}

struct Scaling {
    elements: usize,
    budget: Duration,
}

impl Visitor for Scaling {
    fn visit<T: Copy + Default + PartialEq + Send + Sync>(&mut self, pair: Pair<T>) {
        let bytes = pair.moved * self.elements;
        let mut results = vec![T::default(); self.elements];
        let (from, mut to) = (vec![1u8; bytes / 2], vec![0u8; bytes / 2]);
        let mut alone = None;
        for threads in threads() {
            let Ok(pool) = rayon::ThreadPoolBuilder::new().num_threads(threads).build() else { continue };
            let mut times = [const { Vec::new() }; 4];
            let tbb = pair.tbb.as_ref().filter(|tbb| tbb.native.use_threads(threads).is_ok());
            pool.install(|| {
                (pair.scan)(&mut results);
                let start = Instant::now();
                while times[0].len() < ROUNDS || start.elapsed() < self.budget {
                    times[0].push(seconds(|| (pair.scan)(&mut results)));
                    times[1].push(seconds(|| copy(&from, &mut to)));
                    times[2].push(seconds(|| (pair.plain)(&mut results)));
                    times[3].push(tbb.map_or(f64::INFINITY, |tbb| seconds(|| (tbb.run)(&mut results))));
                }
            });
            let rates = times.map(|times| bytes as f64 / 1e9 / quantile(&times, 0.5));
            print(pair.name, (self.elements, threads), rates, *alone.get_or_insert(rates[0]));
        }
    }
}

/// Kinds, starts and ends of a text's tokens; the loop walks the lexer's table.
fn tokens(text: &[u8], budget: Duration) {
    let lexer = Lexer::new(Rules::parse(JSON).expect("shipped rules parse")).expect("any rules can be lexed");
    let (mut found, mut to, mut alone) = (TokenColumns::default(), vec![0; text.len()], None);
    for threads in threads() {
        let Ok(pool) = rayon::ThreadPoolBuilder::new().num_threads(threads).build() else { continue };
        let mut times = [const { Vec::new() }; 4];
        let mut lex = || lexer.on_cpu().lex_into(text, &mut found).expect("there is memory for the tokens");
        pool.install(|| {
            lex();
            let start = Instant::now();
            while times[0].len() < ROUNDS || start.elapsed() < budget {
                times[0].push(seconds(&mut lex));
                times[1].push(seconds(|| copy(text, &mut to)));
                times[2].push(seconds(|| drop(lexer.lex_sequentially(text))));
                times[3].push(f64::INFINITY);
            }
        });
        let rates = times.map(|times| text.len() as f64 / 1e9 / quantile(&times, 0.5));
        print(LEXER, (text.len(), threads), rates, *alone.get_or_insert(rates[0]));
    }
}

/// A row: gigabytes a second of the scan, the copy, the loop and TBB, and of the scan on one thread.
fn print(name: &str, (elements, threads): (usize, usize), [scan, copy, plain, tbb]: [f64; 4], one: f64) {
    println!(
        "{name:<14} {:>5} {threads:>8} {scan:>9.2} {copy:>9.2} {:>7.2} {:>12.2} {plain:>9.2} {tbb:>9.2}",
        power(elements as u64),
        scan / copy,
        scan / one
    );
}

/// 1, 2, 4, …, and all cores.
fn threads() -> Vec<usize> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut all: Vec<usize> =
        std::iter::successors(Some(1), |threads| Some(2 * threads)).take_while(|&t| t < cores).collect();
    all.push(cores);
    all
}

fn copy(from: &[u8], to: &mut [u8]) {
    to.par_chunks_mut(PIECE).zip(from.par_chunks(PIECE)).for_each(|(to, from)| to.copy_from_slice(from));
}

fn seconds(run: impl FnOnce()) -> f64 {
    let start = Instant::now();
    run();
    start.elapsed().as_secs_f64()
}
