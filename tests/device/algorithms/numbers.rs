//! Long integers, rows of them, polynomials and recurrences.

use std::cmp::Ordering;

use monoscan::algo::numbers::Modular;
use monoscan::algo::on_gpu;
use scan_kit::Random;

use super::{drawn, here, lengths, same, there, with_random};

/// Digits of which many pass a carry or a borrow on, so that it goes far.
fn digits(random: &mut Random, len: usize, plain: usize) -> Vec<u64> {
    let digit = |random: &mut Random| if random.chance(plain) { random.bits() } else { *random.pick(&[0, u64::MAX]) };
    (0..len).map(|_| digit(random)).collect()
}

fn added(a: &[u64], b: &[u64]) -> (Vec<u64>, bool) {
    let mut carry = false;
    let mut digit = |(a, b): (&u64, &u64)| {
        let sum = u128::from(*a) + u128::from(*b) + u128::from(carry);
        carry = sum >> 64 != 0;
        sum as u64
    };
    let digits = a.iter().zip(b).map(&mut digit).collect();
    (digits, carry)
}

fn subtracted(a: &[u64], b: &[u64]) -> (Vec<u64>, bool) {
    let mut borrow = false;
    let mut digit = |(a, b): (&u64, &u64)| {
        let taken = u128::from(*b) + u128::from(borrow);
        borrow = u128::from(*a) < taken;
        u128::from(*a).wrapping_sub(taken) as u64
    };
    let digits = a.iter().zip(b).map(&mut digit).collect();
    (digits, borrow)
}

#[test]
#[ignore = "needs a CUDA device"]
fn long_integers_are_added_and_subtracted() {
    with_random(|random| {
        for len in lengths(random) {
            for plain in [1, 1000, usize::MAX] {
                let (a, mut b) = (digits(random, len, plain), digits(random, len, plain));
                if plain == usize::MAX {
                    // One carry through all digits: a + !a is all ones, and 1 more.
                    b = a.iter().map(|digit| !digit).collect();
                    b.iter_mut().take(1).for_each(|digit| *digit = digit.wrapping_add(1));
                }
                let (da, db) = (there(&a), there(&b));
                let ((sum, carry), (expected, leaves)) = (on_gpu::add(&da, &db).unwrap(), added(&a, &b));
                same(&here(sum), &expected);
                assert_eq!(carry, leaves);
                let ((difference, borrow), (expected, leaves)) =
                    (on_gpu::subtract(&da, &db).unwrap(), subtracted(&a, &b));
                same(&here(difference), &expected);
                assert_eq!(borrow, leaves);
            }
        }
    });
}

#[test]
#[ignore = "needs a CUDA device"]
fn the_highest_digits_that_differ_decide() {
    with_random(|random| {
        for len in lengths(random) {
            let a = digits(random, len, 1000);
            // None differ, the lowest, the highest, one anywhere, and all below it.
            for place in [None, Some(0), len.checked_sub(1), Some(random.below(len.max(1)))] {
                for others in [false, true] {
                    let mut b = a.clone();
                    let Some(digit) = place.and_then(|place| b.get_mut(place)) else {
                        assert_eq!(on_gpu::compare(&there(&a), &there(&b)).unwrap(), Ordering::Equal);
                        continue;
                    };
                    *digit ^= 1 << random.below(64u32);
                    let expected = a[place.unwrap_or_default()].cmp(digit);
                    if others {
                        b[..place.unwrap_or_default()].iter_mut().for_each(|digit| *digit = !*digit);
                    }
                    let (da, db) = (there(&a), there(&b));
                    assert_eq!(on_gpu::compare(&da, &db).unwrap(), expected, "{len} digits");
                    assert_eq!(on_gpu::compare(&db, &da).unwrap(), expected.reverse(), "{len} digits");
                }
            }
        }
    });
}

fn rows<const W: usize>(random: &mut Random) {
    for len in lengths(random).into_iter().filter(|&len| len < 100_000) {
        let mut row = |_| *digits(random, W, 2).as_array::<W>().expect("as many digits");
        let (a, b): (Vec<[u64; W]>, Vec<[u64; W]>) =
            ((0..len).map(&mut row).collect(), (0..len).map(&mut row).collect());
        let row_of = |digits: (Vec<u64>, bool)| *digits.0.as_array::<W>().expect("as many digits");
        let both = || a.iter().zip(&b);
        let sums: Vec<[u64; W]> = both().map(|(a, b)| row_of(added(a, b))).collect();
        same(&here(on_gpu::add_rows(&there(&a), &there(&b)).unwrap()), &sums);
        let differences: Vec<[u64; W]> = both().map(|(a, b)| row_of(subtracted(a, b))).collect();
        same(&here(on_gpu::subtract_rows(&there(&a), &there(&b)).unwrap()), &differences);
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn rows_of_digits_are_added_and_subtracted() {
    with_random(|random| {
        rows::<1>(random);
        rows::<4>(random);
        rows::<7>(random);
    });
}

#[test]
#[ignore = "needs a CUDA device"]
fn polynomials_have_their_values() {
    with_random(|random| {
        for len in lengths(random) {
            let zeros = random.below(len + 1);
            let mut coefficients = drawn(random, len, |bits| bits as u32);
            coefficients[..zeros].fill(0);
            let x = random.bits() as u32;
            let value = |value: u32, &c: &u32| value.wrapping_mul(x).wrapping_add(c);
            assert_eq!(on_gpu::horner(&there(&coefficients), x).unwrap(), coefficients.iter().fold(0, value));

            // Powers of 2 that have coefficients are small; those of leading zeros would be infinite.
            let mut coefficients = vec![0.0f64; len];
            coefficients.iter_mut().rev().take(40).for_each(|c| *c = (random.below(4u64)) as f64);
            let expected = coefficients.iter().fold(0.0, |value, c| value * 2.0 + c);
            assert_eq!(on_gpu::horner(&there(&coefficients), 2.0).unwrap(), expected);
        }
    });
}

fn recurs<const K: usize, const M: u32>(random: &mut Random) {
    let coefficients = [(); K].map(|()| random.bits() as u32);
    let there_too = Modular::<K, M>::new(coefficients).unwrap().on(super::gpu()).unwrap();
    for len in lengths(random) {
        let x = drawn(random, len, |bits| bits as u32);
        let mut y: Vec<u32> = Vec::with_capacity(len);
        for (i, &x) in x.iter().enumerate() {
            let before = |k: usize| i.checked_sub(k + 1).map_or(0, |place| u128::from(y[place]));
            let terms = (0..K).map(|k| u128::from(coefficients[k]) * before(k));
            y.push(((u128::from(x) + terms.sum::<u128>()) % u128::from(M)) as u32);
        }
        same(&here(there_too.run(&there(&x)).unwrap()), &y);
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn recurrences_are_taken_modulo_m() {
    with_random(|random| {
        recurs::<1, 2>(random);
        recurs::<2, 1_000_000_007>(random);
        recurs::<3, { u32::MAX }>(random);
    });
}
