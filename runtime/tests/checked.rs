//! Checked scans of the CPU engine against the sequential loop: the same first overflow, or the
//! same results.

use monoscan_runtime::{DynScan, PlanOptions};
use scan_kit::Random;
use scan_kit::checked_loops::{SeenOfLoops, compare_loop, is_exact};
use scan_kit::loops::{Seen, any_operator, compare_any, program};
use scan_kit::random::random_loop;

fn rounds() -> u64 {
    let rounds = std::env::var("MONOSCAN_ROUNDS").ok().and_then(|rounds| rounds.parse().ok());
    rounds.unwrap_or(1)
}

#[test]
fn a_checked_scan_gives_what_the_loop_gives_or_its_first_overflow() {
    let mut seen = Seen::default();
    for seed in 0..39 * rounds() {
        let mut random = Random(seed);
        let operator = any_operator(seed, &mut random);
        let plan = PlanOptions {
            interleave: Some(1 << random.below(3)),
            block: Some(1 + random.below(9)),
            strips: Some(1 + random.below(2)),
            direct: Some(random.below(2) * 8),
            ..PlanOptions::default()
        };
        let threads = 1 + 2 * random.below(2);
        let scan = DynScan::builder(program(&operator)).plan(plan).threads(threads).assume_associative().build();
        let scan = scan.unwrap().checked();
        for _ in 0..24 {
            let len = [1, 2, 7, 40, 150][random.below(5)];
            compare_any(
                &operator,
                &|call, inputs, outputs| scan.run(call, inputs, outputs),
                len,
                true,
                &mut random,
                &mut seen,
            );
        }
    }
    println!("{seen:?}");
    assert!(seen.equal > 300 && seen.overflowed > 60 && seen.out_of_order > 10, "{seen:?}");
}

#[test]
fn a_checked_scan_of_a_loop_gives_what_the_loop_gives_or_its_first_overflow() {
    let mut seen = SeenOfLoops::default();
    for seed in 0..1200 * rounds() {
        let of = random_loop(seed);
        let Some(builder) = is_exact(&of).then(|| DynScan::loop_builder(&of).ok()).flatten() else { continue };
        let mut random = Random(seed);
        let plan = PlanOptions {
            interleave: Some(1 << random.below(3)),
            block: Some(1 + random.below(9)),
            direct: Some(random.below(2) * 8),
            ..PlanOptions::default()
        };
        let scan = builder.plan(plan).threads(1 + 2 * random.below(2)).assume_associative().build().unwrap().checked();
        for round in 0..12 {
            let len = [1, 2, 7, 40, 150][random.below(5)];
            compare_loop(&of, &scan, len, round % 3 == 0, &mut random, &mut seen);
        }
    }
    println!("{seen:?}");
    let SeenOfLoops { equal, overflowed, regrouped, refused } = seen;
    assert!(equal > 3000 && overflowed > 200 && regrouped * 10 < equal && refused * 10 < equal, "{seen:?}");
}
