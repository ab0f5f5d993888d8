//! The workloads, in the order of the published table, and the speed that each should reach.

use super::algorithms::{self, computing, linked, segments, selecting, series, sorting, texts, trees};
use super::{Bar, Run, To, Workload, affine, biquad, everyday, kept, labels, rows, segmented, states, sums, tokens};

/// A bar at 2^`log2` elements.
const fn bar(log2: u32, one: f64, two: f64) -> Bar {
    Bar { elements: 1 << log2, ratios: [one, two], to: To::Baseline }
}

/// A bar at 2^20 and 2^24 elements, on two threads.
const fn on_two(ratio: f64, to: To) -> [Bar; 2] {
    [Bar { elements: 1 << 20, ratios: [0.0, ratio], to }, Bar { elements: 1 << 24, ratios: [0.0, ratio], to }]
}

/// A sort: of the best crate's speed.
const SORT: &[Bar] = &on_two(0.8, To::BestRival);

/// A short scan costs hardly more than the plain loop, on however many threads it might run.
const SHORT: Bar = bar(10, 1.0 / 1.05, 1.0 / 1.05);

/// An ordinary use costs hardly more than its loop at any size, on one thread and on two.
pub(super) const ANY_SIZE: &[Bar] =
    &[any_size(6), any_size(8), any_size(10), any_size(12), any_size(16), any_size(20), any_size(24), any_size(27)];

const fn any_size(log2: u32) -> Bar {
    bar(log2, 1.0 / 1.05, 1.0 / 1.05)
}

/// A workload with these bars; `moved` and `held` bytes an element.
const fn workload(
    bars: &'static [Bar],
    name: &'static str,
    title: &'static str,
    baseline: &'static str,
    (moved, held): (usize, usize),
    run: Run,
) -> Workload {
    Workload { name, title, baseline, moved, held, bars, run }
}

/// A loop over a copy of 8 bytes for each node, and over their parents.
const fn tree(name: &'static str, title: &'static str, run: Run) -> Workload {
    workload(&[], name, title, "plain loop", (20, 90), run)
}

/// One without a bar, beside what a user would write.
const fn plain(
    name: &'static str,
    title: &'static str,
    baseline: &'static str,
    bytes: (usize, usize),
    run: Run,
) -> Workload {
    workload(&[], name, title, baseline, bytes, run)
}

/// All workloads, in the order of the published table.
pub(crate) const ALL: [Workload; 82] = [
    Workload {
        name: "sum-i32",
        title: "sum i32",
        baseline: "plain loop",
        moved: 8,
        held: 48,
        bars: &[SHORT, bar(16, 1.5, 1.5), bar(27, 1.1, 1.6)],
        run: sums::sum_i32,
    },
    Workload {
        name: "sum-f32",
        title: "sum f32",
        baseline: "plain loop",
        moved: 8,
        held: 48,
        bars: &[SHORT, bar(27, 1.25, 1.9)],
        run: sums::sum_f32,
    },
    Workload {
        name: "affine-f32",
        title: "affine f32, time-varying",
        baseline: "plain loop",
        moved: 12,
        held: 64,
        bars: &[SHORT, bar(27, 2.2, 3.0)],
        run: affine::affine_f32,
    },
    workload(
        &[],
        "affine-f32-small",
        "affine f32, factors of −1 to 1",
        "plain loop",
        (12, 64),
        affine::small_factors_f32,
    ),
    Workload {
        name: "affine-f64",
        title: "affine f64, time-varying",
        baseline: "plain loop",
        moved: 24,
        held: 104,
        bars: &[SHORT, bar(27, 1.4, 2.0)],
        run: affine::affine_f64,
    },
    Workload {
        name: "biquad-f32",
        title: "biquad f32, constant",
        baseline: "plain loop",
        moved: 8,
        held: 40,
        bars: &[SHORT, bar(27, 3.5, 5.0)],
        run: biquad::biquad_f32,
    },
    Workload {
        name: "states-16",
        title: "16-state automaton, a state a byte",
        baseline: "plain loop",
        moved: 2,
        held: 8,
        bars: &[SHORT, bar(20, 4.0, 5.0)],
        run: states::states,
    },
    Workload {
        name: "labels-64",
        title: "JSON automaton, a label a byte",
        baseline: "plain loop",
        moved: 2,
        held: 8,
        bars: &[SHORT, bar(20, 2.0, 3.0)],
        run: labels::labels,
    },
    Workload {
        name: "segmented-i32",
        title: "segmented sum i32, u8 flags",
        baseline: "plain loop",
        moved: 9,
        held: 40,
        bars: &[SHORT, bar(27, 1.2, 2.0)],
        run: segmented::segmented_i32,
    },
    Workload {
        name: "moments",
        title: "variance of each sensor, f64",
        baseline: "plain loop",
        moved: 17,
        held: 41,
        bars: ANY_SIZE,
        run: everyday::moments,
    },
    Workload {
        name: "drawdown",
        title: "largest drawdown, f64",
        baseline: "plain loop",
        moved: 16,
        held: 40,
        bars: ANY_SIZE,
        run: everyday::drawdown,
    },
    Workload {
        name: "hmm",
        title: "hidden Markov model, 4 states",
        baseline: "plain loop",
        moved: 40,
        held: 72,
        bars: ANY_SIZE,
        run: everyday::hmm,
    },
    Workload {
        name: "depth",
        title: "depth of brackets",
        baseline: "plain loop",
        moved: 5,
        held: 17,
        bars: ANY_SIZE,
        run: everyday::depth,
    },
    Workload {
        name: "runs",
        title: "lengths of runs",
        baseline: "plain loop",
        moved: 8,
        held: 28,
        bars: ANY_SIZE,
        run: kept::runs,
    },
    Workload {
        name: "unique",
        title: "last of each run",
        baseline: "plain loop",
        moved: 8,
        held: 28,
        bars: ANY_SIZE,
        run: kept::unique,
    },
    Workload {
        name: "u256",
        title: "additions of 256 bits, rows of four words",
        baseline: "plain loop",
        moved: 24,
        held: 56,
        bars: ANY_SIZE,
        run: rows::u256,
    },
    Workload {
        name: "flagged",
        title: "flagged i32",
        baseline: "plain loop",
        moved: 9,
        held: 29,
        bars: ANY_SIZE,
        run: kept::flagged,
    },
    Workload {
        name: "flagged-sums",
        title: "sums of flagged i32",
        baseline: "plain loop",
        moved: 9,
        held: 29,
        bars: ANY_SIZE,
        run: kept::flagged_sums,
    },
    Workload {
        name: "json",
        title: "JSON text to (kind, start, end)",
        baseline: "logos",
        moved: 2,
        held: 44,
        bars: &[bar(26, 1.4, 2.1), bar(27, 1.4, 2.1)],
        run: tokens::json,
    },
    Workload {
        name: "json-minified",
        title: "JSON text without blanks to (kind, start, end)",
        baseline: "logos",
        moved: 2,
        held: 44,
        bars: &[bar(26, 1.8, 2.8)],
        run: tokens::minified,
    },
    Workload {
        name: "json-numbers",
        title: "JSON numbers to (kind, start, end)",
        baseline: "logos",
        moved: 2,
        held: 44,
        bars: &[bar(26, 1.8, 2.8)],
        run: tokens::numbers,
    },
    Workload {
        name: "c",
        title: "C headers to (kind, start, end)",
        baseline: "logos",
        moved: 2,
        held: 44,
        bars: &[bar(26, 1.4, 2.5)],
        run: tokens::c,
    },
    Workload {
        name: "rust",
        title: "Rust sources to (kind, start, end)",
        baseline: "logos",
        moved: 2,
        held: 44,
        bars: &[bar(26, 1.4, 2.4)],
        run: tokens::rust,
    },
    workload(SORT, "sort-u8", "sort u8", "sort_unstable", (2, 10), sorting::sort_u8),
    workload(SORT, "sort-u16", "sort u16", "sort_unstable", (4, 20), sorting::sort_u16),
    workload(SORT, "sort-u32", "sort u32", "sort_unstable", (8, 40), sorting::sort_u32),
    workload(SORT, "sort-u64", "sort u64", "sort_unstable", (16, 80), sorting::sort_u64),
    workload(SORT, "sort-i8", "sort i8", "sort_unstable", (2, 10), sorting::sort_i8),
    workload(SORT, "sort-i16", "sort i16", "sort_unstable", (4, 20), sorting::sort_i16),
    workload(SORT, "sort-i32", "sort i32", "sort_unstable", (8, 40), sorting::sort_i32),
    workload(SORT, "sort-i64", "sort i64", "sort_unstable", (16, 80), sorting::sort_i64),
    workload(SORT, "sort-f32", "sort f32", "sort_unstable", (8, 40), sorting::sort_f32),
    workload(SORT, "sort-f64", "sort f64", "sort_unstable", (16, 80), sorting::sort_f64),
    workload(
        SORT,
        "sort-f64-descending",
        "sort f64, descending",
        "sort_unstable",
        (16, 80),
        sorting::sort_f64_descending,
    ),
    workload(SORT, "sort-few", "sort u32, a hundred different ones", "sort_unstable", (8, 40), sorting::sort_few),
    workload(&[], "argsort-u32", "argsort u32", "sort_by_key", (8, 60), sorting::argsort_u32),
    Workload {
        name: "select-i32",
        title: "selected i32, one of two",
        baseline: "Vec::retain",
        moved: 9,
        held: 32,
        bars: &[bar(24, 1.0, 1.5), bar(27, 1.0, 1.5)],
        run: selecting::select_i32,
    },
    workload(&[], "partition-i32", "partition i32, one of two", "plain loop", (9, 40), selecting::partition_i32),
    workload(&[], "encode-u32", "run lengths of u32, four a run", "plain loop", (6, 50), selecting::encode_u32),
    workload(&[], "unique-u32", "unique u32, four a run", "Vec::dedup", (5, 20), selecting::unique_u32),
    workload(
        &on_two(1.5, To::BestRival),
        "group-sums",
        "sums of f64 by key, ten a key",
        "plain loop",
        (13, 40),
        algorithms::group_sums,
    ),
    workload(
        &[],
        "forward-fill",
        "forward fill of f64, one of two there",
        "plain loop",
        (17, 50),
        series::forward_fill,
    ),
    workload(
        &[],
        "backward-fill",
        "backward fill of f64, one of two there",
        "plain loop",
        (17, 50),
        series::backward_fill,
    ),
    workload(
        &[],
        "group-variances",
        "variances of f64 by key, ten a key",
        "plain loop",
        (13, 40),
        algorithms::group_variances,
    ),
    Workload {
        name: "sparse-f64",
        title: "sparse matrix of f64 times a vector",
        baseline: "sprs",
        moved: 12,
        held: 60,
        bars: &[bar(24, 1.0, 1.5)],
        run: algorithms::sparse_f64,
    },
    workload(&[], "sparse-thin", "sparse matrix of f64, one to four a row", "sprs", (18, 70), algorithms::sparse_thin),
    // 1.5 times as long as memcpy of one number, of whose bytes an addition moves 1.5 times as many.
    workload(&on_two(1.0, To::Copy), "add", "addition of long integers", "plain loop", (24, 80), algorithms::add),
    Workload {
        name: "add-rows",
        title: "additions of 256 bits",
        baseline: "plain loop",
        moved: 96,
        held: 160,
        bars: &[bar(10, 1.0, 1.0), bar(16, 1.0, 1.0), bar(24, 1.0, 1.0)],
        run: algorithms::add_rows,
    },
    workload(&[], "utf8", "UTF-8 validation", "from_utf8", (1, 4), texts::utf8),
    workload(&[], "csv", "fields of CSV", "csv", (2, 20), texts::csv),
    workload(&[], "integers", "columns of decimals as i64", "str::parse", (24, 120), texts::integers),
    workload(&[], "floats", "columns of decimals as f64", "str::parse", (24, 120), texts::floats),
    workload(&[], "patterns", "matches of four patterns", "regex-automata", (5, 50), texts::patterns),
    tree("subtree-sums-random", "sums of f64 over subtrees, a random tree", |session, field, len| {
        trees::subtree_sums(session, field, len, trees::random)
    }),
    tree("subtree-sums-ordered", "sums of f64 over subtrees, a random tree in preorder", |session, field, len| {
        trees::subtree_sums(session, field, len, trees::ordered)
    }),
    tree("subtree-sums-chain", "sums of f64 over subtrees, a chain", |session, field, len| {
        trees::subtree_sums(session, field, len, trees::chain)
    }),
    tree("subtree-sums-star", "sums of f64 over subtrees, a star", |session, field, len| {
        trees::subtree_sums(session, field, len, trees::star)
    }),
    tree("subtree-maxima-random", "maxima of f64 over subtrees, a random tree", |session, field, len| {
        trees::subtree_maxima(session, field, len, trees::random)
    }),
    tree("subtree-maxima-ordered", "maxima of f64 over subtrees, a random tree in preorder", |session, field, len| {
        trees::subtree_maxima(session, field, len, trees::ordered)
    }),
    tree("path-sums-random", "sums of f64 over paths, a random tree", |session, field, len| {
        trees::path_sums(session, field, len, trees::random)
    }),
    tree("path-sums-ordered", "sums of f64 over paths, a random tree in preorder", |session, field, len| {
        trees::path_sums(session, field, len, trees::ordered)
    }),
    tree("path-sums-chain", "sums of f64 over paths, a chain", |session, field, len| {
        trees::path_sums(session, field, len, trees::chain)
    }),
    tree("path-sums-star", "sums of f64 over paths, a star", |session, field, len| {
        trees::path_sums(session, field, len, trees::star)
    }),
    plain("decode-u32", "decoding of runs of u32, four a run", "plain loop", (6, 30), selecting::decode_u32),
    plain("unique-pairs", "first pairs of runs of keys, four a run", "plain loop", (10, 40), selecting::unique_by_key),
    plain("partition3-i32", "partition i32, three classes", "plain loop", (9, 30), selecting::partition3_i32),
    plain("sort-pairs", "sort u32 with u32 beside", "sort_by_key", (16, 70), selecting::sort_with_values_u32),
    plain("histogram", "histogram of u32, a thousand values", "plain loop", (4, 12), segments::histogram),
    plain("flag-maxima", "maxima of i64 by flags, ten a segment", "plain loop", (10, 40), segments::totals_by_flags),
    plain(
        "offset-maxima",
        "maxima of i64 by offsets, ten a segment",
        "plain loop",
        (9, 20),
        segments::totals_by_offsets,
    ),
    plain("partners", "partners of brackets", "a stack", (5, 30), linked::partners),
    plain("rank", "ranks in a list in random order", "a walk", (8, 50), linked::rank),
    plain("tour-downwards", "tour of a random tree, parents first", "a stack", (8, 70), linked::tour_downwards),
    plain("tour-shuffled", "tour of a random tree, nodes in any order", "a stack", (8, 120), linked::tour_shuffled),
    plain("subtract", "subtraction of long integers", "plain loop", (24, 60), computing::subtract),
    plain("compare", "order of long integers, the lowest digit differs", "plain loop", (16, 40), computing::compare),
    plain("horner", "polynomial modulo 2^64", "plain loop", (8, 10), computing::horner),
    plain("modular", "recurrence of order 2 modulo 30 bits", "plain loop", (8, 20), computing::modular),
    plain("sessions", "sessions of u64 times", "plain loop", (12, 30), series::sessions),
    plain("sight", "line of sight over f64", "plain loop", (9, 20), series::line_of_sight),
    plain("argmax", "running arg-max of i64", "plain loop", (12, 30), series::running_argmax),
    plain("lines", "lines and columns of bytes", "plain loop", (9, 30), series::lines_and_columns),
];
