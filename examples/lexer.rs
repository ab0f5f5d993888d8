//! A lexer: token rules become an automaton, and the automaton machine code for this computer.
//!
//! ```text
//! cargo run --release --example lexer -- [--rules NAME|FILE] [--only KIND,…] [--tokens] [--device cpu|cuda:N] [FILE]
//! ```
//!
//! The rules are lines `NAME regex`, `skip NAME regex`, `keyword WORD…`, `incomplete PREFIX` and
//! `strict_ties`; without them, JSON's. Rules that come with monoscan go by a name: json, csv, c,
//! c-preprocessor, rust, python, sql, ini, log, url, markdown, cl100k. Without a file, the output
//! of `cargo metadata` for this workspace is lexed: real JSON, made on the spot. A file is mapped,
//! so do not change it meanwhile. On the CPU one of more than 64 MB goes through a stream in
//! chunks, so it may be larger than memory. A GPU lexes by one scan, or by two.

use std::fs::File;
use std::io::{BufWriter, IsTerminal, Read, Write};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use common::{Failure, Progress, Race, failure_of, finish, or_end, say};
use memmap2::Mmap;
use monoscan::Device;
use monoscan::lexer::{Kind, Lexer, RULE_SETS, Rules, Streamed, Token, TokenList};

mod common;

const USAGE: &str = "lexer [--rules NAME|FILE] [--only KIND,…] [--tokens] [--device cpu|cuda:N] [FILE]
A file is mapped: if another process shortens it meanwhile, that ends this one.";

#[derive(Default)]
struct Options {
    rules: Option<PathBuf>,
    only: Option<String>,
    tokens: bool,
    device: Device,
    text: Option<PathBuf>,
}

fn main() -> ExitCode {
    finish(options().and_then(run), USAGE)
}

fn options() -> Result<Options, Failure> {
    let mut options = Options::default();
    let mut arguments = std::env::args_os().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.to_str() {
            Some("--tokens") => options.tokens = true,
            Some("--rules") => {
                let file = arguments.next().filter(|file| !file.to_string_lossy().starts_with("--"));
                let file = file.ok_or_else(|| Failure::Usage("--rules needs a file or a name".into()))?;
                options.rules = Some(file.into());
            }
            Some("--only") => {
                let names = arguments.next().and_then(|names| names.into_string().ok());
                options.only = Some(names.ok_or_else(|| Failure::Usage("--only needs kinds".into()))?);
            }
            Some("--device") => {
                let name = arguments.next().ok_or_else(|| Failure::Usage("--device needs a value".into()))?;
                options.device = common::device(&name.to_string_lossy())?;
            }
            Some(unknown) if unknown.starts_with('-') => {
                return Err(Failure::Usage(format!("unknown argument `{unknown}`")));
            }
            _ if options.text.is_some() => return Err(Failure::Usage("one file at a time".into())),
            _ => options.text = Some(argument.into()),
        }
    }
    Ok(options)
}

fn run(options: Options) -> Result<(), Failure> {
    let file = options.rules.as_deref().unwrap_or(Path::new("json"));
    let rules = match RULE_SETS.iter().find(|(name, _)| Path::new(name) == file) {
        Some((_, text)) => (*text).to_owned(),
        None => String::from_utf8(read(file)?).map_err(|error| failure_of(file, error))?,
    };
    let rules = Rules::parse(&rules).map_err(|error| failure_of(file, error))?;
    let text = match &options.text {
        Some(file) => Text::of(file)?,
        None => Text::Read(metadata()?),
    };
    let start = Instant::now();
    let lexer = Lexer::new(rules).map_err(|error| failure_of(file, error))?;
    for shadowed in lexer.shadowed() {
        eprintln!("{}: {shadowed}", file.display());
    }
    let lexer = match &options.only {
        Some(names) => lexer.only(&kinds(&lexer, names)?),
        None => lexer,
    };
    let lexer = lexer.on(options.device).map_err(|error| failure_of(file, error))?;
    lexer.lex(b"")?;
    let compiled = start.elapsed();

    if options.tokens {
        return print_tokens(&lexer, &text);
    }
    let mut summary = Summary { first: Vec::new(), rules: vec![0; lexer.rules().len()], errors: 0 };
    each_token(&lexer, &text, &mut Progress::new("lexed", text.len()), |token| summary.count(token))?;
    let source = options.text.as_deref().unwrap_or(Path::new("what `cargo metadata` prints")).display();
    say!(
        "{} rules of {} became machine code for {} in {compiled:.1?}.",
        lexer.rules().len(),
        file.display(),
        if lexer.device() == Device::cpu() { "this computer".to_owned() } else { lexer.device().to_string() }
    );
    let compared =
        if text.len() <= LONG { "a plain loop gave the same tokens" } else { "was not compared with a plain loop" };
    say!("It lexed {} bytes, {source}, and {compared}.\n", text.len());
    if text.is_empty() {
        return Ok(());
    }
    summary.say(&lexer, &text);
    race(&lexer, &text[..text.len().min(LONG)])
}

/// A text of more bytes goes through a stream, in chunks of an eighth of them.
const LONG: usize = 64 << 20;

/// Calls `take` with the tokens of a text from left to right; of a text that is not long, once a plain loop gave the same.
fn each_token(
    lexer: &Lexer,
    text: &[u8],
    progress: &mut Progress,
    mut take: impl FnMut(Streamed),
) -> Result<(), Failure> {
    if text.len() <= LONG || !lexer.device().is_cpu() {
        let tokens = lexer.lex(text)?;
        if text.len() <= LONG && tokens != lexer.lex_sequentially(text)? {
            return Err(Failure::Run("the compiled lexer and the plain loop disagree".into()));
        }
        let streamed = |Token { start, end, kind }| Streamed { start: start as u64, end: end as u64, kind };
        for (token, number) in tokens.iter().zip(0..) {
            if number % 4096 == 0 {
                progress.at(token.start);
            }
            take(streamed(token));
        }
        return Ok(());
    }
    let mut stream = lexer.stream()?;
    for (chunk, number) in text.chunks(LONG / 8).zip(0..) {
        stream.push(chunk)?.into_iter().for_each(&mut take);
        progress.at(number * (LONG / 8) + chunk.len());
    }
    stream.finish()?.into_iter().for_each(take);
    Ok(())
}

/// The kinds that go by these names, with commas between them.
fn kinds(lexer: &Lexer, names: &str) -> Result<Vec<Kind>, Failure> {
    let unknown = |name: &str| {
        let known: Vec<&str> = lexer.rules().iter().map(|rule| rule.name()).collect();
        Failure::Usage(format!("there is no kind `{name}`: expected ERROR or one of {}", known.join(", ")))
    };
    names.split(',').map(|name| lexer.rules().kind(name).ok_or_else(|| unknown(name))).collect()
}

/// The first tokens, and how many there are of each kind.
struct Summary {
    first: Vec<Streamed>,
    rules: Vec<usize>,
    errors: usize,
}

impl Summary {
    fn count(&mut self, token: Streamed) {
        if self.first.len() < 8 {
            self.first.push(token);
        }
        match token.kind {
            Kind::Rule(rule) => self.rules[usize::from(rule)] += 1,
            Kind::Error => self.errors += 1,
        }
    }

    fn say(&self, lexer: &Lexer, text: &[u8]) {
        say!("The first tokens, with the place of their first byte:");
        for token in &self.first {
            let bytes = &text[token.start as usize..token.end as usize];
            let printable = |c: char| if c.is_control() { '·' } else { c };
            let part = &bytes[..bytes.len().min(4 * SHOWN)];
            let shown: String = String::from_utf8_lossy(part).chars().take(SHOWN).map(printable).collect();
            let more = if bytes.len() > SHOWN { "…" } else { "" };
            say!("  {:>8}  {:<16} {shown}{more}", token.start, lexer.rules().name(token.kind));
        }
        say!("\nTokens of each kind:");
        let rules = (0..).map(Kind::Rule).zip(self.rules.iter().copied());
        for (kind, count) in rules.chain([(Kind::Error, self.errors)]).filter(|&(_, count)| count > 0) {
            say!("  {:<16} {count:9}", lexer.rules().name(kind));
        }
    }
}

/// Characters that are shown of a token.
const SHOWN: usize = 48;

/// One line a token: `start end NAME`. A reader that has seen enough may close the pipe.
fn print_tokens(lexer: &Lexer, text: &[u8]) -> Result<(), Failure> {
    let stdout = std::io::stdout().lock();
    // Where the tokens themselves are shown, they are the progress.
    let mut progress =
        if stdout.is_terminal() { Progress::none() } else { Progress::new("tokens written", text.len()) };
    let mut out = BufWriter::new(stdout);
    each_token(lexer, text, &mut progress, |token| {
        or_end(writeln!(out, "{} {} {}", token.start, token.end, lexer.rules().name(token.kind)));
    })?;
    or_end(out.flush());
    Ok(())
}

/// At least 16 MiB of the text.
fn repeated(text: &[u8]) -> Vec<u8> {
    text.repeat((16 << 20) / text.len() + 1)
}

/// The lexer beside the plain loop and memcpy.
fn race(lexer: &Lexer, text: &[u8]) -> Result<(), Failure> {
    let text = repeated(text);
    let mut tokens = TokenList::new();
    lexer.lex_into(&text, &mut tokens)?;
    // A token is a kind of two bytes, a start and an end of four.
    let bytes = text.len() + 10 * tokens.len();
    say!(
        "\nSpeed on {}, finding the tokens of {} bytes, beside a plain loop and a copy of as many bytes:",
        lexer.device(),
        text.len()
    );
    let race = Race {
        sequential: &mut || drop(lexer.lex_sequentially(&text).expect("it ran before")),
        scan: &mut || lexer.lex_into(&text, &mut tokens).expect("it ran before"),
        bytes,
    };
    race.run(text.len(), "byte");
    say!(
        "Other lexers, logos among them: cargo run --release --package cpu-bench -- --rust-only --quick --workload json"
    );
    Ok(())
}

fn metadata() -> Result<Vec<u8>, Failure> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let mut command = Command::new(&cargo);
    let output = command.args(["metadata", "--format-version=1", "--manifest-path", manifest]).output();
    match output.map_err(|error| failure_of(Path::new(&cargo), error))? {
        output if output.status.success() => Ok(output.stdout),
        output => Err(Failure::Run(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr)))),
    }
}

/// A text in memory, or a file that is mapped there.
enum Text {
    Mapped(Mmap),
    Read(Vec<u8>),
}

impl Text {
    fn of(file: &Path) -> Result<Text, Failure> {
        let text = || {
            let mut opened = File::open(file)?;
            if opened.metadata()?.is_file() {
                // SAFETY: the file is not changed while it is lexed, as its user is told.
                if let Ok(text) = unsafe { Mmap::map(&opened) } {
                    return Ok(Text::Mapped(text));
                }
            }
            // A pipe, say, or a file that the system makes as it is read.
            let mut bytes = Vec::new();
            opened.read_to_end(&mut bytes)?;
            Ok(Text::Read(bytes))
        };
        text().map_err(|error: std::io::Error| failure_of(file, error))
    }
}

impl Deref for Text {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Text::Mapped(map) => map,
            Text::Read(bytes) => bytes,
        }
    }
}

fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(file).map_err(|error| failure_of(file, error))
}
