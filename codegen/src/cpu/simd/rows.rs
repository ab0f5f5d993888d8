//! Short rows across lanes: as many rows at a time as a vector has lanes, each in one of them.
//!
//! A group of records whose lanes hold as many records as a row has is as many rows, so groups are
//! loaded and stored as they are along a line. Between the two, each lane takes the records of its
//! row one after the other, from the same states: what the straight-line code of a row does, to
//! the bit.

use cranelift_codegen::ir::{self, InstBuilder};
use cranelift_frontend::FunctionBuilder;

use super::super::error::CodegenError;
use super::form::LaneForm;
use super::kernel::{Bases, GroupCode, arguments, splat, splat_parameters};
use super::lanes::Lanes;

impl LaneForm {
    /// The form of rows of so many records, if it takes fewer instructions than `scalar` a row.
    pub(crate) fn of_rows(&self, len: usize, scalar: usize) -> Option<LaneForm> {
        if !len.is_power_of_two() {
            return None;
        }
        let mut rows = self.clone();
        rows.group.depth = len;
        let is_faster = rows.cost_of_rows() * 100 <= MARGIN * scalar * rows.group.shape.lanes();
        is_faster.then_some(rows)
    }
}

/// What rows in lanes must take, in hundredths of what straight-line code takes: counting is that good.
const MARGIN: usize = 90;

/// Writes a loop over so many groups of rows, which lie one behind the other from this record on, each row from these states. There is
/// at least one group. Gives the record behind them.
pub(crate) fn rows(
    b: &mut FunctionBuilder<'_>,
    form: &LaneForm,
    bases: &Bases<'_>,
    (groups, place): (ir::Value, ir::Value),
    states: &[ir::Value],
) -> Result<ir::Value, CodegenError> {
    let carried = form.replay.carried.iter().zip(states);
    let before: Vec<Lanes> = carried
        .map(|(&(_, component), &state)| Lanes::Vector(splat(b, form, form.identity[component as usize].ty(), state)))
        .collect();
    let uniform = splat_parameters(b, form, bases);
    let (body, exit) = (b.create_block(), b.create_block());
    let first = [groups, place];
    let [left, place] = first.map(|value| b.append_block_param(body, b.func.dfg.value_type(value)));
    b.ins().jump(body, &arguments(&first));

    b.switch_to_block(body);
    let group = GroupCode { form, bases, uniform: &uniform, place };
    let records = group.load(b, &[&form.replay.mapping.reads]);
    group.replay(b, &records, before, None)?;
    let left = b.ins().iadd_imm_s(left, -1);
    let place = b.ins().iadd_imm_u(place, form.group.records() as i64);
    b.ins().brif(left, body, &arguments(&[left, place]), exit, &[]);

    b.switch_to_block(exit);
    Ok(place)
}
