//! Cuts a text into the pieces that a language model encodes, exactly as its pattern says.
//!
//! ```text
//! cargo run --release --example pretokenise -- [--pattern gpt2|cl100k|cl100k-tiktoken|o200k|REGEX] [--pieces] [FILE]
//! ```
//!
//! Patterns try their alternatives in order and look one character ahead; here they are automata
//! that run as machine code. Without a file, the documents of this workspace are cut.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use common::{Failure, failure_of, finish, say};
use monoscan::lexer::{CL100K, CL100K_TIKTOKEN, GPT2, Kind, O200K, Pretokeniser, TokenList};

mod common;

const USAGE: &str = "pretokenise [--pattern gpt2|cl100k|cl100k-tiktoken|o200k|REGEX] [--pieces] [FILE]";

/// Most characters of a piece that are shown.
const SHOWN: usize = 48;

struct Options {
    pattern: String,
    pieces: bool,
    text: Option<PathBuf>,
}

fn main() -> ExitCode {
    finish(options().and_then(run), USAGE)
}

fn options() -> Result<Options, Failure> {
    let mut options = Options { pattern: "cl100k".to_owned(), pieces: false, text: None };
    let mut arguments = std::env::args_os().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.to_str() {
            Some("--pieces") => options.pieces = true,
            Some("--pattern") => {
                let pattern = arguments.next().and_then(|pattern| pattern.into_string().ok());
                options.pattern = pattern.ok_or_else(|| Failure::Usage("--pattern needs a name or a regex".into()))?;
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
    let pattern = match &options.pattern[..] {
        "gpt2" => GPT2,
        "cl100k" => CL100K,
        "cl100k-tiktoken" => CL100K_TIKTOKEN,
        "o200k" => O200K,
        regex => regex,
    };
    let text = match &options.text {
        Some(file) => read(file)?,
        None => documents()?,
    };
    let start = Instant::now();
    let split = Pretokeniser::new(pattern)?;
    let compiled = start.elapsed();
    if options.pieces {
        return print(&split, &text);
    }
    let mut pieces = TokenList::new();
    // The first time, memory is new.
    split.lex_into(text.as_bytes(), &mut pieces)?;
    let start = Instant::now();
    split.lex_into(text.as_bytes(), &mut pieces)?;
    let took = start.elapsed();
    let what =
        if split.on_cpu().code().is_some() { "machine code for this computer" } else { "a table that is walked" };
    say!("The pattern became {what} in {compiled:.1?}.");
    say!("{}", split.explain());
    let unmatched = pieces.iter().filter(|piece| piece.kind == Kind::Error).count();
    say!("It cut {} bytes into {} pieces in {took:.1?}.", text.len(), pieces.len() - unmatched);
    if unmatched > 0 {
        say!("{unmatched} stretches between them match nothing.");
    }
    if pieces.len() > unmatched {
        say!("\nThe first pieces:");
    }
    for piece in split.split(&text)?.take(12) {
        let shown: String = piece.chars().take(SHOWN).collect();
        say!("  {shown:?}{}", if shown.len() < piece.len() { "…" } else { "" });
    }
    Ok(())
}

/// One piece a line, escaped. A reader that has seen enough may close the pipe.
fn print(split: &Pretokeniser, text: &str) -> Result<(), Failure> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    let written = split.split(text)?.try_for_each(|piece| writeln!(out, "{piece:?}")).and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// All texts of the folder of documents.
fn documents() -> Result<String, Failure> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let entries = std::fs::read_dir(&folder).map_err(|error| failure_of(&folder, error))?;
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "md"));
    files.sort();
    files.iter().map(|file| read(file)).collect()
}

fn read(file: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(file).map_err(|error| failure_of(file, error))
}
