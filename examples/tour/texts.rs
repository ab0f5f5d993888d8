//! Lines, UTF-8, CSV and decimals.

use monoscan::algo::text;

use crate::common::Failure;
use crate::{Table, bits};

pub(crate) fn texts(table: &Table) -> Result<(), Failure> {
    let mut bits = bits(40);
    let mut csv = String::new();
    while csv.len() < table.records {
        csv += &format!("{},\"name, {}\",{}\n", bits() as i32, bits() % 1000, (bits() % 100_000) as f64 / 8.0);
    }
    let csv = csv.as_bytes();
    table.line(
        ("lines and columns", ["n", "1", "1"]),
        || text::lines_and_columns(csv),
        ("a loop", || {
            let (mut line, mut column) = (0, 0);
            let place = |&byte: &u8| {
                let here = (line, column);
                (line, column) = if byte == b'\n' { (line + 1, 0) } else { (line, column + 1) };
                here
            };
            csv.iter().map(place).unzip()
        }),
    )?;
    let mixed = "aß∮\u{10ffff}".repeat(table.records / 10 + 1);
    let is_text = || std::str::from_utf8(mixed.as_bytes()).is_ok();
    table.line(
        ("UTF-8", ["n", "0", "1"]),
        || text::check_utf8(mixed.as_bytes()).map(|()| true),
        ("from_utf8", is_text),
    )?;
    table.line(
        ("fields of CSV", ["n", "1", "3"]),
        || text::csv(csv, b',').map(|fields| (fields.starts, fields.ends, fields.rows)),
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
    table.line(
        ("decimals to f64", ["n", "0", "1"]),
        || fields.floats(csv, 0, 2),
        ("parse", || {
            let third = |line: &[u8]| std::str::from_utf8(line).ok()?.rsplit(',').next()?.parse().ok();
            csv.split(|&byte| byte == b'\n').filter_map(third).collect()
        }),
    )
}
