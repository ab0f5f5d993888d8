//! Checked scans of the CPU engine against the sequential loop: the same first overflow, or the same results.

mod loops;

use loops::families::Noise;
use loops::{Seen, any_operator, compare_any, program};
use monoscan_runtime::{DynScan, PlanOptions};

fn rounds() -> u64 {
    let rounds = std::env::var("MONOSCAN_ROUNDS").ok().and_then(|rounds| rounds.parse().ok());
    rounds.unwrap_or(1)
}

#[test]
fn a_checked_scan_gives_what_the_loop_gives_or_its_first_overflow() {
    let mut seen = Seen::default();
    for seed in 0..36 * rounds() {
        let mut noise = Noise(seed);
        let operator = any_operator(seed, &mut noise);
        let plan = PlanOptions {
            ways: Some(1 << noise.below(3)),
            block: Some(1 + noise.below(9)),
            strips: Some(1 + noise.below(2)),
            direct: Some(noise.below(2) * 8),
            vector: None,
        };
        let threads = 1 + 2 * noise.below(2);
        let scan = DynScan::builder(program(&operator)).plan(plan).threads(threads).assume_associative().build();
        let scan = scan.unwrap().checked();
        for _ in 0..24 {
            let len = [1, 2, 7, 40, 150][noise.below(5)];
            compare_any(
                &operator,
                &|call, inputs, outputs| scan.run(call, inputs, outputs),
                len,
                &mut noise,
                &mut seen,
            );
        }
    }
    println!("{seen:?}");
    assert!(seen.equal > 300 && seen.overflowed > 60, "{seen:?}");
}
