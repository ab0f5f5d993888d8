//! The workloads, a file for each family: its data, its rivals, and what it should reach.

mod affine;
mod algorithms;
mod biquad;
mod everyday;
mod kept;
mod labels;
mod rows;
mod segmented;
mod states;
mod sums;
mod tokens;

pub(crate) use everyday::{LogMatrix, hidden_markov};
pub(crate) use tokens::json_text;

use std::cell::RefMut;
use std::fmt::Debug;

use bytemuck::Pod;

use crate::copies::Copies;
use crate::output::Output;
use crate::peers::Peers;
use crate::race::{Effort, Field, Judge};
use crate::report::{Role, Row};

/// The conditions that a workload is run under.
pub(crate) struct Session {
    pub(crate) peers: Peers,
    pub(crate) effort: Effort,
    /// JSON to lex instead of generated text.
    pub(crate) json: Option<Vec<u8>>,
}

/// One workload.
pub(crate) struct Workload {
    /// As on the command line and in CSV files.
    pub(crate) name: &'static str,
    /// For people.
    pub(crate) title: &'static str,
    /// The name of the entrant that ratios are taken to.
    pub(crate) baseline: &'static str,
    /// Bytes that an element reads and writes: what the copies move.
    pub(crate) moved: usize,
    /// Bytes an element that all entrants hold together, at most.
    pub(crate) held: usize,
    /// The speed that monoscan should reach.
    pub(crate) bars: &'static [Bar],
    run: fn(&Session, Field<'_>, usize) -> Vec<Row>,
}

/// A ratio to the baseline that monoscan should reach.
pub(crate) struct Bar {
    pub(crate) elements: usize,
    /// On one thread, and on two.
    pub(crate) ratios: [f64; 2],
}

/// A bar at 2^`log2` elements.
const fn bar(log2: u32, one: f64, two: f64) -> Bar {
    Bar { elements: 1 << log2, ratios: [one, two] }
}

/// A short scan costs hardly more than the plain loop, on however many threads it might run.
const SHORT: Bar = bar(10, 1.0 / 1.05, 1.0 / 1.05);

/// An ordinary use costs hardly more than its loop at any size, on one thread and on two.
const ANY_SIZE: &[Bar] =
    &[any_size(6), any_size(8), any_size(10), any_size(12), any_size(16), any_size(20), any_size(24), any_size(27)];

const fn any_size(log2: u32) -> Bar {
    bar(log2, 1.0 / 1.05, 1.0 / 1.05)
}

/// All workloads, in the order of the published table.
pub(crate) const ALL: [Workload; 30] = [
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
    Workload {
        name: "affine-f32-small",
        title: "affine f32, factors of −1 to 1",
        baseline: "plain loop",
        moved: 12,
        held: 64,
        bars: &[],
        run: affine::small_factors_f32,
    },
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
    Workload {
        // Its bar is 0.8 of the best rival, which `--bars` does not compare with; sums by key and additions likewise.
        name: "sort-u32",
        title: "sort u32",
        baseline: "sort_unstable",
        moved: 8,
        held: 40,
        bars: &[],
        run: algorithms::sort_u32,
    },
    Workload {
        name: "sort-u64",
        title: "sort u64",
        baseline: "sort_unstable",
        moved: 16,
        held: 80,
        bars: &[],
        run: algorithms::sort_u64,
    },
    Workload {
        name: "select-i32",
        title: "selected i32, one of two",
        baseline: "Vec::retain",
        moved: 9,
        held: 32,
        bars: &[bar(24, 1.0, 1.5), bar(27, 1.0, 1.5)],
        run: algorithms::select_i32,
    },
    Workload {
        name: "group-sums",
        title: "sums of f64 by key, ten a key",
        baseline: "plain loop",
        moved: 13,
        held: 40,
        bars: &[],
        run: algorithms::group_sums,
    },
    Workload {
        name: "sparse-f64",
        title: "sparse matrix of f64 times a vector",
        baseline: "sprs",
        moved: 12,
        held: 60,
        bars: &[bar(24, 1.0, 1.5)],
        run: algorithms::sparse_f64,
    },
    Workload {
        name: "add",
        title: "addition of long integers",
        baseline: "plain loop",
        moved: 24,
        held: 80,
        bars: &[],
        run: algorithms::add,
    },
    Workload {
        name: "add-rows",
        title: "additions of 256 bits",
        baseline: "plain loop",
        moved: 96,
        held: 160,
        bars: &[bar(10, 1.0, 1.0), bar(16, 1.0, 1.0), bar(24, 1.0, 1.0)],
        run: algorithms::add_rows,
    },
];

impl Workload {
    /// Whether it is an ordinary use, which is to be no slower than its loop at any size.
    pub(crate) fn is_ordinary(&self) -> bool {
        self.bars.len() == ANY_SIZE.len()
    }

    /// Runs it on so many elements, without copies of as many bytes.
    pub(crate) fn run_alone(&self, session: &Session, elements: usize) -> Vec<Row> {
        (self.run)(session, Field::new(self.name, elements), elements)
    }

    /// Runs it on so many elements.
    pub(crate) fn run(&self, session: &Session, elements: usize) -> Vec<Row> {
        let copies = Copies::new(self.moved * elements);
        let mut field = Field::new(self.name, elements);
        copies.enter(&mut field);
        (self.run)(session, field, elements)
    }
}

/// A race of monoscan on one thread and on two against the plain loop alone.
fn race<T: Pod + Into<f64> + From<u8>, S, R: Debug>(
    session: &Session,
    field: Field<'_>,
    y: &Output<T>,
    plain: impl Fn(&mut [T]),
    scans: [S; 2],
    scan: impl Fn(&S, &mut [T]) -> Result<usize, R>,
) -> Vec<Row> {
    race_judged(session, field, y, || y.write(), plain, scans, scan)
}

/// The same with any judge, over the column that `column` lends.
pub(crate) fn race_judged<'y, T: 'y, S, R: Debug>(
    session: &Session,
    field: Field<'_>,
    judge: &dyn Judge,
    column: impl Fn() -> RefMut<'y, [T]>,
    plain: impl Fn(&mut [T]),
    scans: [S; 2],
    scan: impl Fn(&S, &mut [T]) -> Result<usize, R>,
) -> Vec<Row> {
    let mut field = field;
    field.enter((Role::Baseline, "plain loop", 1), judge, || plain(&mut column()));
    for (threads, scan_on) in (1..).zip(&scans) {
        field.enter((Role::Ours, "monoscan", threads), judge, || {
            scan(scan_on, &mut column()).expect("columns of one length");
        });
    }
    field.race(session.effort)
}
