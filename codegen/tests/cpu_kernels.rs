//! Kernels against the interpreter: programs of each kind, every interleave factor, both modes,
//! lengths around the edges.

mod cpu_support;

use cpu_support::{Columns, Slots, assert_same, compile, empty_outputs, input, isas, run_directly, run_tile};
use monoscan_codegen::cpu::{Access, CodegenError, Compiled, Kernel, MOST_SHORT_INPUTS, TileArgs};
use monoscan_ir::interp::{self, Request};
use monoscan_ir::transform::{Form, lower};
use monoscan_ir::{
    Constant, Field, FunctionBuilder, Layout, Mapping, Mode, Opcode, Output, Program, Source, Stage, Type, Value,
    Verified, verify,
};
use scan_kit::random::{Options, random_program};

const LENGTHS: [usize; 9] = [0, 1, 2, 3, 7, 8, 64, 65, 1000];
const INTERLEAVE: [u32; 4] = [1, 2, 4, 8];

type Build<'a> = &'a dyn Fn(&mut FunctionBuilder, &[Value]) -> Vec<Value>;

fn function(params: &[Type], build: Build) -> monoscan_ir::Function {
    let mut b = FunctionBuilder::new();
    let params = b.params(params);
    let results = build(&mut b, &params);
    b.finish(&results)
}

/// A one-stage program; the types of what `lift` and `project` read are found by the sources.
struct Recipe<'a> {
    name: &'a str,
    inputs: Vec<Layout>,
    outputs: Vec<Layout>,
    identity: Vec<Constant>,
    lift: (&'a [Source], Build<'a>),
    combine: Build<'a>,
    project: (&'a [Source], Build<'a>),
}

impl Recipe<'_> {
    fn verified(self) -> Verified<Program> {
        let state: Vec<Type> = self.identity.iter().map(|value| value.ty()).collect();
        let combine = function(&[state.clone(), state.clone()].concat(), self.combine);
        let lift = Mapping::default();
        let stage = Stage { state, identity: self.identity, lift, combine, ..Stage::default() };
        let output = Output { filter: None, project: Mapping::default(), columns: self.outputs };
        let name = self.name.into();
        let mut program = Program {
            name,
            tables: Vec::new(),
            inputs: self.inputs,
            parameters: Vec::new(),
            stages: vec![stage],
            output,
            sequential: None,
        };
        let mapping = |(reads, build): (&[Source], Build)| {
            let types: Vec<Type> = reads.iter().map(|&source| program.source_type(source).unwrap()).collect();
            Mapping { reads: reads.to_vec(), function: function(&types, build) }
        };
        let (lift, project) = (mapping(self.lift), mapping(self.project));
        program.stages[0].lift = lift;
        program.output.project = project;
        verify(program).unwrap()
    }
}

/// y[i] = a[i]·y[i-1] + b[i], on two columns.
fn affine(ty: Type) -> Verified<Program> {
    Recipe {
        name: "affine",
        inputs: vec![Layout::of(ty), Layout::of(ty)],
        outputs: vec![Layout::of(ty)],
        identity: vec![ty.of_i64(1), ty.of_i64(0)],
        lift: (&[Source::Record(0), Source::Record(1)], &|_, p| p.to_vec()),
        combine: &|b, p| {
            let a = b.binary(Opcode::Mul, p[2], p[0]);
            vec![a, b.op(Opcode::MulAdd, &[p[2], p[1], p[3]])]
        },
        project: (&[Source::State(1)], &|_, p| p.to_vec()),
    }
    .verified()
}

/// Segmented sum: flag and value in one padded record; the output record is padded too and says whether one began.
fn segmented() -> Verified<Program> {
    let record = |size: u32| Layout {
        size,
        align: 4,
        fields: vec![Field { offset: 0, ty: Type::Bool }, Field { offset: 4, ty: Type::I32 }],
    };
    Recipe {
        name: "segmented",
        inputs: vec![record(12)],
        outputs: vec![record(16), Layout::of(Type::U64)],
        identity: vec![Constant::from(false), Constant::from(0i32)],
        lift: (&[Source::Record(0), Source::Record(1)], &|_, p| p.to_vec()),
        combine: &|b, p| {
            let flag = b.binary(Opcode::Or, p[0], p[2]);
            let sum = b.binary(Opcode::Add, p[1], p[3]);
            vec![flag, b.select(p[2], p[3], sum)]
        },
        project: (&[Source::State(0), Source::State(1), Source::Index], &|_, p| p.to_vec()),
    }
    .verified()
}

/// Compositions of maps of `lanes` states, one by a byte and the next element's byte; writes the state reached.
fn maps(lanes: usize) -> Verified<Program> {
    let ty = Type::bytes(lanes).unwrap();
    let identity = Constant::vector(&(0..lanes as u8).collect::<Vec<_>>());
    Recipe {
        name: "maps",
        inputs: vec![Layout::of(Type::U8)],
        outputs: vec![Layout::of(Type::U8), Layout::of(ty)],
        identity: vec![identity],
        lift: (&[Source::Record(0), Source::Next(0), Source::Last], &|b, p| {
            // x ↦ (x·odd + byte + next + last) mod lanes, lane by lane.
            let sum = b.binary(Opcode::Add, p[0], p[1]);
            let last = b.cast(Type::U8, p[2]);
            let sum = b.binary(Opcode::Add, sum, last);
            let count = b.lit(lanes as u8);
            let mut map = b.splat(ty, sum);
            for lane in 0..lanes as u8 {
                let number = b.lit(lane);
                let moved = b.binary(Opcode::Xor, number, sum);
                let moved = b.binary(Opcode::Rem, moved, count);
                map = b.with_lane(map, lane, moved);
            }
            vec![map]
        }),
        combine: &|b, p| vec![b.binary(Opcode::Permute, p[1], p[0])],
        project: (&[Source::State(0)], &|b, p| vec![b.lane(p[0], 0), p[0]]),
    }
    .verified()
}

/// Number of elements and their wrapping sum: the first depends on the length alone.
fn counted() -> Verified<Program> {
    Recipe {
        name: "counted",
        inputs: vec![Layout::of(Type::I16)],
        outputs: vec![Layout::packed(&[Type::U32, Type::I64])],
        identity: vec![Constant::from(0u32), Constant::from(0i64)],
        lift: (&[Source::Record(0)], &|b, p| vec![b.lit(1u32), b.cast(Type::I64, p[0])]),
        combine: &|b, p| vec![b.binary(Opcode::Add, p[0], p[2]), b.binary(Opcode::Add, p[1], p[3])],
        project: (&[Source::State(0), Source::State(1)], &|_, p| p.to_vec()),
    }
    .verified()
}

fn request(mode: Mode) -> Request {
    Request { mode, ..Request::default() }
}

/// Direct and tiled runs of an associative program.
fn check(program: &Verified<Program>, lengths: &[usize], seed: u64) {
    for mode in [Mode::Inclusive, Mode::Exclusive] {
        for interleave in INTERLEAVE {
            let compiled = compile(program, mode, interleave, &isas()[0]);
            for &total in lengths {
                let bytes = input(program, total, seed + total as u64);
                let inputs: Vec<&[u8]> = bytes.iter().map(Vec::as_slice).collect();
                let expected = interp::run(program, &inputs, &request(mode)).unwrap();
                let what = format!("{} {mode:?} W={interleave} n={total} seed {seed}", program.name);
                let found = run_directly(&compiled, program, &inputs, total);
                assert_same(program, &found, &expected.outputs, &format!("{what} directly"));
                let found = run_tile(&compiled, program, &inputs, total);
                assert_same(program, &found, &expected.outputs, &format!("{what} in a tile"));
            }
        }
    }
}

#[test]
fn one_block_of_an_affine_recurrence_is_the_sequential_loop() {
    for ty in [Type::F32, Type::F64] {
        let program = affine(ty);
        for isa in isas() {
            let compiled = compile(&program, Mode::Inclusive, 1, &isa);
            let bytes = input(&program, 1000, 1);
            let inputs: Vec<&[u8]> = bytes.iter().map(Vec::as_slice).collect();
            let expected = interp::run(&program, &inputs, &request(Mode::Inclusive)).unwrap();
            let found = run_directly(&compiled, &program, &inputs, 1000);
            assert_same(&program, &found, &expected.outputs, "affine");
        }
    }
}

#[test]
fn affine_maps_of_small_integers_are_exact_in_tiles() {
    // Products of ±2 and 0 and sums of them are exact while they are short.
    check(&affine(Type::F64), &[0, 1, 2, 3, 7, 8, 40], 1);
    check(&affine(Type::F32), &[0, 1, 2, 3, 7, 8, 20], 1);
}

#[test]
fn integer_programs_agree_with_the_interpreter() {
    check(&segmented(), &LENGTHS, 2);
    check(&counted(), &LENGTHS, 3);
}

#[test]
fn maps_with_the_next_byte_agree_with_the_interpreter() {
    for lanes in [1, 3, 8, 12, 16] {
        check(&maps(lanes), &[0, 1, 2, 7, 64, 257], 4);
    }
}

#[test]
fn random_associative_programs_agree_with_the_interpreter() {
    for seed in 0..60 {
        let program = verify(random_program(seed, &Options::default())).unwrap();
        check(&program, &[0, 1, 3, 37], seed);
    }
}

/// A replay of W blocks, each from the carry that the interpreter says: needs no associativity.
#[test]
fn replays_of_random_programs_follow_the_carries() {
    let options = Options { associative: false, ..Options::default() };
    for seed in 0..100 {
        let program = verify(random_program(seed, &options)).unwrap();
        for (mode, interleave) in [(Mode::Inclusive, 4), (Mode::Exclusive, 2)] {
            for isa in isas() {
                let compiled = compile(&program, mode, interleave, &isa);
                let lowered = lower(&program, Form { mode, ..Form::default() });
                let (block, interleave) = (9, interleave as usize);
                // One element more than the blocks have, so that the last block has a next record.
                let total = block * interleave + seed as usize % 2;
                let bytes = input(&program, total, seed);
                let inputs: Vec<&[u8]> = bytes.iter().map(Vec::as_slice).collect();
                let expected = interp::run(&program, &inputs, &request(mode)).unwrap();
                let states = states_after_each(&program, &inputs, total);

                let mut outputs = empty_outputs(&program, total);
                let columns = Columns::new(&inputs, &mut outputs, total);
                let mut slots = Slots::new(&compiled, interleave);
                for own in 0..interleave {
                    slots.set_all(own, &states[own * block]);
                }
                let args = columns.args(0, block, slots.at(0));
                // SAFETY: columns have `total` records each, and slots hold states that the program reaches.
                unsafe { compiled.scan(&args) };
                let written: Vec<Vec<u8>> = outputs
                    .iter()
                    .map(|column| column[..column.len() / total.max(1) * block * interleave].to_vec())
                    .collect();
                assert_same(&program, &written, &expected.outputs, &format!("seed {seed} {mode:?}"));
                for own in 0..interleave {
                    for &(_, component) in &lowered.replay().carried {
                        let (found, expected) =
                            (slots.get(own, component as usize), states[(own + 1) * block][component as usize]);
                        assert!(
                            found.same(expected),
                            "seed {seed} {mode:?}: block {own} ends in {found:?}, not {expected:?}"
                        );
                    }
                }
            }
        }
    }
}

/// The state before each element and after the last, by a program that writes it.
fn states_after_each(program: &Program, inputs: &[&[u8]], total: usize) -> Vec<Vec<Constant>> {
    let state = &program.stages[0].state;
    let layout = Layout::packed(state);
    let mut b = FunctionBuilder::new();
    let params = b.params(state);
    let reads = (0..state.len() as u32).map(Source::State).collect();
    let project = Mapping { reads, function: b.finish(&params) };
    let output = Output { filter: None, project, columns: vec![layout.clone()] };
    let traced = verify(Program { output, ..program.clone() }).unwrap();
    let run = interp::run(&traced, inputs, &request(Mode::Inclusive)).unwrap();
    let record = |i: usize| {
        let bytes = &run.outputs[0][i * layout.size as usize..];
        layout.fields.iter().map(|field| Constant::from_bytes(field.ty, &bytes[field.offset as usize..])).collect()
    };
    std::iter::once(program.stages[0].identity.clone()).chain((0..total).map(record)).collect()
}

#[test]
fn columns_may_lie_at_odd_addresses_and_nothing_beyond_them_is_touched() {
    for lanes in [3, 7, 12, 15] {
        let program = maps(lanes);
        let compiled = compile(&program, Mode::Inclusive, 2, &isas()[0]);
        let total = 10;
        let bytes = input(&program, total, 5);
        let expected = interp::run(&program, &[&bytes[0]], &request(Mode::Inclusive)).unwrap();
        let mut memory: Vec<Vec<u8>> = expected.outputs.iter().map(|column| vec![0xaa; column.len() + 2]).collect();
        let inputs = [bytes[0].as_ptr()];
        let outputs: Vec<*mut u8> = memory.iter_mut().map(|column| column[1..].as_mut_ptr()).collect();
        let mut slots = Slots::new(&compiled, 1);
        slots.set_all(0, &program.stages[0].identity);
        let states = slots.at(0);
        let args = TileArgs::line(&inputs, &outputs, (0, 10, 10), states);
        // SAFETY: the columns have ten records, from the second byte of their memory on.
        unsafe { compiled.scan_one(&args) };
        for (column, expected) in memory.iter().zip(&expected.outputs) {
            assert_eq!((column[0], column[column.len() - 1]), (0xaa, 0xaa));
            assert_eq!(&column[1..column.len() - 1], expected.as_slice());
        }
    }
}

#[test]
fn an_output_may_be_an_input() {
    let program = affine(Type::F64);
    let compiled = compile(&program, Mode::Inclusive, 4, &isas()[0]);
    let bytes = input(&program, 40, 6);
    let columns: Vec<&[u8]> = bytes.iter().map(Vec::as_slice).collect();
    let expected = run_directly(&compiled, &program, &columns, 40);
    let mut both = bytes.clone();
    let inputs = [both[0].as_ptr(), both[1].as_ptr()];
    let outputs = [both[1].as_mut_ptr()];
    let mut slots = Slots::new(&compiled, 1);
    slots.set_all(0, &program.stages[0].identity);
    let states = slots.at(0);
    let args = TileArgs::line(&inputs, &outputs, (0, 40, 40), states);
    // SAFETY: the columns have forty records; the output is the second input, element for element.
    unsafe { compiled.scan_one(&args) };
    assert_eq!(both[1], expected[0]);
}

#[test]
fn what_cannot_be_compiled_is_an_error() {
    let program = lower(&counted(), Form::default());
    assert_eq!(Compiled::new(&program, Access::Line, 3).err(), Some(CodegenError::Interleave(3)));
    let compiled = Compiled::new(&program, Access::Line, 2).unwrap();
    assert_eq!(compiled.make(Kernel::Reduce(1)), Err(CodegenError::NoKernel(Kernel::Reduce(1))));
    let states = compiled.with_states(Layout::packed(&[Type::F64; 3])).err();
    assert!(matches!(states, Some(CodegenError::States { .. })), "{states:?}");
}

#[test]
fn lines_of_few_columns_have_a_kernel_for_short_ones() {
    let sums = |columns: usize| {
        let program = Recipe {
            name: "sum_of_columns",
            inputs: vec![Layout::of(Type::I32); columns],
            outputs: vec![Layout::of(Type::I32)],
            identity: vec![Constant::from(0i32)],
            lift: (&[Source::Record(0)], &|_, p| p.to_vec()),
            combine: &|b, p| vec![b.binary(Opcode::Add, p[0], p[1])],
            project: (&[Source::State(0)], &|_, p| p.to_vec()),
        };
        lower(&program.verified(), Form::default())
    };
    let has_short = |columns: usize, access: Access| {
        let program = sums(columns);
        Compiled::new(&program, access, 2).unwrap().short().is_some()
    };
    assert!(has_short(1, Access::Line) && has_short(MOST_SHORT_INPUTS, Access::Line));
    assert!(!has_short(MOST_SHORT_INPUTS + 1, Access::Line) && !has_short(1, Access::Strided));
}

#[test]
fn kernels_can_be_read() {
    let program = affine(Type::F32);
    let compiled = compile(&program, Mode::Inclusive, 2, &isas()[0]);
    for kernel in ["; scan\n", "; scan_one\n", "; short\n", "; reduce\n", "; carry_update\n"] {
        assert!(compiled.clif().contains(kernel) && compiled.asm().contains(kernel));
    }
    assert!(compiled.clif().contains("fma") && !compiled.asm().is_empty());
}
