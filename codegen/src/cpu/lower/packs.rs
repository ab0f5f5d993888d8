//! Packs: what a function computes alike for several floats of its results is computed once, in
//! vectors with a lane for each.
//!
//! The rows of a product of matrices, or the states of a hidden Markov model, are the same long
//! expression of different operands. A [`Pack`] is such an expression over *leaves*: what is not
//! alike, is read, or is wanted elsewhere is computed element by element before it, and put into
//! lanes. This is the superword-level parallelism of Larsen and Amarasinghe (PLDI 2000), from
//! results to operands. Lanes round as scalars do, so results are the same to the bit.

use std::collections::{HashMap, HashSet};

use cranelift_codegen::ir::{self, InstBuilder};
use cranelift_frontend as clif;
use monoscan_ir::{Constant, Function, FunctionBuilder, Inst, Opcode, Rule, Table, Type, Value};

use super::super::error::CodegenError;
use super::super::simd::{Lanes, Shape, has_lane_form, lower_lanes, vector_type};

/// Functions of fewer instructions gain nothing that lanes do not cost.
const LEAST: usize = 48;

/// The cost below which a function goes in packs, in hundredths of its cost element by element.
const MARGIN: usize = 75;

/// A value for each lane.
type Group = Vec<Value>;

/// A function in packs.
pub(super) struct Packed {
    /// From the parameters to the leaves of all packs.
    pub(super) before: Function,
    packs: Vec<Pack>,
    /// From the parameters, and the results of all packs, to the results.
    pub(super) after: Function,
}

/// An expression that is alike in all lanes.
struct Pack {
    shape: Shape,
    /// Of one lane: from leaves to one result.
    function: Function,
    leaves: Vec<Leaf>,
}

/// The value that is put into lanes.
enum Leaf {
    Constants(Vec<Constant>),
    /// Places among the results of `before`.
    Values(Vec<usize>),
}

impl Packed {
    /// The packs of a function, if they are worth it.
    pub(super) fn of(function: &Function) -> Option<Packed> {
        if function.insts.len() < LEAST {
            return None;
        }
        let mut wanted = Vec::new();
        let (mut packs, mut results) = (Vec::new(), Vec::new());
        for group in groups(function) {
            if let Some(pack) = Pack::of(function, &group, &mut wanted) {
                packs.push(pack);
                results.extend(group);
            }
        }
        let before = part(function, &[], &wanted);
        let after = part(function, &results, &function.results);
        let packed = Packed { before, packs, after };
        (100 * packed.cost() <= MARGIN * cost(function)).then_some(packed)
    }

    /// Leaves that several packs have are put into lanes once.
    fn cost(&self) -> usize {
        let leaves = self.packs.iter().flat_map(|pack| &pack.leaves);
        let gathered: HashSet<&[usize]> = leaves.filter_map(Leaf::places).collect();
        let gathered =
            gathered.iter().map(|places| if places.iter().all(|place| *place == places[0]) { 1 } else { places.len() });
        let packs = self.packs.iter().map(|pack| cost(&pack.function) + pack.shape.lanes());
        cost(&self.before) + cost(&self.after) + gathered.sum::<usize>() + packs.sum::<usize>()
    }

    /// Appends the packs, whose leaves these are. Gives the results of all of them.
    pub(super) fn lower(
        &self,
        b: &mut clif::FunctionBuilder<'_>,
        tables: &[Table],
        leaves: &[ir::Value],
    ) -> Result<Vec<ir::Value>, CodegenError> {
        let mut results = Vec::new();
        for Pack { shape, function, leaves: own } in &self.packs {
            let args: Vec<Lanes> =
                own.iter().zip(&function.params).map(|(leaf, &ty)| leaf.lanes(b, *shape, ty, leaves)).collect();
            let lanes = lower_lanes(b, *shape, tables, function, &args)?;
            let vector = lanes[0].vector(b, *shape);
            results.extend((0..shape.lanes()).map(|lane| b.ins().extractlane(vector, lane as u8)));
        }
        Ok(results)
    }
}

/// Results of one type of floats that follow each other, as many as there are lanes.
fn groups(function: &Function) -> Vec<Group> {
    let ty = |value: Value| function.type_of(value).filter(|ty| ty.is_float());
    let mut groups = Vec::new();
    let mut rest = &function.results[..];
    while let [first, ..] = rest {
        let lanes = ty(*first).map_or(1, |ty| 16 / ty.size());
        let group = rest.get(..lanes).filter(|group| lanes > 1 && group.iter().all(|&value| ty(value) == ty(*first)));
        groups.extend(group.map(<[Value]>::to_vec));
        rest = &rest[group.map_or(1, <[Value]>::len)..];
    }
    groups
}

/// The instructions that lead from the parameters, and from these values, which become parameters, to those.
fn part(function: &Function, given: &[Value], wanted: &[Value]) -> Function {
    let mut is_needed = vec![false; function.value_count()];
    let given_at: HashMap<Value, usize> = given.iter().enumerate().map(|(place, &value)| (value, place)).collect();
    wanted.iter().for_each(|value| is_needed[value.index()] = true);
    for (value, inst) in function.values().rev() {
        if is_needed[value.index()] && !given_at.contains_key(&value) {
            inst.operands().iter().for_each(|operand| is_needed[operand.index()] = true);
        }
    }
    let mut b = FunctionBuilder::new();
    let mut values: Vec<Option<Value>> = b.params(&function.params).into_iter().map(Some).collect();
    let given: Vec<Value> = given.iter().filter_map(|&value| function.type_of(value)).map(|ty| b.param(ty)).collect();
    for (value, inst) in function.values() {
        let copy =
            || inst.map_operands(|operand| values[operand.index()].expect("operands of what is needed are needed"));
        values.push(match given_at.get(&value) {
            Some(&place) => Some(given[place]),
            None => is_needed[value.index()].then(copy).map(|inst| b.push(inst)),
        });
    }
    let results: Vec<Value> = wanted.iter().filter_map(|value| values[value.index()]).collect();
    b.finish(&results)
}

fn cost(function: &Function) -> usize {
    function.insts.iter().filter(|inst| inst.opcode != Opcode::Const).count()
}

impl Pack {
    /// The property that these values share, if there is one. What it needs is added to `wanted`.
    fn of(function: &Function, group: &[Value], wanted: &mut Vec<Value>) -> Option<Pack> {
        let shape = Shape { bytes: function.type_of(group[0])?.size() };
        let mut matcher = Matcher { function, shape, found: HashMap::new(), leaves: Vec::new(), code: Vec::new() };
        let Node::Inst(result) = matcher.node(group)? else { return None };
        let mut b = FunctionBuilder::new();
        let types = matcher.leaves.iter().filter_map(|leaf| function.type_of(leaf[0]));
        let params: Vec<Value> = types.map(|ty| b.param(ty)).collect();
        let mut values: Vec<Value> = Vec::new();
        for (inst, operands) in matcher.code {
            let operands: Vec<Value> = operands
                .into_iter()
                .map(|node| match node {
                    Node::Leaf(place) => params[place],
                    Node::Inst(place) => values[place],
                })
                .collect();
            values.push(b.push(Inst::new(inst.opcode, inst.ty, &operands, inst.payload)));
        }
        let leaves = matcher.leaves.iter().map(|leaf| {
            let constants: Option<Vec<Constant>> = leaf.iter().map(|&value| function.as_constant(value)).collect();
            constants.map(Leaf::Constants).unwrap_or_else(|| {
                let place = |&value: &Value| {
                    let known = wanted.iter().position(|&wanted| wanted == value);
                    known.unwrap_or_else(|| {
                        wanted.push(value);
                        wanted.len() - 1
                    })
                };
                Leaf::Values(leaf.iter().map(place).collect())
            })
        });
        let leaves = leaves.collect();
        Some(Pack { shape, function: b.finish(&[values[result]]), leaves })
    }
}

/// A value of all lanes: a leaf, or an instruction.
#[derive(Clone, Copy)]
enum Node {
    Leaf(usize),
    Inst(usize),
}

/// Finds what is alike.
struct Matcher<'f> {
    function: &'f Function,
    shape: Shape,
    found: HashMap<Group, Option<Node>>,
    leaves: Vec<Group>,
    code: Vec<(Inst, Vec<Node>)>,
}

impl Matcher<'_> {
    /// These values in lanes; none if lanes cannot hold them.
    fn node(&mut self, group: &[Value]) -> Option<Node> {
        if let Some(&found) = self.found.get(group) {
            return found;
        }
        let node = self.inst(group).or_else(|| self.leaf(group));
        self.found.insert(group.into(), node);
        node
    }

    fn leaf(&mut self, group: &[Value]) -> Option<Node> {
        let ty = self.function.type_of(group[0])?;
        let is_known = group.iter().all(|&value| self.function.as_constant(value).is_some());
        let is_whole = ty.size() == self.shape.bytes && !matches!(ty, Type::Bool | Type::Bytes(_));
        if !is_whole && !is_known || group.iter().any(|&value| self.function.type_of(value) != Some(ty)) {
            return None;
        }
        self.leaves.push(group.into());
        Some(Node::Leaf(self.leaves.len() - 1))
    }

    fn inst(&mut self, group: &[Value]) -> Option<Node> {
        let is_same = group.iter().all(|value| *value == group[0]);
        let insts: Vec<Inst> = group.iter().map(|&value| self.function.inst(value).copied()).collect::<Option<_>>()?;
        let first = insts[0];
        let is_alike = |inst: &Inst| (inst.opcode, inst.ty, inst.payload) == (first.opcode, first.ty, first.payload);
        if is_same || first.opcode == Opcode::Const || !insts.iter().all(is_alike) {
            return None;
        }
        let operands: Vec<Group> = (0..first.operands().len())
            .map(|place| insts.iter().map(|inst| inst.operands()[place]).collect())
            .collect();
        let types: Vec<Type> =
            first.operands().iter().map(|&operand| self.function.type_of(operand)).collect::<Option<_>>()?;
        let is_known = |group: &Group| group.iter().all(|&value| self.function.as_constant(value).is_some());
        let known: Vec<bool> = operands.iter().map(is_known).collect();
        let nodes: Vec<Node> = operands.iter().map(|group| self.node(group)).collect::<Option<_>>()?;
        // Amounts of shifts are the same in all lanes, or there is no such instruction.
        let amounts = operands.get(1).filter(|_| first.opcode.rule() == Rule::Shift).into_iter().flatten();
        let amounts: Vec<Option<Constant>> = amounts.map(|&value| self.function.as_constant(value)).collect();
        if !amounts.windows(2).all(|pair| pair[0] == pair[1]) || !has_lane_form(&first, &types, &known, self.shape) {
            return None;
        }
        self.code.push((first, nodes));
        Some(Node::Inst(self.code.len() - 1))
    }
}

impl Leaf {
    fn places(&self) -> Option<&[usize]> {
        match self {
            Leaf::Constants(_) => None,
            Leaf::Values(places) => Some(places),
        }
    }

    fn lanes(&self, b: &mut clif::FunctionBuilder<'_>, shape: Shape, ty: Type, leaves: &[ir::Value]) -> Lanes {
        let places = match self {
            Leaf::Constants(constants) => return Lanes::Constants(constants.clone()),
            Leaf::Values(places) => places,
        };
        let mut vector = b.ins().splat(vector_type(shape, ty), leaves[places[0]]);
        for (lane, &place) in places.iter().enumerate().filter(|(_, place)| **place != places[0]) {
            vector = b.ins().insertlane(vector, leaves[place], lane as u8);
        }
        Lanes::Vector(vector)
    }
}

#[cfg(test)]
mod tests {
    use monoscan_ir::{interp, math};

    use super::*;

    /// The results of the parts of a function in packs, by the interpreter.
    fn call(packed: &Packed, args: &[Constant]) -> Vec<Constant> {
        let leaves = interp::call(&packed.before, args, &[]);
        let mut results = args.to_vec();
        for pack in &packed.packs {
            for lane in 0..pack.shape.lanes() {
                let of_lane = |leaf: &Leaf| match leaf {
                    Leaf::Constants(constants) => constants[lane],
                    Leaf::Values(places) => leaves[places[lane]],
                };
                let own: Vec<Constant> = pack.leaves.iter().map(of_lane).collect();
                results.extend(interp::call(&pack.function, &own, &[]));
            }
        }
        interp::call(&packed.after, &results, &[])
    }

    /// A product of square matrices, whose elements are added up by `sum` and multiplied by `times`.
    fn product(
        ty: Type,
        size: usize,
        times: Opcode,
        sum: impl Fn(&mut FunctionBuilder, &[Value]) -> Value,
    ) -> Function {
        let mut b = FunctionBuilder::new();
        let [x, y] = [(); 2].map(|()| b.params(&vec![ty; size * size]));
        let mut results = Vec::new();
        for (row, column) in (0..size).flat_map(|row| (0..size).map(move |column| (row, column))) {
            let terms = (0..size).map(|k| b.binary(times, x[row * size + k], y[k * size + column]));
            let terms: Vec<Value> = terms.collect();
            results.push(sum(&mut b, &terms));
        }
        // A result that follows from one in a lane.
        results.push(b.unary(Opcode::Neg, results[1]));
        b.finish(&results)
    }

    fn added(b: &mut FunctionBuilder, terms: &[Value]) -> Value {
        terms[1..].iter().fold(terms[0], |sum, &term| b.binary(Opcode::Add, sum, term))
    }

    fn log_sum_exp(b: &mut FunctionBuilder, terms: &[Value]) -> Value {
        let high = terms[1..].iter().fold(terms[0], |high, &term| {
            let higher = b.binary(Opcode::Gt, term, high);
            b.select(higher, term, high)
        });
        let terms: Vec<Value> = terms
            .iter()
            .map(|&term| {
                let less = b.binary(Opcode::Sub, term, high);
                math::exp(b, less)
            })
            .collect();
        let sum = added(b, &terms);
        let sum = math::ln(b, sum);
        b.binary(Opcode::Add, high, sum)
    }

    #[test]
    fn products_of_matrices_are_computed_in_packs_to_the_bit() {
        let functions = [
            product(Type::F32, 4, Opcode::Mul, added),
            product(Type::F64, 4, Opcode::Add, log_sum_exp),
            product(Type::F64, 5, Opcode::Add, log_sum_exp),
        ];
        for function in functions {
            let packed = Packed::of(&function).unwrap();
            let lanes: usize = packed.packs.iter().map(|pack| pack.shape.lanes()).sum();
            assert!(lanes + 1 >= function.results.len() - 1, "{lanes} of {}", function.results.len());
            let number = |i: usize| (i * 37 % 19) as f64 / 4.0 - 2.0;
            let args: Vec<Constant> = (0..)
                .zip(&function.params)
                .map(|(i, ty)| if *ty == Type::F32 { (number(i) as f32).into() } else { number(i).into() })
                .collect();
            assert_eq!(call(&packed, &args), interp::call(&function, &args, &[]));
        }
    }

    #[test]
    fn two_lanes_do_not_make_up_for_putting_so_few_operations_in_lanes() {
        assert!(Packed::of(&product(Type::F64, 4, Opcode::Mul, added)).is_none());
    }

    #[test]
    fn what_is_not_alike_stays_as_it_is() {
        let mut b = FunctionBuilder::new();
        let [x, y] = [(); 2].map(|()| b.param(Type::F64));
        let mut chain = x;
        for step in 0..LEAST {
            chain = b.binary(if step % 2 == 0 { Opcode::Add } else { Opcode::Mul }, chain, y);
        }
        // The second follows from the first.
        let other = b.binary(Opcode::Mul, chain, x);
        assert!(Packed::of(&b.finish(&[chain, other])).is_none());
    }
}
