//! The same loop written otherwise, where no family has a group as it is.

use rustc_hash::FxHashMap;

use super::Flat;
use super::code::{Code, MAX_COMPONENTS};
use crate::FunctionBuilder;
use crate::function::{Function, Inst, Payload, Value};
use crate::opcode::Opcode;
use crate::program::Table;
use crate::types::{Constant, Type};

/// A loop that stops: `if done { state } else { … }`.
///
/// A flag has a value that stays, under which all of its group stays. The group runs on in a copy that knows no flag; the
/// flag watches the copy; the group is a latch of the copy until the flag is set.
pub(super) fn stops(flat: &Flat, tables: &[Table], members: &[usize]) -> Option<Flat> {
    let flags = members.iter().filter(|&&member| flat.initial[member].ty() == Type::Bool);
    let candidates = flags.flat_map(|&flag| [(flag, true), (flag, false)]);
    let mut found = candidates.filter(|_| members.len() > 1).filter_map(|(flag, value)| {
        let rest: Vec<usize> = members.iter().copied().filter(|&member| member != flag).collect();
        let fits = flat.initial.len() + rest.len() <= MAX_COMPONENTS;
        (fits && freezes(flat, tables, flag, value, &rest)).then(|| freed(flat, tables, flag, value, &rest))
    });
    found.next()
}

/// Whether the flag keeps this value, and the others theirs as long as it has it.
fn freezes(flat: &Flat, tables: &[Table], flag: usize, value: bool, rest: &[usize]) -> bool {
    let mut code = Code::new(&flat.step.params, flat.initial.len(), tables, flat.overflows.sums);
    let mut arguments: Vec<Value> = (0..flat.step.params.len()).map(Value::new).collect();
    arguments[flag] = code.constant(value);
    let next = code.inline(&flat.step, &arguments);
    flat.initial[flag] != Constant::from(value)
        && code.constant_of(next[flag]) == Some(Constant::from(value))
        && rest.iter().all(|&member| next[member] == Value::new(member))
}

fn freed(flat: &Flat, tables: &[Table], flag: usize, value: bool, rest: &[usize]) -> Flat {
    let count = flat.initial.len();
    let copies: Vec<Constant> = rest.iter().map(|&member| flat.initial[member]).collect();
    let initial = [flat.initial.clone(), copies].concat();
    let params: Vec<Type> = initial.iter().map(|c| c.ty()).chain(flat.step.params[count..].iter().copied()).collect();
    let mut code = Code::new(&params, initial.len(), tables, flat.overflows.sums);
    let as_it_is: Vec<Value> = (0..count).chain(initial.len()..params.len()).map(Value::new).collect();
    let mut next = code.inline(&flat.step, &as_it_is);
    let mut free = as_it_is.clone();
    free[flag] = code.constant(!value);
    for (place, &member) in rest.iter().enumerate() {
        free[member] = Value::new(count + place);
    }
    let freed = code.inline(&flat.step, &free);
    let done = Value::new(flag);
    let latched = |code: &mut Code<'_>, kept, moved| match value {
        true => code.select(done, kept, moved),
        false => code.select(done, moved, kept),
    };
    for &member in rest {
        next[member] = latched(&mut code, Value::new(member), freed[member]);
        next.push(freed[member]);
    }
    // Components outside the group that read it only while it runs read the copy: that is a level earlier.
    let mut stopped = as_it_is;
    stopped[flag] = code.constant(value);
    let stopped = code.inline(&flat.step, &stopped);
    let group = rest.iter().fold(0, |group, &member| group | 1 << member);
    for other in (0..count).filter(|other| *other != flag && !rest.contains(other)) {
        if code.depends(next[other]) & group != 0 && code.depends(stopped[other]) & group == 0 {
            next[other] = latched(&mut code, stopped[other], freed[other]);
        }
    }
    next[flag] = code.binary(if value { Opcode::Or } else { Opcode::And }, done, freed[flag]);
    // Until it stops the copy is what the loop has: a state of the copy that stands for another is told from it by this.
    let restrict = restricted(flat, &initial[count..], |b, all| {
        let mut before = all[..count].to_vec();
        for (place, &member) in rest.iter().enumerate() {
            let (kept, moved) = (all[member], all[count + place]);
            before[member] = if value { b.select(all[flag], kept, moved) } else { b.select(all[flag], moved, kept) };
        }
        before
    });
    let copies = rest.iter().map(|&member| format!("{}, unstopped", flat.names[member]));
    let mut extend = flat.extend.clone();
    let own = extend.results.clone();
    extend.results.extend(rest.iter().map(|&member| own[member]));
    Flat {
        names: flat.names.iter().cloned().chain(copies).collect(),
        initial,
        step: code.extract(&next),
        extend,
        restrict,
        overflows: flat.overflows.followed((count..).zip(rest.iter().copied())),
        rewritten: [&flat.rewritten[..], &["a stop: it runs on in a copy, which is latched"]].concat(),
        ..flat.clone()
    }
}

/// A test of a component alone, as in `if last == NONE` or `if last.is_nan()`, becomes a flag with a next value of its own: the test
/// of what is assigned, where that is known or the component itself.
pub(super) fn sentinels(flat: &Flat, tables: &[Table], members: &[usize]) -> Option<Flat> {
    let (code, next) = flat.code(tables);
    let count = flat.initial.len();
    let mut tests: Vec<Test> = Vec::new();
    let mut replaced: FxHashMap<usize, (usize, bool)> = FxHashMap::default();
    let step = code.extract(&next);
    for (value, inst) in step.values() {
        let is_test =
            matches!(inst.opcode, Opcode::Eq | Opcode::Ne | Opcode::Lt | Opcode::Le | Opcode::Gt | Opcode::Ge);
        let &[x, k] = inst.operands() else { continue };
        let known = step.as_constant(k);
        if !is_test || !members.contains(&x.index()) || (known.is_none() && k != x) {
            continue;
        }
        // One flag for `==` and `!=`.
        let negated = inst.opcode == Opcode::Ne;
        let opcode = if negated { Opcode::Eq } else { inst.opcode };
        let test = Test { opcode, member: x.index(), known };
        let place = tests.iter().position(|other| *other == test).unwrap_or_else(|| {
            tests.push(test);
            tests.len() - 1
        });
        replaced.insert(value.index(), (place, negated));
    }
    if tests.is_empty() || tests.len() > 3 || count + tests.len() > MAX_COMPONENTS || flat.rewritten.len() > 2 {
        return None;
    }
    let flags = tests.iter().map(|test| {
        let x = flat.initial[test.member];
        let inst = Inst::new(test.opcode, Type::Bool, &[Value::new(0), Value::new(1)], Payload::None);
        crate::eval::evaluate(&inst, &[x, test.known.unwrap_or(x)], &[]).expect("a comparison of numbers")
    });
    let flags: Vec<Constant> = flags.collect();
    let initial = [flat.initial.clone(), flags].concat();
    let params: Vec<Type> = initial.iter().map(|c| c.ty()).chain(step.params[count..].iter().copied()).collect();
    let mut code = Code::new(&params, initial.len(), tables, flat.overflows.sums);
    let mut values: Vec<Value> = (0..count).chain(initial.len()..params.len()).map(Value::new).collect();
    for (value, inst) in step.values() {
        let new = match replaced.get(&value.index()) {
            Some(&(place, negated)) => {
                let flag = Value::new(count + place);
                if negated { code.unary(Opcode::Not, flag) } else { flag }
            }
            None => code.push(inst.map_operands(|operand| values[operand.index()])),
        };
        values.push(new);
    }
    let mut next: Vec<Value> = step.results.iter().map(|result| values[result.index()]).collect();
    let mask = members.iter().fold(0, |mask, &member| mask | 1 << member);
    for (place, test) in tests.iter().enumerate() {
        let of = Tested { test, flag: Value::new(count + place), mask };
        let flag = of.assigned(&mut code, next[test.member], 16)?;
        next.push(flag);
    }
    let names = tests.iter().map(|test| {
        let (name, opcode) = (&flat.names[test.member], test.opcode.name());
        test.known.map_or_else(|| format!("{name} {opcode} {name}"), |known| format!("{name} {opcode} {known}"))
    });
    Some(Flat {
        names: flat.names.iter().cloned().chain(names).collect(),
        step: code.extract(&next),
        extend: extended(flat, &tests),
        restrict: restricted(flat, &initial[count..], |_, all| all[..count].to_vec()),
        initial,
        overflows: flat.overflows.followed((count..).zip(tests.iter().map(|test| test.member))),
        rewritten: [&flat.rewritten[..], &["a test of what was assigned is a flag of its own"]].concat(),
        tests: [&flat.tests[..], &(count..).zip(tests).collect::<Vec<_>>()].concat(),
        ..flat.clone()
    })
}

/// The flags of a state, from its components.
fn extended(flat: &Flat, tests: &[Test]) -> Function {
    let mut b = FunctionBuilder::new();
    let own = b.params(&flat.extend.params);
    let mut all = b.inline(&flat.extend, &own);
    for test in tests {
        let flag = test.of(&mut b, all[test.member]);
        all.push(flag);
    }
    b.finish(&all)
}

/// From all components, of which these were added, to the user's; by way of those before.
fn restricted(
    flat: &Flat,
    added: &[Constant],
    before: impl FnOnce(&mut FunctionBuilder, &[Value]) -> Vec<Value>,
) -> Function {
    let mut b = FunctionBuilder::new();
    let all = b.params(&[flat.types(), added.iter().map(|constant| constant.ty()).collect()].concat());
    let before = before(&mut b, &all);
    let own = b.inline(&flat.restrict, &before);
    b.finish(&own)
}

/// A comparison of a component with a constant, or with itself, which only NaN is not equal to.
#[derive(Clone, PartialEq)]
pub(super) struct Test {
    opcode: Opcode,
    pub(super) member: usize,
    known: Option<Constant>,
}

impl Test {
    /// Whether it holds of this value.
    pub(super) fn of(&self, b: &mut FunctionBuilder, x: Value) -> Value {
        let known = self.known.map_or(x, |known| b.constant(known));
        b.binary(self.opcode, x, known)
    }
}

struct Tested<'a> {
    test: &'a Test,
    flag: Value,
    mask: u128,
}

impl Tested<'_> {
    /// The test of what is assigned.
    fn assigned(&self, code: &mut Code<'_>, value: Value, depth: usize) -> Option<Value> {
        if value.index() == self.test.member {
            return Some(self.flag);
        }
        if let Some(inst) = code.inst(value).filter(|inst| inst.opcode == Opcode::Select && depth > 0) {
            let (yes, no) = (inst.operands()[1], inst.operands()[2]);
            let (yes, no) = (self.assigned(code, yes, depth - 1)?, self.assigned(code, no, depth - 1)?);
            return Some(code.select(inst.operands()[0], yes, no));
        }
        // A truth value as a number: 1 or 0.
        let cast = code.inst(value).filter(|inst| inst.opcode == Opcode::Cast).map(|inst| inst.operands()[0]);
        if let Some(flag) = cast.filter(|&flag| code.ty(flag) == Type::Bool) {
            let ty = code.ty(value);
            let [yes, no] = [1, 0].map(|number| {
                let number = code.number(ty, number);
                let known = self.test.known.map_or(number, |known| code.constant(known));
                code.compare(self.test.opcode, number, known)
            });
            return Some(code.select(flag, yes, no));
        }
        if code.depends(value) & self.mask != 0 {
            return None;
        }
        let known = self.test.known.map_or(value, |known| code.constant(known));
        Some(code.compare(self.test.opcode, value, known))
    }
}
