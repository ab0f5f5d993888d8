//! States without a block: in a large automaton, those that neither accept nor lead to themselves
//! are walked by a table, byte after byte, in one block for all.
//!
//! Most states of rules with Unicode classes are such, in the middle of a character. The others are
//! few, and are where tokens end and where long runs are skipped.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, Block, InstBuilder, Value, types};

use super::MAX_DIRECT_STATES;
use super::automaton::LexAutomaton;
use super::emit::Emitter;
use crate::cpu::memory::table_flags;

/// Stands for all walked states where a byte may lead to several of them.
pub(super) const WALKED: u16 = u16::MAX;

/// Which states have no block, and the table of what is behind them. Generated code points at it.
pub(super) struct Walked {
    /// For each state, whether it is walked.
    is_walked: Vec<bool>,
    /// The states that have blocks; by their places in it, entries of `next` name them.
    direct: Vec<u16>,
    /// For each state and class: the place of the next state in `direct`, or, from [`Walked::rows`] on, where the row of the
    /// next state begins.
    next: Vec<u32>,
}

impl Walked {
    /// None if all states have blocks.
    pub(super) fn of(automaton: &LexAutomaton) -> Option<Walked> {
        if usize::from(automaton.states()) <= MAX_DIRECT_STATES {
            return None;
        }
        let leads_to_itself = |q: u16| automaton.loops(q).contains(&true);
        let is_walked = |q: u16| q > LexAutomaton::START && automaton.at_end(q).is_none() && !leads_to_itself(q);
        let is_walked: Vec<bool> = (0..automaton.states()).map(is_walked).collect();
        let direct: Vec<u16> = (0..automaton.states()).filter(|&q| !is_walked[usize::from(q)]).collect();
        let entry = |&to: &u16| match direct.binary_search(&to) {
            Ok(place) => place as u32,
            Err(_) => (direct.len() + usize::from(to) * automaton.classes) as u32,
        };
        let next = automaton.next.iter().map(entry).collect();
        Some(Walked { is_walked, direct, next })
    }

    /// How many states have blocks.
    pub(super) fn direct(&self) -> usize {
        self.direct.len()
    }

    /// Bytes of the table.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.next[..])
    }

    /// A state, or what stands for it.
    pub(super) fn target(&self, state: u16) -> u16 {
        if self.is_walked[usize::from(state)] { WALKED } else { state }
    }

    /// Entries from here on name rows.
    fn rows(&self) -> u32 {
        self.direct.len() as u32
    }
}

impl Emitter<'_, '_> {
    /// From a state that has a block, by the byte at `p`, to one that has none.
    pub(super) fn enter_walk(&mut self, walked: &Walked, from: u16) {
        let row = usize::from(from) * self.automaton().classes;
        let row = self.b.ins().iconst(types::I64, row as i64);
        let entry = self.walked_entry(walked, row);
        let row = self.b.ins().iadd_imm_s(entry, -i64::from(walked.rows()));
        self.b.def_var(self.row, row);
        self.b.ins().jump(self.shared.walk, &[]);
    }

    /// The block of all walked states: `row` says which.
    pub(super) fn walk(&mut self, walked: &Walked) {
        self.b.switch_to_block(self.shared.walk);
        self.advance(1);
        self.read_or_end(self.shared.fail);
        let row = self.get(self.row);
        let entry = self.walked_entry(walked, row);
        let [on, out] = std::array::from_fn(|_| self.b.create_block());
        let is_row = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, entry, i64::from(walked.rows()));
        self.b.ins().brif(is_row, on, &[], out, &[]);
        self.b.switch_to_block(on);
        let row = self.b.ins().iadd_imm_s(entry, -i64::from(walked.rows()));
        self.b.def_var(self.row, row);
        self.b.ins().jump(self.shared.walk, &[]);
        self.b.switch_to_block(out);
        let block =
            |state: u16| -> Block { if state > LexAutomaton::START { self.block_of(state) } else { self.shared.fail } };
        let blocks: Vec<Block> = walked.direct.iter().map(|&state| block(state)).collect();
        let calls: Vec<_> = blocks.iter().map(|&block| self.b.func.dfg.block_call(block, &[])).collect();
        let default = self.b.func.dfg.block_call(self.shared.fail, &[]);
        let table = self.b.create_jump_table(ir::JumpTableData::new(default, &calls));
        let entry = self.b.ins().ireduce(types::I32, entry);
        self.b.ins().br_table(entry, table);
    }

    /// The entry that the byte at `p` leads to from the state whose row begins at `row`.
    fn walked_entry(&mut self, walked: &Walked, row: Value) -> Value {
        let byte = self.byte();
        let class = self.class(types::I64, byte);
        let place = self.b.ins().iadd(row, class);
        let offset = self.b.ins().ishl_imm_u(place, 2);
        let table = self.b.ins().iconst(types::I64, walked.next.as_ptr() as i64);
        let address = self.b.ins().iadd(table, offset);
        self.b.ins().uload32(table_flags(), address, 0)
    }
}
