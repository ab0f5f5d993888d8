//! Calls that are given up: nothing hangs, a carry is as it was, and a flag that is never set
//! changes nothing. The tests in `engine/interrupt.rs` set the flag at each look at it in turn.

use std::sync::atomic::{AtomicBool, Ordering};

use monoscan_ir::Constant;
use monoscan_runtime::{Call, Column, ColumnMut, DynScan, Error, PlanOptions};

use scan_kit::Random;
use scan_kit::calls::{Asked, Over, Reference};
use scan_kit::programs::{DIGITS, parse};

/// Small tiles and what the planner chooses, on one thread and on three.
fn scans() -> Vec<DynScan> {
    let small =
        PlanOptions { interleave: Some(4), block: Some(8), strips: Some(2), direct: Some(0), ..PlanOptions::default() };
    let plans = [small, PlanOptions::default()].into_iter().flat_map(|plan| [(plan.clone(), 1), (plan, 3)]);
    let build = |(plan, threads)| DynScan::builder(parse(DIGITS)).plan(plan).threads(threads).build().unwrap();
    plans.map(build).collect()
}

/// Inclusive calls of every shape over so many records, forwards and from the end.
fn calls(len: usize) -> Vec<Asked> {
    let side = len.isqrt();
    let rows = |planes, len, step| Over::Rows { planes, pitch: len * step, len, step };
    let mut all = Vec::new();
    for over in [
        Over::Line,
        Over::Heads((0..len).map(|i| i % 100 == 7).collect()),
        Over::Offsets(vec![0, len / 3, len]),
        rows(side, side, 1),
        rows(2, len / 2, 1),
        rows(1, side, side),
    ] {
        all.extend([false, true].map(|reversed| Asked { over: over.clone(), reversed, ..Asked::line(len) }));
    }
    all
}

/// The results of a call: outputs, and the totals of its sequences.
fn expected(asked: &Asked, x: &[u64], before: u64) -> (Vec<u64>, Vec<Constant>) {
    let mut outputs = [vec![before; x.len()].iter().flat_map(|y| y.to_ne_bytes()).collect()];
    let inputs = [x.iter().flat_map(|x| x.to_ne_bytes()).collect()];
    let given = Reference::new(&parse(DIGITS)).run(asked, &inputs, &mut outputs);
    (outputs[0].chunks(8).map(|y| u64::from_ne_bytes(y.try_into().unwrap())).collect(), given.totals)
}

#[test]
fn a_flag_that_is_set_gives_up_a_call_before_it_begins_or_while_it_runs() {
    let (x, scans) = (vec![3u64; 1 << 14], scans());
    for asked in calls(x.len()) {
        let (expected, _) = expected(&asked, &x, 7);
        for scan in &scans {
            let flag = AtomicBool::new(true);
            let call = Call { interrupt: Some(&flag), ..asked.call() };
            let mut y = vec![7u64; x.len()];
            let error = scan.run(&call, &[Column::new(&x)], &mut [ColumnMut::new(&mut y)]).unwrap_err();
            assert!(matches!(error, Error::Interrupted), "{error}");
            assert!(y.iter().all(|&y| y == 7), "written before it began");
            assert!(matches!(scan.reduce(&call, &[Column::new(&x)]), Err(Error::Interrupted)));

            // Set while the call runs: it is given up, or gives all.
            flag.store(false, Ordering::Relaxed);
            let result = std::thread::scope(|threads| {
                threads.spawn(|| flag.store(true, Ordering::Relaxed));
                scan.run(&call, &[Column::new(&x)], &mut [ColumnMut::new(&mut y)])
            });
            match result {
                Ok(_) => assert_eq!(y, expected, "{asked:?}"),
                Err(error) => assert!(matches!(error, Error::Interrupted), "{error}"),
            }
        }
    }
}

#[test]
fn a_flag_that_is_not_set_changes_nothing() {
    let mut random = Random(11);
    let flag = AtomicBool::new(false);
    let scans = scans();
    for len in [0, 1, 63, 64, 65, 4096, 30_000] {
        let x: Vec<u64> = (0..len).map(|_| random.below(9) as u64).collect();
        for asked in calls(len) {
            let (expected, totals) = expected(&asked, &x, 7);
            for scan in &scans {
                let mut y = vec![7u64; len];
                let call = Call { interrupt: Some(&flag), ..asked.call() };
                scan.run(&call, &[Column::new(&x)], &mut [ColumnMut::new(&mut y)]).unwrap();
                assert_eq!(y, expected, "{asked:?}");
                assert_eq!(scan.reduce(&call, &[Column::new(&x)]).unwrap(), totals, "{asked:?}");
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
