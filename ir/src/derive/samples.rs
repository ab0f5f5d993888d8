//! The derived scan against the loop on sampled elements, in blocks of 1, 2, 3 and 7. States are
//! compared within the rounding of the numbers on the way to them, as long as nothing overflows.

use super::family::Family;
use super::{Derivation, LoopProgram, Refusal, Why};
use crate::function::{Function, Inst};
use crate::interp;
use crate::opcode::Opcode;
use crate::program::{OwnFold, Source, Stage};
use crate::types::{Constant, Type};

/// How many elements a sample has at most, and at least.
const SAMPLE: usize = 29;
const SHORTEST: usize = 3;
/// How many samples at most.
pub(super) const SAMPLES: u64 = 6;
/// The elements of blocks in which derived scans are compared with their loops.
pub const BLOCKS: [usize; 4] = [1, 2, 3, 7];
/// Instructions that the interpreter may take for all samples, where the shortest does not take more: a millisecond or two.
const WORK: usize = 60_000;

/// The step of a loop as a compiler of its language made it, beside which a scan is [derived](super::derive_beside). Arguments are those
/// of the [step](LoopProgram::step).
pub trait NativeStep {
    /// These arguments as values of their types, of which not every number is one.
    fn valid(&self, arguments: Vec<Constant>) -> Vec<Constant>;

    /// The state after an element, which is `next` by the step's program. None if the step cannot be run, or gives something else.
    fn step(&self, arguments: &[Constant], next: &[Constant]) -> Option<Vec<Constant>>;
}

/// How many records of samples a derived scan was compared on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Compared {
    /// All of them.
    pub records: usize,
    /// Those that the [native step](NativeStep) took; it could not be run on the others.
    pub native: usize,
}

/// The scan against the step, on samples in blocks. Gives how many records were compared, if there is a native step.
pub(super) fn on_samples(
    of: &LoopProgram,
    derivation: &Derivation,
    native: Option<&dyn NativeStep>,
) -> Result<Option<Compared>, Refusal> {
    let work = |stage: &Stage| 3 * stage.combine.insts.len() + stage.lift.function.insts.len();
    let work = derivation.program.stages.iter().map(work).sum::<usize>() + of.step.function.insts.len();
    let affordable = WORK / (BLOCKS.len() * work.max(1));
    let samples = (affordable / SAMPLE).clamp(1, SAMPLES as usize);
    let elements = (affordable / samples).clamp(SHORTEST, SAMPLE);
    let samples = samples as u64;
    let (mut records, mut natives) = (0, 0);
    // The last kinds of samples are the richest.
    for seed in (SAMPLES - samples..SAMPLES).rev() {
        let elements = drawn(of, seed, elements, native);
        let (states, taken) = sequential(of, derivation, &elements, native);
        records += states.len() - 1;
        natives += taken;
        let folds = derivation.program.sequential.as_ref().map_or(&[][..], |of| &of.folds);
        // Of those that a sample is no longer than, one will do.
        let longer = BLOCKS.iter().position(|&block| block >= states.len() - 1).unwrap_or(BLOCKS.len() - 1);
        for &block in &BLOCKS[..=longer] {
            let is_loop = |folds: &[OwnFold]| agrees(of, derivation, (&elements, &states), (block, folds));
            if !is_loop(&[]) || !folds.is_empty() && !is_loop(folds) {
                return Err(Refusal::of(of.names.clone(), Why::Wrong));
            }
        }
    }
    Ok(native.map(|_| Compared { records, native: natives }))
}

/// So many elements, as values of their types.
fn drawn(of: &LoopProgram, seed: u64, len: usize, native: Option<&dyn NativeStep>) -> Vec<Vec<Constant>> {
    let types = &of.step.function.params[of.initial.len()..];
    let element = |i: usize| {
        let sources = of.step.reads.iter().zip(types).enumerate();
        let drawn: Vec<Constant> = sources.map(|(place, (&source, &ty))| element(source, ty, seed, i, place)).collect();
        match native {
            Some(native) => native.valid([&of.initial[..], &drawn].concat()).split_off(of.initial.len()),
            None => drawn,
        }
    };
    (0..len).map(element).collect()
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

/// A state of the loop, and the largest float on the way to it.
type Reached = (Vec<Constant>, f64);

/// The loop's states on a sample, by its native step if there is one, and how many steps that took. As long as nothing overflows, and
/// every float is a number: over the reals there is no quotient by 0.
fn sequential(
    of: &LoopProgram,
    derivation: &Derivation,
    elements: &[Vec<Constant>],
    native: Option<&dyn NativeStep>,
) -> (Vec<Reached>, usize) {
    let (mut states, mut taken) = (vec![(of.initial.clone(), 1.0)], 0);
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
        // Where the native step cannot be run, its program goes on.
        let own = native.and_then(|native| native.step(&arguments, &next));
        taken += usize::from(own.is_some());
        states.push((own.unwrap_or(next), largest));
    }
    (states, taken)
}

/// Whether the scan gives these states where it takes blocks of so many elements, which these folds fold in place of the stages.
fn agrees(
    of: &LoopProgram,
    derivation: &Derivation,
    (elements, expected): (&[Vec<Constant>], &[Reached]),
    (block, folds): (usize, &[OwnFold]),
) -> bool {
    let Derivation { program, .. } = derivation;
    let count = expected.len() - 1;
    let mut before: Vec<Vec<Constant>> = vec![Vec::new(); count + 1];
    let start = interp::call(&derivation.seed, &of.initial, &program.tables);
    let mut first = 0;
    // Level by level: each block is folded, its carry is moved on, and its states are replayed from the carry.
    for (number, stage) in program.stages.iter().enumerate() {
        let fold = folds.iter().find(|fold| fold.stage as usize == number);
        let mut carry = start[first..first + stage.state.len()].to_vec();
        first += stage.state.len();
        let combine = |a: &[Constant], b: &[Constant]| interp::call(&stage.combine, &[a, b].concat(), &program.tables);
        let mut places = 0..count;
        while !places.is_empty() {
            let own = places.start..(places.start + block).min(count);
            places.start = own.end;
            let mut total = fold.map_or(&stage.identity, |fold| &fold.initial).clone();
            let mut replay = carry.clone();
            for i in own {
                let of_element = |source: Source| {
                    let place = of.step.reads.iter().position(|&other| other == source);
                    elements[i][place.expect("a lift reads what the step does")]
                };
                let read = |source: &Source| match *source {
                    Source::Before { stage, component } => {
                        let offset: usize = program.stages[..stage as usize].iter().map(|s| s.state.len()).sum();
                        before[i][offset + component as usize]
                    }
                    source => of_element(source),
                };
                let arguments: Vec<Constant> = stage.lift.reads.iter().map(read).collect();
                let lifted = interp::call(&stage.lift.function, &arguments, &program.tables);
                before[i].extend(&replay);
                replay = combine(&replay, &lifted);
                total = match fold {
                    Some(OwnFold { step, .. }) => {
                        let read = |source: &Source| match *source {
                            Source::State(component) => total[component as usize],
                            source => of_element(source),
                        };
                        let arguments: Vec<Constant> = step.reads.iter().map(read).collect();
                        interp::call(&step.function, &arguments, &program.tables)
                    }
                    None => combine(&total, &lifted),
                };
            }
            let total = match fold {
                Some(OwnFold { leave, .. }) => interp::call(leave, &total, &program.tables),
                None => total,
            };
            carry = combine(&carry, &total);
        }
        before[count].extend(&carry);
    }
    // Once a float was rounded otherwise, what compares it may differ: that says nothing.
    let mut is_exact = true;
    for (state, (expected, largest)) in before.iter().zip(expected) {
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
pub(super) fn element(source: Source, ty: Type, seed: u64, i: usize, place: usize) -> Constant {
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
