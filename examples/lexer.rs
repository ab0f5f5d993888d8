//! A lexer as a scan: token rules become an automaton, and what a byte does to its states is a map.
//! Maps compose, so all cores can lex one text.
//!
//! ```text
//! cargo run --release --example lexer -- [--rules FILE] [--tokens] [--device cpu|cuda:N] [FILE]
//! ```
//!
//! The rules are lines `NAME regex` and `skip NAME regex`; without them, JSON's. Without a file,
//! the output of `cargo metadata` for this workspace is lexed: real JSON, made on the spot.

use std::io::{BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use common::{Failure, Progress, Race, copy, finish, say};
use monoscan::Device;
use monoscan::lexer::{Lexer, Rules, Skips, Token};

mod common;

const USAGE: &str = "lexer [--rules FILE] [--tokens] [--device cpu|cuda:N] [FILE]";

#[derive(Default)]
struct Options {
    rules: Option<PathBuf>,
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
                let file = file.ok_or_else(|| Failure::Usage("--rules needs a file".into()))?;
                options.rules = Some(file.into());
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
    let rules = match &options.rules {
        Some(file) => {
            let text = String::from_utf8(read(file)?).map_err(|error| named(file, error))?;
            Rules::parse(&text).map_err(|error| named(file, error))?
        }
        None => Rules::json(),
    };
    let text = match &options.text {
        Some(file) => read(file)?,
        None => metadata()?,
    };
    let start = Instant::now();
    let file = options.rules.as_deref().unwrap_or(Path::new("the rules"));
    let lexer = Lexer::new(rules).map_err(|error| named(file, error))?.on(options.device)?;
    let compiled = start.elapsed();

    let labels = lexer.labels(&text)?;
    if labels != lexer.tables().label_sequentially(&text) {
        return Err(Failure::Run("the scan and the plain loop disagree".into()));
    }
    if options.tokens {
        return print_tokens(&lexer, &labels);
    }
    let source = options.text.as_deref().unwrap_or(Path::new("what `cargo metadata` prints")).display();
    let rules = options.rules.as_deref().unwrap_or(Path::new("JSON")).display();
    say!("{} rules of {rules} became machine code for this computer in {compiled:.1?}.", lexer.rules().len());
    say!("It lexed {} bytes, {source}, and a plain loop gave the same tokens.\n", text.len());
    if text.is_empty() {
        return Ok(());
    }
    summarise(&lexer, &text, &labels);
    race(&lexer, &text)
}

/// The first tokens with their text, and how many there are of each kind.
fn summarise(lexer: &Lexer, text: &[u8], labels: &[u8]) {
    say!("The first tokens, with the place of their first byte:");
    for token in lexer.tokens(labels, Skips::Drop).take(8) {
        let bytes = &text[token.start..token.end];
        let printable = |c: char| if c.is_control() { '·' } else { c };
        let shown: String = String::from_utf8_lossy(bytes).chars().take(SHOWN).map(printable).collect();
        let more = if bytes.len() > SHOWN { "…" } else { "" };
        say!("  {:>8}  {:<16} {shown}{more}", token.start, lexer.rules().name(token.kind));
    }
    say!("\nTokens of each kind:");
    for (kind, count) in lexer.count(labels).iter().filter(|&(_, count)| count > 0) {
        say!("  {:<16} {count:9}", lexer.rules().name(kind));
    }
}

/// Characters that are shown of a token.
const SHOWN: usize = 48;

/// One line a token: `start end NAME`. A reader that has seen enough may close the pipe.
fn print_tokens(lexer: &Lexer, labels: &[u8]) -> Result<(), Failure> {
    let stdout = std::io::stdout().lock();
    // Where the tokens themselves are shown, they are the progress.
    let mut progress = (!stdout.is_terminal()).then(|| Progress::new("tokens written", labels.len()));
    let mut out = BufWriter::new(stdout);
    let mut write = |(place, token): (usize, Token)| {
        if let Some(progress) = progress.as_mut().filter(|_| place % 4096 == 0) {
            progress.at(token.start);
        }
        writeln!(out, "{} {} {}", token.start, token.end, lexer.rules().name(token.kind))
    };
    let written = lexer.tokens(labels, Skips::Drop).enumerate().try_for_each(&mut write).and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// At least 16 MiB of the text.
fn repeated(text: &[u8]) -> Vec<u8> {
    text.repeat((16 << 20) / text.len() + 1)
}

/// The scan beside the plain loop and memcpy.
fn race(lexer: &Lexer, text: &[u8]) -> Result<(), Failure> {
    let text = repeated(text);
    let (mut labels, mut copied) = (vec![0; text.len()], vec![0; text.len()]);
    lexer.labels_into(&text, &mut labels)?;
    say!(
        "\nSpeed on {}, giving each of {} bytes its kind, beside a plain loop and a copy:",
        lexer.scan().device(),
        text.len()
    );
    let race = Race {
        sequential: &mut || drop(lexer.tables().label_sequentially(&text)),
        scan: &mut || lexer.labels_into(&text, &mut labels).map(drop).expect("it ran before"),
        copy: &mut || copy(&text, &mut copied),
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
    match output.map_err(|error| named(Path::new(&cargo), error))? {
        output if output.status.success() => Ok(output.stdout),
        output => Err(Failure::Run(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr)))),
    }
}

fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(file).map_err(|error| named(file, error))
}

fn named(file: &Path, error: impl std::fmt::Display) -> Failure {
    Failure::Run(format!("{}: {error}", file.display()))
}
