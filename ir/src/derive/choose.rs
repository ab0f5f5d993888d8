//! Choices as minima and maxima, which families have.
//!
//! `p < q ? a : b` is one where a − b is q − p or p − q. What the test says is used first. `s == 0`
//! is `s <= 0` where nothing is less. Where a test leaves one value of what it compares, the arm
//! has that value: `s > 0 ? s - 1 : s` is `s > 0 ? s - 1 : 0` where nothing is less than 0.

use super::code::Code;
use super::within::{inverse, numbers};
use crate::eval::evaluate;
use crate::facts::Range;
use crate::function::{Inst, Payload, Value};
use crate::opcode::Opcode;
use crate::types::{Constant, Type};

impl Code<'_> {
    /// A select, as a minimum or maximum where it is one over the reals.
    pub(super) fn select(&mut self, condition: Value, yes: Value, no: Value) -> Value {
        if let Some(known) = self.constant_of(condition) {
            return if known.bits() != 0 { yes } else { no };
        }
        let (yes, no) = match self.extremes {
            true => (self.where_it_holds(condition, true, yes), self.where_it_holds(condition, false, no)),
            false => (yes, no),
        };
        if yes == no {
            return yes;
        }
        if let Some(split) = self.split(condition, yes, no) {
            return split;
        }
        if let Some(arm) = self.agreeing(condition, yes, no) {
            return arm;
        }
        if self.extremes
            && let Some(extreme) = self.extreme(condition, yes, no)
        {
            return extreme;
        }
        let inst = Inst::new(Opcode::Select, self.ty(yes), &[condition, yes, no], Payload::None);
        let is_sum_of = |sum: Value, x: Value| {
            self.inst(sum).is_some_and(|sum| sum.opcode == Opcode::Add && sum.operands()[0] == x)
        };
        // `if s < 100 { s + 1 } else { s }` stays that, and is no `s + (s < 100) as u32`.
        let counts = self.extremes && self.depends(condition) != 0 && (is_sum_of(yes, no) || is_sum_of(no, yes));
        if counts { self.push_as_written(inst) } else { self.push_as_it_is(inst) }
    }

    /// `x && s > 0 ? a : b` as `x ? (s > 0 ? a : b) : b`, where the arms have no component of `x`; likewise of `x || s > 0`.
    fn split(&mut self, condition: Value, yes: Value, no: Value) -> Option<Value> {
        let both =
            self.inst(condition).filter(|inst| matches!(inst.opcode, Opcode::And | Opcode::Or) && self.extremes)?;
        let &[a, b] = both.operands() else { return None };
        let arms = self.depends(yes) | self.depends(no);
        let is_shared = |code: &Code<'_>, x: Value| code.depends(x) & arms != 0;
        let (first, second) = match (is_shared(self, a), is_shared(self, b)) {
            (false, true) => (a, b),
            (true, false) => (b, a),
            _ => return None,
        };
        let is_and = both.opcode == Opcode::And;
        let within = |code: &Code<'_>, arm: Value, holds: bool| match code.inst(arm) {
            Some(inst) if inst.opcode == Opcode::Select && inst.operands()[0] == first => {
                inst.operands()[if holds { 1 } else { 2 }]
            }
            _ => arm,
        };
        let (inner, outer) = ([yes, no].map(|arm| within(self, arm, is_and)), if is_and { no } else { yes });
        let outer = within(self, outer, !is_and);
        let inner = self.select(second, inner[0], inner[1]);
        Some(if is_and { self.select(first, inner, outer) } else { self.select(first, outer, inner) })
    }

    /// An arm that is what the condition compares, as a constant where only that is left.
    fn where_it_holds(&mut self, condition: Value, holds: bool, arm: Value) -> Value {
        let only = |code: &Code<'_>| {
            let test = code.inst(condition)?;
            let (ty, &[x, k]) = (code.ty(arm), test.operands()) else { return None };
            let k = code.constant_of(k).filter(|_| x == arm && ty.is_int())?;
            let opcode = if holds { test.opcode } else { inverse(test.opcode)? };
            let (min, max) = code.range(x);
            let left = numbers(opcode, k.as_int(), Range { min, max })?;
            (left.min == left.max).then(|| Constant::new(ty, left.min as u128))
        };
        match only(self) {
            Some(constant) => self.constant(constant),
            None => arm,
        }
    }

    /// `x == k ? f(k) : f(x)` is f(x), for an integer x.
    fn agreeing(&self, condition: Value, yes: Value, no: Value) -> Option<Value> {
        let test = self.inst(condition)?;
        let (at, other) = match test.opcode {
            Opcode::Eq => (yes, no),
            Opcode::Ne => (no, yes),
            _ => return None,
        };
        let &[x, k] = test.operands() else { return None };
        let (k, at) = (self.constant_of(k)?, self.constant_of(at)?);
        let inst = self.inst(other).filter(|_| self.ty(x).is_int())?;
        let operands = inst.operands().iter().map(|&y| if y == x { Some(k) } else { self.constant_of(y) });
        let operands: Vec<Constant> = operands.collect::<Option<_>>()?;
        (evaluate(&inst, &operands, self.tables()) == Some(at)).then_some(other)
    }

    /// `p < q ? a : b` where a − b is q − p, or p − q: a maximum or minimum of p and q, and what is common to both arms.
    fn extreme(&mut self, condition: Value, yes: Value, no: Value) -> Option<Value> {
        let inst = self.inst(condition)?;
        let &[p, q] = inst.operands() else { return None };
        let ty = self.ty(yes);
        if self.ty(p) != ty || ty.is_vector() || ty == Type::Bool {
            return None;
        }
        let shared = self.depends(condition) & (self.depends(yes) | self.depends(no));
        let opcode = match inst.opcode {
            Opcode::Eq | Opcode::Ne if shared != 0 => self.of_an_end(inst.opcode, p, q)?,
            opcode => opcode,
        };
        let (less, more) = match opcode {
            Opcode::Lt | Opcode::Le => (p, q),
            Opcode::Gt | Opcode::Ge => (q, p),
            _ => return None,
        };
        // What does not depend on the state may be NaN: it stays as it was written.
        if ty.is_float() && shared == 0 {
            return None;
        }
        // Where less < more holds, `yes` is taken.
        if (yes, no) == (less, more) {
            return Some(self.binary(Opcode::Min, less, more));
        }
        if (yes, no) == (more, less) {
            return Some(self.binary(Opcode::Max, less, more));
        }
        if let Some(bounded) = self.second_bound((less, more), yes, no) {
            return Some(bounded);
        }
        let wraps = [yes, no].iter().any(|&arm| self.inst(arm).is_some_and(|inst| inst.payload == Payload::Wraps));
        if wraps || shared == 0 || !self.sums {
            return None;
        }
        let is_strict = matches!(opcode, Opcode::Lt | Opcode::Gt);
        let other = self.other_bound((less, more), is_strict);
        [Some((less, more)), other].into_iter().flatten().find_map(|bounds| self.bent(bounds, yes, no))
    }

    /// `x == k`, or `x != k`, as another comparison, where nothing is less than k or nothing more.
    fn of_an_end(&self, opcode: Opcode, x: Value, k: Value) -> Option<Opcode> {
        let k = self.constant_of(k).filter(|k| k.ty().is_int())?.as_int();
        let (least, most) = self.range(x);
        match opcode {
            Opcode::Eq if k == least => Some(Opcode::Le),
            Opcode::Eq if k == most => Some(Opcode::Ge),
            Opcode::Ne if k == least => Some(Opcode::Gt),
            Opcode::Ne if k == most => Some(Opcode::Lt),
            _ => None,
        }
    }

    /// The bounds of the same test with the other of `<` and `≤`, where one is a constant integer: `0 < s` is `1 ≤ s`.
    fn other_bound(&mut self, (less, more): (Value, Value), is_strict: bool) -> Option<(Value, Value)> {
        let mut moved = |value: Value, by: i128| {
            let constant = self.constant_of(value).filter(|constant| constant.ty().is_int())?;
            let to = Constant::new(constant.ty(), (constant.as_int() + by) as u128);
            (to.as_int() == constant.as_int() + by).then(|| self.constant(to))
        };
        let by = if is_strict { 1 } else { -1 };
        match moved(less, by) {
            Some(less) => Some((less, more)),
            None => Some((less, moved(more, -by)?)),
        }
    }

    /// `less < more ? yes : no` where the arms differ by what is compared.
    fn bent(&mut self, (less, more): (Value, Value), yes: Value, no: Value) -> Option<Value> {
        let ty = self.ty(yes);
        let (arms, compared) = (self.difference(yes, no)?, self.difference(more, less)?);
        // Which of the two an arm is but for what is common.
        let (opcode, of_yes, of_no) = match () {
            _ if arms == compared => (Opcode::Max, more, less),
            _ if arms == compared.negated() => (Opcode::Min, less, more),
            _ => return None,
        };
        // Where an arm is 0, what is common is taken away, which the loop has done.
        if let Some((_, base)) = [(no, of_no), (yes, of_yes)].into_iter().find(|(arm, _)| self.is_number(*arm, 0)) {
            let extreme = self.binary(opcode, less, more);
            return Some(self.binary(Opcode::Sub, extreme, base));
        }
        let common = self.difference(no, of_no)?;
        if ty.is_int() && !common.is_one_addend(ty) {
            // The loop computes no such sum, and it may leave the type.
            return None;
        }
        let common = self.of_sum(&common, ty)?;
        let extreme = self.binary(opcode, less, more);
        Some(self.binary(Opcode::Add, common, extreme))
    }

    /// `s > hi ? hi : max(s, lo)` with lo ≤ hi is a clamp; likewise from below.
    fn second_bound(&mut self, (less, more): (Value, Value), yes: Value, no: Value) -> Option<Value> {
        let at_most = |a: Constant, b: Constant| match a.ty().is_float() {
            true => a.as_f64() <= b.as_f64(),
            false => a.as_int() <= b.as_int(),
        };
        let bound = |code: &Code<'_>, value: Value, opcode: Opcode, of: Value| {
            let inst = code.inst(value).filter(|inst| inst.opcode == opcode)?;
            let &[a, b] = inst.operands() else { return None };
            code.constant_of(if a == of { b } else { a }).filter(|_| a == of || b == of)
        };
        for (taken, other) in [(yes, no), (no, yes)] {
            let Some(limit) = self.constant_of(taken).filter(|_| taken == less || taken == more) else { continue };
            let s = if taken == less { more } else { less };
            // An upper bound is taken where s is above it.
            let is_upper = (taken == less) == (taken == yes);
            let (inner, outer) = if is_upper { (Opcode::Max, Opcode::Min) } else { (Opcode::Min, Opcode::Max) };
            let Some(second) = bound(self, other, inner, s) else { continue };
            if if is_upper { at_most(second, limit) } else { at_most(limit, second) } {
                return Some(self.binary(outer, other, taken));
            }
        }
        None
    }
}
