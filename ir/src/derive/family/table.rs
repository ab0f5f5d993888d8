//! A map of a few joint states to themselves: flags, small counters, hand-written automata.
//!
//! The states that are reached from the initial one are found by cases of what the element decides,
//! and [numbered](super::numbering). An element's map is where it leads each of them, and maps
//! compose as in [`automaton`](crate::automaton).

use super::cases::{MOST, Search};
use super::numbering::{Numbering, State};
use super::{Effect, Family, Group, LANES, seeded};
use crate::builder::FunctionBuilder;
use crate::derive::code::Code;
use crate::derive::refusal::Leave;
use crate::function::{Function, Inst, Payload, Value};
use crate::opcode::Opcode;
use crate::types::{Constant, Type};

use rustc_hash::FxHashMap;

/// Most instructions of a step that is tried on every state.
const LARGE: usize = 600;
/// Values that are looked at while states are sought: some milliseconds.
const FUEL: usize = 60_000;
/// Most choices that are followed to the states that they lead to.
const CHOICES: usize = 500;

/// The step of the group's members, on these values of them: code over the loop's parameters.
fn step_at(group: &mut Group<'_, '_>, step: &Function, values: &[i128]) -> Vec<Value> {
    let mut arguments: Vec<Value> = (0..step.params.len()).map(Value::new).collect();
    for (&member, &value) in group.members.iter().zip(values) {
        arguments[member] = group.code.constant(Constant::new(group.types[member], value as u128));
    }
    group.code.inline(step, &arguments)
}

/// The states that are reached from this one, each with those that an element may lead it to.
fn reached(group: &mut Group<'_, '_>, step: &Function, first: State) -> Result<FxHashMap<State, Vec<State>>, Leave> {
    let mut seen = FxHashMap::default();
    let mut open = vec![first];
    let mut fuel = FUEL;
    while let Some(state) = open.pop() {
        if seen.contains_key(&state) {
            continue;
        }
        let next = step_at(group, step, &state);
        let mut search = Search { code: group.code, fuel };
        let Some(successors) = search.successors(&next) else { return Err(Leave) };
        let left = search.fuel.saturating_sub(step.insts.len());
        group.code.fuel.spend(fuel - left);
        fuel = left;
        if group.code.fuel.is_spent() {
            return Err(Leave);
        }
        open.extend(successors.iter().cloned());
        seen.insert(state, successors);
        if seen.len() > MOST {
            return Err(Leave);
        }
    }
    Ok(seen)
}

/// The group as a table.
pub(super) fn recognise(group: &mut Group<'_, '_>) -> Result<Effect, Leave> {
    let own: Vec<Type> = group.members.iter().map(|&member| group.types[member]).collect();
    if !own.iter().all(|&ty| ty == Type::Bool || ty.is_int()) {
        return Err(Leave);
    }
    let results: Vec<Value> = group.members.iter().map(|&member| group.next[member]).collect();
    let step = group.code.extract(&results);
    if step.insts.len() > LARGE {
        return Err(Leave);
    }
    let first: State = group.members.iter().map(|&member| group.initial[member].as_int()).collect();
    let seen = reached(group, &step, first.clone())?;
    let states = Numbering::new(own, seen.keys().cloned().collect(), &first);
    let mut choices = CHOICES;
    let lanes = (0..states.lanes()).map(|number| {
        // A number without a state may lead anywhere.
        let Some(state) = states.state(number) else { return group.code.constant(states.start as u8) };
        let among: Vec<usize> = seen[state].iter().filter_map(|state| states.number(state)).collect();
        if let [only] = among[..] {
            return group.code.constant(only as u8);
        }
        let next = step_at(group, &step, state);
        number_of(group.code, &states, next, &among, &mut choices)
    });
    let lanes: Vec<Value> = lanes.collect();
    Ok(effect(group, &states, &lanes))
}

/// The number of the state with these values, which is one of these. Where it is no sum, the choices that lead to the values
/// become choices of numbers.
fn number_of(
    code: &mut Code<'_>,
    states: &Numbering,
    values: Vec<Value>,
    among: &[usize],
    choices: &mut usize,
) -> Value {
    let choice = |code: &Code<'_>, value: Value| code.inst(value).filter(|inst| inst.opcode == Opcode::Select);
    let chosen = values.iter().find_map(|&value| choice(code, value)).filter(|_| !states.is_sum() && *choices > 0);
    if let Some(chosen) = chosen {
        *choices -= 1;
        let condition = chosen.operands()[0];
        let mut arm = |code: &mut Code<'_>, arm: usize| {
            let of = |&value: &Value| match choice(code, value) {
                Some(inst) if inst.operands()[0] == condition => inst.operands()[arm],
                _ => value,
            };
            let values = values.iter().map(of).collect();
            number_of(code, states, values, among, choices)
        };
        let (yes, no) = (arm(code, 1), arm(code, 2));
        return code.select(condition, yes, no);
    }
    let known: Vec<Option<i128>> =
        values.iter().map(|&value| code.constant_of(value).map(|constant| constant.as_int())).collect();
    let may_be = |number: &usize| {
        let state = states.state(*number).into_iter().flatten();
        known.iter().zip(state).all(|(known, value)| known.is_none_or(|known| known == *value))
    };
    let among: Vec<usize> = among.iter().copied().filter(may_be).collect();
    // No element makes all the choices that lead to none.
    let Some(&first) = among.first() else { return code.constant(states.start as u8) };
    if among.len() == 1 {
        return code.constant(first as u8);
    }
    let number = code.inline(&states.find(&among), &values)[0];
    let last = states.last() as u8;
    if code.range(number).1 <= i128::from(last) {
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

fn effect(group: &mut Group<'_, '_>, states: &Numbering, lanes: &[Value]) -> Effect {
    let types = vector_types(states.lanes());
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
    let mut tables = Vec::new();
    let value = seeded(&types, |b, maps| {
        let number = b.lane(maps[0], 0);
        states.values(b, number, &mut tables)
    });
    let seed = seeded(&own, |b, u| {
        let number = states.seed(b, u, &mut tables);
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
