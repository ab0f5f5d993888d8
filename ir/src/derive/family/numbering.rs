//! How the states of a table are numbered: a state's number from its components, and back.
//!
//! A number is a sum of multiples of the components, with the least factors that tell the reached
//! states apart. If these are all that a box has, it is a state's place in the box.
//!
//! Where values lie too far apart for that, states have the numbers of their order, and are told
//! apart by comparisons. Numbers that no state has are allowed as long as they take no more space.

use rustc_hash::FxHashMap;

use super::cases::MOST;
use super::{LANES, seeded};
use crate::builder::FunctionBuilder;
use crate::function::{Function, Value};
use crate::opcode::Opcode;
use crate::program::Table;
use crate::types::{Constant, Type};

/// The values of the components.
pub(super) type State = Vec<i128>;

/// Of each component its smallest value and its factor.
type Terms = Vec<(i128, u8)>;

pub(super) struct Numbering {
    /// The types of the components.
    types: Vec<Type>,
    /// The states by number; none for a number that no state has.
    states: Vec<Option<State>>,
    /// Where numbers are sums.
    terms: Option<Terms>,
    numbers: FxHashMap<State, usize>,
    /// The number of the initial state.
    pub(super) start: usize,
}

impl Numbering {
    /// Of these states.
    pub(super) fn new(types: Vec<Type>, mut reached: Vec<State>, start: &State) -> Numbering {
        reached.sort_by(|a, b| a.iter().rev().cmp(b.iter().rev()));
        let (mut states, mut terms) = (Vec::new(), None);
        if let Some((sum, numbers)) = summed(&reached) {
            let lanes = numbers.iter().max().map_or(0, |last| last + 1);
            if space(lanes) == space(reached.len()) {
                states = vec![None; lanes];
                numbers.into_iter().zip(&reached).for_each(|(number, state)| states[number] = Some(state.clone()));
                terms = Some(sum);
            }
        }
        if terms.is_none() {
            states = reached.into_iter().map(Some).collect();
        }
        if states.len() <= SMALL {
            states.resize(space(states.len()), None);
        }
        let numbers: FxHashMap<State, usize> =
            states.iter().enumerate().filter_map(|(number, state)| Some((state.clone()?, number))).collect();
        Numbering { types, start: numbers[start], states, terms, numbers }
    }

    /// How many states there are.
    pub(super) fn count(&self) -> usize {
        self.numbers.len()
    }

    /// How many numbers.
    pub(super) fn lanes(&self) -> usize {
        self.states.len()
    }

    /// The last number of a state.
    pub(super) fn last(&self) -> usize {
        self.states.iter().rposition(Option::is_some).expect("the initial state is reached")
    }

    /// The state of a number, if there is one.
    pub(super) fn state(&self, number: usize) -> Option<&State> {
        self.states[number].as_ref()
    }

    /// A component of the state of a number; what has no state has the initial one.
    fn component(&self, number: usize, place: usize) -> i128 {
        self.state(number).or(self.state(self.start)).expect("the initial state is reached")[place]
    }

    pub(super) fn number(&self, state: &State) -> Option<usize> {
        self.numbers.get(state).copied()
    }

    /// Whether numbers are sums of components.
    pub(super) fn is_sum(&self) -> bool {
        self.terms.is_some()
    }

    /// From the components to the number of the state, which is one of these. For any other state it gives some number, which a
    /// sum may have beyond the last.
    pub(super) fn find(&self, among: &[usize]) -> Function {
        seeded(&self.types, |b, u| match &self.terms {
            Some(terms) => vec![b.wrapping(|b| sum(b, terms, u))],
            None => vec![self.told_apart(b, u, among)],
        })
    }

    /// The number of the state among these, by comparing the components in which they differ.
    fn told_apart(&self, b: &mut FunctionBuilder, u: &[Value], among: &[usize]) -> Value {
        let of = |number: usize, place: usize| self.component(number, place);
        let differs = |&place: &usize| among.iter().any(|&number| of(number, place) != of(among[0], place));
        let Some(place) = (0..u.len()).find(differs) else { return b.lit(among[0] as u8) };
        let mut values: Vec<i128> = among.iter().map(|&number| of(number, place)).collect();
        values.sort_unstable();
        values.dedup();
        let mut found = None;
        for value in values {
            let those: Vec<usize> = among.iter().copied().filter(|&number| of(number, place) == value).collect();
            let number = self.told_apart(b, u, &those);
            found = Some(match found {
                None => number,
                Some(others) => {
                    let known = b.constant(Constant::new(self.types[place], value as u128));
                    let is_it = b.binary(Opcode::Eq, u[place], known);
                    b.select(is_it, number, others)
                }
            });
        }
        found.expect("there is a value")
    }

    /// From the components to a number, and a table that it looks up in, if it does. Another state gets the number of a reached one.
    pub(super) fn seed(&self, b: &mut FunctionBuilder, u: &[Value], tables: &mut Vec<Table>) -> Value {
        let all: Vec<usize> = self.numbers.values().copied().collect();
        let number = b.inline(&self.find(&all), u)[0];
        if !self.is_sum() {
            return number;
        }
        let last = b.lit(self.last() as u8);
        let number = b.binary(Opcode::Min, number, last);
        if self.states[..=self.last()].iter().all(Option::is_some) {
            return number;
        }
        let own = |(number, state): (usize, &Option<State>)| if state.is_some() { number } else { self.start };
        let own = self.states.iter().enumerate().map(own);
        tables.push(Table::new(Type::U8, own.map(|number| Constant::from(number as u8))));
        let index = b.cast(Type::U32, number);
        b.table(tables.len() as u32 - 1, Type::U8, index)
    }

    /// From a number to the components, and the tables that it looks up in.
    pub(super) fn values(&self, b: &mut FunctionBuilder, number: Value, tables: &mut Vec<Table>) -> Vec<Value> {
        let component = |(place, &ty): (usize, &Type)| {
            let all = (0..self.lanes()).map(|number| Constant::new(ty, self.component(number, place) as u128));
            if let (Some(&[(min, 1)]), true) = (self.terms.as_deref(), ty.is_int()) {
                let wide = b.cast(ty, number);
                let min = b.constant(Constant::new(ty, min as u128));
                return b.wrapping(|b| b.binary(Opcode::Add, wide, min));
            }
            if ty == Type::Bool && all.clone().map(|flag| flag.bits()).eq([0, 1]) {
                let zero = b.lit(0u8);
                return b.binary(Opcode::Ne, number, zero);
            }
            tables.push(Table::new(ty, all));
            let index = b.cast(Type::U32, number);
            b.table(tables.len() as u32 - 1, ty, index)
        };
        self.types.iter().enumerate().map(component).collect()
    }
}

/// The most states of which a map takes a power of two of bytes, which is loaded at once.
const SMALL: usize = 8;

/// Bytes of registers that a map of so many states takes.
fn space(states: usize) -> usize {
    match states {
        0..=SMALL => states.next_power_of_two().max(2),
        _ if states <= LANES => states.next_multiple_of(4),
        _ => states.next_multiple_of(LANES),
    }
}

/// The sums of the states, with the least factors that tell them apart; none if some are too large.
fn summed(states: &[State]) -> Option<(Terms, Vec<usize>)> {
    let mut sums = vec![0; states.len()];
    let mut terms = Vec::new();
    for place in 0..states[0].len() {
        let min = states.iter().map(|state| state[place]).min()?;
        let with = |factor: u8| -> Vec<i128> {
            let added = |(sum, state): (&i128, &State)| sum + i128::from(factor) * (state[place] - min);
            sums.iter().zip(states).map(added).collect()
        };
        // States that differ up to this component have different sums.
        let are_apart = |sums: &Vec<i128>| {
            let mut of = FxHashMap::default();
            sums.iter().zip(states).all(|(&sum, state)| *of.entry(sum).or_insert(&state[..=place]) == &state[..=place])
        };
        let (factor, apart) =
            (0..=MOST as u8).map(|factor| (factor, with(factor))).find(|(_, sums)| are_apart(sums))?;
        terms.push((min, factor));
        sums = apart;
    }
    let numbers = sums.into_iter().map(|sum| usize::try_from(sum).ok().filter(|&sum| sum < MOST));
    Some((terms, numbers.collect::<Option<_>>()?))
}

/// The sum of multiples of the components.
fn sum(b: &mut FunctionBuilder, terms: &[(i128, u8)], u: &[Value]) -> Value {
    let mut number = b.lit(0u8);
    for (&u, &(min, factor)) in u.iter().zip(terms).filter(|(_, (_, factor))| *factor != 0) {
        let digit = b.cast(Type::U8, u);
        let min = b.constant(Constant::new(Type::U8, min as u128));
        let digit = b.binary(Opcode::Sub, digit, min);
        let factor = b.lit(factor);
        let part = b.binary(Opcode::Mul, digit, factor);
        number = b.binary(Opcode::Add, number, part);
    }
    number
}
