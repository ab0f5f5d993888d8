//! That the derived scan is the loop.
//!
//! 1. For each group: from the constant function of a state s, the effect of an element leads to
//!    the constant function of step(s, x). `value(combine(seed(s), lift(x))) = step(s, x)` for all
//!    s and x, by the normal forms of the judge and cases. Families of minima and maxima of sums
//!    are compared over ideal numbers: integers that do not overflow, with −∞ and ∞.
//! 2. The whole on sampled elements, in blocks of 1, 2, 3 and 7, against the step.
//!
//! With the laws of the stages, which the judge decides, the first says by induction that every
//! state of the scan stands for the loop's.

use super::code::{Code, taken_away};
use super::graph::Placed;
use super::{Derivation, Flat, LoopProgram, Refusal, Why};
use crate::builder::FunctionBuilder;
use crate::function::{Function, Inst, Payload, Value};
use crate::interp;
use crate::laws::elements::{Assumptions, Elements, GaveUp, Id, Means};
use crate::opcode::Opcode;
use crate::program::{Source, Stage};
use crate::types::{Constant, Type};

use super::family::{ABSENT, Family};

/// How it is known that the effect of an element is the step.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Trust {
    /// By normal forms, in so many cases.
    Proved {
        /// How many cases.
        cases: usize,
        /// Whether no integer overflows, which is then a condition.
        no_overflow: bool,
        /// Whether nothing is NaN, which is then a condition: `if s > x { s } else { x }` is no
        /// maximum of NaN.
        no_nan: bool,
    },
    /// By construction: the step was evaluated at every state of a table; or, where its operations make a matrix of bits of it, at a
    /// basis of the words, for sampled elements.
    Construction,
    /// On samples alone.
    Tested,
}

/// Work that one proof may take.
const FUEL: usize = 24_000;
/// Most cases.
const MAX_CASES: usize = 130;

/// The equation of one group.
pub(super) fn of_group(code: &mut Code<'_>, flat: &Flat, next: &[Value], group: &Placed) -> Trust {
    let effect = &group.effect;
    // Proofs come out of the same budget.
    code.fuel.spend(FUEL);
    if code.fuel.is_spent() {
        return Trust::Tested;
    }
    if matches!(effect.family, Family::Table { .. }) {
        return Trust::Construction;
    }
    if effect.family == Family::Linear {
        return if on_basis(code, flat, group) { Trust::Construction } else { Trust::Tested };
    }
    let members: Vec<Value> = group.members.iter().map(|&member| Value::new(member)).collect();
    let seeds = code.inline(&effect.seed, &members);
    let after = code.inline(&effect.combine, &[seeds, effect.lift.clone()].concat());
    let applied = code.inline(&effect.value, &after);
    let expected: Vec<Value> = group.members.iter().map(|&member| next[member]).collect();
    let no_nan = orders_floats(code, flat, &expected) || (effect.family.is_ordered() && effect.types[0].is_float());
    // The step as it was written: its arms are no minima and maxima here.
    let params: Vec<Value> = (0..flat.step.params.len()).map(Value::new).collect();
    let mut plain = Code::as_written(&flat.step.params, flat.initial.len(), code.tables());
    let written = plain.inline(&flat.step, &params);
    let applied = plain.inline(&code.extract(&applied), &params);
    let expected: Vec<Value> = group.members.iter().map(|&member| written[member]).collect();
    if applied == expected {
        return Trust::Proved { cases: 1, no_overflow: false, no_nan };
    }
    let function = plain.extract(&[applied, expected].concat());
    let sides = |function: &Function| by_cases(code, function, group.members.len());
    if let Some((cases, means)) = sides(&function) {
        return Trust::Proved { cases, no_overflow: means.no_overflow, no_nan };
    }
    let ideal = effect.family.is_ordered().then(|| ideal(&function)).flatten();
    match ideal.and_then(|ideal| sides(&ideal)) {
        Some((cases, _)) => Trust::Proved { cases, no_overflow: true, no_nan },
        None => Trust::Tested,
    }
}

/// Whether the step takes every vector of a basis of the component's words, and sums of them, where the matrix of the group and
/// what it adds say, for sampled elements. That it is linear is known from its operations; so the basis says which map it is.
fn on_basis(code: &Code<'_>, flat: &Flat, group: &Placed) -> bool {
    let (&[member], Some((&added, columns))) = (&group.members[..], group.effect.lift.split_last()) else {
        return false;
    };
    let columns: Option<Vec<u128>> =
        columns.iter().map(|&column| code.constant_of(column).map(|column| column.bits())).collect();
    let Some(columns) = columns else { return false };
    let added = code.extract(&[added]);
    let ty = flat.initial[member].ty();
    (0..SAMPLES).all(|seed| {
        let other = |place: usize| match place.checked_sub(flat.initial.len()) {
            Some(read) => element(flat.reads[read], flat.step.params[place], seed, 1, place),
            None => flat.initial[place],
        };
        let mut arguments: Vec<Constant> = (0..flat.step.params.len()).map(other).collect();
        let origin = interp::call(&added, &arguments, code.tables())[0].bits();
        let mut step = |word: u128| {
            arguments[member] = Constant::new(ty, word);
            interp::call(&flat.step, &arguments, code.tables())[member].bits()
        };
        let basis = (0..columns.len()).map(|bit| 1 << bit);
        let sums = [0, u128::MAX, 0x5555_5555, 0x1234_5678, 0xdead_beef].map(|word| word & ty.mask());
        basis.chain(sums).all(|word: u128| {
            let of = |bit: &usize| word >> bit & 1 == 1;
            step(word) == (0..columns.len()).filter(of).fold(origin, |sum, bit| sum ^ columns[bit])
        })
    })
}

/// Whether minima or maxima of floats, which may stand for comparisons of the step, lead to these
/// values.
fn orders_floats(code: &Code<'_>, flat: &Flat, values: &[Value]) -> bool {
    use Opcode::{Ge, Gt, Le, Lt};
    let is_float = |inst: &Inst| flat.step.type_of(inst.operands()[0]).is_some_and(Type::is_float);
    if !flat.step.insts.iter().any(|inst| matches!(inst.opcode, Lt | Le | Gt | Ge) && is_float(inst)) {
        return false;
    }
    let function = code.extract(values);
    function.insts.iter().any(|inst| matches!(inst.opcode, Opcode::Min | Opcode::Max) && inst.ty.is_float())
}

/// Whether the first results are the last ones, for all arguments.
fn by_cases(code: &Code<'_>, function: &Function, count: usize) -> Option<(usize, Means)> {
    let mut elements = Elements::new(code.tables(), Assumptions::default(), FUEL);
    let arguments: Vec<Id> =
        function.params.iter().enumerate().map(|(place, &ty)| elements.variable(ty, place as u32)).collect();
    let mut cases = 0;
    equal(function, &arguments, count, &mut elements, &mut cases).ok().filter(|&equal| equal)?;
    Some((cases, elements.means))
}

fn equal(
    function: &Function,
    arguments: &[Id],
    count: usize,
    elements: &mut Elements<'_>,
    cases: &mut usize,
) -> Result<bool, GaveUp> {
    *cases += 1;
    if *cases > MAX_CASES {
        return Err(GaveUp::TooLarge);
    }
    elements.undecided = None;
    // A flag that was decided is that constant in this case.
    let known: Vec<Id> = arguments.iter().map(|&argument| elements.in_case(argument)).collect();
    match elements.call(function, &known) {
        Ok(results) if results[..count] == results[count..] => return Ok(true),
        Err(GaveUp::TooLarge) => return Err(GaveUp::TooLarge),
        Ok(_) | Err(GaveUp::Undecided) => {}
    }
    let Some(atom) = elements.undecided else { return Ok(false) };
    *cases -= 1;
    for known in [false, true] {
        elements.case.insert(atom, known);
        if !equal(function, arguments, count, elements, cases)? {
            return Ok(false);
        }
    }
    elements.case.remove(&atom);
    Ok(true)
}

/// The function over ideal numbers: every integer a real one, ±[`ABSENT`] infinite, and what no number has a parameter of its
/// own. None if something is left that is no sum, extreme or choice of numbers.
fn ideal(function: &Function) -> Option<Function> {
    let number = |ty: Type| ty.is_int() || ty.is_float();
    let real = |constant: Constant| match taken_away(constant) {
        _ if constant.ty().is_float() => constant.as_f64(),
        known if known == ABSENT as i128 => f64::NEG_INFINITY,
        known if known == -(ABSENT as i128) => f64::INFINITY,
        known => known as f64,
    };
    // Which instructions are kept, and which are names of what they compute.
    let is_kept = |inst: &Inst| {
        let operand = inst.operands().first().and_then(|&x| function.type_of(x));
        let numbers = number(inst.ty) && operand.is_none_or(number);
        match inst.opcode {
            Opcode::Add | Opcode::Sub | Opcode::Neg => numbers && inst.payload == Payload::None,
            Opcode::Min | Opcode::Max | Opcode::Const => numbers || inst.ty == Type::Bool,
            Opcode::Mul => inst.ty.is_float(),
            Opcode::Cast => numbers && inst.ty.size() >= operand.map_or(0, |ty| ty.size()),
            Opcode::Select => true,
            Opcode::Eq | Opcode::Ne | Opcode::Lt | Opcode::Le | Opcode::Gt | Opcode::Ge => operand.is_some_and(number),
            Opcode::And | Opcode::Or | Opcode::Xor | Opcode::Not => inst.ty == Type::Bool,
            _ => false,
        }
    };
    let named = |ty: Type| if number(ty) { Type::F64 } else { ty };
    let mut b = FunctionBuilder::new();
    let mut values: Vec<Value> = function.params.iter().map(|&ty| b.param(named(ty))).collect();
    let names: Vec<Option<Value>> = function
        .insts
        .iter()
        .map(|inst| (!is_kept(inst) && !narrows(function, inst)).then(|| b.param(named(inst.ty))))
        .collect();
    for (inst, name) in function.insts.iter().zip(names) {
        let x: Vec<Value> = inst.operands().iter().map(|operand| values[operand.index()]).collect();
        let value = match (name, inst.opcode) {
            (Some(name), _) => name,
            (_, Opcode::Const) if inst.ty == Type::Bool => b.push(*inst),
            (_, Opcode::Const) => b.lit(real(inst.as_constant()?)),
            (_, Opcode::Cast) => x[0],
            (_, Opcode::Select) if puts_back(function, inst) => x[2],
            (_, opcode) => b.op(opcode, &x),
        };
        values.push(value);
    }
    let results: Vec<Value> = function.results.iter().map(|result| values[result.index()]).collect();
    Some(b.finish(&results))
}

/// Whether it is the cast back from `i64` that families add: what it casts is the loop's own number.
fn narrows(function: &Function, inst: &Inst) -> bool {
    let from = inst.operands().first().and_then(|&x| function.type_of(x));
    inst.opcode == Opcode::Cast && from == Some(Type::I64) && inst.ty.is_int()
}

/// Whether a select puts what is far below back to −∞, or far above to ∞.
fn puts_back(function: &Function, inst: &Inst) -> bool {
    let &[condition, none, _] = inst.operands() else { return false };
    let is = |value: Value, number: i64| {
        function.as_constant(value).is_some_and(|c| c.ty() == Type::I64 && c.as_int() == number as i128)
    };
    let limit = function.inst(condition).and_then(|test| test.operands().get(1).copied());
    let Some(limit) = limit else { return false };
    [1, -1].iter().any(|sign| is(none, sign * ABSENT) && is(limit, sign * ABSENT / 2))
}

/// How many elements a sample has.
const SAMPLE: usize = 29;
/// From how many instructions for an element on there are fewer.
const LARGE: usize = 3000;
const VERY_LARGE: usize = 30_000;
/// How many samples.
const SAMPLES: u64 = 6;
const BLOCKS: [usize; 4] = [1, 2, 3, 7];

/// The scan against the step, on samples in blocks.
pub(super) fn on_samples(of: &LoopProgram, derivation: &Derivation) -> Result<(), Refusal> {
    let work = |stage: &Stage| 3 * stage.combine.insts.len() + stage.lift.function.insts.len();
    let work = derivation.program.stages.iter().map(work).sum::<usize>() + of.step.function.insts.len();
    // Large products are composed less often.
    let (samples, elements) = match work {
        ..LARGE => (SAMPLES, SAMPLE),
        LARGE..VERY_LARGE => (2, 9),
        _ => (1, 4),
    };
    for seed in 0..samples {
        // The last kinds of samples are the richest.
        let seed = SAMPLES - 1 - seed;
        for block in BLOCKS {
            if !sample(of, derivation, (seed, elements), block) {
                let components = of.names.clone();
                return Err(Refusal::of(components, Why::Wrong));
            }
        }
    }
    Ok(())
}

/// Whether a float says something: products of a block of such numbers stay within the type.
fn is_number(constant: &Constant) -> bool {
    match constant.ty() {
        Type::F32 => constant.as_f64().abs() < 1e4,
        Type::F64 => constant.as_f64().abs() < 1e30,
        _ => true,
    }
}

/// Whether a divisor may be no more than what rounding left of 0, where such numbers were on the way to it.
fn may_be_zero(divisor: &Constant, largest: f64) -> bool {
    let relative = if divisor.ty() == Type::F32 { 1e-3 } else { 1e-6 };
    divisor.ty().is_float() && divisor.as_f64().abs() < relative * largest
}

/// The loop's states on a sample, each with the largest float on the way to it, as long as nothing overflows natively, and every float
/// is a number: over the reals there is no quotient by 0.
fn sequential(of: &LoopProgram, derivation: &Derivation, elements: &[Vec<Constant>]) -> Vec<(Vec<Constant>, f64)> {
    let mut states = vec![(of.initial.clone(), 1.0)];
    let step = &of.step.function;
    let floats = step.values().filter(|(_, inst)| inst.ty.is_float()).map(|(value, _)| value);
    let all = Function { results: floats.collect(), ..step.clone() };
    let has_poles = derivation.groups.iter().any(|group| group.family == Family::Quotient);
    let divides = |inst: &&Inst| has_poles && inst.opcode == Opcode::Div;
    let divisors = step.insts.iter().filter(divides).map(|inst| inst.operands()[1]);
    let divisors = Function { results: divisors.collect(), ..step.clone() };
    for element in elements {
        let (before, largest) = states.last().expect("there is the initial state");
        let arguments = [&before[..], element].concat();
        let (next, overflowed) = interp::call_checked(step, &arguments, &of.tables);
        let on_the_way = interp::call(&all, &arguments, &of.tables);
        if overflowed || !on_the_way.iter().chain(&next).all(is_number) {
            break;
        }
        let largest = on_the_way.iter().fold(*largest, |largest: f64, c| largest.max(c.as_f64().abs()));
        let divisors = interp::call(&divisors, &arguments, &of.tables);
        if divisors.iter().any(|divisor| may_be_zero(divisor, largest)) {
            break;
        }
        states.push((next, largest));
    }
    states
}

fn sample(of: &LoopProgram, derivation: &Derivation, (seed, elements): (u64, usize), block: usize) -> bool {
    let Derivation { program, .. } = derivation;
    let types: Vec<Type> = of.step.function.params[of.initial.len()..].to_vec();
    let elements: Vec<Vec<Constant>> = (0..elements)
        .map(|i| {
            let sources = of.step.reads.iter().zip(&types).enumerate();
            sources.map(|(place, (&source, &ty))| element(source, ty, seed, i, place)).collect()
        })
        .collect();
    let expected = sequential(of, derivation, &elements);
    let count = expected.len() - 1;
    let mut before: Vec<Vec<Constant>> = vec![Vec::new(); count + 1];
    let start = interp::call(&derivation.seed, &of.initial, &program.tables);
    let mut first = 0;
    // Level by level: each block is folded, its carry is moved on, and its states are replayed from the carry.
    for stage in &program.stages {
        let mut carry = start[first..first + stage.state.len()].to_vec();
        first += stage.state.len();
        let combine = |a: &[Constant], b: &[Constant]| interp::call(&stage.combine, &[a, b].concat(), &program.tables);
        let mut places = 0..count;
        while !places.is_empty() {
            let own = places.start..(places.start + block).min(count);
            places.start = own.end;
            let mut total = stage.identity.clone();
            let mut replay = carry.clone();
            for i in own {
                let read = |source: &Source| match *source {
                    Source::Before { stage, component } => {
                        let offset: usize = program.stages[..stage as usize].iter().map(|s| s.state.len()).sum();
                        before[i][offset + component as usize]
                    }
                    source => {
                        let place = of.step.reads.iter().position(|&other| other == source);
                        elements[i][place.expect("a lift reads what the step does")]
                    }
                };
                let arguments: Vec<Constant> = stage.lift.reads.iter().map(read).collect();
                let lifted = interp::call(&stage.lift.function, &arguments, &program.tables);
                before[i].extend(&replay);
                replay = combine(&replay, &lifted);
                total = combine(&total, &lifted);
            }
            carry = combine(&carry, &total);
        }
        before[count].extend(&carry);
    }
    // Once a float was rounded otherwise, what compares it may differ: that says nothing.
    let mut is_exact = true;
    for (state, (expected, largest)) in before.iter().zip(&expected) {
        let value = interp::call(&derivation.value, state, &program.tables);
        let differs = |(&got, &expected): (&Constant, &Constant)| !is_near(got, expected, *largest);
        if value.iter().zip(expected).any(differs) {
            return !is_exact;
        }
        is_exact &= value == *expected;
    }
    true
}

/// Equal, but for rounding on the way through floats of this size: where they cancel, that is what is left.
fn is_near(got: Constant, expected: Constant, largest: f64) -> bool {
    if got == expected || !expected.ty().is_float() {
        return got == expected;
    }
    if expected.as_f64().is_nan() {
        return got.as_f64().is_nan();
    }
    let (got, wanted) = (got.as_f64(), expected.as_f64());
    let tolerance = if expected.ty() == Type::F32 { 1e-3 } else { 1e-7 };
    got == wanted || (got - wanted).abs() <= tolerance * largest
}

/// A small element, often zero or one; in some samples now and then a power of two, or an end of the
/// type.
fn element(source: Source, ty: Type, seed: u64, i: usize, place: usize) -> Constant {
    // A parameter is the same for all elements.
    let i = if matches!(source, Source::Parameter(_)) { 0 } else { i };
    match source {
        Source::First => return Constant::from(i == 0),
        Source::Last => return Constant::from(false),
        Source::Index => return Constant::from(i as u64),
        _ => {}
    }
    let mut bits = (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        ^ ((i * 64 + place) as u64 + 1).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 31).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^= bits >> 29;
    let small = (bits >> 8) as i64 % if seed < 3 { 4 } else { 40 };
    if seed >= 4 && ty.is_int() && bits >> 40 & 7 == 0 {
        // In 64 bits, sums of a block have no wider type.
        let most = if ty.size() == 8 { 40 } else { ty.bits() };
        let power = 1u128 << ((bits >> 43) as u32 % most);
        return Constant::new(ty, if bits >> 60 & 1 == 0 { power } else { power - 1 });
    }
    match ty {
        Type::F32 => Constant::from((small - seed as i64) as f32 / 4.0),
        Type::F64 => Constant::from((small - seed as i64) as f64 / 4.0),
        Type::Bool => Constant::from(bits & 256 != 0),
        _ if ty.is_int() && ty.size() == 1 && seed % 2 == 1 => {
            Constant::new(ty, TEXT[bits as usize % TEXT.len()] as u128)
        }
        _ if ty.is_signed() => ty.of_i64(small - seed as i64),
        _ => ty.of_i64(small.abs()),
    }
}

/// Bytes of which texts are made.
const TEXT: &[u8] = b"a b\"\\{}[],\n/*#()1907-+.;x\xc3\xa4\xe2\x82\xac";
