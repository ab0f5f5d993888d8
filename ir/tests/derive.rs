//! Random steps: whatever is derived must be the loop, on other elements and in other blocks than
//! those that the derivation itself is compared on.

use std::collections::BTreeMap;

use monoscan_ir::derive::{Derivation, LoopProgram, Why, derive};
use monoscan_ir::laws::{Overflow, Words, judge};
use monoscan_ir::{
    Constant, Function, FunctionBuilder, Layout, Mapping, Opcode, Output, Source, Type, Value, interp, verify,
};
use scan_kit::Random;

struct Generator {
    random: Random,
    b: FunctionBuilder,
    pool: Vec<Value>,
    wraps: bool,
}

impl Generator {
    fn below(&mut self, bound: usize) -> usize {
        (self.random.bits() >> 20) as usize % bound
    }

    fn leaf(&mut self, ty: Type) -> Value {
        let fitting: Vec<Value> = self.pool.iter().copied().filter(|&value| self.b.type_of(value) == ty).collect();
        if !fitting.is_empty() && self.below(7) > 0 {
            let pick = self.below(fitting.len());
            return fitting[pick];
        }
        let number = [0, 1, 2, -1, 3, 5, 7][self.below(7)];
        self.b.constant(if ty == Type::Bool { Constant::from(number & 1 == 1) } else { ty.of_i64(number) })
    }

    fn value(&mut self, ty: Type, depth: usize) -> Value {
        if depth == 0 || self.below(5) == 0 {
            return self.leaf(ty);
        }
        if ty == Type::Bool {
            return self.truth(depth);
        }
        let kind = self.below(12);
        let (a, c) = (self.value(ty, depth - 1), self.value(ty, depth - 1));
        let opcode = match kind {
            0..=2 => [Opcode::Add, Opcode::Sub][self.below(2)],
            3 => Opcode::Mul,
            4..=6 if self.wraps => [Opcode::And, Opcode::Or, Opcode::Xor][self.below(3)],
            4..=6 => [Opcode::Min, Opcode::Max][self.below(2)],
            7 if ty.is_int() => {
                let modulus = [2, 3, 5][self.below(3)];
                let modulus = self.b.constant(ty.of_i64(modulus));
                return self.b.binary(Opcode::Rem, a, modulus);
            }
            7 => Opcode::Div,
            8 => {
                let (low, high) = (self.b.constant(ty.of_i64(0)), self.b.constant(ty.of_i64(4)));
                let above = self.b.binary(Opcode::Max, a, low);
                return self.b.binary(Opcode::Min, above, high);
            }
            _ => {
                let condition = self.truth(depth - 1);
                return self.b.select(condition, a, c);
            }
        };
        self.b.binary(opcode, a, c)
    }

    fn truth(&mut self, depth: usize) -> Value {
        let depth = depth.saturating_sub(1);
        match self.below(7) {
            0 => self.leaf(Type::Bool),
            1 => {
                let a = self.truth_or_leaf(depth);
                self.b.unary(Opcode::Not, a)
            }
            2 | 3 => {
                let (a, c) = (self.truth_or_leaf(depth), self.truth_or_leaf(depth));
                let opcode = [Opcode::And, Opcode::Or, Opcode::Xor][self.below(3)];
                self.b.binary(opcode, a, c)
            }
            _ => {
                let any = self.below(self.pool.len());
                let ty = self.b.type_of(self.pool[any]);
                let (a, c) = (self.value(ty, depth), self.value(ty, depth));
                let opcode = match ty {
                    Type::Bool => [Opcode::Eq, Opcode::Ne][self.below(2)],
                    _ => [Opcode::Eq, Opcode::Lt, Opcode::Le, Opcode::Gt, Opcode::Ge, Opcode::Ne][self.below(6)],
                };
                self.b.binary(opcode, a, c)
            }
        }
    }

    fn truth_or_leaf(&mut self, depth: usize) -> Value {
        if depth == 0 { self.leaf(Type::Bool) } else { self.truth(depth) }
    }
}

/// A loop with one to three components, over a number and a flag.
fn random_loop(seed: u64) -> LoopProgram {
    let mut random = Random(seed);
    let number = [Type::I32, Type::I64, Type::F64, Type::U32, Type::U8, Type::F32][random.below(6) as usize];
    let count = 1 + random.below(3) as usize;
    let types: Vec<Type> = (0..count).map(|_| if random.below(3) == 0 { Type::Bool } else { number }).collect();
    let reads = [number, Type::Bool];
    let mut b = FunctionBuilder::new();
    let state = b.params(&types);
    let record = b.params(&reads);
    let wraps = number == Type::U32 && random.below(2) == 0;
    b.set_wrapping(wraps);
    let pool = [&state[..], &record].concat();
    let mut generator = Generator { random, b, pool: pool.clone(), wraps };
    let next = (0..count).map(|place| {
        // The component itself is what its next value reads most often.
        generator.pool = [&pool[..], &[state[place]; 2]].concat();
        let depth = 1 + generator.below(4);
        generator.value(types[place], depth)
    });
    let next: Vec<Value> = next.collect();
    let initial = types.iter().map(|&ty| {
        if ty == Type::Bool { Constant::from(generator.below(2) == 0) } else { ty.of_i64(generator.below(4) as i64) }
    });
    let initial: Vec<Constant> = initial.collect();
    let step = Mapping { reads: vec![Source::Record(0), Source::Record(1)], function: generator.b.finish(&next) };
    let mut same = FunctionBuilder::new();
    let all = same.params(&types);
    let reads_state = (0..count as u32).map(Source::State).collect();
    LoopProgram {
        name: format!("random_{seed}"),
        tables: Vec::new(),
        inputs: reads.map(Layout::of).to_vec(),
        names: (0..count).map(|place| format!("s{place}")).collect(),
        initial,
        step,
        output: Output {
            filter: None,
            project: Mapping { reads: reads_state, function: same.finish(&all) },
            columns: vec![Layout::packed(&types)],
        },
    }
}

fn element(ty: Type, random: &mut Random) -> Constant {
    let small = random.below(9) as i64 - 4;
    if ty.is_int() && random.below(24) == 0 {
        // In 64 bits, sums of a block have no wider type.
        let most = if ty.size() == 8 { 40 } else { ty.bits() as u64 };
        return Constant::new(ty, (1u128 << random.below(most)) - random.below(2) as u128);
    }
    match ty {
        Type::Bool => Constant::from(random.below(2) == 0),
        Type::F32 => Constant::from(small as f32 / 2.0),
        Type::F64 => Constant::from(small as f64 / 2.0),
        _ if ty.is_signed() => ty.of_i64(small),
        _ => ty.of_i64(small.abs()),
    }
}

/// The scan, in blocks that are cut at random, against the loop. False if it differs.
fn agrees(of: &LoopProgram, derivation: &Derivation, random: &mut Random) -> bool {
    let count = random.below(40) as usize;
    let elements: Vec<Vec<Constant>> =
        (0..count).map(|_| of.inputs.iter().flat_map(Layout::types).map(|ty| element(ty, random)).collect()).collect();
    let mut states = vec![of.initial.clone()];
    let mut largest = 1.0f64;
    for element in &elements {
        let arguments = [&states[states.len() - 1][..], element].concat();
        let (next, overflowed) = interp::call_checked(&of.step.function, &arguments, &[]);
        // Over the reals there is no quotient by 0.
        let floats = of.step.function.values().filter(|(_, inst)| inst.ty.is_float()).map(|(value, _)| value);
        let all = Function { results: floats.collect(), ..of.step.function.clone() };
        let on_the_way = interp::call(&all, &arguments, &[]);
        if overflowed
            || on_the_way.iter().any(|c| !c.as_f64().is_finite())
            || next.iter().any(|c| c.ty().is_float() && c.as_f64().abs() > 1e6 || c.is_nan())
        {
            break;
        }
        largest = next.iter().filter(|c| c.ty().is_float()).fold(largest, |most, c| most.max(c.as_f64().abs()));
        states.push(next);
    }
    let elements = &elements[..states.len() - 1];
    let program = &derivation.program;
    let mut before: Vec<Vec<Constant>> = vec![Vec::new(); states.len()];
    let start = interp::call(&derivation.seed, &of.initial, &program.tables);
    let mut first = 0;
    for stage in &program.stages {
        let combine = |a: &[Constant], b: &[Constant]| interp::call(&stage.combine, &[a, b].concat(), &program.tables);
        let mut carry = start[first..first + stage.state.len()].to_vec();
        first += stage.state.len();
        let mut i = 0;
        while i < elements.len() {
            let end = (i + 1 + random.below(9) as usize).min(elements.len());
            let (mut total, mut replay) = (stage.identity.clone(), carry.clone());
            for (element, before) in elements[i..end].iter().zip(&mut before[i..end]) {
                let read = |source: &Source| match *source {
                    Source::Record(component) => element[component as usize],
                    Source::Before { stage, component } => {
                        let offset: usize = program.stages[..stage as usize].iter().map(|s| s.state.len()).sum();
                        before[offset + component as usize]
                    }
                    _ => unreachable!("lifts read what the step does"),
                };
                let arguments: Vec<Constant> = stage.lift.reads.iter().map(read).collect();
                let lifted = interp::call(&stage.lift.function, &arguments, &program.tables);
                before.extend(&replay);
                (replay, total) = (combine(&replay, &lifted), combine(&total, &lifted));
            }
            carry = combine(&carry, &total);
            i = end;
        }
        before[elements.len()].extend(&carry);
    }
    let near = |got: Constant, expected: Constant| match expected.ty() {
        Type::F32 | Type::F64 => {
            let tolerance = if expected.ty() == Type::F32 { 1e-2 } else { 1e-6 };
            (got.as_f64() - expected.as_f64()).abs() <= tolerance * largest
        }
        _ => got == expected,
    };
    // Once a float was rounded otherwise, what compares it may differ: that says nothing.
    let mut is_exact = true;
    for (state, expected) in before.iter().zip(&states) {
        let value = interp::call(&derivation.value, state, &program.tables);
        if value.iter().zip(expected).any(|(&got, &expected)| !near(got, expected)) {
            return !is_exact;
        }
        is_exact &= value == *expected;
    }
    true
}

/// Derives random steps; gives how many were derived, by their families.
fn fuzz(seeds: std::ops::Range<u64>) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    let mut count = |what: String| *found.entry(what).or_insert(0) += 1;
    for seed in seeds {
        let of = random_loop(seed);
        match derive(&of) {
            Err(refusal) => {
                assert_ne!(refusal.why, Why::Wrong, "seed {seed}: {:#?}", of.step);
                count("refused".to_owned());
            }
            Ok(derivation) => {
                verify(derivation.program.clone()).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
                // Composition is the family's, so a hundred programs have all there are.
                if seed < JUDGED {
                    for stage in &derivation.program.stages {
                        let judgement = judge(stage, &derivation.program.tables, Overflow::NeverOccurs);
                        let explained = || {
                            format!(
                                "seed {seed}: {}\n{}",
                                judgement.report(&[], &Words::default()),
                                derivation.explain()
                            )
                        };
                        assert!(judgement.verdict().is_accepted(), "{}", explained());
                    }
                }
                let mut random = Random(seed ^ 0x5555);
                for _ in 0..6 {
                    let explained = || format!("seed {seed}: {:#?}\n{}", of.step, derivation.explain());
                    assert!(agrees(&of, &derivation, &mut random), "{}", explained());
                }
                for group in &derivation.groups {
                    let name = format!("{:?}", group.family);
                    count(name.split([' ', '{', '(']).next().unwrap_or("").to_owned());
                }
                count("derived".to_owned());
            }
        }
    }
    found
}

/// How many steps are tried in the tests; `MONOSCAN_STEPS` asks for another number.
const STEPS: u64 = 600;

/// Of how many of them the laws are judged too.
const JUDGED: u64 = 150;

#[test]
fn what_is_derived_of_random_steps_is_the_loop() {
    let steps = std::env::var("MONOSCAN_STEPS").ok().and_then(|steps| steps.parse().ok()).unwrap_or(STEPS);
    let found = fuzz(0..steps);
    println!("{found:?}");
    for family in ["Last", "Latch", "Moves", "Accumulate", "Table", "Clamp", "Affine", "Tropical", "Modular", "Bits"] {
        assert!(found.contains_key(family), "no random step has the family {family}: {found:?}");
    }
}

/// A state that goes from one end of its type to the other reaches few values, which are 2^64 apart.
#[test]
fn values_at_both_ends_of_a_type_are_no_table() {
    let mut b = FunctionBuilder::new();
    let (s, _) = (b.param(Type::I64), b.param(Type::I64));
    let (zero, least, most) = (b.lit(0i64), b.lit(i64::MIN), b.lit(i64::MAX));
    let above = b.binary(Opcode::Gt, s, zero);
    let next = b.select(above, least, most);
    let step = Mapping { reads: vec![Source::Record(0)], function: b.finish(&[next]) };
    let mut b = FunctionBuilder::new();
    let s = b.param(Type::I64);
    let project = Mapping { reads: vec![Source::State(0)], function: b.finish(&[s]) };
    let column = Layout::of(Type::I64);
    let derived = derive(&LoopProgram {
        name: "ends".into(),
        tables: Vec::new(),
        inputs: vec![column.clone()],
        names: vec!["s".into()],
        initial: vec![0i64.into()],
        step,
        output: Output { filter: None, project, columns: vec![column] },
    });
    // The test of the state is a flag, and the state is what was assigned last.
    assert_eq!(derived.unwrap().levels(), 2);
}
