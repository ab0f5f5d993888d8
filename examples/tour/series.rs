//! Records in the order of time or place.

use monoscan::algo::series;

use super::loops;
use crate::common::Failure;
use crate::{SCAN, Table, drawn};

pub(crate) fn series(table: &Table) -> Result<(), Failure> {
    let amounts: Vec<i64> = drawn(table.records, 6, |bits| bits as i64 >> 40);
    let is_there: Vec<bool> = drawn(table.records, 8, |bits| bits % 3 > 0);
    table.line(
        ("series::forward_fill", SCAN),
        || series::forward_fill(&amounts, &is_there, 0),
        ("a loop", || loops::latest(amounts.iter().zip(&is_there)).collect()),
    )?;
    table.line(
        ("series::backward_fill", SCAN),
        || series::backward_fill(&amounts, &is_there, 0),
        ("a loop", || loops::backward_fill(&amounts, &is_there)),
    )?;

    let times = loops::times(drawn(table.records, 9, |bits| bits % 40));
    table.line(
        ("series::sessions", SCAN),
        || series::sessions(&times, 37),
        ("a loop", || loops::sessions(&times, 37)),
    )?;
    let hills: Vec<f64> = drawn(table.records, 10, |bits| (bits % 100_000) as f64);
    table.line(
        ("series::line_of_sight", SCAN),
        || series::line_of_sight(&hills),
        ("a loop", || loops::line_of_sight(&hills)),
    )?;
    table.line(
        ("series::running_argmax", SCAN),
        || series::running_argmax(&amounts),
        ("a loop", || loops::running_argmax(&amounts)),
    )
}
