//! Identity and closure of operators that keep or set values, on the states that `valid` accepts.
//!
//! A state that keeps what was before has no value of its own: `valid` says which constant stands
//! there. So these laws do not hold of all states. They are proved in each case of the states'
//! flags: there a condition of `valid` is false, and there is no such state; or it says that a
//! component is a constant, which is put in its place.

use super::elements::{Assumptions, Elements, GaveUp, Id, Sides};
use super::group::Group;
use super::traits;
use super::verdict::Proof;
use crate::function::Function;
use crate::program::Table;
use crate::types::{Constant, Type};

/// Work that one proof may take; about a tenth of a microsecond each.
const FUEL: usize = 16_000;
/// Most flags of all states of a law.
const MOST_FLAGS: usize = 7;

/// The sides of an equation of states.
type SidesOf<'s> = dyn Fn(&mut Elements<'_>, &[Vec<Id>]) -> Result<Sides, GaveUp> + 's;

/// A group, and its components → what `valid` asks of them.
pub(super) struct Kept<'a> {
    pub(super) group: &'a Group,
    pub(super) valid: &'a Function,
    pub(super) tables: &'a [Table],
    pub(super) assume: Assumptions,
}

impl Kept<'_> {
    /// The identity changes no valid state.
    pub(super) fn identity(&self) -> Option<Proof> {
        self.prove(1, &|elements, states| {
            let e: Vec<Id> = self.group.identity.iter().map(|&constant| elements.constant(constant)).collect();
            let x = &states[0];
            let both = [self.combined(elements, &e, x)?, self.combined(elements, x, &e)?].concat();
            Ok((both, [&x[..], x].concat()))
        })
    }

    /// Valid states combine to valid ones.
    pub(super) fn closure(&self) -> Option<Proof> {
        self.prove(2, &|elements, states| {
            let product = self.combined(elements, &states[0], &states[1])?;
            let holds = elements.call(self.valid, &product)?;
            let yes = elements.constant(Constant::from(true));
            Ok((holds.clone(), vec![yes; holds.len()]))
        })
    }

    fn combined(&self, elements: &mut Elements<'_>, x: &[Id], y: &[Id]) -> Result<Vec<Id>, GaveUp> {
        elements.call(&self.group.combine, &[x, y].concat())
    }

    /// An equation of so many valid states.
    fn prove(&self, states: usize, sides: &SidesOf<'_>) -> Option<Proof> {
        let flags = self.group.types.iter().filter(|ty| **ty == Type::Bool).count();
        if states * flags > MOST_FLAGS {
            return None;
        }
        let mut elements = Elements::new(self.tables, self.assume, FUEL);
        let mut cases = 0;
        let mut sides = |elements: &mut Elements<'_>| {
            let all: Result<Vec<_>, GaveUp> = (0..states).map(|number| self.state(elements, number)).collect();
            match all?.into_iter().collect::<Option<Vec<_>>>() {
                Some(states) => sides(elements, &states),
                None => Ok((Vec::new(), Vec::new())),
            }
        };
        // Of these laws no verdict says that they hold where nothing overflows.
        let holds = elements.by_cases(&mut sides, &mut cases).ok()? && !elements.means.no_overflow;
        holds.then_some(Proof::Identity { means: elements.means, cases })
    }

    /// A valid state, with constants where they are known; none if there is none in the present case.
    fn state(&self, elements: &mut Elements<'_>, number: usize) -> Result<Option<Vec<Id>>, GaveUp> {
        let types = &self.group.types;
        let place = |component: usize| (number * types.len() + component) as u32;
        let mut state: Vec<Id> = types.iter().enumerate().map(|(i, &ty)| elements.variable(ty, place(i))).collect();
        for (&component, &ty) in state.iter().zip(types) {
            if ty == Type::Bool {
                elements.decide(component)?;
            }
        }
        for condition in elements.call(self.valid, &state)? {
            if elements.as_constant(condition) == Some(Constant::from(false)) {
                return Ok(None);
            }
            // A float that equals 0 may be -0, which is another number to all but comparisons.
            if let Some((component, constant)) = elements.as_equality(condition)
                && (!elements.ty(component).is_float() || traits::orders_only(&self.group.combine))
            {
                state.iter_mut().filter(|id| **id == component).for_each(|id| *id = constant);
            }
        }
        Ok(Some(state))
    }
}

#[cfg(test)]
mod tests {
    use crate::builder::FunctionBuilder;
    use crate::function::{Function, Value};
    use crate::laws::{Judgement, Overflow, judge};
    use crate::opcode::Opcode;
    use crate::program::{Mapping, Source, Stage};
    use crate::types::{Constant, Type};

    fn judged(
        identity: Vec<Constant>,
        combine: impl Fn(&mut FunctionBuilder, &[Value], &[Value]) -> Vec<Value>,
        valid: impl Fn(&mut FunctionBuilder, &[Value]) -> Value,
    ) -> Judgement {
        let state: Vec<Type> = identity.iter().map(|constant| constant.ty()).collect();
        let function = |body: &dyn Fn(&mut FunctionBuilder) -> Vec<Value>| -> Function {
            let mut b = FunctionBuilder::new();
            let results = body(&mut b);
            b.finish(&results)
        };
        let stage = Stage {
            lift: Mapping {
                reads: (0..state.len() as u32).map(Source::Record).collect(),
                function: function(&|b| b.params(&state)),
            },
            combine: function(&|b| {
                let (earlier, later) = (b.params(&state), b.params(&state));
                combine(b, &earlier, &later)
            }),
            valid: Some(function(&|b| {
                let params = b.params(&state);
                vec![valid(b, &params)]
            })),
            identity,
            state,
            ..Stage::default()
        };
        judge(&stage, &[], Overflow::NeverOccurs)
    }

    /// Equal numbers stay, others become NaN, which is not valid: NaN is a state here, though no valid one.
    #[test]
    fn what_becomes_nan_is_not_closed() {
        let combine = |b: &mut FunctionBuilder, x: &[Value], y: &[Value]| {
            let (none, nan) = (b.lit(f64::INFINITY), b.lit(f64::NAN));
            let [is_first, is_second] = [x, y].map(|value| b.binary(Opcode::Eq, value[0], none));
            let are_equal = b.binary(Opcode::Eq, x[0], y[0]);
            let both = b.select(are_equal, x[0], nan);
            let known = b.select(is_second, x[0], both);
            vec![b.select(is_first, y[0], known)]
        };
        let judgement =
            judged(vec![f64::INFINITY.into()], combine, |b, state| b.binary(Opcode::Eq, state[0], state[0]));
        assert!(!judgement.closure.is_proved(), "{judgement:?}");
    }

    /// A float that equals 0 has one of two bit patterns.
    #[test]
    fn bits_of_a_zero_are_not_known() {
        let combine = |b: &mut FunctionBuilder, x: &[Value], y: &[Value]| {
            let bits = [x, y].map(|state| b.bitcast(Type::U64, state[0]));
            let sums = [(x[1], y[1]), (bits[0], bits[1])].map(|(one, other)| b.binary(Opcode::Xor, one, other));
            vec![y[0], b.binary(Opcode::Xor, sums[0], sums[1])]
        };
        let judgement = judged(vec![0.0f64.into(), 0u64.into()], combine, |b, state| {
            let zero = b.lit(0.0f64);
            b.binary(Opcode::Eq, state[0], zero)
        });
        assert!(!judgement.identity.is_proved(), "{judgement:?}");
    }

    /// The larger of two sums is a sum, but where one overflows.
    #[test]
    fn what_holds_without_overflow_is_not_closed() {
        let combine = |b: &mut FunctionBuilder, x: &[Value], y: &[Value]| vec![b.binary(Opcode::Add, x[0], y[0])];
        let valid = |b: &mut FunctionBuilder, state: &[Value]| {
            let (zero, one) = (b.lit(0i64), b.lit(1i64));
            let (more, raised) = (b.binary(Opcode::Add, state[0], one), b.binary(Opcode::Max, state[0], zero));
            let (left, right) = (b.binary(Opcode::Add, raised, one), b.binary(Opcode::Max, more, one));
            b.binary(Opcode::Eq, left, right)
        };
        let judgement = judged(vec![0i64.into()], combine, valid);
        assert!(!judgement.closure.is_proved(), "{judgement:?}");
    }
}
