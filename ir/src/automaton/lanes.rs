//! Lanes: a replay that carries bytes where outputs need few lanes of a vector.
//!
//! A map between the states of an automaton is a vector, so that maps can be composed:
//! `permute(later, earlier)` has in lane j what the later map makes of lane j of the earlier one.
//! But lane j is all that this reads of the earlier map. Where the outputs need the state that lane
//! 0 leads to, a replay needs no map: it carries one byte, and takes it past an element by one
//! look-up in the element's map. If that map is itself looked up in a table of vectors, both look-
//! ups are one, in a table of bytes.

use std::collections::BTreeMap;

use crate::builder::FunctionBuilder;
use crate::facts::{Body, Range, StageFacts, drop_unused, narrowed, value_ranges};
use crate::function::{Function, Inst, Payload, Value};
use crate::opcode::{Opcode, Rule};
use crate::program::{Mapping, Table};
use crate::simplify::simplify;
use crate::transform::Lowered;
use crate::types::Type;

/// A [`Body`] that carries some components as a few of their lanes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LaneBody {
    /// As [`Body::mapping`]; a parameter that is one lane of a component is a `u8`, and named as the component is.
    pub mapping: Mapping,
    /// The values that go from one element to the next, in the order of parameters and results.
    pub carried: Vec<Carried>,
    /// The elements of a row of its table, if a lane is carried as where its row begins, a `u32`.
    pub row: Option<u32>,
    /// The tables of the mapping: those of the program, and behind them those that hold vectors of these as bytes.
    pub tables: Vec<Table>,
}

impl LaneBody {
    /// Its effect on these components alone, and on those that they need: the fold of the level that they are, which follows the
    /// others as the replay does. None if the replay does not carry all of them whole.
    pub fn fold_of(&self, components: &[(u32, u32)]) -> Option<LaneBody> {
        let is_own = |carried: &Carried| carried.lane.is_none() && components.contains(&carried.pair());
        let own: Vec<bool> = self.carried.iter().map(is_own).collect();
        if own.iter().filter(|own| **own).count() < components.len() {
            return None;
        }
        let Mapping { reads, mut function } = self.mapping.clone();
        function.results.truncate(own.len());
        let (mapping, kept) = narrowed(Mapping { reads, function }, own);
        let carried = self.carried.iter().zip(kept).filter(|(_, kept)| *kept).map(|(&carried, _)| carried).collect();
        Some(LaneBody { mapping, carried, row: self.row, tables: self.tables.clone() })
    }
}

/// A component, or a lane of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Carried {
    /// Which stage.
    pub stage: u32,
    /// Which component of its state.
    pub component: u32,
    /// Which lane, if it is not the whole component.
    pub lane: Option<u8>,
}

impl Carried {
    /// The stage, and which component of its state, whole or not.
    pub fn pair(self) -> (u32, u32) {
        (self.stage, self.component)
    }
}

/// Most lanes that are carried as bytes: more of them are cheaper as a vector.
const MOST_LANES: u32 = 2;

/// The replay of a program, carrying the lanes that are needed of its vectors as bytes where they are few: for engines on
/// which a look-up costs less than a permutation.
pub(super) fn by_lanes(program: &Lowered) -> LaneBody {
    let (body, tables) = (program.replay(), &program.tables);
    let function = &body.mapping.function;
    let lanes = carried_lanes(function, body.carried.len());
    let mut writer = Writer::new(function, &lanes, &carried_ranges(body, program.facts()), tables);
    function.values().for_each(|(value, inst)| writer.inst(value, inst));
    let mut results = Vec::new();
    for (place, &result) in function.results.iter().enumerate() {
        match lanes.get(place) {
            Some(lanes) if !lanes.is_empty() => results.extend(lanes.iter().map(|&lane| writer.lane(result, lane))),
            _ => results.push(writer.whole(result)),
        }
    }
    let mut carried = Vec::new();
    for (&(stage, component), lanes) in body.carried.iter().zip(&lanes) {
        let carry = |lane| Carried { stage, component, lane };
        match lanes.is_empty() {
            true => carried.push(carry(None)),
            false => carried.extend(lanes.iter().map(|&lane| carry(Some(lane)))),
        }
    }
    let parts = |place: usize| lanes.get(place).map_or(1, |lanes| lanes.len().max(1));
    let reads = body.mapping.reads.iter().enumerate();
    let reads = reads.flat_map(|(place, &source)| std::iter::repeat_n(source, parts(place))).collect();
    let function = simplify(&writer.builder.finish(&results), &writer.tables);
    let mapping = drop_unused(Mapping { reads, function }, carried.len());
    LaneBody { mapping, carried, row: None, tables: writer.tables }
}

/// The ranges of a body's first parameters.
fn carried_ranges(body: &Body, facts: &[StageFacts]) -> Vec<Range> {
    body.carried.iter().map(|&(stage, component)| facts[stage as usize].ranges[component as usize]).collect()
}

/// For each carried component the lanes that it is carried as; none where it stays whole.
fn carried_lanes(function: &Function, carried: usize) -> Vec<Vec<u8>> {
    let is_few = |mask: u16, ty: Type| {
        let count = mask.count_ones();
        ty.is_vector() && (1..=MOST_LANES).contains(&count) && (count as usize) < ty.size()
    };
    let mut needed = vec![0u16; carried];
    loop {
        let masks = needed_lanes(function, &needed);
        let mut grown: Vec<u16> = needed.iter().zip(&masks).map(|(needed, mask)| needed | mask).collect();
        if grown == needed {
            // What stays whole needs whatever it is computed from.
            let stays_whole = grown.iter_mut().zip(&function.params).filter(|(mask, ty)| !is_few(**mask, **ty));
            stays_whole.for_each(|(mask, _)| *mask = ALL);
            if grown == needed {
                break;
            }
        }
        needed = grown;
    }
    let lanes = |(mask, &ty): (u16, &Type)| (0..16).filter(|lane| is_few(mask, ty) && mask >> lane & 1 == 1).collect();
    needed.into_iter().zip(&function.params).map(lanes).collect()
}

/// Every lane.
const ALL: u16 = u16::MAX;

/// For every value the lanes of it that the results need, of which the first ones need these alone.
fn needed_lanes(function: &Function, first: &[u16]) -> Vec<u16> {
    let mut needed = vec![0u16; function.value_count()];
    for (place, result) in function.results.iter().enumerate() {
        let is_vector = function.type_of(*result).is_some_and(Type::is_vector);
        needed[result.index()] |= first.get(place).copied().filter(|_| is_vector).unwrap_or(ALL);
    }
    for (value, inst) in function.values().rev() {
        let lanes = needed[value.index()];
        if lanes != 0 {
            for (place, operand) in inst.operands().iter().enumerate() {
                needed[operand.index()] |= operand_lanes(inst, place, lanes);
            }
        }
    }
    needed
}

/// The lanes of an operand that these lanes of the result depend on.
fn operand_lanes(inst: &Inst, operand: usize, lanes: u16) -> u16 {
    match (inst.opcode.rule(), operand, inst.payload) {
        (Rule::Lane, _, Payload::Lane(lane)) => 1 << lane,
        (Rule::WithLane, 0, Payload::Lane(lane)) => lanes & !(1 << lane),
        (Rule::Permute, 1, _) | (Rule::Select, 1 | 2, _) => lanes,
        (Rule::Unary(_) | Rule::Binary(_), ..) if inst.ty.is_vector() => lanes,
        _ => ALL,
    }
}

/// Writes the function over again. A value that depends on a vector that is carried by lanes has lanes alone, and
/// those that are needed are written with it; any other is whole, and a lane of it is written where it is read.
struct Writer<'f> {
    function: &'f Function,
    needed: Vec<u16>,
    ranges: Vec<Range>,
    builder: FunctionBuilder,
    tables: Vec<Table>,
    /// For tables of vectors, where their bytes are.
    bytes_of: BTreeMap<u32, u32>,
    wholes: Vec<Option<Value>>,
    lanes: BTreeMap<(Value, u8), Value>,
}

impl<'f> Writer<'f> {
    fn new(function: &'f Function, carried: &[Vec<u8>], ranges: &[Range], tables: &[Table]) -> Writer<'f> {
        let mask = |lanes: &Vec<u8>| match lanes.is_empty() {
            true => ALL,
            false => lanes.iter().fold(0, |mask, lane| mask | 1 << lane),
        };
        let masks: Vec<u16> = carried.iter().map(mask).collect();
        let mut builder = FunctionBuilder::new();
        let mut wholes = vec![None; function.value_count()];
        let mut lanes = BTreeMap::new();
        for (place, &ty) in function.params.iter().enumerate() {
            match carried.get(place) {
                Some(apart) if !apart.is_empty() => {
                    lanes.extend(apart.iter().map(|&lane| ((Value::new(place), lane), builder.param(Type::U8))));
                }
                _ => wholes[place] = Some(builder.param(ty)),
            }
        }
        Writer {
            function,
            needed: needed_lanes(function, &masks),
            ranges: value_ranges(function, ranges, tables),
            builder,
            tables: tables.to_vec(),
            bytes_of: BTreeMap::new(),
            wholes,
            lanes,
        }
    }

    fn inst(&mut self, value: Value, inst: &Inst) {
        let operands = inst.operands();
        if operands.iter().all(|operand| self.wholes[operand.index()].is_some()) {
            let inst = inst.map_operands(|operand| self.wholes[operand.index()].expect("all are whole"));
            self.wholes[value.index()] = Some(self.builder.push(inst));
        } else if let (Opcode::Lane, Payload::Lane(lane)) = (inst.opcode, inst.payload) {
            self.wholes[value.index()] = Some(self.lane(operands[0], lane));
        } else {
            let needed = self.needed[value.index()];
            for lane in (0..inst.ty.size() as u8).filter(|lane| needed >> lane & 1 == 1) {
                let part = self.lane_of_inst(inst, lane);
                self.lanes.insert((value, lane), part);
            }
        }
    }

    fn whole(&self, value: Value) -> Value {
        self.wholes[value.index()].expect("what is needed of a value that has lanes alone is lanes")
    }

    fn lane(&mut self, value: Value, lane: u8) -> Value {
        if let Some(&part) = self.lanes.get(&(value, lane)) {
            return part;
        }
        let inst = self.function.inst(value);
        match inst.map(|inst| (inst.payload, inst.operands())) {
            Some((Payload::Table(table), &[element])) => {
                let (element, lane) = (self.within(table, element), self.builder.lit(lane));
                self.look_up(table, element, lane)
            }
            _ => {
                let whole = self.whole(value);
                self.builder.lane(whole, lane)
            }
        }
    }

    /// A lane of what an instruction gives that works lane by lane.
    fn lane_of_inst(&mut self, inst: &Inst, lane: u8) -> Value {
        match (inst.opcode, inst.operands(), inst.payload) {
            (Opcode::Permute, &[map, places], _) => {
                let place = self.lane(places, lane);
                self.permuted(map, place, self.ranges[places.index()])
            }
            (Opcode::WithLane, &[_, byte], Payload::Lane(own)) if own == lane => self.whole(byte),
            (Opcode::WithLane, &[vector, _], _) => self.lane(vector, lane),
            (Opcode::Select, &[condition, yes, no], _) => {
                let (yes, no) = (self.lane(yes, lane), self.lane(no, lane));
                self.builder.select(self.whole(condition), yes, no)
            }
            (opcode, operands, _) => {
                let lanes: Vec<Value> = operands.iter().map(|&operand| self.lane(operand, lane)).collect();
                self.builder.op(opcode, &lanes)
            }
        }
    }

    /// The lane of a map at a place in this range, 0 where there is no such lane.
    fn permuted(&mut self, map: Value, place: Value, range: Range) -> Value {
        let inst = self.function.inst(map);
        let Some((Payload::Table(table), &[element])) = inst.map(|inst| (inst.payload, inst.operands())) else {
            let whole = self.whole(map);
            let places = self.builder.splat(Type::bytes(1).expect("vectors have 1 to 16 lanes"), place);
            let lane = self.builder.binary(Opcode::Permute, whole, places);
            return self.builder.lane(lane, 0);
        };
        let element = self.within(table, element);
        let byte = self.look_up(table, element, place);
        let count = self.tables[table as usize].ty.size();
        if range.max < count as i128 {
            return byte;
        }
        let (count, zero) = (self.builder.lit(count as u8), self.builder.lit(0u8));
        let is_lane = self.builder.binary(Opcode::Lt, place, count);
        self.builder.select(is_lane, byte, zero)
    }

    /// The index of the element that a table gives for an index.
    fn within(&mut self, table: u32, index: Value) -> Value {
        let last = self.tables[table as usize].len() - 1;
        let whole = self.whole(index);
        if self.ranges[index.index()].max <= last as i128 {
            return whole;
        }
        let last = self.builder.lit(last as u32);
        self.builder.binary(Opcode::Min, whole, last)
    }

    /// A byte of an element of a table of vectors.
    fn look_up(&mut self, table: u32, element: Value, lane: Value) -> Value {
        let vectors = &self.tables[table as usize];
        let row = self.builder.lit(row_bytes(vectors) as u32);
        let bytes = *self.bytes_of.entry(table).or_insert_with(|| {
            self.tables.push(lane_by_lane(&self.tables[table as usize]));
            self.tables.len() as u32 - 1
        });
        let lane = self.builder.cast(Type::U32, lane);
        let start = self.builder.binary(Opcode::Mul, lane, row);
        let place = self.builder.binary(Opcode::Add, start, element);
        self.builder.table(bytes, Type::U8, place)
    }
}

/// The bytes of a table of vectors: for each lane a row, that has this lane of each element. Elements that are close to each other are
/// so in one word of memory, and rows begin in different banks.
fn lane_by_lane(vectors: &Table) -> Table {
    let lanes = vectors.ty.size();
    let row = |lane: usize| {
        let padding = row_bytes(vectors) - vectors.len();
        vectors.bytes.iter().copied().skip(lane).step_by(lanes).chain(std::iter::repeat_n(0, padding))
    };
    Table { ty: Type::U8, bytes: (0..lanes).flat_map(row).collect() }
}

/// Bytes of such a row: an odd number of words.
fn row_bytes(vectors: &Table) -> usize {
    4 * (vectors.len().div_ceil(4) | 1)
}
