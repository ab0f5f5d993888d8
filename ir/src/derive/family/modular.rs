//! u ↦ (a·u + b) mod m for a constant m and 0 ≤ u < m: counters that wrap, generators, checksums.
//!
//! ```text
//! (a, b) ⊕ (c, d) = (a·c mod m, (b·c + d) mod m)        identity (1, 0)        seed(u) = (0, u)
//! ```
//!
//! in `u64`, where (m − 1)·m fits. Where a is 1 for every element it is left out. A state at or
//! above m is none that the loop reaches: its seed has another value. A mask of low bits is a
//! modulus too, and the simplifier makes one of `% 1024`.
//!
//! Forms are equal modulo m to the values that they are of, whatever the arms of a choice are, if
//! both are equal modulo m. That the next state is below m too is looked at by itself.

use rustc_hash::FxHashMap;

use super::{Domain, Effect, Family, Group, Operand, seeded};
use crate::builder::FunctionBuilder;
use crate::derive::code::{Code, negative, taken_away};
use crate::derive::refusal::Leave;
use crate::derive::within::{inverse, numbers};
use crate::facts::Range;
use crate::function::{Inst, Payload, Value};
use crate::opcode::Opcode;
use crate::types::Type;

/// The largest modulus. Refusals name it in their words.
pub(crate) const MOST: i128 = 1 << 32;

/// The numbers that a step is taken to compute with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Numbers {
    /// Modulo 2^k, as their type has them, which the modulus divides: so they may wrap around, and be below 0, but not be compared.
    Residues,
    /// Integers, none below 0.
    Naturals,
    /// Integers of a type with a sign. A remainder may be below 0, but for that of `rem_euclid`.
    Integers,
}

struct Modular {
    modulus: u64,
    /// The component, which is below the modulus.
    component: Value,
    numbers: Numbers,
}

/// (a, b): u64, below the modulus.
type Form = (Value, Value);

/// `x.rem_euclid(m)` for a constant m above 0: x and m.
fn euclidean(code: &Code<'_>, value: Value) -> Option<(Value, i128)> {
    let choice = code.inst(value).filter(|inst| inst.opcode == Opcode::Select)?;
    let &[condition, yes, no] = choice.operands() else { return None };
    let test = code.inst(condition).filter(|test| test.operands().get(1).is_some_and(|&k| code.is_number(k, 0)))?;
    let (raised, rest) = match test.opcode {
        Opcode::Lt => (yes, no),
        Opcode::Ge => (no, yes),
        _ => return None,
    };
    let remainder = code.inst(rest).filter(|inst| inst.opcode == Opcode::Rem && test.operands()[0] == rest)?;
    let (x, by) = (remainder.operands()[0], code.constant_of(remainder.operands()[1])?.as_int());
    (by > 0 && summand(code, raised) == Some((rest, by))).then_some((x, by))
}

/// The value and the constant of a sum. Of integers without sign, `x − 1` is `x + MAX` by now.
fn summand(code: &Code<'_>, value: Value) -> Option<(Value, i128)> {
    let sum = code.inst(value).filter(|inst| inst.opcode == Opcode::Add)?;
    let k = code.constant_of(sum.operands()[1]).filter(|k| k.ty().is_int())?;
    Some((sum.operands()[0], negative(k).unwrap_or(k.as_int())))
}

impl Modular {
    fn form(&self, code: &mut Code<'_>, operand: &Operand<Form>) -> Result<Form, Leave> {
        match operand {
            Operand::Known(value) => self.known(code, *value),
            Operand::Form(form) => *form,
        }
    }

    fn reduced(&self, code: &mut Code<'_>, value: Value) -> Value {
        let is_below = code.constant_of(value).is_some_and(|known| known.bits() < self.modulus as u128);
        let is_remainder =
            |inst: Inst| inst.opcode == Opcode::Rem && self.reduces(code, Opcode::Rem, inst.operands()[1]);
        if is_below || code.inst(value).is_some_and(is_remainder) {
            return value;
        }
        let modulus = code.constant(self.modulus);
        code.binary(Opcode::Rem, value, modulus)
    }

    /// Whether a value that depends on the component is the component itself, or a remainder by the modulus.
    fn is_below(&self, code: &Code<'_>, value: Value) -> bool {
        let is_remainder = |inst: Inst| {
            let is_natural = self.numbers != Numbers::Integers || inst.opcode != Opcode::Rem;
            is_natural && matches!(*inst.operands(), [_, by] if self.reduces(code, inst.opcode, by))
        };
        value == self.component || code.inst(value).is_some_and(is_remainder)
    }

    fn product(&self, code: &mut Code<'_>, a: Value, b: Value) -> Value {
        match () {
            _ if code.is_number(a, 1) => b,
            _ if code.is_number(b, 1) => a,
            _ => {
                let product = code.push(Inst::new(Opcode::Mul, Type::U64, &[a, b], Payload::Wraps));
                self.reduced(code, product)
            }
        }
    }

    fn sum(&self, code: &mut Code<'_>, a: Value, b: Value) -> Value {
        if code.is_number(b, 0) {
            return a;
        }
        let sum = code.push(Inst::new(Opcode::Add, Type::U64, &[a, b], Payload::Wraps));
        self.reduced(code, sum)
    }

    /// Whether an operation of this value takes the remainder by the modulus.
    fn reduces(&self, code: &Code<'_>, opcode: Opcode, by: Value) -> bool {
        let by = code.constant_of(by).map(|known| known.as_int());
        match opcode {
            Opcode::Rem => by == Some(self.modulus as i128),
            Opcode::And => self.modulus.is_power_of_two() && by == Some(self.modulus as i128 - 1),
            _ => false,
        }
    }

    /// `u + 1 == m ? 0 : u + 1` and `u == 0 ? m − 1 : u − 1`, however the test says that, for the component u.
    fn counts_around(&self, code: &Code<'_>, inst: &Inst) -> Option<Value> {
        let &[condition, yes, no] = inst.operands() else { return None };
        let test = code.inst(condition)?;
        let &[p, k] = test.operands() else { return None };
        let (x, moved) = if p == self.component { (p, 0) } else { summand(code, p)? };
        let (k, ty) = (code.constant_of(k)?.as_int(), code.ty(p));
        let last = self.modulus as i128 - 1;
        if x != self.component || moved < 0 || last + moved > ty.greatest().as_int() {
            return None;
        }
        // The only state where it holds, or where it does not.
        let only = |opcode: Opcode| {
            let Range { min, max } = numbers(opcode, k, Range { min: moved, max: last + moved })?;
            (min == max).then_some(min - moved)
        };
        let (end, at_end, elsewhere) = match (only(test.opcode), inverse(test.opcode).and_then(only)) {
            (Some(end), _) => (end, yes, no),
            (None, Some(end)) => (end, no, yes),
            (None, None) => return None,
        };
        let (set, by) = if end == 0 { (last, -1) } else { (0, 1) };
        let counts = summand(code, elsewhere) == Some((self.component, by));
        let is_set = code.constant_of(at_end).is_some_and(|known| known.as_int() == set);
        (counts && is_set && (end == 0 || end == last)).then_some(elsewhere)
    }

    /// `u + k ≥ m ? u + k − m : u + k` for the component u and 0 ≤ k ≤ m.
    fn wraps_around(&self, code: &Code<'_>, inst: &Inst) -> Option<Value> {
        if let Some(elsewhere) = self.counts_around(code, inst) {
            return Some(elsewhere);
        }
        let &[condition, yes, no] = inst.operands() else { return None };
        let test = code.inst(condition)?;
        let &[p, k] = test.operands() else { return None };
        let k = code.constant_of(k)?.as_int();
        let modulus = self.modulus as i128;
        let added = |value: Value| {
            let inst = code.inst(value).filter(|inst| inst.opcode == Opcode::Add)?;
            let &[x, y] = inst.operands() else { return None };
            Some((x, y))
        };
        let (at_least, below) = match test.opcode {
            Opcode::Ge => (yes, no),
            Opcode::Gt if k == modulus - 1 => (yes, no),
            Opcode::Lt => (no, yes),
            Opcode::Le if k == modulus - 1 => (no, yes),
            _ => return None,
        };
        let k = if matches!(test.opcode, Opcode::Gt | Opcode::Le) { k + 1 } else { k };
        let (x, step) = added(below)?;
        let step = match () {
            _ if x == self.component => step,
            _ if step == self.component => x,
            _ => return None,
        };
        // Twice the component is below 2m.
        let (min, max) = if step == self.component { (0, modulus) } else { code.range(step) };
        if step != self.component && code.depends(step) >> self.component.index() & 1 == 1 {
            return None;
        }
        let less = code.inst(at_least)?;
        let &[q, by] = less.operands() else { return None };
        let by = code.constant_of(by)?.as_int();
        let is_less = match less.opcode {
            Opcode::Sub => by == modulus,
            Opcode::Add => by == -modulus || by == modulus.wrapping_neg() + (1 << code.ty(q).bits()),
            _ => false,
        };
        (p == below && q == below && k == modulus && is_less && min >= 0 && max <= modulus).then_some(below)
    }
}

impl Domain for Modular {
    type Form = Form;

    fn known(&self, code: &mut Code<'_>, value: Value) -> Result<Form, Leave> {
        if self.numbers == Numbers::Residues {
            let value = code.cast(Type::U64, value);
            return Ok((code.constant(0u64), self.reduced(code, value)));
        }
        // Of integers without sign, `x − 1` is `x + MAX` by now.
        let is_taken_away = code.constant_of(value).is_some_and(|constant| taken_away(constant) < 0);
        let is_large = code.constant_of(value).is_some_and(|constant| constant.as_int() >= 1 << 63);
        let is_natural = code.range(value).0 >= 0 || euclidean(code, value).is_some();
        if !is_natural && self.numbers == Numbers::Integers {
            let ty = code.ty(value);
            if ty.greatest().as_int() < self.modulus as i128 {
                return Err(Leave);
            }
            let modulus = code.number(ty, self.modulus as i64);
            let rest = code.binary(Opcode::Rem, value, modulus);
            let (zero, raised) = (code.constant(ty.zero()), code.binary(Opcode::Add, rest, modulus));
            let is_below_0 = code.compare(Opcode::Lt, rest, zero);
            let rest = code.select(is_below_0, raised, rest);
            return Ok((code.constant(0u64), code.cast(Type::U64, rest)));
        }
        if is_taken_away || is_large || !is_natural {
            return Err(Leave);
        }
        let value = code.cast(Type::U64, value);
        Ok((code.constant(0u64), self.reduced(code, value)))
    }

    fn component(&self, code: &mut Code<'_>, _place: usize) -> Form {
        (code.constant(1u64), code.constant(0u64))
    }

    fn select(&self, code: &mut Code<'_>, condition: Value, yes: Form, no: Form) -> Result<Form, Leave> {
        Ok((code.select(condition, yes.0, no.0), code.select(condition, yes.1, no.1)))
    }

    fn operation(&self, code: &mut Code<'_>, inst: &Inst, x: &[Operand<Form>]) -> Result<Form, Leave> {
        let is_residue = self.numbers == Numbers::Residues;
        match (inst.opcode, x) {
            // The remainder of a number with a sign has that sign.
            (Opcode::Rem, _) if is_residue && inst.ty.is_signed() => Err(Leave),
            (opcode, [form, Operand::Known(by)]) if self.reduces(code, opcode, *by) => form.form(),
            (Opcode::Select, [_, yes, no]) => {
                match self.wraps_around(code, inst).filter(|_| !is_residue) {
                    Some(arm) if arm == inst.operands()[1] => return yes.form(),
                    Some(_) => return no.form(),
                    None => {}
                }
                let (yes, no) = (self.form(code, yes)?, self.form(code, no)?);
                if yes == no { Ok(yes) } else { Err(Leave) }
            }
            // What is taken away from a number without sign is no more than that.
            (Opcode::Add, [Operand::Form(form), Operand::Known(k)])
                if !is_residue && code.constant_of(*k).and_then(negative).is_some() =>
            {
                let (a, b) = (*form)?;
                let less = code.constant_of(*k).and_then(negative).ok_or(Leave)?;
                let k = code.constant(less.rem_euclid(i128::from(self.modulus)) as u64);
                Ok((a, self.sum(code, b, k)))
            }
            (Opcode::Add, [a, b]) => {
                let ((a, b), (c, d)) = (self.form(code, a)?, self.form(code, b)?);
                Ok((self.sum(code, a, c), self.sum(code, b, d)))
            }
            (Opcode::Mul, [Operand::Form(form), Operand::Known(k)] | [Operand::Known(k), Operand::Form(form)]) => {
                let ((a, b), (_, k)) = ((*form)?, self.known(code, *k)?);
                Ok((self.product(code, a, k), self.product(code, b, k)))
            }
            (Opcode::Shl, [Operand::Form(form), Operand::Known(by)]) => {
                let Some(by) = code.constant_of(*by).filter(|by| by.bits() < 32) else { return Err(Leave) };
                // Bits that a shift drops are no overflow, so nothing but the numbers themselves says that it drops none.
                let most = (u128::from(self.modulus) - 1) << by.bits();
                let fits = most <= inst.ty.mask() >> usize::from(inst.ty.is_signed());
                if !(is_residue || fits && self.is_below(code, inst.operands()[0])) {
                    return Err(Leave);
                }
                let ((a, b), k) = ((*form)?, code.constant((1u64 << by.bits()) % self.modulus));
                Ok((self.product(code, a, k), self.product(code, b, k)))
            }
            (Opcode::Sub, [Operand::Form(form), Operand::Known(k)])
                if self.numbers != Numbers::Naturals || !inst.ty.is_signed() =>
            {
                let ((a, b), (_, k), m) = ((*form)?, self.known(code, *k)?, code.constant(self.modulus));
                let k = code.push(Inst::new(Opcode::Sub, Type::U64, &[m, k], Payload::Wraps));
                Ok((a, self.sum(code, b, k)))
            }
            _ => Err(Leave),
        }
    }
}

/// Whether a value is below the modulus wherever the component was.
fn is_reduced(group: &Group<'_, '_>, value: Value, modular: &Modular, known: &mut FxHashMap<Value, bool>) -> bool {
    if let Some(&known) = known.get(&value) {
        return known;
    }
    let code = &*group.code;
    if code.depends(value) & group.mask() == 0 {
        let (min, max) = code.range(value);
        return min >= 0 && max < modular.modulus as i128;
    }
    if modular.is_below(code, value) {
        return true;
    }
    let Some(inst) = code.inst(value) else { return false };
    let reduced = match (inst.opcode, inst.operands()) {
        (Opcode::Select, &[condition, yes, no]) if code.depends(condition) & group.mask() == 0 => {
            is_reduced(group, yes, modular, known) && is_reduced(group, no, modular, known)
        }
        (Opcode::Select, _) => {
            let wraps = modular.numbers != Numbers::Residues && modular.wraps_around(code, &inst).is_some();
            wraps || euclidean(code, value).is_some_and(|(_, by)| by == i128::from(modular.modulus))
        }
        _ => false,
    };
    known.insert(value, reduced);
    reduced
}

/// The group as a component modulo m.
pub(super) fn recognise(group: &mut Group<'_, '_>, modulus: u64) -> Result<Effect, Leave> {
    let member = group.single()?;
    let ty = group.types[member];
    let initial = group.initial[member].as_int();
    if !ty.is_int() || !(0..modulus as i128).contains(&initial) {
        return Err(Leave);
    }
    let fits = |numbers: &Numbers| match numbers {
        Numbers::Residues => modulus.is_power_of_two(),
        Numbers::Naturals => !group.wraps,
        Numbers::Integers => !group.wraps && ty.is_signed(),
    };
    let all = [Numbers::Residues, Numbers::Naturals, Numbers::Integers].into_iter();
    let all: Vec<Numbers> = all.filter(fits).collect();
    let found = all.into_iter().find_map(|numbers| {
        let modular = Modular { modulus, component: Value::new(member), numbers };
        let form = group.forms(&modular).ok()?[0];
        is_reduced(group, group.next[member], &modular, &mut FxHashMap::default()).then_some(form)
    });
    let (a, b) = found.ok_or(Leave)?;
    let scaled = !group.code.is_number(a, 1);
    let mut build = FunctionBuilder::new();
    let types = vec![Type::U64; 1 + usize::from(scaled)];
    let (earlier, later) = (build.params(&types), build.params(&types));
    let m = build.lit(modulus);
    let results = build.wrapping(|f| match scaled {
        false => {
            // Of s and s − m, the one that did not wrap is the smaller, unless s was below m.
            let sum = f.binary(Opcode::Add, earlier[0], later[0]);
            let less = f.binary(Opcode::Sub, sum, m);
            vec![f.binary(Opcode::Min, sum, less)]
        }
        true => {
            let factor = f.binary(Opcode::Mul, earlier[0], later[0]);
            let product = f.binary(Opcode::Mul, earlier[1], later[0]);
            let sum = f.binary(Opcode::Add, product, later[1]);
            vec![f.binary(Opcode::Rem, factor, m), f.binary(Opcode::Rem, sum, m)]
        }
    });
    let last = types.len() - 1;
    let mut identity = vec![Type::U64.zero()];
    if scaled {
        identity.insert(0, 1u64.into());
    }
    Ok(Effect {
        family: Family::Modular { modulus, scaled },
        identity,
        lift: if scaled { vec![a, b] } else { vec![b] },
        combine: build.finish(&results),
        seed: seeded(&[ty], |b, u| {
            let (u, m, zero) = (b.cast(Type::U64, u[0]), b.lit(modulus), b.lit(0u64));
            let u = b.binary(Opcode::Rem, u, m);
            if scaled { vec![zero, u] } else { vec![u] }
        }),
        value: seeded(&types, |b, state| vec![b.cast(ty, state[last])]),
        valid: Some(seeded(&types, |b, state| {
            let m = b.lit(modulus);
            let below: Vec<Value> = state.iter().map(|&value| b.binary(Opcode::Lt, value, m)).collect();
            vec![below.into_iter().reduce(|a, c| b.binary(Opcode::And, a, c)).expect("there is a component")]
        })),
        types,
        tables: Vec::new(),
    })
}
