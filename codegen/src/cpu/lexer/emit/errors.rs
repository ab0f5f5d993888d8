//! Where no token is: back to the last place where one could have ended, and runs of bytes that
//! begin none, which are one error each.

use std::mem::offset_of;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, Value, types};

use super::Emitter;
use crate::cpu::lexer::automaton::ERROR;
use crate::cpu::lexer::{LexArgs, NONE, Status, Widths};
use crate::cpu::memory::data_flags;

impl Emitter<'_, '_> {
    /// The text from `s` to `p` leads nowhere and is no token: back to where one could have ended, or an error of one byte.
    pub(super) fn failure(&mut self) {
        self.b.switch_to_block(self.shared.fail);
        let [p, s, accepted] = [self.p, self.s, self.accepted].map(|variable| self.get(variable));
        let is_token = self.b.ins().icmp(IntCC::UnsignedGreaterThan, accepted, s);
        let behind = self.b.ins().iadd_imm_s(s, 1);
        let end = self.b.ins().select(is_token, accepted, behind);
        let [give_up, go, token, error] = std::array::from_fn(|_| self.b.create_block());
        // What was read in vain, all together, is bounded.
        let vain = self.b.ins().isub(p, end);
        let offset = offset_of!(LexArgs, budget) as i32;
        let budget = self.b.ins().load(types::I64, data_flags(), self.args, offset);
        let left = self.b.ins().isub(budget, vain);
        self.b.ins().store(data_flags(), left, self.args, offset);
        let spent = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, left, 0);
        self.b.ins().brif(spent, give_up, &[], go, &[]);

        self.b.switch_to_block(go);
        self.b.def_var(self.p, end);
        self.b.ins().brif(is_token, token, &[], error, &[]);
        self.b.switch_to_block(token);
        let kind = self.get(self.accepted_kind);
        let kind = self.b.ins().ireduce(types::I32, kind);
        self.end_of_kind(kind);
        self.b.switch_to_block(error);
        let (n, s) = self.without_error_before();
        self.b.def_var(self.n, n);
        let none = self.b.ins().icmp_imm_s(IntCC::Equal, s, NONE as i64);
        let own = self.get(self.s);
        let s = self.b.ins().select(none, own, s);
        self.b.def_var(self.s, s);
        self.b.ins().jump(self.shared.errors, &[]);

        self.b.switch_to_block(give_up);
        self.exit_before(Status::Vain);
        self.b.switch_to_block(self.shared.undecided);
        self.exit_before(Status::Undecided);
    }

    /// Goes to the end of a kind that is known when the code runs: one that was remembered, so one that ends somewhere.
    fn end_of_kind(&mut self, kind: Value) {
        let most = self.ends.keys().max().map_or(0, |&kind| kind);
        let block = |kind| self.ends.get(&kind).copied().unwrap_or(self.shared.errors);
        let calls: Vec<_> = (0..=most).map(|kind| self.b.func.dfg.block_call(block(kind), &[])).collect();
        let default = self.b.func.dfg.block_call(self.shared.errors, &[]);
        let table = self.b.create_jump_table(ir::JumpTableData::new(default, &calls));
        self.b.ins().br_table(kind, table);
    }

    /// How many tokens there are without an error that ends at `s`, if that is the last one; and where it began, or [`NONE`].
    fn without_error_before(&mut self) -> (Value, Value) {
        let n = self.get(self.n);
        let none = self.b.ins().iconst(types::I64, NONE as i64);
        if !self.automaton().keeps_errors {
            return (n, none);
        }
        let [some, out] = std::array::from_fn(|_| self.b.create_block());
        for _ in 0..2 {
            self.b.append_block_param(out, types::I64);
        }
        self.b.ins().brif(n, some, &[], out, &[n.into(), none.into()]);
        self.b.switch_to_block(some);
        let before = self.b.ins().iadd_imm_s(n, -1);
        let [kinds, starts, ends] = self.columns;
        let Widths { kind: of_kind, place: of_place } = self.source.widths;
        let kind = self.load(of_kind, kinds, before);
        let [start, end] = [starts, ends].map(|column| self.load(of_place, column, before));
        let s = self.get(self.s);
        let is_error = self.b.ins().icmp_imm_u(IntCC::Equal, kind, i64::from(ERROR >> (16 - 8 * of_kind)));
        let ends_here = self.b.ins().icmp(IntCC::Equal, end, s);
        let joined = self.b.ins().band(is_error, ends_here);
        let n = self.b.ins().select(joined, before, n);
        let start = self.b.ins().select(joined, start, none);
        self.b.ins().jump(out, &[n.into(), start.into()]);
        self.b.switch_to_block(out);
        let params = self.b.block_params(out);
        (params[0], params[1])
    }

    /// Skips bytes that begin no token, up to `until`; `s` is where they began.
    pub(super) fn error_run(&mut self) {
        self.b.switch_to_block(self.shared.errors);
        let set = self.automaton().begins_none();
        let [slow, token] = std::array::from_fn(|_| self.b.create_block());
        match self.skip_test(&set) {
            Some(test) => {
                let safe = self.b.ins().iadd_imm_s(self.until, -16);
                let found = self.skip(&test, safe, slow);
                self.b.switch_to_block(found);
                self.b.ins().jump(token, &[]);
            }
            None => {
                self.b.ins().jump(slow, &[]);
            }
        }
        self.b.switch_to_block(slow);
        let [look, stop, next] = std::array::from_fn(|_| self.b.create_block());
        let p = self.get(self.p);
        let more = self.b.ins().icmp(IntCC::UnsignedLessThan, p, self.until);
        self.b.ins().brif(more, look, &[], stop, &[]);
        self.b.switch_to_block(look);
        let byte = self.byte();
        let is_error = self.is_member(byte, &set);
        self.b.ins().brif(is_error, next, &[], token, &[]);
        self.b.switch_to_block(next);
        self.advance(1);
        self.b.ins().jump(slow, &[]);
        self.b.switch_to_block(stop);
        let s = self.get(self.s);
        self.exit(Status::Done, Some(s));
        self.b.switch_to_block(token);
        if self.automaton().keeps_errors {
            let kind = self.b.ins().iconst(types::I32, i64::from(ERROR));
            let one = self.b.ins().iconst(types::I64, 1);
            self.put(kind, one);
        }
        self.b.ins().jump(self.shared.begin, &[]);
    }

    /// Leaves before the token at `s`. An error that was written just before it is taken back: it may go on.
    fn exit_before(&mut self, status: Status) {
        let (n, error) = self.without_error_before();
        self.b.def_var(self.n, n);
        let s = self.get(self.s);
        self.b.def_var(self.p, s);
        self.exit(status, Some(error));
    }
}
