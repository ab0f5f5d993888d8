//! The invariants of what lies in memory: layouts and tables (numbers 3 to 7 of the [list](super)).

use super::Findings;
use super::diagnostic::Part;
use crate::program::{Layout, MAX_COLUMNS, MAX_RECORD_BYTES, MAX_TABLE_BYTES, Table};
use crate::types::Type;

/// Checks the columns of one side of a program; `whole` is where their number is wrong.
pub(super) fn check_columns(
    found: &mut Findings,
    whole: Part,
    columns: &[Layout],
    part: fn(usize) -> Part,
    side: &str,
) {
    if columns.is_empty() {
        found.whole(whole, format!("expected at least one {side} column, found none"));
    }
    if columns.len() > MAX_COLUMNS {
        found.whole(whole, format!("expected at most {MAX_COLUMNS} {side} columns, found {}", columns.len()));
    }
    for (place, column) in columns.iter().enumerate() {
        check_layout(found, part(place), column);
    }
}

fn check_layout(found: &mut Findings, part: Part, layout: &Layout) {
    let Layout { size, align, fields } = layout;
    if *size == 0 || *size as usize > MAX_RECORD_BYTES {
        found.whole(part, format!("expected a size of 1 to {MAX_RECORD_BYTES} bytes, found {size}"));
    }
    if !align.is_power_of_two() {
        found.whole(part, format!("expected an alignment that is a power of two, found {align}"));
    } else if !size.is_multiple_of(*align) {
        found.whole(part, format!("expected a size that is a multiple of the alignment {align}, found {size}"));
    }
    if fields.is_empty() {
        found.whole(part, "expected at least one field, found none".into());
    }
    let end = |field: usize| u64::from(fields[field].offset) + fields[field].ty.size() as u64;
    for (place, field) in fields.iter().enumerate() {
        if end(place) > u64::from(*size) {
            let range = format!("{} to {}", field.offset, end(place));
            found.whole(
                part,
                format!("expected field {place} to end within the record of {size} bytes, it takes bytes {range}"),
            );
        }
    }
    let mut order: Vec<usize> = (0..fields.len()).collect();
    order.sort_by_key(|&field| (fields[field].offset, field));
    for pair in order.windows(2) {
        if end(pair[0]) > u64::from(fields[pair[1]].offset) {
            let (low, high) = (pair[0].min(pair[1]), pair[0].max(pair[1]));
            found.whole(part, format!("expected fields that do not overlap, fields {low} and {high} do"));
        }
    }
}

/// Checks the tables of a program, one by one and their size together.
pub(super) fn check_tables(found: &mut Findings, tables: &[Table]) {
    let total: u128 = tables.iter().map(|table| table.bytes.len() as u128).sum();
    if total > MAX_TABLE_BYTES as u128 {
        found.whole(Part::Program, format!("expected at most {MAX_TABLE_BYTES} bytes of tables, found {total}"));
    }
    for (place, Table { ty, bytes }) in tables.iter().enumerate() {
        let part = Part::Table(place);
        if bytes.is_empty() {
            found.whole(part, "expected at least one element, found none".into());
        }
        if !bytes.len().is_multiple_of(ty.size()) {
            let message = format!("expected whole elements of {} bytes each, found {} bytes", ty.size(), bytes.len());
            found.whole(part, message);
        }
        if *ty == Type::Bool && bytes.iter().any(|&byte| byte > 1) {
            found.whole(part, "expected the bytes 0 and 1 only in a table of bool".into());
        }
    }
}
