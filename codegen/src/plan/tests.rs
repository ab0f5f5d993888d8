use super::*;

/// A sum of `i32`.
fn sum() -> Reasons {
    Reasons {
        reads: vec![4],
        writes: vec![4],
        moved: (1, 2),
        state_bytes: 4,
        fold_latency: 1,
        replay_latency: 1,
        longest_path: 1,
        fold_work: 1,
        replay_work: 1,
        combine_work: 1,
        carried: (1, 1),
        filters: false,
        restarts: false,
        most_factors: None,
        is_segmented: false,
        lanes: None,
        l1_bytes: 48 << 10,
        l2_bytes: 2 << 20,
        chosen: true,
    }
}

/// y = a·y + b over columns of `f32`.
fn affine() -> Reasons {
    Reasons {
        reads: vec![4, 4],
        moved: (2, 3),
        state_bytes: 8,
        fold_latency: 8,
        replay_latency: 8,
        fold_work: 3,
        replay_work: 2,
        combine_work: 3,
        carried: (2, 1),
        most_factors: Some(126),
        ..sum()
    }
}

fn chosen(reasons: &Reasons) -> Plan {
    schedule(reasons.clone(), Association::Any, &PlanOptions::default())
}

#[test]
fn operators_with_a_long_latency_get_more_ways() {
    assert_eq!(chosen(&sum()).interleave, 1);
    assert_eq!(chosen(&Reasons { fold_latency: 4, ..sum() }).interleave, 4);
    assert_eq!(chosen(&affine()).interleave, 8);
}

#[test]
fn states_that_fill_the_registers_get_fewer_ways() {
    assert_eq!(chosen(&Reasons { carried: (4, 2), ..affine() }).interleave, 4);
    assert_eq!(chosen(&Reasons { carried: (9, 3), ..affine() }).interleave, 1);
    assert_eq!(chosen(&Reasons { carried: (32, 32), ..affine() }).interleave, 1);
}

#[test]
fn operators_that_keep_a_core_busy_get_fewer_ways() {
    assert!(chosen(&Reasons { fold_work: 12, ..affine() }).interleave < chosen(&affine()).interleave);
}

#[test]
fn strips_and_tiles_fit_the_caches_that_they_are_made_for() {
    for size in [1, 2, 4, 8, 12, 16] {
        let reasons = Reasons { reads: vec![size], writes: vec![size], ..sum() };
        let plan = chosen(&reasons);
        let (strip, tile) = (plan.interleave * plan.block * 2 * size, plan.tile() * 2 * size);
        assert!(strip <= reasons.l1_bytes / 2 && strip > reasons.l1_bytes / 4, "{size}: {strip} bytes");
        let cycles = |strips: usize| strips * plan.interleave * plan.block * plan.one_pass() / 100;
        let is_full = tile > reasons.l2_bytes / 16 || cycles(plan.strips + 1) > TILE_CYCLES;
        assert!(tile <= reasons.l2_bytes / 8 && is_full, "{size}: {tile} bytes");
        assert!(cycles(plan.strips) <= TILE_CYCLES, "{size}: {} cycles", cycles(plan.strips));
    }
}

#[test]
fn slow_elements_make_tiles_of_fewer() {
    let (sum, slow) = (chosen(&sum()), chosen(&Reasons { fold_work: 60, replay_work: 60, ..sum() }));
    assert!(slow.one_pass() > 4 * sum.one_pass() && slow.tile() < sum.tile() / 4, "{} {}", slow.tile(), sum.tile());
}

#[test]
fn tiles_restart_where_one_pass_is_as_good_as_any() {
    let segmented = Reasons { restarts: true, ..sum() };
    assert!(chosen(&segmented).restarts && format!("{:#}", chosen(&segmented)).contains("restarts:"));
    assert!(!chosen(&sum()).restarts && !format!("{:#}", chosen(&sum())).contains("restarts:"));
    assert!(!schedule(segmented, Association::Fixed, &PlanOptions::default()).restarts);
    assert!(!chosen(&Reasons { restarts: true, ..affine() }).restarts);
}

#[test]
fn products_stay_above_the_denormal_numbers() {
    let plan = chosen(&affine());
    assert!(0.5f32.powi(plan.block as i32).is_normal() && plan.block > 64);
    assert!(chosen(&Reasons { most_factors: None, ..affine() }).block > plan.block);
}

#[test]
fn no_two_blocks_of_a_tile_start_at_the_same_place_of_a_page() {
    let sizes = [1, 2, 3, 4, 5, 8, 12, 16, 24, 32, 64, 128, 256, 512];
    for (read, write) in sizes.into_iter().flat_map(|read| sizes.map(|write| (read, write))) {
        for interleave in [1, 2, 4, 8] {
            let reasons = Reasons { reads: vec![read], writes: vec![write], ..sum() };
            let block = reasons.block(interleave, Vector::NONE);
            for (size, distance) in [read, write].into_iter().flat_map(|size| (1..interleave).map(move |d| (size, d))) {
                assert_ne!(block * size * distance % 4096, 0, "{interleave} × {block} records of {size} bytes");
            }
        }
    }
}

#[test]
fn blocks_of_scalars_are_whole_cache_lines() {
    for size in [1, 2, 4, 8, 16] {
        let reasons = Reasons { reads: vec![size], writes: vec![size], ..sum() };
        assert_eq!(reasons.block(8, Vector::NONE) * size % 128, 64, "records of {size} bytes");
    }
}

#[test]
fn tiles_start_where_they_pay() {
    // One chain in a tile does the work twice and gains nothing, until there is work for two threads.
    let sum = chosen(&sum());
    assert!(sum.least_threads == 2 && sum.direct >= sum.tile(), "{}", sum.direct);
    assert!((WAKING_CYCLES / 2..=WAKING_CYCLES).contains(&sum.direct), "{}", sum.direct);
    let affine = chosen(&affine());
    assert!(affine.least_threads == 1 && (100..4096).contains(&affine.direct), "{}", affine.direct);
}

/// As for a hidden Markov model: a reduction multiplies matrices, the replay a vector by one.
fn matrices() -> Reasons {
    Reasons { fold_latency: 220, replay_latency: 220, fold_work: 3600, replay_work: 900, carried: (16, 4), ..sum() }
}

#[test]
fn two_passes_are_taken_where_threads_make_up_for_their_work() {
    let plan = chosen(&matrices());
    assert!(plan.is_sequential(5) && !plan.is_sequential(6), "{}", plan.least_threads);
    assert!(format!("{plan:#}").contains("two passes would cost 5.0× the work"), "{plan}");
    assert!(!chosen(&affine()).is_sequential(0) && chosen(&sum()).is_sequential(1) && !chosen(&sum()).is_sequential(2));
}

/// The association is that of one sequential pass or that of blocks, whatever the threads.
#[test]
fn rounded_results_are_scanned_in_one_pass_where_one_thread_would_lose_by_two() {
    let plan = schedule(matrices(), Association::Fixed, &PlanOptions::default());
    assert!((0..100).all(|threads| plan.is_sequential(threads)));
    let asked = PlanOptions { block: Some(64), ..PlanOptions::default() };
    assert!(!schedule(matrices(), Association::Fixed, &asked).is_sequential(1));
}

#[test]
fn products_of_rounded_factors_stay_normal() {
    let text = include_str!("../../../ir/tests/files/facts/affine.scan");
    let program = monoscan_ir::verify(monoscan_ir::text::parse(text).unwrap()).unwrap();
    let program = monoscan_ir::transform::lower(&program, Default::default());
    let target = CpuTarget { l1_bytes: 32 << 10, l2_bytes: 1 << 20 };
    let plan = plan(&program, &target, &PlanOptions::default());
    let shortest = plan.reasons.most_factors.unwrap();
    assert!(0.5f32.powi(shortest as i32).is_normal() && !0.5f32.powi(shortest as i32 + 1).is_normal());
    assert_eq!(plan.association, Association::Fixed);
}

#[test]
fn requests_are_kept_within_what_kernels_support() {
    let options = PlanOptions {
        interleave: Some(7),
        block: Some(0),
        strips: Some(0),
        direct: Some(3),
        vector: None,
        streaming: None,
        native: None,
    };
    let plan = schedule(sum(), Association::Fixed, &options);
    assert_eq!((plan.interleave, plan.block, plan.direct, plan.tile()), (4, 1, 3, 4));
    assert!(format!("{plan:#}").contains("plan: overridden in part by request"));
    let none = schedule(sum(), Association::Fixed, &PlanOptions { interleave: Some(0), ..options });
    assert_eq!(none.interleave, 1);
}

#[test]
fn every_number_of_columns_and_size_of_record_has_a_plan() {
    for columns in [vec![], vec![4096; 64], vec![1; 64], vec![0]] {
        let reasons = Reasons { reads: columns.clone(), writes: columns, l1_bytes: 64, l2_bytes: 2048, ..affine() };
        let plan = chosen(&reasons);
        assert!(plan.block >= 1 && plan.tile() == plan.interleave * plan.block * plan.strips);
    }
}

#[test]
fn cache_lines_that_take_long_to_fill_are_streamed_by_many_threads_alone() {
    let in_vectors = |scan| {
        let cost = Cost { records: 8, reduce: 10, scan, is_alone: false, keeps_states: false };
        Reasons { lanes: Some(cost), replay_latency: 4, ..sum() }
    };
    // Sums of `i32`, 12 cycles a line, and segments of them.
    let (sums, segments) = (chosen(&in_vectors(18)), chosen(&in_vectors(40)));
    assert_eq!((sums.streaming, sums.streaming_threads), (STREAMING_BYTES / 4, 2));
    assert_eq!((segments.streaming, segments.streaming_threads), (STREAMING_BYTES / 4, MANY_THREADS));
    let asked = PlanOptions { streaming: Some(0), ..PlanOptions::default() };
    assert_eq!(schedule(in_vectors(40), Association::Any, &asked).streaming_threads, 1);
    assert!(
        format!("{segments:#}").contains("stores: past the caches on 8 threads and more, from 8388608 elements on")
    );
}

#[test]
fn the_explanation_names_what_it_was_made_from() {
    let text = format!("{:#}", chosen(&affine()));
    let parts = [
        "interleave: 8",
        "8 cycles",
        "direct: up to",
        "passes: two, on one thread too, or one with the same results where timed calls are faster; expected",
        "× the loop on 2 threads",
    ];
    for part in parts.into_iter().chain(["work: 3 + 2", "depth:", "bytes: 8 read and 4 written"]) {
        assert!(text.contains(part), "no {part:?} in:\n{text}");
    }
}

#[test]
fn the_first_lines_say_what_runs_how_fast_and_what_bounds_it() {
    let text = chosen(&affine()).to_string();
    let lines: Vec<&str> = text.lines().map(|line| line.split(':').next().unwrap()).collect();
    assert_eq!(lines, ["runs", "expected", "memory", "results"], "{text}");
    for part in ["in tiles of", "× the plain loop on 2 threads, bound by", "8 bytes read and 4 written", "exact"] {
        assert!(text.contains(part), "no {part:?} in:\n{text}");
    }
}

#[test]
fn flagged_segments_of_rounded_operators_are_scanned_in_order_as_far_as_flags_are_learned() {
    let cost = Cost { records: 16, reduce: 20, scan: 30, is_alone: false, keeps_states: false };
    let line = Reasons { lanes: Some(cost), fold_latency: 4, replay_latency: 4, ..sum() };
    let segmented = Reasons { is_segmented: true, ..line.clone() };
    let plan = |reasons: &Reasons, association| schedule(reasons.clone(), association, &PlanOptions::default());
    assert!(plan(&line, Association::Fixed).vector.scan_one);
    let in_order = plan(&segmented, Association::Fixed);
    assert!(!in_order.vector.scan_one && in_order.direct >= MOST_LEARNED, "{in_order:?}");
    // In any order functions of Rust may take them too.
    assert!(plan(&segmented, Association::Any).vector.scan_one);
    let asked = PlanOptions { vector: Some(true), ..PlanOptions::default() };
    assert!(schedule(segmented, Association::Fixed, &asked).vector.scan_one);
}
