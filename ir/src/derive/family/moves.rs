//! Each component is one of the components before, or a known value: moves, latches, delays.
//!
//! ```text
//! flags[i][j]: component i is component j of before; v[i]: else it is this
//! (flags, v) ⊕ (flags', v')[i] = v'[i], or v[j] where flags'[i][j];  flags'' = flags'·flags
//! identity: flags[i][i];  seed(u) = (no flags, u)
//! ```
//!
//! Flags that are false in every product are left out. Nothing is computed, so it is exact for
//! every type, NaN included.

use super::pattern::{Entry, closure};
use super::{Domain, Effect, Family, Group, Operand, seeded};
use crate::builder::FunctionBuilder;
use crate::derive::code::Code;
use crate::derive::refusal::Leave;
use crate::function::{Inst, Value};
use crate::opcode::Opcode;
use crate::types::{Constant, Type};

/// Most components that move among each other.
const MOST: usize = 8;

struct Moves {
    types: Vec<Type>,
}

/// Which component it is, as a flag for each, and the value if it is none.
#[derive(Clone)]
struct Form {
    flags: Vec<Value>,
    value: Option<Value>,
}

impl Domain for Moves {
    type Form = Form;

    fn known(&self, code: &mut Code<'_>, value: Value) -> Result<Form, Leave> {
        let no = code.constant(false);
        Ok(Form { flags: vec![no; self.types.len()], value: Some(value) })
    }

    fn component(&self, code: &mut Code<'_>, place: usize) -> Form {
        let flags = (0..self.types.len()).map(|of| code.constant(of == place)).collect();
        Form { flags, value: None }
    }

    fn select(&self, code: &mut Code<'_>, condition: Value, yes: Form, no: Form) -> Result<Form, Leave> {
        let flags = yes.flags.iter().zip(&no.flags).map(|(&yes, &no)| code.select(condition, yes, no)).collect();
        let value = match (yes.value, no.value) {
            (Some(yes), Some(no)) => Some(code.select(condition, yes, no)),
            (value, None) | (None, value) => value,
        };
        Ok(Form { flags, value })
    }

    fn operation(&self, _code: &mut Code<'_>, _inst: &Inst, _x: &[Operand<Form>]) -> Result<Form, Leave> {
        Err(Leave)
    }
}

/// The group as moves.
pub(super) fn recognise(group: &mut Group<'_, '_>) -> Result<Effect, Leave> {
    let types: Vec<Type> = group.members.iter().map(|&member| group.types[member]).collect();
    let count = types.len();
    if count > MOST {
        return Err(Leave);
    }
    let forms = group.forms(&Moves { types: types.clone() })?;
    let code = &mut *group.code;
    let known = |code: &Code<'_>, flag: Value| match code.constant_of(flag).map(|known| known.bits() != 0) {
        Some(false) => Entry::Zero,
        Some(true) => Entry::One,
        None => Entry::Any,
    };
    let pattern = forms.iter().map(|form| form.flags.iter().map(|&flag| known(code, flag)).collect()).collect();
    let pattern = closure(pattern);
    let places: Vec<(usize, usize)> = (0..count)
        .flat_map(|i| (0..count).map(move |j| (i, j)))
        .filter(|&(i, j)| pattern[i][j] != Entry::Zero)
        .collect();
    let place_of = |i: usize, j: usize| places.iter().position(|&place| place == (i, j));
    let lift_flags = places.iter().map(|&(i, j)| forms[i].flags[j]);
    let mut lift: Vec<Value> = lift_flags.collect();
    for (form, &ty) in forms.iter().zip(&types) {
        // What is no value of its own is zero, as in the identity.
        let mut value = form.value.unwrap_or_else(|| code.constant(ty.zero()));
        for &flag in &form.flags {
            let zero = code.constant(ty.zero());
            value = code.select(flag, zero, value);
        }
        lift.push(value);
    }

    let state = [vec![Type::Bool; places.len()], types.clone()].concat();
    let mut b = FunctionBuilder::new();
    let (earlier, later) = (b.params(&state), b.params(&state));
    let mut results = Vec::new();
    for &(i, j) in &places {
        let mut any = None;
        for l in 0..count {
            let (Some(second), Some(first)) = (place_of(i, l), place_of(l, j)) else { continue };
            let both = b.binary(Opcode::And, later[second], earlier[first]);
            any = Some(any.map_or(both, |any| b.binary(Opcode::Or, any, both)));
        }
        results.push(any.unwrap_or_else(|| b.lit(false)));
    }
    for i in 0..count {
        let mut value = later[places.len() + i];
        for l in 0..count {
            let Some(flag) = place_of(i, l) else { continue };
            value = b.select(later[flag], earlier[places.len() + l], value);
        }
        results.push(value);
    }
    let first = places.len();
    let latch = forms.iter().all(|form| form.flags.iter().all(|&flag| known(code, flag) == Entry::Zero));
    Ok(Effect {
        family: match count {
            1 if latch => Family::Last,
            1 => Family::Latch,
            _ => Family::Moves,
        },
        identity: places.iter().map(|&(i, j)| Constant::from(i == j)).chain(types.iter().map(|ty| ty.zero())).collect(),
        lift,
        combine: b.finish(&results),
        seed: seeded(&types, |b, u| {
            let no = b.lit(false);
            [vec![no; first], u.to_vec()].concat()
        }),
        value: seeded(&state, |_, state| state[first..].to_vec()),
        valid: Some(seeded(&state, |b, state| {
            // What is moved comes from one component, and has no value of its own.
            let mut all = Vec::new();
            for (i, ty) in types.iter().enumerate() {
                let flags = places.iter().zip(state).filter(|(place, _)| place.0 == i).map(|(_, &flag)| flag);
                let mut moved = b.lit(false);
                for flag in flags {
                    let twice = b.binary(Opcode::And, moved, flag);
                    all.push(b.unary(Opcode::Not, twice));
                    moved = b.binary(Opcode::Or, moved, flag);
                }
                let zero = b.constant(ty.zero());
                let is_zero = b.binary(Opcode::Eq, state[first + i], zero);
                let is_set = b.unary(Opcode::Not, moved);
                all.push(b.binary(Opcode::Or, is_set, is_zero));
            }
            vec![all.into_iter().reduce(|a, c| b.binary(Opcode::And, a, c)).expect("there is a component")]
        })),
        types: state,
        tables: Vec::new(),
    })
}
