//! Rows side by side across lanes: neighbouring columns of an array, each in a lane of one of a few
//! vectors.
//!
//! Neighbours lie one after the other in memory, so a record of each is loaded and stored as it
//! lies, and nothing passes between lanes. Several vectors are walked down at once: the operator
//! takes one after the other while none waits for itself. Columns that fill no last vector are done
//! twice: that vector ends with the last column, and begins among those of the one before it. Of
//! more columns than registers hold, the states are in memory, and rows of the array are read as
//! they lie, one after the other.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, types};
use cranelift_frontend::FunctionBuilder;
use monoscan_ir::{Field, Mapping};

use super::super::error::CodegenError;
use super::super::kernel::arguments;
use super::super::memory;
use super::access::Read;
use super::form::LaneForm;
use super::group::Group;
use super::group_code::GroupCode;
use super::kernel::{Bases, splat_parameters};
use super::lanes::Lanes;

/// Vectors of states that stay in registers beside what a record takes.
const MOST_STATES: usize = 8;

/// Most vectors that are walked down at once.
const MOST_VECTORS: usize = 8;

/// Most rows that are walked down at once whatever their number is.
pub(crate) const MOST_ROWS: usize = 16;

/// Vectors of a round where their states are in memory, of a step of no more instructions than these.
const VECTORS: usize = 4;
const FEW_INSTRUCTIONS: usize = 32;

/// Bytes of a vector.
const VECTOR: usize = 16;

/// Where the states of rows are: slots at a fixed distance, and in each the fields of the components that replays, or folds, carry.
pub(crate) struct Slots<'a> {
    pub(crate) base: ir::Value,
    pub(crate) stride: usize,
    pub(crate) fields: &'a [Field],
}

/// How rows are walked down: the first record of the first row, the records from one to the next, and how many.
pub(crate) struct Down {
    pub(crate) place: ir::Value,
    pub(crate) step: ir::Value,
    pub(crate) len: ir::Value,
}

/// The form of records of neighbouring rows, if there is one: no element looks at another one, and vectors are loaded whole.
pub(crate) fn of_neighbours(form: &LaneForm) -> Option<LaneForm> {
    let group = Group::new(form.group.shape, 1);
    let columns = || form.inputs.iter().chain(&form.outputs);
    let fits = columns().all(|layout| group.is_half_a_vector(layout) && group.vectors(layout).is_some());
    let is_plain = !form.keeps && !form.is_alone() && form.has_state() && form.replay.carried.len() <= MOST_STATES;
    if !fits || !is_plain {
        return None;
    }
    let mut form = form.clone();
    form.group = group;
    Some(form)
}

/// The numbers of rows that are walked down at once in this form, the most first: few, or twice as many and so on, where all of them
/// fill vectors. Their states stay in registers.
pub(crate) fn takes(form: &LaneForm) -> impl Iterator<Item = usize> {
    let (lanes, states) = (form.group.shape.lanes(), form.replay.carried.len());
    let fits = move |&rows: &usize| {
        let vectors = rows.div_ceil(lanes);
        vectors == 1 || vectors <= MOST_VECTORS && vectors * states <= MOST_STATES
    };
    let more = (0..=MOST_VECTORS.ilog2()).rev().map(move |log| lanes << log).filter(|&rows| rows > MOST_ROWS);
    more.chain((lanes..=MOST_ROWS).rev()).filter(fits)
}

/// Whether aggregates of rows side by side depend on records, and have no more components than the states of their replay, for which there
/// are registers.
pub(crate) fn folds(form: &LaneForm) -> bool {
    (1..=form.replay.carried.len()).contains(&form.fold.carried.len())
}

/// Writes a loop down so many rows, from the states in slots, which become those behind them: of the replay, which writes outputs, or of
/// the fold, which does not.
pub(crate) fn side_by_side(
    b: &mut FunctionBuilder<'_>,
    (form, rows, writes): (&LaneForm, usize, bool),
    bases: &Bases<'_>,
    slots: &Slots<'_>,
    Down { place, step, len }: Down,
) -> Result<(), CodegenError> {
    let Group { shape, .. } = form.group;
    let last = rows - shape.lanes();
    let firsts: Vec<usize> = (0..last).step_by(shape.lanes()).chain([last]).collect();
    let slot = |row: usize, field: Field| Field { offset: field.offset + (row * slots.stride) as u32, ..field };
    let states = firsts.iter().flat_map(|&row| slots.fields.iter().map(move |&field| slot(row, field)));
    let states: Vec<Field> = states.collect();
    let stride = slots.stride as u32;
    let mut first = vec![place, len];
    first.extend(states.iter().map(|&field| form.group.gather(b, stride, field, 0, slots.base)));
    let uniform = splat_parameters(b, form, bases);
    let (body, exit) = (b.create_block(), b.create_block());
    let kinds: Vec<ir::Type> = first.iter().map(|&value| b.func.dfg.value_type(value)).collect();
    let params: Vec<ir::Value> = kinds.iter().map(|&kind| b.append_block_param(body, kind)).collect();
    let behind: Vec<ir::Value> = kinds[2..].iter().map(|&kind| b.append_block_param(exit, kind)).collect();
    b.ins().brif(len, body, &arguments(&first), exit, &arguments(&first[2..]));

    b.switch_to_block(body);
    let (place, left) = (params[0], params[1]);
    let mapping = mapping(form, writes);
    let mut next = Vec::new();
    // The results of a vector may lie over records of the next one.
    let groups: Vec<_> = firsts
        .iter()
        .map(|&first| {
            let place = b.ins().iadd_imm_u(place, first as i64);
            let group = GroupCode { form, bases, uniform: &uniform, place };
            let records = group.load(b, &[&mapping.reads]);
            (group, records)
        })
        .collect();
    for ((group, records), states) in groups.iter().zip(params[2..].chunks_exact(slots.fields.len())) {
        let states: Vec<Lanes> = states.iter().map(|&state| Lanes::Vector(state)).collect();
        let results = advance((b, group), writes, &states, &records[0])?;
        next.extend(results.iter().map(|lanes| lanes.vector(b, shape)));
    }
    let left = b.ins().iadd_imm_s(left, -1);
    let more = b.ins().icmp_imm_u(IntCC::NotEqual, left, 0);
    let on = [vec![b.ins().iadd(place, step), left], next.clone()].concat();
    b.ins().brif(more, body, &arguments(&on), exit, &arguments(&next));

    b.switch_to_block(exit);
    for (&field, &state) in states.iter().zip(&behind) {
        form.group.scatter(b, stride, field, 0, slots.base, state);
    }
    Ok(())
}

fn mapping(form: &LaneForm, writes: bool) -> &Mapping {
    if writes { &form.replay.mapping } else { &form.fold.mapping }
}

/// Takes a vector of states past its records.
fn advance(
    (b, group): (&mut FunctionBuilder<'_>, &GroupCode<'_>),
    writes: bool,
    states: &[Lanes],
    records: &Read,
) -> Result<Vec<Lanes>, CodegenError> {
    let mapping = mapping(group.form, writes);
    let mut results = group.run(b, &mapping.function, states, &mapping.reads, records)?;
    let outputs = results.split_off(states.len());
    if writes {
        group.store(b, &[outputs]);
    }
    Ok(results)
}

/// The memory that states of many rows are in while they are walked down: 16 bytes for each component of each vector.
pub(crate) struct Memory {
    pub(crate) base: ir::Value,
    pub(crate) vectors: ir::Value,
}

/// As [`side_by_side`], of any number of vectors, at least one, whose states are in memory meanwhile.
pub(crate) fn many_side_by_side(
    b: &mut FunctionBuilder<'_>,
    (form, writes): (&LaneForm, bool),
    bases: &Bases<'_>,
    slots: &Slots<'_>,
    (Down { place, step, len }, of_states): (Down, &Memory),
) -> Result<(), CodegenError> {
    let (shape, stride) = (form.group.shape, slots.stride as u32);
    let bytes = (VECTOR * slots.fields.len()) as i64;
    let all = b.ins().imul_imm_s(of_states.vectors, bytes);
    let end = b.ins().iadd(of_states.base, all);
    let uniform = splat_parameters(b, form, bases);
    let places = |count: usize| (0..count).map(|component| (VECTOR * component) as i32);
    let apart = (shape.lanes() * slots.stride) as i64;
    // Several vectors in each round, then those that are left, one by one.
    let each = |b: &mut FunctionBuilder<'_>,
                from: ir::Value,
                rounds: &[usize],
                on: &mut dyn FnMut(
        &mut FunctionBuilder<'_>,
        ir::Value,
        ir::Value,
    ) -> Result<ir::Value, CodegenError>| {
        let mut first = [from, of_states.base];
        for &vectors in rounds {
            let (round, body, exit) = (b.create_block(), b.create_block(), b.create_block());
            b.ins().jump(round, &arguments(&first));
            first = [(); 2].map(|()| b.append_block_param(round, types::I64));
            b.switch_to_block(round);
            let last = b.ins().iadd_imm_u(first[1], (vectors as i64 - 1) * bytes);
            let more = b.ins().icmp(IntCC::UnsignedLessThan, last, end);
            b.ins().brif(more, body, &[], exit, &[]);
            b.switch_to_block(body);
            let mut next = first;
            for _ in 0..vectors {
                next = [on(b, next[0], next[1])?, b.ins().iadd_imm_u(next[1], bytes)];
            }
            b.ins().jump(round, &arguments(&next));
            b.switch_to_block(exit);
        }
        Ok::<(), CodegenError>(())
    };
    let mut kinds = Vec::new();
    each(b, slots.base, &[1], &mut |b, slot, at| {
        for (&field, place) in slots.fields.iter().zip(places(slots.fields.len())) {
            let state = form.group.gather(b, stride, field, 0, slot);
            kinds.push(b.func.dfg.value_type(state));
            b.ins().store(memory::data_flags(), state, at, place);
        }
        Ok(b.ins().iadd_imm_u(slot, apart))
    })?;

    let (rows, leave) = (b.create_block(), b.create_block());
    let [row, left] = [(); 2].map(|()| b.append_block_param(rows, types::I64));
    b.ins().brif(len, rows, &arguments(&[place, len]), leave, &[]);
    b.switch_to_block(rows);
    let mapping = mapping(form, writes);
    let rounds: &[usize] = if mapping.function.insts.len() <= FEW_INSTRUCTIONS { &[VECTORS, 1] } else { &[1] };
    each(b, row, rounds, &mut |b, place, at| {
        let group = GroupCode { form, bases, uniform: &uniform, place };
        let records = group.load(b, &[&mapping.reads]);
        let state =
            |(&kind, place): (&ir::Type, i32)| Lanes::Vector(b.ins().load(kind, memory::data_flags(), at, place));
        let states: Vec<Lanes> = kinds.iter().zip(places(kinds.len())).map(state).collect();
        let results = advance((b, &group), writes, &states, &records[0])?;
        for (lanes, place) in results.iter().zip(places(kinds.len())) {
            let state = lanes.vector(b, shape);
            b.ins().store(memory::data_flags(), state, at, place);
        }
        Ok(b.ins().iadd_imm_u(place, shape.lanes() as i64))
    })?;
    let next = b.ins().iadd(row, step);
    let left = b.ins().iadd_imm_s(left, -1);
    b.ins().brif(left, rows, &arguments(&[next, left]), leave, &[]);

    b.switch_to_block(leave);
    each(b, slots.base, &[1], &mut |b, slot, at| {
        for ((&field, &kind), place) in slots.fields.iter().zip(&kinds).zip(places(kinds.len())) {
            let state = b.ins().load(kind, memory::data_flags(), at, place);
            form.group.scatter(b, stride, field, 0, slot, state);
        }
        Ok(b.ins().iadd_imm_u(slot, apart))
    })
}
