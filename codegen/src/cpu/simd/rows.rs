//! Short rows across lanes: as many rows at a time as a vector has lanes, each in one of them.
//!
//! Rows are loaded and stored piece by piece. A piece of all rows is a group whose lanes hold some
//! consecutive records of a row each: as many as a row has, or as fill a vector. In the latter case
//! the last piece ends with the row, and begins with records of the one before. In between, each
//! lane takes the records of its row one after the other, from the same states: what the
//! straight-line code of a row does, to the bit.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder};
use cranelift_frontend::FunctionBuilder;

use super::super::error::CodegenError;
use super::super::kernel::arguments;
use super::form::LaneForm;
use super::group::Group;
use super::group_code::GroupCode;
use super::kernel::{Bases, splat, splat_parameters};
use super::lanes::Lanes;

/// The form of rows of a few records.
#[derive(Clone)]
pub(crate) struct RowForm {
    form: LaneForm,
    /// Records of a row.
    len: usize,
}

/// The longest row that is one piece: more would not stay in registers.
const LONGEST_PIECE: usize = 8;

/// The cost below which rows go in lanes, in hundredths of that of straight-line code: counting is that good.
const MARGIN: usize = 90;

impl RowForm {
    /// The form of rows of so many records, if it takes fewer instructions than `scalar` a row.
    pub(crate) fn of(form: &LaneForm, len: usize, scalar: usize) -> Option<RowForm> {
        let shape = form.group.shape;
        let whole = Group::new(shape, len);
        let piece = Group { shape, depth: shape.lanes(), apart: len };
        let columns = || form.inputs.iter().chain(&form.outputs);
        let is_large = columns().all(|layout| whole.is_half_a_vector(layout));
        let is_whole = len.is_power_of_two() && len <= LONGEST_PIECE && is_large;
        let fits = columns().all(|layout| piece.fills_vectors(layout));
        if !is_whole && (piece.depth > len || !fits) {
            return None;
        }
        let mut rows = RowForm { form: form.clone(), len };
        rows.form.group = if is_whole { whole } else { piece };
        let cost = rows.form.cost_of_rows(len, rows.pieces().count());
        (cost * 100 <= MARGIN * scalar * shape.lanes()).then_some(rows)
    }

    /// How many rows are worked on at a time.
    pub(crate) fn lanes(&self) -> usize {
        self.form.group.shape.lanes()
    }

    /// The first record of each piece.
    fn pieces(&self) -> impl Iterator<Item = usize> + use<> {
        let (len, depth) = (self.len, self.form.group.depth);
        (0..len).step_by(depth).map(move |start| start.min(len - depth))
    }
}

/// Writes a loop over so many groups of rows, which lie one behind the other from this record on, each row from these states. There is
/// at least one group. Gives the record behind them.
pub(crate) fn rows(
    b: &mut FunctionBuilder<'_>,
    rows: &RowForm,
    bases: &Bases<'_>,
    (groups, place): (ir::Value, ir::Value),
    states: &[ir::Value],
) -> Result<ir::Value, CodegenError> {
    let RowForm { form, len } = rows;
    let carried = form.replay.carried.iter().zip(states);
    let before: Vec<Lanes> = carried
        .map(|(&(_, component), &state)| Lanes::Vector(splat(b, form, form.identity[component as usize].ty(), state)))
        .collect();
    let uniform = splat_parameters(b, form, bases);
    let (body, exit) = (b.create_block(), b.create_block());
    let records = (form.group.shape.lanes() * len) as i64;
    let all = b.ins().imul_imm_s(groups, records);
    let end = b.ins().iadd(place, all);
    b.ins().jump(body, &arguments(&[place]));
    let place = b.append_block_param(body, b.func.dfg.value_type(place));

    b.switch_to_block(body);
    let mapping = &form.replay.mapping;
    let (mut states, mut outputs) = (before, Vec::new());
    for start in rows.pieces() {
        let place = b.ins().iadd_imm_u(place, start as i64);
        let piece = GroupCode { form, bases, uniform: &uniform, place };
        let records = piece.load(b, &[&mapping.reads]);
        for record in &records[outputs.len() - start..] {
            let mut results = piece.run(b, &mapping.function, &states, &mapping.reads, record)?;
            outputs.push(results.split_off(states.len()));
            states = results;
        }
        piece.store(b, &outputs[start..]);
    }
    let place = b.ins().iadd_imm_u(place, records);
    let more = b.ins().icmp(IntCC::NotEqual, place, end);
    b.ins().brif(more, body, &arguments(&[place]), exit, &[]);

    b.switch_to_block(exit);
    Ok(end)
}
