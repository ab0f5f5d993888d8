//! Faces: a large operator on the states that differ from the identity in one component.
//!
//! Where products of such states are such states again, they are a small monoid of their own if the
//! whole is one. Of max-plus matrices of any size, the numbers on the diagonal are a face. A search
//! finds in a moment what breaks it there, and would hardly ever meet it among states of sixty
//! components.

use super::states::Carrier;
use crate::builder::FunctionBuilder;
use crate::function::{Function, Value};
use crate::program::{Mapping, Source, Stage, Table};
use crate::simplify::simplify;

/// An operator with fewer instructions is searched as it is.
const LARGE: usize = 60;

/// The stage on the states that are the identity's but in this component.
pub(super) struct Face {
    pub(super) component: usize,
    pub(super) stage: Stage,
}

/// Faces of a large operator, for the first and the last of these components.
pub(super) fn faces(stage: &Stage, tables: &[Table], components: &[usize], carrier: Carrier) -> Vec<Face> {
    if carrier == Carrier::Lifted || stage.combine.insts.len() < LARGE {
        return Vec::new();
    }
    let mut ends: Vec<usize> = components.first().into_iter().chain(components.last()).copied().collect();
    ends.dedup();
    ends.into_iter().filter_map(|component| face(stage, tables, component)).collect()
}

fn face(stage: &Stage, tables: &[Table], component: usize) -> Option<Face> {
    let on_face = |function: &Function| simplify(&restricted(function, stage, component), tables);
    let combine = on_face(&stage.combine);
    let others = (0..stage.state.len()).filter(|&other| other != component);
    let is_closed = others.clone().all(|other| {
        combine.as_constant(combine.results[other]).is_some_and(|constant| constant.same(stage.identity[other]))
    });
    let only = |mut function: Function| {
        function.results = vec![function.results[component]];
        simplify(&function, tables)
    };
    let (ty, identity) = (stage.state[component], stage.identity[component]);
    let mut copy = FunctionBuilder::new();
    let record = copy.param(ty);
    is_closed.then(|| Face {
        component,
        stage: Stage {
            state: vec![ty],
            identity: vec![identity],
            lift: Mapping { reads: vec![Source::Record(0)], function: copy.finish(&[record]) },
            combine: only(combine),
            valid: stage.valid.as_ref().map(on_face),
            follows: stage.follows.as_ref().map(on_face),
            automaton: false,
        },
    })
}

/// A function of one state or two, of which one component alone is free.
fn restricted(function: &Function, stage: &Stage, component: usize) -> Function {
    let width = stage.state.len();
    let mut b = FunctionBuilder::new();
    let free = b.params(&vec![stage.state[component]; function.params.len() / width]);
    let arguments: Vec<Value> = (0..function.params.len())
        .map(|place| match place % width == component {
            true => free[place / width],
            false => b.constant(stage.identity[place % width]),
        })
        .collect();
    let results = b.inline(function, &arguments);
    b.finish(&results)
}
