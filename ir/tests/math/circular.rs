//! `sin`, `cos` and `tan`.

use monoscan_ir::interp::Interpreter;
use monoscan_ir::{Constant, Function, FunctionBuilder, Opcode, Table, Type, Value, math};

use super::double2::{Double2, sin_cos_double2, ulps};
use super::{Reference, even, f64_samples};

type Circular = fn(&mut FunctionBuilder, Value, u32) -> Value;

/// An expansion, what it is compared with, and how many instructions are promised.
type Case = (Circular, Reference, usize);

const FUNCTIONS: [Case; 3] = [(math::sin, f64::sin, 110), (math::cos, f64::cos, 110), (math::tan, f64::tan, 130)];

fn build(ty: Type, expansion: Circular) -> Function {
    let mut b = FunctionBuilder::new();
    let x = b.param(ty);
    let y = expansion(&mut b, x, 0);
    b.finish(&[y])
}

fn call(function: &Function, tables: &[Table], x: f64) -> f64 {
    monoscan_ir::interp::call(function, &[x.into()], tables)[0].as_f64()
}

#[test]
fn circular_functions_of_f64_are_within_about_one_ulp() {
    let tables = [math::turns()];
    let mut interpreter = Interpreter::new(&tables);
    for (case, (expansion, _, _)) in FUNCTIONS.into_iter().enumerate() {
        let function = build(Type::F64, expansion);
        let mut worst = (0.0, 0.0);
        let near_quarters = (1..400).flat_map(|n| {
            let quarter = f64::from(n) * std::f64::consts::FRAC_PI_2;
            (-3i64..4).map(move |step| f64::from_bits((quarter.to_bits() as i64 + step) as u64))
        });
        let samples = even(-10.0, 10.0, 40_000).chain(even(-1e6, 1e6, 20_000)).chain(near_quarters);
        for x in samples.chain(f64_samples([std::f64::consts::FRAC_PI_4]).filter(|x| x.abs() < 1e6 && x.abs() > 1e-100))
        {
            let (sine, cosine) = sin_cos_double2(x);
            let reference = [sine, cosine, sine.div(cosine)][case];
            let got = interpreter.call(&function, &[x.into()])[0].as_f64();
            let error = ulps(got, reference, 0);
            if error > worst.0 {
                worst = (error, x);
            }
        }
        assert!(worst.0 < 1.0, "case {case}: {} ulp of {:e}", worst.0, worst.1);
    }
}

/// Their exact values were computed with 400 digits.
#[test]
fn arguments_of_any_size_are_reduced_exactly() {
    let cases = [
        (1e22, [-0.8522008497671888, 0.523214785395139, -1.6287782256068988]),
        (f64::MAX, [0.004961954789184062, -0.9999876894265599, -0.004962015874444895]),
        (2f64.powi(1000), [-0.15920170308624243, 0.9872460775989135, -0.16125837995065806]),
        (3e15, [0.045892919104717815, 0.9989463649145773, 0.04594132449607767]),
    ];
    let tables = [math::turns()];
    for (case, (expansion, ..)) in FUNCTIONS.into_iter().enumerate() {
        let function = build(Type::F64, expansion);
        for (x, expected) in cases {
            assert!(ulps(call(&function, &tables, x), Double2::new(expected[case]), 0) <= 1.0, "case {case} of {x:e}");
        }
    }
    // No f64 is closer to a multiple of π/2.
    let closest = 6_381_956_970_095_103.0 * 2f64.powi(797);
    let cosine = call(&build(Type::F64, math::cos), &tables, closest);
    assert!(ulps(cosine, Double2::new(-4.687165924254628e-19), 0) <= 1.0, "{cosine:e}");
}

/// Within an ulp of the library's, whose error is less than one too.
#[test]
fn circular_functions_agree_with_the_library_over_the_whole_range() {
    let tables = [math::turns()];
    let mut interpreter = Interpreter::new(&tables);
    for (case, (expansion, reference, _)) in FUNCTIONS.into_iter().enumerate() {
        let function = build(Type::F64, expansion);
        for x in f64_samples([1.0]).filter(|x| x.is_finite()) {
            let (got, expected) = (interpreter.call(&function, &[x.into()])[0].as_f64(), reference(x));
            assert!(ulps(got, Double2::new(expected), 0) <= 2.0, "case {case} of {x:e}: {got:e}, not {expected:e}");
        }
    }
}

#[test]
fn circular_functions_of_f32_are_within_a_little_more_than_half_an_ulp() {
    let tables = [math::turns()];
    let mut interpreter = Interpreter::new(&tables);
    for (case, (expansion, reference, _)) in FUNCTIONS.into_iter().enumerate() {
        let function = build(Type::F32, expansion);
        let mut worst = (0.0, 0.0);
        for bits in (0..0x7f80_0000u32).step_by(24_989).chain(0x3f00_0000..0x3f00_1000).chain(0..0x100) {
            let x = f32::from_bits(bits);
            let got = interpreter.call(&function, &[x.into()])[0].as_f64();
            let exact = reference(x as f64);
            let exponent = ((exact.abs().to_bits() >> 52) as i32 - 1023).max(-126);
            let error = (got - exact).abs() / 2f64.powi(exponent - 23);
            if error > worst.0 {
                worst = (error, x);
            }
        }
        assert!(worst.0 < 0.52, "case {case}: {worst:?}");
    }
}

#[test]
fn special_angles_give_what_rust_gives() {
    let tables = [math::turns()];
    for (case, (expansion, reference, limit)) in FUNCTIONS.into_iter().enumerate() {
        for ty in [Type::F32, Type::F64] {
            let function = build(ty, expansion);
            for x in [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
                let constant = |x: f64| if ty == Type::F32 { Constant::from(x as f32) } else { Constant::from(x) };
                let got = monoscan_ir::interp::call(&function, &[constant(x)], &tables)[0];
                assert!(got.same(constant(reference(x))), "case {case} of {x:e}: {got:?}");
            }
            let short = monoscan_ir::simplify(&function, &tables);
            let count = short.insts.iter().filter(|inst| inst.opcode != Opcode::Const).count();
            assert!(count <= limit, "case {case}: {count} instructions, at most {limit} are promised");
        }
    }
}
