//! Operators that compose functions of a number: associative because composing functions is.
//!
//! A component that follows from the later state and itself alone is a *point*: `combine` takes it
//! through the function that the later state is. With A(u, y) for where y takes u, an operator
//! composes functions if A(A(u, y), z) = A(u, y · z). Then both groupings of x · y · z take every u
//! to the same place. That says that their points are equal, and with them the rest, if valid
//! states are told apart by where they take the ends of the type and what they have of the rest.
//!
//! Each of these equations has fewer states than associativity itself. All are decided by [linear
//! arithmetic](super::linear), exactly: sums that wrap on the way are no matter.

use super::group::{Group, reads};
use super::linear;
use super::verdict::Proof;
use crate::builder::FunctionBuilder;
use crate::function::{Function, Value};
use crate::opcode::Opcode;
use crate::program::Table;
use crate::types::Type;

/// Work that each equation may take, in inequalities.
const FUEL: usize = 2_000;
/// Most components, and most instructions of an operator.
const MOST_COMPONENTS: usize = 6;
const MOST_INSTRUCTIONS: usize = 200;

/// A group of integers, and what is known of its valid states.
pub(super) struct Functions<'a> {
    group: &'a Group,
    /// Its components → what `valid` asks of them, a `bool` each.
    valid: &'a Function,
    tables: &'a [Table],
}

impl<'a> Functions<'a> {
    /// With what `valid` asks of this group alone; none if its components are no integers, or many.
    pub(super) fn new(group: &'a Group, valid: &'a Function, tables: &'a [Table]) -> Option<Functions<'a>> {
        let is_number = |ty: &Type| ty.is_int() || *ty == Type::Bool;
        if group.types.len() > MOST_COMPONENTS
            || group.combine.insts.len() > MOST_INSTRUCTIONS
            || !group.types.iter().all(is_number)
        {
            return None;
        }
        Some(Functions { group, valid, tables })
    }

    /// Valid states compose to valid ones.
    pub(super) fn closure(&self) -> Option<usize> {
        self.prove(&[], 2, |law| {
            let product = law.combine(0, 1);
            law.valid(&product)
        })
    }

    /// The identity changes no valid state.
    pub(super) fn identity(&self) -> Option<Proof> {
        let cases = self.prove(&[], 1, |law| {
            let identity: Vec<Value> = self.group.identity.iter().map(|&constant| law.b.constant(constant)).collect();
            let x = law.states[0].clone();
            let (before, after) = (law.combined(&identity, &x), law.combined(&x, &identity));
            [law.equal(&before, &x), law.equal(&after, &x)].concat()
        });
        Some(Proof::Linear { cases: cases? })
    }

    /// The groupings of three valid states agree. `closed` says that valid states compose to valid ones.
    pub(super) fn associativity(&self, closed: Option<usize>) -> Option<Proof> {
        let points = self.points()?;
        let ty = self.group.types[points[0]];
        let mut cases = self.prove(&[ty], 2, |law| {
            let u = law.free[0];
            let (y, z) = (law.states[0].clone(), law.states[1].clone());
            let composed = law.combined(&y, &z);
            let through = law.taken(points[0], u, &y);
            let (one, other) = (law.taken(points[0], through, &z), law.taken(points[0], u, &composed));
            law.equal(&[one], &[other])
        })?;
        if points.len() < self.group.types.len() {
            cases += closed? + self.told_apart(&points)?;
        }
        Some(Proof::Functions { cases })
    }

    /// Valid states are the same that take the ends of the type, and their components that are no points, to the same places.
    fn told_apart(&self, points: &[usize]) -> Option<usize> {
        let (point, types) = (points[0], &self.group.types);
        let ty = types[point];
        let ends = [ty.least(), ty.greatest()];
        let mut law = Law::new(self, &[], 2);
        let mut conditions = law.all_valid();
        let mut tried: Vec<Value> = ends.iter().map(|&end| law.b.constant(end)).collect();
        let (v, w) = (law.states[0].clone(), law.states[1].clone());
        let is_rest = |place: &usize| types[*place] == ty && !points.contains(place);
        tried.extend((0..types.len()).filter(is_rest).flat_map(|place| [v[place], w[place]]));
        for u in tried {
            let (one, other) = (law.taken(point, u, &v), law.taken(point, u, &w));
            conditions.extend(law.equal(&[one], &[other]));
        }
        let premises = conditions.len();
        conditions.extend(law.equal(&v, &w));
        law.prove(conditions, premises)
    }

    /// The components that `combine` takes through one function, each from itself and the later state alone.
    fn points(&self) -> Option<Vec<usize>> {
        let types = &self.group.types;
        let width = types.len();
        let follows = |place: usize| {
            let result = self.group.combine.results[place];
            let read = reads(&self.group.combine, result);
            read.into_iter().all(|param| param == place || param >= width)
        };
        let first = (0..width).find(|&place| follows(place))?;
        let mut law = Law::new(self, &[types[first]], 1);
        let (u, y) = (law.free[0], law.states[0].clone());
        let function = law.taken(first, u, &y);
        let is_point =
            |&place: &usize| types[place] == types[first] && follows(place) && law.taken(place, u, &y) == function;
        Some((0..width).filter(is_point).collect())
    }

    /// How many cases prove conditions of so many valid states and free numbers.
    fn prove(
        &self,
        free: &[Type],
        states: usize,
        conditions: impl FnOnce(&mut Law<'_>) -> Vec<Value>,
    ) -> Option<usize> {
        let mut law = Law::new(self, free, states);
        let valid = law.all_valid();
        let premises = valid.len();
        let conditions = [valid, conditions(&mut law)].concat();
        law.prove(conditions, premises)
    }
}

/// An equation under construction: a function of states and free numbers.
struct Law<'a> {
    of: &'a Functions<'a>,
    b: FunctionBuilder,
    free: Vec<Value>,
    states: Vec<Vec<Value>>,
}

impl<'a> Law<'a> {
    fn new(of: &'a Functions<'a>, free: &[Type], states: usize) -> Law<'a> {
        let mut b = FunctionBuilder::new();
        let free = b.params(free);
        let states = (0..states).map(|_| b.params(&of.group.types)).collect();
        Law { of, b, free, states }
    }

    fn combined(&mut self, earlier: &[Value], later: &[Value]) -> Vec<Value> {
        self.b.inline(&self.of.group.combine, &[earlier, later].concat())
    }

    fn combine(&mut self, earlier: usize, later: usize) -> Vec<Value> {
        let (earlier, later) = (self.states[earlier].clone(), self.states[later].clone());
        self.combined(&earlier, &later)
    }

    fn valid(&mut self, state: &[Value]) -> Vec<Value> {
        self.b.inline(self.of.valid, state)
    }

    fn all_valid(&mut self) -> Vec<Value> {
        self.states.clone().iter().flat_map(|state| self.valid(state)).collect()
    }

    /// Where a state takes a number, by a component that follows from itself and the later state.
    fn taken(&mut self, point: usize, u: Value, later: &[Value]) -> Value {
        let types = &self.of.group.types;
        let mut earlier: Vec<Value> = types.iter().map(|ty| self.b.constant(ty.zero())).collect();
        earlier[point] = u;
        self.combined(&earlier, later)[point]
    }

    fn equal(&mut self, left: &[Value], right: &[Value]) -> Vec<Value> {
        left.iter().zip(right).map(|(&a, &b)| self.b.binary(Opcode::Eq, a, b)).collect()
    }

    /// Proves conditions after so many premises, whatever overflows.
    fn prove(self, conditions: Vec<Value>, premises: usize) -> Option<usize> {
        let tables = self.of.tables;
        let holds = linear::prove(&self.b.finish(&conditions), premises, tables, FUEL)?;
        (!holds.no_overflow).then_some(holds.cases)
    }
}
