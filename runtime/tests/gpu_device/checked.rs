//! Checked scans on a GPU: the loop's first overflow, or its results.

use monoscan_runtime::{Column, DynScan, Error};

use crate::subject::{device, tiny_plan};
use monoscan_ir::Type;
use scan_kit::Random;
use scan_kit::checked_loops::{SeenOfLoops, compare_loop, is_exact};
use scan_kit::families::family;
use scan_kit::loops::{Seen, any_operator, compare_any, program};
use scan_kit::random::random_loop;

#[test]
#[ignore = "needs a CUDA device"]
fn a_checked_scan_gives_what_the_loop_gives_or_its_first_overflow() {
    let mut seen = Seen::default();
    for seed in 0..24 {
        let mut random = Random(seed);
        let operator = any_operator(seed, &mut random);
        let program = program(&operator);
        let plain = DynScan::builder(program.clone()).device(device()).assume_associative();
        let scan = if seed % 2 == 0 { plain } else { plain.gpu_plan(tiny_plan(&program)) }.build().unwrap().checked();
        for round in 0..12 {
            let len = [1, 33, 700, 4_000, 30_000][(round + seed as usize) % 5];
            compare_any(
                &operator,
                &|call, inputs, outputs| scan.run(call, inputs, outputs),
                len,
                false,
                &mut random,
                &mut seen,
            );
        }
    }
    println!("{seen:?}");
    assert!(seen.equal > 20 && seen.overflowed > 20, "{seen:?}");
}

#[test]
#[ignore = "needs a CUDA device"]
fn a_checked_scan_of_a_loop_gives_what_the_loop_gives_or_its_first_overflow() {
    let mut seen = SeenOfLoops::default();
    for seed in 0..200 {
        let of = random_loop(seed);
        let Some(builder) = is_exact(&of).then(|| DynScan::loop_builder(&of).ok()).flatten() else { continue };
        let scan = builder.device(device()).assume_associative().build().unwrap().checked();
        let mut random = Random(seed);
        for round in 0..6 {
            let len = [1, 33, 700, 4_000][random.below(4)];
            compare_loop(&of, &scan, len, round % 3 == 0, &mut random, &mut seen);
        }
    }
    println!("{seen:?}");
    assert!(seen.equal > 100 && seen.overflowed > 20 && seen.regrouped * 10 < seen.equal, "{seen:?}");
}

/// Columns of the host go in pieces; records are numbered through all of them.
#[test]
#[ignore = "needs a CUDA device"]
fn an_overflow_in_a_later_piece_has_its_place_among_all_records() {
    let scan = DynScan::builder(program(&family(0, Type::I32))).device(device()).build().unwrap().checked();
    let mut records = vec![0i32; 9_000_000];
    assert_eq!(scan.inclusive::<i32>(&[Column::new(&records)]).unwrap(), records);
    let place = 7_654_321;
    records[12] = i32::MAX;
    records[place] = 1;
    let result = scan.inclusive::<i32>(&[Column::new(&records)]);
    assert!(matches!(result, Err(Error::Overflowed { index, .. }) if index == place), "{result:?}");
    let result = scan.reduce(&Default::default(), &[Column::new(&records)]);
    assert!(matches!(result, Err(Error::Overflowed { index, .. }) if index == place), "{result:?}");
}
