//! The `rows` kernel: a loop over rows, one after the other, each from the same state.
//!
//! Of rows of a few elements, entering and leaving the loop over them would cost more than they do.
//! So for each of a few lengths there is a loop over rows in which a row is straight-line code:
//! what is carried stays in registers, what depends on an element's number is known, and a core
//! works on several rows at a time.

use cranelift_codegen::ir::{self, BlockArg, InstBuilder, condcodes::IntCC, types};
use cranelift_frontend::FunctionBuilder;
use monoscan_ir::Source;

use super::element::Place;
use super::error::CodegenError;
use super::kernel::{Loop, branch};
use super::lower::Env;
use super::rounds::{Progress, Round};

/// The longest row that is straight-line code, and most instructions of all such rows, about.
const LONGEST: usize = 8;
const MOST_WORK: usize = 640;

impl Loop<'_> {
    /// A loop over so many rows, whose first elements are `pitch` records apart, each from its first element to its last.
    pub(super) fn write_rows(
        self,
        b: &mut FunctionBuilder<'_>,
        env: &Env<'_>,
        (rows, pitch): (ir::Value, ir::Value),
    ) -> Result<(), CodegenError> {
        // Elements whose number matters are counted apart from their places.
        let reads = &self.kernel.body.mapping.reads;
        let counts = reads.iter().any(|source| {
            matches!(source, Source::Next(_) | Source::Prev(_) | Source::First | Source::Last | Source::Index)
        });
        let numbers = counts.then(|| vec![b.ins().iconst(types::I64, 0)]);
        let all = Loop { numbers, ..self };
        let before: Vec<ir::Value> = all.kernel.carried.iter().map(|carried| all.carry_in(b, 0, carried)).collect();
        let exit = b.create_block();
        for len in 2..=all.longest_straight() {
            let (straight, other) = (b.create_block(), b.create_block());
            let is_so_long = b.ins().icmp_imm_u(IntCC::Equal, all.len, len as i64);
            branch(b, is_so_long, straight, &[], other, &[]);
            b.switch_to_block(straight);
            let total = b.ins().iconst(types::I64, len as i64);
            let known = Loop { data: all.data.with_total(total), ..all.clone() };
            all.each_row(b, (rows, pitch), exit, |b, place| known.straight(b, env, (place, len), &before))?;
            b.switch_to_block(other);
        }
        all.each_row(b, (rows, pitch), exit, |b, place| {
            Loop { places: vec![place], ..all.clone() }.write(b, env).map(drop)
        })?;
        b.switch_to_block(exit);
        Ok(())
    }

    /// A loop over rows that ends in `exit`; `row` writes the code of one, whose first record is given.
    fn each_row<'f>(
        &self,
        b: &mut FunctionBuilder<'f>,
        (rows, pitch): (ir::Value, ir::Value),
        exit: ir::Block,
        row: impl FnOnce(&mut FunctionBuilder<'f>, ir::Value) -> Result<(), CodegenError>,
    ) -> Result<(), CodegenError> {
        let block = b.create_block();
        let first = [rows, self.places[0]];
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

    /// The longest row that is straight-line code, with all shorter ones; in vectors, those that fill no group.
    fn longest_straight(&self) -> usize {
        let kernel = self.kernel;
        let work = kernel.body.mapping.function.insts.len() + kernel.inputs.len() + kernel.outputs.len();
        let most = kernel.lanes.map_or(LONGEST, |(form, _)| LONGEST.min(form.group.records() - 1));
        (2..=most).rev().find(|&len| len * (len + 1) / 2 * work <= MOST_WORK).unwrap_or(0)
    }
}
