//! Calls that are given up: nothing hangs, a carry is as it was, and a flag that is never set
//! changes no bit.

use std::sync::atomic::{AtomicBool, Ordering};

use monoscan_ir::Constant;
use monoscan_runtime::{Call, Column, ColumnMut, DynScan, Error, PlanOptions, Rows, Shape};

use scan_kit::Random;
use scan_kit::programs::{DIGITS, parse};

fn plans() -> [PlanOptions; 2] {
    let small =
        PlanOptions { interleave: Some(4), block: Some(8), strips: Some(2), direct: Some(0), ..PlanOptions::default() };
    [small, PlanOptions::default()]
}

/// Calls of every shape over so many records.
fn shapes<'a>(len: usize, heads: &'a [bool], offsets: &'a [usize]) -> [Shape<'a>; 6] {
    let side = len.isqrt();
    let rows = |rows, len| Shape::Rows(Rows::new(rows, len, len).unwrap());
    let columns = Shape::Rows(Rows::axis(&[side, side], 0).unwrap());
    [Shape::Line, Shape::Heads(heads), Shape::Offsets(offsets), rows(side, side), rows(2, len / 2), columns]
}

#[test]
fn a_flag_that_is_set_gives_up_a_call_before_it_begins_or_while_it_runs() {
    let len = 1 << 18;
    let x = vec![3u64; len];
    let heads: Vec<bool> = (0..len).map(|i| i % 1000 == 0).collect();
    let offsets: Vec<usize> = (0..=len / 64).map(|i| i * 64).collect();
    for plan in plans() {
        for threads in [1, 3] {
            let scan = DynScan::builder(parse(DIGITS)).plan(plan.clone()).threads(threads).build().unwrap();
            for shape in shapes(len, &heads, &offsets) {
                for reversed in [false, true] {
                    let flag = AtomicBool::new(true);
                    let call = Call { shape, reversed, interrupt: Some(&flag), ..Call::default() };
                    let mut y = vec![7u64; len];
                    let error = scan.run(&call, &[Column::new(&x)], &mut [ColumnMut::new(&mut y)]).unwrap_err();
                    assert!(matches!(error, Error::Interrupted), "{error}");
                    assert!(y.iter().all(|&y| y == 7), "written before it began");
                    assert!(matches!(scan.reduce(&call, &[Column::new(&x)]), Err(Error::Interrupted)));

                    // Set while the call runs: it ends, either way.
                    flag.store(false, Ordering::Relaxed);
                    let result = std::thread::scope(|threads| {
                        threads.spawn(|| flag.store(true, Ordering::Relaxed));
                        scan.run(&call, &[Column::new(&x)], &mut [ColumnMut::new(&mut y)])
                    });
                    assert!(matches!(result, Ok(_) | Err(Error::Interrupted)), "{result:?}");
                }
            }
        }
    }
}

#[test]
fn a_flag_that_is_not_set_changes_no_bit() {
    let mut random = Random(11);
    let flag = AtomicBool::new(false);
    for plan in plans() {
        for threads in [1, 3] {
            let scan = DynScan::builder(parse(DIGITS)).plan(plan.clone()).threads(threads).build().unwrap();
            for len in [0, 1, 63, 64, 65, 4096, 30_000] {
                let x: Vec<u64> = (0..len).map(|_| random.below(9) as u64).collect();
                let heads: Vec<bool> = (0..len).map(|i| i % 100 == 7).collect();
                for shape in shapes(len, &heads, &[0, len / 3, len]) {
                    let run = |interrupt| {
                        let mut y = vec![7u64; len];
                        let call = Call { shape, interrupt, ..Call::default() };
                        scan.run(&call, &[Column::new(&x)], &mut [ColumnMut::new(&mut y)]).unwrap();
                        (y, scan.reduce(&call, &[Column::new(&x)]).unwrap())
                    };
                    assert_eq!(run(Some(&flag)), run(None));
                }
            }
        }
    }
}

#[test]
fn a_stream_is_as_it_was() {
    let scan = DynScan::new(parse(DIGITS)).unwrap();
    let flag = AtomicBool::new(true);
    let start = [Constant::from(4u64), Constant::from(10u64)];
    let (mut carry, x) = (start, vec![1u64; 100_000]);
    let call = Call { interrupt: Some(&flag), ..Call::default() };
    let mut y = vec![0u64; x.len()];
    let result = scan.resume(&call, &mut carry, &[Column::new(&x)], &mut [ColumnMut::new(&mut y)]);
    assert!(matches!(result, Err(Error::Interrupted)));
    assert_eq!(carry, start);
}
