//! The `rows` kernel: a loop over rows, one after the other, each from the same state.
//!
//! Of rows of a few elements, entering and leaving the loop over them would cost more than they do.
//! So for each of a few lengths there is a loop over rows in which a row is straight-line code.
//! Carried values stay in registers, an element's number is a constant, and a core works on several
//! rows at a time. Rows of 2, 4 and 8 elements without anything between them go through vectors,
//! one in each lane, where that takes fewer instructions.

use cranelift_codegen::ir::{self, BlockArg, InstBuilder, condcodes::IntCC, types};
use cranelift_frontend::FunctionBuilder;
use monoscan_ir::Source;

use super::element::Place;
use super::error::CodegenError;
use super::kernel::{Loop, branch};
use super::lower::Env;
use super::rounds::{Progress, Round};
use super::simd::{self, LaneForm};

/// The longest row that is straight-line code, if the program is small.
pub const LONGEST_STRAIGHT_ROW: usize = 8;

/// Most instructions of all such rows, about.
const MOST_WORK: usize = 640;

/// Instructions from row to row.
const STEPPING: usize = 4;

impl Loop<'_> {
    /// A loop over so many rows, whose first elements are `pitch` records apart, each from its first element to its last. With a form,
    /// some go through its lanes.
    pub(super) fn write_rows(
        self,
        b: &mut FunctionBuilder<'_>,
        env: &Env<'_>,
        (rows, pitch): (ir::Value, ir::Value),
        form: Option<&LaneForm>,
    ) -> Result<(), CodegenError> {
        // Elements whose number matters are counted apart from their places.
        let reads = &self.kernel.body.mapping.reads;
        let counts = reads.iter().any(|source| {
            matches!(source, Source::Next(_) | Source::Prev(_) | Source::First | Source::Last | Source::Index)
        });
        let numbers = counts.then(|| vec![b.ins().iconst(types::I64, 0)]);
        let all = Loop { numbers, ..self };
        let before = all.entered(b, env, 0)?;
        let exit = b.create_block();
        for len in 2..=all.longest_straight(form) {
            let (straight, other) = (b.create_block(), b.create_block());
            let is_so_long = b.ins().icmp_imm_u(IntCC::Equal, all.len, len as i64);
            branch(b, is_so_long, straight, &[], other, &[]);
            b.switch_to_block(straight);
            let total = b.ins().iconst(types::I64, len as i64);
            let known = Loop { data: all.data.with_total(total), ..all.clone() };
            let mut first = (rows, all.places[0]);
            if let Some(form) = all.form_of_rows(form, len) {
                first = all.in_lanes(b, &form, (first, pitch), exit, &before)?;
            }
            all.each_row(b, (first, pitch), exit, |b, place| known.straight(b, env, (place, len), &before))?;
            b.switch_to_block(other);
        }
        all.each_row(b, ((rows, all.places[0]), pitch), exit, |b, place| {
            Loop { places: vec![place], ..all.clone() }.write(b, env).map(drop)
        })?;
        b.switch_to_block(exit);
        Ok(())
    }

    /// The rows of this form that fill its lanes, if rows have nothing between them. Goes to `exit` if those are all, else on to the
    /// others: how many there are, and the first record.
    fn in_lanes(
        &self,
        b: &mut FunctionBuilder<'_>,
        form: &LaneForm,
        ((rows, place), pitch): ((ir::Value, ir::Value), ir::Value),
        exit: ir::Block,
        before: &[ir::Value],
    ) -> Result<(ir::Value, ir::Value), CodegenError> {
        let lanes = form.group.shape.lanes() as i64;
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
        branch(b, rest, others, &[rest, behind], exit, &[]);
        b.switch_to_block(others);
        Ok((left, first))
    }

    /// A loop over rows, at least one, that ends in `exit`; `row` writes the code of one, whose first record is given.
    fn each_row<'f>(
        &self,
        b: &mut FunctionBuilder<'f>,
        (first, pitch): ((ir::Value, ir::Value), ir::Value),
        exit: ir::Block,
        row: impl FnOnce(&mut FunctionBuilder<'f>, ir::Value) -> Result<(), CodegenError>,
    ) -> Result<(), CodegenError> {
        let block = b.create_block();
        let first = <[ir::Value; 2]>::from(first);
        let [left, place] = first.map(|_| b.append_block_param(block, types::I64));
        b.ins().jump(block, &first.map(BlockArg::Value));
        b.switch_to_block(block);
        row(b, place)?;
        let left = b.ins().iadd_imm_s(left, -1);
        let place = b.ins().iadd(place, pitch);
        branch(b, left, block, &[left, place], exit, &[]);
        Ok(())
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

    /// The longest row that is straight-line code, with all shorter ones; where kernels work in vectors along rows, those that fill no
    /// group of these, and those of one group that go through lanes instead.
    fn longest_straight(&self, form: Option<&LaneForm>) -> usize {
        let along = self.kernel.lanes.map_or(LONGEST_STRAIGHT_ROW + 1, |(form, _)| form.group.records());
        let is_straight = |len: usize| len < along || len == along && self.form_of_rows(form, len).is_some();
        let is_small = |len: usize| len * (len + 1) / 2 * self.work() <= MOST_WORK;
        (2..=LONGEST_STRAIGHT_ROW).take_while(|&len| is_straight(len) && is_small(len)).last().unwrap_or(0)
    }

    /// The form of rows of so many elements, if they are faster so than as straight-line code.
    fn form_of_rows(&self, form: Option<&LaneForm>, len: usize) -> Option<LaneForm> {
        form?.of_rows(len, len * self.work() + STEPPING)
    }

    /// The instructions of an element, about.
    fn work(&self) -> usize {
        let kernel = self.kernel;
        kernel.body.mapping.function.insts.len() + kernel.inputs.len() + kernel.outputs.len()
    }
}
