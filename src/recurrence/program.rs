//! A recurrence as a scan program.
//!
//! A run of n samples acts on the state as s ↦ A^n·s + v, where v is what those samples leave in a
//! state of zeros. The monoid's elements are these maps. A^n has d² entries, but A = shift + N (see
//! `form.rs`), and a power of it is a polynomial in N of degree below d (Cayley and Hamilton). So d
//! coefficients c say it all, and the monoid is
//!
//! ```text
//! (c, v) ⊕ (c', v') = (c·c' mod χ, c'(N)·v + v')        χ the characteristic polynomial of N
//! identity          = (1, 0)
//! lift(x)           = (shift + N, B·x)                   c = shift, 1, 0, …
//! ```
//!
//! c depends on the length of the run alone. Engines find that out and tabulate it, so that only v
//! is carried. With the c of lift, c'(N)·v is one multiply-add a component: `combine` is written so
//! that it folds to just that, the step of the sequential loop. Two things make it fold *exactly*,
//! although floating-point rules forbid dropping 0·v (which is NaN where v is infinite):
//!
//! - A coefficient that is 0 means that there is no dependence: where c = 0 a select skips c·v.
//!   That is the same map over the reals, and it keeps ∞ and NaN from spreading further than the
//!   sequential loop would spread them.
//! - One multiplication by N, whose zeros and ones are left out by construction, comes last:
//!   c'(N)·v + v' is computed as N·(c1·v + c2·N·v + …) + (c0·v + v').
//!
//! c is composed in `f64` whatever the type of the state: it costs nothing, and the error of A^n is
//! that of one rounding.

use monoscan_ir::{
    Constant, Function, FunctionBuilder, Layout, Mapping, Opcode, Output, Program, Source, Stage, Type, Value,
};

use super::form::Form;

/// Of what type the coefficients c are.
const POWER: Type = Type::F64;

/// The program that reads a column of samples and writes a column of filtered ones.
pub(crate) fn program(form: &Form) -> Program {
    let column = Layout::of(form.sample);
    Program {
        parameters: Vec::new(),
        name: format!("recurrence<{},{},{}>", form.sample, form.state, form.order()),
        tables: Vec::new(),
        inputs: vec![column.clone()],
        stages: vec![stage(form)],
        output: Output { filter: None, project: project(form), columns: vec![column] },
        sequential: None,
    }
}

fn stage(form: &Form) -> Stage {
    let order = form.order();
    let one = (0..order).map(|place| POWER.of_i64((place == 0) as i64));
    let zeros = vec![form.state.zero(); order];
    Stage {
        state: state_types(form),
        identity: one.chain(zeros).collect(),
        lift: lift(form),
        combine: combine(form),
        ..Stage::default()
    }
}

/// c0 … c_{d−1}, then v1 … v_d.
fn state_types(form: &Form) -> Vec<Type> {
    let order = form.order();
    [vec![POWER; order], vec![form.state; order]].concat()
}

/// x ↦ (shift + N, B·x)
fn lift(form: &Form) -> Mapping {
    let mut code = Code::new(form);
    let x = code.sample();
    let mut results: Vec<Value> = form.first_power().into_iter().map(|c| code.b.constant(c)).collect();
    for &coefficient in &form.input {
        // Adding −0 changes no number, so what does not depend on x vanishes from the step.
        let nothing = code.number(-0.0);
        let value = if coefficient == 0.0 { nothing } else { code.times(coefficient, x) };
        results.push(value);
    }
    Mapping { reads: vec![Source::Record(0)], function: code.b.finish(&results) }
}

/// y = a0·x + s1, with s1 from before the sample. A state that stays 0 is not added, since its zero may have either sign.
fn project(form: &Form) -> Mapping {
    let mut code = Code::new(form);
    if form.is_memoryless() {
        let (reads, y) = match form.direct {
            0.0 => (Vec::new(), code.number(0.0)),
            factor => {
                let x = code.sample();
                (vec![Source::Record(0)], code.times(factor, x))
            }
        };
        let y = code.b.cast(form.sample, y);
        return Mapping { reads, function: code.b.finish(&[y]) };
    }
    let s1 = code.b.param(form.state);
    let before = Source::Before { stage: 0, component: form.order() as u32 };
    let (reads, y) = if form.direct == 0.0 {
        (vec![before], s1)
    } else {
        let x = code.sample();
        (vec![before, Source::Record(0)], code.plus_times(s1, form.direct, x))
    };
    let y = code.b.cast(form.sample, y);
    Mapping { reads, function: code.b.finish(&[y]) }
}

/// (c, v) ⊕ (c', v') = (c·c' mod χ, c'(N)·v + v')
fn combine(form: &Form) -> Function {
    let mut code = Code::new(form);
    let (types, order) = (state_types(form), form.order());
    let (earlier, later) = (code.b.params(&types), code.b.params(&types));
    let ((c, v), (next_c, next_v)) = (earlier.split_at(order), later.split_at(order));
    let powers = code.product(c, next_c);
    let next_c: Vec<Value> = next_c.iter().map(|&c| code.b.cast(form.state, c)).collect();
    let vector = code.apply(&next_c, v, next_v);
    code.b.finish(&[powers, vector].concat())
}

/// A function under construction, with the form that its constants come from.
struct Code<'f> {
    form: &'f Form,
    b: FunctionBuilder,
}

impl Code<'_> {
    fn new(form: &Form) -> Code<'_> {
        Code { form, b: FunctionBuilder::new() }
    }

    /// The last parameter: a sample, in the type of the state.
    fn sample(&mut self) -> Value {
        let x = self.b.param(self.form.sample);
        self.b.cast(self.form.state, x)
    }

    /// c(N)·v + addend
    fn apply(&mut self, c: &[Value], v: &[Value], addend: &[Value]) -> Vec<Value> {
        let addend = self.plus_scaled(addend, c[0], v);
        let Some(&c1) = c.get(1) else { return addend };
        let mut sum = self.scaled(c1, v);
        let mut power = v.to_vec();
        let zeros = vec![self.number(0.0); v.len()];
        for &coefficient in &c[2..] {
            power = self.times_n(&power, &zeros);
            sum = self.plus_scaled(&sum, coefficient, &power);
        }
        self.times_n(&sum, &addend)
    }

    /// N·v + addend. The first component, which the next sample waits for longest, is multiplied last.
    fn times_n(&mut self, v: &[Value], addend: &[Value]) -> Vec<Value> {
        let form = self.form;
        let row = |(j, &b): (usize, &f64)| {
            let rest = match v.get(j + 1) {
                Some(&below) => self.b.binary(Opcode::Add, below, addend[j]),
                None => addend[j],
            };
            if b == 0.0 { rest } else { self.plus_times(rest, b, v[0]) }
        };
        form.feedback.iter().enumerate().map(row).collect()
    }

    /// c·v, and 0 where c is 0
    fn scaled(&mut self, c: Value, v: &[Value]) -> Vec<Value> {
        let zero = self.number(0.0);
        let none = self.b.binary(Opcode::Eq, c, zero);
        let component = |&v: &Value| {
            let product = self.b.binary(Opcode::Mul, c, v);
            self.b.select(none, zero, product)
        };
        v.iter().map(component).collect()
    }

    /// sum + c·v, and just sum where c is 0
    fn plus_scaled(&mut self, sum: &[Value], c: Value, v: &[Value]) -> Vec<Value> {
        let zero = self.number(0.0);
        let none = self.b.binary(Opcode::Eq, c, zero);
        let component = |(&sum, &v): (&Value, &Value)| {
            let more = self.b.op(Opcode::MulAdd, &[c, v, sum]);
            self.b.select(none, sum, more)
        };
        sum.iter().zip(v).map(component).collect()
    }

    /// The product of two polynomials in N, reduced by N^d = Σ β_j·N^(d−j), highest power first.
    fn product(&mut self, left: &[Value], right: &[Value]) -> Vec<Value> {
        let order = self.form.order();
        let nothing = self.b.constant(-0.0f64);
        let mut sums = vec![nothing; 2 * order - 1];
        for (i, &l) in left.iter().enumerate() {
            for (j, &r) in right.iter().enumerate() {
                sums[i + j] = self.b.op(Opcode::MulAdd, &[l, r, sums[i + j]]);
            }
        }
        for top in (order..sums.len()).rev() {
            for (j, &b) in self.form.feedback.iter().enumerate().filter(|(_, b)| **b != 0.0) {
                let b = self.b.constant(b);
                sums[top - 1 - j] = self.b.op(Opcode::MulAdd, &[b, sums[top], sums[top - 1 - j]]);
            }
        }
        sums.truncate(order);
        sums
    }

    /// coefficient·x
    fn times(&mut self, coefficient: f64, x: Value) -> Value {
        let coefficient = self.number(coefficient);
        self.b.binary(Opcode::Mul, coefficient, x)
    }

    /// sum + coefficient·x, rounded once
    fn plus_times(&mut self, sum: Value, coefficient: f64, x: Value) -> Value {
        let coefficient = self.number(coefficient);
        self.b.op(Opcode::MulAdd, &[coefficient, x, sum])
    }

    /// A constant of the state's type.
    fn number(&mut self, value: f64) -> Value {
        let constant = if self.form.state == Type::F32 { Constant::from(value as f32) } else { Constant::from(value) };
        self.b.constant(constant)
    }
}
