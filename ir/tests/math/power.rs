//! `powf`, and the two functions that keep their digits near zero.

use monoscan_ir::interp::Interpreter;
use monoscan_ir::{Constant, Function, FunctionBuilder, Opcode, Type, math};

use super::double2::{Double2, exp_m1_reduced, exp_parts, ln_double2, ulps};
use super::{assert_within, even, f64_samples, worst};

fn power(ty: Type) -> Function {
    let mut b = FunctionBuilder::new();
    let (x, y) = (b.param(ty), b.param(ty));
    let result = math::powf(&mut b, x, y);
    b.finish(&[result])
}

fn pairs() -> impl Iterator<Item = (f64, f64)> {
    let some = f64_samples([1.0, 2.0, 0.5]).filter(|x| *x > 0.0 && x.is_finite());
    // An exponent that leads anywhere between underflow and overflow.
    let spread = some.enumerate().map(|(i, x)| {
        let reach = (i % 1489) as f64 - 744.0;
        (x, if x == 1.0 { reach } else { reach / x.ln() })
    });
    let usual =
        even(0.01, 30.0, 4000).enumerate().map(|(i, x)| (x, [2.0, 0.5, -1.0, 1.0 / 3.0, 7.25, -2.5, 20.0][i % 7]));
    let near_one = even(0.999, 1.001, 2001).enumerate().map(|(i, x)| (x, 7e5 - 1401.0 * (i % 1000) as f64));
    spread.chain(usual).chain(near_one)
}

#[test]
fn powf_of_f64_is_within_one_ulp() {
    let function = power(Type::F64);
    let mut interpreter = Interpreter::new(&[]);
    let mut worst = (0.0, (0.0, 0.0));
    for (x, y) in pairs().filter(|(_, y)| y.is_finite()) {
        let product = ln_double2(x).mul(Double2::new(y));
        let got = interpreter.call(&function, &[x.into(), y.into()])[0].as_f64();
        if product.head > 709.7 || product.head < -745.0 {
            // On the edge the library decides.
            assert!((got / x.powf(y) - 1.0).abs() < 1e-15 || got == x.powf(y), "{x:e} to the {y:e}: {got:e}");
            continue;
        }
        let (value, n) = exp_parts(product);
        let error = ulps(got, value, n);
        assert!(!error.is_nan(), "{x:e} to the {y:e} gives {got:e}");
        if error > worst.0 {
            worst = (error, (x, y));
        }
    }
    assert!(worst.0 < 1.0, "{worst:?}");
}

#[test]
fn powf_of_f32_is_within_a_little_more_than_half_an_ulp() {
    let function = power(Type::F32);
    let mut interpreter = Interpreter::new(&[]);
    for (x, y) in pairs() {
        let (x, y) = (x as f32, y as f32);
        let got = interpreter.call(&function, &[x.into(), y.into()])[0].as_f64();
        let exact = (x as f64).powf(y as f64);
        if (exact as f32).is_infinite() || got.is_infinite() {
            assert_eq!(got as f32, exact as f32, "{x:e} to the {y:e}");
            continue;
        }
        let exponent = ((exact.abs().to_bits() >> 52) as i32 - 1023).max(-126);
        let error = (got - exact).abs() / 2f64.powi(exponent - 23);
        assert!(error < 0.52 || got.is_nan() && exact.is_nan(), "{x:e} to the {y:e}: {error} ulp");
    }
}

#[test]
fn powf_of_special_arguments_gives_what_rust_gives() {
    let specials = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        2.0,
        -2.0,
        3.0,
        -3.0,
        0.5,
        -0.5,
        -1.5,
        1e300,
        -1e300,
        5e-324,
        -5e-324,
        9_007_199_254_740_993.0,
        9_007_199_254_740_991.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    for ty in [Type::F32, Type::F64] {
        let function = power(ty);
        for (x, y) in specials.into_iter().flat_map(|x| specials.map(|y| (x, y))) {
            let (x, y, expected) = if ty == Type::F32 {
                let (x, y) = (x as f32, y as f32);
                (x.into(), y.into(), x.powf(y).into())
            } else {
                (Constant::from(x), Constant::from(y), Constant::from(x.powf(y)))
            };
            let got = monoscan_ir::interp::call(&function, &[x, y], &[])[0];
            let close = (got.as_f64() / expected.as_f64() - 1.0).abs() < if ty == Type::F32 { 2e-7 } else { 3e-16 };
            assert!(got.same(expected) || close, "{x:?} to the {y:?}: {got:?}, not {expected:?}");
        }
        let short = monoscan_ir::simplify(&function, &[]);
        let count = short.insts.iter().filter(|inst| inst.opcode != Opcode::Const).count();
        assert!(count <= 150, "{count} instructions");
    }
}

#[test]
fn exp_m1_of_f64_is_within_about_one_ulp() {
    let samples = f64_samples([-0.34, 0.34, 709.7, -37.4]).filter(|x| *x < 709.78 && x.abs() > 1e-290);
    let samples = samples.chain(even(-50.0, 709.7, 30_000)).chain(even(-1.5, 1.5, 30_000));
    let error = |x: f64, got: f64| {
        if x.abs() < 0.3 {
            return ulps(got, exp_m1_reduced(Double2::new(x)), 0);
        }
        if x < -100.0 {
            return if got == -1.0 { 0.0 } else { f64::INFINITY };
        }
        let (value, n) = exp_parts(Double2::new(x));
        if n < 200 {
            let one = Double2::new(-1.0);
            return ulps(got, value.scaled(2f64.powi(n)).add(one), 0);
        }
        ulps(got, value, n)
    };
    assert_within(1.0, worst(math::exp_m1, samples, error));
}

#[test]
fn ln_1p_of_f64_is_within_about_one_ulp() {
    let samples = f64_samples([-0.29289321881345254, 0.41421356237309515, 1.0]);
    let samples = samples.filter(|x| *x > -1.0 && x.is_finite() && x.abs() > 1e-290);
    let samples = samples.chain(even(-0.9999, 3.0, 60_000)).chain(even(-0.01, 0.01, 10_000));
    let error = |x: f64, got: f64| {
        // One Newton step from the library's value: y − (e^y − 1 − x) / e^y.
        let y = Double2::new(x.ln_1p());
        if y.head > 30.0 {
            return ulps(got, ln_double2(x).add(Double2::new(1.0 / x)), 0);
        }
        let grown = if y.head.abs() < 0.3 {
            exp_m1_reduced(y)
        } else {
            let (value, n) = exp_parts(y);
            value.scaled(2f64.powi(n)).add(Double2::new(-1.0))
        };
        let step = grown.add(Double2::new(-x)).div(grown.add(Double2::ONE));
        ulps(got, y.add(step.neg()), 0)
    };
    assert_within(1.0, worst(math::ln_1p, samples, error));
}
