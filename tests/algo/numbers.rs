//! Long integers, Horner's rule, and recurrences modulo m.

use std::cmp::Ordering;

use monoscan::Error;
use monoscan::algo::AlgoError;
use monoscan::algo::numbers::{
    Modular, add, add_into, add_rows, add_rows_into, compare, compare_rows, compare_rows_into, horner, recur_modulo,
    recur_modulo_into, subtract, subtract_into, subtract_rows, subtract_rows_into,
};

use super::common::{Random, for_lengths, generator, in_pools};

/// Digits of which many pass a carry on: random ones, all ones, zeros, and runs of these.
fn digits(len: usize) -> Vec<Vec<u64>> {
    let mut random = generator(len);
    let runs = |random: &mut Random| {
        let mut digit = 0;
        (0..len)
            .map(|_| {
                if random.chance(50) {
                    digit = *random.pick(&[0, u64::MAX, 1]);
                }
                if random.chance(500) { random.bits() } else { digit }
            })
            .collect()
    };
    let mut one = vec![0; len];
    one.iter_mut().take(1).for_each(|digit| *digit = 1);
    let drawn = (0..len).map(|_| random.bits()).collect();
    vec![drawn, runs(&mut random), runs(&mut random), vec![u64::MAX; len], one]
}

fn by_loop(a: &[u64], b: &[u64], of: impl Fn(u64, u64, bool) -> (u64, bool)) -> (Vec<u64>, bool) {
    let mut carry = false;
    let digit = |i: usize| {
        let digit;
        (digit, carry) = of(a.get(i).copied().unwrap_or(0), b.get(i).copied().unwrap_or(0), carry);
        digit
    };
    let all = (0..a.len().max(b.len())).map(digit).collect();
    (all, carry)
}

#[test]
fn sums_differences_and_order_are_those_of_the_loop() {
    for_lengths(20_011, |len| {
        let shorter = digits(len / 2);
        for a in digits(len) {
            for b in digits(len).iter().chain(&shorter) {
                let (sum, difference) = (by_loop(&a, b, u64::carrying_add), by_loop(&a, b, u64::borrowing_sub));
                assert_eq!(add(&a, b).unwrap(), sum);
                assert_eq!(add(b, &a).unwrap(), sum);
                assert_eq!(subtract(&a, b).unwrap(), difference);
                let (zero, less) = (difference.0.iter().all(|&digit| digit == 0), difference.1);
                let order = if less { Ordering::Less } else { 0.cmp(&(!zero as i32)).reverse() };
                assert_eq!((compare(&a, b), compare(b, &a)), (order, order.reverse()));
            }
        }
    });
}

#[test]
fn a_carry_runs_through_all_digits() {
    const LEN: usize = 300_001;
    in_pools(|| {
        assert_eq!(add(&[u64::MAX; LEN], &[1]).unwrap(), (vec![0; LEN], true));
        assert_eq!(subtract(&[0; LEN], &[1]).unwrap(), (vec![u64::MAX; LEN], true));
    });
}

#[test]
fn the_highest_digit_that_differs_decides() {
    const LEN: usize = 300_003;
    // Digits are looked at in groups of 16, and of 2, 4, 8, … times that, from the top.
    let ends = (0..=14).map(|k| LEN - 16 * ((1 << k) - 1));
    let places: Vec<usize> = ends.flat_map(|end| [end - 1, end.min(LEN - 1)]).chain([0, 1, LEN / 2]).collect();
    in_pools(|| {
        let low = vec![7u64; LEN];
        for &place in &places {
            let mut high = low.clone();
            high[place] = 8;
            // What is below does not count.
            high[..place].iter_mut().for_each(|digit| *digit = 0);
            assert_eq!((compare(&low, &high), compare(&high, &low)), (Ordering::Less, Ordering::Greater), "{place}");
            high[place..].iter_mut().for_each(|digit| *digit = 0);
            high[place] = 1;
            assert_eq!(compare(&high, &[7; 9][..place.min(9)]), Ordering::Greater, "{place}");
            assert_eq!(compare(&[7; 9][..place.min(9)], &high), Ordering::Less, "{place}");
        }
        assert_eq!(compare(&low, &low.clone()), Ordering::Equal);
        assert_eq!(compare(&[low.clone(), vec![0; LEN]].concat(), &low), Ordering::Equal);
    });
}

#[test]
fn rows_are_computed_on_their_own() {
    for_lengths(70_001, |len| {
        let mut random = generator(len);
        let mut rows = || -> Vec<[u64; 4]> {
            let mut digit = || if random.chance(2) { u64::MAX } else { random.bits() };
            (0..len).map(|_| [digit(), digit(), digit(), digit()]).collect()
        };
        let (a, b) = (rows(), rows());
        let sums = add_rows(&a, &b).unwrap();
        assert_eq!(sums.len(), len);
        let differences = subtract_rows(&a, &b).unwrap();
        let orders = compare_rows(&a, &b).unwrap();
        assert_eq!((differences.len(), orders.len()), (len, len));
        for (i, (a, b)) in a.iter().zip(&b).enumerate() {
            assert_eq!(sums[i][..], by_loop(a, b, u64::carrying_add).0);
            assert_eq!(differences[i][..], by_loop(a, b, u64::borrowing_sub).0);
            assert_eq!(orders[i], compare(a, b));
        }
    });
}

#[test]
fn digits_that_disagree_in_number_are_refused_by_what_writes_into_slices() {
    let is_refused = |result: Result<(), AlgoError>, name: &str, lengths: [usize; 2]| match result {
        Err(AlgoError::Length { argument, expected, got }) => assert_eq!((argument, [expected, got]), (name, lengths)),
        other => panic!("{other:?}"),
    };
    let (mut out, mut rows, mut orders) = ([7; 2], [[7]; 2], [Ordering::Less; 2]);
    for (into, name) in [(add_into as fn(&_, &_, &mut _) -> _, "sum"), (subtract_into, "difference")] {
        is_refused(into(&[1, 2], &[1], &mut out).map(drop), "b", [2, 1]);
        is_refused(into(&[1], &[1], &mut out).map(drop), name, [1, 2]);
    }
    for (into, name) in [(add_rows_into as fn(&_, &_, &mut _) -> _, "sums"), (subtract_rows_into, "differences")] {
        is_refused(into(&[[1], [2]], &[[1]], &mut rows), "b", [2, 1]);
        is_refused(into(&[[1]], &[[2]], &mut rows), name, [1, 2]);
    }
    is_refused(compare_rows_into(&[[1], [2]], &[[1]], &mut orders), "b", [2, 1]);
    is_refused(compare_rows_into(&[[2]], &[[1]], &mut orders), "orders", [1, 2]);
    assert_eq!((out, rows, orders), ([7; 2], [[7]; 2], [Ordering::Less; 2]));
    is_refused(add_rows(&[[1]], &[]).map(drop), "b", [1, 0]);
    is_refused(subtract_rows(&[[1]], &[]).map(drop), "b", [1, 0]);
    is_refused(compare_rows(&[[1]], &[]).map(drop), "b", [1, 0]);
}

#[test]
fn polynomials_are_evaluated() {
    for_lengths(200_003, |len| {
        let mut random = generator(len);
        let coefficients: Vec<u64> = (0..len).map(|_| random.bits()).collect();
        for x in [0, 1, 3, u64::MAX] {
            let expected = coefficients.iter().fold(0u64, |y, &c| y.wrapping_mul(x).wrapping_add(c));
            assert_eq!(horner(&coefficients, x).unwrap(), expected);
        }
    });
    assert_eq!(horner(&[1.0, -3.0, 2.0], 4.0).unwrap(), 6.0);
    // A constant has no power of x.
    assert_eq!(horner(&[0.0, 5.0], f64::INFINITY).unwrap(), 5.0);
    // 2 to the power of the number of zeros is infinite.
    for zeros in [3, 1100, 5000, 100_000] {
        assert_eq!(horner(&[vec![0.0; zeros], vec![1.0, -3.0, 2.0]].concat(), 4.0).unwrap(), 6.0);
        assert_eq!(horner(&vec![0.0; zeros], 2.0).unwrap(), 0.0);
    }
}

fn recurs<const K: usize, const M: u32>(coefficients: [u32; K]) {
    let recurrence = Modular::<K, M>::new(coefficients).unwrap();
    for_lengths(40_000, |len| {
        let mut random = generator(len);
        let x: Vec<u32> = (0..len).map(|_| random.bits() as u32).collect();
        let mut expected: Vec<u32> = Vec::new();
        for (i, &x) in x.iter().enumerate() {
            let before = coefficients.iter().zip(expected[..i].iter().rev());
            let sum = before.fold(u64::from(x), |sum, (&c, &y)| (sum + u64::from(c) * u64::from(y)) % u64::from(M));
            expected.push((sum % u64::from(M)) as u32);
        }
        assert!(recurrence.run(&x).unwrap() == expected, "order {K} modulo {M}, {len} numbers");
        let mut y = vec![7; len];
        recurrence.run_into(&x, &mut y).unwrap();
        assert!(y == expected, "order {K} modulo {M}, {len} numbers");
    });
}

#[test]
fn recurrences_modulo_m_are_those_of_the_loop() {
    recurs::<1, 2>([1]);
    recurs::<2, 998_244_353>([1, 1]);
    recurs::<2, { u32::MAX }>([u32::MAX - 1, 5]);
    recurs::<3, 1_000_000_007>([3, 0, u32::MAX]);
}

#[test]
fn a_recurrence_of_too_high_an_order_and_results_of_another_length_are_refused() {
    assert!(Modular::<7, 97>::new([1; 7]).is_ok());
    let error = Modular::<8, 97>::new([1; 8]).unwrap_err();
    assert!(matches!(error, Error::StateSize { .. }), "{error}");
    let mut y = [7; 2];
    let error = Modular::<1, 97>::new([1]).unwrap().run_into(&[1], &mut y).unwrap_err();
    assert!(matches!(error, AlgoError::Length { argument: "y", expected: 1, got: 2 }), "{error}");
    assert_eq!(y, [7; 2]);
}

#[test]
fn recurrences_modulo_numbers_of_64_bits_are_those_of_the_loop() {
    let cases: [(&[u64], u64); 7] = [
        (&[], 10),
        (&[u64::MAX], 1),
        (&[1, 1], (1 << 61) - 1),
        (&[u64::MAX, u64::MAX - 1], u64::MAX),
        (&[3, 0, u64::MAX, 0, 5], u64::MAX - 58),
        (&[1 << 63, 7], 1 << 63),
        (&[5, 0, 1], 998_244_353),
    ];
    for (coefficients, modulus) in cases {
        // Blocks have 2^14 records.
        for_lengths(5 << 14, |longest| {
            for len in [longest, (longest * 4 / 5 + 1).min(longest), longest - longest / 3] {
                let mut random = generator(len);
                let x: Vec<u64> = (0..len).map(|_| random.bits()).collect();
                let expected = recurrence(coefficients, modulus, &x);
                let y = recur_modulo(coefficients, modulus, &x).unwrap();
                assert!(y == expected, "{coefficients:?} modulo {modulus}, {len} numbers");
                let mut again = vec![7; len];
                recur_modulo_into((coefficients, modulus), &x, &mut again).unwrap();
                assert!(again == expected, "{coefficients:?} modulo {modulus}, {len} numbers");
            }
        });
    }
    assert!(matches!(recur_modulo(&[1], 0, &[1]), Err(AlgoError::Modulus)));
    let mut y = [7; 2];
    assert!(matches!(recur_modulo_into((&[1], 0), &[1, 1], &mut y), Err(AlgoError::Modulus)));
    let error = recur_modulo_into((&[1], 5), &[1], &mut y).unwrap_err();
    assert!(matches!(error, AlgoError::Length { argument: "y", expected: 1, got: 2 }), "{error}");
    assert_eq!(y, [7; 2]);
}

/// The loop that [`recur_modulo`] stands for, with a remainder of each product.
fn recurrence(coefficients: &[u64], modulus: u64, x: &[u64]) -> Vec<u64> {
    let mut y: Vec<u64> = Vec::new();
    for (i, &x) in x.iter().enumerate() {
        let before = coefficients.iter().zip(y[..i].iter().rev());
        let product = |(&c, &y): (&u64, &u64)| u128::from(c) * u128::from(y) % u128::from(modulus);
        let sum = before.map(product).sum::<u128>() + u128::from(x);
        y.push((sum % u128::from(modulus)) as u64);
    }
    y
}

/// Of any number of bits, and close to a power of two or not.
#[test]
fn recurrences_modulo_any_number_are_those_of_the_loop() {
    let mut random = generator(64);
    for round in 0..3000 {
        let bits = random.bits() >> random.below(64);
        let near = (1u64 << random.below(64)).wrapping_add(random.below(5) as u64).wrapping_sub(2);
        let modulus = if round % 2 == 0 { bits } else { near }.max(1);
        let mut any = |len: usize| (0..len).map(|_| random.bits() >> random.below(64)).collect::<Vec<_>>();
        let (coefficients, x) = (any(round % 6), any(40));
        let y = recur_modulo(&coefficients, modulus, &x).unwrap();
        assert_eq!(y, recurrence(&coefficients, modulus, &x), "{coefficients:?} modulo {modulus}, of {x:?}");
    }
}

/// By a loop over all coefficients this would take a thousand times as long as the test has.
#[test]
fn coefficients_beyond_the_first_number_count_for_nothing() {
    let x: Vec<u64> = (0..3000).collect();
    let mut coefficients = vec![3; 10_000_000];
    coefficients[..3000].fill(2);
    for len in [0, 1, 2, 3000] {
        let few = recur_modulo(&coefficients[..len], 1_000_003, &x[..len]).unwrap();
        assert_eq!(recur_modulo(&coefficients, 1_000_003, &x[..len]).unwrap(), few, "{len} numbers");
    }
}
