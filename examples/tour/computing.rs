//! Long integers, prefix networks, polynomials and recurrences.

use std::cmp::Ordering;
use std::convert::Infallible;

use monoscan::algo::numbers::{self, Network, NetworkKind};

use super::loops::{by_digits, by_rows, of_order_two};
use crate::common::Failure;
use crate::{LOOP, SCAN, Table, drawn};

pub(crate) fn computing(table: &Table) -> Result<(), Failure> {
    let digits = |seed| drawn(table.records, seed, |bits| if bits % 2 == 0 { u64::MAX } else { bits });
    let (a, b) = (digits(20), digits(21));
    table.line(("numbers::add", SCAN), || numbers::add(&a, &b), ("a loop", || by_digits(&a, &b, u64::carrying_add)))?;
    table.line(
        ("numbers::subtract", SCAN),
        || numbers::subtract(&a, &b),
        ("a loop", || by_digits(&a, &b, u64::borrowing_sub)),
    )?;
    // They differ in the lowest digit alone.
    let mut less = a.clone();
    less[0] = less[0].wrapping_sub(1);
    table.line(
        ("numbers::compare", LOOP),
        || Ok::<_, Infallible>(numbers::compare(&a, &less)),
        ("a loop", || {
            for place in (0..a.len()).rev() {
                if a[place] != less[place] {
                    return a[place].cmp(&less[place]);
                }
            }
            Ordering::Equal
        }),
    )?;
    let rows = |digits: &[u64]| digits.iter().map(|&digit| [digit, u64::MAX, digit, 1]).collect::<Vec<[u64; 4]>>();
    let (rows_a, rows_b) = (rows(&a), rows(&b));
    table.line(
        ("numbers::add_rows", LOOP),
        || numbers::add_rows(&rows_a, &rows_b),
        ("a loop", || by_rows(&rows_a, &rows_b, u64::carrying_add)),
    )?;
    table.line(
        ("numbers::subtract_rows", LOOP),
        || numbers::subtract_rows(&rows_a, &rows_b),
        ("a loop", || by_rows(&rows_a, &rows_b, u64::borrowing_sub)),
    )?;
    table.line(
        ("numbers::compare_rows", LOOP),
        || numbers::compare_rows(&rows_a, &rows_b),
        ("a loop", || rows_a.iter().zip(&rows_b).map(|(a, b)| a.iter().rev().cmp(b.iter().rev())).collect()),
    )?;
    networks(table, (&a, &b), &|| by_digits(&a, &b, u64::carrying_add))?;

    let horner = || a.iter().fold(0u64, |y, a| y.wrapping_mul(3).wrapping_add(*a));
    table.line(("numbers::horner", SCAN), || numbers::horner(&a, 3), ("a loop", horner))?;
    let x: Vec<u32> = drawn(table.records, 22, |bits| bits as u32);
    let recurrence = numbers::Modular::<2, 998_244_353>::new([1, 1])?;
    table.line(
        ("numbers::Modular::run order 2", ["12 n", "1", "1"]),
        || recurrence.run(&x),
        ("a loop", || of_order_two(&x, 998_244_353)),
    )?;
    let modulus = (1 << 61) - 1;
    table.line(
        ("numbers::recur_modulo order 2", ["4 n", "0", "2"]),
        || numbers::recur_modulo(&[1, 1], modulus, &a),
        ("a loop", || {
            let (mut y, mut before) = (0, 0);
            let step = |&x: &u64| {
                (y, before) = (((u128::from(x) + u128::from(y) + u128::from(before)) % u128::from(modulus)) as u64, y);
                y
            };
            a.iter().map(step).collect()
        }),
    )
}

/// Additions by circuits of 16 lanes of each kind, whose gates are run one after the other; differences, the order, and sums of 16
/// values at a time, by one.
fn networks(table: &Table, (a, b): (&[u64], &[u64]), add: &dyn Fn() -> (Vec<u64>, bool)) -> Result<(), Failure> {
    use NetworkKind::{BrentKung, HanCarlson, KoggeStone, LadnerFischer, Sklansky};
    const LANES: usize = 16;
    let cost = |network: &Network| [network.size(), network.depth()].map(|of_lanes| format!("{of_lanes} n/{LANES}"));
    for kind in [KoggeStone, Sklansky, BrentKung, HanCarlson, LadnerFischer(1)] {
        let network = Network::new(kind, LANES);
        let [work, depth] = cost(&network);
        let name = format!("numbers::add_by {kind}, fan-out {}", network.fan_out());
        table.line((&name, [&work, &depth, "1"]), || numbers::add_by(&network, a, b), ("a loop", add))?;
    }
    let network = Network::new(BrentKung, LANES);
    let [work, depth] = cost(&network);
    let cost = [&work[..], &depth, "1"];
    table.line(
        ("numbers::subtract_by", cost),
        || numbers::subtract_by(&network, a, b),
        ("the scan", || numbers::subtract(a, b).unwrap_or_default()),
    )?;
    table.line(
        ("numbers::compare_by", cost),
        || numbers::compare_by(&network, a, b),
        ("a loop", || a.iter().rev().cmp(b.iter().rev())),
    )?;
    let of_lanes = |prefixes: &dyn Fn(&mut [u64])| {
        let mut lanes = a.to_vec();
        lanes.chunks_exact_mut(LANES).for_each(prefixes);
        lanes
    };
    table.line(
        ("numbers::Network::apply", cost),
        || {
            let mut lanes = a.to_vec();
            let mut all = lanes.chunks_exact_mut(LANES);
            all.try_for_each(|lanes| network.apply(lanes, |a, b| a.wrapping_add(*b)))?;
            Ok::<_, Failure>(lanes)
        },
        ("a loop", || {
            of_lanes(&|lanes| (1..LANES).for_each(|lane| lanes[lane] = lanes[lane].wrapping_add(lanes[lane - 1])))
        }),
    )
}
