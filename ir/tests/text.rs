//! The text form round-trips, and refuses what is no program without ever panicking.
//!
//! `files/text/*.scan` are programs as the printer writes them; `files/text/bad/*.scan` say at the
//! end of a line, as `; error: substring`, what the parser reports there, and it reports nothing
//! else.

mod annotated;
#[allow(dead_code, reason = "only the verifier's test changes loops")]
mod mutants;

use annotated::{assert_annotated, scan_files};
use monoscan_ir::text::{parse, parse_function};
use monoscan_ir::{Constant, Function, Inst, Opcode, Payload, Program, Source, Table, Type, Value};
use mutants::{Noise, any_program, mutate};
use scan_kit::Random;
use scan_kit::random::{Options, random_program};

const EVERYTHING: Options = Options {
    stages: 3,
    allow_emit: true,
    allow_vectors: true,
    allow_next: true,
    allow_previous: true,
    allow_parameters: true,
    allow_init: true,
    associative: false,
};

#[track_caller]
fn assert_round_trip(program: &Program) {
    let text = program.to_string();
    match parse(&text) {
        Ok(parsed) => assert!(parsed == *program, "parsed to\n{parsed}\nfrom\n{text}"),
        Err(errors) => panic!("{errors}\n{text}"),
    }
}

#[test]
fn printed_files_print_the_same_again() {
    for (path, text) in scan_files("text") {
        match parse(&text) {
            Ok(program) => assert_eq!(program.to_string(), text, "{path}"),
            Err(errors) => panic!("{path}: {errors}"),
        }
    }
}

#[test]
fn parse_errors_sit_on_the_offending_lines() {
    for (path, text) in scan_files("text/bad") {
        let errors = parse(&text).expect_err(&path);
        let found = errors.iter().map(|error| (error.line, error.message.clone())).collect();
        assert_annotated(&path, &text, found);
    }
}

#[test]
fn random_programs_round_trip() {
    for seed in 0..1500 {
        assert_round_trip(&any_program(seed, &EVERYTHING));
    }
}

#[test]
fn programs_that_do_not_verify_round_trip() {
    for seed in 0..1500 {
        let mut program = any_program(seed, &EVERYTHING);
        mutate(&mut program, seed, 1 + seed % 5);
        assert_round_trip(&program);
    }
}

#[test]
fn functions_round_trip_alone() {
    for seed in 0..300 {
        let function = random_program(seed, &EVERYTHING).stages.remove(0).combine;
        assert_eq!(parse_function(&function.to_string()).unwrap(), function);
    }
}

#[test]
fn constants_keep_all_their_bits() {
    let mut constants: Vec<Constant> =
        [f32::NAN, -f32::NAN, 0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::MIN_POSITIVE, f32::MAX, 1e-45, 0.1]
            .map(Constant::from)
            .to_vec();
    constants.extend([f64::NAN, -0.0, f64::NEG_INFINITY, f64::MAX, 5e-324, 1e300, 1.0 / 3.0].map(Constant::from));
    constants.extend([0x7f80_0001, 0xffff_ffff].map(|bits| Constant::new(Type::F32, bits)));
    constants.extend([0x7ff0_0000_0000_0001, 0xfff8_dead_beef_0000].map(|bits| Constant::new(Type::F64, bits)));
    constants.extend([i64::MIN, i64::MAX, -1].map(Constant::from));
    constants.extend([Constant::from(u64::MAX), Constant::from(i8::MIN), Constant::from(true)]);
    constants.push(Constant::vector(&[255, 0, 7]));
    let insts: Vec<Inst> = constants.into_iter().map(Inst::constant).collect();
    let function = Function { params: vec![], results: vec![], insts };
    assert_eq!(parse_function(&function.to_string()).unwrap(), function);
}

#[test]
fn any_name_round_trips() {
    for name in ["", "Affine<f32>", "a::b,c", "two words", "\"\\\u{7}\n;", "größe", "program", "λ { }"] {
        assert_round_trip(&Program { name: name.into(), ..random_program(0, &EVERYTHING) });
    }
}

#[test]
fn what_the_verifier_refuses_has_a_form_of_its_own() {
    let mut program = random_program(1, &EVERYTHING);
    program.tables.push(Table { ty: Type::U32, bytes: vec![1, 2, 3] });
    program.tables.push(Table { ty: Type::Bool, bytes: vec![1, 2] });
    program.tables.push(Table { ty: Type::Bytes(monoscan_ir::Lanes::MAX), bytes: vec![] });
    let stage = &mut program.stages[0];
    stage.identity.extend([Constant::from(f32::NAN), Constant::vector(&[1, 2])]);
    stage.identity[0] = Constant::from(stage.identity[0].ty() != Type::Bool);
    stage.lift.reads.extend([Source::State(9), Source::Before { stage: 7, component: u32::MAX }]);
    let far = Value::new(u32::MAX as usize);
    stage.combine.insts.extend([
        Inst::new(Opcode::Add, Type::I8, &[far, far, far], Payload::Constant(Constant::from(1.5f64))),
        Inst::new(Opcode::Const, Type::I8, &[], Payload::Constant(Constant::from(true))),
        Inst::new(Opcode::Const, Type::I8, &[], Payload::None),
        Inst::new(Opcode::Select, Type::U64, &[far], Payload::Lane(255)),
        Inst::new(Opcode::Neg, Type::U64, &[], Payload::Table(u32::MAX)),
    ]);
    program.output.project.reads.clear();
    assert_round_trip(&program);
    program.stages.clear();
    program.inputs.clear();
    program.output.columns.clear();
    assert_round_trip(&program);
}

#[test]
fn nothing_makes_the_parser_panic() {
    for seed in 0..60 {
        let text = random_program(seed, &EVERYTHING).to_string();
        let mut noise = Noise(Random(seed));
        for _ in 0..40 {
            let mut bytes = text.clone().into_bytes();
            for _ in 0..1 + noise.below(4) {
                let (at, other) = (noise.below(bytes.len()), noise.below(bytes.len()));
                match noise.below(4) {
                    0 => bytes.truncate(at + 1),
                    1 => bytes[at] = b"%@#.:{}()[]=,;\"\\-\n\x80 0a"[noise.below(22)],
                    2 => bytes.swap(at, other),
                    _ => drop(bytes.drain(at.min(other)..at.max(other))),
                }
                bytes.push(b' ');
            }
            let _ = parse(&String::from_utf8_lossy(&bytes));
        }
    }
}

/// A scan of one `f64` whose output is a function of the record, computed twice.
fn program_of(function: &str, operands: &str) -> String {
    format!(
        "program functions
           input {{ size 8, align 8, f64 @ 0 }}
           table u8 = [1 2]
           stage (f64)
             identity (0)
             lift (%0 = record.0: f64) {{ return %0 }}
             combine (%0: f64, %1: f64) {{
               %2 = add.f64 %0, %1
               return %2
             }}
           output write
             column {{ size 16, align 8, f64 @ 0, f64 @ 8 }}
             project (%0 = record.0: f64) {{
               %1 = const.f64 0.5
               %2 = {function}.f64 {operands}
               %3 = mul.f64 %2, %1
               %4 = {function}.f64 {operands}
               return %3, %4
             }}"
    )
}

#[test]
fn functions_are_expanded_where_they_are_named() {
    use monoscan_ir::interp::{Request, run};
    use monoscan_ir::{FunctionBuilder, interp, math, verify};

    for name in ["exp", "exp2", "exp_m1", "ln", "ln_1p", "log2", "tanh", "sin", "cos", "tan", "powf"] {
        let operands = if name == "powf" { "%0, %1" } else { "%0" };
        let program = verify(parse(&program_of(name, operands)).unwrap()).unwrap();
        assert_round_trip(&program);
        let looks_up = matches!(name, "sin" | "cos" | "tan");
        assert_eq!(program.tables.len(), 1 + usize::from(looks_up), "{name}");

        let mut b = FunctionBuilder::new();
        let x = b.param(Type::F64);
        let half = b.lit(0.5);
        let value = match name {
            "exp" => math::exp(&mut b, x),
            "exp2" => math::exp2(&mut b, x),
            "exp_m1" => math::exp_m1(&mut b, x),
            "ln" => math::ln(&mut b, x),
            "ln_1p" => math::ln_1p(&mut b, x),
            "log2" => math::log2(&mut b, x),
            "tanh" => math::tanh(&mut b, x),
            "sin" => math::sin(&mut b, x, 1),
            "cos" => math::cos(&mut b, x, 1),
            "tan" => math::tan(&mut b, x, 1),
            _ => math::powf(&mut b, x, half),
        };
        let product = b.binary(Opcode::Mul, value, half);
        let built = b.finish(&[product, value]);
        for x in [0.75f64, 3.25, 1e-3, 1e9] {
            let expected = interp::call(&built, &[Constant::from(x)], &program.tables);
            let expected: Vec<u8> = expected.iter().flat_map(|c| c.to_bytes()[..8].to_vec()).collect();
            assert_eq!(run(&program, &[&x.to_ne_bytes()], &Request::default()).unwrap().outputs[0], expected, "{name}");
        }
    }
}

#[test]
fn functions_that_cannot_be_expanded_are_refused_where_they_stand() {
    let error = |text: &str| parse(text).unwrap_err().to_string();
    assert!(error(&program_of("exp", "%0, %1")).contains("expected the end of the line, found `,`"));
    assert!(error(&program_of("powf", "%0")).contains("expected `,`"));
    assert!(error(&program_of("exp", "0.5")).contains("expected a value"));
    // A value whose line did not parse has any type: no second error is made of it.
    let twice = program_of("sinh", "%0").replace("return %3, %4", "%5 = exp.f64 %4\n return %3, %5");
    let errors = parse(&twice).unwrap_err();
    assert!(errors.iter().all(|error| error.message.contains("the name of an opcode")), "{errors}");
    assert!(error(&program_of("exp", "%7")).contains("expected a value that is defined above"));
    let narrow = program_of("exp", "%0").replace("exp.f64", "exp.f32");
    assert!(error(&narrow).contains("expected a value of type f32, found one of type f64"));
    assert!(error(&program_of("sinh", "%0")).contains("expected the name of an opcode"));
    assert!(error(&program_of("exp", "%0").replace("exp.f64", "exp.i64")).contains("expected the name of an opcode"));
    // A value that is not defined yet stays undefined, whatever the instructions before it stand for.
    let later = program_of("exp", "%0").replace("return %3, %4", "return %3, %5");
    assert!(monoscan_ir::verify(parse(&later).unwrap()).is_err());
    // The circular functions look up in a table, and a function alone has none.
    assert!(parse_function("(%0: f32) {\n  %1 = exp.f32 %0\n  return %1\n}").is_ok());
    assert!(parse_function("(%0: f32) {\n  %1 = sin.f32 %0\n  return %1\n}").is_err());
}
