//! Records in the order of time or place.

use monoscan::algo::series;

use crate::common::Failure;
use crate::{SCAN, Table, drawn};

pub(crate) fn series(table: &Table) -> Result<(), Failure> {
    let amounts: Vec<i64> = drawn(table.records, 6, |bits| bits as i64 >> 40);
    let is_there: Vec<bool> = drawn(table.records, 8, |bits| bits % 3 > 0);
    let latest = || {
        let mut last = 0;
        move |(&x, &is_there): (&i64, &bool)| {
            last = if is_there { x } else { last };
            last
        }
    };
    table.line(
        ("series::forward_fill", SCAN),
        || series::forward_fill(&amounts, &is_there, 0),
        ("a loop", || amounts.iter().zip(&is_there).map(latest()).collect()),
    )?;
    table.line(
        ("series::backward_fill", SCAN),
        || series::backward_fill(&amounts, &is_there, 0),
        ("a loop", || {
            let mut filled: Vec<i64> = amounts.iter().zip(&is_there).rev().map(latest()).collect();
            filled.reverse();
            filled
        }),
    )?;

    let mut now = 0;
    let after = |pause| {
        now += pause;
        now
    };
    let times: Vec<u64> = drawn(table.records, 9, |bits| bits % 40).into_iter().map(after).collect();
    table.line(
        ("series::sessions", SCAN),
        || series::sessions(&times, 37),
        ("a loop", || {
            let mut session = 0;
            let ends = times.windows(2).map(|pair| {
                session += (pair[1] - pair[0] > 37) as u32;
                session
            });
            [0].into_iter().chain(ends).collect()
        }),
    )?;
    let hills: Vec<f64> = drawn(table.records, 10, |bits| (bits % 100_000) as f64);
    table.line(
        ("series::line_of_sight", SCAN),
        || series::line_of_sight(&hills),
        ("a loop", || {
            let mut steepest = f64::NEG_INFINITY;
            let sees = |(i, &hill): (usize, &f64)| {
                let slope = if i == 0 { f64::NEG_INFINITY } else { (hill - hills[0]) / i as f64 };
                let sees = i == 0 || slope > steepest;
                steepest = steepest.max(slope);
                sees
            };
            hills.iter().enumerate().map(sees).collect()
        }),
    )?;
    table.line(
        ("series::running_argmax", SCAN),
        || series::running_argmax(&amounts),
        ("a loop", || {
            let mut highest = 0;
            let places = (0..amounts.len()).map(|i| {
                highest = if amounts[i] > amounts[highest] { i } else { highest };
                highest as u32
            });
            places.collect()
        }),
    )
}
