//! The block of each state: skips the bytes by which the state leads to itself, and goes on by the
//! first other one.

use std::mem::offset_of;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};

use super::{Edge, Emitter};
use crate::cpu::lexer::LexArgs;
use crate::cpu::lexer::automaton::LexAutomaton;
use crate::cpu::lexer::bytes::{self, Bytes, Test};
use crate::cpu::lexer::walked::WALKED;
use crate::cpu::memory::data_flags;

/// A state that leads to itself by fewer bytes does not skip.
const LEAST_LOOP: usize = 3;

impl Emitter<'_, '_> {
    /// A state, or what stands for it if it is walked.
    pub(in super::super) fn target(&self, state: u16) -> u16 {
        self.source.walked.map_or(state, |walked| walked.target(state))
    }

    /// The block of a live state.
    pub(in super::super) fn block_of(&self, state: u16) -> Block {
        self.states[usize::from(state - self.automaton().live().start)]
    }

    /// A block that goes from one state to another by the byte at `p`.
    pub(in super::super) fn edge(&mut self, from: u16, to: u16) -> Block {
        if to == LexAutomaton::DEAD {
            return self.over(from);
        }
        if to != WALKED && !self.automaton().remembers(from, to) {
            return self.block_of(to);
        }
        let block = self.b.create_block();
        self.edges.push(Edge { block, from, to });
        block
    }

    /// Fills the blocks of edges: they remember where a token could have ended.
    pub(super) fn remember(&mut self) {
        for Edge { block, from, to } in std::mem::take(&mut self.edges) {
            self.b.switch_to_block(block);
            // No walked state accepts.
            if let Some(kind) = self.automaton().accept(from) {
                let p = self.get(self.p);
                let back = self.automaton().back(from);
                let end = if back > 0 { self.b.ins().iadd_imm_s(p, -i64::from(back)) } else { p };
                self.b.def_var(self.accepted, end);
                let kind = self.b.ins().iconst(types::I64, i64::from(kind));
                self.b.def_var(self.accepted_kind, kind);
            }
            match self.source.walked {
                Some(walked) if to == WALKED => self.enter_walk(walked, from),
                _ => {
                    let target = self.block_of(to);
                    self.b.ins().jump(target, &[]);
                }
            }
        }
    }

    /// The block of a state.
    pub(super) fn state(&mut self, state: u16) {
        self.b.switch_to_block(self.block_of(state));
        self.advance(1);
        let automaton = self.automaton();
        if !automaton.is_open(state) {
            let over = self.over(state);
            self.b.ins().jump(over, &[]);
            return;
        }
        let set = automaton.loops(state);
        let slow = self.b.create_block();
        match self.skip_test(&set) {
            Some(test) => {
                let is_dropped = automaton.accept(state).is_some_and(|kind| !automaton.keeps(kind));
                if is_dropped {
                    self.peek(state, &set, slow);
                }
                let found = self.skip(&test, self.safe, slow);
                self.b.switch_to_block(found);
                let byte = self.byte();
                self.dispatch(state, byte, false, false);
            }
            None => {
                self.b.ins().jump(slow, &[]);
            }
        }
        self.b.switch_to_block(slow);
        self.read_or_end(self.over_at_end(state));
        let byte = self.byte();
        self.dispatch(state, byte, true, false);
    }

    /// Looks at the one byte at `p`, and goes on where it is one by which the state leads to itself: blanks mostly come one by one.
    fn peek(&mut self, state: u16, set: &Bytes, slow: Block) {
        let [look, leaves, stays] = std::array::from_fn(|_| self.b.create_block());
        let p = self.get(self.p);
        let more = self.b.ins().icmp(IntCC::SignedLessThanOrEqual, p, self.safe);
        self.b.ins().brif(more, look, &[], slow, &[]);
        self.b.switch_to_block(look);
        let byte = self.byte();
        let member = self.is_member(byte, set);
        self.b.ins().brif(member, stays, &[], leaves, &[]);
        self.b.switch_to_block(leaves);
        self.dispatch(state, byte, false, false);
        self.b.switch_to_block(stays);
    }

    /// Goes on if there is a byte at `p`; else the token ends with the text, or may go on behind what can be seen.
    pub(in super::super) fn read_or_end(&mut self, over: Block) {
        let [read, end] = std::array::from_fn(|_| self.b.create_block());
        let p = self.get(self.p);
        let more = self.b.ins().icmp(IntCC::UnsignedLessThan, p, self.len);
        self.b.ins().brif(more, read, &[], end, &[]);
        self.b.set_cold_block(end);
        self.b.switch_to_block(end);
        let last = self.b.ins().load(types::I64, data_flags(), self.args, offset_of!(LexArgs, last) as i32);
        self.b.ins().brif(last, over, &[], self.shared.undecided, &[]);
        self.b.switch_to_block(read);
    }

    /// Moves `p` to the first byte outside a set and goes to the block that is returned; where fewer than 16 bytes are left before
    /// the bound, to `slow`.
    pub(super) fn skip(&mut self, test: &Test, safe: Value, slow: Block) -> Block {
        let [head, body, more, found, out] = std::array::from_fn(|_| self.b.create_block());
        self.b.ins().jump(head, &[]);
        self.b.switch_to_block(head);
        let p = self.get(self.p);
        let space = self.b.ins().icmp(IntCC::SignedLessThanOrEqual, p, safe);
        self.b.ins().brif(space, body, &[], slow, &[]);
        self.b.switch_to_block(body);
        let address = self.here();
        let v = self.b.ins().load(types::I8X16, data_flags(), address, 0);
        let outside = test.outside(&mut self.b, v);
        self.b.ins().brif(outside, found, &[], more, &[]);
        self.b.switch_to_block(more);
        self.advance(16);
        self.b.ins().jump(head, &[]);
        self.b.switch_to_block(found);
        let count = self.b.ins().ctz(outside);
        let count = self.b.ins().uextend(types::I64, count);
        let p = self.get(self.p);
        let p = self.b.ins().iadd(p, count);
        self.b.def_var(self.p, p);
        self.b.ins().jump(out, &[]);
        out
    }

    /// How 16 bytes at a time are tested for being in this set, if that pays.
    pub(super) fn skip_test(&self, set: &Bytes) -> Option<Test> {
        let many = set.iter().filter(|&&member| member).count() >= LEAST_LOOP;
        if many { bytes::test(set, self.source.shuffles) } else { None }
    }
}
