//! A lexer as a scan: token rules → DFA → maps that compose → the automaton's state at every byte,
//! on all cores.
//!
//! ```text
//! cargo run --release --example lexer -- [--rules FILE] [--tokens] [--device cpu|cuda:N] [FILE]
//! ```
//!
//! The rules are lines `NAME regex` and `skip NAME regex`; without them, JSON's. Without a file,
//! the output of `cargo metadata` for this workspace is lexed: real JSON, made on the spot.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use common::{Failure, copy, finish, say, table, time};
use monoscan::Device;
use monoscan::lexer::{Lexer, Rules, Skips};

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
    say!("{:?}, compiled in {compiled:.1?}\n{}\n", lexer.tables(), lexer.explain());
    say!("{} bytes, labelled as by the plain loop:", text.len());
    for (kind, count) in lexer.count(&labels).iter().filter(|&(_, count)| count > 0) {
        say!("{:>16} {count:9}", lexer.rules().name(kind));
    }
    if text.is_empty() { Ok(()) } else { race(&lexer, &text) }
}

/// One line a token: `start end NAME`. A reader that has seen enough may close the pipe.
fn print_tokens(lexer: &Lexer, labels: &[u8]) -> Result<(), Failure> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    let written = lexer
        .tokens(labels, Skips::Drop)
        .try_for_each(|token| writeln!(out, "{} {} {}", token.start, token.end, lexer.rules().name(token.kind)))
        .and_then(|()| out.flush());
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
    let [scan, sequential, memcpy] = time(
        9,
        [
            &mut || lexer.labels_into(&text, &mut labels).map(drop).expect("it ran before"),
            &mut || drop(lexer.tables().label_sequentially(&text)),
            &mut || copy(&text, &mut copied),
        ],
    );
    say!("\n{} bytes on {}, medians of 9 runs", text.len(), lexer.scan().device());
    table(text.len(), "byte", &[("loop", sequential), ("scan", scan), ("memcpy", memcpy)]);
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
