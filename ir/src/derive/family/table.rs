//! A map of a few joint states to themselves: flags, small counters, hand-written automata.
//!
//! The states that are reached from the initial one are found by cases of what the element decides.
//! They are numbered as a box: the product of each component's range. An element's map is where it
//! leads each of them, and maps compose as in [`automaton`](crate::automaton).

use rustc_hash::FxHashSet;

use super::cases::{MOST, Search};
use super::{Effect, Family, Group, seeded};
use crate::builder::FunctionBuilder;
use crate::derive::code::Code;
use crate::derive::refusal::Leave;
use crate::function::{Function, Inst, Payload, Value};
use crate::opcode::Opcode;
use crate::program::Table;
use crate::types::{Constant, Type};

/// Lanes of a vector.
const LANES: usize = 16;
/// Most instructions of a step that is tried on every state.
const LARGE: usize = 600;
/// Values that are looked at while states are sought: some milliseconds.
const FUEL: usize = 60_000;

/// The states that a group reaches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reached {
    /// For each component its smallest value and how many there are.
    ranges: Vec<(i128, usize)>,
}

impl Reached {
    fn count(&self) -> usize {
        self.ranges.iter().map(|range| range.1).product()
    }

    /// The values of the state with this number.
    fn values(&self, mut number: usize) -> Vec<i128> {
        let digit = |&(min, count): &(i128, usize)| {
            let digit = number % count;
            number /= count;
            min + digit as i128
        };
        self.ranges.iter().map(digit).collect()
    }
}

/// The step of the group's members, on these values of them: code over the loop's parameters.
fn step_at(group: &mut Group<'_, '_>, step: &Function, values: &[i128]) -> Vec<Value> {
    let mut arguments: Vec<Value> = (0..step.params.len()).map(Value::new).collect();
    for (&member, &value) in group.members.iter().zip(values) {
        arguments[member] = group.code.constant(Constant::new(group.types[member], value as u128));
    }
    group.code.inline(step, &arguments)
}

fn reached(group: &mut Group<'_, '_>, step: &Function) -> Result<(Reached, FxHashSet<Vec<i128>>), Leave> {
    let first: Vec<i128> = group.members.iter().map(|&member| group.initial[member].as_int()).collect();
    let mut seen = FxHashSet::default();
    seen.insert(first.clone());
    let mut open = vec![first];
    let mut fuel = FUEL;
    while let Some(state) = open.pop() {
        let next = step_at(group, step, &state);
        let mut search = Search { code: group.code, fuel };
        let Some(successors) = search.successors(&next) else { return Err(Leave) };
        let left = search.fuel.saturating_sub(step.insts.len());
        group.code.fuel.spend(fuel - left);
        fuel = left;
        if group.code.fuel.is_spent() {
            return Err(Leave);
        }
        for successor in successors {
            if seen.insert(successor.clone()) {
                open.push(successor);
            }
        }
        if seen.len() > MOST {
            return Err(Leave);
        }
    }
    let ranges = (0..group.members.len()).map(|place| {
        let values = seen.iter().map(|state| state[place]);
        let is_flag = group.types[group.members[place]] == Type::Bool;
        let (min, max) = (values.clone().min().unwrap_or(0), values.max().unwrap_or(0));
        if is_flag { (0, 2) } else { (min, usize::try_from(max - min + 1).unwrap_or(usize::MAX)) }
    });
    Ok((Reached { ranges: ranges.collect() }, seen))
}

/// The group as a table.
pub(super) fn recognise(group: &mut Group<'_, '_>) -> Result<Effect, Leave> {
    let whole = |ty: Type| ty == Type::Bool || ty.is_int();
    if !group.members.iter().all(|&member| whole(group.types[member])) {
        return Err(Leave);
    }
    let results: Vec<Value> = group.members.iter().map(|&member| group.next[member]).collect();
    let step = group.code.extract(&results);
    if step.insts.len() > LARGE {
        return Err(Leave);
    }
    let (states, seen) = reached(group, &step)?;
    let boxed = states.ranges.iter().try_fold(1usize, |all, range| all.checked_mul(range.1));
    if boxed.is_none_or(|count| count > MOST) {
        return Err(Leave);
    }
    let count = states.count();
    // A state of the box that is not reached has the seed of the initial one.
    let first: Vec<i128> = group.members.iter().map(|&member| group.initial[member].as_int()).collect();
    let start = (0..count).find(|&number| states.values(number) == first).expect("the initial state is reached");
    let seeds: Vec<usize> =
        (0..count).map(|number| if seen.contains(&states.values(number)) { number } else { start }).collect();
    let mut lanes = Vec::new();
    for number in 0..count {
        let values = states.values(number);
        let to = match seen.contains(&values) {
            true => {
                let next = step_at(group, &step, &values);
                number_of(group.code, &states, &next)
            }
            // It is not reached, so it may lead anywhere.
            false => group.code.constant(0u8),
        };
        lanes.push(to);
    }
    Ok(effect(group, &states, &lanes, &seeds))
}

/// The number of the state with these values.
fn number_of(code: &mut Code<'_>, states: &Reached, values: &[Value]) -> Value {
    let mut number = code.constant(0u8);
    let mut stride = 1;
    for (&value, &(min, count)) in values.iter().zip(&states.ranges) {
        let digit = code.cast(Type::U8, value);
        let min = code.constant(Constant::new(Type::U8, min as u128));
        let wrapping = |opcode, x: &[Value]| Inst::new(opcode, Type::U8, x, Payload::Wraps);
        let digit = code.push(wrapping(Opcode::Sub, &[digit, min]));
        let factor = code.constant(stride as u8);
        let part = code.push(wrapping(Opcode::Mul, &[digit, factor]));
        number = code.push(wrapping(Opcode::Add, &[number, part]));
        stride *= count;
    }
    let last = (states.count() - 1) as u8;
    if code.range(number).1 <= last as i128 {
        return number;
    }
    let last = code.constant(last);
    code.binary(Opcode::Min, number, last)
}

/// The vectors of a map whose lane j is `lane(j)`; spare lanes lead to themselves.
fn vector_types(count: usize) -> Vec<Type> {
    let ty = Type::bytes(count.clamp(2, LANES)).expect("2 to 16 lanes");
    vec![ty; count.div_ceil(LANES)]
}

fn effect(group: &mut Group<'_, '_>, states: &Reached, lanes: &[Value], seeds: &[usize]) -> Effect {
    let types = vector_types(states.count());
    let width = types[0].size();
    let code = &mut *group.code;
    let lift = types.iter().enumerate().map(|(k, &ty)| {
        let bytes: Vec<u8> = (0..width).map(|lane| (k * width + lane) as u8).collect();
        let constant = |code: &Code<'_>, number: usize, own: u8| match lanes.get(number) {
            Some(&value) => code.constant_of(value).map_or(0, |constant| constant.bits() as u8),
            None => own,
        };
        let known: Vec<u8> = bytes.iter().map(|&own| constant(code, own as usize, own)).collect();
        let mut vector = code.constant(Constant::vector(&known));
        for (lane, &own) in bytes.iter().enumerate() {
            let Some(&to) = lanes.get(own as usize) else { continue };
            if code.constant_of(to).is_none() {
                vector = code.push(Inst::new(Opcode::WithLane, ty, &[vector, to], Payload::Lane(lane as u8)));
            }
        }
        vector
    });
    let lift: Vec<Value> = lift.collect();
    let own: Vec<Type> = group.members.iter().map(|&member| group.types[member]).collect();
    let identity = (0..types.len()).map(|k| {
        let lanes: Vec<u8> = (0..width).map(|lane| (k * width + lane) as u8).collect();
        Constant::vector(&lanes)
    });
    let (value, mut tables) = value(states, &own, &types);
    let seed = seeded(&own, |b, u| {
        let mut number = number(b, states, u);
        if seeds.iter().enumerate().any(|(place, &seed)| place != seed) {
            tables.push(Table::new(Type::U8, seeds.iter().map(|&seed| Constant::from(seed as u8))));
            let index = b.cast(Type::U32, number);
            number = b.table(tables.len() as u32 - 1, Type::U8, index);
        }
        types.iter().map(|&ty| b.splat(ty, number)).collect()
    });
    Effect {
        family: Family::Table { states: states.count() },
        identity: identity.collect(),
        lift,
        combine: combine(&types),
        seed,
        value,
        valid: Some(seeded(&types, |b, maps| {
            let last = b.constant(Constant::vector(&vec![(types.len() * width - 1) as u8; width]));
            let all = maps.iter().map(|&map| {
                let least = b.binary(Opcode::Min, map, last);
                b.binary(Opcode::Eq, least, map)
            });
            let all: Vec<Value> = all.collect();
            vec![all.into_iter().reduce(|a, c| b.binary(Opcode::And, a, c)).expect("a map has a vector")]
        })),
        types,
        tables,
    }
}

/// Lane j of the result is where the later map leads lane j of the earlier one.
fn combine(types: &[Type]) -> Function {
    let mut b = FunctionBuilder::new();
    let (earlier, later) = (b.params(types), b.params(types));
    let width = types[0].size();
    let results = earlier.iter().map(|&lanes| {
        let parts = later.iter().enumerate().map(|(k, &map)| {
            let offset = b.constant(Constant::vector(&vec![(k * width) as u8; width]));
            let lanes = if k == 0 { lanes } else { b.binary(Opcode::Sub, lanes, offset) };
            b.binary(Opcode::Permute, map, lanes)
        });
        let parts: Vec<Value> = parts.collect();
        parts.into_iter().reduce(|a, c| b.binary(Opcode::Or, a, c)).expect("a map has a vector")
    });
    let results: Vec<Value> = results.collect();
    b.finish(&results)
}

/// The number of a state, from the components; one beyond the box gets the number of another state.
fn number(b: &mut FunctionBuilder, states: &Reached, u: &[Value]) -> Value {
    b.wrapping(|b| {
        let mut number = b.lit(0u8);
        let mut stride = 1;
        for (&u, &(min, count)) in u.iter().zip(&states.ranges) {
            let digit = b.cast(Type::U8, u);
            let min = b.constant(Constant::new(Type::U8, min as u128));
            let digit = b.binary(Opcode::Sub, digit, min);
            let most = b.lit((count - 1) as u8);
            let digit = b.binary(Opcode::Min, digit, most);
            let factor = b.lit(stride as u8);
            let part = b.binary(Opcode::Mul, digit, factor);
            number = b.binary(Opcode::Add, number, part);
            stride *= count;
        }
        number
    })
}

/// The components of the state that a constant map leads to.
fn value(states: &Reached, own: &[Type], types: &[Type]) -> (Function, Vec<Table>) {
    let mut tables = Vec::new();
    let function = seeded(types, |b, maps| {
        let number = b.lane(maps[0], 0);
        let component = |place: usize, b: &mut FunctionBuilder, tables: &mut Vec<Table>| {
            let (ty, (min, _)) = (own[place], states.ranges[place]);
            if own.len() == 1 && ty == Type::Bool {
                let zero = b.lit(0u8);
                return b.binary(Opcode::Ne, number, zero);
            }
            if own.len() == 1 {
                let wide = b.cast(ty, number);
                let min = b.constant(Constant::new(ty, min as u128));
                return b.wrapping(|b| b.binary(Opcode::Add, wide, min));
            }
            let all = (0..states.count()).map(|number| Constant::new(ty, states.values(number)[place] as u128));
            tables.push(Table::new(ty, all));
            let index = b.cast(Type::U32, number);
            b.table(tables.len() as u32 - 1, ty, index)
        };
        (0..own.len()).map(|place| component(place, b, &mut tables)).collect()
    });
    (function, tables)
}
