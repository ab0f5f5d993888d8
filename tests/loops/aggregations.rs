//! The 28 user-defined aggregations of Ink's benchmarks (Wang et al., *Homomorphism calculus for
//! user-defined aggregations*, OOPSLA 2025; github.com/utopia-group/ink, `evaluation/benchmarks`)
//! whose state is numbers, flags and opaque strings, under the names of its files. Written anew; a
//! string is a number that stands for it. The other 22 keep maps, sets, lists or texts.

#![allow(clippy::all, reason = "loops as people write them")]

use crate::entry::{Entry, loops};

/// Above and below any number that occurs.
const HIGH: f64 = 1e6;
const LOW: f64 = -1e6;

/// The suite, in the order of the files' names.
pub(crate) fn entries() -> Vec<Entry> {
    loops! {
        "AVGVSaggregateGL" "NNNRRR"
            (s: (f64, f64, i32, f64, u32, u32, u32), seg: u32, dir: u32, vid: u32, t: f64, stimulus: f64, v: f64)
            = (0.0, 0.0, 0, 0.0, 0, 0, 0) => {
            (if s.0 > t { s.0 } else { t }, if s.1 > stimulus { s.1 } else { stimulus }, s.2 + 1, s.3 + v, seg, dir, vid)
        };
        "AverageAggregate" "NR" (s: (u32, f64, f64, f64, i32), bus: u32, v: f64) = (0, 0.0, HIGH, LOW, 0) => {
            (bus, s.1 + v, if v < s.2 { v } else { s.2 }, if v > s.3 { v } else { s.3 }, s.4 + 1)
        };
        "AvgTemperatureAggregateFunction" "NR" (s: (u32, f64, i32), id: u32, t: f64) = (0, 0.0, 0) => {
            (id, s.1 + t, s.2 + 1)
        };
        "CarCloudCountGL" "NRR" (s: (u32, i32, f64, f64), id: u32, stimulus: f64, t: f64) = (0, 0, LOW, LOW) => {
            (id, s.1 + 1, if stimulus > s.2 { stimulus } else { s.2 }, if t > s.3 { t } else { s.3 })
        };
        "CountAggregateFunction" "RR" (s: (i32, u32, f64, f64), t: f64, stimulus: f64) = (0, 0, LOW, LOW) => {
            (s.0 + 1, s.1, if t > s.2 { t } else { s.2 }, if stimulus > s.3 { stimulus } else { s.3 })
        };
        "HarmonicMeanUDAF" "R" (s: (i32, f64, bool), x: f64) = (0, 0.0, false) => {
            if x == 0.0 || s.2 { (s.0, s.1, true) } else { (s.0 + 1, s.1 + 1.0 / x, s.2) }
        };
        "KeepRowWithMaxAge" "INNRR" (s: (i32, u32, u32, f64, f64), id: i32, a: u32, b: u32, pay: f64, age: f64)
            = (0, 0, 0, 0.0, LOW) => {
            if age > s.4 { (id, a, b, pay, age) } else { s }
        };
        "LocalStatsAggregate" "R" (s: (i32, f64, f64, f64, f64), x: f64) = (0, HIGH, LOW, 0.0, 0.0) => {
            (s.0 + 1, s.1.min(x), s.2.max(x), s.3 + x, s.4 + x * x)
        };
        "OutliersOnOutliersDetectAggregateFunction" "B" (s: (i32, i32), x: i32) = (0, 0) => {
            (s.0 + 1, if x > 100 { s.1 + 1 } else { s.1 })
        };
        "PointAttributionScalaUdaf" "R" (s: f64, x: f64) = 0.0 => { s + if x < 3.0 { x } else { 3.0 } };
        "QW" "R" (s: (f64, i32, f64, f64, f64), bid: f64) = (0.0, 0, HIGH, LOW, 0.0) => {
            (s.0 + bid, s.1 + 1, if bid < s.2 { bid } else { s.2 }, if bid > s.3 { bid } else { s.3 }, s.4 + bid * bid)
        };
        "SmaAggregation" "RRR" (s: ((f64, f64, f64), i32), from: f64, to: f64, x: f64) = ((HIGH, LOW, 0.0), 0) => {
            ((if from < s.0.0 { from } else { s.0.0 }, if to > s.0.1 { to } else { s.0.1 }, s.0.2 + x), s.1 + 1)
        };
        "TopUdaf" "RRRRRRR"
            (s: (f64, f64, f64, f64, f64, f64, f64), p: f64, a: f64, b: f64, c: f64, d: f64, e: f64, f: f64)
            = (HIGH, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0) => {
            if p < s.0 { (p, a, b, c, d, e, f) } else { s }
        };
        "UserSessionAggregates" "N" (s: (i32, i32), x: u32) = (0, 0) => {
            (s.0 + 1, if x != 0 { s.1 + 1 } else { s.1 })
        };
        "VehicleStatisticsAggregator" "NI" (s: (u32, i32, i32, i32), kind: u32, at: i32) = (0, 0, 0, 0) => {
            (
                if s.0 == 0 { kind } else { s.0 },
                if s.1 == 0 { at } else { s.1 },
                at,
                if s.3 == 0 { 1 } else { s.3 + 1 }
            )
        };
        "WeightedCentroid" "RRR" (s: (f64, f64, f64), x: f64, y: f64, w: f64) = (0.0, 0.0, 0.0) => {
            (s.0 + x * w, s.1 + y * w, s.2 + w)
        };
        "finance.OrderInputPriceAggregateFunction" "NR" (s: (u32, f64, i32), id: u32, x: f64) = (0, 0.0, 0) => {
            (id, s.1 + x, s.2 + 1)
        };
        "finance.PaymentsAggregateFunction" "NR"
            (s: (f64, i32, i32, i32, f64, f64, f64), kind: u32, x: f64) = (0.0, 0, 0, 0, 0.0, 0.0, 0.0) => {
            (
                s.0,
                s.1 + if kind == 0 { 1 } else { 0 },
                s.2 + if kind == 1 { 1 } else { 0 },
                s.3 + if kind == 2 { 1 } else { 0 },
                s.4 + if kind == 0 { x } else { 0.0 },
                s.5 + if kind == 1 { x } else { 0.0 },
                s.6 + if kind == 2 { x } else { 0.0 }
            )
        };
        "finance.Prediction" "RR" (s: f64, x: f64, y: f64) = 0.0 => { if y > 0.0 { s + x } else { s - x } };
        "finance.StreamingStockTicker" "NRR" (s: (u32, f64, i32), id: u32, x: f64, _volume: f64) = (0, 0.0, 0) => {
            (id, s.1 + x, s.2 + 1)
        };
        "finance.TransactionSummaryAggregator" "NRT"
            (s: (bool, u32, i32, i32, f64), id: u32, x: f64, credit: bool) = (false, 0, 0, 0, 0.0) => {
            (true, id, s.2 + if credit { 1 } else { 0 }, s.3 + if !credit { 1 } else { 0 }, s.4 + x.abs())
        };
        "finance.regslope" "RR" (s: (f64, f64, f64, f64, i32), year: f64, p: f64) = (0.0, 0.0, 0.0, 0.0, 0) => {
            let x = (year - 2.0) * 12.0 + 1.0;
            (s.0 + x, s.1 + p, s.2 + x * p, s.3 + x * x, s.4 + 1)
        };
        "logging.DurationAvg" "RR" (s: ((f64, f64), i32), a: f64, b: f64) = ((0.0, 0.0), 0) => {
            ((s.0.0 + a, s.0.1 + b), s.1 + 1)
        };
        "HourlyAvg" "MMMMM"
            (
                s: (i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32),
                year: i32, month: i32, day: i32, week: i32, hour: i32
            ) = (0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) => {
            let first = s.7 == 0;
            let previous = (
                if first { s.2 } else { s.3 },
                if first { s.4 } else { s.5 },
                if first { s.6 } else { s.7 },
                if first { s.8 } else { s.9 },
                if first { s.10 } else { s.11 },
            );
            let changed = hour != previous.4
                || day != previous.3
                || week != previous.2
                || month != previous.1
                || year != previous.0;
            (
                s.0 + 1,
                if changed { s.1 + 1 } else { s.1 },
                previous.0,
                year,
                previous.1,
                month,
                previous.2,
                week,
                previous.3,
                day,
                previous.4,
                hour
            )
        };
        "TelemetryProcessor" "NNNNNRR"
            (
                s: (u32, u32, u32, u32, u32, f64, f64),
                a: u32, b: u32, c: u32, d: u32, e: u32, t: f64, v: f64
            ) = (0, 0, 0, 0, 0, 0.0, 0.0) => {
            (a, b, c, d, e, t.max(s.5), v.max(s.6))
        };
        "finance.OHLCAggregator" "RRRRRR"
            (s: (f64, (f64, f64)), open: f64, high: f64, from: f64, to: f64, price: f64, at: f64)
            = (0.0, (0.0, 0.0)) => {
            if from < at && to < at { (price, (open, high)) } else { s }
        };
        "sales.UDAF" "R" (s: f64, x: f64) = 0.0 => { if x > 2.0 { s + x } else { s } };
        "sales.UDAF2" "RB" (s: f64, x: f64, place: i32) = 0.0 => {
            let western = !(place < 10) && !(place > 19);
            if (western && x > 3.0) || (!western && x > 1.0) { s + x } else { s }
        };
    }
}
