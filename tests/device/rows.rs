//! On a device: rows along each axis of arrays, few and many, short and long, beside each other and
//! behind each other, by lines of wider records, chunks and segments. Each beside the same call on
//! the CPU.

use std::fmt::Debug;

use monoscan::{Rows, State};

use super::on_gpu::gpu;
use super::*;

/// Records whose order matters.
fn records(len: usize) -> Vec<u32> {
    (0..len as u32).map(|i| i.wrapping_mul(2_654_435_761) >> 7).collect()
}

/// Compares each kind of call for these rows, which start from states of these numbers; in place too, if that can be.
fn compare<S>(cpu: &Scan<State<S>, (u32,), u32>, rows: Rows, in_place: bool, state: impl Fn(u32) -> S)
where
    S: ScanType + PartialEq + Debug,
{
    let scan = cpu.on(gpu()).unwrap();
    let x = records(rows.records());
    let dx = scan.upload(&x).unwrap();
    let starts: Vec<State<S>> = (0..rows.count() as u32).map(|i| State(state(i * 77 + 1))).collect();
    for kind in (0..6).filter(|&kind| kind != 4 || in_place) {
        let (mut y, mut dy) = (x.clone(), scan.upload(&x).unwrap());
        let (mut carry, mut there) = (starts.clone(), starts.clone());
        match kind {
            0 => {
                cpu.rows(rows).inclusive_into(&x, &mut y[..]).unwrap();
                scan.rows(rows).inclusive_into(&dx, &mut dy).unwrap().wait().unwrap();
            }
            1 => {
                cpu.rows(rows).reversed().exclusive_into(&x, &mut y[..]).unwrap();
                scan.rows(rows).reversed().exclusive_into(&dx, &mut dy).unwrap().wait().unwrap();
            }
            2 => {
                cpu.rows(rows).init_each(&starts).inclusive_into(&x, &mut y[..]).unwrap();
                scan.rows(rows).init_each(&starts).inclusive_into(&dx, &mut dy).unwrap().wait().unwrap();
            }
            3 => {
                cpu.rows(rows).resuming_each(&mut carry).exclusive_into(&x, &mut y[..]).unwrap();
                scan.rows(rows).resuming_each(&mut there).exclusive_into(&dx, &mut dy).unwrap().wait().unwrap();
            }
            4 => {
                cpu.rows(rows).init(State(state(5))).inclusive_in_place(&mut y[..]).unwrap();
                scan.rows(rows).init(State(state(5))).inclusive_in_place(&mut dy).unwrap().wait().unwrap();
            }
            _ => {
                let totals = cpu.rows(rows).init_each(&starts).totals(&x).unwrap();
                assert_eq!(scan.rows(rows).init_each(&starts).totals(&dx).unwrap(), totals, "{rows:?}");
                let totals = cpu.rows(rows).reversed().totals(&x).unwrap();
                assert_eq!(scan.rows(rows).reversed().totals(&x).unwrap(), totals, "{rows:?}");
            }
        }
        assert_eq!((dy.to_vec().unwrap(), there), (y, carry), "{rows:?}, {kind}");
    }
}

fn step() -> Scan<State<u32>, (u32,), u32> {
    Scan::from_loop(scan!(|y: u32, x: u32| -> u32 { y.wrapping_mul(3).wrapping_add(x) }), 7).unwrap()
}

#[test]
#[ignore = "needs a CUDA device"]
fn rows_side_by_side_are_those_of_the_cpu() {
    let cpu = step();
    for beside in [2, 3, 5, 8, 16, 17, 64, 300] {
        for len in [1, 37, 255, 256, 1000, 5003, 30_001] {
            for (planes, gap) in [(1, 0), (3, 0), (3, beside), (3, 1)] {
                let rows = Rows::planes(planes, beside * len + gap, len, beside).unwrap();
                if rows.records() <= 2_000_000 {
                    compare(&cpu, rows, true, |number| number);
                }
            }
        }
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn columns_of_cascades_are_those_of_the_cpu() {
    let highest = scan!(|s: (u32, u32), x: u32| -> (u32, u32) {
        let sum = s.0.wrapping_add(x);
        (sum, s.1.max(sum))
    });
    let highest = Scan::loop_builder(highest, (0, 0)).output(scan!(|s: (u32, u32)| -> u32 { s.1 })).build().unwrap();
    let all = scan!(|s: (u32, u32, u32), x: u32| -> (u32, u32, u32) {
        let sum = s.0.wrapping_add(x);
        let highest = s.1.max(sum);
        (sum, highest, s.2.wrapping_mul(3).wrapping_add(highest))
    });
    let all = Scan::loop_builder(all, (0, 0, 9)).output(scan!(|s: (u32, u32, u32)| -> u32 { s.2 })).build().unwrap();
    let changes = scan!(|s: (u32, u32), x: u32| -> (u32, u32) { (x, if x > s.0 { s.1 + 1 } else { s.1 }) });
    let changes = Scan::loop_builder(changes, (7, 1)).output(scan!(|s: (u32, u32)| -> u32 { s.1 })).build().unwrap();
    for beside in [3, 17, 40, 300] {
        for len in [100, 129, 5003, 30_001] {
            for (planes, gap) in [(1, 0), (3, 5)] {
                let rows = Rows::planes(planes, beside * len + gap, len, beside).unwrap();
                if rows.records() <= 2_000_000 {
                    compare(&highest, rows, true, |number| (number, 2 * number));
                    compare(&all, rows, true, |number| (number, 2 * number, 3 * number));
                    compare(&changes, rows, false, |number| (number, number));
                }
            }
        }
    }
    // Planes an odd number of records apart, whose aggregates lie an even one apart: they are lines.
    let rows = Rows::planes(2, 2 * 131_072 + 1, 131_072, 2).unwrap();
    compare(&highest, rows, true, |number| (number, 2 * number));
}

#[test]
#[ignore = "needs a CUDA device"]
fn rows_behind_each_other_are_those_of_the_cpu() {
    let cpu = step();
    for (rows, len) in
        [(1000, 3), (20, 1000), (40_000, 32), (33_000, 33), (11_000, 100), (1100, 1000), (530, 1999), (2_200_000, 4)]
    {
        compare(&cpu, Rows::new(rows, len, len).unwrap(), true, |number| number);
    }
}
