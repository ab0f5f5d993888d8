//! Tabulated: a replay that finds in one look-up what a letter does to the one lane that is
//! carried.
//!
//! A replay [by lanes](by_lanes) takes a byte past an element by look-ups of what the element
//! reads, and looks up again what comes out. All of that follows from the byte and the element's
//! letter. So if letters are taken to be what differs for the replay too, not for the lift alone,
//! one table says it: for each lane and each letter the lane after it, and whatever bytes the
//! outputs are computed from. The fold, which finds an element's letter first, leaves it to the
//! replay.

use std::collections::BTreeSet;

use super::letters::Letters;
use super::names::{maps_lift, small_row};
use super::{LaneBody, Names, drop_unused};
use crate::builder::FunctionBuilder;
use crate::function::{Function, Value};
use crate::opcode::Opcode;
use crate::program::{Mapping, Source, Table};
use crate::simplify::simplify;
use crate::transform::Lowered;
use crate::types::{Constant, Type};

/// A fold and a replay by letters.
#[derive(Clone, PartialEq, Debug)]
pub struct Tabulated {
    /// The stage whose maps are folded.
    pub stage: u32,
    /// The fold. The low byte of an element's [mark](Names::mark) is its letter.
    pub names: Names,
    /// The replay. Where it reads `record.0`, a `u8`, it means the element's letter.
    pub body: LaneBody,
    /// How many letters there are, at most 256.
    pub letters: u32,
}

/// Most bytes that outputs and the lane after are found by: an element of the table has 1, 2 or 4 of them.
const MOST_FOUND: usize = 4;

/// Most letters where these follow from one byte: with more, a byte is as good as its letter.
const MOST_OF_ONE_BYTE: usize = 128;

impl Tabulated {
    /// Tabulates a replay by lanes. `names` may take up to `most_bytes` for the step. None if not exactly one lane
    /// is carried, of a stage that composes maps, if the program reads another column than one of `u8`, or if there are too many letters or names.
    pub fn of(program: &Lowered, body: &LaneBody, most_bytes: usize) -> Option<Tabulated> {
        let lanes = || body.carried.iter().enumerate().filter(|(_, carried)| carried.lane.is_some());
        let (place, carried) = lanes().next().filter(|_| lanes().count() == 1)?;
        let range = program.facts()[carried.stage as usize].ranges[carried.component as usize];
        let lift = maps_lift(program, carried.stage, &body.tables)?;
        let states = program.stages[carried.stage as usize].state[0].size();
        let [column] = &program.inputs[..] else { return None };
        let is_text = column.size == 1 && column.fields.len() == 1 && column.fields[0].ty == Type::U8;
        if !is_text || range.max >= states as i128 {
            return None;
        }
        let split = Split::of(&body.mapping, place)?;
        let joint = split.joint(&body.mapping, &lift, states, &body.tables);
        let letters = Letters::of(&joint, &body.tables)?;
        let most_letters = if joint.reads.len() == 1 { MOST_OF_ONE_BYTE } else { 256 };
        if letters.states.len() > most_letters {
            return None;
        }
        let names = Names::marked(&letters, &lift, &body.tables, most_bytes)?;
        let mut tables = names.tables.clone();
        let mapping = split.by_letters(&body.mapping, &letters.states, &mut tables);
        let body = LaneBody { mapping, carried: body.carried.clone(), tables };
        Some(Tabulated { stage: carried.stage, names, body, letters: letters.states.len() as u32 })
    }
}

/// A replay, split into what follows from the lane and the letter, and the rest.
struct Split {
    /// The parameter that is the lane.
    lane: usize,
    /// Whether a value follows from the lane and what is read of bytes and truth values.
    follows: Vec<bool>,
    /// Values that follow and that the rest, or a result, is computed from.
    found: Vec<Value>,
}

impl Split {
    fn of(mapping: &Mapping, lane: usize) -> Option<Split> {
        let function = &mapping.function;
        let is_small = |value: Value| matches!(function.type_of(value), Some(Type::U8 | Type::Bool));
        let is_text = |source: &Source| matches!(source, Source::Record(_) | Source::Next(_) | Source::Last);
        let reads = mapping.reads.iter().enumerate();
        let mut follows: Vec<bool> = reads.map(|(place, source)| place == lane || is_text(source)).collect();
        for inst in &function.insts {
            follows.push(inst.operands().iter().all(|operand| follows[operand.index()]));
        }
        let (mut found, mut seen) = (BTreeSet::new(), BTreeSet::new());
        let mut needed = function.results.clone();
        while let Some(value) = needed.pop() {
            let inst = function.inst(value);
            if !seen.insert(value) || inst.is_some_and(|inst| inst.as_constant().is_some()) {
                continue;
            }
            match inst {
                _ if follows[value.index()] && is_small(value) => {
                    found.insert(value);
                }
                Some(inst) => needed.extend(inst.operands()),
                None if follows[value.index()] => return None,
                None => {}
            }
        }
        let found: Vec<Value> = found.into_iter().collect();
        (found.len() <= MOST_FOUND).then_some(Split { lane, follows, found })
    }

    /// From what is read to the map of the element and, for each lane, what is found.
    fn joint(&self, mapping: &Mapping, lift: &Mapping, states: usize, tables: &[Table]) -> Mapping {
        let function = &mapping.function;
        let mut reads = lift.reads.clone();
        let own = mapping.reads.iter().enumerate().filter(|&(place, _)| place != self.lane && self.follows[place]);
        own.for_each(|(_, source)| {
            if !reads.contains(source) {
                reads.push(*source);
            }
        });
        let mut b = FunctionBuilder::new();
        let is_last = |source: &Source| *source == Source::Last;
        let sources: Vec<Value> =
            reads.iter().map(|source| b.param(if is_last(source) { Type::Bool } else { Type::U8 })).collect();
        let source = |source: &Source| reads.iter().position(|own| own == source).map(|place| sources[place]);
        let of_lift: Vec<Value> = lift.reads.iter().filter_map(source).collect();
        let mut results = b.inline(&lift.function, &of_lift);
        let found = Function { results: self.found.clone(), ..function.clone() };
        for lane in 0..states as u8 {
            let arguments = mapping.reads.iter().zip(&function.params).enumerate();
            let arguments: Vec<Value> = arguments
                .map(|(place, (read, ty))| match source(read) {
                    _ if place == self.lane => b.lit(lane),
                    Some(value) if self.follows[place] => value,
                    _ => b.constant(ty.zero()),
                })
                .collect();
            results.extend(b.inline(&found, &arguments));
        }
        let function = simplify(&b.finish(&results), tables);
        let keep = lift.reads.len();
        drop_unused(Mapping { reads, function }, keep)
    }

    /// The replay over again, with what is found looked up. Each letter has its map, and for each lane what is found.
    fn by_letters(&self, mapping: &Mapping, letters: &[Vec<Constant>], tables: &mut Vec<Table>) -> Mapping {
        let function = &mapping.function;
        let mut b = FunctionBuilder::new();
        let mut reads = Vec::new();
        let mut values: Vec<Option<Value>> = Vec::new();
        for (place, (&source, &ty)) in mapping.reads.iter().zip(&function.params).enumerate() {
            let stays = place == self.lane || !self.follows[place];
            values.push(stays.then(|| b.param(ty)));
            reads.extend(stays.then_some(source));
        }
        let letter = b.param(Type::U8);
        reads.push(Source::Record(0));

        let (table, row) = self.table(letters);
        let ty = table.ty;
        let [lane, letter] = [values[self.lane].expect("the lane stays"), letter].map(|byte| b.cast(Type::U32, byte));
        let row = b.lit(row as u32);
        let row = b.binary(Opcode::Mul, lane, row);
        let entry = b.binary(Opcode::Add, row, letter);
        let entry = b.table(tables.len() as u32, ty, entry);
        tables.push(table);
        values.resize(function.value_count(), None);
        for (place, &found) in self.found.iter().enumerate() {
            let bits = b.lit(8 * place as u32);
            let byte = if place == 0 { entry } else { b.binary(Opcode::Shr, entry, bits) };
            let byte = b.cast(Type::U8, byte);
            let zero = b.lit(0u8);
            values[found.index()] = Some(match function.type_of(found) {
                Some(Type::Bool) => b.binary(Opcode::Ne, byte, zero),
                _ => byte,
            });
        }
        for (value, inst) in function.values() {
            let known = |operand: &Value| values[operand.index()].is_some();
            if values[value.index()].is_none() && inst.operands().iter().all(known) {
                let inst = inst.map_operands(|operand| values[operand.index()].expect("all are known"));
                values[value.index()] = Some(b.push(inst));
            }
        }
        let result = |result: &Value| values[result.index()].expect("results follow from what is found and the rest");
        let results: Vec<Value> = function.results.iter().map(result).collect();
        let function = simplify(&b.finish(&results), tables);
        Mapping { reads, function }
    }

    /// For each lane a row of what is found for each letter, and the elements of a row.
    fn table(&self, letters: &[Vec<Constant>]) -> (Table, usize) {
        let ty = [Type::U8, Type::U8, Type::U16, Type::U32, Type::U32][self.found.len()];
        let lanes = letters.first().map_or(0, |letter| (letter.len() - 1) / self.found.len().max(1));
        let row = small_row(lanes, letters.len(), ty);
        let mut elements = Vec::new();
        for lane in 0..lanes {
            let found = |letter: &Vec<Constant>| {
                let found = &letter[1 + lane * self.found.len()..][..self.found.len()];
                found.iter().rev().fold(0, |bits, byte| bits << 8 | byte.bits() & 0xff)
            };
            let padding = std::iter::repeat_n(0, row - letters.len());
            elements.extend(letters.iter().map(found).chain(padding).map(|bits| Constant::new(ty, bits)));
        }
        (Table::new(ty, elements), row)
    }
}
