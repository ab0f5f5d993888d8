//! From a state and a byte to the next state: a few comparisons, or a table of jumps.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, JumpTableData, Type, Value, types};

use super::automaton::LexAutomaton;
use super::bytes::Bytes;
use super::emit::Emitter;
use crate::cpu::memory::table_flags;

/// With more comparisons a table of jumps is used.
const MOST_COMPARISONS: usize = 4;

/// How the first byte of a token leads to its state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dispatch {
    /// By the byte, behind each kind of token on its own: fastest, largest.
    ByByte,
    /// By the byte's class, behind each kind of token on its own.
    ByClass,
    /// By the byte's class, in one place.
    Shared,
}

impl fmt::Display for Dispatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Dispatch::ByByte => "by byte, behind each kind of token",
            Dispatch::ByClass => "by byte class, behind each kind of token",
            Dispatch::Shared => "by byte class, in one place",
        })
    }
}

/// Bytes from the first to the last.
type Range = (u8, u8);

impl Emitter<'_, '_> {
    /// Goes on from a state by a byte. If it does not stay, the byte is none by which the state leads to itself.
    pub(super) fn dispatch(&mut self, state: u16, byte: Value, stays: bool, by_byte: bool) {
        let automaton = self.automaton();
        let leaves = |b: &u8| stays || automaton.step(state, *b) != state;
        let mut targets: BTreeMap<u16, Vec<u8>> = BTreeMap::new();
        for b in (0..=255u8).filter(leaves) {
            targets.entry(self.target(automaton.step(state, b))).or_default().push(b);
        }
        let ranges = |bytes: &[u8]| ranges(bytes, |b| !leaves(&b));
        let mut targets: Vec<(u16, Vec<Range>)> = targets.iter().map(|(&to, bytes)| (to, ranges(bytes))).collect();
        // What needs most comparisons is what is left after the others.
        targets.sort_by_key(|(_, ranges)| ranges.len());
        let Some((rest, _)) = targets.pop() else {
            // All bytes stay, and this one does not: it cannot be.
            let over = self.over(state);
            self.b.ins().jump(over, &[]);
            return;
        };
        if targets.iter().map(|(_, ranges)| ranges.len()).sum::<usize>() > MOST_COMPARISONS {
            return self.jump_by_table(state, byte, by_byte);
        }
        for (to, ranges) in targets {
            let yes = self.edge(state, to);
            let no = self.b.create_block();
            let member = self.is_in(byte, &ranges);
            self.b.ins().brif(member, yes, &[], no, &[]);
            self.b.switch_to_block(no);
        }
        let rest = self.edge(state, rest);
        self.b.ins().jump(rest, &[]);
    }

    fn jump_by_table(&mut self, state: u16, byte: Value, by_byte: bool) {
        let automaton = self.automaton();
        let (index, steps): (Value, Vec<u16>) = if by_byte {
            (self.b.ins().uextend(types::I32, byte), (0..=255).map(|b| automaton.step(state, b)).collect())
        } else {
            let row = usize::from(state) * automaton.classes;
            (self.class(types::I32, byte), automaton.next[row..row + automaton.classes].to_vec())
        };
        // Entries that lead to one state share a block of this table's own. Cranelift splits each edge to a block that others lead
        // to, so entries would be places of their own, and a processor that predicts places would predict bytes.
        let mut ways: BTreeMap<u16, Block> = BTreeMap::new();
        let calls: Vec<_> = steps
            .into_iter()
            .map(|to| {
                let to = self.target(to);
                let way = *ways.entry(to).or_insert_with(|| self.b.create_block());
                self.b.func.dfg.block_call(way, &[])
            })
            .collect();
        let over = self.over(state);
        let default = self.b.func.dfg.block_call(over, &[]);
        let table = self.b.create_jump_table(JumpTableData::new(default, &calls));
        self.b.ins().br_table(index, table);
        for (to, way) in ways {
            self.b.switch_to_block(way);
            let edge = self.edge(state, to);
            self.b.ins().jump(edge, &[]);
        }
    }

    /// The class of a byte.
    pub(super) fn class(&mut self, ty: Type, byte: Value) -> Value {
        let table = self.automaton().class_of.as_ptr() as i64;
        let table = self.b.ins().iconst(types::I64, table);
        let wide = self.b.ins().uextend(types::I64, byte);
        let address = self.b.ins().iadd(table, wide);
        self.b.ins().uload8(ty, table_flags(), address, 0)
    }

    /// Whether a byte is in a set.
    pub(super) fn is_member(&mut self, byte: Value, set: &Bytes) -> Value {
        let bytes: Vec<u8> = (0..=255).filter(|&b| set[usize::from(b)]).collect();
        let others: Vec<u8> = (0..=255).filter(|&b| !set[usize::from(b)]).collect();
        let [inside, outside] = [&bytes, &others].map(|bytes| ranges(bytes, |_| false));
        if inside.len() <= outside.len() {
            return self.is_in(byte, &inside);
        }
        let outside = self.is_in(byte, &outside);
        self.b.ins().icmp_imm_u(IntCC::Equal, outside, 0)
    }

    fn is_in(&mut self, byte: Value, ranges: &[Range]) -> Value {
        let mut tests = Vec::new();
        for &(low, high) in ranges {
            tests.push(if low == high {
                self.b.ins().icmp_imm_u(IntCC::Equal, byte, i64::from(low))
            } else {
                let distance = self.b.ins().iadd_imm_s(byte, -i64::from(low));
                self.b.ins().icmp_imm_u(IntCC::UnsignedLessThanOrEqual, distance, i64::from(high - low))
            });
        }
        match tests.into_iter().reduce(|a, b| self.b.ins().bor(a, b)) {
            Some(test) => test,
            None => self.b.ins().iconst(types::I8, 0),
        }
    }
}

/// Bytes as ranges, joined over those that cannot come.
fn ranges(bytes: &[u8], never: impl Fn(u8) -> bool) -> Vec<Range> {
    let mut ranges: Vec<Range> = Vec::new();
    for &byte in bytes {
        match ranges.last_mut() {
            Some(range) if (range.1 + 1..byte).all(&never) => range.1 = byte,
            _ => ranges.push((byte, byte)),
        }
    }
    ranges
}

/// The dispatch that keeps code small, by the number of kinds that end somewhere and an estimate of what each costs.
pub(super) fn choose(automaton: &LexAutomaton, most_bytes: usize) -> Dispatch {
    let kinds = automaton.kinds();
    let targets: BTreeSet<u16> = (0..=255).map(|byte| automaton.step(LexAutomaton::START, byte)).collect();
    // An entry of four bytes, and for each state that one leads to what moves registers on the way.
    let fits = |entries: usize| kinds.len() * (4 * entries + 24 * targets.len()) <= most_bytes;
    if fits(256) {
        Dispatch::ByByte
    } else if fits(automaton.classes) {
        Dispatch::ByClass
    } else {
        Dispatch::Shared
    }
}
