//! `cargo xtask instructions`: how many instructions small scans take, against the figures that are
//! kept.
//!
//! valgrind counts them, so the figures are the same on a busy machine and a quiet one, and on
//! every x86-64 with AVX2. They are no measure of time, but what makes a kernel longer shows at
//! once.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::run::root;

/// Where the figures are kept.
const FIGURES: &str = "benches/instructions.txt";

/// Per cent by which a figure may rise.
const TOLERANCE: u64 = 3;

/// The exit code of the counting program where its figures would mean nothing.
const OTHER_MACHINE: i32 = 3;

/// The treatment of figures that differ from those that are kept.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Differing {
    /// Fail where one rose.
    Refuse,
    /// Keep the new ones.
    Bless,
}

/// Elements and instructions of a scan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Figure {
    elements: u64,
    instructions: u64,
}

type Figures = BTreeMap<String, Figure>;

/// Counts, prints all figures, and compares them with those that are kept, or keeps them.
pub(crate) fn count(differing: Differing) -> Result<(), String> {
    if !cfg!(target_arch = "x86_64") {
        println!("skipped: figures are kept for x86-64");
        return Ok(());
    }
    let Some(found) = measure()? else {
        println!("skipped: this machine has no AVX2");
        return Ok(());
    };
    let path = root().join(FIGURES);
    let kept = match fs::read_to_string(&path) {
        Ok(text) => parse(&text)?,
        Err(_) if differing == Differing::Bless => Figures::new(),
        Err(error) => return Err(format!("{FIGURES}: {error}")),
    };
    print!("{}", table(&found, &kept));
    match differing {
        Differing::Bless => fs::write(&path, print(&found)).map_err(|error| format!("{FIGURES}: {error}")),
        Differing::Refuse => refuse(&found, &kept),
    }
}

/// Runs the counting program under callgrind; none if its figures would mean nothing on this machine.
fn measure() -> Result<Option<Figures>, String> {
    let folder = std::env::temp_dir().join(format!("monoscan-instructions-{}", std::process::id()));
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let counts = folder.join("counts");
    let runner = format!(
        "valgrind --quiet --tool=callgrind --instr-atstart=no --toggle-collect=counted --dump-after=counted \
         --callgrind-out-file={}",
        counts.display()
    );
    let output = Command::new("cargo")
        .args(["run", "--quiet", "--release", "--package", "scan-instructions"])
        .env("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER", runner)
        .current_dir(root())
        .output()
        .map_err(|error| format!("cargo: {error}"))?;
    let figures = match output.status.code() {
        Some(0) => collect(&String::from_utf8_lossy(&output.stdout), &counts).map(Some),
        Some(OTHER_MACHINE) => Ok(None),
        _ => Err(format!("{}\n{}", output.status, String::from_utf8_lossy(&output.stderr))),
    };
    let _ = fs::remove_dir_all(folder);
    figures
}

/// The k-th line names the scan of the k-th dump.
fn collect(lines: &str, counts: &Path) -> Result<Figures, String> {
    let figure = |(place, line): (usize, &str)| {
        let (name, elements) = line.split_once(' ').ok_or_else(|| format!("no name and number: {line}"))?;
        let dump = format!("{}.{}", counts.display(), place + 1);
        let text = fs::read_to_string(&dump).map_err(|error| format!("{dump}: {error}"))?;
        let total = text.lines().find_map(|line| line.strip_prefix("totals: "));
        let instructions = number(total.ok_or_else(|| format!("{dump} has no totals"))?)?;
        let name = format!("{name}-{elements}");
        Ok((name, Figure { elements: number(elements)?, instructions }))
    };
    lines.lines().enumerate().map(figure).collect()
}

fn number(text: &str) -> Result<u64, String> {
    text.trim().parse().map_err(|_| format!("{text:?} is no number"))
}

fn refuse(found: &Figures, kept: &Figures) -> Result<(), String> {
    let why = |(name, figure): (&String, &Figure)| match kept.get(name) {
        None => Some(format!("{name} has no figure")),
        Some(old) if 100 * figure.instructions > (100 + TOLERANCE) * old.instructions => {
            Some(format!("{name} rose from {} to {}", old.instructions, figure.instructions))
        }
        Some(_) => None,
    };
    let gone = kept.keys().filter(|name| !found.contains_key(*name)).map(|name| format!("{name} was not counted"));
    let all: Vec<String> = found.iter().filter_map(why).chain(gone).collect();
    if all.is_empty() {
        return Ok(());
    }
    Err(format!("{}; if that is meant: cargo xtask instructions --bless", all.join(", ")))
}

fn table(found: &Figures, kept: &Figures) -> String {
    let mut text = format!("{:<40} {:>12} {:>12} {:>8}\n", "scan", "instructions", "per element", "change");
    for (name, figure) in found {
        let each = figure.instructions as f64 / figure.elements as f64;
        let change = kept.get(name).map_or("new".into(), |old| {
            format!("{:+.1} %", 100.0 * (figure.instructions as f64 / old.instructions as f64 - 1.0))
        });
        text += &format!("{name:<40} {:>12} {each:>12.2} {change:>8}\n", figure.instructions);
    }
    text
}

const HEADER: &str = "\
# Instructions of a scan on one thread, counted by callgrind on x86-64 with AVX2: name, elements, instructions.
# `cargo xtask instructions` compares, and with --bless writes this file.
";

fn print(figures: &Figures) -> String {
    let line = |(name, figure): (&String, &Figure)| format!("{name} {} {}\n", figure.elements, figure.instructions);
    HEADER.to_owned() + &figures.iter().map(line).collect::<String>()
}

fn parse(text: &str) -> Result<Figures, String> {
    let figure = |line: &str| match line.split(' ').collect::<Vec<_>>()[..] {
        [name, elements, instructions] => {
            Ok((name.to_owned(), Figure { elements: number(elements)?, instructions: number(instructions)? }))
        }
        _ => Err(format!("{FIGURES}: {line:?} is no name and two numbers")),
    };
    text.lines().filter(|line| !line.starts_with('#')).map(figure).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(name: &str, instructions: u64) -> Figures {
        Figures::from([(name.to_owned(), Figure { elements: 10, instructions })])
    }

    #[test]
    fn a_rise_of_more_than_three_per_cent_is_refused() {
        assert_eq!(refuse(&one("sum", 1030), &one("sum", 1000)), Ok(()));
        assert_eq!(refuse(&one("sum", 500), &one("sum", 1000)), Ok(()));
        let why = refuse(&one("sum", 1031), &one("sum", 1000)).unwrap_err();
        assert!(why.contains("sum rose from 1000 to 1031") && why.contains("--bless"), "{why}");
    }

    #[test]
    fn scans_that_come_and_go_are_refused_by_name() {
        let why = refuse(&one("new", 1), &one("old", 1)).unwrap_err();
        assert!(why.contains("new has no figure") && why.contains("old was not counted"), "{why}");
    }

    #[test]
    fn figures_are_read_as_they_are_written() {
        let figures = one("sum", 1030);
        assert_eq!(parse(&print(&figures)), Ok(figures));
        assert!(parse("sum 3").is_err() && parse("sum 3 x").is_err());
    }
}
