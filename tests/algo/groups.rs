//! Totals, counts and moments of groups, whose segments are told by offsets, flags or keys.

use monoscan::Error;
use monoscan::algo::AlgoError;
use monoscan::algo::groups::{
    histogram, histogram_into, moments_by_key, moments_by_key_into, sums_by_key, sums_by_key_into, totals_by_flags,
    totals_by_flags_into, totals_by_key, totals_by_key_into, totals_by_offsets, totals_by_offsets_into,
};
use monoscan::algo::sort::SortKey;
use monoscan::ops::{Max, Moments, Sum};

use super::common::{for_lengths, generator, offsets, segments};

#[test]
fn totals_are_those_of_each_segment_however_it_is_told() {
    for_lengths(40_000, |len| {
        let x: Vec<i64> = (0..len as i64).map(|i| i * 7 % 1009 - 500).collect();
        for lengths in segments(len) {
            let offsets = offsets(&lengths);
            let slices: Vec<&[i64]> = offsets.windows(2).map(|ends| &x[ends[0]..ends[1]]).collect();
            let states: Vec<Sum<i64>> = x.iter().copied().map(Sum).collect();
            let all: Vec<Sum<i64>> = slices.iter().map(|x| Sum(x.iter().sum())).collect();
            assert_eq!(totals_by_offsets(&offsets, &states).unwrap(), all);
            let mut totals = vec![Sum(7); all.len()];
            totals_by_offsets_into(&offsets, &states, &mut totals).unwrap();
            assert_eq!(totals, all);

            let some: Vec<&&[i64]> = slices.iter().filter(|x| !x.is_empty()).collect();
            let mut heads = vec![false; len];
            offsets.iter().filter(|&&start| start < len).for_each(|&start| heads[start] = true);
            let maxima: Vec<Max<i64>> = some.iter().map(|x| Max(*x.iter().max().unwrap())).collect();
            let wrapped: Vec<Max<i64>> = x.iter().copied().map(Max).collect();
            assert_eq!(totals_by_flags(&heads, &wrapped).unwrap(), maxima);
            let mut totals = vec![Max(7); maxima.len()];
            assert_eq!(totals_by_flags_into(&heads, &wrapped, &mut totals).unwrap(), maxima.len());
            assert_eq!(totals, maxima);

            // Keys of segments that are not empty, no two neighbours alike.
            let keys: Vec<u16> =
                (0u32..).zip(&some).flat_map(|(key, x)| vec![(key % 7) as u16 * 1000; x.len()]).collect();
            let names: Vec<u16> = (0..some.len() as u32).map(|key| (key % 7) as u16 * 1000).collect();
            let sums: Vec<i64> = some.iter().map(|x| x.iter().sum()).collect();
            let (mut groups, mut group_sums) = (vec![7; names.len() + 2], vec![7; names.len()]);
            assert_eq!(sums_by_key_into((&keys, &x), &mut groups, &mut group_sums).unwrap(), names.len());
            assert!(groups[..names.len()] == names && groups[names.len()..] == [7; 2] && group_sums == sums);
            assert_eq!(sums_by_key(&keys, &x).unwrap(), (names.clone(), sums));
            groups.fill(7);
            assert_eq!(totals_by_key_into((&keys, &wrapped), &mut groups, &mut totals).unwrap(), names.len());
            assert!(groups[..names.len()] == names && totals == maxima);
            assert_eq!(totals_by_key(&keys, &wrapped).unwrap(), (names.clone(), maxima));

            let floats: Vec<f64> = x.iter().map(|&x| x as f64).collect();
            let (found, moments) = moments_by_key(&keys, &floats).unwrap();
            assert_eq!(found, names);
            let mut again = vec![Moments::of(7.0); names.len() + 1];
            groups.fill(7);
            assert_eq!(moments_by_key_into((&keys, &floats), &mut groups, &mut again).unwrap(), names.len());
            assert!(groups[..names.len()] == names && again[..names.len()] == moments);
            for (moments, x) in moments.iter().zip(&some) {
                let count = x.len() as f64;
                let mean = x.iter().sum::<i64>() as f64 / count;
                let variance = x.iter().map(|&x| (x as f64 - mean).powi(2)).sum::<f64>() / count;
                assert_eq!(moments.count, count);
                assert!((moments.mean - mean).abs() < 1e-9, "{} for {mean}", moments.mean);
                assert!((moments.variance() - variance).abs() <= 1e-9 * variance.max(1.0));
            }
        }
    });
}

/// Functions that group by key, one of which is a loop, agree on keys that are equal and yet differ, and on those that are not
/// equal to themselves.
#[test]
fn floats_as_keys_make_the_same_groups_of_every_function() {
    for_lengths(40_000, |len| {
        for longest in [1usize, 3, 20_000] {
            let (mut random, mut keys) = (generator(len), Vec::new());
            while keys.len() < len {
                let kind = random.below(3u32);
                let key = |i| {
                    if kind > 0 {
                        f64::NAN
                    } else if i % 2 == 0 {
                        0.0
                    } else {
                        -0.0
                    }
                };
                let key_or_one = |i| if kind > 1 { 1.0 } else { key(i) };
                keys.extend((0..1 + random.below(longest)).map(key_or_one));
            }
            keys.truncate(len);
            let ones = vec![1.0f64; len];
            let bits = |keys: Vec<f64>| keys.into_iter().map(f64::to_bits).collect::<Vec<_>>();
            let last = keys.chunk_by(|a, b| a == b).map(|run| (run[run.len() - 1].to_bits(), run.len() as f64));
            let (expected, lengths): (Vec<u64>, Vec<f64>) = last.unzip();

            let (found, sums) = sums_by_key(&keys, &ones).unwrap();
            assert_eq!((bits(found), sums), (expected.clone(), lengths.clone()));
            let (found, sums) = monoscan::algo::groups::scan().unwrap().inclusive((&keys, &ones)).unwrap();
            assert_eq!((bits(found), sums), (expected.clone(), lengths.clone()));
            let states: Vec<Sum<f64>> = ones.into_iter().map(Sum).collect();
            let (found, sums) = totals_by_key(&keys, &states).unwrap();
            assert_eq!((bits(found), sums), (expected, lengths.into_iter().map(Sum).collect()));
        }
    });
}

fn counts_like_a_map<K: SortKey + std::fmt::Debug>(x: Vec<K>, order: impl Fn(&K, &K) -> std::cmp::Ordering) {
    let mut sorted = x.clone();
    sorted.sort_by(&order);
    let expected: Vec<(K, u32)> = sorted.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u32)).collect();
    let (values, counts) = histogram(&x).unwrap();
    assert_eq!(values.iter().copied().zip(counts.iter().copied()).collect::<Vec<_>>(), expected);
    let (mut again, mut counts_again) = (vec![K::ZERO; expected.len() + 1], vec![7; expected.len()]);
    assert_eq!(histogram_into(&x, &mut again, &mut counts_again).unwrap(), expected.len());
    assert!(again[..expected.len()] == values && counts_again == counts);
}

#[test]
fn a_histogram_counts_every_value() {
    for_lengths(70_001, |len| {
        let mut random = generator(len);
        let mut drawn = |below: u64| (0..len).map(|_| random.below(below)).collect::<Vec<u64>>();
        // Few values, about as many as there are records, and all; a last one that the first ones do not lead to expect.
        for (below, last) in
            [(100, 0), (100, 350), (100, 9000), (100, u64::MAX), (len as u64 + 1, 0), (1 << 16, 0), (u64::MAX, 0)]
        {
            let mut x = drawn(below);
            x.iter_mut().last().into_iter().for_each(|x| *x = x.wrapping_add(last));
            counts_like_a_map(x.iter().map(|&x| x as i8).collect(), i8::cmp);
            counts_like_a_map(x.iter().map(|&x| x as u16).collect(), u16::cmp);
            counts_like_a_map(x.iter().map(|&x| x as i32 - 50).collect(), i32::cmp);
            counts_like_a_map(x.iter().map(|&x| (x as i64).wrapping_sub(50)).collect(), i64::cmp);
            counts_like_a_map(x.iter().map(|&x| x as f32 - 50.0).collect(), f32::total_cmp);
            counts_like_a_map(x, u64::cmp);
        }
    });
}

#[test]
fn nan_is_a_value_of_its_own() {
    assert_eq!(histogram(&[f64::NAN, 1.0, f64::NAN, 1.0]).unwrap().1, [2, 1, 1]);
    assert_eq!(histogram(&[f32::NAN, f32::NAN]).unwrap().1, [1, 1]);
    assert_eq!(histogram(&[0.0, -0.0, 0.0]).unwrap().1, [3]);
}

#[test]
fn bad_input_is_refused_with_what_was_expected() {
    let x = [1, 2, 3].map(Sum);
    let totals = |offsets: &[usize]| totals_by_offsets(offsets, &x).unwrap_err();
    assert_eq!(totals(&[0, 2, 1, 3]).to_string(), "offset 2 is 1, expected at least 2, the offset before it");
    assert_eq!(totals(&[0, 4, 3]).to_string(), "offset 1 is 4, expected at most 3, the number of records");
    assert_eq!(totals(&[0, 2]).to_string(), "offset 1 is 2, expected 3, the number of records");
    for few in [&[0][..], &[]] {
        assert!(matches!(totals(few), AlgoError::Scan(Error::TooFewOffsets { records: 3 })));
    }
    assert!(matches!(sums_by_key(&[1, 2], &[1]), Err(AlgoError::Length { argument: "keys", expected: 1, got: 2 })));
    assert!(matches!(totals_by_flags(&[true], &x), Err(AlgoError::Length { argument: "heads", expected: 3, got: 1 })));
    let keys = |error| matches!(error, AlgoError::Length { argument: "keys", expected: 3, got: 1 });
    assert!(keys(totals_by_key(&[7], &x).unwrap_err()) && keys(moments_by_key(&[7], &[1.0; 3]).unwrap_err()));
}

#[test]
fn slices_without_space_for_all_groups_are_refused_and_not_written() {
    let too_short = |result: Result<usize, AlgoError>, columns: [usize; 3]| match result {
        Err(AlgoError::Scan(Error::OutputTooShort { column, expected, got })) => {
            assert_eq!([column, expected, got], columns);
        }
        other => panic!("{other:?}"),
    };
    let (mut groups, mut sums, mut counts) = ([7; 2], [7; 1], [7u32; 1]);
    let (mut totals, mut moments) = ([Sum(7); 1], [Moments::of(7.0); 1]);
    let states = [3, 4, 5].map(Sum);
    too_short(sums_by_key_into((&[1, 1, 2], &[3, 4, 5]), &mut groups, &mut sums), [1, 2, 1]);
    too_short(moments_by_key_into((&[1, 1, 2], &[3.0, 4.0, 5.0]), &mut groups, &mut moments), [1, 2, 1]);
    too_short(totals_by_key_into((&[1, 1, 2], &states), &mut groups, &mut totals), [1, 2, 1]);
    too_short(totals_by_flags_into(&[true, false, true], &states, &mut totals), [0, 2, 1]);
    too_short(histogram_into(&[1, 1, 2], &mut groups, &mut counts), [1, 2, 1]);
    too_short(histogram_into(&[1.0, 1.0, 2.0], &mut [0.0; 2], &mut counts), [1, 2, 1]);
    too_short(histogram_into(&[1, 2, 3], &mut groups, &mut [7; 3]), [0, 3, 2]);

    let keys = |error| matches!(error, AlgoError::Length { argument: "keys", expected: 1, got: 2 });
    assert!(keys(sums_by_key_into((&[1, 2], &[3]), &mut groups, &mut sums).unwrap_err()));
    assert!(keys(moments_by_key_into((&[1, 2], &[3.0]), &mut groups, &mut moments).unwrap_err()));
    assert!(keys(totals_by_key_into((&[1, 2], &states[..1]), &mut groups, &mut totals).unwrap_err()));
    let error = totals_by_flags_into(&[true], &states, &mut totals).unwrap_err();
    assert!(matches!(error, AlgoError::Length { argument: "heads", expected: 3, got: 1 }), "{error}");
    let error = totals_by_offsets_into(&[0, 1, 3], &states, &mut totals).unwrap_err();
    assert!(matches!(error, AlgoError::Length { argument: "totals", expected: 2, got: 1 }), "{error}");
    let error = totals_by_offsets_into(&[0, 4], &states, &mut totals).unwrap_err();
    assert!(matches!(error, AlgoError::Scan(Error::Offsets { .. })), "{error}");
    assert_eq!((groups, sums, counts, totals, moments[0].mean), ([7; 2], [7; 1], [7; 1], [Sum(7); 1], 7.0));
}

/// One group of more numbers than `f32` counts one by one.
#[test]
fn moments_of_a_long_group_count_all() {
    let n = 20_000_000;
    let x: Vec<f32> = (0..n).map(|i| if i < n / 4 { 0.0 } else { 2.0 }).collect();
    let (keys, moments) = moments_by_key(&vec![7u8; n], &x).unwrap();
    assert_eq!((keys, moments[0].count), (vec![7], n as f32));
    assert!((moments[0].mean - 1.5).abs() < 1e-4, "{}", moments[0].mean);
    assert!((moments[0].variance() - 0.75).abs() < 1e-4, "{}", moments[0].variance());
}

#[test]
fn sums_by_key_wrap() {
    let x = vec![i32::MAX; 40_000];
    let (keys, sums) = sums_by_key(&vec![3u8; x.len()], &x).unwrap();
    assert_eq!((keys, sums), (vec![3], vec![x.iter().fold(0i32, |sum, x| sum.wrapping_add(*x))]));
}
