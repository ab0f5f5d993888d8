//! The workloads, a file for each family: its data, its rivals, and what it should reach.

mod affine;
mod algorithms;
mod all;
mod biquad;
mod everyday;
mod kept;
mod labels;
mod rows;
mod segmented;
mod states;
mod sums;
mod tokens;

pub(crate) use all::ALL;
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
    run: Run,
}

/// Runs a workload on so many elements.
type Run = fn(&Session, Field<'_>, usize) -> Vec<Row>;

/// A ratio that monoscan should reach.
pub(crate) struct Bar {
    pub(crate) elements: usize,
    /// On one thread, and on two; 0 where there is none.
    pub(crate) ratios: [f64; 2],
    pub(crate) to: To,
}

/// The row that a bar is a ratio to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum To {
    Baseline,
    /// The fastest crate or library on as many threads or fewer.
    BestRival,
    /// `memcpy` of as many bytes, on as many threads.
    Copy,
}

impl Workload {
    /// Whether it is an ordinary use, which is to be no slower than its loop at any size.
    pub(crate) fn is_ordinary(&self) -> bool {
        self.bars.len() == all::ANY_SIZE.len()
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
pub(crate) fn race<T: Pod + Into<f64> + From<u8>, S, R: Debug>(
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
