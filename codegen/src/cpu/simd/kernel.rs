//! The loop over groups, as [`LaneForm`] describes it, for a scan and for a reduction.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder};
use cranelift_frontend::FunctionBuilder;
use monoscan_ir::{Source, Type};

use super::super::error::CodegenError;
use super::super::kernel::arguments;
use super::super::lower::clif_type;
use super::form::LaneForm;
use super::group_code::{GroupCode, Scanned};
use super::lanes::{Lanes, vector_type};

/// Where columns start, none for columns that are not read, and what is the same for all elements.
pub(crate) struct Bases<'a> {
    pub(crate) inputs: &'a [Option<ir::Value>],
    pub(crate) outputs: &'a [ir::Value],
    pub(crate) uniform: &'a [(Source, ir::Value)],
}

/// The states that the loop over groups starts from, and those that it leaves to the scalar loop behind it.
pub(crate) struct Progress {
    /// The record of the next element.
    pub(crate) place: ir::Value,
    /// How many elements are left.
    pub(crate) left: ir::Value,
    /// How many records were kept, if not all are.
    pub(crate) rank: Option<ir::Value>,
    /// The carried components.
    pub(crate) states: Vec<ir::Value>,
}

/// The work on groups.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Work {
    /// Outputs are written; the carried components are those of the replay.
    Scan,
    /// The carried components are those of the fold.
    Reduce,
    /// Outputs are written; the carried components are those of the replay, then those of the fold.
    Both,
}

/// Writes a loop over as many whole groups as there are.
pub(crate) fn groups(
    b: &mut FunctionBuilder<'_>,
    form: &LaneForm,
    work: Work,
    bases: &Bases<'_>,
    progress: Progress,
) -> Result<Progress, CodegenError> {
    let Progress { place, left, rank, states } = progress;
    let shape = form.group.shape;
    let records = form.group.records();
    let rest = b.ins().band_imm_u(left, records as i64 - 1);
    // A difference is computed once; Cranelift would repeat a mask in each group.
    let whole = b.ins().isub(left, rest);
    let kind = |b: &FunctionBuilder<'_>, value: ir::Value| b.func.dfg.value_type(value);

    let (enter, body, leave, exit) = (b.create_block(), b.create_block(), b.create_block(), b.create_block());
    let outer: Vec<ir::Value> = [place, left].into_iter().chain(rank).chain(states.iter().copied()).collect();
    let after: Vec<ir::Value> = outer.iter().map(|&value| b.append_block_param(exit, kind(b, value))).collect();
    b.ins().brif(whole, enter, &[], exit, &arguments(&outer));

    b.switch_to_block(enter);
    // The place tells when groups are done: a count of them would be one more instruction a group.
    let end = b.ins().iadd(place, whole);
    let (replayed, folded) = (&form.replay.carried[..], &form.fold.carried[..]);
    let carried = match work {
        Work::Scan => replayed.to_vec(),
        Work::Reduce => folded.to_vec(),
        Work::Both => [replayed, folded].concat(),
    };
    let types = carried.iter().map(|&(_, component)| form.identity[component as usize].ty());
    let types: Vec<Type> = types.collect();
    let mut first = vec![place];
    first.extend(rank);
    let own = first.len();
    for (&ty, &state) in types.iter().zip(&states) {
        first.push(splat(b, form, ty, state));
    }
    let uniform = splat_parameters(b, form, bases);
    let params: Vec<ir::Value> = first.iter().map(|&value| b.append_block_param(body, kind(b, value))).collect();
    b.ins().jump(body, &arguments(&first));

    b.switch_to_block(body);
    let group = GroupCode { form, bases, uniform: &uniform, place: params[0] };
    let carry: Vec<Lanes> = params[own..].iter().map(|&value| Lanes::Vector(value)).collect();
    let rank = rank.map(|_| params[1]);
    let (rank, carry) = match work {
        Work::Scan => {
            let Scanned { rank, next, .. } = group.scan(b, work, &carry, rank)?;
            (rank, next)
        }
        Work::Reduce => (rank, group.reduce(b, &carry)?),
        Work::Both => {
            let (carry, before) = carry.split_at(replayed.len());
            let Scanned { rank, mut next, prefixes } = group.scan(b, work, carry, rank)?;
            next.extend(group.combine(b, before, &prefixes, records)?);
            (rank, next)
        }
    };
    let mut next = vec![b.ins().iadd_imm_u(params[0], records as i64)];
    next.extend(rank);
    next.extend(carry.iter().map(|lanes| lanes.vector(b, shape)));
    let last: Vec<ir::Value> = next.iter().map(|&value| b.append_block_param(leave, kind(b, value))).collect();
    let more = b.ins().icmp(IntCC::NotEqual, next[0], end);
    b.ins().brif(more, body, &arguments(&next), leave, &arguments(&next));

    b.switch_to_block(leave);
    let mut results = vec![last[0], rest];
    results.extend(rank.map(|_| last[1]));
    for (&ty, &vector) in types.iter().zip(&last[own..]) {
        results.push(extract(b, form, ty, vector));
    }
    b.ins().jump(exit, &arguments(&results));

    b.switch_to_block(exit);
    let rank = rank.map(|_| after[2]);
    Ok(Progress { place: after[0], left: after[1], rank, states: after[own + 1..].to_vec() })
}

/// The values that are the same for all elements, in every lane.
pub(super) fn splat_parameters(
    b: &mut FunctionBuilder<'_>,
    form: &LaneForm,
    bases: &Bases<'_>,
) -> Vec<(Source, ir::Value)> {
    let mut uniform = Vec::new();
    for &(source, value) in bases.uniform {
        if let Source::Parameter(parameter) = source {
            uniform.push((source, splat(b, form, form.parameters[parameter as usize], value)));
        }
    }
    uniform
}

/// A scalar in every lane.
pub(super) fn splat(b: &mut FunctionBuilder<'_>, form: &LaneForm, ty: Type, value: ir::Value) -> ir::Value {
    let shape = form.group.shape;
    let lane = vector_type(shape, ty).lane_type();
    let is = b.func.dfg.value_type(value);
    let value = match ty {
        _ if ty.is_float() => value,
        Type::Bool => {
            let mask = b.ins().ineg(value);
            if is == lane { mask } else { b.ins().sextend(lane, mask) }
        }
        _ if is == lane => value,
        _ if ty.is_signed() => b.ins().sextend(lane, value),
        _ => b.ins().uextend(lane, value),
    };
    b.ins().splat(vector_type(shape, ty), value)
}

/// The last lane as a scalar.
fn extract(b: &mut FunctionBuilder<'_>, form: &LaneForm, ty: Type, vector: ir::Value) -> ir::Value {
    let shape = form.group.shape;
    let value = b.ins().extractlane(vector, (shape.lanes() - 1) as u8);
    let scalar = clif_type(ty);
    let value = if b.func.dfg.value_type(value) == scalar { value } else { b.ins().ireduce(scalar, value) };
    if ty == Type::Bool { b.ins().band_imm_u(value, 1) } else { value }
}
