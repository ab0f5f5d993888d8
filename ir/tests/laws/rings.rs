//! Sums and products: polynomial identities, what looks like them, and bits.

use super::*;

fn unitriangular(wrong: bool) -> Stage {
    stage(&[Type::I64; 3], &[ZERO; 3], |code, x, y| {
        let a = code.add(x[0], y[0]);
        let b = code.add(x[1], if wrong { y[0] } else { y[1] });
        let (c, product) = (code.add(x[2], y[2]), code.mul(x[0], y[1]));
        vec![a, b, code.add(c, product)]
    })
}

#[test]
fn the_unitriangular_group_is_proved_and_its_famous_misprint_refuted() {
    assert_proved(&unitriangular(false), "as a polynomial identity over the integers modulo 2^64");
    let judgement = judged(&unitriangular(true));
    assert_eq!(judgement.counterexample().unwrap().advice, [Advice::DeclareValid]);
    let report = judgement.counterexample().unwrap().report(&names(&["a", "b", "c"]), &Words::default());
    insta::assert_snapshot!(report, @r"
    `combine` is not associative
                x = (a: 1, b: 0, c: 0)
                y = (a: 0, b: 0, c: 0)
                z = (a: 0, b: 1, c: 0)
      (x · y) · z = (a: 1, b: 0, c: 1)
      x · (y · z) = (a: 1, b: 0, c: 0)
      they differ in `c`: 1 against 0
      help: if one of these states never occurs, let `valid` say which do; laws are then judged on valid states only
    ");
}

#[test]
fn affine_maps_are_proved_over_the_reals_and_the_integers() {
    assert_proved(&affine(Type::F32), "as a polynomial identity over the reals");
    assert_proved(&affine(Type::I64), "as a polynomial identity over the integers modulo 2^64");
    let fused = stage(&[Type::F64; 2], &[1f64.into(), 0f64.into()], |code, x, y| {
        vec![code.mul(y[0], x[0]), code.0.op(Opcode::MulAdd, &[y[0], x[1], y[1]])]
    });
    assert_proved(&fused, "over the reals");
}

fn matrices(ty: Type, n: usize) -> Stage {
    let identity: Vec<Constant> = (0..n * n).map(|i| ty.of_i64((i % (n + 1) == 0) as i64)).collect();
    stage(&vec![ty; n * n], &identity, |code, x, y| {
        let entry = |code: &mut Code, i: usize| {
            let products: Vec<Value> = (0..n).map(|k| code.mul(x[i / n * n + k], y[k * n + i % n])).collect();
            products.into_iter().reduce(|a, b| code.add(a, b)).unwrap()
        };
        (0..n * n).map(|i| entry(code, i)).collect()
    })
}

#[test]
fn matrix_products_are_proved_large_ones_at_random_points() {
    assert_proved(&matrices(Type::I32, 2), "modulo 2^32");
    assert_proved(&matrices(Type::F64, 4), "as a polynomial identity over the reals");
    assert_proved(&matrices(Type::F32, 8), "wrong with probability below 2^-1");
}

#[test]
fn subtraction_averaging_and_a_decaying_sum_are_refuted() {
    let report = assert_refuted(&binary(Sub, 0i32), Law::Associativity);
    insta::assert_snapshot!(report, @r"
    `combine` is not associative
                x = 0
                y = 0
                z = 1
      (x · y) · z = -1
      x · (y · z) = 1
      help: if one of these states never occurs, let `valid` say which do; laws are then judged on valid states only
    `identity` is no identity: combining it with a state changes the state
                 x = 1
          identity = 0
      identity · x = -1
      help: an identity leaves every state as it is; if this state never occurs, let `valid` say which do
    valid states: proved because every state is valid
    ");
    let averaging = stage(&[Type::F32], &[0f32.into()], |code, x, y| {
        let (sum, half) = (code.add(x[0], y[0]), code.lit(0.5f32));
        vec![code.mul(sum, half)]
    });
    assert_refuted(&averaging, Law::Associativity);
    let decaying = stage(&[Type::F64], &[0f64.into()], |code, x, y| {
        let gamma = code.lit(0.9f64);
        let decayed = code.mul(x[0], gamma);
        vec![code.add(decayed, y[0])]
    });
    assert_refuted(&decaying, Law::Associativity);
}

#[test]
fn saturating_addition_is_refuted_where_signed_and_proved_where_not() {
    let report = assert_refuted(&binary(AddSat, 0i8), Law::Associativity);
    assert!(report.contains("signed saturation forgets"), "{report}");
    assert_proved(&binary(AddSat, 0u8), "");
}

#[test]
fn a_rolling_hash_is_proved_where_it_wraps_and_tested_modulo_a_prime() {
    let wrapping = stage(&[Type::U32; 2], &[0u32.into(), 1u32.into()], |code, x, y| {
        let shifted = code.mul(x[0], y[1]);
        vec![code.add(shifted, y[0]), code.mul(x[1], y[1])]
    });
    assert_proved(&wrapping, "modulo 2^32");
    let modular = stage(&[Type::U64; 2], &[0u64.into(), 1u64.into()], |code, x, y| {
        let prime = code.lit(1_000_000_007u64);
        let (shifted, power) = (code.mul(x[0], y[1]), code.mul(x[1], y[1]));
        let hash = code.add(shifted, y[0]);
        vec![code.op(Rem, hash, prime), code.op(Rem, power, prime)]
    });
    let modular = with_valid(modular, |code, x| {
        let prime = code.lit(1_000_000_007u64);
        let (a, b) = (code.op(Lt, x[0], prime), code.op(Lt, x[1], prime));
        code.op(And, a, b)
    });
    assert_tested(&modular, 500);
}

#[test]
fn a_carry_pair_is_proved_by_exhaustion_and_bit_sets_bit_by_bit() {
    let carries = |ty: Type, identity: [Constant; 2]| {
        stage(&[ty; 2], &identity, |code, x, y| {
            let carried = code.op(And, y[1], x[0]);
            vec![code.op(Or, y[0], carried), code.op(And, x[1], y[1])]
        })
    };
    assert_proved(&carries(Type::Bool, [false.into(), true.into()]), "by exhaustion over 4 states");
    assert_proved(&carries(Type::U64, [0u64.into(), u64::MAX.into()]), "as a boolean identity, bit by bit");
    assert_proved(&binary(Xor, 0u16), "");
}
