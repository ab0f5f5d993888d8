//! The body of blocks in one pass: the folds of all levels beside the replay.
//!
//! Tiles take several passes, whose results are `carry into block k+1 = carry into block k ⊕
//! aggregate of block k`. A thread that walks blocks in order knows the carry into each, so one
//! loop can replay a block from there and fold it from the identities. The chains do not wait for
//! each other, so the loop takes about as long as a sequential one. It gives the bits of the
//! kernels that do it one after the other.

use monoscan_ir::facts::{Body, Ends};
use monoscan_ir::{Field, Function, FunctionBuilder, Mapping, Source, Table, Type, Value, simplify};

use super::{Kernel, Recipe};
use crate::cpu::kernel::Carried;

/// Several bodies as one, each with its own carried components.
pub(super) struct Together {
    pub(super) body: Body,
    pub(super) carried: Vec<Carried>,
}

impl Recipe {
    /// Whether there are kernels that take blocks in one pass. Kernels in vectors have [their own](Kernel::ScanBlocks), and combine in
    /// another order.
    #[inline]
    pub(crate) fn has_together(&self) -> bool {
        self.rank.is_none() && !self.vector.reduce && !self.vector.scan
    }

    /// The folds of all levels, and, if it writes, the replay.
    pub(super) fn together(&self, writes: bool) -> Together {
        let replay = self.own.as_ref().map_or(self.program.replay(), |own| &own.replay);
        let replayed = if writes { self.carried(replay, None, Kernel::ScanOne) } else { Vec::new() };
        let replayed = replayed.into_iter().map(|carried| Carried { is_result: false, ..carried });
        let levels = self.levels.iter().enumerate();
        let folded = levels.flat_map(|(place, level)| self.carried(&level.body, Some(level), Kernel::ReduceOne(place)));
        // The carry is in the first slot, and aggregates, which start from the identities, are left in the second.
        let behind = |carried: Carried| {
            let offset = carried.field.offset + self.state.stride as u32;
            Carried { field: Field { offset, ..carried.field }, ..carried }
        };
        let carried = replayed.chain(folded);
        let carried = carried.map(|carried| if carried.is_result { behind(carried) } else { carried }).collect();
        let folds = self.levels.iter().map(|level| &level.body);
        let bodies: Vec<&Body> = writes.then_some(replay).into_iter().chain(folds).collect();
        Together { body: together(&bodies, &self.program.tables), carried }
    }
}

/// Bodies side by side, of which the first alone may have outputs and the state of a loop.
fn together(bodies: &[&Body], tables: &[Table]) -> Body {
    let params = |body: &&Body| {
        let types = body.mapping.function.params.iter().copied();
        body.mapping.reads.iter().copied().zip(types).collect::<Vec<(Source, Type)>>()
    };
    let mut reads: Vec<(Source, Type)> =
        bodies.iter().flat_map(|body| params(body).into_iter().take(body.state_len())).collect();
    let states = reads.len();
    for read in bodies.iter().flat_map(|body| params(body).into_iter().skip(body.state_len())) {
        if !reads[states..].contains(&read) {
            reads.push(read);
        }
    }

    let mut b = FunctionBuilder::new();
    let values: Vec<Value> = reads.iter().map(|&(_, ty)| b.param(ty)).collect();
    let (mut first, mut after, mut outputs) = (0, Vec::new(), Vec::new());
    for body in bodies {
        let own = first..first + body.state_len();
        first = own.end;
        let other = |read: (Source, Type)| {
            let place = reads[states..].iter().position(|&other| other == read);
            values[states + place.expect("every source is read")]
        };
        let others = params(body).into_iter().skip(own.len()).map(other);
        let arguments: Vec<Value> = values[own.clone()].iter().copied().chain(others).collect();
        let results = b.inline(&body.mapping.function, &arguments);
        after.extend(&results[..own.len()]);
        outputs.extend(&results[own.len()..]);
    }
    let function = simplify(&b.finish(&[after, outputs].concat()), tables);
    Body {
        mapping: Mapping { reads: reads.into_iter().map(|(source, _)| source).collect(), function },
        carried: bodies.iter().flat_map(|body| body.carried.iter().copied()).collect(),
        ends: bodies.iter().any(|body| body.ends.is_some()).then(|| Ends {
            enter: side_by_side(bodies, |ends| &ends.enter),
            leave: side_by_side(bodies, |ends| &ends.leave),
        }),
    }
}

/// Of all bodies what one end of a loop's state does, and of one without such a state nothing.
fn side_by_side(bodies: &[&Body], of: impl Fn(&Ends) -> &Function) -> Function {
    let unchanged = |body: &Body| {
        let mut b = FunctionBuilder::new();
        let states = b.params(&body.mapping.function.params[..body.carried.len()]);
        b.finish(&states)
    };
    let functions: Vec<Function> =
        bodies.iter().map(|body| body.ends.as_ref().map_or_else(|| unchanged(body), |ends| of(ends).clone())).collect();
    let mut b = FunctionBuilder::new();
    let arguments: Vec<Vec<Value>> = functions.iter().map(|function| b.params(&function.params)).collect();
    let results = functions.iter().zip(&arguments).map(|(function, arguments)| b.inline(function, arguments));
    let results: Vec<Value> = results.collect::<Vec<_>>().concat();
    b.finish(&results)
}
