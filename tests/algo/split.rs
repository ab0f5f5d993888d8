//! Splits by bits and digits.

use std::cmp::Ordering;

use monoscan::algo::AlgoError;
use monoscan::algo::sort::SortKey;
use monoscan::algo::split::{split_by_bit, split_by_digit};

use super::common::{for_lengths, generator};

fn keys<K>(len: usize, of: impl Fn(u64) -> K) -> Vec<K> {
    let mut random = generator(len);
    (0..len).map(|_| of(random.bits())).collect()
}

#[test]
fn keys_keep_their_order_within_a_bit_and_within_a_digit() {
    // More than one thread moves.
    for_lengths(140_001, |len| {
        let x = keys(len, |bits| bits);
        for bit in [0, 17, 63] {
            let (zeros, ones): (Vec<u64>, Vec<u64>) = x.iter().partition(|&&key| key >> bit & 1 == 0);
            let count = zeros.len();
            assert_eq!(split_by_bit(&x, bit).unwrap(), ([zeros, ones].concat(), count));
        }
        for bits in [0..1, 3..11, 48..64, 60..64] {
            let digit = |key: &u64| (key >> bits.start) as usize % (1 << bits.len());
            let mut expected = x.clone();
            expected.sort_by_key(digit);
            let (parts, offsets) = split_by_digit(&x, bits.clone()).unwrap();
            assert!(parts == expected, "{len} keys by {bits:?}");
            assert_eq!(offsets.len(), (1 << bits.len()) + 1);
            assert_eq!((offsets[0], offsets[1 << bits.len()]), (0, len));
            for (value, range) in offsets.windows(2).enumerate() {
                assert!(parts[range[0]..range[1]].iter().all(|key| digit(key) == value));
            }
        }
    });
}

fn splits_sort<K: SortKey>(of: impl Fn(u64) -> K + Sync, order: impl Fn(&K, &K) -> Ordering + Sync) {
    for_lengths(40_009, |len| {
        let mut x = keys(len, &of);
        let mut expected = x.clone();
        expected.sort_by(&order);
        let width = 8 * size_of::<K>() as u32;
        for first in (0..width).step_by(11) {
            (x, _) = split_by_digit(&x, first..width.min(first + 11)).unwrap();
        }
        assert!(x.iter().zip(&expected).all(|(a, b)| order(a, b).is_eq()), "{len} keys");
    });
}

#[test]
fn splits_by_all_digits_sort() {
    splits_sort(|bits| bits as u8, u8::cmp);
    splits_sort(|bits| bits as i16, i16::cmp);
    splits_sort(|bits| bits as i64, i64::cmp);
    splits_sort(|bits| f32::from_bits(bits as u32), f32::total_cmp);
    splits_sort(f64::from_bits, f64::total_cmp);
}

#[test]
fn bits_that_are_no_digit_are_refused() {
    for bit in [32, 33, u32::MAX] {
        assert!(matches!(split_by_bit(&[1u32], bit), Err(AlgoError::Bits { width: 32, .. })), "{bit}");
    }
    #[expect(clippy::reversed_empty_ranges, reason = "they are refused")]
    for bits in [3..3, 5..3, 0..17, 30..33, 40..41] {
        let error = split_by_digit(&[1u32], bits.clone()).unwrap_err();
        assert!(matches!(error, AlgoError::Bits { got, width: 32 } if got == bits));
    }
}
