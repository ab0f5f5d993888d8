//! The oracle that is the user's own function: folded by the formulas of a call, in a plain loop.

use monoscan::prelude::*;
use monoscan_ir::{Constant, Layout, Mode};
use scan_kit::calls::{Asked, Start};

/// The results of a call by the formulas, folded with the user's own function.
pub(crate) struct Fold<M> {
    /// Nothing for records between rows.
    pub(crate) outputs: Vec<Option<M>>,
    /// Of a resumed stream, the carry afterwards.
    pub(crate) totals: Vec<M>,
}

/// The states that a call is given.
#[derive(Clone)]
pub(crate) struct States<M> {
    pub(crate) init: Option<M>,
    pub(crate) init_each: Option<Vec<M>>,
    pub(crate) carry: Option<Vec<M>>,
}

pub(crate) fn fold<M: Monoid>(asked: &Asked, records: &[M], States { init, init_each, carry }: &States<M>) -> Fold<M> {
    let mut outputs = vec![None; records.len()];
    let mut totals = Vec::new();
    for run in asked.sequences() {
        let mut state = match run.start {
            Start::Carry(place) => carry.as_ref().unwrap()[place],
            Start::Init(place) => init_each.as_ref().map_or(init.unwrap_or(M::identity()), |all| all[place]),
        };
        for i in run.records {
            let after = state.combine(records[i]);
            outputs[i] = Some(if asked.mode == Mode::Inclusive { after } else { state });
            state = after;
        }
        totals.push(state);
    }
    Fold { outputs, totals: asked.totals(totals) }
}

pub(crate) fn constants<M: ScanType>(value: &M) -> Vec<Constant> {
    monoscan::lang::to_constants(value)
}

/// Component by component, one NaN being as good as another.
pub(crate) fn same<M: ScanType>(left: &M, right: &M) -> bool {
    constants(left).iter().zip(constants(right)).all(|(left, right)| left.same(right))
}

/// The records as bytes, zeros between their components.
pub(crate) fn bytes<M: ScanType>(records: &[M], layout: &Layout) -> Vec<u8> {
    records.iter().flat_map(|record| layout.to_bytes(&constants(record))).collect()
}
