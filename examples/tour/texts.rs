//! Lines, UTF-8, CSV, decimals and patterns.

use std::str::FromStr;

use monoscan::algo::text;

use super::loops;
use crate::common::Failure;
use crate::{LOOP, SCAN, Table, bits};

pub(crate) fn texts(table: &Table) -> Result<(), Failure> {
    let mut bits = bits(40);
    let mut csv = String::new();
    while csv.len() < table.records {
        csv += &format!("{},\"name, {}\",{}\n", bits() as i32, bits() % 1000, (bits() % 100_000) as f64 / 8.0);
    }
    let csv = csv.as_bytes();
    table.line(
        ("text::lines_and_columns", SCAN),
        || text::lines_and_columns(csv),
        ("a loop", || loops::lines_and_columns(csv)),
    )?;
    let mixed = "aß∮\u{10ffff}".repeat(table.records / 10 + 1);
    let is_text = || std::str::from_utf8(mixed.as_bytes()).is_ok();
    table.line(
        ("text::check_utf8", LOOP),
        || text::check_utf8(mixed.as_bytes()).map(|()| true),
        ("from_utf8", is_text),
    )?;
    table.line(
        ("text::csv", ["2 n", "1", "4"]),
        || {
            text::csv(csv, b',')
                .map(|fields| (fields.starts().to_vec(), fields.ends().to_vec(), fields.rows().to_vec()))
        },
        ("a loop", || {
            let (mut quoted, mut start, mut fields) = (false, 0, (Vec::new(), Vec::new(), vec![0]));
            for (place, &byte) in (0..).zip(csv) {
                quoted ^= byte == b'"';
                if !quoted && (byte == b',' || byte == b'\n') {
                    fields.0.push(start);
                    fields.1.push(place);
                    start = place + 1;
                    if byte == b'\n' {
                        fields.2.push(fields.0.len() as u32);
                    }
                }
            }
            fields
        }),
    )?;
    let fields = text::csv(csv, b',')?;
    // Rows are an integer, a name of two parts, and a number.
    let integers = || lines(csv).filter_map(|line| part(line, 0)).collect();
    let floats = || lines(csv).filter_map(|line| part(line, 3)).collect();
    table.line(("text::Fields::integers", LOOP), || fields.integers(0, 0), ("parse", integers))?;
    table.line(("text::Fields::floats", LOOP), || fields.floats(0, 2), ("parse", floats))?;
    table.line(
        ("text::Fields::texts", LOOP),
        || fields.texts(0, 1),
        ("split", || lines(csv).filter_map(|line| Some(line.split(|&byte| byte == b'"').nth(1)?.into())).collect()),
    )?;
    by_rules(table, csv)
}

fn lines(csv: &[u8]) -> impl Iterator<Item = &[u8]> {
    csv.split(|&byte| byte == b'\n').filter(|line| !line.is_empty())
}

fn part<T: FromStr>(line: &[u8], place: usize) -> Option<T> {
    std::str::from_utf8(line).ok()?.split(',').nth(place)?.parse().ok()
}

/// Tokens and patterns need rules that are compiled.
#[cfg(not(feature = "lexer"))]
fn by_rules(_: &Table, _: &[u8]) -> Result<(), Failure> {
    Ok(())
}

/// The same columns from the tokens of a lexer, and all matches of patterns.
#[cfg(feature = "lexer")]
fn by_rules(table: &Table, csv: &[u8]) -> Result<(), Failure> {
    use monoscan::lexer::{Kind, Lexer, PatternSet};

    let lexer = Lexer::builder().token("number", "-?[0-9]+(\\.[0-9]+)?").skip("other", "[^-0-9]+").build()?;
    let tokens = lexer.only(&[Kind::Rule(0)]).lex(csv)?;
    let decimals = text::Decimals::new(csv, &tokens, 3)?;
    let integers = || lines(csv).filter_map(|line| part(line, 0)).collect();
    let floats = || lines(csv).filter_map(|line| part(line, 3)).collect();
    table.line(("text::Decimals::integers", LOOP), || decimals.integers(0), ("parse", integers))?;
    table.line(("text::Decimals::floats", LOOP), || decimals.floats(2), ("parse", floats))?;

    let patterns = PatternSet::new(loops::PATTERNS)?;
    table.line(
        ("lexer::PatternSet::ends", SCAN),
        || {
            let found = patterns.ends(csv)?;
            Ok::<Vec<_>, monoscan::Error>(found.iter().map(|found| (found.end, found.patterns.to_vec())).collect())
        },
        ("three looks back", || loops::matches(csv)),
    )
}
