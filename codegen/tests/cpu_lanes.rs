//! Kernels in vectors against the interpreter and the evaluator: every opcode that has a form in
//! lanes, operators of every type, records of every kind, every length around groups, odd
//! addresses, outputs over inputs.

mod cpu_support;

use cpu_support::{Slots, assert_same, compile_lanes, input, isas, run_directly, run_kept, run_streaming, run_tile};
use monoscan_codegen::cpu::{Access, Compiled, Kernel, TileArgs, Vector};
use monoscan_ir::interp::{self, Request};
use monoscan_ir::transform::{Form, lower};
use monoscan_ir::{
    Constant, Field, Function, FunctionBuilder, Inst, Layout, Mapping, Mode, Opcode, Output, Program, Source, Stage,
    Type, Value, Verified, verify,
};
use scan_kit::opcodes::{cases, columns, describe, functions, tables};
use scan_kit::random::{Options, random_program};

type Combine = fn(&mut FunctionBuilder, Value, Value) -> Value;

/// Operators that are associative on every type they are given, with their identities. The last non-zero is not
/// commutative.
fn operators(ty: Type) -> Vec<(&'static str, Constant, Combine)> {
    let last: Combine = |b, x, y| {
        let zero = b.constant(b.type_of(y).zero());
        let is_some = b.binary(Opcode::Ne, y, zero);
        b.select(is_some, y, x)
    };
    let mut all: Vec<(&'static str, Constant, Combine)> = vec![("last", ty.zero(), last)];
    if ty == Type::Bool {
        all.push(("or", ty.zero(), |b, x, y| b.binary(Opcode::Or, x, y)));
        all.push(("xor", ty.zero(), |b, x, y| b.binary(Opcode::Xor, x, y)));
        return all;
    }
    all.push(("add", ty.zero(), |b, x, y| b.binary(Opcode::Add, x, y)));
    let (lowest, highest) = match ty {
        Type::F32 => (f32::NEG_INFINITY.into(), f32::INFINITY.into()),
        Type::F64 => (f64::NEG_INFINITY.into(), f64::INFINITY.into()),
        _ if ty.is_signed() => (Constant::new(ty, (ty.mask() >> 1) + 1), Constant::new(ty, ty.mask() >> 1)),
        _ => (ty.zero(), Constant::new(ty, ty.mask())),
    };
    all.push(("max", lowest, |b, x, y| b.binary(Opcode::Max, x, y)));
    all.push(("min", highest, |b, x, y| b.binary(Opcode::Min, x, y)));
    if ty.is_int() {
        all.push(("and", Constant::new(ty, ty.mask()), |b, x, y| b.binary(Opcode::And, x, y)));
    }
    if matches!(ty.size(), 2 | 4) && ty.is_int() {
        all.push(("mul", ty.of_i64(1), |b, x, y| b.binary(Opcode::Mul, x, y)));
    }
    all
}

/// Columns that have a value of this type as component 0, and one of another type as component 1.
fn inputs(ty: Type) -> Vec<Vec<Layout>> {
    let field = |offset: usize, ty: Type| Field { offset: offset as u32, ty };
    let size = ty.size();
    let record = |size: usize, fields: &[Field]| Layout { size: size as u32, align: 1, fields: fields.to_vec() };
    vec![
        vec![Layout::of(ty), Layout::of(Type::U8)],
        vec![Layout::of(ty), Layout::of(Type::Bool)],
        vec![Layout::packed(&[ty, ty])],
        vec![Layout::packed(&[ty, ty, ty])],
        vec![Layout::packed(&[ty, ty, ty, ty])],
        vec![record(size + 3, &[field(0, ty), field(size + 1, Type::I8)])],
        vec![record(2 * size, &[field(size, ty), field(0, ty)])],
    ]
}

/// Scans component 0 and writes the state, and component 1 beside it.
fn program(inputs: Vec<Layout>, (name, identity, combine): (&str, Constant, Combine), both: bool) -> Verified<Program> {
    let ty = identity.ty();
    let other = inputs.iter().flat_map(Layout::types).nth(1).unwrap();
    let same = |types: &[Type]| {
        let mut b = FunctionBuilder::new();
        let params = b.params(types);
        b.finish(&params)
    };
    let mut b = FunctionBuilder::new();
    let (x, y) = (b.param(ty), b.param(ty));
    let combined = combine(&mut b, x, y);
    let combine = b.finish(&[combined]);
    let lift = Mapping { reads: vec![Source::Record(0)], function: same(&[ty]) };
    let stage = Stage { state: vec![ty], identity: vec![identity], lift, combine, ..Stage::default() };
    let (project, columns) = match both {
        false => (Mapping { reads: vec![Source::State(0)], function: same(&[ty]) }, vec![Layout::of(ty)]),
        true => (
            Mapping { reads: vec![Source::State(0), Source::Record(1)], function: same(&[ty, other]) },
            vec![Layout::packed(&[ty, other])],
        ),
    };
    let output = Output { filter: None, project, columns };
    verify(Program {
        name: name.into(),
        tables: Vec::new(),
        inputs,
        parameters: Vec::new(),
        stages: vec![stage],
        output,
        sequential: None,
    })
    .unwrap()
}

/// In one block, and in blocks that are reduced and replayed; what is kept, in one block with space for all records and for those
/// alone.
fn check(program: &Verified<Program>, mode: Mode, lengths: &[usize], seed: u64) {
    for interleave in [1, 4] {
        let compiled = compile_lanes(program, mode, interleave);
        assert!(compiled.is_in_vectors(), "{}", **program);
        for &total in lengths {
            let bytes = input(program, total, seed + total as u64);
            let inputs: Vec<&[u8]> = bytes.iter().map(Vec::as_slice).collect();
            let expected = interp::run(program, &inputs, &Request { mode, ..Request::default() }).unwrap();
            let what = format!("{mode:?} W={interleave} n={total} seed {seed} of\n{}", **program);
            if program.output.filter.is_some() {
                let kept = expected.outputs[0].len() / program.output.columns[0].size as usize;
                for capacity in [total, kept] {
                    let found = run_kept(&compiled, program, &inputs, (total, capacity));
                    assert!(found.iter().map(Vec::len).eq(expected.outputs.iter().map(Vec::len)), "{what}");
                    assert_same(program, &found, &expected.outputs, &format!("capacity for {capacity}, {what}"));
                }
                continue;
            }
            let found = run_directly(&compiled, program, &inputs, total);
            assert_same(program, &found, &expected.outputs, &format!("directly {what}"));
            let found = run_tile(&compiled, program, &inputs, total);
            assert_same(program, &found, &expected.outputs, &format!("in a tile {what}"));
        }
    }
}

#[test]
fn operators_of_every_type_and_every_length() {
    let lengths: Vec<usize> = (0..=200).collect();
    for ty in Type::SCALARS {
        for operator in operators(ty) {
            let program = program(inputs(ty).swap_remove(0), operator, false);
            check(&program, Mode::Inclusive, &lengths, 1);
            check(&program, Mode::Exclusive, &lengths[..80], 2);
        }
    }
}

/// Below the first lane a scan of lanes shifts in −0.0, not the identity 0.0.
#[test]
fn sums_of_zeros_have_the_sign_that_a_loop_gives_them() {
    let sum: Combine = |b, x, y| b.binary(Opcode::Add, x, y);
    for ty in [Type::F32, Type::F64] {
        let zero = |sign: u128| Constant::new(ty, sign << (8 * ty.size() - 1));
        for (identity, first_positive) in
            [0, 1].into_iter().flat_map(|sign| (0..20).map(move |place| (zero(sign), place)))
        {
            let program = program(inputs(ty).swap_remove(0), ("sum", identity, sum), false);
            let records: Vec<u8> =
                (0..20).flat_map(|place| zero(u128::from(place != first_positive)).to_bytes()).collect();
            let columns = [&records[..], &[0; 20]];
            for mode in [Mode::Inclusive, Mode::Exclusive] {
                let expected = interp::run(&program, &columns, &Request { mode, ..Request::default() }).unwrap();
                let found = run_directly(&compile_lanes(&program, mode, 1), &program, &columns, 20);
                assert_eq!(found, expected.outputs, "{mode:?} from {identity:?}, +0.0 at {first_positive}");
            }
        }
    }
}

/// The same where only records count that differ from the next one, or from the one before; those alone are written, or all.
fn with_neighbours(ty: Type, operator: (&str, Constant, Combine), keeps: bool, next: bool) -> Verified<Program> {
    let mut program = program(inputs(ty).swap_remove(0), operator, false).into_inner();
    let (neighbour, end) = if next { (Source::Next(0), Source::Last) } else { (Source::Prev(0), Source::First) };
    let reads = vec![Source::Record(0), neighbour, end];
    let differs = || {
        let mut b = FunctionBuilder::new();
        let [own, other, is_end] = [ty, ty, Type::Bool].map(|ty| b.param(ty));
        let differs = b.binary(Opcode::Ne, own, other);
        let differs = b.binary(Opcode::Or, differs, is_end);
        (b, own, differs)
    };
    let (mut b, own, is_counted) = differs();
    let identity = b.constant(program.stages[0].identity[0]);
    let counted = b.select(is_counted, own, identity);
    program.stages[0].lift = Mapping { reads: reads.clone(), function: b.finish(&[counted]) };
    let (b, _, is_kept) = differs();
    program.output.filter = keeps.then(|| Mapping { reads, function: b.finish(&[is_kept]) });
    verify(program).unwrap()
}

#[test]
fn what_is_kept_and_neighbours_of_every_type() {
    for ty in Type::SCALARS {
        for (keeps, next) in [(true, true), (true, false), (false, true), (false, false)] {
            let program = with_neighbours(ty, operators(ty).swap_remove(1), keeps, next);
            check(&program, Mode::Inclusive, &[0, 1, 2, 3, 8, 9, 10, 17, 34, 67, 200], 5);
        }
    }
}

/// The last group of such a program would read behind the columns, since its replay has no ends to leave out.
#[test]
fn neighbours_that_no_output_needs_are_not_read_in_lanes() {
    for neighbour in [Source::Next(0), Source::Prev(0)] {
        let mut program =
            program(inputs(Type::I32).swap_remove(0), operators(Type::I32).swap_remove(1), false).into_inner();
        let stage = &mut program.stages[0];
        let mut b = FunctionBuilder::new();
        let operands = b.params(&[Type::I32; 4]);
        let sums = [0, 1].map(|place| b.binary(Opcode::Add, operands[place], operands[place + 2]));
        (stage.state, stage.identity, stage.combine) = (vec![Type::I32; 2], vec![Type::I32.zero(); 2], b.finish(&sums));
        let mut b = FunctionBuilder::new();
        let both = b.params(&[Type::I32; 2]);
        stage.lift = Mapping { reads: vec![Source::Record(0), neighbour], function: b.finish(&both) };
        let program = verify(program).unwrap();
        assert!(!compile_lanes(&program, Mode::Inclusive, 1).is_in_vectors(), "{}", *program);
    }
}

/// Outputs without any state.
#[test]
fn flagged_records_of_every_type() {
    for ty in Type::SCALARS {
        let mut program = program(inputs(ty).swap_remove(1), operators(ty).swap_remove(0), false).into_inner();
        let same = |ty: Type| {
            let mut b = FunctionBuilder::new();
            let value = b.param(ty);
            b.finish(&[value])
        };
        program.output.project = Mapping { reads: vec![Source::Record(0)], function: same(ty) };
        program.output.filter = Some(Mapping { reads: vec![Source::Record(1)], function: same(Type::Bool) });
        check(&verify(program).unwrap(), Mode::Inclusive, &[0, 1, 3, 4, 7, 8, 9, 16, 33, 100, 257], 6);
    }
}

/// Flags are a column of bytes beside values of any width.
#[test]
fn segments_by_flags_of_every_type() {
    for ty in Type::SCALARS {
        let cases = |of| [(of, Mode::Inclusive), (of, Mode::Exclusive)];
        for (operator, mode) in operators(ty).into_iter().flat_map(cases) {
            let what = format!("{} of {ty}, {mode:?}", operator.0);
            let program = program(inputs(ty).swap_remove(0), operator, false);
            let segmented = lower(&program, Form { heads: true, mode, ..Form::default() });
            let compiled = Compiled::in_vectors(&segmented, Access::Line, 1, Vector::ALL, &isas()[0]).unwrap();
            assert!(compiled.is_in_vectors(), "{what}");
            for total in [0, 1, 7, 8, 15, 16, 17, 31, 32, 33, 64, 65, 131, 200] {
                let bytes = input(&segmented, total, 5 + total as u64);
                let inputs: Vec<&[u8]> = bytes.iter().map(Vec::as_slice).collect();
                let expected = interp::run(&segmented, &inputs, &Request { mode, ..Request::default() }).unwrap();
                let found = run_directly(&compiled, &segmented, &inputs, total);
                assert_same(&segmented, &found, &expected.outputs, &format!("{what}, n={total}"));
                let found = run_tile(&compiled, &segmented, &inputs, total);
                assert_same(&segmented, &found, &expected.outputs, &format!("{what}, n={total}, in a tile"));
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn whole_vectors_of_results_have_streaming_stores() {
    if !std::arch::is_x86_feature_detected!("avx") {
        return;
    }
    for ty in Type::SCALARS {
        let program = program(inputs(ty).swap_remove(0), operators(ty).swap_remove(0), false);
        let bytes = input(&program, 200, 4);
        let inputs: Vec<&[u8]> = bytes.iter().map(Vec::as_slice).collect();
        let compiled = compile_lanes(&program, Mode::Inclusive, 2);
        for kernel in [Kernel::Scan, Kernel::ScanOne, Kernel::ScanBlocks] {
            assert!(compiled.streaming(kernel).is_some(), "{kernel:?} of {ty}");
        }
        assert!(compiled.streaming(Kernel::Rows(0)).is_none());
        let found = run_streaming(&compiled, &program, &inputs, 200).expect("allocations of this size are aligned");
        let expected = interp::run(&program, &inputs, &Request::default()).unwrap();
        assert_same(&program, &found, &expected.outputs, &format!("{ty}"));
    }
}

#[test]
fn records_of_every_kind() {
    for ty in Type::SCALARS {
        for columns in inputs(ty) {
            // Floats are only held in lanes of their own width.
            let other = columns.iter().flat_map(Layout::types).nth(1).unwrap();
            let program = program(columns, operators(ty).swap_remove(0), other.size() <= ty.size());
            check(&program, Mode::Inclusive, &[0, 1, 7, 16, 33, 64, 100, 257, 300], 3);
        }
    }
}

#[test]
fn random_associative_programs_agree_with_the_interpreter() {
    let mut count = 0;
    for seed in 0..1200 {
        let program = verify(random_program(seed, &Options::default())).unwrap();
        for mode in [Mode::Inclusive, Mode::Exclusive] {
            if compile_lanes(&program, mode, 1).is_in_vectors() {
                count += 1;
                check(&program, mode, &[0, 1, 7, 15, 16, 17, 31, 33, 64, 65, 131, 200], seed);
            }
        }
    }
    assert!(count > 4, "{count}");
}

/// A program that writes this function of the record, and beside it the sum of column 5, which is of bytes.
fn writes(ty: Type, function: &Function) -> Program {
    let is_used = |place: &usize| {
        let value = Value::new(*place);
        function.insts.iter().any(|inst| inst.operands().contains(&value)) || function.results.contains(&value)
    };
    let inputs = columns(ty);
    let read: Vec<usize> = (0..inputs.len()).filter(is_used).collect();
    let mut b = FunctionBuilder::new();
    let params: Vec<Value> = read.iter().map(|&place| b.param(inputs[place])).collect();
    let sum = b.param(Type::U8);
    let mut arguments: Vec<Value> = inputs.iter().map(|ty| b.constant(ty.zero())).collect();
    read.iter().zip(params).for_each(|(&place, param)| arguments[place] = param);
    let results = [b.inline(function, &arguments), vec![sum]].concat();
    let columns = results.iter().map(|&result| Layout::of(b.type_of(result))).collect();
    let reads = read.iter().map(|&place| Source::Record(place as u32)).chain([Source::State(0)]).collect();
    let output = Output { filter: None, project: Mapping { reads, function: b.finish(&results) }, columns };
    let bytes = vec![Layout::of(Type::U8), Layout::of(Type::U8)];
    let mut program = program(bytes, operators(Type::U8).swap_remove(1), false).into_inner();
    program.inputs = inputs.into_iter().map(Layout::of).collect();
    program.stages[0].lift.reads = vec![Source::Record(5)];
    program.tables = tables();
    Program { output, ..program }
}

#[test]
fn opcodes_in_lanes_are_what_the_evaluator_says() {
    let mut forms: Vec<(Opcode, Type)> = Vec::new();
    for ty in Type::SCALARS {
        let (bytes, total) = cases(ty);
        let inputs: Vec<&[u8]> = bytes.iter().map(Vec::as_slice).collect();
        for function in functions(ty) {
            let Ok(program) = verify(writes(ty, &function)) else { panic!("{}", describe(&function)) };
            let compiled = compile_lanes(&program, Mode::Inclusive, 1);
            if !compiled.is_in_vectors() {
                continue;
            }
            forms.extend(function.insts.iter().map(|inst: &Inst| (inst.opcode, ty)));
            let expected = interp::run(&program, &inputs, &Request::default()).unwrap();
            let found = run_directly(&compiled, &program, &inputs, total);
            assert_same(&program, &found, &expected.outputs, &format!("{ty} {}", describe(&function)));
        }
    }
    for ty in Type::SCALARS.into_iter().filter(|ty| *ty != Type::Bool) {
        for opcode in [Opcode::Add, Opcode::Min, Opcode::Max, Opcode::Select, Opcode::Lt, Opcode::Eq, Opcode::Neg] {
            assert!(forms.contains(&(opcode, ty)), "{} of {ty} has no form in lanes", opcode.name());
        }
    }
}

#[test]
fn nothing_beyond_a_block_is_touched_and_outputs_may_be_inputs() {
    let columns = |ty: Type| vec![Layout::packed(&[ty, ty]), Layout::of(Type::Bool)];
    for ty in Type::SCALARS {
        let program = program(columns(ty), operators(ty).swap_remove(0), true);
        let size = 2 * ty.size();
        let compiled = compile_lanes(&program, Mode::Inclusive, 1);
        assert!(compiled.is_in_vectors());
        for (total, start, len) in [(100, 1, 97), (70, 33, 35), (40, 3, 37)] {
            let bytes = input(&program, total, 9);
            let inputs: Vec<&[u8]> = bytes.iter().map(Vec::as_slice).collect();
            let rest: Vec<Vec<u8>> =
                inputs.iter().map(|column| column[column.len() / total * start..].to_vec()).collect();
            let rest: Vec<&[u8]> = rest.iter().map(Vec::as_slice).collect();
            let expected = interp::run(&program, &rest, &Request::default()).unwrap();
            // The output is the first input, one byte off from any alignment.
            let mut memory = vec![0xaa; size * total + 1];
            memory[1..].copy_from_slice(inputs[0]);
            let before = memory.clone();
            let base = memory[1..].as_mut_ptr();
            let mut slots = Slots::new(&compiled, 1);
            slots.set_all(0, &program.stages[0].identity);
            let (inputs, outputs) = ([base.cast_const(), inputs[1].as_ptr()], [base]);
            let range = (start as u64, len as u64, total as u64);
            let args = TileArgs::line(&inputs, &outputs, range, slots.at(0));
            // SAFETY: the columns have `total` records; the output is an input, record for record.
            unsafe { compiled.scan_one(&args) };
            let written = 1 + size * start..1 + size * (start + len);
            assert_eq!(memory[..written.start], before[..written.start]);
            assert_eq!(memory[written.end..], before[written.end..]);
            assert_same(&program, &[memory[written].to_vec()], &expected.outputs, "in place");
        }
    }
}
