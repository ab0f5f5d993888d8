//! Operators as expressions, with two meanings: native Rust, which panics where an integer
//! overflows, and the IR.

use monoscan_ir::{Constant, Function, FunctionBuilder, Mapping, Opcode, Source, Stage, Type, Value};

/// An expression over the components of two states. Comparisons give 0 or 1, and 0 is false.
#[derive(Clone, Debug)]
pub enum Expr {
    Earlier(usize),
    Later(usize),
    Number(i64),
    /// The lowest and the highest number of the type.
    Lowest,
    Highest,
    Binary(Opcode, Box<Expr>, Box<Expr>),
    If(Box<Expr>, Box<Expr>, Box<Expr>),
}

/// The types that operators are tried over. States hold components of one type, flags among them as 0 and 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Int(pub Type);

impl Int {
    pub fn lowest(self) -> i64 {
        if self.0.is_signed() { -self.highest() - 1 } else { 0 }
    }

    pub fn highest(self) -> i64 {
        (self.0.mask() >> self.0.is_signed() as u32) as i64
    }

    /// None where native Rust panics.
    fn checked(self, number: i64) -> Option<i64> {
        (self.lowest()..=self.highest()).contains(&number).then_some(number)
    }
}

/// An operator with its identity and what of its states is valid.
#[derive(Clone, Debug)]
pub struct Operator {
    pub int: Int,
    pub identity: Vec<Expr>,
    pub combine: Vec<Expr>,
    /// Of the earlier state alone.
    pub valid: Option<Expr>,
    pub follows: Option<Expr>,
}

impl Expr {
    /// The result in native Rust, with the arm of an `if` that is taken alone; none if it panics.
    pub fn native(&self, int: Int, earlier: &[i64], later: &[i64]) -> Option<i64> {
        let of = |expr: &Expr| expr.native(int, earlier, later);
        match self {
            Expr::Earlier(component) => Some(earlier[*component]),
            Expr::Later(component) => Some(later[*component]),
            Expr::Number(number) => Some(*number),
            Expr::Lowest => Some(int.lowest()),
            Expr::Highest => Some(int.highest()),
            Expr::If(condition, yes, no) => of(if of(condition)? != 0 { yes } else { no }),
            Expr::Binary(opcode, a, b) => {
                let a = of(a)?;
                // `&&` and `||` do not run what they do not need.
                match (opcode, a) {
                    (Opcode::And, 0) => return Some(0),
                    (Opcode::Or, 1) => return Some(1),
                    _ => {}
                }
                let b = of(b)?;
                match opcode {
                    Opcode::Add => int.checked(a.checked_add(b)?),
                    Opcode::Sub => int.checked(a.checked_sub(b)?),
                    Opcode::Mul => int.checked(a.checked_mul(b)?),
                    Opcode::Div => int.checked(a.checked_div(b)?),
                    // As the quotient, which overflows too.
                    Opcode::Rem => int.checked(a.checked_div(b)?).map(|_| a % b),
                    Opcode::AddSat => Some(a.saturating_add(b).clamp(int.lowest(), int.highest())),
                    Opcode::SubSat => Some(a.saturating_sub(b).clamp(int.lowest(), int.highest())),
                    Opcode::Min => Some(a.min(b)),
                    Opcode::Max => Some(a.max(b)),
                    Opcode::And | Opcode::Or => Some(b),
                    Opcode::Eq => Some((a == b) as i64),
                    Opcode::Lt => Some((a < b) as i64),
                    Opcode::Le => Some((a <= b) as i64),
                    _ => unreachable!("no family uses {opcode:?}"),
                }
            }
        }
    }

    /// The value in the IR, and whether it is a `bool`.
    fn emit(&self, b: &mut FunctionBuilder, int: Int, states: &[Value]) -> Value {
        let width = states.len() / 2;
        match self {
            Expr::Earlier(component) => states[*component],
            Expr::Later(component) => states[width + component],
            Expr::Number(number) => b.constant(int.0.of_i64(*number)),
            Expr::Lowest => b.constant(int.0.of_i64(int.lowest())),
            Expr::Highest => b.constant(int.0.of_i64(int.highest())),
            Expr::If(condition, yes, no) => {
                let condition = condition.truth(b, int, states);
                let (yes, no) = (yes.emit(b, int, states), no.emit(b, int, states));
                b.select(condition, yes, no)
            }
            Expr::Binary(Opcode::And | Opcode::Or | Opcode::Eq | Opcode::Lt | Opcode::Le, ..) => {
                let truth = self.truth(b, int, states);
                b.cast(int.0, truth)
            }
            Expr::Binary(opcode, x, y) => {
                let (x, y) = (x.emit(b, int, states), y.emit(b, int, states));
                b.binary(*opcode, x, y)
            }
        }
    }

    fn truth(&self, b: &mut FunctionBuilder, int: Int, states: &[Value]) -> Value {
        match self {
            Expr::Binary(opcode @ (Opcode::And | Opcode::Or), x, y) => {
                let (x, y) = (x.truth(b, int, states), y.truth(b, int, states));
                b.binary(*opcode, x, y)
            }
            Expr::Binary(opcode @ (Opcode::Eq | Opcode::Lt | Opcode::Le), x, y) => {
                let (x, y) = (x.emit(b, int, states), y.emit(b, int, states));
                b.binary(*opcode, x, y)
            }
            _ => {
                let (value, zero) = (self.emit(b, int, states), b.constant(int.0.zero()));
                b.binary(Opcode::Ne, value, zero)
            }
        }
    }

    /// Every part of the expression, itself first.
    pub fn parts(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        visit(self);
        match self {
            Expr::Binary(_, a, b) => [a, b].into_iter().for_each(|part| part.parts(visit)),
            Expr::If(condition, yes, no) => [condition, yes, no].into_iter().for_each(|part| part.parts(visit)),
            _ => {}
        }
    }
}

impl Operator {
    pub fn identity(&self) -> Vec<i64> {
        self.identity.iter().map(|part| part.native(self.int, &[], &[]).expect("identities are numbers")).collect()
    }

    /// None where native Rust panics.
    pub fn combine(&self, earlier: &[i64], later: &[i64]) -> Option<Vec<i64>> {
        self.combine.iter().map(|part| part.native(self.int, earlier, later)).collect()
    }

    pub fn is_valid(&self, state: &[i64]) -> bool {
        self.valid.as_ref().is_none_or(|valid| valid.native(self.int, state, &[]).is_some_and(|valid| valid != 0))
    }

    /// Whether a state may come after another; not if native Rust panics there.
    pub fn follows(&self, earlier: &[i64], later: &[i64]) -> bool {
        self.meet(earlier, later) == Some(true)
    }

    /// The same; none if native Rust panics.
    pub fn meet(&self, earlier: &[i64], later: &[i64]) -> Option<bool> {
        let Some(follows) = &self.follows else { return Some(true) };
        follows.native(self.int, earlier, later).map(|follows| follows != 0)
    }

    pub fn stage(&self) -> Stage {
        let int = self.int;
        let state = vec![int.0; self.identity.len()];
        let function = |parts: usize, body: &dyn Fn(&mut FunctionBuilder, &[Value]) -> Vec<Value>| -> Function {
            let mut b = FunctionBuilder::new();
            let params = b.params(&vec![int.0; parts * state.len()]);
            let results = body(&mut b, &params);
            b.finish(&results)
        };
        let combine = function(2, &|b, both| self.combine.iter().map(|part| part.emit(b, int, both)).collect());
        let valid = self.valid.as_ref().map(|valid| {
            function(1, &|b, state| {
                let both = [state, state].concat();
                vec![valid.truth(b, int, &both)]
            })
        });
        let follows = self.follows.as_ref().map(|follows| function(2, &|b, both| vec![follows.truth(b, int, both)]));
        let lift = Mapping {
            reads: (0..state.len() as u32).map(Source::Record).collect(),
            function: function(1, &|_, record| record.to_vec()),
        };
        let identity: Vec<Constant> = self.identity().into_iter().map(|number| int.0.of_i64(number)).collect();
        Stage { state, identity, lift, combine, valid, follows, ..Stage::default() }
    }
}
