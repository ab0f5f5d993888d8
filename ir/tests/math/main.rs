//! The expansions of `math` are accurate to the bounds stated here, everywhere, against references
//! that are far more precise: `f64` for `f32`, double-double arithmetic for `f64`.

mod circular;
mod double2;
mod power;

use double2::{Double2, exp_m1_reduced, exp_parts, exp2_parts, ln_double2, ulps};
use monoscan_ir::interp::Interpreter;
use monoscan_ir::{Constant, Function, FunctionBuilder, Opcode, Type, Value, math};

fn tanh_double2(x: f64) -> Double2 {
    let twice = Double2::new(2.0 * x);
    let t = if x < 0.17 {
        exp_m1_reduced(twice)
    } else {
        let (value, n) = exp_parts(twice);
        value.scaled(2f64.powi(n)).add(Double2::new(-1.0))
    };
    t.div(t.add(Double2::new(2.0)))
}

type Expansion = fn(&mut FunctionBuilder, Value) -> Value;
type Reference = fn(f64) -> f64;

const CASES: [(Expansion, Reference); 7] = [
    (math::exp, f64::exp),
    (math::exp2, f64::exp2),
    (math::ln, f64::ln),
    (math::log2, f64::log2),
    (math::tanh, f64::tanh),
    (math::exp_m1, f64::exp_m1),
    (math::ln_1p, f64::ln_1p),
];

fn build(ty: Type, expansion: Expansion) -> Function {
    let mut b = FunctionBuilder::new();
    let x = b.param(ty);
    let y = expansion(&mut b, x);
    b.finish(&[y])
}

/// Every exponent of `f64` with some mantissas, both signs; then the places named, and their neighbours.
fn f64_samples<const N: usize>(places: [f64; N]) -> impl Iterator<Item = f64> {
    let mut mantissa = 0x9e37_79b9_7f4a_7c15u64;
    let spread = (0..2047u64 * 12).flat_map(move |i| {
        mantissa = mantissa.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(i);
        let fraction = match i % 12 {
            0 => 0,
            1 => (1 << 52) - 1,
            _ => mantissa >> 12,
        };
        let x = f64::from_bits((i / 12) << 52 | fraction);
        [x, -x]
    });
    let near = places
        .into_iter()
        .flat_map(|x| (-300i64..300).map(move |step| f64::from_bits((x.to_bits() as i64 + step) as u64)));
    spread.chain(near)
}

/// Evenly spread numbers, for where the function does something.
fn even(least: f64, most: f64, count: u32) -> impl Iterator<Item = f64> {
    (0..=count).map(move |i| least + (most - least) * (i as f64 / count as f64))
}

fn worst(expansion: Expansion, samples: impl Iterator<Item = f64>, error: impl Fn(f64, f64) -> f64) -> (f64, f64) {
    let function = build(Type::F64, expansion);
    let mut interpreter = Interpreter::new(&[]);
    let mut worst = (0.0, 0.0);
    for x in samples {
        let got = interpreter.call(&function, &[x.into()])[0].as_f64();
        let error = error(x, got);
        assert!(!error.is_nan(), "of {x:e} it gives {got:e}");
        if error > worst.0 {
            worst = (error, x);
        }
    }
    worst
}

fn assert_within(bound: f64, (error, x): (f64, f64)) {
    assert!(error <= bound, "{error} ulp of {x:e}");
}

/// The error of a number where the result is 0 or ∞, given the argument's bounds.
fn beyond(x: f64, got: f64, zero_below: f64, infinite_above: f64) -> Option<f64> {
    let expected = if x < zero_below {
        0.0
    } else if x > infinite_above {
        f64::INFINITY
    } else {
        return None;
    };
    Some(if got == expected { 0.0 } else { f64::INFINITY })
}

#[test]
fn exp_of_f64_is_within_one_ulp() {
    // ln of half the least subnormal number, and of the least number that rounds to infinity.
    let (zero, infinite) = (-745.133_219_101_941_2, 709.782_712_893_384);
    let samples =
        f64_samples([zero, infinite, -708.4, 1.0]).chain(even(-746.0, 710.0, 30_000)).chain(even(-1.0, 1.0, 10_000));
    let error = |x: f64, got: f64| {
        beyond(x, got, zero, infinite).unwrap_or_else(|| {
            let (value, n) = exp_parts(Double2::new(x));
            ulps(got, value, n)
        })
    };
    assert_within(1.0, worst(math::exp, samples, error));
}

#[test]
fn exp2_of_f64_is_within_one_ulp() {
    let samples =
        f64_samples([-1075.0, 1023.99, -1022.0]).chain(even(-1076.0, 1025.0, 30_000)).chain(even(-1.0, 1.0, 10_000));
    let error = |x: f64, got: f64| {
        if x == -1075.0 || x == 1024.0 {
            return if got == (if x < 0.0 { 0.0 } else { f64::INFINITY }) { 0.0 } else { f64::INFINITY };
        }
        beyond(x, got, -1075.0, 1024.0).unwrap_or_else(|| {
            let (value, n) = exp2_parts(x);
            ulps(got, value, n)
        })
    };
    assert_within(1.0, worst(math::exp2, samples, error));
}

fn positive<const N: usize>(places: [f64; N]) -> impl Iterator<Item = f64> {
    let spread = f64_samples(places).filter(|&x| x > 0.0 && x < f64::INFINITY);
    spread.chain(even(0.4, 2.5, 30_000)).chain(even(0.99, 1.01, 10_000))
}

#[test]
fn ln_of_f64_is_within_one_ulp() {
    let samples = positive([1.0, f64::MIN_POSITIVE, std::f64::consts::SQRT_2, 5e-322]);
    assert_within(1.0, worst(math::ln, samples, |x, got| ulps(got, ln_double2(x), 0)));
}

#[test]
fn log2_of_f64_is_within_one_ulp_and_exact_for_powers_of_two() {
    let samples = positive([1.0, f64::MIN_POSITIVE, std::f64::consts::SQRT_2, 5e-322]);
    assert_within(1.0, worst(math::log2, samples, |x, got| ulps(got, ln_double2(x).div(Double2::LN_2), 0)));
    let function = build(Type::F64, math::log2);
    for n in -1074..1024 {
        let x = if n < -1022 { f64::from_bits(1 << (n + 1074)) } else { f64::from_bits(((n + 1023) as u64) << 52) };
        assert_eq!(monoscan_ir::interp::call(&function, &[x.into()], &[]), [Constant::from(n as f64)]);
    }
}

#[test]
fn tanh_of_f64_is_within_about_one_ulp_and_odd() {
    let samples = f64_samples([0.17328679513998632, 0.5198603854199589, 19.06])
        .chain(even(0.0, 22.0, 30_000))
        .chain(even(0.0, 1.0, 10_000));
    let function = build(Type::F64, math::tanh);
    let error = |x: f64, got: f64| {
        let negative = monoscan_ir::interp::call(&function, &[(-x).into()], &[])[0].as_f64();
        assert_eq!(negative.to_bits(), (-got).to_bits(), "tanh is odd at {x:e}");
        let (x, got) = (x.abs(), got.abs());
        // Below, tanh x = x − x³/3 rounds to x or is as exact as that; above 30 it is 1.
        if x < 1e-8 {
            let reference = if x < 1e-100 { Double2::new(x) } else { Double2::sum(x, -x * x * x / 3.0) };
            return ulps(got, reference, 0);
        }
        ulps(got, if x > 30.0 { Double2::ONE } else { tanh_double2(x) }, 0)
    };
    assert_within(1.1, worst(math::tanh, samples, error));
}

#[test]
fn f32_results_are_within_a_little_more_than_half_an_ulp() {
    for (case, (expansion, reference)) in CASES.into_iter().enumerate() {
        let function = build(Type::F32, expansion);
        let mut interpreter = Interpreter::new(&[]);
        let mut worst = (0.0, 0.0);
        // A prime step visits every exponent some 200 times, and both signs.
        for bits in (0..=u32::MAX)
            .step_by(41_957)
            .chain(0x3f7f_ff00..0x3f80_0100)
            .chain(0x0..0x100)
            .chain(0x42ae_0000..0x42d0_0000)
            .step_by(97)
        {
            let x = f32::from_bits(bits);
            let got = interpreter.call(&function, &[x.into()])[0].as_f64();
            let exact = reference(x as f64);
            if exact.is_nan() || (exact as f32).is_infinite() || got.is_infinite() {
                assert!(Constant::from(got as f32).same((exact as f32).into()), "of {x:e}: {got:e}, not {exact:e}");
                continue;
            }
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
fn special_arguments_give_what_rust_gives() {
    let specials =
        [0.0, -0.0, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -f64::MIN_POSITIVE, f64::MAX, f64::MIN];
    for (case, (expansion, reference)) in CASES.into_iter().enumerate() {
        for ty in [Type::F32, Type::F64] {
            let function = build(ty, expansion);
            for x in specials {
                let (x, expected) = if ty == Type::F32 {
                    (Constant::from(x as f32), Constant::from(reference(x as f32 as f64) as f32))
                } else {
                    (Constant::from(x), Constant::from(reference(x)))
                };
                let got = monoscan_ir::interp::call(&function, &[x], &[])[0];
                let close = (got.as_f64() / expected.as_f64() - 1.0).abs() < 1e-15;
                assert!(got.same(expected) || close, "case {case} of {x:?}: {got:?}, not {expected:?}");
            }
        }
    }
}

#[test]
fn the_expansions_are_short() {
    let limits = [40, 40, 40, 50, 55, 50, 60];
    for ((expansion, _), limit) in CASES.into_iter().zip(limits) {
        for ty in [Type::F32, Type::F64] {
            let function = monoscan_ir::simplify(&build(ty, expansion), &[]);
            let count = function.insts.iter().filter(|inst| inst.opcode != Opcode::Const).count();
            assert!(count <= limit, "{count} instructions, at most {limit} are promised");
        }
    }
}
