//! The `rows` kernels: a loop over rows, one after the other, each from the same state.
//!
//! Of rows of a few elements, entering and leaving the loop over them would cost more than they do.
//! So each of a few lengths has a kernel in which a row is straight-line code, and of the shortest
//! several are. Carried values stay in registers, an element's number is a constant, and a core
//! works on several rows at a time. Rows without anything between them go through vectors, one in
//! each lane, where that takes fewer instructions.
//!
//! Segments between offsets are rows of different lengths: `short_between` has a loop for their
//! elements within one over them, as one would write it.

use cranelift_codegen::ir::{self, BlockArg, InstBuilder, condcodes::IntCC, types};
use cranelift_frontend::FunctionBuilder;
use monoscan_ir::Source;
use monoscan_ir::facts::Body;

use super::error::CodegenError;
use super::kernel::{Loop, branch};
use super::lower::Env;
use super::memory;
use super::place::Place;
use super::rounds::{Progress, Round};
use super::simd::{self, LaneForm, RowForm};

/// The longest row that has a kernel of its own, in which it is straight-line code, if an element is little work.
pub const LONGEST_STRAIGHT_ROW: usize = 16;

/// Most instructions of such a row, about.
const MOST_WORK: usize = 128;

/// The longest such row, if an element takes so many instructions.
pub(super) fn longest_straight(work: usize) -> usize {
    (MOST_WORK / work.max(1)).min(LONGEST_STRAIGHT_ROW)
}

/// The instructions of an element, about, which reads and writes so many columns.
pub(super) fn work(body: &Body, columns: usize) -> usize {
    body.mapping.function.insts.len() + columns
}

/// Instructions from row to row.
const STEPPING: usize = 4;

/// The form of rows of so many elements in lanes, if there is one and it takes fewer instructions, where a body reads and writes so
/// many columns.
pub(super) fn in_lanes(form: &LaneForm, len: usize, (body, columns): (&Body, usize)) -> Option<RowForm> {
    RowForm::of(form, len, len * work(body, columns) + STEPPING)
}

/// Elements of the rows that are taken at a time, at most, and most of these rows.
const AT_ONCE: usize = 12;
const MOST_AT_ONCE: usize = 4;

/// How many rows of so many elements are taken at a time, so that stepping and branching is shared.
fn at_once(len: usize) -> usize {
    (AT_ONCE / len).clamp(1, MOST_AT_ONCE)
}

impl Loop<'_> {
    /// A loop over so many rows, at least one, whose first elements are `pitch` records apart, each from its first element to its last:
    /// of so many elements or, by 0, of any number. With a form, some go through its lanes.
    pub(super) fn write_rows(
        self,
        b: &mut FunctionBuilder<'_>,
        env: &Env<'_>,
        (rows, pitch): (ir::Value, ir::Value),
        (len, form): (usize, Option<&LaneForm>),
    ) -> Result<(), CodegenError> {
        if let Some(native) = self.kernel.native {
            let before = self.entered(b, env, 0)?;
            let first = self.rows_by_native(b, env, native, ((rows, self.places[0]), pitch), &before)?;
            let row = |b: &mut _, place| {
                let places = vec![Place::at(place)];
                let progress = Progress { places, round: None, states: before.clone(), ahead: Vec::new() };
                self.all_rounds(b, env, Round::Any, self.len, progress).map(drop)
            };
            return self.each_row(b, (first, pitch), 1, row).map(drop);
        }
        // Elements whose number matters are counted apart from their places.
        let reads = &self.kernel.body.mapping.reads;
        let counts = reads.iter().any(|source| {
            matches!(source, Source::Next(_) | Source::Prev(_) | Source::First | Source::Last | Source::Index)
        });
        let numbers = counts.then(|| vec![b.ins().iconst(types::I64, 0)]);
        let all = Loop { numbers, ..self };
        let before = all.entered(b, env, 0)?;
        let mut first = (rows, all.places[0]);
        if len == 0 {
            let row = |b: &mut _, place| Loop { places: vec![place], ..all.clone() }.write(b, env).map(drop);
            return all.each_row(b, (first, pitch), 1, row).map(drop);
        }
        let total = b.ins().iconst(types::I64, len as i64);
        let known = Loop { data: all.data.with_total(total), len: total, ..all.clone() };
        let row = |b: &mut _, place| known.straight(b, env, (place, len), &before);
        if let Some(form) = form.and_then(|form| in_lanes(form, len, (all.kernel.body, all.columns()))) {
            first = known.in_lanes(b, &form, (first, pitch), &before)?;
        } else if at_once(len) > 1 {
            first = all.each_row(b, (first, pitch), at_once(len), row)?;
        }
        all.each_row(b, (first, pitch), 1, row).map(drop)
    }

    /// A loop over so many segments, at least one, each from its first element to its last. Where they begin and end are words in memory.
    pub(super) fn write_segments(
        self,
        b: &mut FunctionBuilder<'_>,
        env: &Env<'_>,
        segments: ir::Value,
        offsets: ir::Value,
    ) -> Result<(), CodegenError> {
        let states = self.entered(b, env, 0)?;
        let (body, exit) = (b.create_block(), b.create_block());
        let first = [segments, offsets, self.places[0]];
        let [left, offset, start] = first.map(|_| b.append_block_param(body, types::I64));
        b.ins().jump(body, &first.map(BlockArg::Value));
        b.switch_to_block(body);
        let next = b.ins().iadd_imm_u(offset, 8);
        let end = b.ins().load(types::I64, memory::data_flags(), next, 0);
        let len = b.ins().isub(end, start);
        let progress = Progress { places: vec![Place::at(start)], round: None, states, ahead: Vec::new() };
        self.all_rounds(b, env, Round::Any, len, progress)?;
        let left = b.ins().iadd_imm_s(left, -1);
        branch(b, left, body, &[left, next, end], exit, &[]);
        b.switch_to_block(exit);
        Ok(())
    }

    /// The rows of this form that fill its lanes, if rows have nothing between them. Gives how many others there are, and the first
    /// record.
    fn in_lanes(
        &self,
        b: &mut FunctionBuilder<'_>,
        form: &RowForm,
        ((rows, place), pitch): ((ir::Value, ir::Value), ir::Value),
        before: &[ir::Value],
    ) -> Result<(ir::Value, ir::Value), CodegenError> {
        let lanes = form.lanes() as i64;
        let (enter, others) = (b.create_block(), b.create_block());
        let [left, first] = [(); 2].map(|()| b.append_block_param(others, types::I64));
        let groups = b.ins().ushr_imm_u(rows, i64::from(lanes.trailing_zeros()));
        let none = b.ins().iconst(types::I64, 0);
        let is_dense = b.ins().icmp(IntCC::Equal, pitch, self.len);
        let groups = b.ins().select(is_dense, groups, none);
        branch(b, groups, enter, &[], others, &[rows, place]);
        b.switch_to_block(enter);
        let behind = simd::rows(b, form, &self.data.bases(), (groups, place), before)?;
        let rest = b.ins().band_imm_u(rows, lanes - 1);
        b.ins().jump(others, &[rest, behind].map(BlockArg::Value));
        b.switch_to_block(others);
        Ok((left, first))
    }

    /// A loop over rows while there are so many, which are taken at a time; `row` writes the code of one, whose first record is given.
    /// Gives how many are left, and the first record.
    fn each_row<'f>(
        &self,
        b: &mut FunctionBuilder<'f>,
        (first, pitch): ((ir::Value, ir::Value), ir::Value),
        at_once: usize,
        row: impl Fn(&mut FunctionBuilder<'f>, ir::Value) -> Result<(), CodegenError>,
    ) -> Result<(ir::Value, ir::Value), CodegenError> {
        let (body, rest) = (b.create_block(), b.create_block());
        let on = |b: &mut FunctionBuilder<'f>, left: ir::Value, place: ir::Value| {
            let are_left = match at_once {
                1 => left,
                _ => b.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, left, at_once as i64),
            };
            branch(b, are_left, body, &[left, place], rest, &[left, place]);
        };
        let [left, place] = [(); 2].map(|()| b.append_block_param(body, types::I64));
        let behind = [(); 2].map(|()| b.append_block_param(rest, types::I64));
        on(b, first.0, first.1);
        b.switch_to_block(body);
        let mut next = place;
        for _ in 0..at_once {
            row(b, next)?;
            next = b.ins().iadd(next, pitch);
        }
        let left = b.ins().iadd_imm_s(left, -(at_once as i64));
        on(b, left, next);
        b.switch_to_block(rest);
        Ok(behind.into())
    }

    /// A row of so many elements, from these states.
    fn straight(
        &self,
        b: &mut FunctionBuilder<'_>,
        env: &Env<'_>,
        (place, len): (ir::Value, usize),
        before: &[ir::Value],
    ) -> Result<(), CodegenError> {
        let round = self.numbers.as_ref().map(|_| b.ins().iconst(types::I64, 0));
        let mut progress =
            Progress { places: vec![Place::at(place)], round, states: before.to_vec(), ahead: Vec::new() };
        for _ in 0..len {
            progress = self.round(b, env, Round::Any, &progress)?;
        }
        Ok(())
    }

    fn columns(&self) -> usize {
        self.kernel.inputs.len() + self.kernel.outputs.len()
    }
}
