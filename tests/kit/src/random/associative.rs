//! Operators that are associative by construction, with an exact identity.

use super::Random;
use super::neighbours::Neighbours;
use monoscan_ir::{Constant, Function, FunctionBuilder, Lanes, Opcode, Type, Value};

/// A monoid out of families whose laws hold exactly.
pub(super) enum Family {
    /// One associative opcode with its identity.
    Opcode(Opcode, Constant),
    /// x ↦ a·x + b over wrapping integers, composed.
    Affine(Type),
    /// The latest value that there was: (whether there was one, the value or zero bits).
    Last(Type),
    /// The earliest, in the same form.
    First(Type),
    /// The largest key and what came with it, the earliest of equal ones. The least key stands for none.
    ArgMax(Type, Type),
    /// Maps from lanes to lanes, composed; a lane's byte is a lane.
    Compose(Lanes),
    /// Square matrices of so many rows, floats from 0 to ∞, whose product has the largest of the lesser numbers: how much goes from
    /// each place to each other. Wide, and the same expression again and again.
    Flow(Type, usize),
    /// Starts afresh wherever the flag, which comes first, is set.
    Segmented(Box<Family>),
    /// Several, side by side.
    Tuple(Vec<Family>),
    /// The contribution of two neighbouring elements, across the boundary of two operands too.
    Neighbours(Box<Neighbours>),
}

impl Family {
    pub(super) fn random(rng: &mut Random, vectors: bool) -> Family {
        match rng.below(11) {
            10 => Family::Flow(*rng.pick(&[Type::F32, Type::F64]), 2 + rng.below(3)),
            0 => Family::Tuple((0..2 + rng.below(2)).map(|_| Family::simple(rng, vectors)).collect()),
            1 => Family::Segmented(Box::new(Family::simple(rng, vectors))),
            2 | 3 => Family::neighbours(rng),
            4 => Family::Tuple(vec![Family::neighbours(rng), Family::simple(rng, vectors)]),
            5 => Family::Segmented(Box::new(Family::neighbours(rng))),
            _ => Family::simple(rng, vectors),
        }
    }

    /// Of scalars alone, so that many have kernels in vectors.
    fn neighbours(rng: &mut Random) -> Family {
        let inner = Family::simple(rng, false);
        Family::Neighbours(Box::new(Neighbours::random(rng, inner)))
    }

    pub(super) fn simple(rng: &mut Random, vectors: bool) -> Family {
        let bits = match rng.below(4) {
            0 => Type::Bool,
            1 if vectors => Type::Bytes(rng.lanes()),
            _ => rng.int_ty(),
        };
        let number = if bits == Type::Bool { rng.int_ty() } else { bits };
        let int = rng.int_ty();
        let high = if number.is_signed() { number.mask() >> 1 } else { number.mask() };
        let low = if number.is_signed() { high + 1 } else { 0 };
        let unsigned = *rng.pick(&[Type::U8, Type::U16, Type::U32, Type::U64]);
        let opcode = |opcode: Opcode, ty: Type, identity: u128| Family::Opcode(opcode, Constant::new(ty, identity));
        match rng.below(13) {
            0 => opcode(Opcode::Add, number, 0),
            1 => opcode(Opcode::Mul, int, 1),
            2 => opcode(Opcode::Min, number, high),
            3 => opcode(Opcode::Max, number, low),
            4 => opcode(Opcode::And, bits, bits.mask()),
            5 => opcode(Opcode::Or, bits, 0),
            6 => opcode(Opcode::Xor, bits, 0),
            7 => opcode(Opcode::AddSat, unsigned, 0),
            8 => Family::Last(bits),
            9 if vectors => Family::Compose(rng.lanes()),
            10 => Family::First(bits),
            11 => Family::ArgMax(int, bits),
            _ => Family::Affine(int),
        }
    }

    /// The types of the state.
    pub(super) fn types(&self) -> Vec<Type> {
        self.identity().iter().map(|value| value.ty()).collect()
    }

    /// The state that changes nothing.
    pub(super) fn identity(&self) -> Vec<Constant> {
        match self {
            Family::Opcode(_, identity) => vec![*identity],
            Family::Affine(ty) => vec![ty.of_i64(1), ty.zero()],
            Family::Last(ty) | Family::First(ty) => vec![Constant::from(false), ty.zero()],
            Family::ArgMax(key, value) => vec![least(*key), value.zero()],
            Family::Compose(lanes) => vec![Constant::vector(&(0..lanes.get() as u8).collect::<Vec<_>>())],
            Family::Flow(ty, size) => {
                let (none, all) = (ty.zero(), infinity(*ty));
                (0..size * size).map(|place| if place / size == place % size { all } else { none }).collect()
            }
            Family::Segmented(inner) => [vec![Constant::from(false)], inner.identity()].concat(),
            Family::Tuple(parts) => parts.iter().flat_map(Family::identity).collect(),
            Family::Neighbours(neighbours) => neighbours.identity(),
        }
    }

    /// The operator.
    pub(super) fn combine_function(&self) -> Function {
        let types = self.types();
        let mut builder = FunctionBuilder::new();
        let (earlier, later) = (builder.params(&types), builder.params(&types));
        let results = self.combine(&mut builder, &earlier, &later);
        builder.finish(&results)
    }

    /// Which states occur; none if all do.
    pub(super) fn valid_function(&self) -> Option<Function> {
        let mut builder = FunctionBuilder::new();
        let state = builder.params(&self.types());
        let valid = self.valid(&mut builder, &state)?;
        Some(builder.finish(&[valid]))
    }

    pub(super) fn combine(&self, b: &mut FunctionBuilder, earlier: &[Value], later: &[Value]) -> Vec<Value> {
        match self {
            Family::Opcode(opcode, _) => vec![b.binary(*opcode, earlier[0], later[0])],
            Family::Affine(_) => {
                let scale = b.binary(Opcode::Mul, later[0], earlier[0]);
                let moved = b.binary(Opcode::Mul, later[0], earlier[1]);
                vec![scale, b.binary(Opcode::Add, moved, later[1])]
            }
            Family::Last(_) => {
                let any = b.binary(Opcode::Or, earlier[0], later[0]);
                vec![any, b.select(later[0], later[1], earlier[1])]
            }
            Family::First(_) => {
                let any = b.binary(Opcode::Or, earlier[0], later[0]);
                vec![any, b.select(earlier[0], earlier[1], later[1])]
            }
            Family::ArgMax(..) => {
                let is_later = b.binary(Opcode::Gt, later[0], earlier[0]);
                earlier.iter().zip(later).map(|(&earlier, &later)| b.select(is_later, later, earlier)).collect()
            }
            Family::Compose(_) => vec![b.binary(Opcode::Permute, later[0], earlier[0])],
            Family::Flow(_, size) => {
                let mut of = |row: usize, column: usize| {
                    let ways =
                        (0..*size).map(|by| b.binary(Opcode::Min, earlier[row * size + by], later[by * size + column]));
                    let ways: Vec<Value> = ways.collect();
                    ways[1..].iter().fold(ways[0], |most, &way| b.binary(Opcode::Max, most, way))
                };
                (0..size * size).map(|place| of(place / size, place % size)).collect()
            }
            Family::Segmented(inner) => {
                let joined = inner.combine(b, &earlier[1..], &later[1..]);
                let mut results = vec![b.binary(Opcode::Or, earlier[0], later[0])];
                results.extend(joined.iter().zip(&later[1..]).map(|(&joined, &own)| b.select(later[0], own, joined)));
                results
            }
            Family::Tuple(parts) => {
                let mut results = Vec::new();
                for (part, range) in split(parts) {
                    results.extend(part.combine(b, &earlier[range.clone()], &later[range]));
                }
                results
            }
            Family::Neighbours(neighbours) => neighbours.combine(b, earlier, later),
        }
    }

    /// Makes any state one that occurs.
    pub(super) fn normalise(&self, b: &mut FunctionBuilder, state: &[Value]) -> Vec<Value> {
        match self {
            Family::Opcode(..) | Family::Affine(_) => state.to_vec(),
            Family::Last(ty) | Family::First(ty) => {
                let zero = b.constant(ty.zero());
                vec![state[0], b.select(state[0], state[1], zero)]
            }
            Family::ArgMax(key, value) => {
                let (none, zero) = (b.constant(least(*key)), b.constant(value.zero()));
                let any = b.binary(Opcode::Ne, state[0], none);
                vec![state[0], b.select(any, state[1], zero)]
            }
            Family::Compose(lanes) => vec![clamp(b, *lanes, state[0])],
            // Neither NaN nor −0.
            Family::Flow(ty, _) => {
                let zero = b.constant(ty.zero());
                let mut normal = |&number: &Value| {
                    let is_some = b.binary(Opcode::Lt, zero, number);
                    b.select(is_some, number, zero)
                };
                state.iter().map(&mut normal).collect()
            }
            Family::Segmented(inner) => [vec![state[0]], inner.normalise(b, &state[1..])].concat(),
            Family::Tuple(parts) => split(parts).flat_map(|(part, range)| part.normalise(b, &state[range])).collect(),
            Family::Neighbours(neighbours) => neighbours.normalise(b, state),
        }
    }

    pub(super) fn valid(&self, b: &mut FunctionBuilder, state: &[Value]) -> Option<Value> {
        match self {
            Family::Opcode(..) | Family::Affine(_) => None,
            Family::Last(ty) | Family::First(ty) => {
                let zero = b.constant(ty.zero());
                let nothing = b.binary(Opcode::Eq, state[1], zero);
                Some(b.binary(Opcode::Or, state[0], nothing))
            }
            Family::ArgMax(key, value) => {
                let (none, zero) = (b.constant(least(*key)), b.constant(value.zero()));
                let any = b.binary(Opcode::Ne, state[0], none);
                let nothing = b.binary(Opcode::Eq, state[1], zero);
                Some(b.binary(Opcode::Or, any, nothing))
            }
            Family::Compose(lanes) => {
                let clamped = clamp(b, *lanes, state[0]);
                Some(b.binary(Opcode::Eq, clamped, state[0]))
            }
            Family::Flow(ty, _) => {
                let least = b.constant(ty.zero());
                let one = b.constant(infinity(*ty));
                let valid = |b: &mut FunctionBuilder, number: Value| {
                    let sign = b.binary(Opcode::CopySign, one, number);
                    let (some, plus) = (b.binary(Opcode::Ge, number, least), b.binary(Opcode::Gt, sign, least));
                    b.binary(Opcode::And, some, plus)
                };
                let each: Vec<Value> = state.iter().map(|&number| valid(b, number)).collect();
                each.into_iter().reduce(|all, one| b.binary(Opcode::And, all, one))
            }
            Family::Segmented(inner) => inner.valid(b, &state[1..]),
            Family::Tuple(parts) => {
                let each: Vec<Value> = split(parts).filter_map(|(part, range)| part.valid(b, &state[range])).collect();
                each.into_iter().reduce(|all, one| b.binary(Opcode::And, all, one))
            }
            Family::Neighbours(neighbours) => Some(neighbours.valid(b, state)),
        }
    }
}

/// The parts of a tuple with the components of its state that are theirs.
fn split(parts: &[Family]) -> impl Iterator<Item = (&Family, std::ops::Range<usize>)> {
    parts.iter().scan(0, |end, part| {
        let start = *end;
        *end += part.types().len();
        Some((part, start..*end))
    })
}

fn infinity(ty: Type) -> Constant {
    if ty == Type::F32 { f32::INFINITY.into() } else { f64::INFINITY.into() }
}

/// The least number of an integer type.
fn least(ty: Type) -> Constant {
    Constant::new(ty, if ty.is_signed() { (ty.mask() >> 1) + 1 } else { 0 })
}

fn clamp(b: &mut FunctionBuilder, lanes: Lanes, map: Value) -> Value {
    let last = b.constant(Constant::vector(&vec![lanes.get() as u8 - 1; lanes.get()]));
    b.binary(Opcode::Min, map, last)
}
