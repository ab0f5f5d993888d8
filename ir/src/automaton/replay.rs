//! Replays by symbols: one look-up says what an element's symbol does to the one lane that is
//! carried.
//!
//! A replay [by lanes](LaneBody) takes a byte past an element by look-ups of what the element
//! reads, and looks up again what comes out. All of that follows from the byte and the element's
//! symbol. So symbols are told apart for the replay too, not for the lift alone. Then one table
//! has, for each lane and each symbol, the lane after it and all bytes that the outputs are
//! computed from. The fold, which finds an element's symbol first, leaves it to the replay.

use std::collections::BTreeSet;

use super::alphabet::Alphabet;
use super::steps::{MOST_BESIDE, Step, Steps};
use super::{Automaton, LaneBody, MapFold, MealyFold, OutputFold};
use crate::builder::FunctionBuilder;
use crate::facts::{Level, drop_unused};
use crate::function::{Function, Value};
use crate::opcode::Opcode;
use crate::program::{Mapping, Source, Table};
use crate::simplify::simplify;
use crate::transform::Lowered;
use crate::types::{Constant, Type};

/// A fold and a replay by symbols.
#[derive(Clone, PartialEq, Debug)]
pub struct SymbolReplay {
    /// The stage whose maps are folded.
    pub stage: u32,
    /// The fold. The low byte of an element's [symbol](MapFold::symbol) is its number for the replay.
    pub fold: MapFold,
    /// The replay. Where it reads `record.0`, a `u8`, it means that number.
    pub body: LaneBody,
    /// How many numbers there are, at most 256.
    pub symbols: u32,
    /// Instead of the body, if the program only counts what the automaton keeps.
    pub mealy: Option<MealyFold>,
    /// The same where another second level needs a number of each element.
    pub outputs: Option<OutputFold>,
}

/// Most bytes that outputs and the lane after are found by.
const MOST_FOUND: usize = MOST_BESIDE + 1;

/// Most symbols where these follow from one byte: with more, a byte is as good as its symbol.
const MOST_OF_ONE_BYTE: usize = 128;

impl SymbolReplay {
    /// Tabulates a replay by lanes. The fold may take up to `most_bytes` for its step. None if not exactly one lane is
    /// carried, of an automaton; if the program reads another column than one of `u8`; if there are too many symbols or ids; or if
    /// outputs need more than three bytes of the automaton beside the lane after.
    pub fn of(program: &Lowered, body: &LaneBody, most_bytes: usize) -> Option<SymbolReplay> {
        let lanes = || body.carried.iter().enumerate().filter(|(_, carried)| carried.lane.is_some());
        let (place, carried) = lanes().next().filter(|_| lanes().count() == 1)?;
        let range = program.facts()[carried.stage as usize].ranges[carried.component as usize];
        let automaton = Automaton::of(program, carried.stage)?;
        // A result of vectors that are joined may be past the last state.
        let lanes = if automaton.vectors() == 1 { automaton.states } else { automaton.states.next_power_of_two() };
        let [column] = &program.inputs[..] else { return None };
        let is_text = column.size == 1 && column.fields.len() == 1 && column.fields[0].ty == Type::U8;
        if !is_text || range.max >= lanes as i128 {
            return None;
        }
        // The fold of a level of several stages looks up no symbols, and every later pass finds symbols in place of records.
        let levels = program.full_levels();
        let (first, later) = levels.split_first()?;
        let follows = |level: &Level| body.fold_of(&level.components(program)).is_some();
        if first.stages != [carried.stage] || !later.iter().all(follows) {
            return None;
        }
        // The fold writes symbols over the records.
        if body.mapping.reads.iter().any(|source| matches!(source, Source::Prev(_))) {
            return None;
        }
        let split = Split::of(&body.mapping, place)?;
        let joint = split.joint(&body.mapping, &automaton.lift, lanes, &body.tables);
        let alphabet = Alphabet::of(&joint, &body.tables)?;
        let most_symbols = if joint.reads.len() == 1 { MOST_OF_ONE_BYTE } else { 256 };
        if alphabet.symbols.len() > most_symbols {
            return None;
        }
        let stage = &program.stages[carried.stage as usize];
        let fold = MapFold::new(&automaton, stage, &alphabet, &body.tables, most_bytes, true)?;
        let mut tables = fold.tables.clone();
        let found: Vec<&[Constant]> = alphabet.symbols.iter().map(|symbol| &symbol[automaton.vectors()..]).collect();
        let ranks = |level: &Level| Some(&level.stages[..]) == program.rank().as_ref().map(std::slice::from_ref);
        let mealy = match (later, &body.carried[..]) {
            ([level], [_, _]) if ranks(level) => {
                MealyFold::of(&split, (&body.mapping, &body.carried), &found, lanes, &tables)
            }
            _ => None,
        };
        let is_record = |source: &Source| matches!(source, Source::Record(_));
        let outputs = match later {
            [level]
                if program.rank().is_none()
                    && fold.reads.iter().all(is_record)
                    && body.carried.len() == 1 + level.components(program).len() =>
            {
                OutputFold::of(&split, (&body.mapping, &body.carried), &found, lanes, &tables)
            }
            _ => None,
        };
        let body = split.by_symbols(body, &found, lanes, &mut tables)?;
        Some(SymbolReplay { stage: carried.stage, fold, body, symbols: alphabet.symbols.len() as u32, mealy, outputs })
    }
}

/// A replay, split into what follows from the lane and the symbol, and the rest.
pub(super) struct Split {
    /// The parameter that is the lane.
    pub(super) lane: usize,
    /// Whether a value follows from the lane and what is read of bytes and truth values.
    pub(super) follows: Vec<bool>,
    /// Values that follow and that the rest, or a result, is computed from.
    pub(super) found: Vec<Value>,
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

    /// Whether some of these results are computed from a value that is found, or are it.
    pub(super) fn is_needed(&self, function: &Function, results: impl Iterator<Item = Value>, found: Value) -> bool {
        let mut needed: Vec<Value> = results.collect();
        let mut seen = BTreeSet::new();
        while let Some(value) = needed.pop() {
            if value == found {
                return true;
            }
            if seen.insert(value) && !self.found.contains(&value) {
                needed.extend(function.inst(value).iter().flat_map(|inst| inst.operands()));
            }
        }
        false
    }

    /// From what is read to the map of the element and, for each lane, what is found.
    fn joint(&self, mapping: &Mapping, lift: &Mapping, lanes: usize, tables: &[Table]) -> Mapping {
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
        for lane in (0..=255u8).take(lanes) {
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

    /// The bytes that are found of each lane and symbol, and the lane after them: for each lane the steps of all symbols. Beside
    /// the lane after is what is made of these bytes. None if that does not follow, or if nothing is made of some.
    pub(super) fn steps(
        &self,
        function: &Function,
        symbols: &[&[Constant]],
        lanes: usize,
        mut beside: impl FnMut(&[u8]) -> Option<u32>,
    ) -> Option<Vec<Vec<Step>>> {
        let after = function.results[self.lane];
        let constant = || function.inst(after).and_then(|inst| inst.as_constant()).map(|after| after.bits() as u8);
        let place = self.place(after);
        let count = self.found.len();
        let mut step = |lane: usize, symbol: &[Constant]| {
            let bytes: Vec<u8> = symbol[lane * count..][..count].iter().map(|byte| byte.bits() as u8).collect();
            let after = place.map_or_else(constant, |place| Some(bytes[place]))?;
            Some((after, beside(&bytes)?))
        };
        (0..lanes).map(|lane| symbols.iter().map(|symbol| step(lane, symbol)).collect()).collect()
    }

    /// Where a value is among those that are found.
    pub(super) fn place(&self, value: Value) -> Option<usize> {
        self.found.iter().position(|&found| found == value)
    }

    /// Begins a function in place of the mapping's: of what does not follow from lane and symbol, of the lane in this type, if it stays, and
    /// of the symbol, a byte. Gives what it reads, its values for those of the mapping, as far as they are known, and the symbol.
    pub(super) fn enter(
        &self,
        b: &mut FunctionBuilder,
        mapping: &Mapping,
        lane: Option<Type>,
    ) -> (Vec<Source>, Vec<Option<Value>>, Value) {
        let Mapping { reads: sources, function } = mapping;
        let (mut reads, mut values) = (Vec::new(), Vec::new());
        for (place, (&source, &ty)) in sources.iter().zip(&function.params).enumerate() {
            let ty = if place == self.lane { lane } else { (!self.follows[place]).then_some(ty) };
            values.push(ty.map(|ty| b.param(ty)));
            reads.extend(ty.map(|_| source));
        }
        values.resize(function.value_count(), None);
        reads.push(Source::Record(0));
        (reads, values, b.param(Type::U8))
    }

    /// The results but for the lane's, if all are known.
    pub(super) fn results_beside_lane(&self, function: &Function, values: &[Option<Value>]) -> Option<Vec<Value>> {
        let results = function.results.iter().enumerate().filter(|&(place, _)| place != self.lane);
        results.map(|(_, result)| values[result.index()]).collect()
    }

    /// The replay over again, with what is found looked up: each symbol has it for each lane. None if the lane after does not
    /// follow from these, or more bytes beside it than fit.
    fn by_symbols(
        &self,
        body: &LaneBody,
        symbols: &[&[Constant]],
        lanes: usize,
        tables: &mut Vec<Table>,
    ) -> Option<LaneBody> {
        let function = &body.mapping.function;
        let after = function.results[self.lane];
        let others = function.results.iter().enumerate().filter(|&(place, _)| place != self.lane);
        let needs_after = self.is_needed(function, others.map(|(_, &value)| value), after);
        let is_beside = |&place: &usize| self.found[place] != after || needs_after;
        let beside: Vec<usize> = (0..self.found.len()).filter(is_beside).collect();
        if beside.len() > MOST_BESIDE {
            return None;
        }
        let packed = |bytes: &[u8]| beside.iter().rev().fold(0, |bits, &place| bits << 8 | u32::from(bytes[place]));
        let steps = Steps::new(&self.steps(function, symbols, lanes, |bytes| Some(packed(bytes)))?, beside.len());
        let mut b = FunctionBuilder::new();
        let (reads, mut values, symbol) = self.enter(&mut b, &body.mapping, Some(steps.carried()));
        let before = values[self.lane].take().expect("the lane stays");
        let row = steps.row();
        let (lane, bytes) = steps.look_up(&mut b, (before, symbol), tables);
        let found = beside.iter().map(|&place| self.found[place]);
        self.unpack(&mut b, function, found.zip(bytes), &mut values);
        self.rest(&mut b, function, &mut values);
        let result = |(place, result): (usize, &Value)| {
            if place == self.lane {
                lane
            } else {
                values[result.index()].expect("results follow from what is found and the rest")
            }
        };
        let results: Vec<Value> = function.results.iter().enumerate().map(result).collect();
        let function = simplify(&b.finish(&results), tables);
        Some(LaneBody {
            mapping: Mapping { reads, function },
            carried: body.carried.clone(),
            row,
            tables: tables.clone(),
        })
    }

    /// Values that are found, each out of the low byte of another one.
    pub(super) fn unpack(
        &self,
        b: &mut FunctionBuilder,
        function: &Function,
        found: impl Iterator<Item = (Value, Value)>,
        values: &mut [Option<Value>],
    ) {
        for (found, bits) in found {
            let byte = b.cast(Type::U8, bits);
            let zero = b.lit(0u8);
            values[found.index()] = Some(match function.type_of(found) {
                Some(Type::Bool) => b.binary(Opcode::Ne, byte, zero),
                _ => byte,
            });
        }
    }

    /// All values that follow from those that are known.
    pub(super) fn rest(&self, b: &mut FunctionBuilder, function: &Function, values: &mut [Option<Value>]) {
        for (value, inst) in function.values() {
            let known = |operand: &Value| values[operand.index()].is_some();
            if values[value.index()].is_none() && inst.operands().iter().all(known) {
                let inst = inst.map_operands(|operand| values[operand.index()].expect("all are known"));
                values[value.index()] = Some(b.push(inst));
            }
        }
    }
}
