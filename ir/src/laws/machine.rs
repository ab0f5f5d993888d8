//! Runs a function on many states, fast, and says how far each result can be trusted.
//!
//! Floats are computed in `f64` whatever their type, each with a bound on its rounding error,
//! because laws of floats are judged over the reals: two results are equal where they differ by no
//! more than their bounds. A comparison of two floats that are closer than that has no certain
//! answer, which is reported. An integer operation at which native Rust would panic (it overflows,
//! and is not meant to, or divides by zero) taints its result and all values computed from it.
//! `select` passes on the taint of its condition and of the value it chooses. So an overflow in the
//! branch not taken, which the source never runs, taints nothing.

use crate::eval::evaluate;
use crate::function::{Function, Inst, Payload};
use crate::opcode::{Opcode, Rule};
use crate::program::Table;
use crate::types::{Constant, Type};

/// A panic of native Rust that a value hangs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Taint {
    /// None.
    Clean,
    /// An overflow, where it is checked. Elsewhere the value wraps, and the law may hold of that.
    Overflow,
    /// A division by zero, which has no value anywhere.
    Undefined,
}

/// A value while a law is tried.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Word {
    /// Integers and `bool` by value, vectors by their bits; floats leave it 0.
    pub(crate) int: i128,
    /// Floats by value.
    pub(crate) real: f64,
    /// A bound on the error of `real`.
    error: f64,
    pub(crate) taint: Taint,
}

impl Word {
    fn int(int: i128) -> Word {
        Word { int, real: 0.0, error: 0.0, taint: Taint::Clean }
    }

    fn real(real: f64, error: f64) -> Word {
        Word { int: 0, real, error, taint: Taint::Clean }
    }

    /// Whether it hangs on an integer operation at which native Rust would panic.
    pub(crate) fn is_tainted(&self) -> bool {
        self.taint != Taint::Clean
    }

    /// The value of a constant, exact.
    pub(crate) fn of(constant: Constant) -> Word {
        match constant.ty() {
            ty if ty.is_float() => Word::real(constant.as_f64(), 0.0),
            ty if ty.is_vector() => Word::int(constant.bits() as i128),
            _ => Word::int(constant.as_int()),
        }
    }

    /// The constant of type `ty` nearest to the value.
    pub(crate) fn constant(self, ty: Type) -> Constant {
        match ty {
            Type::F32 => Constant::from(self.real as f32),
            Type::F64 => Constant::from(self.real),
            _ => Constant::new(ty, self.int as u128),
        }
    }
}

/// A function made ready to run.
pub(crate) struct Machine<'a> {
    function: &'a Function,
    tables: &'a [Table],
    /// One word a value; constants are filled in once.
    words: Vec<Word>,
    /// The unit of rounding error assumed for one float operation.
    unit: f64,
    /// Bits of floats are looked at, so `f32` must stay `f32`.
    native: bool,
    /// This run's results are.
    uncertain: bool,
    /// The panic of the present instruction.
    panic: Taint,
    /// Some value of this run is tainted.
    any_tainted: bool,
}

impl<'a> Machine<'a> {
    /// Makes `function` ready.
    pub(crate) fn new(function: &'a Function, tables: &'a [Table]) -> Machine<'a> {
        let mut words = vec![Word::int(0); function.value_count()];
        for (value, inst) in function.values() {
            if let Some(constant) = inst.as_constant() {
                words[value.index()] = Word::of(constant);
            }
        }
        let float_bits = |opcode| matches!(opcode, Opcode::Bitcast | Opcode::ToF16 | Opcode::ToBf16);
        let native = function.insts.iter().any(|inst| float_bits(inst.opcode));
        let single = function.insts.iter().any(|inst| inst.ty == Type::F32);
        let unit = if native && single { 2f64.powi(-20) } else { 2f64.powi(-50) };
        Machine { function, tables, words, unit, native, uncertain: false, panic: Taint::Clean, any_tainted: false }
    }

    /// Instructions a run takes: its cost.
    pub(crate) fn cost(&self) -> usize {
        self.function.insts.len() + self.function.params.len() + 4
    }

    /// Runs the function on the parts of its parameters, one after the other. Gives whether the results are uncertain: a comparison
    /// or rounding step hung on less than the rounding error, or a float left its range.
    pub(crate) fn run(&mut self, parameters: &[&[Word]], results: &mut Vec<Word>) -> bool {
        self.uncertain = false;
        let parameters = parameters.iter().flat_map(|part| part.iter());
        for (place, word) in self.words[..self.function.params.len()].iter_mut().zip(parameters) {
            *place = *word;
        }
        self.any_tainted = self.words[..self.function.params.len()].iter().any(Word::is_tainted);
        let function = self.function;
        for (place, inst) in function.insts.iter().enumerate() {
            if inst.opcode != Opcode::Const {
                self.panic = Taint::Clean;
                let mut word = self.step(place);
                let wraps = self.panic == Taint::Overflow && inst.payload == Payload::Wraps;
                let own = if wraps { Taint::Clean } else { self.panic };
                word.taint = if self.any_tainted { own.max(self.passed_on(inst)) } else { own };
                self.any_tainted |= word.is_tainted();
                self.words[function.params.len() + place] = word;
            }
        }
        results.clear();
        results.extend(function.results.iter().map(|value| self.words[value.index()]));
        self.blur(results);
        self.uncertain
    }

    /// The taint of its operands that an instruction propagates.
    fn passed_on(&self, inst: &Inst) -> Taint {
        let operand = |i: usize| &self.words[inst.operands()[i].index()];
        // A `bool` that decides an `and` or an `or` alone.
        let decides = |i: usize, value: i128| !operand(i).is_tainted() && operand(i).int == value;
        match inst.opcode {
            Opcode::Select => operand(0).taint.max(operand(if operand(0).int != 0 { 1 } else { 2 }).taint),
            Opcode::And if inst.ty == Type::Bool && (decides(0, 0) || decides(1, 0)) => Taint::Clean,
            Opcode::Or if inst.ty == Type::Bool && (decides(0, 1) || decides(1, 1)) => Taint::Clean,
            _ => (0..inst.operands().len()).map(|i| operand(i).taint).max().unwrap_or(Taint::Clean),
        }
    }

    /// Where a function reads bits of floats, as `ln` does, its error bounds leak; what it makes is as exact as the
    /// largest number that went in or came out.
    fn blur(&self, results: &mut [Word]) {
        if self.native {
            let parameters = &self.words[..self.function.params.len()];
            let finite = parameters.iter().chain(results.iter()).map(|word| word.real.abs()).filter(|x| x.is_finite());
            let error = finite.fold(1.0, f64::max) * self.unit;
            results.iter_mut().for_each(|word| word.error = word.error.max(error));
        }
    }

    fn step(&mut self, place: usize) -> Word {
        let function = self.function;
        let inst = &function.insts[place];
        let operand = |i: usize| self.words[inst.operands()[i].index()];
        let a = operand(0);
        let b = inst.operands().get(1).map_or(a, |value| self.words[value.index()]);
        let from = function.type_of(inst.operands()[0]).unwrap_or(inst.ty);
        match inst.opcode {
            Opcode::Select => {
                if a.int != 0 {
                    b
                } else {
                    operand(2)
                }
            }
            Opcode::Cast => self.cast(a, from, inst.ty),
            Opcode::MulAdd => {
                let c = operand(2);
                let product = self.multiply(a, b);
                self.add(product, c)
            }
            opcode if matches!(opcode.rule(), Rule::Compare(_)) => self.compare(opcode, a, b, from),
            opcode if from.is_float() && inst.ty.is_float() && opcode != Opcode::Bitcast => {
                let word = self.float(opcode, a, b);
                if !(self.native && inst.ty == Type::F32) {
                    return word;
                }
                let rounded = word.real as f32 as f64;
                // Numbers near 0 lose more than the unit.
                let lost = if rounded.is_finite() { (rounded - word.real).abs() } else { 0.0 };
                Word::real(rounded, word.error + lost)
            }
            Opcode::Shl | Opcode::Shr => {
                self.panic = if b.int >= from.bits() as i128 { Taint::Overflow } else { Taint::Clean };
                self.reference(place)
            }
            opcode if from.is_int() && inst.ty == from => match self.int(opcode, a.int, b.int, from) {
                Some(int) => Word::int(int),
                None => self.reference(place),
            },
            Opcode::And if from == Type::Bool => Word::int(a.int & b.int),
            Opcode::Or if from == Type::Bool => Word::int(a.int | b.int),
            Opcode::Xor if from == Type::Bool => Word::int(a.int ^ b.int),
            Opcode::Not if from == Type::Bool => Word::int(a.int ^ 1),
            _ => self.reference(place),
        }
    }

    /// The result of the reference: for everything that needs no speed.
    fn reference(&self, place: usize) -> Word {
        let inst = &self.function.insts[place];
        let mut operands = [Type::Bool.zero(); 3];
        for (slot, &value) in operands.iter_mut().zip(inst.operands()) {
            *slot = self.words[value.index()].constant(self.function.type_of(value).unwrap_or(inst.ty));
        }
        let operands = &operands[..inst.operands().len()];
        Word::of(evaluate(inst, operands, self.tables).unwrap_or(inst.ty.zero()))
    }

    fn int(&mut self, opcode: Opcode, a: i128, b: i128, ty: Type) -> Option<i128> {
        let (min, max) = (ty.least().as_int(), ty.greatest().as_int());
        let exact = match opcode {
            Opcode::Add => a + b,
            Opcode::Sub => a - b,
            Opcode::Mul => a.wrapping_mul(b),
            Opcode::Neg => -a,
            Opcode::Abs => a.abs(),
            Opcode::Div | Opcode::Rem if b == 0 => {
                self.panic = Taint::Undefined;
                return Some(if opcode == Opcode::Div { 0 } else { a });
            }
            Opcode::Div => a / b,
            Opcode::Rem => a % b,
            Opcode::Min => a.min(b),
            Opcode::Max => a.max(b),
            Opcode::AddSat => (a + b).clamp(min, max),
            Opcode::SubSat => (a - b).clamp(min, max),
            Opcode::And => a & b,
            Opcode::Or => a | b,
            Opcode::Xor => a ^ b,
            _ => return None,
        };
        let product_wrapped = opcode == Opcode::Mul && a.checked_mul(b).is_none();
        if !product_wrapped && min <= exact && exact <= max {
            return Some(exact);
        }
        self.panic = Taint::Overflow;
        Some(Constant::new(ty, exact as u128).as_int())
    }

    fn compare(&mut self, opcode: Opcode, a: Word, b: Word, ty: Type) -> Word {
        use std::cmp::Ordering::{Equal, Greater, Less};
        let order = if ty.is_float() {
            self.uncertain |= (a.real - b.real).abs() <= a.error + b.error && a.error + b.error > 0.0;
            a.real.partial_cmp(&b.real)
        } else {
            Some(a.int.cmp(&b.int))
        };
        Word::int(match opcode {
            Opcode::Eq => order == Some(Equal),
            Opcode::Ne => order != Some(Equal),
            Opcode::Lt => order == Some(Less),
            Opcode::Le => matches!(order, Some(Less | Equal)),
            Opcode::Gt => order == Some(Greater),
            _ => matches!(order, Some(Greater | Equal)),
        } as i128)
    }

    fn cast(&mut self, a: Word, from: Type, to: Type) -> Word {
        if from.is_float() && to.is_float() {
            return a;
        }
        if from.is_float() {
            self.uncertain |= a.error > 0.0 && (a.real - a.error).floor() != (a.real + a.error).floor();
        }
        let wide = if from == Type::F32 { Type::F64 } else { from };
        let inst = crate::Inst::new(Opcode::Cast, to, &[crate::Value::new(0)], crate::Payload::None);
        Word::of(evaluate(&inst, &[a.constant(wide)], &[]).unwrap_or(to.zero()))
    }

    fn add(&mut self, a: Word, b: Word) -> Word {
        let sum = a.real + b.real;
        let exact = sum - a.real == b.real && sum - b.real == a.real;
        self.rounded(sum, a.error + b.error, exact, &[a, b])
    }

    fn multiply(&mut self, a: Word, b: Word) -> Word {
        let product = a.real * b.real;
        let whole = |x: f64| x.abs() < 9.0e15 && (x as i64) as f64 == x;
        let zero = |x: Word| x.real == 0.0 && x.error == 0.0;
        let carried = a.error * b.real.abs() + b.error * a.real.abs() + a.error * b.error;
        // 0 · ∞ in the bound: an exact factor carries no error.
        let carried = if carried.is_nan() { 0.0 } else { carried };
        // Two factors of 26 significant bits each.
        let short = |x: f64| x.to_bits().trailing_zeros() >= 27;
        let shorts = short(a.real) && short(b.real) && (product.is_normal() || a.real == 0.0 || b.real == 0.0);
        let exact = shorts || (whole(a.real) && whole(b.real) && whole(product)) || zero(a) || zero(b);
        self.rounded(product, carried, exact, &[a, b])
    }

    fn rounded(&mut self, real: f64, carried: f64, exact: bool, operands: &[Word]) -> Word {
        let from_finite = operands.iter().all(|operand| operand.real.is_finite());
        if from_finite && (!real.is_finite() || real.abs() > 1e300) {
            self.uncertain = true;
        }
        if !real.is_finite() {
            return Word::real(real, 0.0);
        }
        Word::real(real, carried + if exact { 0.0 } else { self.unit * real.abs() + f64::MIN_POSITIVE })
    }

    fn float(&mut self, opcode: Opcode, a: Word, b: Word) -> Word {
        let near = (a.real - b.real).abs() <= a.error + b.error;
        let both = if near { a.error.max(b.error) } else { f64::NAN };
        let either = |x: Word, real: f64| if both.is_nan() { x } else { Word::real(real, both) };
        match opcode {
            Opcode::Add => self.add(a, b),
            Opcode::Sub => self.add(a, Word::real(-b.real, b.error)),
            Opcode::Mul => self.multiply(a, b),
            Opcode::Neg => Word::real(-a.real, a.error),
            Opcode::Abs => Word::real(a.real.abs(), a.error),
            Opcode::Min if a.real.is_nan() || b.real < a.real => either(b, b.real),
            Opcode::Max if a.real.is_nan() || b.real > a.real => either(b, b.real),
            Opcode::Min | Opcode::Max => either(a, a.real),
            Opcode::Div => {
                self.uncertain |= b.error > 0.0 && b.real.abs() <= b.error;
                let quotient = a.real / b.real;
                let carried = (a.error + quotient.abs() * b.error) / (b.real.abs() - b.error);
                // Division by an exact zero is no rounding matter: ∞ and NaN stand as they came.
                if b.real == 0.0 || !quotient.is_finite() {
                    Word::real(quotient, 0.0)
                } else {
                    self.rounded(quotient, carried, false, &[a, b])
                }
            }
            Opcode::Sqrt => {
                self.uncertain |= a.error > 0.0 && a.real.abs() <= a.error;
                let root = a.real.sqrt();
                let carried = if a.error > 0.0 { a.error / root } else { 0.0 };
                self.rounded(root, carried, false, &[a, Word::real(root, 0.0)])
            }
            Opcode::Floor | Opcode::Ceil | Opcode::Trunc | Opcode::RoundEven => {
                let round = |x: f64| match opcode {
                    Opcode::Floor => x.floor(),
                    Opcode::Ceil => x.ceil(),
                    Opcode::Trunc => x.trunc(),
                    _ => x.round_ties_even(),
                };
                self.uncertain |= a.error > 0.0 && round(a.real - a.error) != round(a.real + a.error);
                Word::real(round(a.real), 0.0)
            }
            _ => {
                self.uncertain |= b.error > 0.0 && b.real.abs() <= b.error;
                Word::real(a.real.copysign(b.real), a.error)
            }
        }
    }
}

/// Whether two results of type `ty` count as equal. −0 is +0; any NaN is any other.
pub(crate) fn agree(a: &Word, b: &Word, ty: Type) -> bool {
    if !ty.is_float() {
        return a.int == b.int;
    }
    a.real == b.real || (a.real.is_nan() && b.real.is_nan()) || (a.real - b.real).abs() <= 8.0 * (a.error + b.error)
}
